/* Encoding and decoding of map records: see mapcode.h.
 *
 * The two halves of this file mirror each other: both walk over the same fields in the same
 * order. What follows from the cfg (dag, numbering, flow) is not stored but recomputed, from
 * the stored fates and the stored order of out-edges, by code that decides nothing.
 */
#include "profile/mapcode.h"

#include "base/checked.h"
#include "base/checksum.h"
#include "base/table.h"
#include "base/vec.h"
#include "count/layout.h"
#include "count/values.h"

#include <stdlib.h>
#include <string.h>

/* In version 2 labels were those of LLVM's branches, which are not the source's. Version 4 has sums
 * of source files, version 5 what branches belong to. */
enum {
    OLDEST_VERSION = 2,
    WITH_LABELS = 3,
    WITH_SUMS = 4,
    WITH_CONSTRUCTS = 5,
    WITH_TWO_ARRAYS = 6,
    WITH_COPIES = 7,
    MAP_VERSION = WITH_COPIES
};
enum { DEEPEST_INLINING = 2000 };

uint64_t fp_function_id(uint64_t base, uint32_t flags, uint64_t path_slots, uint64_t edge_slots)
{
    uint64_t id = fp_hash64(base ^ (flags & FP_FUNCTION_OF_COUNTERS));
    return fp_hash64(id ^ (path_slots << 32) ^ edge_slots);
}

/* ---- strings: each once per record ---- */

struct string_table {
    struct fp_arena arena;
    struct fp_strtable index; /* text -> 1 + index */
    FP_VEC(const char *) all;
};

static uint64_t string_index(struct string_table *t, const char *text)
{
    if (!text) text = "";
    uint64_t *index = fp_strtable_add(&t->index, text);
    if (!*index) {
        fp_vec_push(&t->arena, &t->all, text);
        *index = t->all.len;
    }
    return *index - 1;
}

static void collect_jumps(struct string_table *t, const struct fp_function *f)
{
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) string_index(t, f->source.code[b].jump);
}

static void collect_strings(struct string_table *t, const struct fp_function *f)
{
    if (f->source.code) collect_jumps(t, f);
    string_index(t, f->name);
    string_index(t, f->file);
    string_index(t, f->skipped);
    if (f->flags & FP_FUNCTION_LLVM) string_index(t, f->llvm.name);
    for (uint32_t i = 0; i < f->source.ncallees; i++) string_index(t, f->source.callees[i]);
    for (uint32_t i = 0; i < f->source.ncalls; i++) string_index(t, f->source.calls[i].callee);
    for (uint32_t i = 0; i < f->source.nscopes; i++) {
        string_index(t, f->source.scopes[i].function);
        string_index(t, f->source.scopes[i].file);
        string_index(t, f->source.scopes[i].linkage);
    }
}

/* ---- encoding ---- */

struct file_sum {
    uint64_t file, sum; /* number of its name among the strings */
};

struct file_sums {
    FP_VEC(struct file_sum) all;
};

static void add_sum(struct file_sums *sums, struct string_table *t, const char *file, uint64_t sum)
{
    struct file_sum one = {string_index(t, file), sum};
    for (size_t i = 0; i < sums->all.len; i++)
        if (sums->all.at[i].file == one.file) return;
    if (sum) fp_vec_push(&t->arena, &sums->all, one);
}

static void encode_sums(struct fp_writer *w, struct string_table *t, const struct fp_function *f)
{
    struct file_sums sums = {{0}};
    add_sum(&sums, t, f->file, f->file_sum);
    for (uint32_t i = 0; i < f->source.nscopes; i++)
        add_sum(&sums, t, f->source.scopes[i].file, f->source.scopes[i].file_sum);
    fp_write_uint(w, sums.all.len);
    for (size_t i = 0; i < sums.all.len; i++) {
        fp_write_uint(w, sums.all.at[i].file);
        fp_write_u64(w, sums.all.at[i].sum);
    }
}

static void encode_scopes(struct fp_writer *w, struct string_table *t, const struct fp_function *f)
{
    fp_write_uint(w, f->source.nscopes);
    for (uint32_t i = 0; i < f->source.nscopes; i++) {
        const struct fp_scope *scope = &f->source.scopes[i];
        fp_write_uint(w, string_index(t, scope->function));
        fp_write_uint(w, string_index(t, scope->file));
        fp_write_uint(w, string_index(t, scope->linkage));
        fp_write_uint(w, scope->line);
        fp_write_uint(w, scope->parent == FP_NONE ? 0 : scope->parent + 1);
        fp_write_uint(w, scope->call_line);
        fp_write_uint(w, scope->call_discriminator);
    }
}

