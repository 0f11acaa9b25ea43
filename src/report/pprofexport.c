/* pprof's profile.proto, compressed by gzip: see exports.h.
 *
 * A sample is a line of the source on a path: the instructions that executions of the path spent
 * there, with the path as a label. Functions that were inlined are frames. The
 * instructions of a block are shared out over the lines it has code of. Where cycles were
 * measured, those of a path are shared out in the same way.
 *
 * The numbers of fields are those of profile.proto. A message is written into a buffer of its
 * own first, because its length precedes it.
 */
#include "report/exports.h"

#include "base/checked.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- protocol buffers ---- */

enum { VARINT = 0, BYTES = 2 };

static void put_number(struct fp_writer *out, unsigned field, uint64_t value)
{
    if (!value) return; /* the default */
    fp_write_uint(out, field << 3 | VARINT);
    fp_write_uint(out, value);
}

static void put_bytes(struct fp_writer *out, unsigned field, const void *bytes, size_t len)
{
    fp_write_uint(out, field << 3 | BYTES);
    fp_write_uint(out, len);
    fp_write_bytes(out, bytes, len);
}

/* Writes the message into `out` and empties it. */
static void put_message(struct fp_writer *out, unsigned field, struct fp_writer *message)
{
    put_bytes(out, field, message->bytes, message->len);
    message->len = 0;
}

/* ---- the profile ---- */

enum profile_field {
    SAMPLE_TYPE = 1,
    SAMPLE = 2,
    MAPPING = 3,
    LOCATION = 4,
    FUNCTION = 5,
    STRING = 6,
    TIME_NANOS = 9,
    DURATION_NANOS = 10,
    DEFAULT_TYPE = 14
};

struct pprof {
    struct fp_writer out, message, part;
    const struct fp_report *report;
    struct fp_arena arena;
    struct fp_strtable strings; /* 1 + number */
    struct fp_table functions;  /* name << 32 | file -> id */
    struct fp_table locations;  /* of one function: scope << 32 | line -> id */
    uint64_t nlocations;
    struct fp_arena scratch; /* of one function */
};

static uint64_t string_number(struct pprof *p, const char *text)
{
    uint64_t *number = fp_strtable_add(&p->strings, text);
    if (!*number) {
        struct fp_arena plain = {0};
        const char *valid = fp_plain(&plain, text); /* strings are UTF-8 */
        *number = p->strings.len;
        put_bytes(&p->out, STRING, valid, strlen(valid));
        fp_arena_free(&plain);
    }
    return *number - 1;
}

static uint64_t function_id(struct pprof *p, const char *name, const char *linkage,
                            const char *file, uint32_t line)
{
    uint64_t name_number = string_number(p, name), file_number = string_number(p, file);
    uint64_t *id = fp_table_add(&p->functions, name_number << 32 | file_number);
    if (*id) return *id;
    *id = p->functions.len;
    uint64_t made = *id, system = string_number(p, linkage ? linkage : name);
    put_number(&p->message, 1, made);
    put_number(&p->message, 2, name_number);
    put_number(&p->message, 3, system);
    put_number(&p->message, 4, file_number);
    put_number(&p->message, 5, line);
    put_message(&p->out, FUNCTION, &p->message);
    return made;
}

static void put_line(struct pprof *p, struct fp_writer *location, uint64_t function, uint32_t line)
{
    put_number(&p->part, 1, function);
    put_number(&p->part, 2, line);
    put_message(location, 4, &p->part);
}

/* Innermost first: an inlined function, then where it was called. */
static void put_scopes(struct pprof *p, struct fp_writer *location,
                       const struct fp_report_function *rf, uint32_t scope, uint32_t line)
{
    const struct fp_function *f = rf->function;
    for (; scope < f->source.nscopes; scope = f->source.scopes[scope].parent) {
        const struct fp_scope *s = &f->source.scopes[scope];
        bool outer = s->parent == FP_NONE;
        const char *name = outer ? rf->name : fp_demangle(&p->scratch, s->function);
        put_line(p, location, function_id(p, name, outer ? f->name : s->linkage, s->file, s->line),
                 line);
        line = s->call_line;
    }
}

