/* Contents of blocks: see ircontent.h.
 *
 * The kind of a block is its instructions: operation and type. Its content is these with their
 * constants and with the names of the functions and variables they use. Names and numbers of
 * values and of blocks say nothing, since an edit elsewhere changes them. Offsets into structures
 * are constants: with another structure the kind alone is as before. */
#include "llvm/read/ircontent.h"

#include "llvm/read/ircalls.h"

#include <string.h>

static uint64_t mixed(uint64_t hash, uint64_t more)
{
    return fp_hash64(hash ^ fp_hash64(more + 0x9e3779b97f4a7c15u));
}

static uint32_t folded(uint64_t hash)
{
    uint32_t low = (uint32_t)(hash ^ hash >> 32);
    return low ? low : 1;
}

static uint64_t kind_of(LLVMValueRef inst)
{
    LLVMTypeRef type = LLVMTypeOf(inst);
    uint64_t kind =
        mixed((uint64_t)LLVMGetInstructionOpcode(inst), (uint64_t)LLVMGetTypeKind(type));
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind) kind = mixed(kind, LLVMGetIntTypeWidth(type));
    if (LLVMIsAICmpInst(inst)) kind = mixed(kind, (uint64_t)LLVMGetICmpPredicate(inst));
    if (LLVMIsAFCmpInst(inst)) kind = mixed(kind, (uint64_t)LLVMGetFCmpPredicate(inst));
    return kind;
}

/* Names of private variables (strings) are numbers. */
static uint64_t operand_of(LLVMValueRef operand)
{
    enum { OTHER, CONSTANT, GLOBAL };
    size_t len;
    if (LLVMIsAConstantInt(operand)) {
        bool fits = LLVMGetIntTypeWidth(LLVMTypeOf(operand)) <= 64;
        return mixed(CONSTANT, fits ? LLVMConstIntGetZExtValue(operand) : 0);
    }
    if (!LLVMIsAGlobalValue(operand)) return OTHER;
    const char *name = LLVMGetValueName2(operand, &len);
    bool named = LLVMGetLinkage(operand) != LLVMPrivateLinkage;
    return mixed(GLOBAL, named ? fp_hash_bytes(name, len, 0) : 0);
}

static uint64_t operands_of(LLVMValueRef inst)
{
    uint64_t hash = 0;
    int n = LLVMGetNumOperands(inst);
    /* a switch lists all its cases, a phi all its predecessors */
    if (LLVMIsASwitchInst(inst) || LLVMIsAPHINode(inst)) n = 0;
    for (int i = 0; i < n; i++) hash = mixed(hash, operand_of(LLVMGetOperand(inst, (unsigned)i)));
    return hash;
}

/* Intrinsics that say nothing of what runs, and those of debug information. */
static bool says_nothing(LLVMValueRef inst)
{
    LLVMValueRef callee = fp_ir_is_call(inst) ? LLVMGetCalledValue(inst) : NULL;
    size_t len;
    if (!callee || !LLVMIsAFunction(callee) || !LLVMGetIntrinsicID(callee)) return false;
    const char *name = LLVMGetValueName2(callee, &len);
    return strncmp(name, "llvm.mem", 8) && LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMVoidTypeKind;
}

static void mark_block(const struct fp_ir_block *block, struct fp_block_info *info)
{
    uint64_t kind = 0, content = 0;
    for (LLVMValueRef inst = block->begin; inst; inst = LLVMGetNextInstruction(inst)) {
        if (!says_nothing(inst)) {
            kind = mixed(kind, kind_of(inst));
            content = mixed(content, operands_of(inst));
        }
        if (inst == block->call) break;
    }
    info->kind = folded(kind);
    info->content = folded(mixed(content, kind));
}

void fp_ir_mark_content(struct fp_ir *ir)
{
    for (uint32_t b = 0; b < ir->f->paths.cfg->nblocks; b++)
        if (ir->blocks[b].begin) mark_block(&ir->blocks[b], &ir->f->source.blocks[b]);
}
