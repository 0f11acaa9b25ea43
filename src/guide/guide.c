/* Writing, reading and searching guides: see guide.h. */
#include "guide/guide.h"

#include "base/checked.h"
#include "base/checksum.h"
#include "base/names.h"
#include "base/table.h"
#include "footpath/abi.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC "fpguide\n"
enum { VERSION = 3, OLDEST_READER = 3, HEADER_SIZE = 48, WITH_VERSIONS = 3 };

/* ---- writing ---- */

static int by_key(const void *a, const void *b)
{
    const struct fp_guide_function *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    if (x->shape != y->shape) return x->shape < y->shape ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void encode_path(struct fp_writer *w, const struct fp_guide_path *path)
{
    fp_write_uint(w, path->count);
    fp_write_uint(w, (uint64_t)path->first_block * 2 + path->from_entry);
    fp_write_uint(w, path->end_edge == FP_NONE ? 0 : (uint64_t)path->end_edge + 1);
    fp_write_uint(w, path->nedges);
    for (uint32_t i = 0; i < path->nedges; i++) fp_write_uint(w, path->edges[i]);
}

static void encode_value(struct fp_writer *w, const struct fp_guide_value *value)
{
    fp_write_uint(w, (uint64_t)value->site * 2 + (value->kind == FP_VALUE_SIZE));
    fp_write_uint(w, value->count);
    if (value->kind == FP_VALUE_SIZE)
        fp_write_uint(w, value->size);
    else
        fp_write_string(w, value->target);
}

static void encode_blocks(struct fp_writer *w, const struct fp_guide_version *v)
{
    const struct fp_cfg *cfg = v->cfg;
    fp_write_uint(w, cfg->nblocks);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        const struct fp_block_mark *mark = &v->marks[b];
        const uint32_t numbers[] = {mark->content, mark->kind, mark->calls, mark->line};
        fp_write_u8(w, cfg->flags[b]);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) fp_write_u32(w, numbers[i]);
        fp_write_uint(w, fp_cfg_out_degree(cfg, b));
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++)
            fp_write_uint(w, (uint64_t)cfg->edges[e].dst * 8 + (uint64_t)cfg->edges[e].kind);
    }
}

/* Behind its length, so that a reader who needs it not can pass over it. */
static void encode_version(struct fp_writer *out, const struct fp_guide_version *v)
{
    struct fp_writer w = {0};
    if (v->cfg) encode_blocks(&w, v);
    for (int kind = 0; v->cfg && kind < 2; kind++) {
        fp_write_uint(&w, v->sites[kind].n);
        for (uint32_t i = 0; i < v->sites[kind].n; i++) fp_write_uint(&w, v->sites[kind].blocks[i]);
    }
    fp_write_uint(out, w.len);
    fp_write_bytes(out, w.bytes, w.len);
    fp_writer_free(&w);
}

static void encode_counts(struct fp_writer *w, const struct fp_guide_function *f)
{
    encode_version(w, &f->version);
    fp_write_uint(w, f->entries);
    fp_write_uint(w, f->nedges);
    for (uint32_t e = 0; e < f->nedges; e++) fp_write_uint(w, f->edges[e]);
    fp_write_uint(w, f->npaths);
    for (uint32_t i = 0; i < f->npaths; i++) encode_path(w, &f->paths[i]);
    fp_write_uint(w, f->nvalues);
    for (uint32_t i = 0; i < f->nvalues; i++) encode_value(w, &f->values[i]);
}

static void encode_summary(struct fp_writer *w, const struct fp_guide_summary *s)
{
    const uint64_t fields[] = {s->total,       s->max_count,  s->max_inner,
                               s->max_entries, s->num_counts, s->num_functions};
    fp_write_uints(w, fields, sizeof fields / sizeof *fields);
    fp_write_uint(w, s->ncutoffs);
    for (uint32_t i = 0; i < s->ncutoffs; i++) {
        fp_write_uint(w, s->cutoffs[i].cutoff);
        fp_write_uint(w, s->cutoffs[i].min_count);
        fp_write_uint(w, s->cutoffs[i].num_counts);
    }
}

