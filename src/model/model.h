/* The report model: what every form of output shows, computed once.
 *
 * Cost is the number of instructions executed (those of the compiler's
 * intermediate code), or cycles where they were measured.
 */
#ifndef FP_MODEL_MODEL_H
#define FP_MODEL_MODEL_H

#include "paths/edges.h"

struct fp_report_path {
    uint32_t function; /* index in the report */
    uint64_t id;       /* FP_NO_ID for a partial path */
    uint32_t stop;     /* of a partial path: the block it was left in */
    uint64_t prefix;
    uint64_t count, cycles;
    uint32_t instructions, branches;
    double cost;
};

struct fp_report_function {
    const struct fp_module *module;
    const struct fp_function *function;
    const char *name; /* demangled */
    uint64_t calls, executed_paths, path_count;
    double cost;
    size_t first_path, npaths; /* in the report's paths, most costly first */
    struct fp_edge_counts edges;
    const char *problem; /* why there are no edges */
};

struct fp_report {
    struct fp_arena *arena;
    struct fp_profile *profile;
    struct fp_report_function *functions; /* most costly first */
    size_t nfunctions;
    struct fp_report_path *paths; /* function by function */
    size_t npaths;
    uint32_t *by_cost; /* paths, most costly first */
    size_t nby_cost;   /* all, or those asked for */
    double cost;
    uint64_t count; /* of all paths */
    bool cycles;    /* cost is in cycles */
    bool have_paths;
};

struct fp_report_options {
    const char *function; /* only functions whose name contains this */
    bool edges;           /* fill edges */
    size_t top; /* not 0: by_cost needs no more than this, and paths of functions no order */
};

struct fp_report *fp_report_make(struct fp_arena *arena, struct fp_profile *profile,
                                 const struct fp_report_options *options);

bool fp_report_decode(struct fp_arena *arena, const struct fp_report *report,
                      const struct fp_report_path *path, struct fp_path *decoded);

/* One step of a path as people read it: a line, with what the branch there did. */
struct fp_path_step {
    const struct fp_position *position;
    uint32_t block;
    uint32_t edge; /* the edge taken there if it is one of several, else FP_NONE */
};

/* The steps of a path. Lines that say nothing new are left out. */
struct fp_path_step *fp_path_steps(struct fp_arena *arena, const struct fp_function *function,
                                   const struct fp_path *path, size_t *nsteps);

/* "8 8(false) 11(true) 17"; file names where it leaves the function's file. */
char *fp_path_text(struct fp_arena *arena, const struct fp_function *function,
                   const struct fp_path *path);

/* "true", "false", "case 3", "default", or "" */
char *fp_edge_label_text(struct fp_arena *arena, const struct fp_function *function, uint32_t edge);

/* C++ names as people write them. */
const char *fp_demangle(struct fp_arena *arena, const char *name);

/* In samples of a long loop the call that led there is not seen. */
static inline bool fp_report_ran(const struct fp_report_function *rf)
{
    return rf->calls || rf->executed_paths;
}

#endif