static void encode_blocks(struct fp_writer *w, const struct fp_function *f)
{
    const struct fp_cfg *cfg = f->paths.cfg;
    struct fp_position last = {.line = f->line};
    fp_write_uint(w, cfg->nblocks);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        const struct fp_block_info *info = &f->source.blocks[b];
        fp_write_uint(w, cfg->flags[b]);
        fp_write_uint(w, info->instructions);
        fp_write_uint(w, info->npositions);
        for (uint32_t i = 0; i < info->npositions; i++) {
            const struct fp_position *p = &f->source.positions[info->first_position + i];
            fp_write_uint(w, p->scope);
            fp_write_int(w, (int64_t)p->line - last.line);
            /* few have a discriminator: the lowest bit says whether */
            fp_write_uint(w, (uint64_t)p->column << 1 | (p->discriminator != 0));
            if (p->discriminator) fp_write_uint(w, p->discriminator);
            last = *p;
        }
    }
}

static void encode_edges(struct fp_writer *w, const struct fp_function *f)
{
    const struct fp_cfg *cfg = f->paths.cfg;
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        const struct fp_block_info *info = &f->source.blocks[b];
        fp_write_uint(w, (uint64_t)fp_cfg_out_degree(cfg, b) << 4 | (unsigned)info->construct << 1 |
                             info->is_part);
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++) {
            fp_write_int(w, (int64_t)cfg->edges[e].dst - b);
            fp_write_u8(w, (uint8_t)((unsigned)cfg->edges[e].kind |
                                     (unsigned)f->paths.truncation->order.fate[e] << 3 |
                                     (unsigned)f->source.edges[e].label << 5));
            if (fp_label_has_value(f->source.edges[e].label))
                fp_write_int(w, f->source.edges[e].value);
        }
    }
}

/* Per vertex with a choice, the rank of each out-edge. */
static void encode_numbering(struct fp_writer *w, const struct fp_function *f)
{
    const struct fp_dag *dag = f->paths.dag;
    for (uint32_t v = 0; v < dag->nverts; v++) {
        uint32_t first = dag->first_out[v], end = dag->first_out[v + 1];
        for (uint32_t i = first; end - first > 1 && i < end; i++)
            fp_write_uint(w, f->paths.numbering->by_value[i] - first);
    }
}

/* The edges whose counts stand in front of a branch. */
static void encode_moved(struct fp_writer *w, const struct fp_function *f)
{
    uint32_t count = 0;
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) count += f->layout.at_end[b] != FP_NONE;
    fp_write_uint(w, count);
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
        if (f->layout.at_end[b] != FP_NONE) fp_write_uint(w, f->layout.at_end[b]);
}

static void encode_flow(struct fp_writer *w, const struct fp_function *f)
{
    for (uint32_t i = 0; i < f->paths.flow->nedges; i++)
        fp_write_uint(w, f->layout.flow_slot[i] == FP_NONE ? 0 : f->layout.flow_slot[i] + 1);
}

static bool has_left_copies(const struct fp_function *f)
{
    return f->flags & FP_FUNCTION_EXITS && f->layout.ncopies;
}

static void encode_exits(struct fp_writer *w, const struct fp_function *f)
{
    const struct fp_layout *layout = &f->layout;
    if (has_left_copies(f)) {
        fp_write_uint(w, layout->ncopies);
        for (uint32_t i = 0; i < layout->ncopies; i++) fp_write_uint(w, layout->copy_of[i]);
    }
    for (uint32_t b = 0; b < fp_layout_places(f); b++) {
        fp_write_u8(w, (uint8_t)(layout->counted[b] | layout->has_register[b] << 1));
        fp_write_int(w, layout->offset[b]);
    }
}

/* Labels are stored as they were before pushing: what decoding needs. */
static void encode_labels(struct fp_writer *w, const struct fp_function *f)
{
    const struct fp_pspp *labels = f->copy->labels;
    fp_write_uint(w, labels->num_ids);
    for (uint32_t d = 0; d < f->paths.dag->nedges; d++) {
        bool has = fp_bitset_has(&labels->interesting, d);
        fp_write_uint(w, has ? labels->initial[d] + 1 : 0);
    }
    for (uint32_t i = 0; i < f->paths.truncation->laps.len; i++)
        fp_write_u8(w, fp_bitset_has(&f->copy->laps, i));
}

static void encode_copy(struct fp_writer *w, const struct fp_function *f)
{
    const struct fp_copy_info *copy = f->copy;
    fp_write_u64(w, copy->reference);
    fp_write_uint(w, copy->turns_slot == FP_NONE ? 0 : (uint64_t)copy->turns_slot + 1);
    fp_write_uint(w, copy->hits_slot == FP_NONE ? 0 : (uint64_t)copy->hits_slot + 1);
    fp_write_u8(w, copy->labels != NULL);
    if (copy->labels) encode_labels(w, f);
}

static void encode_callees(struct fp_writer *w, struct string_table *t, const struct fp_function *f)
{
    fp_write_uint(w, f->source.ncallees);
    for (uint32_t i = 0; i < f->source.ncallees; i++)
        fp_write_uint(w, string_index(t, f->source.callees[i]));
}

