/* The profile file: see runs.h. */
#include "profile/runs.h"

#include "base/checksum.h"
#include "base/io.h"
#include "footpath/profile_abi.h"
#include "profile/aside.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* ---- one record ---- */

void fp_module_encode(struct fp_writer *w, const struct fp_module_id *m)
{
    fp_write_string(w, m->path);
    fp_write_uint(w, m->build_id_len);
    fp_write_bytes(w, m->build_id, m->build_id_len);
    const struct fp_sections *at = &m->sections;
    const uint64_t fields[] = {at->counters_address, at->counters_size, at->tables_address,
                               at->tables_size};
    fp_write_uints(w, fields, sizeof fields / sizeof *fields);
}

static void encode_history(struct fp_writer *w, const struct fp_run *run)
{
    fp_write_uint(w, run->history_dropped);
    fp_write_uint(w, run->nhistory);
    for (size_t i = 0; i < run->nhistory; i++) {
        const struct fp_history *h = &run->history[i];
        const uint64_t head[] = {h->kind, h->base, h->id, h->other};
        fp_write_uints(w, head, sizeof head / sizeof *head);
        if (h->kind & FP_HISTORY_CALLER) fp_write_uint(w, h->code);
        fp_write_uint(w, h->count);
    }
}

void fp_run_encode(struct fp_writer *w, const struct fp_run *run)
{
    const uint64_t fields[] = {run->runs, run->start_ns, run->end_ns, run->pid};
    uint64_t flags = run->flags & ~(uint64_t)(FP_RUN_CAUGHT | FP_RUN_HISTORY);
    if (run->ncaught) flags |= FP_RUN_CAUGHT;
    if (run->nhistory) flags |= FP_RUN_HISTORY;
    fp_write_uint(w, flags);
    fp_write_u64(w, run->id);
    fp_write_uints(w, fields, sizeof fields / sizeof *fields);
    fp_write_string(w, run->host);
    fp_write_string(w, run->program);
    fp_write_string(w, run->folder);
    fp_write_uint(w, run->nargs);
    for (size_t i = 0; i < run->nargs; i++) fp_write_string(w, run->args[i]);
    fp_module_encode(w, &run->module);
    fp_write_uint(w, run->ncounters);
    uint64_t last = 0;
    for (size_t i = 0; i < run->ncounters; i++) {
        fp_write_uint(w, run->counters[i].index - last);
        fp_write_uint(w, run->counters[i].count);
        last = run->counters[i].index;
    }
    fp_write_uint(w, run->ntables);
    for (size_t i = 0; i < run->ntables; i++) {
        fp_write_uint(w, run->tables[i].table);
        fp_write_uint(w, run->tables[i].path);
        fp_write_uint(w, run->tables[i].count);
    }
    fp_write_uint(w, run->nin_flight);
    for (size_t i = 0; i < run->nin_flight; i++) {
        fp_write_u64(w, run->in_flight[i].function);
        fp_write_uint(w, run->in_flight[i].block);
        fp_write_u64(w, run->in_flight[i].reg);
        fp_write_int(w, run->in_flight[i].count);
    }
    if (run->ncaught) fp_write_uint(w, run->ncaught);
    for (size_t i = 0; i < run->ncaught; i++) {
        fp_write_u64(w, run->caught[i].function);
        fp_write_uint(w, run->caught[i].count);
    }
    if (run->nhistory) encode_history(w, run);
}

static void decode_counters(struct fp_arena *arena, struct fp_reader *r, struct fp_run *run)
{
    run->ncounters = fp_read_count(r, 2);
    run->counters = FP_NEW_ARRAY(arena, struct fp_counter, run->ncounters);
    uint64_t index = 0, limit = run->module.sections.counters_size / 8;
    for (size_t i = 0; i < run->ncounters && !r->failed; i++) {
        uint64_t step = fp_read_uint(r);
        if (step > limit || index + step >= limit || (i && !step)) {
            fp_reader_fail(r, "expected a counter below %" PRIu64 ", got %" PRIu64, limit,
                           index + step);
            return;
        }
        index += step;
        run->counters[i] = (struct fp_counter){index, fp_read_uint(r)};
    }
}

static void decode_tables(struct fp_arena *arena, struct fp_reader *r, struct fp_run *run)
{
    run->ntables = fp_read_count(r, 3);
    run->tables = FP_NEW_ARRAY(arena, struct fp_table_count, run->ntables);
    for (size_t i = 0; i < run->ntables && !r->failed; i++) {
        run->tables[i].table = fp_read_uint(r);
        run->tables[i].path = fp_read_uint(r);
        run->tables[i].count = fp_read_uint(r);
    }
}

