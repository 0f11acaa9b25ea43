/* Collating the copies' profiles: see collate.h. */
#include "p3/collate.h"

#include "base/checked.h"
#include "footpath/profile_abi.h"
#include "graph/select.h"
#include "profile/fill.h"
#include "profile/mapcode.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A function of a copy, found by its id in the reference. */
struct copy_function {
    const struct fp_module *module;
    const struct fp_function *function;
};

struct copy {
    const struct fp_profile *profile;
    struct fp_table by_reference; /* id -> 1 + index in functions */
    FP_VEC(struct copy_function) functions;
};

struct collating {
    struct fp_arena *arena;
    struct fp_arena scratch; /* per function */
    const struct fp_program *reference;
    const struct fp_division *division;
    struct copy *copies;
    struct fp_error *error;
    struct fp_fill fill; /* the result */
};

/* ---- finding ---- */

static bool list_copy(struct collating *c, uint32_t i, const struct fp_profile *profile)
{
    struct copy *copy = &c->copies[i];
    copy->profile = profile;
    fp_table_init(&copy->by_reference, c->arena);
    for (size_t m = 0; m < profile->modules.len; m++) {
        const struct fp_module *module = profile->modules.at[m];
        for (size_t k = 0; k < module->program.nfunctions; k++) {
            const struct fp_function *f = &module->program.functions[k];
            if (f->flags & FP_FUNCTION_UNDIVIDED)
                return fp_fail(c->error, f->name,
                               "copy %u has it and the division has not; divide the "
                               "program again as it is now",
                               i);
            if (!(f->flags & FP_FUNCTION_COPY)) continue;
            struct copy_function entry = {module, f};
            fp_vec_push(c->arena, &copy->functions, entry);
            *fp_table_add(&copy->by_reference, f->copy->reference) = copy->functions.len;
        }
    }
    return true;
}

static const struct copy_function *find_in_copy(const struct copy *copy, uint64_t reference)
{
    const uint64_t *index = fp_table_find(&copy->by_reference, reference);
    return index ? &copy->functions.at[*index - 1] : NULL;
}

/* NULL with an error where the copy lacks the function or has it in another shape. */
static const struct copy_function *find_function(struct collating *c, uint32_t i,
                                                 const struct fp_function *f)
{
    const struct copy_function *found =
        find_in_copy(&c->copies[i], f->copy ? f->copy->reference : f->id);
    if (!found)
        fp_fail(c->error, f->name,
                "copy %u was to count it and does not have it; build all "
                "copies from the program that was divided",
                i);
    else if (fp_cfg_hash(found->function->paths.cfg) != fp_cfg_hash(f->paths.cfg))
        fp_fail(c->error, f->name,
                "copy %u has another shape of it; build all copies by the "
                "same compiler with the same flags",
                i);
    return c->error->set ? NULL : found;
}

static bool counts_in_copy(struct collating *c, uint32_t i, const struct fp_function *f,
                           struct fp_counts *counts)
{
    const struct copy_function *found = find_function(c, i, f);
    if (!found) return false;
    if (!found->function->paths.numbering ||
        found->function->paths.numbering->num_ids != f->paths.numbering->num_ids)
        return fp_fail(c->error, f->name,
                       "copy %u numbers other paths of it; build all copies by the "
                       "same compiler with the same flags",
                       i);
    fp_profile_counts(&c->scratch, found->module, found->function, counts);
    return true;
}

/* ---- the result ---- */

static bool put_path(struct collating *c, const struct fp_function *f, uint64_t id, uint64_t count)
{
    return fp_fill_path(&c->fill, f, id, count, c->error);
}

static bool put_counts(struct collating *c, const struct fp_function *f,
                       const struct fp_counts *counts)
{
    for (size_t i = 0; i < counts->npaths; i++)
        if (!put_path(c, f, counts->paths[i].id, counts->paths[i].count)) return false;
    for (size_t i = 0; i < counts->npartials; i++)
        fp_fill_partial(&c->fill, f, &counts->partials[i]);
    return true;
}

/* ---- one function ---- */

/* Every copy counts the calls of every function, so a copy that did something else is found
 * even in functions of which it counts no paths. */
