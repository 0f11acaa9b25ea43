/* Variables that count laps: see irlapvars.h. */
#include "llvm/read/irlapvars.h"

#include "graph/lapexits.h"
#include "llvm/shim.h"

#include <llvm-c/Target.h>

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
        if (ir->blocks[fp_lap_block(ir->f->paths.cfg, lap, k)].bb == bb) return k;
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
    v->down = step < 0;
    v->step = step < 0 ? -(uint64_t)step : (uint64_t)step;
    return place_of_value(ir, lap, v->next) != FP_NONE;
}

/* The test of the branch by which the loop is left on the edge.
 * *equal: are both sides the same then? */
static LLVMValueRef leaving_test(const struct fp_ir *ir, uint32_t exit, bool *equal)
{
    uint32_t block = ir->f->paths.cfg->edges[exit].src;
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(ir->blocks[block].bb);
    if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch)) return NULL;
    LLVMValueRef test = LLVMGetCondition(branch);
    if (!LLVMIsAICmpInst(test)) return NULL;
    bool if_true = LLVMGetSuccessor(branch, 0) == fp_ir_target(ir, exit);
    *equal = LLVMGetICmpPredicate(test) == (if_true ? LLVMIntEQ : LLVMIntNE);
    return test;
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

static struct fp_lap_variable find_variable(const struct fp_ir *ir, const struct fp_lap *lap,
                                            uint32_t exit)
{
    LLVMBasicBlockRef header = ir->blocks[ir->f->paths.cfg->edges[lap->closing].dst].bb;
    struct fp_lap_variable best = {0};
    bool equal = false;
    LLVMValueRef test = leaving_test(ir, exit, &equal);
    for (LLVMValueRef phi = LLVMGetFirstInstruction(header); phi && LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi)) {
        struct fp_lap_variable v = {0};
        if (!read_variable(ir, lap, phi, &v)) continue;
        read_final(ir, lap, test, equal, &v);
        if (!best.phi || cost_of(&v) < cost_of(&best)) best = v;
    }
    return best;
}

struct fp_lap_variable *fp_ir_lap_variables(const struct fp_ir *ir, uint32_t *exits)
{
    const struct fp_laps *laps = &ir->f->paths.truncation->laps;
    struct fp_lap_variable *all = FP_NEW_ARRAY(ir->arena, struct fp_lap_variable, laps->len);
    for (uint32_t i = 0; i < laps->len; i++) {
        if (exits[i] != FP_NONE) all[i] = find_variable(ir, &laps->at[i], exits[i]);
        if (!all[i].phi) exits[i] = FP_NONE;
    }
    return all;
}
