/* What the makers of guides share. */
#ifndef FP_GUIDE_MAKEPARTS_H
#define FP_GUIDE_MAKEPARTS_H

#include "guide/makeguide.h"
#include "profile/profile.h"
#include "profile/symbols.h"

enum { FP_GUIDING_PATHS = 2000 }; /* kept of one function, at most */

struct fp_guiding_maker {
    struct fp_arena *arena;
    struct fp_guiding *guiding;
    FP_VEC(struct fp_guide_function) functions;
    FP_VEC(uint64_t) blocks; /* counts of all, for the summary */
};

/* The edges of a decoded path, in the arena. */
uint32_t *fp_guiding_edges(struct fp_arena *arena, const struct fp_path *path);

/* Identity of a function, without counts. */
struct fp_guide_function fp_guiding_function(const struct fp_function *function);
/* Adds one, with its counts, and notes those of its blocks. */
void fp_guiding_add(struct fp_guiding_maker *maker, const struct fp_function *function,
                    struct fp_guide_function counts);
/* What its calls were given: guidingvalues.c. */
void fp_guiding_values(struct fp_guiding_maker *maker, const struct fp_module *module,
                       const struct fp_function *function, const struct fp_symbols *symbols,
                       struct fp_guide_function *out);
/* The summary, and the list. */
void fp_guiding_finish(struct fp_guiding_maker *maker);

/* By distributions: guidingby.c. */
bool fp_guiding_combined(struct fp_arena *arena, const char *const *files, size_t nfiles,
                         const char *binary, enum fp_guiding_by by, struct fp_guiding *guiding,
                         struct fp_error *error);

#endif