static bool same_calls(struct collating *c, const struct fp_function *f)
{
    uint64_t calls = 0;
    for (uint32_t i = 0; i < c->division->ncopies; i++) {
        struct fp_counts counts;
        const struct copy_function *found = find_function(c, i, f);
        if (!found) return false;
        fp_profile_counts(&c->scratch, found->module, found->function, &counts);
        if (i && counts.turns != calls)
            return fp_fail(c->error, f->name,
                           "copy %u called it %" PRIu64 " times, copy 0 %" PRIu64
                           " times; do all copies get the same input?",
                           i, counts.turns, calls);
        calls = counts.turns;
    }
    return true;
}

static bool collate_turns(struct collating *c, const struct fp_function *f)
{
    for (uint32_t i = 0; i < c->division->ncopies; i++) {
        struct fp_counts counts;
        if (!counts_in_copy(c, i, f, &counts)) return false;
        if (!put_counts(c, f, &counts)) return false;
    }
    return true;
}

static uint64_t count_of(const struct fp_counts *counts, uint64_t id)
{
    size_t low = 0, high = counts->npaths;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (counts->paths[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < counts->npaths && counts->paths[low].id == id ? counts->paths[low].count : 0;
}

static bool covers(struct collating *c, const struct fp_function *f, const struct fp_part *part,
                   uint32_t copy, uint64_t id)
{
    struct fp_path path;
    if (id >= f->paths.numbering->num_paths)
        return fp_bitset_has(&part->laps[copy], id - f->paths.numbering->num_paths);
    return fp_path_decode(&c->scratch, f->paths.numbering, id, &path) &&
           fp_select_covers(f->paths.dag, &part->edges[copy], &path);
}

static bool collate_paths(struct collating *c, const struct fp_function *f,
                          const struct fp_part *part)
{
    uint32_t n = c->division->ncopies;
    struct fp_counts *counts = FP_NEW_ARRAY(&c->scratch, struct fp_counts, n);
    if (part->nedges != f->paths.dag->nedges || part->nlaps != f->paths.truncation->laps.len)
        return fp_fail(c->error, f->name, "the division is for another shape of it; divide again");
    for (uint32_t i = 0; i < n; i++)
        if (fp_part_concerns(part, i) && !counts_in_copy(c, i, f, &counts[i])) return false;
    for (uint32_t i = 0; i < n; i++)
        for (size_t k = 0; k < counts[i].npaths; k++) {
            uint64_t id = counts[i].paths[k].id, count = counts[i].paths[k].count;
            uint32_t first = i;
            for (uint32_t j = 0; j < n; j++) {
                if (j == i || !covers(c, f, part, j, id)) continue;
                if (count_of(&counts[j], id) != count)
                    return fp_fail(c->error, f->name,
                                   "copy %u counted path %" PRIu64 " %" PRIu64
                                   " times, copy %u %" PRIu64
                                   " times; do all copies get the same input?",
                                   i, id, count, j, count_of(&counts[j], id));
                if (j < first) first = j;
            }
            if (first == i && !put_path(c, f, id, count)) return false;
        }
    return true;
}

static bool collate_function(struct collating *c, const struct fp_function *f)
{
    const struct fp_part *part =
        fp_division_find(c->division, f->copy ? f->copy->reference : f->id);
    struct fp_counts counts;
    if (!part)
        return fp_fail(c->error, f->name, "is not in the division; was it made from %s?",
                       c->reference->path);
    if (!same_calls(c, f)) return false;
    switch (part->kind) {
    case FP_PART_WHOLE:
        if (!counts_in_copy(c, part->copy, f, &counts)) return false;
        return put_counts(c, f, &counts);
    case FP_PART_TURNS: return collate_turns(c, f);
    case FP_PART_PATHS: return collate_paths(c, f, part);
    }
    return true;
}

/* ---- all ---- */

static bool is_same_build(const struct fp_program *p, const struct fp_division *d)
{
    return p->build_id_len == d->build_id_len &&
           (!p->build_id_len || !memcmp(p->build_id, d->build_id, p->build_id_len));
}

/* The profile carries its map: the reference may be built again for another division. */
static const struct fp_embedded_map *embed_map(struct collating *c,
                                               const struct fp_module_id *module)
{
    struct fp_embedded_map *embedded = FP_NEW(c->arena, struct fp_embedded_map);
    struct fp_writer bytes = {0};
    for (size_t i = 0; i < c->reference->nfunctions; i++)
        fp_map_write_record(&bytes, &c->reference->functions[i]);
    unsigned char *kept = fp_arena_alloc(c->arena, bytes.len);
    memcpy(kept, bytes.bytes, bytes.len);
    *embedded = (struct fp_embedded_map){.module = *module, .map = kept, .map_len = bytes.len};
    fp_writer_free(&bytes);
    return embedded;
}

static void finish(struct collating *c, struct fp_run *run)
{
    fp_fill_finish(&c->fill, run);
    run->map = embed_map(c, &run->module);
}

bool fp_collate(struct fp_arena *arena, const struct fp_program *reference,
                const struct fp_division *division, struct fp_profile *const *copies,
                struct fp_run *run, struct fp_error *error)
{
    struct collating c = {
        .arena = arena, .reference = reference, .division = division, .error = error};
    c.copies = FP_NEW_ARRAY(arena, struct copy, division->ncopies);
    if (!is_same_build(reference, division))
        return fp_fail(error, reference->path, "is another build than the one that was divided");
    for (uint32_t i = 0; i < division->ncopies; i++)
        if (!list_copy(&c, i, copies[i])) return false;
    bool ok = fp_fill_begin(&c.fill, arena, reference, error);
    for (size_t i = 0; ok && i < reference->nfunctions; i++) {
        const struct fp_function *f = &reference->functions[i];
        if (f->flags & FP_FUNCTION_PATHS && !(f->flags & FP_FUNCTION_SKIPPED))
            ok = collate_function(&c, f);
        fp_arena_free(&c.scratch);
    }
    if (ok) finish(&c, run);
    fp_arena_free(&c.scratch);
    return ok;
}

/* ---- comparing ---- */

static bool same_counts(const struct fp_counts *expected, const struct fp_counts *got,
                        struct fp_error *error)
{
    const char *name = expected->function->name;
    size_t a = 0, b = 0;
    while (a < expected->npaths || b < got->npaths) {
        uint64_t x = a < expected->npaths ? expected->paths[a].id : UINT64_MAX;
        uint64_t y = b < got->npaths ? got->paths[b].id : UINT64_MAX;
        uint64_t id = x < y ? x : y;
        uint64_t n = x == id ? expected->paths[a++].count : 0;
        uint64_t m = y == id ? got->paths[b++].count : 0;
        if (n != m)
            return fp_fail(error, name,
                           "path %" PRIu64 ": expected %" PRIu64 " times, got %" PRIu64 " times",
                           id, n, m);
    }
    if (expected->npartials != got->npartials)
        return fp_fail(error, name, "expected %zu kinds of paths that never ended, got %zu",
                       expected->npartials, got->npartials);
    return true;
}

static const struct fp_module *same_module(const struct fp_profile *profile,
                                           const struct fp_module *like)
{
    for (size_t i = 0; i < profile->modules.len; i++)
        if (fp_same_module(&profile->modules.at[i]->id, &like->id)) return profile->modules.at[i];
    return NULL;
}

bool fp_same_paths(const struct fp_profile *expected, const struct fp_profile *got, size_t *paths,
                   struct fp_error *error)
{
    struct fp_arena scratch = {0};
    bool ok = true;
    for (size_t m = 0; m < expected->modules.len; m++) {
        const struct fp_module *module = expected->modules.at[m];
        for (size_t i = 0; ok && i < module->program.nfunctions; i++) {
            const struct fp_function *f = &module->program.functions[i];
            if (!(f->flags & FP_FUNCTION_PATHS) || f->flags & FP_FUNCTION_SKIPPED) continue;
            const struct fp_module *other = same_module(got, module);
            if (!other || i >= other->program.nfunctions)
                return fp_fail(error, module->id.path, "is not the build of both profiles");
            struct fp_counts a, b;
            fp_profile_counts(&scratch, module, f, &a);
            fp_profile_counts(&scratch, other, &other->program.functions[i], &b);
            ok = same_counts(&a, &b, error);
            *paths += a.npaths;
            fp_arena_free(&scratch);
        }
    }
    return ok;
}

bool fp_copy_hits(const struct fp_profile *copy, uint64_t *hits)
{
    struct fp_arena scratch = {0};
    bool some = false;
    *hits = 0;
    for (size_t m = 0; m < copy->modules.len; m++) {
        const struct fp_module *module = copy->modules.at[m];
        for (size_t i = 0; i < module->program.nfunctions; i++) {
            const struct fp_function *f = &module->program.functions[i];
            if (!(f->flags & FP_FUNCTION_HITS)) continue;
            struct fp_counts counts;
            fp_profile_counts(&scratch, module, f, &counts);
            *hits = fp_add_saturated(*hits, counts.hits);
            some = true;
            fp_arena_free(&scratch);
        }
    }
    return some;
}
