/* The plan: what each edge does to the path register and the counters.
 *
 * A path's id is the sum of the values of its edges. The instrumented program
 * keeps a register r and counts r when the path is known. Where there is a
 * choice, the plan takes the one that executes least (paper 001, "efficiently
 * computing sums" and "instrumentation"):
 *
 *   - r is not touched while only one way leads here: the sum so far is a
 *     constant, put into r where ways merge (initialisation pushed down);
 *   - a path is counted on the first edge behind which only one way goes on
 *     (counting pushed up), with a constant id where r was not needed yet;
 *   - in between, values are moved off the edges of a spanning tree of greatest
 *     weight and onto its chords (event counting): each vertex gets a potential,
 *     an edge's increment is its value plus the potential of its source less
 *     that of its target, and potentials are chosen to make tree edges 0.
 *
 * On every path there is exactly one count.
 *
 * Code on an edge whose source has other ways out and whose target other ways in
 * needs a block of its own, and often a jump. So a count on such an edge may be made
 * at the end of its source instead, whichever way the branch then goes. It counts
 * too often by exactly the paths that go another way there, and those are counted as
 * well: fp_recover subtracts them.
 */
#ifndef FP_GRAPH_PLAN_H
#define FP_GRAPH_PLAN_H

#include "base/bitset.h"
#include "graph/number.h"

enum fp_op_kind {
    FP_OP_NONE,
    FP_OP_SET,       /* r = value */
    FP_OP_ADD,       /* r += value */
    FP_OP_COUNT,     /* count[value]++ */
    FP_OP_COUNT_REG, /* count[r + value]++ */
};

/* Sums wrap around 64 bits; an id, which does not, comes out right. */
struct fp_op {
    enum fp_op_kind kind;
    int64_t value;
};

struct fp_plan_options {
    bool eager;          /* set at each start, count at each end: no pushing (for metrics
                   that are taken where a path really ends, and for sampling) */
    bool exits;          /* keep a path uncounted while a block that may leave lies ahead */
    bool running;        /* r is never set, not even at the entry: a path's sum is how far r has
                     moved since it began. FP_OP_SET then only tells what r stands for.
                     Where paths are sampled, the sampler knows both (paper 002). The plan
                     says where that is not possible */
    bool branch_counts;  /* allow counts in front of a branch, for fp_recover */
    const double *costs; /* per cfg edge: instructions that an operation there takes, a jump to
                            it included; or NULL: all alike */
    bool no_chords;      /* leave values where the numbering put them, but for edges that
                       can carry none (for comparison) */
    const struct fp_bitset *wanted; /* dag edges of the paths to count (select.h), or
                                       NULL: all. Other paths are not counted, and
                                       nothing is done where only they go on */
    const struct fp_bitset *laps;   /* laps to count, or NULL: all */
    const uint32_t *lap_exits;      /* per lap: the edge on which it is counted instead of
                                       on its closing edge (lapexits.h), or FP_NONE. NULL:
                                       none is */
};

struct fp_plan {
    const struct fp_numbering *numbering;
    const struct fp_bitset *laps; /* as in the options */
    const uint32_t *lap_exits;    /* as in the options */
    bool running;                 /* as in the options, but false with one path, with
                                     returns-twice edges, and where an edge that can carry
                                     no code would need some */
    struct fp_op *on;             /* per dag edge */
    uint32_t *at_end;             /* per block: the cfg edge whose first op happens at the block's
                         end instead, whichever way is taken; or FP_NONE */

    /* What is known on entering a block, for partial paths. In this order: */
    bool *counted;      /* this path was counted already: nothing is in flight */
    bool *has_register; /* the sum so far is r + `offset`; if not, */
    int64_t *offset;    /* the sum so far is `offset` itself */
};

/* cfg_weights: per cfg edge, or NULL for all alike. */
struct fp_plan *fp_plan_make(struct fp_arena *arena, const struct fp_numbering *numbering,
                             const double *cfg_weights, const struct fp_plan_options *options);

/* Is r set on the cfg edge, and to what? A path that comes from a hub starts behind it. */
bool fp_plan_sets_on(const struct fp_plan *plan, uint32_t cfg_edge, int64_t *value);

/* May r be set to `value` in front of the branch that ends the source of a cfg edge,
 * whichever way is then taken? A block on the edge, which few take, costs more jumps than
 * it saves. Not if another way out sets r to something else and is hotter. Not if another
 * way out still needs the value that r had, and the edge is a loop's hottest edge back: two
 * values at once cost a copy in every round, a block in front of the header costs nothing.
 * has_block: per cfg edge, whether it has a block of its own already. */
bool fp_plan_sets_before_branch(const struct fp_plan *plan, const double *cfg_weights,
                                uint32_t cfg_edge, int64_t value, const bool *has_block);

/* What happens on a cfg edge: first the op for the path that it continues or
 * ends, then, on a truncated edge, the op for the path that starts. A lap's
 * closing edge counts the lap. */
struct fp_edge_ops {
    struct fp_op first, then;
};
struct fp_edge_ops fp_plan_on_edge(const struct fp_plan *plan, uint32_t cfg_edge);

/* Counts as the program made them to counts of paths: of every path, those are
 * subtracted that pass a block with a count in front of its branch and go another
 * way. ids and counts are of paths and laps, partial ones are given apart. Results
 * replace counts; one that comes out negative (threads shared counters, or frames
 * were lost) becomes 0. */
struct fp_partial_path {
    uint32_t block;
    uint64_t prefix;
    int64_t count;
    bool behind; /* the count in front of its branch was made: at_end of the block */
};
void fp_recover(const struct fp_numbering *numbering, const uint32_t *at_end, const uint64_t *ids,
                uint64_t *counts, size_t n, const struct fp_partial_path *partials,
                size_t npartials);

/* The other way: calls `add` with every counter, besides its own, that a path taken
 * `count` times makes. */
void fp_unrecover(const struct fp_numbering *numbering, const uint32_t *at_end, uint64_t id,
                  uint64_t count, void (*add)(uint64_t id, uint64_t count, void *context),
                  void *context);

/* The same for a path that never ended. */
void fp_unrecover_partial(const struct fp_numbering *numbering, const uint32_t *at_end,
                          const struct fp_partial_path *partial,
                          void (*add)(uint64_t id, uint64_t count, void *context), void *context);

/* Weight of all edges that carry an operation, laps included. */
double fp_plan_cost(const struct fp_plan *plan, const double *cfg_weights);

#endif
