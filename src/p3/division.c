/* Writing, reading and searching divisions: see division.h. */
#include "p3/division.h"

#include "base/checksum.h"
#include "base/io.h"
#include "base/varint.h"

#include <inttypes.h>
#include <string.h>

#define MAGIC "fp-plan\n"
enum { VERSION = 1, OLDEST_READER = 1, HEADER_SIZE = 32 };

const char *fp_strategy_name(enum fp_strategy strategy)
{
    switch (strategy) {
    case FP_STRATEGY_P3: return "p3";
    case FP_STRATEGY_CUTS: return "cuts";
    case FP_STRATEGY_PROCEDURES: return "procedures";
    case FP_STRATEGY_INVOCATIONS: return "invocations";
    }
    return "";
}

bool fp_part_concerns(const struct fp_part *part, uint32_t copy)
{
    switch (part->kind) {
    case FP_PART_WHOLE: return part->copy == copy;
    case FP_PART_TURNS: return true;
    case FP_PART_PATHS:
        return fp_bitset_count(&part->edges[copy]) || fp_bitset_count(&part->laps[copy]);
    }
    return false;
}

const struct fp_part *fp_division_find(const struct fp_division *division, uint64_t function)
{
    const uint64_t *index = fp_table_find(&division->by_function, function);
    return index ? &division->parts.at[*index - 1] : NULL;
}

/* ---- writing ---- */

/* Bits as bytes, the first in the lowest bit; nothing for an empty set. */
static void write_set(struct fp_writer *w, const struct fp_bitset *set)
{
    size_t len = fp_bitset_count(set) ? (set->bits + 7) / 8 : 0;
    fp_write_uint(w, len);
    for (size_t i = 0; i < len; i++) fp_write_u8(w, (uint8_t)(set->words[i / 8] >> (i % 8 * 8)));
}

static void write_part(struct fp_writer *w, const struct fp_part *part, uint32_t ncopies)
{
    fp_write_u64(w, part->function);
    fp_write_string(w, part->name);
    fp_write_u8(w, (uint8_t)part->kind);
    if (part->kind != FP_PART_PATHS) fp_write_uint(w, part->copy);
    if (part->kind == FP_PART_PATHS) {
        fp_write_uint(w, part->nedges);
        fp_write_uint(w, part->nlaps);
        for (uint32_t i = 0; i < ncopies; i++) {
            write_set(w, &part->edges[i]);
            write_set(w, &part->laps[i]);
        }
    }
    fp_write_uint(w, part->nweights);
    for (uint32_t e = 0; e < part->nweights; e++) fp_write_uint(w, part->weights[e]);
}

bool fp_division_write(const char *path, const struct fp_division *division, struct fp_error *error)
{
    struct fp_writer payload = {0}, file = {0};
    fp_write_uint(&payload, division->ncopies);
    fp_write_u8(&payload, (uint8_t)division->strategy);
    fp_write_u8(&payload, division->plain_labels);
    fp_write_uint(&payload, division->profitable);
    fp_write_string(&payload, division->program);
    fp_write_uint(&payload, division->build_id_len);
    fp_write_bytes(&payload, division->build_id, division->build_id_len);
    fp_write_uint(&payload, division->parts.len);
    for (size_t i = 0; i < division->parts.len; i++)
        write_part(&payload, &division->parts.at[i], division->ncopies);
    fp_write_bytes(&file, MAGIC, 8);
    fp_write_u32(&file, VERSION);
    fp_write_u32(&file, OLDEST_READER);
    fp_write_u64(&file, payload.len);
    fp_write_u64(&file, fp_checksum(payload.bytes, payload.len, 0));
    fp_write_bytes(&file, payload.bytes, payload.len);
    bool ok = fp_file_write(path, file.bytes, file.len, error);
    fp_writer_free(&payload);
    fp_writer_free(&file);
    return ok;
}

/* ---- reading ---- */

/* `zeros` are the words of every empty set: no byte of the file stands for one, so that a
 * number of bits alone must not ask for memory. */
static struct fp_bitset read_set(struct fp_arena *arena, struct fp_reader *r, uint64_t *zeros,
                                 uint32_t bits)
{
    struct fp_bitset none = {zeros, bits};
    uint64_t len = fp_read_uint(r);
    if (!r->failed && len && len != ((uint64_t)bits + 7) / 8)
        fp_reader_fail(r, "expected a set of %u bits, got %" PRIu64 " bytes", bits, len);
    const unsigned char *bytes = fp_read_bytes(r, r->failed ? 0 : (size_t)len);
    if (!bytes || !len) return none;
    struct fp_bitset set = fp_bitset_new(arena, bits);
    for (uint32_t i = 0; i < bits; i++)
        if (bytes[i / 8] >> i % 8 & 1) fp_bitset_add(&set, i);
    return set;
}

/* The most bits of a set in what is left of the file. */
static uint64_t most_bits(const struct fp_reader *r)
{
    return (uint64_t)fp_reader_left(r) * 8 + 8;
}