static void encode_calls(struct fp_writer *w, struct string_table *t, const struct fp_function *f)
{
    uint32_t block = 0;
    fp_write_uint(w, f->source.ncalls);
    for (uint32_t i = 0; i < f->source.ncalls; i++) {
        const struct fp_call *call = &f->source.calls[i];
        fp_write_uint(w, string_index(t, call->callee));
        fp_write_uint(w, call->block - block);
        fp_write_int(w, call->line ? (int64_t)call->line - f->line : INT32_MIN);
        block = call->block;
    }
}

static void encode_unseen(struct fp_writer *w, const struct fp_function *f)
{
    struct fp_unseen last = {.line = f->line};
    fp_write_uint(w, f->source.nunseen);
    for (uint32_t i = 0; i < f->source.nunseen; i++) {
        const struct fp_unseen *one = &f->source.unseen[i];
        bool again = i && one->place == last.place && one->scope == last.scope;
        fp_write_uint(w, again ? 0 : 1 + (uint64_t)(one->place - last.place));
        if (!again) fp_write_uint(w, one->scope);
        fp_write_int(w, (int64_t)one->line - last.line);
        fp_write_uint(w, one->nlines - 1);
        last = *one;
        last.line += one->nlines;
    }
}

/* Most blocks begin where the one before ends. */
static void encode_code(struct fp_writer *w, struct string_table *t, const struct fp_function *f)
{
    uint64_t next = f->source.address;
    fp_write_uint(w, f->source.address);
    for (uint32_t b = 0; f->source.code && b < f->paths.cfg->nblocks; b++) {
        const struct fp_block_code *code = &f->source.code[b];
        fp_write_uint(w, code->size);
        if (!code->size) continue;
        fp_write_int(w, (int64_t)(code->address - next));
        fp_write_uint(w, code->size - code->last);
        fp_write_uint(w, string_index(t, code->jump));
        next = code->address + code->size;
    }
}

/* 0: the counter stays 0. */
static void encode_llvm(struct fp_writer *w, struct string_table *t, const struct fp_function *f)
{
    fp_write_uint(w, string_index(t, f->llvm.name));
    fp_write_u64(w, f->llvm.hash);
    fp_write_uint(w, f->llvm.ntargets);
    fp_write_uint(w, f->llvm.nsizes);
    fp_write_uint(w, f->llvm.ncounters);
    for (uint32_t i = 0; i < f->llvm.ncounters; i++)
        fp_write_uint(w, f->llvm.blocks[i] == FP_NONE ? 0 : (uint64_t)f->llvm.blocks[i] + 1);
}

static void encode_sites(struct fp_writer *w, const struct fp_function *f)
{
    for (int kind = 0; kind < 2; kind++) {
        const struct fp_value_sites none = {0}, *sites = f->sites ? &f->sites[kind] : &none;
        fp_write_uint(w, sites->n);
        for (uint32_t i = 0; i < sites->n; i++) fp_write_uint(w, sites->blocks[i]);
    }
}

static void encode_contents(struct fp_writer *w, const struct fp_function *f)
{
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) {
        fp_write_u32(w, f->source.blocks[b].content);
        fp_write_u32(w, f->source.blocks[b].kind);
    }
}

/* A reader that does not know of the second array, or of copies, would lose counts. */
static uint64_t version_for(const struct fp_function *f)
{
    if (has_left_copies(f)) return WITH_COPIES;
    return f->flags & FP_FUNCTION_TWICE ? WITH_TWO_ARRAYS : WITH_CONSTRUCTS;
}

static void encode_payload(struct fp_writer *w, struct string_table *t, const struct fp_function *f)
{
    fp_write_uint(w, version_for(f));
    fp_write_uint(w, f->flags);
    fp_write_u64(w, f->id);
    fp_write_uint(w, t->all.len);
    for (size_t i = 0; i < t->all.len; i++) fp_write_string(w, t->all.at[i]);
    encode_sums(w, t, f);
    fp_write_uint(w, string_index(t, f->name));
    fp_write_uint(w, string_index(t, f->file));
    fp_write_uint(w, string_index(t, f->skipped));
    fp_write_uint(w, f->line);
    if (f->flags & FP_FUNCTION_SKIPPED) {
        if (f->flags & FP_FUNCTION_CODE) encode_code(w, t, f);
        return;
    }
    fp_write_uint(w, f->layout.path_slots);
    fp_write_uint(w, f->layout.edge_slots);
    encode_scopes(w, t, f);
    encode_blocks(w, f);
    encode_edges(w, f);
    if (f->flags & (FP_FUNCTION_PATHS | FP_FUNCTION_SAMPLED)) encode_numbering(w, f);
    if (f->flags & FP_FUNCTION_PATHS) encode_moved(w, f);
    if (f->flags & FP_FUNCTION_EDGES) encode_flow(w, f);
    if (f->flags & FP_FUNCTION_EXITS) encode_exits(w, f);
    if (f->flags & (FP_FUNCTION_COPY | FP_FUNCTION_HITS)) encode_copy(w, f);
    if (f->flags & FP_FUNCTION_CALLEES) encode_callees(w, t, f);
    if (f->flags & FP_FUNCTION_CALLS) encode_calls(w, t, f);
    if (f->flags & FP_FUNCTION_CALL_COSTS) fp_write_uint(w, f->layout.call_slot);
    if (f->flags & FP_FUNCTION_UNSEEN) encode_unseen(w, f);
    if (f->flags & FP_FUNCTION_CODE) encode_code(w, t, f);
    if (f->flags & FP_FUNCTION_LLVM) encode_llvm(w, t, f);
    if (f->flags & FP_FUNCTION_VALUES) encode_sites(w, f);
    if (f->flags & FP_FUNCTION_EARLY) encode_contents(w, f);
}