static void encode_entry(struct fp_writer *w, const struct fp_guide_function *f, uint64_t offset)
{
    const uint64_t fields[] = {f->key,        f->shape,      f->id,  f->flags,
                               f->path_slots, f->edge_slots, offset, f->content};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) fp_write_u64(w, fields[i]);
}

void fp_guide_encode(struct fp_writer *out, const struct fp_guide_source *source,
                     const struct fp_guide_summary *summary, struct fp_guide_function *functions,
                     size_t nfunctions)
{
    struct fp_writer body = {0}, counts = {0};
    if (nfunctions) qsort(functions, nfunctions, sizeof *functions, by_key);
    for (size_t i = 0; i < nfunctions; i++) {
        encode_entry(&body, &functions[i], counts.len);
        encode_counts(&counts, &functions[i]);
    }
    encode_summary(&body, summary);
    fp_write_u64(&body, counts.len);
    fp_write_bytes(&body, counts.bytes, counts.len);

    fp_write_bytes(out, MAGIC, 8);
    fp_write_u32(out, VERSION);
    fp_write_u32(out, OLDEST_READER);
    fp_write_u64(out, source->size);
    fp_write_u64(out, source->time_ns);
    fp_write_u64(out, nfunctions);
    fp_write_u64(out, fp_checksum(body.bytes, body.len, 0));
    fp_write_bytes(out, body.bytes, body.len);
    fp_writer_free(&body);
    fp_writer_free(&counts);
}

/* ---- reading ---- */

static void decode_summary(struct fp_arena *arena, struct fp_reader *r, struct fp_guide_summary *s)
{
    uint64_t *fields[] = {&s->total,       &s->max_count,  &s->max_inner,
                          &s->max_entries, &s->num_counts, &s->num_functions};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) *fields[i] = fp_read_uint(r);
    s->ncutoffs = (uint32_t)fp_read_count(r, 3);
    s->cutoffs = FP_NEW_ARRAY(arena, struct fp_guide_cutoff, s->ncutoffs);
    for (uint32_t i = 0; i < s->ncutoffs; i++) {
        s->cutoffs[i].cutoff = fp_read_index(r, 1000001, "a cutoff in millionths");
        s->cutoffs[i].min_count = fp_read_uint(r);
        s->cutoffs[i].num_counts = fp_read_uint(r);
    }
}

static size_t entry_size(const struct fp_guide *guide)
{
    return guide->format < WITH_VERSIONS ? 56 : 64;
}

static void decode_entry(const struct fp_guide *guide, struct fp_reader *r,
                         struct fp_guide_function *f, size_t *offset)
{
    f->key = fp_read_u64(r);
    f->shape = fp_read_u64(r);
    f->id = fp_read_u64(r);
    f->flags = (uint32_t)fp_read_u64(r);
    f->path_slots = fp_read_u64(r);
    f->edge_slots = fp_read_u64(r);
    *offset = fp_read_u64(r);
    if (guide->format >= WITH_VERSIONS) f->content = fp_read_u64(r);
}

static bool decode_header(struct fp_reader *r, struct fp_guide *guide, uint64_t *count)
{
    const void *magic = fp_read_bytes(r, 8);
    if (!magic || memcmp(magic, MAGIC, 8)) {
        r->at = 0;
        return fp_reader_fail(r, "expected a guide; make one by footpath export --format guide");
    }
    guide->format = fp_read_u32(r);
    uint32_t oldest = fp_read_u32(r);
    if (oldest > VERSION)
        return fp_reader_fail(r, "expected version %d, got %u, which needs a newer footpath",
                              VERSION, guide->format);
    guide->source.size = fp_read_u64(r);
    guide->source.time_ns = fp_read_u64(r);
    *count = fp_read_u64(r);
    uint64_t checksum = fp_read_u64(r);
    if (r->failed) return false;
    if (checksum != fp_checksum(r->bytes + r->at, r->len - r->at, 0))
        return fp_reader_fail(r, "the checksum does not fit; the file was changed or cut");
    if (*count > fp_reader_left(r) / entry_size(guide))
        return fp_reader_fail(r, "expected %llu functions, got bytes for fewer",
                              (unsigned long long)*count);
    return true;
}

