/* Combined profiles in memory: see combined.h. Their bytes are combinedcode.c's. */
#include "combined/combined.h"

#include "base/checked.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct fp_combined *fp_combined_new(uint32_t bins)
{
    static _Atomic uint64_t last;
    struct fp_combined *combined = calloc(1, sizeof *combined);
    if (!combined) abort();
    combined->serial = ++last;
    combined->bins = bins;
    fp_table_init(&combined->by_key, &combined->arena);
    return combined;
}

void fp_combined_free(struct fp_combined *combined)
{
    if (!combined) return;
    fp_arena_free(&combined->arena);
    free(combined);
}

/* ---- functions ---- */

static int compare_functions(const struct fp_combined_function *a,
                             const struct fp_combined_function *b)
{
    struct fp_identity x = fp_combined_identity(a), y = fp_combined_identity(b);
    int order = fp_identity_order(&x, &y);
    return order ? order : (a->nth > b->nth) - (a->nth < b->nth);
}

static uint64_t key_of(const struct fp_combined_function *f)
{
    struct fp_identity identity = fp_combined_identity(f);
    return fp_hash64(fp_identity_key(&identity) ^ f->nth);
}

struct fp_combined_function *fp_combined_lookup(const struct fp_combined *c,
                                                const struct fp_combined_function *like)
{
    const uint64_t *index;
    for (uint64_t key = key_of(like); (index = fp_table_find(&c->by_key, key)); key++)
        if (compare_functions(c->functions.at[*index - 1], like) == 0)
            return c->functions.at[*index - 1];
    return NULL;
}

struct fp_combined_function *fp_combined_function(struct fp_combined *c,
                                                  const struct fp_combined_function *like)
{
    uint64_t key = key_of(like), *index;
    for (;; key++) { /* two functions of one hash: the next key is as good */
        index = fp_table_add(&c->by_key, key);
        if (!*index) break;
        struct fp_combined_function *known = c->functions.at[*index - 1];
        if (compare_functions(known, like) == 0) return known;
    }
    struct fp_combined_function *f = FP_NEW(&c->arena, struct fp_combined_function);
    f->name = fp_arena_strdup(&c->arena, like->name);
    f->file = fp_arena_strdup(&c->arena, like->file);
    f->line = like->line;
    f->nth = like->nth;
    f->shape = like->shape;
    f->num_ids = like->num_ids;
    f->numbering = like->numbering;
    fp_table_init(&f->by_id, &c->arena);
    f->index = f->kin = (uint32_t)c->functions.len;
    fp_vec_push(&c->arena, &c->functions, f);
    *index = c->functions.len;
    return f;
}

struct fp_combined_module *fp_combined_module(struct fp_combined *c, const char *path,
                                              const unsigned char *build_id, size_t build_id_len)
{
    for (size_t i = 0; i < c->modules.len; i++) {
        struct fp_combined_module *m = &c->modules.at[i];
        if (m->build_id_len != build_id_len) continue;
        if (build_id_len ? !memcmp(m->build_id, build_id, build_id_len) : !strcmp(m->path, path))
            return m;
    }
    struct fp_combined_module module = {
        .path = fp_arena_strdup(&c->arena, path),
        .build_id =
            (unsigned char *)fp_arena_strndup(&c->arena, (const char *)build_id, build_id_len),
        .build_id_len = build_id_len,
    };
    fp_vec_push(&c->arena, &c->modules, module);
    return &c->modules.at[c->modules.len - 1];
}

static struct fp_combined_bytes copied(struct fp_arena *arena, const unsigned char *bytes,
                                       size_t len)
{
    struct fp_combined_bytes copy = {NULL, len};
    if (bytes) copy.bytes = (unsigned char *)fp_arena_strndup(arena, (const char *)bytes, len);
    return copy;
}

void fp_combined_set_map(struct fp_combined *c, struct fp_combined_module *module,
                         const struct fp_embedded_map *map)
{
    module->map = copied(&c->arena, map->map, map->map_len);
    module->live = copied(&c->arena, map->live, map->live_len);
}

