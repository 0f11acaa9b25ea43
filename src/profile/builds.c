/* Builds in a profile file: see builds.h. */
#include "profile/builds.h"

#include "base/checked.h"
#include "base/checksum.h"
#include "base/names.h"
#include "base/plain.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void fp_builds_init(struct fp_builds *builds, struct fp_arena *arena)
{
    *builds = (struct fp_builds){.arena = arena};
    fp_table_init(&builds->of_run, arena);
    fp_table_init(&builds->of_path, arena);
    fp_table_init(&builds->noted, arena);
}

static uint64_t path_key(const char *path)
{
    return fp_checksum(path, strlen(path), 1);
}

static bool is_executable(const struct fp_run *run)
{
    return !strcmp(run->module.path, run->program);
}

static uint64_t find_build(const struct fp_builds *builds, const struct fp_run *run)
{
    for (size_t i = 0; i < builds->all.len; i++) {
        const struct fp_build *b = builds->all.at[i];
        if (b->build_id_len != run->module.build_id_len) continue;
        if (b->build_id_len ? !memcmp(b->build_id, run->module.build_id, b->build_id_len)
                            : !strcmp(b->program, run->program))
            return i + 1;
    }
    return 0;
}

static void identify(struct fp_builds *builds, struct fp_build *b, const struct fp_run *run)
{
    b->build_id_len = run->module.build_id_len;
    b->build_id = (const unsigned char *)fp_arena_strndup(
        builds->arena, (const char *)run->module.build_id, b->build_id_len);
    b->identified = true;
}

static uint64_t add_build(struct fp_builds *builds, const struct fp_run *run)
{
    struct fp_build *b = FP_NEW(builds->arena, struct fp_build);
    b->program = fp_arena_strdup(builds->arena, run->program);
    fp_vec_push(builds->arena, &builds->all, b);
    return builds->all.len;
}

/* Libraries of a program that goes on, or was killed, may have written before it did. */
static uint64_t known_by_libraries(const struct fp_builds *builds, const struct fp_run *run)
{
    const uint64_t *at = fp_table_find(&builds->of_path, path_key(run->program));
    return at && !builds->all.at[*at - 1]->identified ? *at : 0;
}

static uint64_t index_of(const struct fp_builds *builds, const struct fp_run *run)
{
    const uint64_t *known = run->id ? fp_table_find(&builds->of_run, run->id) : NULL;
    if (!known) known = fp_table_find(&builds->of_path, path_key(run->program));
    return known ? *known : 0;
}

/* A run may have several records; it counts once. */
static void count_runs(struct fp_builds *builds, struct fp_build *b, const struct fp_run *run)
{
    uint64_t *noted = fp_table_add(&builds->noted, run->id), before = run->id ? *noted : 0;
    if (run->runs > before) b->runs = fp_add_saturated(b->runs, run->runs - before);
    if (run->runs > before) *noted = run->runs;
}

void fp_builds_note(struct fp_builds *builds, const struct fp_run *run)
{
    uint64_t at = is_executable(run) ? find_build(builds, run) : index_of(builds, run);
    if (!at && is_executable(run)) at = known_by_libraries(builds, run);
    if (!at) at = add_build(builds, run);
    if (is_executable(run)) {
        if (!builds->all.at[at - 1]->identified) identify(builds, builds->all.at[at - 1], run);
        if (run->id) *fp_table_add(&builds->of_run, run->id) = at;
        *fp_table_add(&builds->of_path, path_key(run->program)) = at;
    } else if (!index_of(builds, run)) {
        *fp_table_add(&builds->of_path, path_key(run->program)) = at;
    }
    struct fp_build *b = builds->all.at[at - 1];
    b->last = ++builds->records;
    if (run->end_ns > b->end_ns) b->end_ns = run->end_ns;
    count_runs(builds, b, run);
}

const struct fp_build *fp_builds_of(const struct fp_builds *builds, const struct fp_run *run)
{
    uint64_t at = is_executable(run) ? find_build(builds, run) : index_of(builds, run);
    return at ? builds->all.at[at - 1] : NULL;
}

static bool begins_with(const struct fp_build *b, const char *digits)
{
    size_t len = strlen(digits);
    if (len < 4 || len > 2 * b->build_id_len) return false;
    for (size_t i = 0; i < len; i++) {
        unsigned half = b->build_id[i / 2] >> (i % 2 ? 0 : 4) & 15;
        if (tolower((unsigned char)digits[i]) != "0123456789abcdef"[half]) return false;
    }
    return true;
}

static bool is_wanted(const struct fp_build *b, const char *wanted)
{
    return !wanted || !strcmp(b->program, wanted) || !strcmp(fp_base_name(b->program), wanted) ||
           begins_with(b, wanted);
}

static const char *list_programs(const struct fp_builds *builds)
{
    enum { MOST = 8 };
    const char *list = "";
    for (size_t i = 0; i < builds->all.len && i < MOST; i++)
        list = fp_arena_printf(builds->arena, "%s%s%s", list, i ? ", " : "",
                               fp_plain(builds->arena, fp_base_name(builds->all.at[i]->program)));
    return builds->all.len > MOST ? fp_arena_printf(builds->arena, "%s ...", list) : list;
}

static bool ran_later(const struct fp_build *a, const struct fp_build *b)
{
    return a->end_ns != b->end_ns ? a->end_ns > b->end_ns : a->last > b->last;
}

const struct fp_build *fp_builds_choose(const struct fp_builds *builds, const char *wanted,
                                        const char *file, struct fp_error *error)
{
    const struct fp_build *best = NULL;
    for (size_t i = 0; i < builds->all.len; i++) {
        const struct fp_build *b = builds->all.at[i];
        if (is_wanted(b, wanted) && (!best || ran_later(b, best))) best = b;
    }
    if (!best && wanted)
        fp_fail(error, file, "has no runs of '%s'; it has runs of %s", wanted,
                list_programs(builds));
    return best;
}

bool fp_builds_is_last(const struct fp_builds *builds, const struct fp_build *build)
{
    for (size_t i = 0; i < builds->all.len; i++)
        if (!strcmp(builds->all.at[i]->program, build->program) &&
            ran_later(builds->all.at[i], build))
            return false;
    return true;
}
