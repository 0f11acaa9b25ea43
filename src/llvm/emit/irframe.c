/* Marks and the slot: see irframe.h. */
#include "llvm/emit/irframe.h"

#include "footpath/abi.h"
#include "graph/loops.h"
#include "llvm/shim.h"

#include <llvm/Config/llvm-config.h>
#include <stdio.h>
#include <string.h>

bool fp_ir_needs_slot(const struct fp_function *f)
{
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
        if (f->paths.cfg->flags[b] & FP_BLOCK_LEAVES && f->layout.has_register[b]) return true;
    return false;
}

/* ---- marks ---- */

static LLVMAttributeRef enum_attribute(LLVMContextRef context, const char *name, uint64_t value)
{
    return LLVMCreateEnumAttribute(context, LLVMGetEnumAttributeKindForName(name, strlen(name)),
                                   value);
}

/* Assembly at the builder's place. Convergent keeps it from being duplicated. */
static void emit_assembly(struct fp_editor *ed, const char *text, LLVMValueRef memory)
{
    LLVMTypeRef pointer = memory ? LLVMTypeOf(memory) : NULL;
    LLVMTypeRef type = LLVMFunctionType(ed->void_, &pointer, memory != NULL, 0);
    const char *constraints = memory ? "*m" : "";
    LLVMValueRef code = LLVMGetInlineAsm(type, (char *)text, strlen(text), (char *)constraints,
                                         strlen(constraints), 1, 0, LLVMInlineAsmDialectATT, 0);
    LLVMValueRef call = LLVMBuildCall2(ed->builder, type, code, &memory, memory != NULL, "");
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             enum_attribute(ed->context, "convergent", 0));
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             enum_attribute(ed->context, "nounwind", 0));
    if (!memory) return;
    unsigned kind = LLVMGetEnumAttributeKindForName("elementtype", strlen("elementtype"));
    LLVMAddCallSiteAttribute(call, 1, LLVMCreateTypeAttribute(ed->context, kind, ed->i64));
}

/* Linked to the section of the code it stands in, and in its group: goes where that
 * goes. */
static void emit_mark(struct fp_editor *ed, uint32_t block, bool end)
{
    char text[256];
    snprintf(text, sizeof text,
             ".Lfp${:uid}:\n.pushsection " FP_MARK_SECTION ",\"ao?\",@progbits,.Lfp${:uid}\n"
             ".long .Lfp${:uid} - .\n.long %u\n.quad 0x%016llx\n.popsection",
             block | (end                                     ? FP_MARK_END
                      : ed->ir->f->layout.has_register[block] ? 0
                                                              : FP_MARK_NO_REGISTER),
             (unsigned long long)ed->ir->f->id);
    emit_assembly(ed, text, NULL);
}

static void emit_slot_mark(struct fp_editor *ed)
{
    char text[256];
    snprintf(text, sizeof text,
             ".Lfp${:uid}:\n.pushsection " FP_SLOT_SECTION ",\"ao?\",@progbits,.Lfp${:uid}\n"
             "772:\n.long .Lfp${:uid} - .\n.long 0\n.quad 0x%016llx\n.ascii \"$0\"\n"
             ".zero 32 - (. - 772b)\n.popsection",
             (unsigned long long)ed->ir->f->id);
    emit_assembly(ed, text, ed->slot);
}

static void mark_end_before(struct fp_editor *ed, uint32_t block, LLVMValueRef inst)
{
    LLVMPositionBuilderBefore(ed->builder, inst);
    emit_mark(ed, block, true);
}

void fp_ir_emit_end_mark(struct fp_editor *ed, LLVMValueRef before)
{
    mark_end_before(ed, 0, before);
}

/* The mark behind a block's code keeps the code generator from sharing its last
 * instructions with another block, and what it puts behind (the call that resumes an
 * exception) from being taken for part of this one. None can stand behind a call that
 * is the terminator or in tail position. */
static LLVMValueRef end_mark_position(const struct fp_editor *ed, uint32_t block)
{
    const struct fp_ir_block *b = &ed->ir->blocks[block];
    if (!b->has_terminator) return b->end;
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(b->bb);
    LLVMOpcode opcode = LLVMGetInstructionOpcode(terminator);
    if (opcode == LLVMInvoke || opcode == LLVMCallBr) return NULL;
    if (b->end != terminator && opcode == LLVMRet) return NULL;
    return terminator;
}

/* Calls for which the code generator has code of its own. */
static bool may_be_expanded(LLVMValueRef call)
{
    static const char *const never[] = {
        "llvm.dbg.",    "llvm.lifetime.",           "llvm.assume", "llvm.memcpy.", "llvm.memmove.",
        "llvm.memset.", "llvm.experimental.noalias"};
    size_t len;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (!callee || !LLVMIsAFunction(callee)) return false;
    const char *name = LLVMGetValueName2(callee, &len);
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        if (!strncmp(name, never[i], strlen(never[i]))) return false;
    return LLVMGetIntrinsicID(callee) || !strcmp(name, "memcmp") || !strcmp(name, "bcmp");
}

/* May the code generator make branches of the instruction? What follows is then code of
 * another block, which can go anywhere. */
