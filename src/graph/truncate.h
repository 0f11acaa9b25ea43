/* Where paths end inside a function: the fate of every edge.
 *
 * Back edges, indirect jumps and returns-twice points (order.h), less the laps
 * (laps.h), and on top of those the cuts that keep the number of paths within
 * limits. There are two limits. Above max_paths an id would not fit; cuts are
 * made at cold blocks until it does. Above good_paths counters no longer fit an
 * array and counting takes a hash table; cuts are made only where edges are much
 * colder than the path ends they save from it, which mostly means at the
 * borders of hot loops, and else not at all. Large functions (interpreters) are
 * given a larger array: there a few cuts do not suffice, and each further one
 * takes away less.
 */
#ifndef FP_GRAPH_TRUNCATE_H
#define FP_GRAPH_TRUNCATE_H

#include "graph/laps.h"
#include "graph/loops.h"
#include "graph/order.h"

struct fp_limits {
    uint64_t max_paths;   /* at most FP_MAX_PATHS; 0 is FP_MAX_PATHS */
    uint64_t good_paths;  /* with the laps; 0: do not try */
    uint64_t large_paths; /* the same for what a few cuts do not bring to good_paths */
    bool no_laps;         /* truncate every back edge, as the papers do */
    double loop_entries;  /* cut the ways into a loop that goes round this many times as
                             often as it is entered: its paths then begin with a
                             constant sum. 0: do not */
};

#define FP_MAX_PATHS ((uint64_t)1 << 62)

struct fp_truncation {
    const struct fp_cfg *cfg;
    struct fp_order order; /* fates are final */
    struct fp_laps laps;   /* ordered by closing edge */
    uint32_t ncuts;        /* edges truncated for a limit, doors of loops not included */
    uint32_t ndoors;       /* edges into loops that are truncated */
    uint64_t num_paths;    /* laps not included */
};

/* What loop_entries should be. measured: weights are of a run, not estimates. */
double fp_loop_entries(bool measured);

/* weights may be NULL: static ones are made. */
void fp_truncate(struct fp_arena *arena, const struct fp_cfg *cfg, const double *weights,
                 const struct fp_limits *limits, struct fp_truncation *out);

/* The same from a list of fates that was stored; false when it is not possible
 * (a cycle would remain). Laps are found again from the fates. */
bool fp_truncate_as_stored(struct fp_arena *arena, const struct fp_cfg *cfg, const uint8_t *fates,
                           struct fp_truncation *out);

/* Why a path ends on an edge. */
enum fp_cause {
    FP_CAUSE_NONE,     /* none does */
    FP_CAUSE_BACK,     /* a back edge */
    FP_CAUSE_INDIRECT, /* an indirect jump */
    FP_CAUSE_TWICE,    /* a returns-twice call */
    FP_CAUSE_DOOR,     /* it could go on, into a loop: paths begin at its header anyway */
    FP_CAUSE_CUT,      /* it could go on; there would be too many paths */
};

/* Of every edge of the cfg. */
enum fp_cause *fp_truncation_causes(struct fp_arena *arena, const struct fp_cfg *cfg,
                                    const struct fp_order *order);

/* Of functions whose cfgs have the same shape: do paths end at the same edges? */
bool fp_same_ends(const struct fp_truncation *a, const struct fp_truncation *b);

/* Paths from each block to a path end under the given fates, and the number of
 * all paths, which is returned. UINT64_MAX is too many. */
uint64_t fp_count_paths(const struct fp_cfg *cfg, const struct fp_order *order, uint64_t *from);

#endif
