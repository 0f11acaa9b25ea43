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
};

static const struct named known[] = {
    {"land.lhs.true", SAYS_TRUE, true},      {"land.rhs", SAYS_TRUE, true},
    {"lor.lhs.false", SAYS_FALSE, true},     {"lor.rhs", SAYS_FALSE, true},
    {"if.then", SAYS_TRUE, false},           {"if.else", SAYS_FALSE, false},
    {"cond.true", SAYS_TRUE, false},         {"cond.false", SAYS_FALSE, false},
    {"for.body", SAYS_TRUE, false},          {"for.end", SAYS_FALSE, false},
    {"for.cond.cleanup", SAYS_FALSE, false}, {"while.body", SAYS_TRUE, false},
    {"while.end", SAYS_FALSE, false},        {"while.exit", SAYS_FALSE, false},
    {"do.body", SAYS_TRUE, false},           {"do.end", SAYS_FALSE, false},
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
        if (!ways[i] || ways[i]->of_side != of_side) continue;
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

uint32_t fp_true_way(LLVMValueRef branch)
{
    const struct named *ways[2] = {named(LLVMGetSuccessor(branch, 0)),
                                   named(LLVMGetSuccessor(branch, 1))};
    uint32_t side = by_names(ways, true);
    uint32_t partner = by_partner(branch);
    if (side != FP_NONE) return partner == FP_NONE || partner == side ? side : FP_NONE;
    return partner != FP_NONE ? partner : by_names(ways, false);
}