static bool may_become_branches(LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMSelect:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
    case LLVMFPToUI:
    case LLVMFPToSI:
    case LLVMUIToFP:
    case LLVMSIToFP:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
    case LLVMAlloca:
    case LLVMVAArg: return true;
    case LLVMCall: return may_be_expanded(inst);
    default: return false;
    }
}

static bool may_be_left_at(LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    return opcode == LLVMCall || opcode == LLVMInvoke || opcode == LLVMCallBr ||
           opcode == LLVMLoad || opcode == LLVMStore || opcode == LLVMResume ||
           opcode == LLVMUDiv || opcode == LLVMSDiv || opcode == LLVMURem || opcode == LLVMSRem ||
           opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg;
}

/* Says again which block it is, where the code generator may have moved it away from the
 * mark at its head. */
static void mark_again(struct fp_editor *ed, uint32_t block)
{
    struct fp_ir_block *b = &ed->ir->blocks[block];
    LLVMValueRef stop = b->has_terminator ? NULL : b->end;
    bool moved = false;
    if (ed->one_instruction) return; /* without optimisation everything stays in order */
    for (LLVMValueRef inst = b->begin; inst != stop; inst = LLVMGetNextInstruction(inst)) {
        if (moved && may_be_left_at(inst)) {
            LLVMPositionBuilderBefore(ed->builder, inst);
            emit_mark(ed, block, false);
            moved = false;
        }
        moved |= may_become_branches(inst);
    }
}

/* A plan that counts at the end of a path (of cycles) does so in the block that returns,
 * and in front of a call in tail position or one that does not return. Whoever is left in
 * that call was counted: the block ends in front of the count. */
static bool is_counted_before_call(const struct fp_editor *ed, uint32_t block)
{
    const struct fp_ir_block *b = &ed->ir->blocks[block];
    const struct fp_function *f = ed->ir->f;
    return b->has_terminator && b->end != LLVMGetBasicBlockTerminator(b->bb) &&
           !f->layout.counted[block];
}

/* The mark at the head comes first: in a block without instructions of its own, all stand
 * at one place, in the order in which they are put there. */
static void mark_block(struct fp_editor *ed, uint32_t block)
{
    struct fp_ir_block *b = &ed->ir->blocks[block];
    mark_again(ed, block);
    LLVMPositionBuilderBefore(ed->builder, b->begin);
    LLVMValueRef before = LLVMGetPreviousInstruction(b->begin);
    emit_mark(ed, block, false);
    /* what is put at the head from now on goes in front of the mark */
    b->begin = before ? LLVMGetNextInstruction(before) : LLVMGetFirstInstruction(b->bb);
    if (is_counted_before_call(ed, block)) mark_end_before(ed, block, b->end);
    LLVMValueRef end = end_mark_position(ed, block);
    if (end) mark_end_before(ed, block, end);
}

/* Where the slot's place is noted: in a block that needs the stack anyway, so that
 * a quick way through the function is not burdened with setting it up. */
static uint32_t block_for_slot_mark(const struct fp_function *f)
{
    uint32_t found = FP_NONE;
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) {
        if (!(f->paths.cfg->flags[b] & FP_BLOCK_LEAVES) || !f->layout.has_register[b]) continue;
        if (f->paths.cfg->flags[b] & FP_BLOCK_CALLS) return b;
        if (found == FP_NONE) found = b;
    }
    return found;
}

/* ---- exceptions ---- */

static const char *wrapper_of(const char *personality)
{
    if (!personality) return "__footpath_personality";
    if (!strcmp(personality, "__gxx_personality_v0")) return "__footpath_personality_gxx";
    if (!strcmp(personality, "__gcc_personality_v0")) return "__footpath_personality_gcc";
    return NULL;
}

/* Exceptions and thread ends pass frames through their personality function: ours
 * counts the path of a frame that is passed, and otherwise does what the one
 * before did. */
static void set_personality(struct fp_editor *ed)
{
    LLVMValueRef function = ed->ir->function;
    const char *name = NULL;
    if (LLVMHasPersonalityFn(function)) {
        size_t len;
        LLVMValueRef old = LLVMGetPersonalityFn(function);
        while (LLVMIsAConstantExpr(old)) old = LLVMGetOperand(old, 0); /* a cast */
        name = LLVMGetValueName2(old, &len);
    }
    const char *wrapper = wrapper_of(name);
    if (!wrapper) return;
    LLVMValueRef fn = LLVMGetNamedFunction(ed->module, wrapper);
    if (!fn) {
        fn = LLVMAddFunction(ed->module, wrapper, LLVMFunctionType(ed->i32, NULL, 0, 1));
        LLVMSetVisibility(fn, LLVMHiddenVisibility);
    }
    LLVMSetPersonalityFn(function, fn);
    /* tables for all instructions, also where the program asked for none */
    LLVMAddAttributeAtIndex(
        function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        enum_attribute(ed->context, "uwtable", LLVM_VERSION_MAJOR > 14 ? 2 : 0));
}