void fp_map_encode(struct fp_writer *writer, const struct fp_function *function)
{
    struct string_table table = {0};
    fp_strtable_init(&table.index, &table.arena);
    collect_strings(&table, function);
    encode_payload(writer, &table, function);
    fp_arena_free(&table.arena);
}

void fp_map_write_record(struct fp_writer *writer, const struct fp_function *function)
{
    struct fp_writer payload = {0};
    fp_map_encode(&payload, function);
    fp_write_u32(writer, FP_MAP_MAGIC);
    fp_write_u32(writer, (uint32_t)payload.len);
    fp_write_u64(writer, fp_checksum(payload.bytes, payload.len, 0));
    fp_write_u64(writer, function->layout.path_address);
    fp_write_u64(writer, function->layout.edge_address);
    fp_write_bytes(writer, payload.bytes, payload.len);
    fp_writer_free(&payload);
}

/* ---- decoding ---- */

struct decoder {
    struct fp_arena *arena;
    struct fp_reader *r;
    struct fp_function *f;
    char **strings;
    uint64_t *sums; /* per string: that of the file of this name, or 0 */
    size_t nstrings;
    uint64_t version;
};

static const char *decode_string(struct decoder *d)
{
    uint32_t index = fp_read_index(d->r, d->nstrings, "string number");
    return d->r->failed ? "" : d->strings[index];
}

static const char *decode_file(struct decoder *d, uint64_t *sum)
{
    uint32_t index = fp_read_index(d->r, d->nstrings, "string number");
    *sum = d->r->failed ? 0 : d->sums[index];
    return d->r->failed ? "" : d->strings[index];
}

static void decode_sums(struct decoder *d)
{
    d->sums = FP_NEW_ARRAY(d->arena, uint64_t, d->nstrings + 1);
    size_t count = d->version < WITH_SUMS ? 0 : fp_read_count(d->r, 9);
    for (size_t i = 0; i < count && !d->r->failed; i++) {
        uint32_t file = fp_read_index(d->r, d->nstrings, "string number");
        uint64_t sum = fp_read_u64(d->r);
        if (!d->r->failed) d->sums[file] = sum;
    }
}

static void decode_strings(struct decoder *d)
{
    d->nstrings = fp_read_count(d->r, 1);
    d->strings = FP_NEW_ARRAY(d->arena, char *, d->nstrings);
    for (size_t i = 0; i < d->nstrings; i++) d->strings[i] = fp_read_string(d->r, d->arena);
}

static void decode_scopes(struct decoder *d)
{
    struct fp_function *f = d->f;
    f->source.nscopes = (uint32_t)fp_read_count(d->r, 7);
    f->source.scopes = FP_NEW_ARRAY(d->arena, struct fp_scope, f->source.nscopes);
    uint32_t *depth = FP_NEW_ARRAY(d->arena, uint32_t, f->source.nscopes);
    for (uint32_t i = 0; i < f->source.nscopes && !d->r->failed; i++) {
        struct fp_scope *scope = &f->source.scopes[i];
        scope->function = decode_string(d);
        scope->file = decode_file(d, &scope->file_sum);
        scope->linkage = decode_string(d);
        scope->line = (uint32_t)fp_read_uint(d->r);
        /* a parent comes before its children, so chains end */
        uint32_t parent = fp_read_index(d->r, (uint64_t)i + 1, "scope number");
        scope->parent = parent ? parent - 1 : FP_NONE;
        depth[i] = parent ? depth[parent - 1] + 1 : 0;
        if (depth[i] > DEEPEST_INLINING) /* readers may walk them by recursion */
            fp_reader_fail(d->r, "expected functions inlined into each other at most %d deep",
                           DEEPEST_INLINING);
        scope->call_line = (uint32_t)fp_read_uint(d->r);
        scope->call_discriminator = (uint32_t)fp_read_uint(d->r);
    }
}

