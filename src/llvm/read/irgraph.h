/* From IR to cfg: the blocks and edges of one function, in the form that the
 * graph core wants, and the way back from each to the IR.
 *
 * A basic block becomes more than one cfg block where it begins with a landing
 * pad (pad, then body) or holds a returns-twice call (in front, behind).
 * Indirect branches meet in one hub.
 */
#ifndef FP_LLVM_IRGRAPH_H
#define FP_LLVM_IRGRAPH_H

#include "base/table.h"
#include "count/function.h"
#include "graph/loopcounts.h"
#include "llvm/sense/survey.h"

#include <llvm-c/Core.h>

struct fp_ir_block {
    LLVMBasicBlockRef bb; /* NULL for the hub */
    LLVMValueRef begin;   /* code for the head goes before this instruction */
    LLVMValueRef end;     /* code for the end goes before this one */
    LLVMValueRef call;    /* the returns-twice call behind which the next block begins */
    bool has_terminator;
};

struct fp_ir {
    struct fp_arena *arena;
    LLVMValueRef function;
    struct fp_function *f;
    struct fp_ir_block *blocks;            /* per cfg block */
    struct fp_table first_of;              /* bb -> its first cfg block */
    uint32_t hub;                          /* FP_NONE if there is none */
    double *weights;                       /* per cfg edge: LLVM's estimate */
    const uint32_t *edge_of;               /* with copies of blocks: per edge, the old one */
    LLVMValueRef *calls;                   /* per call of f->source.calls */
    struct fp_lap_variable *lap_variables; /* per lap, or NULL: irlapvars.h */
    struct fp_counted_loops loops;         /* of edge counters: graph/loopcounts.h */
    uint32_t *short_loops;                 /* per block, or NULL: graph/shortloops.h */
    uint32_t *kept_loops;                  /* per block, or NULL: graph/keptcounts.h */
};

struct fp_ir_options {
    bool faults;              /* blocks with memory access may leave, not only those with calls */
    struct fp_survey *survey; /* what branches mean in the source, or NULL */
    bool unseen;              /* list lines that may have run without code: irunseen.h */
};

/* Fills f's name, position, cfg, blocks, edges, positions and scopes. Where the
 * function cannot be instrumented, returns the reason. */
const char *fp_ir_read(struct fp_arena *arena, LLVMValueRef function, struct fp_function *f,
                       const struct fp_ir_options *options, struct fp_ir *ir);

/* LLVM's estimates as weights per edge; fills ir->weights. */
void fp_ir_estimate(struct fp_ir *ir);

/* The basic block that an edge leads to. */
LLVMBasicBlockRef fp_ir_target(const struct fp_ir *ir, uint32_t edge);

bool fp_ir_has_attribute(LLVMValueRef function, const char *name);
/* One without a value, of the function. */
void fp_ir_add_attribute(LLVMValueRef function, const char *name);

#endif
