/* What a combiner holds: programs, their maps, and where their functions go. For the files
 * of src/combined that combine; the others use combine.h. */
#ifndef FP_COMBINED_COMBINER_H
#define FP_COMBINED_COMBINER_H

#include "combined/combine.h"

/* A module whose map is loaded; its counts are those of the run at hand. */
struct fp_known_module {
    struct fp_module module;
    struct fp_combined_function *keys; /* per function */
    uint32_t **dominators;             /* per function, when first needed */
    uint64_t into;                     /* serial of what targets belongs to */
    struct fp_combined_function **targets;
    bool in_run; /* has a record of the run at hand */
};

struct fp_combiner {
    struct fp_arena arena;
    struct fp_arena scratch; /* of one run */
    const char *const *binaries;
    size_t nbinaries;
    const char *program; /* only runs of this one, or NULL */
    FP_VEC(struct fp_known_module *) modules;
    FP_VEC(struct fp_embedded_map) embedded; /* of profiles */
    struct fp_profile *maps;                 /* owns the maps */
};

/* The module of a record, its map loaded at the first call. NULL after failing. */
struct fp_known_module *fp_combiner_module(struct fp_combiner *c, const struct fp_module_id *id,
                                           struct fp_error *error);

/* Keeps a map that travels in a profile, for modules whose files have none. */
void fp_combiner_keep_map(struct fp_combiner *c, const struct fp_embedded_map *map);

/* Finds the functions of a module in a combined profile, or adds them. False where paths are
 * numbered in two ways. */
bool fp_combiner_aim(struct fp_known_module *known, struct fp_combined *into,
                     struct fp_error *error);

#endif