static uint8_t *decode_blocks(struct decoder *d, uint32_t *nblocks)
{
    struct fp_function *f = d->f;
    FP_VEC(struct fp_position) positions = {0};
    *nblocks = (uint32_t)fp_read_count(d->r, 3);
    uint8_t *flags = FP_NEW_ARRAY(d->arena, uint8_t, (size_t)*nblocks + 1);
    f->source.blocks = FP_NEW_ARRAY(d->arena, struct fp_block_info, *nblocks);
    struct fp_position last = {.line = f->line};
    for (uint32_t b = 0; b < *nblocks && !d->r->failed; b++) {
        flags[b] = (uint8_t)fp_read_uint(d->r);
        f->source.blocks[b].instructions = (uint32_t)fp_read_uint(d->r);
        f->source.blocks[b].npositions = (uint32_t)fp_read_count(d->r, 3);
        f->source.blocks[b].first_position = (uint32_t)positions.len;
        for (uint32_t i = 0; i < f->source.blocks[b].npositions && !d->r->failed; i++) {
            last.scope = fp_read_index(d->r, f->source.nscopes, "scope number");
            last.line += (uint32_t)fp_read_int(d->r);
            uint64_t column = fp_read_uint(d->r);
            last.column = (uint32_t)(column >> 1);
            last.discriminator = column & 1 ? (uint32_t)fp_read_uint(d->r) : 0;
            fp_vec_push(d->arena, &positions, last);
        }
    }
    f->source.positions = positions.at;
    f->source.npositions = (uint32_t)positions.len;
    return flags;
}

/* The number of ways out of a block, with what its branch belongs to. */
static size_t decode_degree(struct decoder *d, struct fp_block_info *info)
{
    if (d->version < WITH_CONSTRUCTS) return fp_read_count(d->r, 2);
    uint64_t packed = fp_read_uint(d->r), degree = packed >> 4;
    info->construct = packed >> 1 & 7;
    info->is_part = packed & 1;
    if (degree > fp_reader_left(d->r) / 2 || info->construct > FP_CONSTRUCT_SWITCH)
        fp_reader_fail(d->r, "expected the ways out of a block, got %llu of construct %d",
                       (unsigned long long)degree, (int)info->construct);
    return (size_t)degree;
}

static bool decode_cfg(struct decoder *d)
{
    struct fp_function *f = d->f;
    uint32_t nblocks;
    uint8_t *flags = decode_blocks(d, &nblocks);
    FP_VEC(struct fp_edge) edges = {0};
    FP_VEC(struct fp_edge_info) infos = {0};
    FP_VEC(uint8_t) fates = {0};
    for (uint32_t b = 0; b < nblocks && !d->r->failed; b++) {
        size_t degree = decode_degree(d, &f->source.blocks[b]);
        for (size_t i = 0; i < degree && !d->r->failed; i++) {
            int64_t dst = fp_add_saturated_signed(b, fp_read_int(d->r));
            uint8_t packed = fp_read_u8(d->r);
            struct fp_edge_info info = {packed >> 5, 0};
            if (fp_label_has_value(info.label)) info.value = fp_read_int(d->r);
            if (d->version < WITH_LABELS) info = (struct fp_edge_info){FP_LABEL_NONE, 0};
            if (dst < 0 || dst >= nblocks || (packed & 7) > FP_EDGE_TWICE)
                return fp_reader_fail(d->r,
                                      "expected an edge to a block below %u, got block %lld "
                                      "kind %u",
                                      nblocks, (long long)dst, packed & 7u);
            struct fp_edge edge = {b, (uint32_t)dst, packed & 7};
            fp_vec_push(d->arena, &edges, edge);
            fp_vec_push(d->arena, &infos, info);
            fp_vec_push(d->arena, &fates, packed >> 3 & 3);
        }
    }
    if (d->r->failed) return false;
    f->source.edges = infos.at;
    f->paths.cfg = fp_cfg_new(d->arena, nblocks, edges.at, (uint32_t)edges.len, flags);
    struct fp_error rule = {0};
    if (!fp_cfg_check(f->paths.cfg, &rule))
        return fp_reader_fail(d->r, "expected a cfg, got: %s", rule.what);
    f->paths.truncation = FP_NEW(d->arena, struct fp_truncation);
    if (!fp_truncate_as_stored(d->arena, f->paths.cfg, fates.at, f->paths.truncation))
        return fp_reader_fail(d->r, "expected truncated edges that leave no cycle");
    f->paths.dag = fp_dag_make(d->arena, f->paths.truncation);
    return true;
}

static bool decode_numbering(struct decoder *d)
{
    const struct fp_dag *dag = d->f->paths.dag;
    uint32_t *by_value = FP_NEW_ARRAY(d->arena, uint32_t, dag->nedges);
    bool *seen = FP_NEW_ARRAY(d->arena, bool, dag->nedges);
    for (uint32_t v = 0; v < dag->nverts; v++) {
        uint32_t first = dag->first_out[v], degree = dag->first_out[v + 1] - first;
        for (uint32_t i = 0; i < degree; i++) {
            uint32_t rank = degree > 1 ? fp_read_index(d->r, degree, "rank") : 0;
            if (d->r->failed) return false;
            if (seen[first + rank]) return fp_reader_fail(d->r, "expected a permutation of edges");
            seen[first + rank] = true;
            by_value[first + i] = first + rank;
        }
    }
    d->f->paths.numbering = fp_number_as_stored(d->arena, dag, by_value);
    return true;
}

