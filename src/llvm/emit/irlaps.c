/* Variables that count laps: see irlaps.h. */
#include "llvm/emit/irlaps.h"

#include "llvm/shim.h"

#include <llvm-c/Target.h>

/* A loop must be expected to go round this often, or it is not worth it. */
static const double WORTHWHILE = 3;

static const struct fp_lap *lap_of(const struct fp_ir *ir, uint32_t lap)
{
    return &ir->f->paths.truncation->laps.at[lap];
}

uint32_t fp_ir_lap_block(const struct fp_ir *ir, const struct fp_lap *lap, uint32_t k)
{
    const struct fp_cfg *cfg = ir->f->paths.cfg;
    return k ? cfg->edges[lap->edges[k - 1]].dst : cfg->edges[lap->closing].dst;
}

/* Where on the way round, or FP_NONE. */
static uint32_t place_of(const struct fp_ir *ir, const struct fp_lap *lap, uint32_t block)
{
    for (uint32_t k = 0; k <= lap->nedges; k++)
        if (fp_ir_lap_block(ir, lap, k) == block) return k;
    return FP_NONE;
}

bool fp_ir_leaves_lap(const struct fp_ir *ir, uint32_t lap, uint32_t edge)
{
    const struct fp_lap *l = lap_of(ir, lap);
    const struct fp_truncation *t = ir->f->paths.truncation;
    uint32_t k = place_of(ir, l, ir->f->paths.cfg->edges[edge].src);
    if (k == FP_NONE || edge == l->closing || t->order.fate[edge] == FP_FATE_DEAD) return false;
    /* the lap of a loop inside this one stays here */
    if (t->order.fate[edge] == FP_FATE_LAP &&
        place_of(ir, l, ir->f->paths.cfg->edges[edge].dst) != FP_NONE)
        return false;
    return k == l->nedges || edge != l->edges[k];
}

/* ---- which loops ---- */

/* Does code on the edge do, and is the loop worth it? A loop with several exits is
 * mostly a search that ends soon. */
static bool is_suitable(const struct fp_ir *ir, uint32_t lap, const double *weights)
{
    const struct fp_cfg *cfg = ir->f->paths.cfg;
    const struct fp_lap *l = lap_of(ir, lap);
    double leaving = 0;
    uint32_t exits = 0;
    for (uint32_t k = 0; k <= l->nedges; k++) {
        uint32_t block = fp_ir_lap_block(ir, l, k);
        if (cfg->flags[block] & (FP_BLOCK_LEAVES | FP_BLOCK_PAD | FP_BLOCK_HUB)) return false;
        if (ir->blocks[block].call) return false;
        for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) {
            if (!fp_ir_leaves_lap(ir, lap, e)) continue;
            if (cfg->edges[e].kind > FP_EDGE_SWITCH) return false;
            leaving += weights[e];
            exits++;
        }
    }
    return exits == 1 && weights[l->closing] > WORTHWHILE * leaving;
}

/* ---- which variables ---- */

static bool constant_step(LLVMModuleRef module, LLVMValueRef next, LLVMValueRef phi, int64_t *step)
{
    if (!LLVMIsAInstruction(next)) return false;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(next);
    if (opcode != LLVMAdd && opcode != LLVMGetElementPtr) return false;
    if (LLVMGetNumOperands(next) != 2 || LLVMGetOperand(next, 0) != phi) return false;
    LLVMValueRef amount = LLVMGetOperand(next, 1);
    if (!LLVMIsAConstantInt(amount)) return false;
    *step = LLVMConstIntGetSExtValue(amount);
    if (opcode == LLVMGetElementPtr) {
        LLVMTypeRef type = LLVMGetGEPSourceElementType(next);
        *step *= (int64_t)LLVMABISizeOfType(LLVMGetModuleDataLayout(module), type);
    }
    return *step != 0;
}

/* 64 bits do not go round; fewer must be promised not to. */
static bool is_wide_enough(LLVMValueRef phi, LLVMValueRef next)
{
    LLVMTypeRef type = LLVMTypeOf(phi);
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind) return LLVMGetPointerAddressSpace(type) == 0;
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind) return false;
    unsigned width = LLVMGetIntTypeWidth(type);
    return width == 64 || (width == 32 && fp_shim_never_wraps(next));
}

