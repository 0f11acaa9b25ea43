/* The division file: what is written is read again; what is broken is refused with an
 * error, never read past its end. */
#include "base/checksum.h"
#include "base/io.h"
#include "base/varint.h"
#include "p3/division.h"

#include "../check.h"
#include "../random.h"

#include <string.h>
#include <unistd.h>

static uint64_t rng = 7;

static struct fp_bitset some_set(struct fp_arena *arena, uint32_t bits)
{
    struct fp_bitset set = fp_bitset_new(arena, bits);
    for (uint32_t i = 0; random_chance(&rng, 70) && i < bits; i++)
        if (random_chance(&rng, 40)) fp_bitset_add(&set, i);
    return set;
}

static struct fp_part some_part(struct fp_arena *arena, uint64_t id, uint32_t ncopies)
{
    struct fp_part part = {.function = id, .name = fp_arena_printf(arena, "f%d", (int)(id % 1000))};
    part.kind = (enum fp_part_kind)random_below(&rng, 3);
    if (part.kind != FP_PART_PATHS) part.copy = random_below(&rng, ncopies);
    if (part.kind == FP_PART_PATHS) {
        part.nedges = 1 + random_below(&rng, 200);
        part.nlaps = random_below(&rng, 4);
        part.edges = FP_NEW_ARRAY(arena, struct fp_bitset, ncopies);
        part.laps = FP_NEW_ARRAY(arena, struct fp_bitset, ncopies);
        for (uint32_t i = 0; i < ncopies; i++) {
            part.edges[i] = some_set(arena, part.nedges);
            part.laps[i] = some_set(arena, part.nlaps);
        }
    }
    part.nweights = random_below(&rng, 50);
    part.weights = FP_NEW_ARRAY(arena, uint64_t, part.nweights);
    for (uint32_t e = 0; e < part.nweights; e++)
        part.weights[e] = random_next(&rng) >> random_below(&rng, 64);
    return part;
}

static struct fp_division some_division(struct fp_arena *arena)
{
    struct fp_division d = {.ncopies = 1 + random_below(&rng, 9),
                            .strategy = (enum fp_strategy)random_below(&rng, 4),
                            .plain_labels = random_chance(&rng, 50),
                            .profitable = random_below(&rng, 100),
                            .program = "/a/program",
                            .build_id = (const unsigned char *)"0123456789abcdefghij",
                            .build_id_len = 20};
    for (uint32_t i = 0, n = random_below(&rng, 20); i < n; i++)
        fp_vec_push(arena, &d.parts, some_part(arena, random_next(&rng), d.ncopies));
    return d;
}

static bool same_set(const struct fp_bitset *a, const struct fp_bitset *b)
{
    for (size_t i = 0; i < a->bits; i++)
        if (fp_bitset_has(a, i) != fp_bitset_has(b, i)) return false;
    return a->bits == b->bits;
}

static void check_same_part(const struct fp_part *a, const struct fp_part *b, uint32_t ncopies)
{
    CHECK(a->function == b->function && !strcmp(a->name, b->name) && a->kind == b->kind);
    CHECK_EQUAL(b->copy, a->copy);
    CHECK_EQUAL(b->nedges, a->nedges);
    for (uint32_t i = 0; a->kind == FP_PART_PATHS && i < ncopies; i++)
        CHECK(same_set(&a->edges[i], &b->edges[i]) && same_set(&a->laps[i], &b->laps[i]));
    CHECK_EQUAL(b->nweights, a->nweights);
    for (uint32_t e = 0; e < a->nweights; e++) CHECK(a->weights[e] == b->weights[e]);
}

/* With a checksum that fits, so that the fields are reached. */
static bool parse_broken(struct fp_arena *arena, unsigned char *bytes, size_t len)
{
    struct fp_division d;
    struct fp_error error = {0};
    if (len >= 32) {
        uint64_t payload = len - 32, sum = fp_checksum(bytes + 32, len - 32, 0);
        memcpy(bytes + 16, &payload, 8);
        memcpy(bytes + 24, &sum, 8);
    }
    bool ok = fp_division_parse(arena, bytes, len, "division", &d, &error);
    CHECK(ok || error.set);
    return ok;
}

static void check_broken(const struct fp_file *file)
{
    struct fp_arena arena = {0};
    unsigned char *copy = fp_arena_alloc(&arena, file->len + 1);
    struct fp_division d;
    struct fp_error error = {0};
    memcpy(copy, file->bytes, file->len);
    copy[file->len - 1] ^= 1;
    CHECK(!fp_division_parse(&arena, copy, file->len, "division", &d, &error));
    CHECK(strstr(error.what, "expected checksum"));
    for (size_t len = 0; len < file->len; len += 1 + file->len / 97) {
        /* malloc'ed to the byte, for the sanitizers */
        unsigned char *cut = malloc(len ? len : 1);
        memcpy(cut, file->bytes, len);
        CHECK(!parse_broken(&arena, cut, len));
        free(cut);
    }
    for (int i = 0; i < 200; i++) {
        memcpy(copy, file->bytes, file->len);
        for (int k = 0; k < 3; k++)
            copy[32 + random_below(&rng, (uint32_t)(file->len - 32))] = (unsigned char)random_next(&rng);
        parse_broken(&arena, copy, file->len);
        if (arena.total > 1 << 24) fp_arena_free(&arena), copy = fp_arena_alloc(&arena, file->len + 1);
    }
    fp_arena_free(&arena);
}

int main(void)
{
    char name[] = "/tmp/footpath-division-XXXXXX";
    int fd = mkstemp(name);
    CHECK(fd >= 0);
    close(fd);
    for (int round = 0; round < 60; round++) {
        struct fp_arena arena = {0};
        struct fp_error error = {0};
        struct fp_division d = some_division(&arena), again;
        CHECK(fp_division_write(name, &d, &error));
        CHECK(fp_division_read(&arena, name, &again, &error));
        CHECK_EQUAL(again.ncopies, d.ncopies);
        CHECK_EQUAL(again.strategy, d.strategy);
        CHECK_EQUAL(again.plain_labels, d.plain_labels);
        CHECK_EQUAL(again.profitable, d.profitable);
        CHECK_EQUAL(again.parts.len, d.parts.len);
        for (size_t i = 0; i < d.parts.len && i < again.parts.len; i++) {
            check_same_part(&d.parts.at[i], &again.parts.at[i], d.ncopies);
            CHECK(fp_division_find(&again, d.parts.at[i].function) == &again.parts.at[i]);
        }
        struct fp_file file;
        CHECK(fp_file_open(&file, name, &error));
        check_broken(&file);
        fp_file_close(&file);
        fp_arena_free(&arena);
    }
    unlink(name);
    return check_summary();
}
