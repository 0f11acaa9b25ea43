/* What came before samples (docs/pep.md): pairs of paths that followed each other in one call,
 * and where calls came from. A profile has both by counters; here they are by function and path.
 *
 * A pair whose paths do not fit together is counted apart: its second path does not begin where
 * the first one ended. */
#ifndef FP_PATHS_PAST_H
#define FP_PATHS_PAST_H

#include "profile/profile.h"

struct fp_past_pair {
    const struct fp_function *function;
    uint64_t before, id;
    uint64_t count;
    uint64_t all; /* samples with this path before them */
};

struct fp_past_path {
    uint64_t id, count;
};

/* A call site, by its return address. */
struct fp_past_caller {
    const struct fp_module *module;
    const struct fp_function *function; /* that was called */
    uint64_t address;                   /* as linked; 0: in another module */
    uint64_t code;                      /* where the code of the called frame begins, or 0 */
    uint64_t count, all;                /* samples of calls from here, and of the function */
    struct fp_past_path *paths;         /* the most frequent first */
    size_t npaths;
};

struct fp_past {
    struct fp_past_pair *pairs; /* the most frequent first */
    size_t npairs;
    struct fp_past_caller *callers; /* the most frequent first */
    size_t ncallers;
    uint64_t broken;  /* samples of pairs that do not fit together */
    uint64_t unknown; /* samples of no function or path of the map */
    uint64_t dropped; /* samples that found no room in the runtime's table */
};

/* Is there anything? */
bool fp_profile_has_past(const struct fp_profile *profile);

/* needs: the maps are loaded. filter: only functions whose name contains it; or NULL. */
void fp_past_make(struct fp_arena *arena, const struct fp_profile *profile, const char *filter,
                  struct fp_past *past);

#endif
