/* Setting r in loops.
 *
 * The address of a counter takes a lea, which the code generator hoists out of all
 * loops: every value that r is ever set to then occupies a register throughout, and
 * the allocator spends its time on pulling them back (luaV_execute: two thirds of the
 * compilation). So in loops it is set by assembly, which stays where it is. */
#include "footpath/abi.h"
#include "llvm/emit/ircode.h"

#include <stdio.h>
#include <string.h>

static bool wants_in_place(const struct fp_code *c, uint32_t e)
{
    const struct fp_edge *edge = &c->cfg->edges[e];
    if (!c->in_place || !fp_code_is_live(c, e) || edge->kind == FP_EDGE_UNWIND) return false;
    return edge->src == c->ed->ir->hub || c->loops.depth[edge->src];
}

LLVMValueRef fp_code_set_in_place(struct fp_code *c, uint32_t e)
{
    struct fp_editor *ed = c->ed;
    int64_t value;
    char text[96];
    if (!wants_in_place(c, e) || !fp_plan_sets_on(c->plan, e, &value)) return NULL;
    LLVMTypeRef type = LLVMFunctionType(c->register_type, NULL, 0, 0);
    snprintf(text, sizeof text, "leaq %s%016llx%+lld(%%rip), $0", FP_COUNTER_PREFIX,
             (unsigned long long)ed->ir->f->id, (long long)value * 8);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), (char *)"=r", strlen("=r"), 1, 0,
                                         LLVMInlineAsmDialectATT, 0);
    if (!fp_loops_seldom_left_by(&c->loops, c->cfg, ed->ir->weights, e) &&
        fp_plan_sets_before_branch(c->plan, ed->ir->weights, e, value, ed->has_block))
        fp_edit_at_end(ed, c->cfg->edges[e].src);
    else
        fp_edit_on_edge(ed, e, false);
    return LLVMBuildCall2(ed->builder, type, code, NULL, 0, "");
}

/* Not before optimisations, which assembly would be in the way of, nor where counters
 * may be out of the reach of %rip. */
void fp_code_choose_in_place(struct fp_code *c)
{
    const struct fp_ir *ir = c->ed->ir;
    c->in_place = !c->hashed && !c->cycles && !c->sampling && !c->ed->one_instruction &&
                  ir->weights && !(ir->f->flags & FP_FUNCTION_EARLY) &&
                  !LLVMGetModuleFlag(c->ed->module, "Code Model", strlen("Code Model"));
    if (c->in_place) fp_loops_find(c->arena, c->cfg, &c->loops);
}
