/* Matching functions: see match.h. */
#include "paths/match.h"

#include "base/names.h"

#include <string.h>

/* Static functions with the same name, in files with the same name in different folders, are
 * told apart by their shape. If the shapes are equal too, ids tell them apart where both builds
 * count the same. */
static uint64_t key_of(const struct fp_function *f)
{
    struct fp_identity identity = fp_function_identity(f);
    return fp_identity_key(&identity);
}

/* The last one of refs. */
static void add_ref(struct fp_matcher *matcher, const struct fp_function *f)
{
    uint64_t key = key_of(f), *id = fp_table_add(&matcher->by_id, f->id);
    if (!*id) *id = matcher->refs.len;
    uint64_t *last = fp_table_add(&matcher->last_of, key);
    if (*last)
        matcher->refs.at[*last - 1].next = matcher->refs.len;
    else
        *fp_table_add(&matcher->by_key, key) = matcher->refs.len;
    *last = matcher->refs.len;
}

static void add_module(struct fp_matcher *matcher, const struct fp_module *module)
{
    for (size_t i = 0; i < module->program.nfunctions; i++) {
        struct fp_function_ref ref = {module, &module->program.functions[i], 0};
        if (ref.function->flags & FP_FUNCTION_SKIPPED) continue;
        fp_vec_push(matcher->arena, &matcher->refs, ref);
        add_ref(matcher, ref.function);
    }
}

/* How much of a module's path is that of another one. */
enum likeness { ANY, SAME_NAME, SAME_PATH };

static enum likeness likeness(const struct fp_module *a, const struct fp_module *b)
{
    if (!a->id.path || !b->id.path) return ANY;
    if (!strcmp(a->id.path, b->id.path)) return SAME_PATH;
    return strcmp(fp_base_name(a->id.path), fp_base_name(b->id.path)) ? ANY : SAME_NAME;
}

static void init(struct fp_matcher *matcher, struct fp_arena *arena)
{
    *matcher = (struct fp_matcher){.arena = arena};
    fp_table_init(&matcher->by_key, arena);
    fp_table_init(&matcher->last_of, arena);
    fp_table_init(&matcher->by_id, arena);
}

static void add_modules(struct fp_matcher *matcher, struct fp_arena *arena,
                        const struct fp_profile *profile, const struct fp_module *like,
                        enum likeness least)
{
    init(matcher, arena);
    for (size_t m = 0; m < profile->modules.len; m++)
        if (least == ANY || likeness(profile->modules.at[m], like) >= least)
            add_module(matcher, profile->modules.at[m]);
}

void fp_matcher_init(struct fp_matcher *matcher, struct fp_arena *arena,
                     const struct fp_profile *profile)
{
    add_modules(matcher, arena, profile, NULL, ANY);
}

void fp_matcher_init_for(struct fp_matcher *matcher, struct fp_arena *arena,
                         const struct fp_profile *profile, const struct fp_module *module)
{
    enum likeness best = ANY;
    for (size_t m = 0; m < profile->modules.len; m++) {
        enum likeness this = likeness(profile->modules.at[m], module);
        if (this > best) best = this;
    }
    add_modules(matcher, arena, profile, module, best);
}

void fp_matcher_init_of(struct fp_matcher *matcher, struct fp_arena *arena,
                        const struct fp_module *module)
{
    init(matcher, arena);
    add_module(matcher, module);
}

const struct fp_function_ref *fp_matcher_first(const struct fp_matcher *matcher,
                                               const struct fp_function *function)
{
    const uint64_t *index = fp_table_find(&matcher->by_key, key_of(function));
    return index ? &matcher->refs.at[*index - 1] : NULL;
}

const struct fp_function_ref *fp_matcher_next(const struct fp_matcher *matcher,
                                              const struct fp_function_ref *ref)
{
    return ref->next ? &matcher->refs.at[ref->next - 1] : NULL;
}

const struct fp_function_ref *fp_matcher_find(const struct fp_matcher *matcher,
                                              const struct fp_function *function)
{
    const uint64_t *index = fp_table_find(&matcher->by_id, function->id);
    const struct fp_function_ref *same = index ? &matcher->refs.at[*index - 1] : NULL;
    if (same && key_of(same->function) == key_of(function)) return same;
    return fp_matcher_first(matcher, function);
}

bool fp_redefined(const struct fp_function *a, const struct fp_function *b)
{
    return a->flags & b->flags & FP_FUNCTION_PATHS &&
           !fp_same_ends(a->paths.truncation, b->paths.truncation);
}

size_t fp_count_redefined(const struct fp_profile *profile)
{
    struct fp_arena arena = {0};
    struct fp_matcher matcher;
    size_t count = 0;
    fp_matcher_init(&matcher, &arena, profile);
    for (size_t i = 0; i < matcher.refs.len; i++) {
        const struct fp_function_ref *ref = &matcher.refs.at[i],
                                     *first = fp_matcher_first(&matcher, ref->function);
        count += ref->module != first->module && fp_redefined(ref->function, first->function);
    }
    fp_arena_free(&arena);
    return count;
}
