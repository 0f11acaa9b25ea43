/* Names of blocks: see blocknames.h.
 *
 * clang (CodeGenFunction::EmitBranchOnBoolExpr) hands every condition a block for true and one
 * for false. For the left side of `a && b` the block for true is land.lhs.true (land.rhs where
 * the value is wanted), for that of `a || b` the block for false is lor.lhs.false (lor.rhs).
 * The right side gets the blocks of the whole. `!x` swaps them, so the right side of
 * `!(a && b)` leads to if.then when b is false: there the left side decides. Of `a && b` a
 * block that both sides lead to is the one for false, of `a || b` the one for true.
 */
#include "llvm/sense/blocknames.h"

#include "graph/cfg.h"

#include <stdbool.h>
#include <string.h>

enum { LONGEST_CLIMB = 16 };

enum meaning { SAYS_NOTHING, SAYS_TRUE, SAYS_FALSE };

struct named {
    const char *name;
    enum meaning meaning;
    bool of_side; /* of the left side of && or ||: says it of that condition alone */
    enum fp_construct construct;
};

static const struct named known[] = {
    {"land.lhs.true", SAYS_TRUE, true, FP_CONSTRUCT_NONE},
    {"land.rhs", SAYS_TRUE, true, FP_CONSTRUCT_NONE},
    {"lor.lhs.false", SAYS_FALSE, true, FP_CONSTRUCT_NONE},
    {"lor.rhs", SAYS_FALSE, true, FP_CONSTRUCT_NONE},
    {"if.then", SAYS_TRUE, false, FP_CONSTRUCT_IF},
    {"if.else", SAYS_FALSE, false, FP_CONSTRUCT_IF},
    {"if.end", SAYS_NOTHING, false, FP_CONSTRUCT_IF},
    {"cond.true", SAYS_TRUE, false, FP_CONSTRUCT_CHOICE},
    {"cond.false", SAYS_FALSE, false, FP_CONSTRUCT_CHOICE},
    {"for.body", SAYS_TRUE, false, FP_CONSTRUCT_LOOP},
    {"for.end", SAYS_FALSE, false, FP_CONSTRUCT_LOOP},
    {"for.cond.cleanup", SAYS_FALSE, false, FP_CONSTRUCT_LOOP},
    {"while.body", SAYS_TRUE, false, FP_CONSTRUCT_LOOP},
    {"while.end", SAYS_FALSE, false, FP_CONSTRUCT_LOOP},
    {"while.exit", SAYS_FALSE, false, FP_CONSTRUCT_LOOP},
    {"do.body", SAYS_TRUE, false, FP_CONSTRUCT_LOOP},
    {"do.end", SAYS_FALSE, false, FP_CONSTRUCT_LOOP},
    {"land.end", SAYS_NOTHING, false, FP_CONSTRUCT_VALUE},
    {"lor.end", SAYS_NOTHING, false, FP_CONSTRUCT_VALUE},
};

/* A number at the end makes a name the only one of its function. */
static const struct named *named(LLVMBasicBlockRef block)
{
    const char *name = LLVMGetBasicBlockName(block);
    size_t len = strlen(name);
    while (len && name[len - 1] >= '0' && name[len - 1] <= '9') len--;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(known[i].name, name, len) && !known[i].name[len]) return &known[i];
    return NULL;
}

/* 0 or 1: the way that is true where exactly one way, or two that agree, say so. */
static uint32_t by_names(const struct named *const ways[2], bool of_side)
{
    uint32_t found = FP_NONE;
    for (uint32_t i = 0; i < 2; i++) {
        if (!ways[i] || ways[i]->of_side != of_side || !ways[i]->meaning) continue;
        uint32_t says = ways[i]->meaning == SAYS_TRUE ? i : 1 - i;
        if (found != FP_NONE && found != says) return FP_NONE;
        found = says;
    }
    return found;
}

static LLVMValueRef branch_to(LLVMUseRef use, LLVMBasicBlockRef block)
{
    LLVMValueRef user = LLVMGetUser(use);
    if (!LLVMIsABranchInst(user) || !LLVMIsConditional(user)) return NULL;
    return LLVMGetSuccessor(user, 0) == block || LLVMGetSuccessor(user, 1) == block ? user : NULL;
}

/* The left sides lead to the block that begins the right side, and elsewhere: does a way of
 * the branch go there too? */
static uint32_t by_left_side(LLVMValueRef branch, LLVMBasicBlockRef right, bool is_and)
{
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(right)); use;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef left = branch_to(use, right);
        if (!left) continue;
        LLVMBasicBlockRef other = LLVMGetSuccessor(left, LLVMGetSuccessor(left, 0) == right);
        for (uint32_t i = 0; i < 2; i++)
            if (LLVMGetSuccessor(branch, i) == other) return is_and ? 1 - i : i;
    }
    return FP_NONE;
}