/* ---- what belongs together: union and find over the functions ---- */

static uint32_t root_of(const struct fp_combined *c, uint32_t index)
{
    while (c->functions.at[index]->kin != index) {
        struct fp_combined_function *f = c->functions.at[index];
        index = f->kin = c->functions.at[f->kin]->kin;
    }
    return index;
}

void fp_combined_join(struct fp_combined *c, struct fp_combined_function *a,
                      const struct fp_combined_function *b)
{
    uint32_t x = root_of(c, a->index), y = root_of(c, b->index);
    if (x < y)
        c->functions.at[y]->kin = x;
    else
        c->functions.at[x]->kin = y;
}

size_t fp_combined_programs(const struct fp_combined *c, const struct fp_combined_module **of)
{
    size_t n = 0;
    for (size_t i = 0; i < c->modules.len; i++) {
        const struct fp_combined_module *m = &c->modules.at[i];
        bool known = !m->any;
        for (size_t k = 0; k < n && !known; k++)
            known = root_of(c, of[k]->any->index) == root_of(c, m->any->index);
        if (!known) of[n++] = m;
    }
    return n;
}

/* ---- events ---- */

struct fp_event *fp_combined_find(const struct fp_combined_function *f, enum fp_event_kind kind,
                                  uint32_t block, uint64_t id)
{
    const uint64_t *first = fp_table_find(&f->by_id, id);
    for (uint64_t at = first ? *first : 0; at; at = f->events.at[at - 1].next) {
        struct fp_event *event = &f->events.at[at - 1];
        if (event->kind == kind && event->block == block) return event;
    }
    return NULL;
}

static struct fp_event *find_or_add(struct fp_combined *c, struct fp_combined_function *f,
                                    enum fp_event_kind kind, uint32_t block, uint64_t id)
{
    struct fp_event *known = fp_combined_find(f, kind, block, id);
    if (known) return known;
    uint64_t *first = fp_table_add(&f->by_id, id);
    struct fp_event event = {.kind = kind, .block = block, .id = id, .next = (uint32_t)*first};
    fp_vec_push(&c->arena, &f->events, event);
    *first = f->events.len;
    return &f->events.at[f->events.len - 1];
}

enum fp_trial_kind fp_event_trials(enum fp_event_kind kind)
{
    switch (kind) {
    case FP_EVENT_ENTRY:
    case FP_EVENT_EDGE: break;
    case FP_EVENT_PATH:
    case FP_EVENT_PARTIAL: return FP_TRIALS_PATHS;
    }
    return FP_TRIALS_EDGES;
}

static void catch_up(struct fp_combined *c, struct fp_event *event, uint64_t trials)
{
    struct fp_distribution *d = &event->distribution;
    fp_distribution_add_zeros(&c->arena, d, trials - d->trials, c->bins);
}

void fp_combined_add(struct fp_combined *c, struct fp_combined_function *f, enum fp_event_kind kind,
                     uint32_t block, uint64_t id, double frequency, uint64_t count)
{
    struct fp_event *event = find_or_add(c, f, kind, block, id);
    catch_up(c, event, f->trials[fp_event_trials(kind)] - 1);
    fp_distribution_add(&c->arena, &event->distribution, frequency, count, c->bins);
}

void fp_combined_add_many(struct fp_combined *c, struct fp_combined_function *f,
                          enum fp_event_kind kind, uint64_t id, const struct fp_distribution *d)
{
    struct fp_event *event = find_or_add(c, f, kind, 0, id);
    catch_up(c, event, f->trials[fp_event_trials(kind)] - d->trials);
    fp_distribution_merge(&c->arena, &event->distribution, d, c->bins);
}

void fp_combined_settle(struct fp_combined *c)
{
    for (size_t i = 0; i < c->functions.len; i++) {
        struct fp_combined_function *f = c->functions.at[i];
        for (size_t k = 0; k < f->events.len; k++)
            catch_up(c, &f->events.at[k], f->trials[fp_event_trials(f->events.at[k].kind)]);
    }
}

/* ---- merging ---- */

