/* Branches that a path decides: see irdecide.h.
 *
 *   if (c) x = 1; else x = 0;       What the decision tells, and which value each phi
 *   ... any number of blocks ...    behind it takes, is followed along the path. Where
 *   if (x) ...                      the later condition is a constant then, or follows
 *                                   from the earlier one, a copy for this way folds.
 *
 * LLVM's jump threading does so for blocks of up to 6 instructions, one or two of them;
 * with the counts of paths it is known where more pays. What branches in between tell
 * is not used (they are not the decision's doing), nor are loads or arithmetic. */
#include "llvm/use/irdecide.h"

#include "base/table.h"
#include "llvm/shim.h"

enum { MOST_STEPS = 16 };

/* What a value is on this path: another value, or a constant. */
static LLVMValueRef resolve(const struct fp_table *known, LLVMValueRef value)
{
    for (int i = 0; i < MOST_STEPS; i++) {
        uint64_t *to = fp_table_find(known, (uintptr_t)value);
        if (!to) break;
        value = (LLVMValueRef)(uintptr_t)*to;
    }
    return value;
}

static void learn(struct fp_table *known, LLVMValueRef value, LLVMValueRef is)
{
    if (value != is && !LLVMIsConstant(value))
        *fp_table_add(known, (uintptr_t)value) = (uintptr_t)is;
}

/* x == 3, and that is so. */
static void learn_equal(struct fp_table *known, LLVMValueRef condition, bool taken)
{
    if (!LLVMIsAICmpInst(condition)) return;
    LLVMIntPredicate wanted = taken ? LLVMIntEQ : LLVMIntNE;
    LLVMValueRef right = LLVMGetOperand(condition, 1);
    if (LLVMGetICmpPredicate(condition) == wanted && LLVMIsConstant(right))
        learn(known, LLVMGetOperand(condition, 0), right);
}

static void learn_switch(struct fp_table *known, LLVMValueRef terminator, LLVMBasicBlockRef to)
{
    LLVMValueRef condition = LLVMGetOperand(terminator, 0);
    unsigned found = 0, n = LLVMGetNumSuccessors(terminator);
    for (unsigned i = 0; i < n; i++) {
        if (LLVMGetSuccessor(terminator, i) != to) continue;
        if (i == 0 || found) return; /* the default, or one of several cases */
        found = i;
    }
    int64_t value;
    if (found && fp_shim_switch_case(terminator, found, &value))
        learn(known, condition, LLVMConstInt(LLVMTypeOf(condition), (uint64_t)value, 1));
}

/* Returns the condition of a two-way branch, and in *taken which way it went. */
static LLVMValueRef learn_decision(struct fp_table *known, LLVMBasicBlockRef from,
                                   LLVMBasicBlockRef to, bool *taken)
{
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(from);
    if (LLVMGetInstructionOpcode(terminator) == LLVMSwitch) learn_switch(known, terminator, to);
    if (LLVMGetInstructionOpcode(terminator) != LLVMBr || !LLVMIsConditional(terminator))
        return NULL;
    if (LLVMGetSuccessor(terminator, 0) == LLVMGetSuccessor(terminator, 1)) return NULL;
    LLVMValueRef condition = LLVMGetCondition(terminator);
    *taken = LLVMGetSuccessor(terminator, 0) == to;
    learn_equal(known, condition, *taken);
    learn(known, condition, LLVMConstInt(LLVMTypeOf(condition), *taken, 0));
    return condition;
}

static void take_phis(struct fp_table *known, LLVMBasicBlockRef block, LLVMBasicBlockRef from)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i && LLVMIsAPHINode(i);
         i = LLVMGetNextInstruction(i))
        for (unsigned k = 0; k < LLVMCountIncoming(i); k++) {
            if (LLVMGetIncomingBlock(i, k) != from) continue;
            learn(known, i, resolve(known, LLVMGetIncomingValue(i, k)));
            break;
        }
}

static bool is_number(LLVMValueRef value)
{
    return LLVMIsAConstantInt(value) || LLVMIsAConstantPointerNull(value);
}

static bool is_folded(const struct fp_table *known, LLVMValueRef condition)
{
    LLVMValueRef value = resolve(known, condition);
    if (is_number(value)) return true;
    if (!LLVMIsAICmpInst(value)) return false;
    return is_number(resolve(known, LLVMGetOperand(value, 0))) &&
           is_number(resolve(known, LLVMGetOperand(value, 1)));
}

bool fp_ir_decides(struct fp_arena *arena, const LLVMBasicBlockRef *blocks, uint32_t n)
{
    struct fp_table known;
    bool taken = false;
    fp_table_init(&known, arena);
    LLVMValueRef decision = learn_decision(&known, blocks[0], blocks[1], &taken);
    for (uint32_t i = 1; i < n; i++) take_phis(&known, blocks[i], blocks[i - 1]);
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(blocks[n - 1]);
    bool is_switch = LLVMGetInstructionOpcode(terminator) == LLVMSwitch;
    if (is_switch) return is_folded(&known, LLVMGetOperand(terminator, 0));
    if (LLVMGetInstructionOpcode(terminator) != LLVMBr || !LLVMIsConditional(terminator))
        return false;
    LLVMValueRef condition = LLVMGetCondition(terminator);
    return is_folded(&known, condition) ||
           (decision && fp_shim_implies(decision, taken, condition));
}