static bool decode_moved(struct decoder *d)
{
    struct fp_function *f = d->f;
    f->layout.at_end = FP_NEW_ARRAY(d->arena, uint32_t, f->paths.cfg->nblocks);
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) f->layout.at_end[b] = FP_NONE;
    size_t count = fp_read_count(d->r, 1);
    for (size_t i = 0; i < count; i++) {
        uint32_t e = fp_read_index(d->r, f->paths.cfg->nedges, "edge");
        if (d->r->failed) return false;
        if (f->paths.truncation->order.fate[e] == FP_FATE_DEAD)
            return fp_reader_fail(d->r, "expected an edge that can be taken");
        f->layout.at_end[f->paths.cfg->edges[e].src] = e;
    }
    return !d->r->failed;
}

static bool decode_flow(struct decoder *d)
{
    struct fp_function *f = d->f;
    f->paths.flow = fp_flow_make(d->arena, f->paths.cfg, &f->paths.truncation->order, NULL);
    f->layout.flow_slot = FP_NEW_ARRAY(d->arena, uint32_t, f->paths.flow->nedges);
    f->paths.flow->in_tree = fp_bitset_new(d->arena, f->paths.flow->nedges);
    for (uint32_t i = 0; i < f->paths.flow->nedges; i++) {
        uint32_t slot = fp_read_index(d->r, f->layout.edge_slots + 1, "counter number");
        f->layout.flow_slot[i] = slot ? slot - 1 : FP_NONE;
        if (!slot) fp_bitset_add(&f->paths.flow->in_tree, i);
    }
    return !d->r->failed;
}

static void decode_left_copies(struct decoder *d)
{
    struct fp_layout *layout = &d->f->layout;
    layout->ncopies = (uint32_t)fp_read_count(d->r, 3);
    layout->copy_of = FP_NEW_ARRAY(d->arena, uint32_t, layout->ncopies);
    for (uint32_t i = 0; i < layout->ncopies; i++)
        layout->copy_of[i] = fp_read_index(d->r, d->f->paths.cfg->nblocks, "block");
}

static bool decode_exits(struct decoder *d)
{
    struct fp_layout *layout = &d->f->layout;
    if (d->version >= WITH_COPIES) decode_left_copies(d);
    uint32_t n = fp_layout_places(d->f);
    layout->counted = FP_NEW_ARRAY(d->arena, bool, n);
    layout->has_register = FP_NEW_ARRAY(d->arena, bool, n);
    layout->offset = FP_NEW_ARRAY(d->arena, int64_t, n);
    for (uint32_t b = 0; b < n; b++) {
        uint8_t facts = fp_read_u8(d->r);
        layout->counted[b] = facts & 1;
        layout->has_register[b] = facts >> 1 & 1;
        layout->offset[b] = fp_read_int(d->r);
    }
    return !d->r->failed;
}

static bool decode_labels(struct decoder *d)
{
    struct fp_function *f = d->f;
    struct fp_pspp *labels = FP_NEW(d->arena, struct fp_pspp);
    uint32_t nlaps = f->paths.truncation->laps.len;
    labels->dag = f->paths.dag;
    labels->num_ids = fp_read_uint(d->r);
    labels->interesting = fp_bitset_new(d->arena, f->paths.dag->nedges);
    labels->initial = FP_NEW_ARRAY(d->arena, uint64_t, f->paths.dag->nedges);
    f->copy->laps = fp_bitset_new(d->arena, nlaps);
    for (uint32_t e = 0; e < f->paths.dag->nedges; e++) {
        uint64_t value = fp_read_uint(d->r);
        if (!value) continue;
        fp_bitset_add(&labels->interesting, e);
        labels->initial[e] = value - 1;
    }
    for (uint32_t i = 0; i < nlaps; i++)
        if (fp_read_u8(d->r)) fp_bitset_add(&f->copy->laps, i);
    if (!d->r->failed && labels->num_ids > FP_MAX_PATHS)
        return fp_reader_fail(d->r, "expected a number of sums, got %llu",
                              (unsigned long long)labels->num_ids);
    f->copy->labels = labels;
    return !d->r->failed;
}

static uint32_t decode_slot(struct decoder *d)
{
    uint32_t slot = fp_read_index(d->r, d->f->layout.edge_slots + 1, "counter");
    return slot ? slot - 1 : FP_NONE;
}

static bool decode_copy(struct decoder *d)
{
    struct fp_function *f = d->f;
    f->copy = FP_NEW(d->arena, struct fp_copy_info);
    f->copy->reference = fp_read_u64(d->r);
    f->copy->turns_slot = decode_slot(d);
    f->copy->hits_slot = decode_slot(d);
    bool has_labels = fp_read_u8(d->r);
    if (has_labels && !f->paths.numbering) return fp_reader_fail(d->r, "expected path counters");
    return d->r->failed ? false : !has_labels || decode_labels(d);
}

static bool decode_callees(struct decoder *d)
{
    struct fp_function *f = d->f;
    f->source.ncallees = (uint32_t)fp_read_count(d->r, 1);
    f->source.callees = FP_NEW_ARRAY(d->arena, const char *, f->source.ncallees);
    for (uint32_t i = 0; i < f->source.ncallees; i++) f->source.callees[i] = decode_string(d);
    return !d->r->failed;
}