/* The location of a line in a scope; FP_NONE: the function as a whole. Of an executable without
 * lines, the location of a block: `line` is its number then. */
static uint64_t location_id(struct pprof *p, const struct fp_report_function *rf, uint32_t scope,
                            uint32_t line)
{
    uint64_t *id = fp_table_add(&p->locations, (uint64_t)scope << 32 | line);
    if (*id) return *id;
    struct fp_writer location = {0};
    uint64_t made = *id = ++p->nlocations;
    put_number(&location, 1, made);
    put_number(&location, 2, 1); /* the mapping */
    const struct fp_function *f = rf->function;
    if (scope == FP_NONE && f->source.code)
        put_number(&location, 3, fp_block_place(f, line, false).address);
    if (scope == FP_NONE)
        put_line(p, &location, function_id(p, rf->name, f->name, f->file, f->line), f->line);
    else
        put_scopes(p, &location, rf, scope, line);
    put_message(&p->out, LOCATION, &location);
    fp_writer_free(&location);
    return made;
}

/* ---- samples ---- */

/* Instructions per location, of one path or of a function without paths. */
struct shares {
    struct fp_table of;
    double instructions;
};

static void share_block(struct pprof *p, struct shares *shares, const struct fp_report_function *rf,
                        uint32_t block, uint64_t count)
{
    const struct fp_function *f = rf->function;
    const struct fp_block_info *info = &f->source.blocks[block];
    uint64_t n = info->npositions, sum = fp_mul_saturated(count, info->instructions);
    shares->instructions += (double)sum;
    if (!n) {
        uint32_t at = f->source.code ? block : f->line;
        uint64_t *whole = fp_table_add(&shares->of, location_id(p, rf, FP_NONE, at));
        *whole = fp_add_saturated(*whole, sum);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct fp_position *at = &f->source.positions[info->first_position + i];
        uint64_t one = sum / n + (i == 0 ? sum % n : 0);
        uint64_t *share = fp_table_add(&shares->of, location_id(p, rf, at->scope, at->line));
        *share = fp_add_saturated(*share, one);
    }
}

/* "walk #3"; a label without a value would be dropped, so it is no number. */
static uint64_t path_label(struct pprof *p, const struct fp_report_function *rf,
                           const struct footpath_path *path)
{
    if (path->id == FP_NO_ID)
        return string_number(p, fp_arena_printf(&p->scratch, "%s, never ended", rf->name));
    return string_number(p, fp_arena_printf(&p->scratch, "%s #%" PRIu64, rf->name, path->id));
}

static void put_sample(struct pprof *p, uint64_t location, uint64_t instructions, double cycles,
                       uint64_t label)
{
    fp_write_uint(&p->part, location);
    put_message(&p->message, 1, &p->part);
    fp_write_uint(&p->part, instructions);
    if (p->report->cycles) fp_write_uint(&p->part, fp_count_from(cycles));
    put_message(&p->message, 2, &p->part);
    if (label) {
        put_number(&p->part, 1, string_number(p, "path"));
        put_number(&p->part, 2, label);
        put_message(&p->message, 3, &p->part);
    }
    put_message(&p->out, SAMPLE, &p->message);
}

/* `path` is NULL of a function without paths. */
static void put_samples(struct pprof *p, const struct fp_report_function *rf,
                        const struct shares *shares, const struct footpath_path *path)
{
    uint64_t label = path ? path_label(p, rf, path) : 0;
    uint64_t location, instructions;
    double each =
        path && shares->instructions > 0 ? (double)path->cycles / shares->instructions : 0;
    for (size_t i = 0; fp_table_next(&shares->of, &i, &location, &instructions);)
        if (instructions) put_sample(p, location, instructions, (double)instructions * each, label);
}

static void put_path(struct pprof *p, const struct fp_report_function *rf,
                     const struct footpath_path *one)
{
    struct fp_arena arena = {0};
    struct shares shares = {0};
    struct fp_path path;
    fp_table_init(&shares.of, &arena);
    if (fp_report_decode(&arena, p->report, one, &path)) {
        share_block(p, &shares, rf, path.first_block, one->count);
        for (uint32_t i = 0; i < path.nedges; i++)
            share_block(p, &shares, rf, rf->function->paths.cfg->edges[path.edges[i]].dst,
                        one->count);
        put_samples(p, rf, &shares, one);
    }
    fp_arena_free(&arena);
}

