/* The report model: what every form of output shows, computed once.
 *
 * Cost is the number of instructions executed (those of the compiler's
 * intermediate code), or cycles where they were measured.
 */
#ifndef FP_MODEL_MODEL_H
#define FP_MODEL_MODEL_H

#include "footpath/footpath.h"
#include "paths/edges.h"
#include "source/source.h"

_Static_assert(FOOTPATH_NO_ID == FP_NO_ID && FOOTPATH_NONE == FP_NONE, "as footpath.h says");

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
    struct footpath_path *paths; /* function by function */
    size_t npaths;
    uint32_t *by_cost; /* paths, most costly first: fp_report_rank */
    size_t nby_cost;   /* all, or those asked for */
    double cost;       /* of the program, also of functions that were not asked for */
    uint64_t count;    /* of all paths */
    bool cycles;       /* cost is in cycles */
    bool inclusive;    /* and with those of callees: shares do not add up to the whole */
    bool machine;      /* costs are in machine instructions, by the code generator, not in IR's */
    bool call_costs;   /* what calls cost was measured in every function */
    bool have_paths;
    struct fp_sources *sources; /* as asked for */
};

struct fp_report_options {
    const char *function;       /* only functions whose name contains this */
    bool edges;                 /* fill edges */
    bool unordered;             /* paths in no order: fp_report_rank is left to the caller */
    struct fp_sources *sources; /* for the texts of conditions, or NULL */
};

struct fp_report *fp_report_make(struct fp_arena *arena, struct fp_profile *profile,
                                 const struct fp_report_options *options);

/* Fills by_cost with the `top` most costly paths of all, or with 0 all of them. */
void fp_report_rank(struct fp_report *report, size_t top);

/* The version of a source file that was compiled: its sum by the map, or else when the first run
 * began. */
struct fp_source_version fp_report_version(const struct fp_report *report, uint64_t sum);

/* Fills the edges of a function, where they are not yet. */
void fp_report_edges(struct fp_report *report, struct fp_report_function *rf);

/* The order of paths: most costly first. */
int fp_path_order(const struct footpath_path *a, const struct footpath_path *b);

/* The paths of `counts` with their costs, in no order. `function` is their index. */
struct footpath_path *fp_report_paths_of(struct fp_arena *arena, const struct fp_counts *counts,
                                         uint32_t function, size_t *npaths);

/* A path, or one that never ended. */
bool fp_path_decode_any(struct fp_arena *arena, const struct fp_numbering *numbering,
                        const struct footpath_path *path, struct fp_path *decoded);
bool fp_report_decode(struct fp_arena *arena, const struct fp_report *report,
                      const struct footpath_path *path, struct fp_path *decoded);

/* "walk.c:12"; without a line "gzip:0x4290"; where neither is known, the file. */
const char *fp_place_text(struct fp_arena *arena, const char *file, uint32_t line,
                          uint64_t address);
/* Where a function begins. */
const char *fp_function_place(struct fp_arena *arena, const struct fp_function *function);

/* Can its paths be told by lines or, of an executable, by addresses? */
bool fp_function_has_places(const struct fp_function *function);

/* Where a block begins, or where the branch at its end is. */
struct footpath_place fp_block_place(const struct fp_function *function, uint32_t block,
                                     bool at_end);

/* Makes a place that has no file one in the function's: at its own address, or where the function
 * begins. */
void fp_place_or_function(struct footpath_place *place, const struct fp_function *function);

/* A path with its steps as people read them. Lines that say nothing new are left out. */
void fp_path_route(struct fp_arena *arena, const struct fp_function *function,
                   const struct fp_path *path, struct footpath_route *route);

/* "8 8(false) 11:9(true) 12 -> 17": one side of && or || has its column; the branch at 12 does not
 * say what it means. File names where the path leaves the function's file. "0x42f0 0x42fa(taken)"
 * of an executable without lines. */
char *fp_route_text(struct fp_arena *arena, const char *file, const struct footpath_route *route);
char *fp_path_text(struct fp_arena *arena, const struct fp_function *function,
                   const struct fp_path *path);

/* The address that an edge of an executable leads to; 0 where it leaves the function, or where that
 * is not known. */
uint64_t fp_edge_target(const struct fp_function *function, uint32_t edge);

/* What an edge means in the source. */
struct footpath_meaning fp_edge_meaning(const struct fp_function *function, uint32_t edge);

/* "true", "false", "round", "leaves", "case 3", "default", "exception", "taken", "not taken",
 * "entry 3", or "" */
const char *fp_edge_label_text(struct fp_arena *arena, const struct fp_function *function,
                               uint32_t edge);

/* C++ names as people write them. */
const char *fp_demangle(struct fp_arena *arena, const char *name);

/* In samples of a long loop the call that led there is not seen. */
static inline bool fp_report_ran(const struct fp_report_function *rf)
{
    return rf->calls || rf->executed_paths;
}

#endif