/* Path numbers mean the same paths only where both were numbered alike. */
static bool agree_on_numbers(struct fp_combined_function *into,
                             const struct fp_combined_function *from, struct fp_error *error)
{
    if (!from->numbering) return true;
    if (into->numbering && into->numbering != from->numbering)
        return fp_fail(
            error, into->name,
            "its paths end at other places in two of the inputs, or have other numbers (--fp-cuts, "
            "--fp-guide); combine such builds each by itself");
    into->numbering = from->numbering;
    into->num_ids = from->num_ids;
    return true;
}

static bool merge_function(struct fp_combined *c, const struct fp_combined_function *from,
                           struct fp_error *error)
{
    struct fp_combined_function *into = fp_combined_function(c, from);
    if (!agree_on_numbers(into, from, error)) return false;
    for (size_t i = 0; i < from->events.len; i++) {
        const struct fp_event *event = &from->events.at[i];
        struct fp_event *known = find_or_add(c, into, event->kind, event->block, event->id);
        catch_up(c, known, into->trials[fp_event_trials(event->kind)]);
        fp_distribution_merge(&c->arena, &known->distribution, &event->distribution, c->bins);
    }
    for (int k = 0; k < 2; k++)
        into->trials[k] = fp_add_saturated(into->trials[k], from->trials[k]);
    return true;
}

bool fp_combined_merge(struct fp_combined *into, struct fp_combined *from, struct fp_error *error)
{
    fp_combined_settle(from);
    for (size_t i = 0; i < from->modules.len; i++) {
        const struct fp_combined_module *m = &from->modules.at[i];
        struct fp_combined_module *known =
            fp_combined_module(into, m->path, m->build_id, m->build_id_len);
        known->runs = fp_add_saturated(known->runs, m->runs);
        if (m->any && !known->any) known->any = fp_combined_function(into, m->any);
        if (known->map.bytes || !m->map.bytes) continue;
        known->map = copied(&into->arena, m->map.bytes, m->map.len);
        known->live = copied(&into->arena, m->live.bytes, m->live.len);
    }
    for (size_t i = 0; i < from->functions.len; i++)
        if (!merge_function(into, from->functions.at[i], error)) return false;
    for (size_t i = 0; i < from->functions.len; i++)
        fp_combined_join(
            into, fp_combined_function(into, from->functions.at[i]),
            fp_combined_function(into, from->functions.at[root_of(from, (uint32_t)i)]));
    into->runs = fp_add_saturated(into->runs, from->runs);
    into->left_out = fp_add_saturated(into->left_out, from->left_out);
    if (!into->left_out_why && from->left_out_why)
        into->left_out_why = fp_arena_strdup(&into->arena, from->left_out_why);
    return true;
}

/* ---- order ---- */

static int functions_in_order(const void *a, const void *b)
{
    return compare_functions(*(struct fp_combined_function *const *)a,
                             *(struct fp_combined_function *const *)b);
}

struct fp_combined_function **fp_combined_sorted(struct fp_arena *arena,
                                                 const struct fp_combined *c)
{
    struct fp_combined_function **sorted =
        FP_NEW_ARRAY(arena, struct fp_combined_function *, c->functions.len);
    for (size_t i = 0; i < c->functions.len; i++) sorted[i] = c->functions.at[i];
    if (c->functions.len) qsort(sorted, c->functions.len, sizeof *sorted, functions_in_order);
    return sorted;
}

static int events_in_order(const void *a, const void *b)
{
    const struct fp_event *x = *(struct fp_event *const *)a, *y = *(struct fp_event *const *)b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->block != y->block) return x->block < y->block ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

struct fp_event **fp_combined_sorted_events(struct fp_arena *arena,
                                            const struct fp_combined_function *f)
{
    struct fp_event **sorted = FP_NEW_ARRAY(arena, struct fp_event *, f->events.len);
    for (size_t i = 0; i < f->events.len; i++) sorted[i] = &f->events.at[i];
    if (f->events.len) qsort(sorted, f->events.len, sizeof *sorted, events_in_order);
    return sorted;
}