static void decode_in_flight(struct fp_arena *arena, struct fp_reader *r, struct fp_run *run)
{
    run->nin_flight = fp_read_count(r, 18);
    run->in_flight = FP_NEW_ARRAY(arena, struct fp_in_flight, run->nin_flight);
    for (size_t i = 0; i < run->nin_flight && !r->failed; i++) {
        run->in_flight[i].function = fp_read_u64(r);
        run->in_flight[i].block = fp_read_uint(r);
        run->in_flight[i].reg = fp_read_u64(r);
        run->in_flight[i].count = fp_read_int(r);
    }
}

static void decode_caught(struct fp_arena *arena, struct fp_reader *r, struct fp_run *run)
{
    if (!(run->flags & FP_RUN_CAUGHT)) return;
    run->ncaught = fp_read_count(r, 9);
    run->caught = FP_NEW_ARRAY(arena, struct fp_caught, run->ncaught);
    for (size_t i = 0; i < run->ncaught && !r->failed; i++) {
        run->caught[i].function = fp_read_u64(r);
        run->caught[i].count = fp_read_uint(r);
    }
}

static void decode_history(struct fp_arena *arena, struct fp_reader *r, struct fp_run *run)
{
    if (!(run->flags & FP_RUN_HISTORY)) return;
    run->history_dropped = fp_read_uint(r);
    run->nhistory = fp_read_count(r, 5);
    run->history = FP_NEW_ARRAY(arena, struct fp_history, run->nhistory);
    for (size_t i = 0; i < run->nhistory && !r->failed; i++) {
        struct fp_history *h = &run->history[i];
        h->kind = fp_read_index(r, 2 * FP_HISTORY_CALLER, "a kind of history");
        h->base = fp_read_uint(r);
        h->id = fp_read_uint(r);
        h->other = fp_read_uint(r);
        if (h->kind & FP_HISTORY_CALLER) h->code = fp_read_uint(r);
        h->count = fp_read_uint(r);
    }
}

bool fp_module_decode(struct fp_arena *arena, struct fp_reader *r, struct fp_module_id *m)
{
    m->path = fp_read_string(r, arena);
    m->build_id_len = fp_read_count(r, 1);
    m->build_id = fp_read_bytes(r, m->build_id_len);
    m->sections.counters_address = fp_read_uint(r);
    m->sections.counters_size = fp_read_uint(r);
    m->sections.tables_address = fp_read_uint(r);
    m->sections.tables_size = fp_read_uint(r);
    return !r->failed;
}

bool fp_run_decode(struct fp_arena *arena, struct fp_reader *r, struct fp_run *run)
{
    *run = (struct fp_run){.flags = fp_read_uint(r)};
    run->id = fp_read_u64(r);
    run->runs = fp_read_uint(r);
    run->start_ns = fp_read_uint(r);
    run->end_ns = fp_read_uint(r);
    run->pid = fp_read_uint(r);
    run->host = fp_read_string(r, arena);
    run->program = fp_read_string(r, arena);
    run->folder = fp_read_string(r, arena);
    run->nargs = fp_read_count(r, 1);
    run->args = FP_NEW_ARRAY(arena, char *, run->nargs);
    for (size_t i = 0; i < run->nargs; i++) run->args[i] = fp_read_string(r, arena);
    fp_module_decode(arena, r, &run->module);
    decode_counters(arena, r, run);
    decode_tables(arena, r, run);
    decode_in_flight(arena, r, run);
    decode_caught(arena, r, run);
    decode_history(arena, r, run);
    return !r->failed;
}

/* ---- the file ---- */

static uint32_t commit_check(const struct fp_profile_commit *commit)
{
    return (uint32_t)fp_checksum(commit, offsetof(struct fp_profile_commit, check), 0);
}

/* The larger of the valid commits, or -1. */
static int last_commit(const struct fp_profile_header *header)
{
    int best = -1;
    for (int i = 0; i < 2; i++) {
        const struct fp_profile_commit *commit = &header->commits[i];
        if (commit->check != commit_check(commit)) continue;
        if (best < 0 || commit->sequence > header->commits[best].sequence) best = i;
    }
    return best;
}

size_t fp_profile_good_length(const struct fp_profile_header *header, size_t len)
{
    int best = last_commit(header);
    return best >= 0 && header->commits[best].length < len ? (size_t)header->commits[best].length
                                                           : len;
}

struct fp_profile_commit fp_profile_next_commit(const struct fp_profile_header *header,
                                                uint64_t length, int *place)
{
    int last = last_commit(header);
    struct fp_profile_commit commit = {.length = length, .sequence = 1};
    if (last >= 0) commit.sequence = header->commits[last].sequence + 1;
    commit.check = commit_check(&commit);
    *place = last == 0;
    return commit;
}