static bool decode_calls(struct decoder *d)
{
    struct fp_function *f = d->f;
    uint64_t block = 0;
    f->source.ncalls = (uint32_t)fp_read_count(d->r, 3);
    f->source.calls = FP_NEW_ARRAY(d->arena, struct fp_call, f->source.ncalls);
    for (uint32_t i = 0; i < f->source.ncalls && !d->r->failed; i++) {
        const char *callee = decode_string(d);
        block += fp_read_uint(d->r);
        int64_t line = fp_read_int(d->r);
        if (block >= f->paths.cfg->nblocks)
            return fp_reader_fail(d->r, "expected a block that calls, got %llu",
                                  (unsigned long long)block);
        line = line == INT32_MIN ? 0 : line + f->line;
        f->source.calls[i] = (struct fp_call){callee && *callee ? callee : NULL, (uint32_t)block,
                                              line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0};
    }
    return !d->r->failed;
}

static bool decode_call_costs(struct decoder *d)
{
    struct fp_function *f = d->f;
    f->layout.call_slot = fp_read_index(d->r, f->layout.edge_slots, "counter");
    if (d->r->failed || fp_layout_call(f, f->source.ncalls) <= f->layout.edge_slots)
        return !d->r->failed;
    return fp_reader_fail(d->r, "expected counters of %u calls", f->source.ncalls);
}

/* Runs of lines; 0 in front of one: at the place of the run before. */
static bool decode_unseen(struct decoder *d)
{
    struct fp_function *f = d->f;
    struct fp_unseen one = {.line = f->line};
    uint64_t place = 0;
    f->source.nunseen = (uint32_t)fp_read_count(d->r, 3);
    f->source.unseen = FP_NEW_ARRAY(d->arena, struct fp_unseen, f->source.nunseen);
    for (uint32_t i = 0; i < f->source.nunseen && !d->r->failed; i++) {
        uint64_t step = fp_read_uint(d->r);
        if (step) place += step - 1, one.scope = (uint32_t)fp_read_uint(d->r);
        if (place >= (uint64_t)f->paths.cfg->nblocks + f->paths.cfg->nedges ||
            one.scope >= f->source.nscopes)
            return fp_reader_fail(d->r, "expected a place of unseen lines, got %llu in scope %u",
                                  (unsigned long long)place, one.scope);
        one.place = (uint32_t)place;
        one.line += (uint32_t)fp_read_int(d->r);
        one.nlines = fp_read_index(d->r, UINT32_MAX - one.line, "number of lines") + 1;
        f->source.unseen[i] = one;
        one.line += one.nlines;
    }
    return !d->r->failed;
}

static bool decode_block_code(struct decoder *d, uint64_t *next, struct fp_block_code *code)
{
    code->size = (uint32_t)fp_read_uint(d->r);
    if (!code->size) return !d->r->failed;
    code->address = *next + (uint64_t)fp_read_int(d->r);
    uint32_t length = fp_read_index(d->r, (uint64_t)code->size + 1, "length of an instruction");
    const char *jump = decode_string(d);
    code->last = code->size - length;
    code->jump = *jump ? jump : NULL;
    *next = code->address + code->size;
    return !d->r->failed;
}

static bool decode_code(struct decoder *d)
{
    struct fp_function *f = d->f;
    uint64_t next = f->source.address = fp_read_uint(d->r);
    if (f->flags & FP_FUNCTION_SKIPPED) return !d->r->failed;
    f->source.code = FP_NEW_ARRAY(d->arena, struct fp_block_code, f->paths.cfg->nblocks);
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
        if (!decode_block_code(d, &next, &f->source.code[b])) return false;
    return true;
}

static bool decode_llvm(struct decoder *d)
{
    struct fp_llvm_counters *llvm = &d->f->llvm;
    llvm->name = decode_string(d);
    llvm->hash = fp_read_u64(d->r);
    llvm->ntargets = fp_read_index(d->r, FP_VALUE_SITES, "number of calls");
    llvm->nsizes = fp_read_index(d->r, FP_VALUE_SITES, "number of calls");
    llvm->ncounters = (uint32_t)fp_read_count(d->r, 1);
    llvm->blocks = FP_NEW_ARRAY(d->arena, uint32_t, llvm->ncounters);
    for (uint32_t i = 0; i < llvm->ncounters && !d->r->failed; i++) {
        uint32_t block = fp_read_index(d->r, (uint64_t)d->f->paths.cfg->nblocks + 1, "block");
        llvm->blocks[i] = block ? block - 1 : FP_NONE;
    }
    return !d->r->failed;
}

static bool decode_sites(struct decoder *d)
{
    d->f->sites = FP_NEW_ARRAY(d->arena, struct fp_value_sites, 2);
    for (int kind = 0; kind < 2; kind++) {
        struct fp_value_sites *sites = &d->f->sites[kind];
        sites->n = (uint32_t)fp_read_count(d->r, 1);
        sites->blocks = FP_NEW_ARRAY(d->arena, uint32_t, sites->n);
        for (uint32_t i = 0; i < sites->n && !d->r->failed; i++)
            sites->blocks[i] = fp_read_index(d->r, d->f->paths.cfg->nblocks, "block");
    }
    return !d->r->failed;
}

