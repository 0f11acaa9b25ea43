/* Ranges of the path register: see irrange.h. */
#include "llvm/emit/irrange.h"

static const struct fp_ir_range UNKNOWN = {0, 0, false};
static const struct fp_ir_range NONE = {INT64_MAX, INT64_MIN, true};

void fp_ir_ranges_init(struct fp_ir_ranges *ranges, struct fp_arena *arena)
{
    *ranges = (struct fp_ir_ranges){.arena = arena};
    fp_table_init(&ranges->index, arena);
}

static struct fp_ir_range either(struct fp_ir_range a, struct fp_ir_range b)
{
    if (!a.known || !b.known) return UNKNOWN;
    return (struct fp_ir_range){a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high,
                                true};
}

static struct fp_ir_range range_of_sum(struct fp_ir_ranges *ranges, LLVMValueRef sum)
{
    LLVMValueRef amount = LLVMGetOperand(sum, 1);
    if (!LLVMIsAConstantInt(amount)) return UNKNOWN;
    struct fp_ir_range range = fp_ir_range_of(ranges, LLVMGetOperand(sum, 0));
    int64_t by = LLVMConstIntGetSExtValue(amount);
    if (!range.known || range.low > range.high) return range;
    if (__builtin_add_overflow(range.low, by, &range.low) ||
        __builtin_add_overflow(range.high, by, &range.high))
        return UNKNOWN;
    return range;
}

/* What a lap brings back is the phi itself. */
static struct fp_ir_range range_of_phi(struct fp_ir_ranges *ranges, LLVMValueRef phi)
{
    struct fp_ir_range range = NONE;
    for (unsigned i = 0; i < LLVMCountIncoming(phi) && range.known; i++) {
        LLVMValueRef value = LLVMGetIncomingValue(phi, i);
        if (value != phi) range = either(range, fp_ir_range_of(ranges, value));
    }
    return range;
}

static struct fp_ir_range compute(struct fp_ir_ranges *ranges, LLVMValueRef value)
{
    if (LLVMIsAConstantInt(value)) {
        int64_t only = LLVMConstIntGetSExtValue(value);
        return (struct fp_ir_range){only, only, true};
    }
    if (LLVMIsUndef(value)) return NONE; /* no path comes this way */
    if (LLVMIsAPHINode(value)) return range_of_phi(ranges, value);
    if (LLVMIsABinaryOperator(value) && LLVMGetInstructionOpcode(value) == LLVMAdd)
        return range_of_sum(ranges, value);
    return UNKNOWN;
}

/* Of what is too far back nothing is known: the compiler's stack is small. */
struct fp_ir_range fp_ir_range_of(struct fp_ir_ranges *ranges, LLVMValueRef value)
{
    enum { DEEPEST = 2000 };
    if (ranges->depth == DEEPEST) return UNKNOWN;
    uint64_t key = (uint64_t)(uintptr_t)value, *index = fp_table_add(&ranges->index, key);
    if (*index) return ranges->found.at[*index - 1];
    fp_vec_push(ranges->arena, &ranges->found, UNKNOWN); /* while it is being found */
    size_t at = ranges->found.len - 1;
    *index = at + 1;
    ranges->depth++;
    struct fp_ir_range range = compute(ranges, value); /* finds others: `found` moves */
    ranges->depth--;
    return ranges->found.at[at] = range;
}
