/* Legacy files: see legacy.h. */
#include "profile/legacy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int by_ordinal(const void *a, const void *b)
{
    const struct fp_function *x = *(const struct fp_function *const *)a;
    const struct fp_function *y = *(const struct fp_function *const *)b;
    return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

const struct fp_function **fp_legacy_order(struct fp_arena *arena, const struct fp_program *program,
                                           size_t *count)
{
    const struct fp_function **order =
        FP_NEW_ARRAY(arena, const struct fp_function *, program->nfunctions);
    *count = 0;
    for (size_t i = 0; i < program->nfunctions; i++)
        if (!(program->functions[i].flags & FP_FUNCTION_SKIPPED))
            order[(*count)++] = &program->functions[i];
    if (*count) qsort(order, *count, sizeof *order, by_ordinal);
    return order;
}

/* Edges of our cfg that the IR does not have: between the parts of one block, and from the hub
 * to the targets of indirect jumps. */
static bool is_ir_edge(const struct fp_cfg *cfg, uint32_t e)
{
    return cfg->edges[e].kind != FP_EDGE_TWICE &&
           !(cfg->flags[cfg->edges[e].src] & (FP_BLOCK_PAD | FP_BLOCK_HUB));
}

uint32_t *fp_legacy_edges(struct fp_arena *arena, const struct fp_function *f, size_t *count)
{
    uint32_t *edges = FP_NEW_ARRAY(arena, uint32_t, (size_t)f->paths.cfg->nedges + 1);
    edges[0] = FP_NONE;
    *count = 1;
    for (uint32_t e = 0; e < f->paths.cfg->nedges; e++)
        if (is_ir_edge(f->paths.cfg, e)) edges[(*count)++] = e;
    return edges;
}

/* ---- writing ---- */

static uint32_t saturated(uint64_t count)
{
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

void fp_legacy_write_arguments(struct fp_writer *out, char *const *args, size_t nargs)
{
    struct fp_writer text = {0};
    for (size_t i = 0; i < nargs; i++) {
        if (i) fp_write_u8(&text, ' ');
        fp_write_bytes(&text, args[i], strlen(args[i]));
    }
    fp_write_u32(out, FP_LEGACY_ARGUMENTS);
    fp_write_u32(out, (uint32_t)text.len);
    fp_write_bytes(out, text.bytes, text.len);
    for (size_t pad = text.len; pad % 4; pad++) fp_write_u8(out, 0);
    fp_writer_free(&text);
}

void fp_legacy_write_counts(struct fp_writer *out, enum fp_legacy_packet type,
                            const uint64_t *counts, size_t count)
{
    fp_write_u32(out, type);
    fp_write_u32(out, (uint32_t)count);
    for (size_t i = 0; i < count; i++) fp_write_u32(out, saturated(counts[i]));
}

bool fp_legacy_write_paths(struct fp_writer *out, const struct fp_legacy_function_paths *functions,
                           size_t nfunctions, struct fp_error *error)
{
    fp_write_u32(out, FP_LEGACY_PATHS);
    fp_write_u32(out, (uint32_t)nfunctions);
    for (size_t i = 0; i < nfunctions; i++) {
        fp_write_u32(out, functions[i].number);
        fp_write_u32(out, (uint32_t)functions[i].nentries);
        for (size_t k = 0; k < functions[i].nentries; k++) {
            const struct fp_legacy_path_entry *entry = &functions[i].entries[k];
            if (entry->path > UINT32_MAX)
                return fp_fail(error, NULL,
                               "function %u: path %" PRIu64
                               " does not fit the 32 bits of the format",
                               functions[i].number, entry->path);
            fp_write_u32(out, (uint32_t)entry->path);
            fp_write_u32(out, saturated(entry->count));
        }
    }
    return true;
}

/* ---- reading ---- */

uint32_t fp_legacy_word(const struct fp_legacy_reader *reader, size_t index)
{
    const unsigned char *w = reader->words + 4 * index;
    return (uint32_t)w[0] | (uint32_t)w[1] << 8 | (uint32_t)w[2] << 16 | (uint32_t)w[3] << 24;
}

static void take_words(struct fp_legacy_reader *reader, size_t count)
{
    struct fp_reader *r = &reader->r;
    if (count > fp_reader_left(r) / 4)
        fp_reader_fail(r, "expected %zu words, got %zu before the end", count,
                       fp_reader_left(r) / 4);
    reader->words = fp_read_bytes(r, count * 4);
    reader->nwords = reader->words ? count : 0;
}

static void read_arguments(struct fp_arena *arena, struct fp_legacy_reader *reader)
{
    struct fp_reader *r = &reader->r;
    uint32_t len = fp_read_u32(r);
    const char *text = fp_read_bytes(r, len);
    if (text) reader->arguments = fp_arena_strndup(arena, text, len);
    if (len % 4) fp_read_bytes(r, 4 - len % 4);
}

/* The words of all functions: number, entries, pairs. */
static void read_paths(struct fp_legacy_reader *reader)
{
    struct fp_reader *r = &reader->r;
    uint32_t functions = fp_read_u32(r);
    size_t start = r->at;
    for (uint32_t i = 0; i < functions && !r->failed; i++) {
        fp_read_u32(r);
        uint32_t entries = fp_read_u32(r);
        if (entries > fp_reader_left(r) / 8) {
            fp_reader_fail(r, "expected %u paths, got %zu bytes", entries, fp_reader_left(r));
            return;
        }
        fp_read_bytes(r, (size_t)entries * 8);
    }
    reader->words = r->bytes + start;
    reader->nwords = r->failed ? 0 : (r->at - start) / 4;
}

bool fp_legacy_next(struct fp_arena *arena, struct fp_legacy_reader *reader)
{
    struct fp_reader *r = &reader->r;
    if (r->failed || !fp_reader_left(r)) return false;
    uint32_t type = fp_read_u32(r);
    reader->type = (enum fp_legacy_packet)type;
    reader->words = NULL;
    reader->nwords = 0;
    switch (reader->type) {
    case FP_LEGACY_ARGUMENTS: read_arguments(arena, reader); break;
    case FP_LEGACY_FUNCTIONS:
    case FP_LEGACY_BLOCKS:
    case FP_LEGACY_EDGES:
    case FP_LEGACY_TRACE:
    case FP_LEGACY_OPTIMAL_EDGES: take_words(reader, fp_read_u32(r)); break;
    case FP_LEGACY_PATHS: read_paths(reader); break;
    case FP_LEGACY_COMBINED_EDGES:
    case FP_LEGACY_COMBINED_PATHS: break; /* the caller reads on */
    default: r->at -= 4; fp_reader_fail(r, "expected a packet of type 1 to 9, got %u", type);
    }
    return !r->failed;
}