static bool decode(struct fp_arena *arena, struct fp_reader *r, struct fp_guide *guide)
{
    uint64_t count = 0;
    if (!decode_header(r, guide, &count)) return false;
    guide->nfunctions = (size_t)count;
    guide->functions = FP_NEW_ARRAY(arena, struct fp_guide_function, guide->nfunctions);
    guide->offsets = FP_NEW_ARRAY(arena, size_t, guide->nfunctions);
    for (size_t i = 0; i < guide->nfunctions; i++)
        decode_entry(guide, r, &guide->functions[i], &guide->offsets[i]);
    decode_summary(arena, r, &guide->summary);
    uint64_t room = fp_read_u64(r);
    if (r->failed) return false;
    if (room != fp_reader_left(r)) return fp_reader_fail(r, "expected the counts to end the file");
    for (size_t i = 0; i < guide->nfunctions; i++) {
        if (guide->offsets[i] >= room) return fp_reader_fail(r, "counts lie outside of the file");
        guide->offsets[i] += r->at;
    }
    return true;
}

bool fp_guide_open(struct fp_arena *arena, const char *path, struct fp_guide *guide,
                   struct fp_error *error)
{
    *guide = (struct fp_guide){0};
    if (!fp_file_open(&guide->file, path, error)) return false;
    struct fp_reader r = {
        .bytes = guide->file.bytes, .len = guide->file.len, .file = path, .error = error};
    if (decode(arena, &r, guide)) return true;
    fp_guide_close(guide);
    return false;
}

void fp_guide_close(struct fp_guide *guide)
{
    if (guide->file.bytes) fp_file_close(&guide->file);
    guide->file = (struct fp_file){0};
    guide->nfunctions = 0;
}

bool fp_guide_is(const char *path)
{
    struct fp_file file;
    struct fp_error error = {0};
    if (!fp_file_open(&file, path, &error)) return false;
    bool is = file.len >= HEADER_SIZE && !memcmp(file.bytes, MAGIC, 8);
    fp_file_close(&file);
    return is;
}

/* ---- counts ---- */

static void decode_path(struct fp_arena *arena, struct fp_reader *r, const struct fp_cfg *cfg,
                        struct fp_guide_path *path)
{
    path->count = fp_read_uint(r);
    uint64_t start = fp_read_index(r, 2 * (uint64_t)cfg->nblocks, "a block");
    path->first_block = (uint32_t)(start / 2);
    path->from_entry = start & 1;
    uint32_t end = fp_read_index(r, (uint64_t)cfg->nedges + 1, "an edge");
    path->end_edge = end ? end - 1 : FP_NONE;
    path->nedges = (uint32_t)fp_read_count(r, 1);
    path->edges = FP_NEW_ARRAY(arena, uint32_t, path->nedges);
    for (uint32_t i = 0; i < path->nedges; i++)
        path->edges[i] = fp_read_index(r, cfg->nedges, "an edge");
}

static void decode_value(struct fp_arena *arena, struct fp_reader *r, struct fp_guide_value *value)
{
    uint64_t site = fp_read_index(r, 2 * FP_VALUE_SITES, "the site of a value");
    value->kind = site & 1 ? FP_VALUE_SIZE : FP_VALUE_TARGET;
    value->site = (uint32_t)(site / 2);
    value->count = fp_read_uint(r);
    if (value->kind == FP_VALUE_SIZE)
        value->size = fp_read_uint(r);
    else
        value->target = fp_read_string(r, arena);
}

/* The edges follow one another; what does not is not used. */
static bool is_connected(const struct fp_cfg *cfg, const struct fp_guide_path *path)
{
    uint32_t at = path->first_block;
    for (uint32_t i = 0; i < path->nedges; i++) {
        if (cfg->edges[path->edges[i]].src != at) return false;
        at = cfg->edges[path->edges[i]].dst;
    }
    return path->end_edge == FP_NONE || cfg->edges[path->end_edge].src == at;
}

