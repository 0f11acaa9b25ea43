/* Branch weights: see irweights.h.
 *
 * A cfg edge stands for all successors of a terminator that are one block; its count
 * goes to the first of them, the others get 0, which is what LLVM adds up again. */
#include "llvm/irweights.h"

#include <string.h>

static LLVMValueRef string_node(LLVMContextRef context, const char *text)
{
    return LLVMMDStringInContext(context, text, (unsigned)strlen(text));
}

/* Counts of the successors, scaled to 32 bits; false where all are 0. */
static bool successor_weights(const struct fp_ir *ir, uint32_t block, const uint64_t *counts,
                              LLVMValueRef terminator, uint64_t *weights)
{
    const struct fp_cfg *cfg = ir->f->cfg;
    unsigned n = LLVMGetNumSuccessors(terminator);
    uint32_t from = block;
    uint64_t most = 0;
    /* an indirect branch: the hub knows where all of them together went */
    if (LLVMGetInstructionOpcode(terminator) == LLVMIndirectBr) from = ir->hub;
    for (uint32_t e = cfg->first_out[from]; e < cfg->first_out[from + 1]; e++)
        for (unsigned i = 0; i < n; i++) {
            if (LLVMGetSuccessor(terminator, i) != fp_ir_target(ir, e)) continue;
            weights[i] = counts[e];
            if (counts[e] > most) most = counts[e];
            break;
        }
    if (!most) return false;
    uint64_t scale = most / UINT32_MAX + 1;
    for (unsigned i = 0; i < n; i++) weights[i] /= scale;
    return true;
}

static void set_on_terminator(const struct fp_ir *ir, uint32_t block, const uint64_t *counts,
                              LLVMValueRef terminator)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(ir->function));
    unsigned n = LLVMGetNumSuccessors(terminator);
    uint64_t *weights = FP_NEW_ARRAY(ir->arena, uint64_t, n);
    if (!successor_weights(ir, block, counts, terminator, weights)) return;
    LLVMValueRef *operands = FP_NEW_ARRAY(ir->arena, LLVMValueRef, (size_t)n + 1);
    operands[0] = string_node(context, "branch_weights");
    for (unsigned i = 0; i < n; i++)
        operands[i + 1] = LLVMConstInt(LLVMInt32TypeInContext(context), weights[i], 0);
    LLVMSetMetadata(terminator, LLVMGetMDKindIDInContext(context, "prof", 4),
                    LLVMMDNodeInContext(context, operands, n + 1));
}

void fp_ir_set_branch_weights(struct fp_ir *ir, const struct fp_guide_function *counts)
{
    for (uint32_t b = 0; b < ir->f->cfg->nblocks; b++) {
        if (!ir->blocks[b].has_terminator) continue;
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(ir->blocks[b].bb);
        if (LLVMGetNumSuccessors(terminator) > 1) set_on_terminator(ir, b, counts->edges, terminator);
    }
}
