/* Matching functions: see match.h. */
#include "paths/match.h"

/* Static functions with the same name, in files with the same name in different folders, are
 * told apart by their shape. If the shapes are equal too, they are not. */
static uint64_t key_of(const struct fp_function *f)
{
    struct fp_identity identity = fp_function_identity(f);
    return fp_identity_key(&identity);
}

void fp_matcher_init(struct fp_matcher *matcher, struct fp_arena *arena,
                     const struct fp_profile *profile)
{
    *matcher = (struct fp_matcher){.arena = arena};
    fp_table_init(&matcher->by_key, arena);
    for (size_t m = 0; m < profile->modules.len; m++) {
        const struct fp_module *module = profile->modules.at[m];
        for (size_t i = 0; i < module->program.nfunctions; i++) {
            struct fp_function_ref ref = {module, &module->program.functions[i]};
            if (ref.function->flags & FP_FUNCTION_SKIPPED) continue;
            fp_vec_push(arena, &matcher->refs, ref);
            uint64_t *index = fp_table_add(&matcher->by_key, key_of(ref.function));
            if (!*index) *index = matcher->refs.len;
        }
    }
}

const struct fp_function_ref *fp_matcher_find(const struct fp_matcher *matcher,
                                              const struct fp_function *function)
{
    const uint64_t *index = fp_table_find(&matcher->by_key, key_of(function));
    return index ? &matcher->refs.at[*index - 1] : NULL;
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
                                     *first = fp_matcher_find(&matcher, ref->function);
        count += ref->module != first->module && fp_redefined(ref->function, first->function);
    }
    fp_arena_free(&arena);
    return count;
}