static uint32_t place_of_value(const struct fp_ir *ir, const struct fp_lap *lap, LLVMValueRef value)
{
    LLVMBasicBlockRef bb = LLVMGetInstructionParent(value);
    for (uint32_t k = 0; k <= lap->nedges; k++)
        if (ir->blocks[fp_ir_lap_block(ir, lap, k)].bb == bb) return k;
    return FP_NONE;
}

/* The value from outside the loop, if there is only one way in. */
static LLVMValueRef value_from(LLVMValueRef phi, LLVMBasicBlockRef latch, bool inside)
{
    LLVMValueRef found = NULL;
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        if ((LLVMGetIncomingBlock(phi, i) == latch) != inside) continue;
        LLVMValueRef value = LLVMGetIncomingValue(phi, i);
        if (found && found != value) return NULL;
        found = value;
    }
    return found;
}

/* Extra instructions where the loop is left, or in it: the code generator would rather
 * step pointers, and has to keep a variable that is asked for. */
static int cost_of(const struct fp_lap_variable *v)
{
    enum { TESTED = 4, IN_LOOP = 8 };
    int cost = (v->step != 1) + (v->is_fixed ? 0 : v->final ? TESTED : IN_LOOP);
    if (v->down) cost++;
    if (!LLVMIsConstant(v->start))
        cost += 2; /* and a register through the loop */
    else if (!LLVMIsNull(v->start))
        cost++;
    return cost;
}

static bool read_variable(const struct fp_ir *ir, const struct fp_lap *lap, LLVMValueRef phi,
                          struct fp_lap_variable *v)
{
    LLVMModuleRef module = LLVMGetGlobalParent(ir->function);
    LLVMBasicBlockRef latch = ir->blocks[ir->f->paths.cfg->edges[lap->closing].src].bb;
    int64_t step;
    v->phi = phi;
    v->next = value_from(phi, latch, true);
    v->start = value_from(phi, latch, false);
    if (!v->next || !v->start || !is_wide_enough(phi, v->next)) return false;
    if (!constant_step(module, v->next, phi, &step)) return false;
    v->next_at = place_of_value(ir, lap, v->next);
    v->down = step < 0;
    v->step = step < 0 ? -(uint64_t)step : (uint64_t)step;
    return v->next_at != FP_NONE;
}

/* The test that leaves the loop: the only edge that does comes out of a branch on it.
 * *equal: are both sides the same then? */
static LLVMValueRef leaving_test(const struct fp_ir *ir, uint32_t lap, bool *equal)
{
    const struct fp_cfg *cfg = ir->f->paths.cfg;
    const struct fp_lap *l = lap_of(ir, lap);
    for (uint32_t k = 0; k <= l->nedges; k++) {
        uint32_t block = fp_ir_lap_block(ir, l, k);
        for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) {
            if (!fp_ir_leaves_lap(ir, lap, e)) continue;
            LLVMValueRef branch = LLVMGetBasicBlockTerminator(ir->blocks[block].bb);
            if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch)) return NULL;
            LLVMValueRef test = LLVMGetCondition(branch);
            if (!LLVMIsAICmpInst(test)) return NULL;
            bool if_true = LLVMGetSuccessor(branch, 0) == fp_ir_target(ir, e);
            *equal = LLVMGetICmpPredicate(test) == (if_true ? LLVMIntEQ : LLVMIntNE);
            return test;
        }
    }
    return NULL;
}

/* Is the test one of the variable, or of a sum with it? Then that is at hand where the
 * loop is left. If it equals something from outside the loop, that is better yet. */
static void read_final(const struct fp_ir *ir, const struct fp_lap *lap, LLVMValueRef test,
                       bool equal, struct fp_lap_variable *v)
{
    LLVMModuleRef module = LLVMGetGlobalParent(ir->function);
    for (unsigned i = 0; test && i < 2; i++) {
        LLVMValueRef tested = LLVMGetOperand(test, i), other = LLVMGetOperand(test, 1 - i);
        int64_t offset = 0;
        if (tested != v->phi && !constant_step(module, tested, v->phi, &offset)) continue;
        v->is_fixed =
            equal && (!LLVMIsAInstruction(other) || place_of_value(ir, lap, other) == FP_NONE);
        v->final = v->is_fixed ? other : tested;
        v->offset = offset;
        return;
    }
}