void fp_ir_emit_marks(struct fp_editor *ed, bool slot)
{
    const struct fp_function *f = ed->ir->f;
    if (slot) {
        fp_edit_at_head(ed, 0);
        LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(ed->ir->function);
        LLVMPositionBuilderBefore(ed->builder, LLVMGetFirstInstruction(entry));
        ed->slot = LLVMBuildAlloca(ed->builder, ed->i64, "");
        LLVMSetAlignment(ed->slot, 8);
    }
    /* code that is still to be copied into others has no frame of its own */
    if (fp_ir_has_attribute(ed->ir->function, "alwaysinline")) return;
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
        if (f->paths.cfg->flags[b] & FP_BLOCK_LEAVES) mark_block(ed, b);
    if (slot) {
        LLVMPositionBuilderBefore(ed->builder, ed->ir->blocks[block_for_slot_mark(f)].begin);
        emit_slot_mark(ed);
    }
    set_personality(ed);
    /* a frame of its own, so that a program counter means one function: the linker
     * may optimise too */
    LLVMAddAttributeAtIndex(ed->ir->function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            enum_attribute(ed->context, "noinline", 0));
}

/* ---- the slot ---- */

static void store_slot(struct fp_editor *ed, int64_t value)
{
    LLVMValueRef store =
        LLVMBuildStore(ed->builder, LLVMConstInt(ed->i64, (uint64_t)value, 1), ed->slot);
    LLVMSetVolatile(store, 1);
    LLVMSetAlignment(store, 8);
}

static void add_to_slot(struct fp_editor *ed, int64_t value)
{
    LLVMValueRef old = LLVMBuildLoad2(ed->builder, ed->i64, ed->slot, "");
    LLVMSetVolatile(old, 1);
    LLVMSetAlignment(old, 8);
    LLVMValueRef sum =
        LLVMBuildAdd(ed->builder, old, LLVMConstInt(ed->i64, (uint64_t)value, 1), "");
    LLVMValueRef store = LLVMBuildStore(ed->builder, sum, ed->slot);
    LLVMSetVolatile(store, 1);
    LLVMSetAlignment(store, 8);
}

/* The register is set on an edge whose source did not need it: what the slot holds
 * there does not matter, so it may be set before the branch, once. */
static void set_before_branch(struct fp_editor *ed, uint32_t e, int64_t value, bool *taken)
{
    uint32_t src = ed->ir->f->paths.cfg->edges[e].src;
    bool unwind = ed->ir->f->paths.cfg->edges[e].kind == FP_EDGE_UNWIND;
    if (taken[src] && !unwind) {
        fp_edit_on_edge(ed, e, false);
    } else {
        fp_edit_at_end(ed, src);
        taken[src] = true;
    }
    store_slot(ed, value);
}

static void slot_on_kept(struct fp_editor *ed, uint32_t e, struct fp_op op,
                         const struct fp_loops *loops, bool *taken)
{
    const struct fp_cfg *cfg = ed->ir->f->paths.cfg;
    if (op.kind == FP_OP_ADD) {
        fp_edit_on_edge(ed, e, false);
        add_to_slot(ed, op.value);
    }
    if (op.kind != FP_OP_SET) return;
    bool unwind = cfg->edges[e].kind == FP_EDGE_UNWIND;
    bool from_hub = cfg->flags[cfg->edges[e].src] & FP_BLOCK_HUB;
    bool needs_block = fp_edit_is_critical(ed, e) && !ed->edge_block[e] && !from_hub;
    if (unwind || (needs_block && !fp_loops_seldom_left_by(loops, cfg, ed->ir->weights, e))) {
        set_before_branch(ed, e, op.value, taken);
    } else {
        fp_edit_on_edge(ed, e, false);
        store_slot(ed, op.value);
    }
}

void fp_ir_emit_slot(struct fp_editor *ed, const struct fp_plan *plan)
{
    const struct fp_function *f = ed->ir->f;
    const struct fp_cfg *cfg = f->paths.cfg;
    const struct fp_dag *dag = f->paths.dag;
    bool *taken = FP_NEW_ARRAY(ed->ir->arena, bool, cfg->nblocks);
    struct fp_loops loops;
    fp_loops_find(ed->ir->arena, cfg, &loops);
    if (plan->on[dag->entry_edge].kind == FP_OP_SET) {
        fp_edit_at_head(ed, 0);
        store_slot(ed, plan->on[dag->entry_edge].value);
    }
    /* unwind edges first: where they share a source with others, only they have no
     * place of their own */
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t e = 0; e < cfg->nedges; e++) {
            enum fp_fate fate = f->paths.truncation->order.fate[e];
            if ((cfg->edges[e].kind == FP_EDGE_UNWIND) != (pass == 0)) continue;
            if (fate == FP_FATE_KEPT) slot_on_kept(ed, e, plan->on[dag->of_edge[e]], &loops, taken);
            if (fate != FP_FATE_TRUNCATED) continue;
            struct fp_op op = plan->on[dag->start_of[cfg->edges[e].dst]];
            if (op.kind != FP_OP_SET || cfg->edges[e].kind == FP_EDGE_INDIRECT) continue;
            fp_edit_on_edge(ed, e, true);
            store_slot(ed, op.value);
        }
}