static LLVMBasicBlockRef only_predecessor(LLVMBasicBlockRef block)
{
    LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
    if (!use || LLVMGetNextUse(use)) return NULL;
    LLVMValueRef user = LLVMGetUser(use);
    return LLVMIsATerminatorInst(user) ? LLVMGetInstructionParent(user) : NULL;
}

/* Is the branch on the right side of && or ||, and what does the left side say of it? */
static uint32_t by_partner(LLVMValueRef branch)
{
    LLVMBasicBlockRef at = LLVMGetInstructionParent(branch);
    for (int i = 0; at && i < LONGEST_CLIMB; i++, at = only_predecessor(at)) {
        const struct named *here = named(at);
        if (here && here->of_side) return by_left_side(branch, at, here->meaning == SAYS_TRUE);
        if (here && strncmp(here->name, "cond.", 5)) break; /* a statement of its own */
    }
    return FP_NONE;
}

/* ---- what the branch belongs to ---- */

/* Does a block begin where the value of `a && b` or `a || b` is known? */
static bool is_end_of_value(LLVMBasicBlockRef block)
{
    const struct named *name = named(block);
    return name && name->construct == FP_CONSTRUCT_VALUE;
}

/* The branch on a side that begins with a block; NULL where it has none: the last side of a value
 * that is not tested leads to the value's end. */
static LLVMValueRef branch_of_side(LLVMBasicBlockRef block)
{
    for (int i = 0; block && !is_end_of_value(block) && i < LONGEST_CLIMB; i++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        if (!end || (!LLVMIsABranchInst(end) && !LLVMIsAInvokeInst(end))) return NULL;
        if (LLVMIsABranchInst(end) && LLVMIsConditional(end)) return end;
        block = LLVMGetSuccessor(end, 0);
    }
    return NULL;
}

/* `while (a && b)` computes a value in land.end and tests that: the branch that does. */
static LLVMValueRef test_of_value(LLVMBasicBlockRef end)
{
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(end);
    if (!branch || !LLVMIsABranchInst(branch) || !LLVMIsConditional(branch)) return NULL;
    LLVMValueRef tested = LLVMGetCondition(branch);
    while (LLVMIsACastInst(tested) ||
           (LLVMIsAInstruction(tested) && LLVMGetInstructionOpcode(tested) == LLVMXor))
        tested = LLVMGetOperand(tested, 0);
    bool own = LLVMIsAPHINode(tested) && LLVMGetInstructionParent(tested) == end;
    return own ? branch : NULL;
}

/* What a branch leads to beside another side of its condition. */
static enum fp_construct construct_of(LLVMValueRef branch)
{
    enum fp_construct weak = FP_CONSTRUCT_NONE;
    for (unsigned i = 0; i < 2; i++) {
        const struct named *way = named(LLVMGetSuccessor(branch, i));
        if (!way || !way->construct) continue;
        if (way->meaning) return way->construct;
        weak = way->construct;
    }
    return weak;
}

/* The next branch of the same condition: on its next side, or on the value of the whole. */
static LLVMValueRef next_of_whole(LLVMValueRef branch)
{
    LLVMValueRef next = NULL;
    for (unsigned i = 0; i < 2; i++) {
        LLVMBasicBlockRef to = LLVMGetSuccessor(branch, i);
        LLVMValueRef test = is_end_of_value(to) ? test_of_value(to) : NULL;
        if (test) return test;
        const struct named *way = named(to);
        if (!way || !way->of_side || (next && construct_of(next) != FP_CONSTRUCT_CHOICE)) continue;
        next = branch_of_side(to);
    }
    return next;
}

/* Follows the sides of a condition to the last one. */
static void find_whole(LLVMValueRef branch, struct fp_named_branch *found)
{
    for (int i = 0; branch && i < LONGEST_CLIMB; i++, branch = next_of_whole(branch)) {
        enum fp_construct construct = construct_of(branch);
        /* `if (a && (p ? q : r))`: p is a condition of its own */
        if (construct == FP_CONSTRUCT_CHOICE && found->construct &&
            found->construct != FP_CONSTRUCT_CHOICE)
            return;
        found->whole = LLVMGetInstructionParent(branch);
        if (construct) found->construct = construct;
    }
}

struct fp_named_branch fp_named_branch(LLVMValueRef branch)
{
    const struct named *ways[2] = {named(LLVMGetSuccessor(branch, 0)),
                                   named(LLVMGetSuccessor(branch, 1))};
    uint32_t side = by_names(ways, true), partner = by_partner(branch);
    struct fp_named_branch found = {.true_way = FP_NONE,
                                    .true_way_of_whole = by_names(ways, false)};
    if (side == FP_NONE)
        found.true_way = partner != FP_NONE ? partner : found.true_way_of_whole;
    else if (partner == FP_NONE || partner == side)
        found.true_way = side;
    find_whole(branch, &found);
    if (side == FP_NONE && partner == FP_NONE) found.whole = NULL;
    return found;
}