static struct fp_reader reader_of(const struct fp_guide *guide, size_t index,
                                  struct fp_error *error)
{
    return (struct fp_reader){.bytes = guide->file.bytes,
                              .len = guide->file.len,
                              .at = guide->offsets[index],
                              .error = error};
}

/* The counts, whose version the reader is behind. */
static bool decode_counts(struct fp_arena *arena, const struct fp_guide *guide, struct fp_reader *r,
                          const struct fp_cfg *cfg, struct fp_guide_function *f)
{
    f->entries = fp_read_uint(r);
    f->nedges = (uint32_t)fp_read_count(r, 1);
    if (r->failed || f->nedges != cfg->nedges) return false;
    f->edges = FP_NEW_ARRAY(arena, uint64_t, f->nedges);
    for (uint32_t e = 0; e < f->nedges; e++) f->edges[e] = fp_read_uint(r);
    f->npaths = (uint32_t)fp_read_count(r, 4);
    f->paths = FP_NEW_ARRAY(arena, struct fp_guide_path, f->npaths);
    for (uint32_t i = 0; i < f->npaths; i++) {
        decode_path(arena, r, cfg, &f->paths[i]);
        if (r->failed || !is_connected(cfg, &f->paths[i])) return false;
    }
    f->nvalues = guide->format < 2 ? 0 : (uint32_t)fp_read_count(r, 3);
    f->values = FP_NEW_ARRAY(arena, struct fp_guide_value, f->nvalues);
    for (uint32_t i = 0; i < f->nvalues && !r->failed; i++) decode_value(arena, r, &f->values[i]);
    return !r->failed;
}

/* Counts of a function of the shape that was looked for. */
static bool decode_same(struct fp_arena *arena, const struct fp_guide *guide, size_t index,
                        const struct fp_cfg *cfg, struct fp_guide_function *f)
{
    struct fp_error error = {0};
    struct fp_reader r = reader_of(guide, index, &error);
    *f = guide->functions[index];
    if (guide->format >= WITH_VERSIONS) fp_read_bytes(&r, fp_read_count(&r, 1));
    return !r.failed && decode_counts(arena, guide, &r, cfg, f);
}

/* ---- versions ---- */

static void decode_mark(struct fp_reader *r, struct fp_block_mark *mark)
{
    mark->content = fp_read_u32(r);
    mark->kind = fp_read_u32(r);
    mark->calls = fp_read_u32(r);
    mark->line = fp_read_u32(r);
}

static bool decode_blocks(struct fp_arena *arena, struct fp_reader *r, struct fp_guide_version *v)
{
    enum { BYTES_OF_BLOCK = 18 };
    uint32_t nblocks = (uint32_t)fp_read_count(r, BYTES_OF_BLOCK);
    uint8_t *flags = FP_NEW_ARRAY(arena, uint8_t, nblocks);
    FP_VEC(struct fp_edge) edges = {0};
    v->marks = FP_NEW_ARRAY(arena, struct fp_block_mark, nblocks);
    for (uint32_t b = 0; b < nblocks && !r->failed; b++) {
        flags[b] = fp_read_u8(r);
        decode_mark(r, &v->marks[b]);
        for (size_t left = fp_read_count(r, 1); left-- && !r->failed;) {
            uint32_t to = fp_read_index(r, (uint64_t)nblocks * 8, "an edge");
            fp_vec_push(arena, &edges, (struct fp_edge){b, to / 8, (enum fp_edge_kind)(to % 8)});
        }
    }
    for (size_t i = 0; i < edges.len; i++)
        if (edges.at[i].kind > FP_EDGE_TWICE) return false;
    if (r->failed || !nblocks) return false;
    v->cfg = fp_cfg_new(arena, nblocks, edges.at, (uint32_t)edges.len, flags);
    return fp_cfg_check(v->cfg, r->error);
}

static void decode_sites(struct fp_arena *arena, struct fp_reader *r, struct fp_guide_version *v)
{
    for (int kind = 0; kind < 2; kind++) {
        struct fp_value_sites *sites = &v->sites[kind];
        sites->n = (uint32_t)fp_read_count(r, 1);
        sites->blocks = FP_NEW_ARRAY(arena, uint32_t, sites->n);
        for (uint32_t i = 0; i < sites->n && !r->failed; i++)
            sites->blocks[i] = fp_read_index(r, v->cfg->nblocks, "a block");
    }
}

