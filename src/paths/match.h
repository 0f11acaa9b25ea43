/* The functions of two profiles that are the same: by linkage name, file and the
 * shape of the cfg. */
#ifndef FP_PATHS_MATCH_H
#define FP_PATHS_MATCH_H

#include "profile/profile.h"

struct fp_function_ref {
    const struct fp_module *module;
    const struct fp_function *function;
    size_t next; /* in a matcher: 1 + index of the next one with this name, file and shape, or 0 */
};

struct fp_matcher {
    struct fp_arena *arena;
    struct fp_table by_key;  /* name, file and shape -> 1 + index in refs of the first one */
    struct fp_table last_of; /* the same, of the last one */
    struct fp_table by_id;   /* id -> 1 + index in refs */
    FP_VEC(struct fp_function_ref) refs;
};

/* Every instrumented function of a profile. */
void fp_matcher_init(struct fp_matcher *matcher, struct fp_arena *arena,
                     const struct fp_profile *profile);

/* Those of one module. */
void fp_matcher_init_of(struct fp_matcher *matcher, struct fp_arena *arena,
                        const struct fp_module *module);

/* Those of the modules that are `module` in another build: the ones with its path, else the ones
 * with its name, else all. Programs may have a function in common, each with counts of its own. */
void fp_matcher_init_for(struct fp_matcher *matcher, struct fp_arena *arena,
                         const struct fp_profile *profile, const struct fp_module *module);

/* The function in the matcher's profile that is this one, or NULL. A static function of a header is
 * there once for each source file: that of the same id, if there is one, else the first. */
const struct fp_function_ref *fp_matcher_find(const struct fp_matcher *matcher,
                                              const struct fp_function *function);

/* The first of all that have the function's name, file and shape, or NULL, and the one behind. */
const struct fp_function_ref *fp_matcher_first(const struct fp_matcher *matcher,
                                               const struct fp_function *function);
const struct fp_function_ref *fp_matcher_next(const struct fp_matcher *matcher,
                                              const struct fp_function_ref *ref);

/* Of functions that match: do both count paths, and do these end at different edges (--fp-cuts,
 * --fp-guide)? Then a path of one is no path of the other. Edges can be compared all the same. */
bool fp_redefined(const struct fp_function *a, const struct fp_function *b);

/* How many functions of a profile have a match in another module of it, of another build, that
 * counts other paths. */
size_t fp_count_redefined(const struct fp_profile *profile);

#endif
