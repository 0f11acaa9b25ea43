/* Chains of calls: what a function cost, by the callers that led to it.
 *
 * A frame is a function as called along one chain of callers. Its cost is the part of the
 * function's inclusive cost that the call graph gives to this chain, so it is an estimate: a
 * function has the same parts below each of its callers. Calls that close a circle of recursion
 * have no frame: the chains end.
 *
 * A program has more chains than anybody can look at. Frames below a share of the whole are folded
 * into one per caller; the share grows until the frames are few enough.
 */
#ifndef FP_MODEL_CALLCHAINS_H
#define FP_MODEL_CALLCHAINS_H

#include "model/callgraph.h"

struct fp_chain_frame {
    uint32_t parent;   /* FP_NONE: of the first frame, which is the whole program */
    uint32_t function; /* of the report; FP_NONE: the whole program, or `folded` functions */
    size_t folded;
    double cost, own; /* with what it called, without */
};

struct fp_chains {
    struct fp_chain_frame *frames; /* callers before callees */
    size_t len;
    double least; /* what costs less was folded */
};

/* Lives in `arena`. */
void fp_call_chains(struct fp_arena *arena, const struct fp_report *report,
                    const struct fp_call_graph *graph, struct fp_chains *chains);

#endif
