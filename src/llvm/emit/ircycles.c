/* When the path in flight began, for --fp-metric=cycles. */
#include "llvm/emit/ircode.h"

#include <string.h>

LLVMValueRef fp_code_read_cycles(struct fp_code *c)
{
    unsigned id = LLVMLookupIntrinsicID("llvm.readcyclecounter", strlen("llvm.readcyclecounter"));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(c->ed->module, id, NULL, 0);
    LLVMTypeRef type = LLVMFunctionType(c->ed->i64, NULL, 0, 0);
    return LLVMBuildCall2(c->ed->builder, type, function, NULL, 0, "");
}

/* When the path in flight on entering a block began. The clock of a path that
 * starts at a block with one way in starts there; where several ways meet, each
 * brings its own, and those that end a path bring the time of that. */
void fp_code_make_since(struct fp_code *c, uint32_t block)
{
    uint32_t first = c->cfg->first_in[block], degree = fp_cfg_in_degree(c->cfg, block);
    if (block == 0 && degree == 0) {
        c->since[0] = c->entered;
        return;
    }
    if (degree > 1) {
        LLVMValueRef *values; /* filled later: `now` of later edges is not known yet */
        c->since[block] = fp_code_new_phi(c, block, c->ed->i64, &values);
        return;
    }
    uint32_t e = c->cfg->in_edges[first], src = c->cfg->edges[e].src;
    bool starts = fp_code_fate(c, e) != FP_FATE_KEPT || src == c->ed->ir->hub;
    if (starts) fp_edit_at_head(c->ed, block);
    c->since[block] = starts ? fp_code_read_cycles(c) : c->since[src];
}

LLVMValueRef fp_code_since_on_edge(struct fp_code *c, uint32_t e)
{
    enum fp_fate fate = fp_code_fate(c, e);
    if (c->now[e]) return c->now[e];
    return c->since[fate == FP_FATE_LAP ? c->cfg->edges[e].dst : c->cfg->edges[e].src];
}