static bool read_sets(struct fp_arena *arena, struct fp_reader *r, uint64_t *zeros,
                      struct fp_part *part, uint32_t ncopies)
{
    uint64_t nedges = fp_read_uint(r), nlaps = fp_read_uint(r);
    uint64_t most = most_bits(r);
    if (r->failed) return false;
    if (nedges > most || nlaps > most || ncopies > fp_reader_left(r) / 2)
        return fp_reader_fail(r, "expected numbers of edges and laps, got %" PRIu64 " and %" PRIu64,
                              nedges, nlaps);
    part->nedges = (uint32_t)nedges;
    part->nlaps = (uint32_t)nlaps;
    part->edges = FP_NEW_ARRAY(arena, struct fp_bitset, ncopies);
    part->laps = FP_NEW_ARRAY(arena, struct fp_bitset, ncopies);
    for (uint32_t i = 0; i < ncopies && !r->failed; i++) {
        part->edges[i] = read_set(arena, r, zeros, part->nedges);
        part->laps[i] = read_set(arena, r, zeros, part->nlaps);
    }
    return !r->failed;
}

static bool read_part(struct fp_arena *arena, struct fp_reader *r, uint64_t *zeros,
                      struct fp_part *part, uint32_t ncopies)
{
    *part = (struct fp_part){.function = fp_read_u64(r)};
    part->name = fp_read_string(r, arena);
    uint8_t kind = fp_read_u8(r);
    if (!r->failed && kind > FP_PART_PATHS)
        return fp_reader_fail(r, "expected a kind of part, got %u", kind);
    part->kind = (enum fp_part_kind)kind;
    if (kind != FP_PART_PATHS) part->copy = fp_read_index(r, ncopies, "copy");
    if (kind == FP_PART_PATHS && !read_sets(arena, r, zeros, part, ncopies)) return false;
    part->nweights = (uint32_t)fp_read_count(r, 1);
    part->weights = FP_NEW_ARRAY(arena, uint64_t, part->nweights);
    for (uint32_t e = 0; e < part->nweights; e++) part->weights[e] = fp_read_uint(r);
    return !r->failed;
}

static bool read_payload(struct fp_arena *arena, struct fp_reader *r, struct fp_division *division)
{
    uint64_t ncopies = fp_read_uint(r);
    uint8_t strategy = fp_read_u8(r);
    division->plain_labels = fp_read_u8(r) != 0;
    if (!r->failed &&
        (ncopies < 1 || ncopies > FP_MOST_COPIES || strategy > FP_STRATEGY_INVOCATIONS))
        return fp_reader_fail(r, "expected 1 to %d copies and a strategy, got %" PRIu64 " and %u",
                              FP_MOST_COPIES, ncopies, strategy);
    division->ncopies = (uint32_t)ncopies;
    division->strategy = (enum fp_strategy)strategy;
    division->profitable = (uint32_t)fp_read_uint(r);
    division->program = fp_read_string(r, arena);
    division->build_id_len = fp_read_count(r, 1);
    const void *id = fp_read_bytes(r, division->build_id_len);
    if (r->failed) return false;
    division->build_id = (unsigned char *)fp_arena_strndup(arena, id, division->build_id_len);
    size_t count = fp_read_count(r, 11);
    if (r->failed) return false;
    fp_vec_reserve(arena, &division->parts, count);
    uint64_t *zeros = fp_bitset_new(arena, most_bits(r)).words;
    for (size_t i = 0; i < count; i++) {
        struct fp_part part;
        if (!read_part(arena, r, zeros, &part, division->ncopies)) return false;
        fp_vec_push(arena, &division->parts, part);
        *fp_table_add(&division->by_function, part.function) = division->parts.len;
    }
    if (fp_reader_left(r)) return fp_reader_fail(r, "expected the end of the division");
    return true;
}

bool fp_division_parse(struct fp_arena *arena, const unsigned char *bytes, size_t len,
                       const char *name, struct fp_division *division, struct fp_error *error)
{
    *division = (struct fp_division){0};
    fp_table_init(&division->by_function, arena);
    struct fp_reader r = {.bytes = bytes, .len = len, .file = name, .error = error};
    if (len < HEADER_SIZE || memcmp(bytes, MAGIC, 8))
        return fp_fail_at(error, name, 0, "expected a division of footpath p3, got something else");
    r.at = 8;
    uint32_t version = fp_read_u32(&r), oldest = fp_read_u32(&r);
    if (oldest > VERSION)
        return fp_fail_at(error, name, 8,
                          "expected version %d, got %u, which needs a newer footpath", VERSION,
                          version);
    uint64_t payload = fp_read_u64(&r), checksum = fp_read_u64(&r);
    if (payload != fp_reader_left(&r))
        return fp_fail_at(error, name, 16, "expected %" PRIu64 " bytes to follow, got %zu", payload,
                          fp_reader_left(&r));
    uint64_t got = fp_checksum(bytes + r.at, (size_t)payload, 0);
    if (got != checksum)
        return fp_fail_at(error, name, 24, "expected checksum %016" PRIx64 ", got %016" PRIx64,
                          checksum, got);
    return read_payload(arena, &r, division);
}

bool fp_division_read(struct fp_arena *arena, const char *path, struct fp_division *division,
                      struct fp_error *error)
{
    struct fp_file file;
    if (!fp_file_open(&file, path, error)) return false;
    bool ok = fp_division_parse(arena, file.bytes, file.len, fp_arena_strdup(arena, path), division,
                                error);
    fp_file_close(&file);
    return ok;
}