static void find_variable(const struct fp_ir *ir, uint32_t lap, struct fp_lap_variable *best)
{
    const struct fp_lap *l = lap_of(ir, lap);
    LLVMBasicBlockRef header = ir->blocks[ir->f->paths.cfg->edges[l->closing].dst].bb;
    bool equal = false;
    LLVMValueRef test = leaving_test(ir, lap, &equal);
    for (LLVMValueRef phi = LLVMGetFirstInstruction(header); phi && LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi)) {
        struct fp_lap_variable v = {0};
        if (!read_variable(ir, l, phi, &v)) continue;
        read_final(ir, l, test, equal, &v);
        if (!best->phi || cost_of(&v) < cost_of(best)) *best = v;
    }
}

struct fp_lap_variable *fp_ir_lap_variables(const struct fp_ir *ir, struct fp_plan *plan,
                                            const double *weights)
{
    const struct fp_laps *laps = &ir->f->paths.truncation->laps;
    struct fp_lap_variable *all = FP_NEW_ARRAY(ir->arena, struct fp_lap_variable, laps->len);
    for (uint32_t i = 0; i < laps->len; i++) {
        uint32_t closing = laps->at[i].closing, block = ir->f->paths.cfg->edges[closing].src;
        if (is_suitable(ir, i, weights)) find_variable(ir, i, &all[i]);
        if (!all[i].phi) continue;
        if (plan->at_end[block] == FP_NONE) plan->at_end[block] = closing;
        all[i].visits = plan->at_end[block] == closing;
    }
    return all;
}

/* ---- how much ---- */

static LLVMValueRef as_integer(struct fp_editor *ed, LLVMValueRef value)
{
    if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMPointerTypeKind) return value;
    return LLVMBuildPtrToInt(ed->builder, value, ed->i64, "");
}

/* How far `now` is from the start, and `more`, over the step. */
static LLVMValueRef steps_to(struct fp_editor *ed, const struct fp_lap_variable *v,
                             LLVMValueRef now, uint64_t more)
{
    LLVMBuilderRef builder = ed->builder;
    LLVMValueRef start = as_integer(ed, v->start);
    now = as_integer(ed, now);
    LLVMValueRef moved =
        v->down ? LLVMBuildSub(builder, start, now, "") : LLVMBuildSub(builder, now, start, "");
    if (more) moved = LLVMBuildAdd(builder, moved, LLVMConstInt(LLVMTypeOf(moved), more, 1), "");
    moved = LLVMBuildZExt(builder, moved, ed->i64, "");
    if (v->step == 1) return moved;
    return LLVMBuildExactUDiv(builder, moved, LLVMConstInt(ed->i64, v->step, 0), "");
}

/* A value of the loop as it is on the edge that leaves it: a phi, through which the code
 * generator does not look. It would keep a variable of its own in the loop for what is
 * made of it. */
static LLVMValueRef value_behind(struct fp_editor *ed, LLVMValueRef value, uint32_t edge)
{
    LLVMBasicBlockRef from = ed->ir->blocks[ed->ir->f->paths.cfg->edges[edge].src].bb;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(ed->builder);
    if (!LLVMIsABranchInst(LLVMGetBasicBlockTerminator(from))) return value; /* several ways here */
    fp_shim_position_at_head(ed->builder, here);
    LLVMValueRef phi = LLVMBuildPhi(ed->builder, LLVMTypeOf(value), "");
    LLVMAddIncoming(phi, &value, &from, 1);
    fp_edit_on_edge(ed, edge, false);
    return phi;
}

/* Laps are (phi - start) / step; next is one step further. Behind the closing block its
 * visits are one more than the laps. */
LLVMValueRef fp_ir_lap_amount(struct fp_editor *ed, const struct fp_lap_variable *v, uint32_t lap,
                              uint32_t edge)
{
    const struct fp_lap *l = lap_of(ed->ir, lap);
    uint32_t from = place_of(ed->ir, l, ed->ir->f->paths.cfg->edges[edge].src);
    bool one_more = v->visits && from == l->nedges;
    if (!v->final) return steps_to(ed, v, value_behind(ed, one_more ? v->next : v->phi, edge), 0);
    uint64_t offset = (uint64_t)v->offset;
    LLVMValueRef now = v->is_fixed ? v->final : value_behind(ed, v->final, edge);
    return steps_to(ed, v, now, (v->down ? offset : -offset) + (one_more ? v->step : 0));
}