/* How much of the file is valid: what the larger commit says, or the whole file if it was cut
 * below that. */
static bool read_header(const unsigned char *bytes, size_t len, const char *name, size_t *end,
                        bool *cut, struct fp_error *error)
{
    struct fp_profile_header header;
    if (len < sizeof header || memcmp(bytes, FP_PROFILE_MAGIC, 8))
        return fp_fail_at(error, name, 0, "expected a footpath profile, got %s",
                          len < sizeof header ? "a shorter file" : "something else");
    memcpy(&header, bytes, sizeof header);
    if (header.oldest_reader > FP_PROFILE_VERSION)
        return fp_fail_at(error, name, 8,
                          "expected version %d, got %u, which needs a newer footpath",
                          FP_PROFILE_VERSION, header.version);
    int best = last_commit(&header);
    if (best < 0)
        return fp_fail_at(error, name, offsetof(struct fp_profile_header, commits),
                          "expected a length with its check, got neither of two");
    *cut = header.commits[best].length > len;
    *end = fp_profile_good_length(&header, len);
    return true;
}

static bool visit_run(struct fp_arena *arena, struct fp_reader *payload,
                      const struct fp_profile_visitor *v, bool *go_on)
{
    struct fp_run run;
    if (!v->run) return true;
    if (!fp_run_decode(arena, payload, &run)) return false;
    *go_on = v->run(arena, &run, v->context);
    return true;
}

static bool visit_map(struct fp_arena *arena, struct fp_reader *payload,
                      const struct fp_profile_visitor *v, bool *go_on)
{
    struct fp_embedded_map map = {0};
    if (!v->map) return true;
    fp_module_decode(arena, payload, &map.module);
    map.map_len = fp_read_count(payload, 1);
    map.map = fp_read_bytes(payload, map.map_len);
    map.live_len = fp_read_count(payload, 1);
    map.live = map.live_len ? fp_read_bytes(payload, map.live_len) : NULL;
    if (payload->failed) return false;
    *go_on = v->map(&map, v->context);
    return true;
}

static bool visit_combined(struct fp_reader *payload, const struct fp_profile_visitor *v,
                           bool *go_on)
{
    if (!v->combined && v->run)
        return fp_reader_fail(payload, "expected counts, got a combined profile, of distributions; "
                                       "footpath show and combine read it");
    if (v->combined) *go_on = v->combined(payload, v->context);
    return !payload->failed;
}

static bool parse_record(struct fp_reader *file, const struct fp_record_header *header,
                         const struct fp_profile_visitor *visitor, bool *go_on)
{
    uint64_t offset = file->base + file->at;
    const unsigned char *payload = fp_read_bytes(file, header->length);
    uint64_t checksum = fp_checksum(payload, header->length, 0);
    if (checksum != header->checksum)
        return fp_fail_at(file->error, file->file, offset,
                          "expected checksum %016" PRIx64 ", got %016" PRIx64, header->checksum,
                          checksum);
    struct fp_arena arena = {0};
    struct fp_reader reader = {.bytes = payload,
                               .len = header->length,
                               .base = offset,
                               .file = file->file,
                               .error = file->error};
    bool ok = true;
    if (header->type == FP_RECORD_RUN) ok = visit_run(&arena, &reader, visitor, go_on);
    if (header->type == FP_RECORD_MAP) ok = visit_map(&arena, &reader, visitor, go_on);
    if (header->type == FP_RECORD_COMBINED) ok = visit_combined(&reader, visitor, go_on);
    fp_arena_free(&arena);
    return ok;
}

bool fp_profile_visit(const unsigned char *bytes, size_t len, const char *name,
                      const struct fp_profile_visitor *visitor, bool *cut, struct fp_error *error)
{
    size_t end = 0;
    *cut = false;
    if (!read_header(bytes, len, name, &end, cut, error)) return false;
    struct fp_reader file = {.bytes = bytes,
                             .len = end,
                             .at = sizeof(struct fp_profile_header),
                             .file = name,
                             .error = error};
    if (file.at > file.len) file.len = file.at;
    bool go_on = true;
    while (go_on && fp_reader_left(&file)) {
        struct fp_record_header header;
        if (fp_reader_left(&file) < sizeof header) return *cut = true;
        uint64_t offset = file.at;
        memcpy(&header, fp_read_bytes(&file, sizeof header), sizeof header);
        if (header.magic != FP_RECORD_MAGIC)
            return fp_fail_at(error, name, offset, "expected a record (%08x), got %08x",
                              FP_RECORD_MAGIC, header.magic);
        if (header.length > fp_reader_left(&file)) return *cut = true;
        if (!parse_record(&file, &header, visitor, &go_on)) return false;
    }
    return true;
}