static bool never_ran(struct fp_reader *r)
{
    uint64_t sum = fp_read_uint(r);
    for (size_t left = fp_read_count(r, 1); left-- && !r->failed;) sum |= fp_read_uint(r);
    return !r->failed && !sum;
}

enum fp_guide_kept fp_guide_read(struct fp_arena *arena, const struct fp_guide *guide, size_t index,
                                 struct fp_guide_function *f)
{
    struct fp_error error = {0};
    struct fp_reader r = reader_of(guide, index, &error);
    *f = guide->functions[index];
    if (guide->format < WITH_VERSIONS) return FP_GUIDE_NO_VERSION;
    bool kept = fp_read_count(&r, 1);
    if (!kept) return never_ran(&r) ? FP_GUIDE_NEVER_RAN : FP_GUIDE_NO_VERSION;
    if (!decode_blocks(arena, &r, &f->version)) return FP_GUIDE_NO_VERSION;
    decode_sites(arena, &r, &f->version);
    if (r.failed || !decode_counts(arena, guide, &r, f->version.cfg, f)) return FP_GUIDE_NO_VERSION;
    return FP_GUIDE_VERSION;
}

/* ---- searching ---- */

size_t fp_guide_first(const struct fp_guide *guide, uint64_t key)
{
    size_t low = 0, high = guide->nfunctions;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (guide->functions[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_up(struct fp_arena *arena, struct fp_guide_function *sum,
                   const struct fp_guide_function *one)
{
    struct fp_guide_path *paths =
        FP_NEW_ARRAY(arena, struct fp_guide_path, (size_t)sum->npaths + one->npaths);
    sum->id = 0;
    sum->entries = fp_add_saturated(sum->entries, one->entries);
    for (uint32_t e = 0; e < sum->nedges; e++)
        sum->edges[e] = fp_add_saturated(sum->edges[e], one->edges[e]);
    if (sum->npaths) memcpy(paths, sum->paths, sum->npaths * sizeof *paths);
    if (one->npaths) memcpy(paths + sum->npaths, one->paths, one->npaths * sizeof *paths);
    sum->paths = paths;
    sum->npaths += one->npaths;
    if (!sum->nvalues) sum->values = one->values, sum->nvalues = one->nvalues; /* of one of them */
}

/* Of a function with a sparse array the id has how long the array is. */
static bool is_id_of(const struct fp_guide_function *f, uint64_t id)
{
    uint64_t most = f->flags & FP_FUNCTION_HASHED ? FP_SPARSE_MOST : 0;
    return f->id - fp_function_id(id, f->flags, f->path_slots, f->edge_slots) <= most;
}

enum fp_guide_match fp_guide_find(struct fp_arena *arena, const struct fp_guide *guide,
                                  const struct fp_function *function, uint64_t id,
                                  struct fp_guide_function *found)
{
    uint64_t key = fp_name_key(function->name, function->file),
             shape = fp_cfg_hash(function->paths.cfg);
    size_t first = fp_guide_first(guide, key), end = first;
    uint32_t fitting = 0;
    for (; end < guide->nfunctions && guide->functions[end].key == key; end++) {
        const struct fp_guide_function *f = &guide->functions[end];
        if (f->shape != shape) continue;
        if (is_id_of(f, id))
            return decode_same(arena, guide, end, function->paths.cfg, found) ? FP_GUIDE_FOUND
                                                                              : FP_GUIDE_STALE;
        fitting++;
    }
    if (first == end) return FP_GUIDE_ABSENT;
    bool some = false;
    for (size_t i = first; fitting && i < end; i++) {
        struct fp_guide_function one;
        if (guide->functions[i].shape != shape) continue;
        if (!decode_same(arena, guide, i, function->paths.cfg, &one)) continue;
        if (some)
            add_up(arena, found, &one);
        else
            *found = one;
        some = true;
    }
    return some ? FP_GUIDE_FOUND : FP_GUIDE_STALE;
}
