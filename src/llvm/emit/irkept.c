/* What short loops keep in registers (graph/keptcounts.h): counts, and how far a running register
 * has moved. While code is made each is a variable of the frame; at the end LLVM makes values of
 * the variables. */
#include "llvm/emit/ircode.h"
#include "llvm/shim.h"

uint32_t fp_code_keeper_of_block(const struct fp_code *c, uint32_t block)
{
    return c->ed->ir->kept_loops ? c->ed->ir->kept_loops[block] : FP_NONE;
}

uint32_t fp_code_keeper_of_edge(const struct fp_code *c, uint32_t edge)
{
    uint32_t header = fp_code_keeper_of_block(c, c->cfg->edges[edge].src);
    return header == fp_code_keeper_of_block(c, c->cfg->edges[edge].dst) ? header : FP_NONE;
}

static LLVMValueRef zero(const struct fp_code *c)
{
    return LLVMConstInt(c->ed->i64, 0, 0);
}

/* At the head of the function. */
static LLVMValueRef new_variable(struct fp_code *c)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(c->ed->context);
    fp_shim_position_at_head(builder, LLVMGetEntryBasicBlock(c->ed->ir->function));
    LLVMValueRef variable = LLVMBuildAlloca(builder, c->ed->i64, "");
    LLVMBuildStore(builder, zero(c), variable);
    LLVMDisposeBuilder(builder);
    return variable;
}

static LLVMValueRef variable_of(struct fp_code *c, uint32_t header, int64_t id)
{
    for (size_t i = 0; i < c->kept.len; i++)
        if (c->kept.at[i].header == header && c->kept.at[i].id == id) return c->kept.at[i].variable;
    struct fp_code_kept kept = {header, id, new_variable(c)};
    fp_vec_push(c->arena, &c->kept, kept);
    return kept.variable;
}

void fp_code_keep(struct fp_code *c, uint32_t header, int64_t id)
{
    LLVMValueRef variable = variable_of(c, header, id), one = LLVMConstInt(c->ed->i64, 1, 0);
    LLVMValueRef count = LLVMBuildLoad2(c->ed->builder, c->ed->i64, variable, "");
    LLVMBuildStore(c->ed->builder, LLVMBuildAdd(c->ed->builder, count, one, ""), variable);
}

/* ---- a running register: a loop has one variable, whatever its id ---- */

LLVMValueRef fp_code_moved_by(struct fp_code *c, uint32_t header)
{
    return variable_of(c, header, 0);
}

LLVMValueRef fp_code_moved(struct fp_code *c, uint32_t header)
{
    if (header == FP_NONE) return NULL;
    return LLVMBuildLoad2(c->ed->builder, c->ed->i64, fp_code_moved_by(c, header), "");
}

void fp_code_add_moves(struct fp_code *c)
{
    for (uint32_t e = 0; c->word && e < c->cfg->nedges; e++) {
        uint32_t header = fp_code_keeper_of_block(c, c->cfg->edges[e].src);
        if (header == FP_NONE || fp_code_keeper_of_edge(c, e) != FP_NONE) continue;
        fp_edit_on_edge(c->ed, e, false);
        LLVMValueRef sum = LLVMBuildLoad2(c->ed->builder, c->ed->i64, c->word, "");
        sum = LLVMBuildAdd(c->ed->builder, sum, fp_code_moved(c, header), "");
        LLVMBuildStore(c->ed->builder, sum, c->word);
        LLVMBuildStore(c->ed->builder, zero(c), fp_code_moved_by(c, header));
    }
}

/* ---- where loops are left, and their edges back ---- */

static void add_on_edge(struct fp_code *c, uint32_t edge)
{
    uint32_t header = fp_code_keeper_of_block(c, c->cfg->edges[edge].src);
    fp_edit_on_edge(c->ed, edge, false);
    for (size_t i = 0; i < c->kept.len; i++) {
        const struct fp_code_kept *kept = &c->kept.at[i];
        if (kept->header != header) continue;
        LLVMValueRef count = LLVMBuildLoad2(c->ed->builder, c->ed->i64, kept->variable, "");
        fp_edit_add_to(c->ed, fp_code_constant(c, kept->id), count);
        LLVMBuildStore(c->ed->builder, zero(c), kept->variable);
    }
}

/* A count that goes round unchanged on one of several edges back would tell LLVM that there are two
 * loops, one in the other, which it then makes of them (LoopSimplify). What was frozen is another
 * value, and takes no instruction. */
static void change_on_edge(struct fp_code *c, uint32_t edge)
{
    uint32_t header = c->cfg->edges[edge].dst;
    fp_edit_on_edge(c->ed, edge, false);
    for (size_t i = 0; i < c->kept.len; i++) {
        LLVMValueRef variable = c->kept.at[i].variable;
        if (c->kept.at[i].header != header) continue;
        LLVMValueRef count = LLVMBuildLoad2(c->ed->builder, c->ed->i64, variable, "");
        LLVMBuildStore(c->ed->builder, LLVMBuildFreeze(c->ed->builder, count, ""), variable);
    }
}

void fp_code_add_kept(struct fp_code *c)
{
    if (!c->kept.len) return;
    for (uint32_t e = 0; e < c->cfg->nedges; e++) {
        if (fp_code_keeper_of_block(c, c->cfg->edges[e].src) == FP_NONE) continue;
        uint32_t keeper = fp_code_keeper_of_edge(c, e);
        if (keeper == FP_NONE && !c->word) add_on_edge(c, e);
        if (keeper == c->cfg->edges[e].dst) change_on_edge(c, e);
    }
    LLVMValueRef *variables = FP_NEW_ARRAY(c->arena, LLVMValueRef, c->kept.len);
    for (size_t i = 0; i < c->kept.len; i++) variables[i] = c->kept.at[i].variable;
    fp_shim_make_values(c->ed->ir->function, variables, c->kept.len);
}