static void decode_contents(struct decoder *d)
{
    for (uint32_t b = 0; b < d->f->paths.cfg->nblocks; b++) {
        d->f->source.blocks[b].content = fp_read_u32(d->r);
        d->f->source.blocks[b].kind = fp_read_u32(d->r);
    }
}

/* Flags about path counters need path counters, and flags about edge counters need edge
 * counters. Beside edges a hash table has values alone. */
static bool check_flags(struct decoder *d)
{
    uint32_t flags = d->f->flags;
    uint32_t of_paths = FP_FUNCTION_HASHED | FP_FUNCTION_CYCLES | FP_FUNCTION_SAMPLED;
    if (flags & FP_FUNCTION_VALUES) of_paths &= ~(uint32_t)FP_FUNCTION_HASHED;
    if ((flags & FP_FUNCTION_PATHS || !(flags & of_paths)) &&
        (flags & FP_FUNCTION_EDGES || !(flags & FP_FUNCTION_CHORDS)))
        return true;
    return fp_reader_fail(d->r, "expected flags of a function with such counters, got %x", flags);
}

/* The counters that the flags ask for must fit the slots. */
static bool check_slots(struct decoder *d)
{
    struct fp_function *f = d->f;
    uint64_t need;
    if (fp_layout_fits(f, &need)) return true;
    return fp_reader_fail(d->r, "expected at least %llu path counters, got %llu",
                          (unsigned long long)need, (unsigned long long)f->layout.path_slots);
}

bool fp_map_decode(struct fp_arena *arena, struct fp_reader *reader, struct fp_function *f)
{
    struct decoder d = {.arena = arena, .r = reader, .f = f};
    *f = (struct fp_function){.layout.path_address = f->layout.path_address,
                              .layout.edge_address = f->layout.edge_address};
    d.version = fp_read_uint(reader);
    if (!reader->failed && (d.version < OLDEST_VERSION || d.version > MAP_VERSION))
        return fp_reader_fail(reader, "expected map version %d to %d, got %llu%s", OLDEST_VERSION,
                              MAP_VERSION, (unsigned long long)d.version,
                              d.version > MAP_VERSION ? ", which needs a newer footpath" : "");
    f->flags = (uint32_t)fp_read_uint(reader);
    f->id = fp_read_u64(reader);
    decode_strings(&d);
    decode_sums(&d);
    f->name = decode_string(&d);
    f->file = decode_file(&d, &f->file_sum);
    f->skipped = decode_string(&d);
    f->line = (uint32_t)fp_read_uint(reader);
    if (reader->failed) return false;
    if (f->flags & FP_FUNCTION_SKIPPED) return !(f->flags & FP_FUNCTION_CODE) || decode_code(&d);
    f->skipped = NULL;
    if (!check_flags(&d)) return false;
    f->layout.path_slots = fp_read_uint(reader);
    f->layout.edge_slots = fp_read_uint(reader);
    if (f->layout.path_slots > FP_MAX_PATHS || f->layout.edge_slots > UINT32_MAX)
        return fp_reader_fail(reader, "expected numbers of counters, got %llu and %llu",
                              (unsigned long long)f->layout.path_slots,
                              (unsigned long long)f->layout.edge_slots);
    decode_scopes(&d);
    if (!decode_cfg(&d)) return false;
    if (f->flags & (FP_FUNCTION_PATHS | FP_FUNCTION_SAMPLED) && !decode_numbering(&d)) return false;
    if (f->flags & FP_FUNCTION_PATHS && !decode_moved(&d)) return false;
    if (f->flags & FP_FUNCTION_EDGES && !decode_flow(&d)) return false;
    if (f->flags & FP_FUNCTION_EXITS && !decode_exits(&d)) return false;
    if (f->flags & (FP_FUNCTION_COPY | FP_FUNCTION_HITS) && !decode_copy(&d)) return false;
    if (!check_slots(&d)) return false;
    if (f->flags & FP_FUNCTION_CALLEES && !decode_callees(&d)) return false;
    if (f->flags & FP_FUNCTION_CALLS && !decode_calls(&d)) return false;
    if (f->flags & FP_FUNCTION_CALL_COSTS && !decode_call_costs(&d)) return false;
    if (f->flags & FP_FUNCTION_UNSEEN && !decode_unseen(&d)) return false;
    if (f->flags & FP_FUNCTION_CODE && !decode_code(&d)) return false;
    if (f->flags & FP_FUNCTION_LLVM && !decode_llvm(&d)) return false;
    /* older compilers left the next two out */
    if (f->flags & FP_FUNCTION_VALUES && fp_reader_left(reader) && !decode_sites(&d)) return false;
    if (f->flags & FP_FUNCTION_EARLY && fp_reader_left(reader)) decode_contents(&d);
    return !reader->failed;
}