static void put_blocks(struct pprof *p, const struct fp_report_function *rf)
{
    struct fp_arena arena = {0};
    struct shares shares = {0};
    fp_table_init(&shares.of, &arena);
    for (uint32_t b = 0; b < rf->function->paths.cfg->nblocks; b++)
        if (rf->edges.blocks[b]) share_block(p, &shares, rf, b, rf->edges.blocks[b]);
    put_samples(p, rf, &shares, NULL);
    fp_arena_free(&arena);
}

static void put_function(struct pprof *p, const struct fp_report_function *rf)
{
    fp_table_init(&p->locations, &p->scratch);
    for (size_t i = 0; i < rf->npaths; i++) put_path(p, rf, &p->report->paths[rf->first_path + i]);
    if (!rf->npaths && rf->edges.blocks) put_blocks(p, rf);
    fp_arena_free(&p->scratch);
}

/* ---- what it is a profile of ---- */

static void put_type(struct pprof *p, const char *type)
{
    uint64_t number = string_number(p, type), unit = string_number(p, "count");
    put_number(&p->message, 1, number);
    put_number(&p->message, 2, unit);
    put_message(&p->out, SAMPLE_TYPE, &p->message);
}

/* One mapping stands for all modules: counts have no addresses. */
static void put_program(struct pprof *p, const struct fp_profile *profile)
{
    enum { HAS_FUNCTIONS = 7, HAS_FILENAMES, HAS_LINES, HAS_INLINED };
    uint64_t name =
        profile->runs.len ? string_number(p, profile->runs.at[0].program) : string_number(p, "");
    put_number(&p->message, 1, 1);
    put_number(&p->message, 5, name);
    for (unsigned field = HAS_FUNCTIONS; field <= HAS_INLINED; field++)
        put_number(&p->message, field, 1);
    put_message(&p->out, MAPPING, &p->message);
    if (!profile->runs.len) return;
    const struct fp_run *first = &profile->runs.at[0];
    put_number(&p->out, TIME_NANOS, first->start_ns);
    if (first->end_ns > first->start_ns)
        put_number(&p->out, DURATION_NANOS, first->end_ns - first->start_ns);
}

static bool compress_into(struct fp_writer *out, const struct fp_writer *data)
{
    enum { GZIP = 16, MEMORY = 8 };
    z_stream z = {0};
    if (data->len > UINT32_MAX || deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
                                               MAX_WBITS + GZIP, MEMORY, Z_DEFAULT_STRATEGY))
        return false;
    uLong most = deflateBound(&z, data->len);
    unsigned char *bytes = malloc(most);
    z.next_in = data->bytes, z.avail_in = (uInt)data->len;
    z.next_out = bytes, z.avail_out = (uInt)most;
    bool ok = bytes && deflate(&z, Z_FINISH) == Z_STREAM_END;
    if (ok) fp_write_bytes(out, bytes, z.total_out);
    deflateEnd(&z);
    free(bytes);
    return ok;
}

bool fp_write_pprof(struct fp_writer *out, const struct fp_report *report, struct fp_error *error)
{
    struct pprof p = {.report = report};
    fp_strtable_init(&p.strings, &p.arena);
    fp_table_init(&p.functions, &p.arena);
    string_number(&p, ""); /* the first string is empty */
    put_type(&p, "instructions");
    if (report->cycles) put_type(&p, "cycles");
    put_program(&p, report->profile);
    for (size_t i = 0; i < report->nfunctions; i++)
        if (fp_report_ran(&report->functions[i])) put_function(&p, &report->functions[i]);
    put_number(&p.out, DEFAULT_TYPE, string_number(&p, report->cycles ? "cycles" : "instructions"));
    bool ok = compress_into(out, &p.out) ||
              fp_fail(error, NULL, "too large for pprof: %zu bytes", p.out.len);
    fp_writer_free(&p.out);
    fp_writer_free(&p.message);
    fp_writer_free(&p.part);
    fp_arena_free(&p.arena);
    return ok;
}
