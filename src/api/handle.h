/* What a handle of libfootpath holds, and handles on profiles that are in memory. */
#ifndef FP_API_HANDLE_H
#define FP_API_HANDLE_H

#include "combined/load.h"
#include "combined/rank.h"
#include "footpath/footpath.h"
#include "model/model.h"

/* What the library keeps beside the public struct of a function. */
struct fp_handle_function {
    const struct fp_function *function;     /* NULL: its module was not found */
    const struct fp_combined_function *sum; /* in a combined profile */
    const char *name;                       /* as people write it; NULL: not decoded yet */
    const char *problem;                    /* why there are no edges */
    struct fp_edge_counts counts;
    struct footpath_block *blocks; /* NULL: not made yet */
    struct footpath_edge *edges;
    const struct footpath_path **paths; /* NULL: not ordered yet */
    size_t npaths;
};

struct footpath {
    struct fp_arena arena;
    struct fp_arena scratch;   /* of the last decoded route */
    struct fp_sources sources; /* for the texts of conditions */
    struct fp_load load;
    bool borrowed; /* the profile is the caller's */
    bool edges;    /* edges were counted when the profile was opened */
    struct fp_profile *profile;
    struct fp_report *report;
    struct fp_combined *combined;
    struct fp_combiner *combiner;
    const char *filter; /* only functions whose name contains this */
    const char **files; /* of a combined profile */
    struct footpath_module *modules;
    size_t nmodules;
    struct footpath_function *shown; /* in the order of the API */
    struct fp_handle_function *functions;
    size_t nfunctions;
    uint32_t *place;               /* of a combined function in these, by its index */
    struct fp_handle_calls *calls; /* NULL: nobody asked yet */
};

/* The profile stays the caller's, with its maps loaded; options: function and edges. */
struct footpath *fp_handle_of_profile(struct fp_profile *profile,
                                      const struct footpath_options *options);
/* The same; functions: as fp_combined_functions finds them. */
struct footpath *fp_handle_of_combined(struct fp_combined *combined,
                                       const struct fp_function *const *functions);

#endif