bool fp_profile_parse(const unsigned char *bytes, size_t len, const char *name,
                      fp_run_callback *call, void *context, bool *cut, struct fp_error *error)
{
    return fp_profile_visit(bytes, len, name,
                            &(struct fp_profile_visitor){.run = call, .context = context}, cut,
                            error);
}

bool fp_profile_each_run(const char *path, fp_run_callback *call, void *context, bool *cut,
                         struct fp_error *error)
{
    struct fp_file file;
    if (!fp_profile_open(&file, path, error)) return false;
    bool ok = fp_profile_parse(file.bytes, file.len, path, call, context, cut, error);
    fp_file_close(&file);
    return ok;
}

uint64_t fp_profile_program(const unsigned char *bytes, size_t len)
{
    struct fp_profile_header header = {0};
    if (len >= sizeof header && !memcmp(bytes, FP_PROFILE_MAGIC, 8))
        memcpy(&header, bytes, sizeof header);
    return header.program;
}

uint64_t fp_profile_id(const unsigned char *bytes, size_t len)
{
    struct fp_profile_header header = {0};
    if (len >= sizeof header && !memcmp(bytes, FP_PROFILE_MAGIC, 8))
        memcpy(&header, bytes, sizeof header);
    return header.id;
}

void fp_write_profile_header(struct fp_writer *w, uint64_t program, uint64_t id)
{
    struct fp_profile_header header = {.version = FP_PROFILE_VERSION,
                                       .oldest_reader = FP_PROFILE_OLDEST_READER,
                                       .program = program,
                                       .id = id};
    memcpy(header.magic, FP_PROFILE_MAGIC, sizeof header.magic);
    fp_write_bytes(w, &header, sizeof header);
}

void fp_write_record(struct fp_writer *w, uint32_t type, struct fp_writer *payload)
{
    struct fp_record_header header = {
        .magic = FP_RECORD_MAGIC,
        .type = type,
        .length = payload->len,
        .checksum = fp_checksum(payload->bytes, payload->len, 0),
    };
    fp_write_bytes(w, &header, sizeof header);
    fp_write_bytes(w, payload->bytes, payload->len);
    fp_writer_free(payload);
}

void fp_write_commit(struct fp_writer *w)
{
    struct fp_profile_header header;
    int place;
    memcpy(&header, w->bytes, sizeof header);
    header.commits[0] = fp_profile_next_commit(&header, w->len, &place);
    header.commits[1] = (struct fp_profile_commit){0};
    memcpy(w->bytes, &header, sizeof header);
}

static void write_run(struct fp_writer *w, const struct fp_run *run)
{
    struct fp_writer payload = {0};
    fp_run_encode(&payload, run);
    fp_write_record(w, FP_RECORD_RUN, &payload);
}

void fp_map_record_encode(struct fp_writer *w, const struct fp_embedded_map *map)
{
    fp_module_encode(w, &map->module);
    fp_write_uint(w, map->map_len);
    fp_write_bytes(w, map->map, map->map_len);
    fp_write_uint(w, map->live_len);
    fp_write_bytes(w, map->live, map->live_len);
}

static void write_map(struct fp_writer *w, const struct fp_embedded_map *map)
{
    struct fp_writer payload = {0};
    fp_map_record_encode(&payload, map);
    fp_write_record(w, FP_RECORD_MAP, &payload);
}

bool fp_profile_write(const char *path, const struct fp_run *runs, size_t nruns, uint64_t id,
                      struct fp_error *error)
{
    struct fp_writer w = {0};
    fp_write_profile_header(
        &w, nruns ? fp_checksum(runs[0].module.build_id, runs[0].module.build_id_len, 0) : 0, id);
    for (size_t i = 0; i < nruns; i++) {
        if (runs[i].map) write_map(&w, runs[i].map);
        write_run(&w, &runs[i]);
    }
    fp_write_commit(&w);
    bool ok = fp_file_write(path, w.bytes, w.len, error);
    fp_writer_free(&w);
    return ok;
}

bool fp_same_module(const struct fp_module_id *a, const struct fp_module_id *b)
{
    if (a->build_id_len != b->build_id_len ||
        a->sections.counters_size != b->sections.counters_size ||
        a->sections.tables_size != b->sections.tables_size)
        return false;
    if (a->build_id_len) return !memcmp(a->build_id, b->build_id, a->build_id_len);
    return !strcmp(a->path, b->path);
}
