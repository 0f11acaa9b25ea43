/* The guide file: what is written is read again; damage is noticed; functions are
 * found by name, file and shape, and told apart by id. */
#include "guide/guide.h"

#include "../check.h"
#include "base/table.h"
#include "shapes.h"

#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/footpath-test-guide-XXXXXX";

static struct fp_guide_function counted(struct fp_arena *arena, const char *name, const char *file,
                                        const struct fp_cfg *cfg, uint64_t base, uint64_t unit)
{
    struct fp_guide_function f = {.key = fp_name_key(name, file),
                                  .shape = fp_cfg_hash(cfg),
                                  .id = fp_function_id(base, 1, 8, 0),
                                  .flags = 1,
                                  .path_slots = 8,
                                  .entries = unit,
                                  .nedges = cfg->nedges,
                                  .npaths = 1};
    f.edges = FP_NEW_ARRAY(arena, uint64_t, cfg->nedges);
    for (uint32_t e = 0; e < cfg->nedges; e++) f.edges[e] = unit * e;
    f.paths = FP_NEW_ARRAY(arena, struct fp_guide_path, 1);
    uint32_t *edges = FP_NEW_ARRAY(arena, uint32_t, 1);
    f.paths[0] = (struct fp_guide_path){unit, true, 0, FP_NONE, 1, edges};
    f.values = FP_NEW_ARRAY(arena, struct fp_guide_value, 2);
    f.values[f.nvalues++] = (struct fp_guide_value){FP_VALUE_TARGET, 3, unit, 0, name};
    f.values[f.nvalues++] = (struct fp_guide_value){FP_VALUE_SIZE, 0, unit, 64, NULL};
    return f;
}

static void write_guide(struct fp_arena *arena, const struct fp_cfg *a, const struct fp_cfg *b,
                        struct fp_writer *out)
{
    struct fp_guide_function functions[] = {
        counted(arena, "f", "one/a.c", a, 11, 1),  counted(arena, "f", "two/a.c", a, 22, 100),
        counted(arena, "g", "a.c", b, 33, 5), counted(arena, "f", "b.c", b, 44, 7)};
    struct fp_guide_cutoff cutoffs[] = {{990000, 17, 3}};
    struct fp_guide_summary summary = {100, 50, 40, 30, 20, 4, cutoffs, 1};
    struct fp_guide_source source = {123, 456};
    struct fp_error error = {0};
    fp_guide_encode(out, &source, &summary, functions, 4);
    CHECK(fp_file_write(path, out->bytes, out->len, &error));
}

static enum fp_guide_match find(struct fp_arena *arena, const struct fp_guide *guide, const char *name,
                                const char *file, struct fp_cfg *cfg, uint64_t base,
                                struct fp_guide_function *found)
{
    struct fp_function f = {.name = name, .file = file, .paths.cfg = cfg};
    return fp_guide_find(arena, guide, &f, base, found);
}

static void test_found(struct fp_arena *arena, struct fp_cfg *a, struct fp_cfg *b)
{
    struct fp_guide guide;
    struct fp_guide_function found;
    struct fp_error error = {0};
    CHECK(fp_guide_is(path));
    CHECK(fp_guide_open(arena, path, &guide, &error));
    CHECK_EQUAL(guide.source.size, 123);
    CHECK_EQUAL(guide.summary.cutoffs[0].min_count, 17);
    CHECK_EQUAL(find(arena, &guide, "f", "x/a.c", a, 22, &found), FP_GUIDE_FOUND);
    CHECK_EQUAL(found.entries, 100);
    CHECK_EQUAL(found.edges[1], 100);
    CHECK(found.npaths == 1 && found.paths[0].from_entry && found.paths[0].end_edge == FP_NONE);
    CHECK(found.nvalues == 2 && found.values[0].kind == FP_VALUE_TARGET && found.values[0].site == 3);
    CHECK(!strcmp(found.values[0].target, "f") && found.values[0].count == 100);
    CHECK(found.values[1].kind == FP_VALUE_SIZE && found.values[1].size == 64);
    /* an unknown id: both are it */
    CHECK_EQUAL(find(arena, &guide, "f", "x/a.c", a, 99, &found), FP_GUIDE_FOUND);
    CHECK_EQUAL(found.entries, 101);
    CHECK_EQUAL(found.npaths, 2);
    CHECK_EQUAL(find(arena, &guide, "f", "a.c", b, 11, &found), FP_GUIDE_STALE);
    CHECK_EQUAL(find(arena, &guide, "h", "a.c", b, 11, &found), FP_GUIDE_ABSENT);
    CHECK_EQUAL(find(arena, &guide, "g", "c.c", b, 33, &found), FP_GUIDE_ABSENT);
    fp_guide_close(&guide);
}

/* Every file that is cut short or has one byte changed is refused. */
static void test_damage(struct fp_writer *bytes)
{
    struct fp_guide guide;
    for (size_t i = 0; i < bytes->len; i++) {
        struct fp_arena arena = {0};
        struct fp_error error = {0}, cut = {0};
        bool in_source = i >= 16 && i < 32; /* not covered: says only when a cache is old */
        bool in_version = i >= 8 && i < 16;
        bytes->bytes[i] ^= 0x41;
        CHECK(fp_file_write(path, bytes->bytes, bytes->len, &error));
        bool opened = fp_guide_open(&arena, path, &guide, &error);
        CHECK(opened == (in_source || (in_version && i < 12)));
        if (opened) fp_guide_close(&guide);
        CHECK(opened || (error.set && strstr(error.file, "footpath-test")));
        bytes->bytes[i] ^= 0x41;
        CHECK(fp_file_write(path, bytes->bytes, i, &cut));
        CHECK(!fp_guide_open(&arena, path, &guide, &cut));
        fp_arena_free(&arena);
    }
}

/* Keys of values lie above all ids of paths, and say what went in. */
static void test_keys(void)
{
    uint64_t table = 0x400000, target = 0x3ffe10;
    uint64_t key = fp_value_key(FP_VALUE_TARGET, 7) + ((target - table) & FP_VALUE_MASK);
    CHECK(fp_value_is(key) && !fp_value_is(FP_MAX_PATHS));
    CHECK(fp_value_kind(key) == FP_VALUE_TARGET && fp_value_site(key) == 7);
    CHECK(fp_value_target(key, table) == target);
    key = fp_value_key(FP_VALUE_SIZE, FP_VALUE_SITES - 1) + 16;
    CHECK(fp_value_kind(key) == FP_VALUE_SIZE && fp_value_site(key) == FP_VALUE_SITES - 1);
    CHECK((key & FP_VALUE_MASK) == 16 && key + 1 != 0);
}

int main(void)
{
    struct fp_arena arena = {0};
    struct fp_writer bytes = {0};
    int fd = mkstemp(path);
    if (fd < 0) return EXIT_FAILURE;
    close(fd);
    struct fp_cfg *a = fp_shape_diamonds(&arena, 2), *b = fp_shape_diamonds(&arena, 3);
    write_guide(&arena, a, b, &bytes);
    test_found(&arena, a, b);
    test_keys();
    test_damage(&bytes);
    unlink(path);
    fp_writer_free(&bytes);
    fp_arena_free(&arena);
    return check_summary();
}
