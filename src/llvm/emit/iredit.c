/* Edit primitives: see iredit.h. */
#include "llvm/emit/iredit.h"

#include "footpath/abi.h"
#include "llvm/shim.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

enum { SPACE_GS = 256 }; /* x86: relative to %gs */

void fp_editor_init(struct fp_editor *ed, struct fp_ir *ir, enum fp_threads threads,
                    bool one_instruction)
{
    LLVMModuleRef module = LLVMGetGlobalParent(ir->function);
    LLVMContextRef context = LLVMGetModuleContext(module);
    *ed = (struct fp_editor){
        .ir = ir,
        .module = module,
        .context = context,
        .builder = LLVMCreateBuilderInContext(context),
        .i64 = LLVMInt64TypeInContext(context),
        .i32 = LLVMInt32TypeInContext(context),
        .void_ = LLVMVoidTypeInContext(context),
        .threads = threads,
        .one_instruction = one_instruction,
        .edge_block = FP_NEW_ARRAY(ir->arena, LLVMBasicBlockRef, ir->f->paths.cfg->nedges),
        .has_block = FP_NEW_ARRAY(ir->arena, bool, ir->f->paths.cfg->nedges),
        .pending = FP_NONE,
    };
    LLVMMetadataRef subprogram = LLVMGetSubprogram(ir->function);
    if (subprogram)
        LLVMSetCurrentDebugLocation2(
            ed->builder, LLVMDIBuilderCreateDebugLocation(context, 0, 0, subprogram, NULL));
}

/* ---- counters are no memory of the program's ---- */

/* The root of the types by which LLVM tells accesses apart (TBAA), or NULL. A tag of an access is
 * (base, type, offset), a type (name, parent, offset), the root a name alone. */
static LLVMMetadataRef root_of_types(LLVMValueRef tag)
{
    enum { PARENT = 1, MOST = 8, DEEPEST = 64 };
    LLVMValueRef node = tag, parts[MOST];
    for (int i = 0; i < DEEPEST && node && LLVMIsAMDNode(node); i++) {
        unsigned count = LLVMGetMDNodeNumOperands(node);
        if (count == 1) return LLVMValueAsMetadata(node);
        if (count > MOST) return NULL;
        LLVMGetMDNodeOperands(node, parts);
        if (i && !LLVMIsAMDString(parts[0])) return NULL; /* types of another form */
        node = parts[PARENT];
    }
    return NULL;
}

static LLVMValueRef some_tag(const struct fp_editor *ed, unsigned kind)
{
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(ed->ir->function); bb;
         bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef tag = LLVMHasMetadata(i) ? LLVMGetMetadata(i, kind) : NULL;
            if (tag) return tag;
        }
    return NULL;
}

/* A type right below the root: it is nobody's parent and nobody's child, not even that of char. */
void fp_edit_tell_apart(struct fp_editor *ed)
{
    ed->tbaa = LLVMGetMDKindIDInContext(ed->context, "tbaa", strlen("tbaa"));
    LLVMValueRef tag = some_tag(ed, ed->tbaa);
    LLVMMetadataRef root = tag ? root_of_types(tag) : NULL;
    if (!root) return;
    static const char name[] = "footpath counter";
    LLVMMetadataRef zero = LLVMValueAsMetadata(LLVMConstInt(ed->i64, 0, 0));
    LLVMMetadataRef type[] = {LLVMMDStringInContext2(ed->context, name, strlen(name)), root, zero};
    LLVMMetadataRef node = LLVMMDNodeInContext2(ed->context, type, 3);
    LLVMMetadataRef access[] = {node, node, zero};
    ed->counter_tag =
        LLVMMetadataAsValue(ed->context, LLVMMDNodeInContext2(ed->context, access, 3));
}

void fp_editor_finish(struct fp_editor *ed)
{
    LLVMDisposeBuilder(ed->builder);
}

/* The builder takes over the position's debug location; ours has line 0. */
void fp_edit_before(struct fp_editor *ed, LLVMValueRef inst)
{
    LLVMMetadataRef location = LLVMGetCurrentDebugLocation2(ed->builder);
    LLVMPositionBuilderBefore(ed->builder, inst);
    LLVMSetCurrentDebugLocation2(ed->builder, location);
}

/* In a block without instructions of its own, head and end are one place. What
 * was put at the end moves the place of the head in front of it. */
static void settle(struct fp_editor *ed)
{
    if (ed->pending == FP_NONE) return;
    struct fp_ir_block *block = &ed->ir->blocks[ed->pending];
    ed->pending = FP_NONE;
    if (block->begin != block->end) return;
    block->begin = ed->before_pending ? LLVMGetNextInstruction(ed->before_pending)
                                      : LLVMGetFirstInstruction(block->bb);
}

void fp_edit_at_head(struct fp_editor *ed, uint32_t block)
{
    settle(ed);
    ed->at_end = false;
    fp_edit_before(ed, ed->ir->blocks[block].begin);
}

void fp_edit_at_end(struct fp_editor *ed, uint32_t block)
{
    settle(ed);
    LLVMValueRef end = ed->ir->blocks[block].end;
    ed->pending = block;
    ed->before_pending = LLVMGetPreviousInstruction(end);
    ed->at_end = true;
    fp_edit_before(ed, end);
}

static LLVMBasicBlockRef block_before(struct fp_editor *ed, LLVMBasicBlockRef target)
{
    LLVMBasicBlockRef block = LLVMInsertBasicBlockInContext(ed->context, target, "");
    LLVMPositionBuilderAtEnd(ed->builder, block);
    LLVMBuildBr(ed->builder, target);
    return block;
}

static LLVMBasicBlockRef split_edge(struct fp_editor *ed, uint32_t edge)
{
    LLVMBasicBlockRef from = ed->ir->blocks[ed->ir->f->paths.cfg->edges[edge].src].bb;
    LLVMBasicBlockRef target = fp_ir_target(ed->ir, edge);
    LLVMBasicBlockRef block = block_before(ed, target);
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(from);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++)
        if (LLVMGetSuccessor(terminator, i) == target) LLVMSetSuccessor(terminator, i, block);
    fp_shim_redirect_phis(target, from, block);
    return block;
}

static LLVMBasicBlockRef arrival_block(struct fp_editor *ed, uint32_t edge)
{
    LLVMBasicBlockRef target = fp_ir_target(ed->ir, edge);
    LLVMBasicBlockRef block = fp_shim_arrival_block(target);
    LLVMPositionBuilderAtEnd(ed->builder, block);
    LLVMBuildBr(ed->builder, target);
    return block;
}

static bool at_source_end(const struct fp_cfg *cfg, const struct fp_edge *edge)
{
    if (edge->kind == FP_EDGE_INDIRECT || edge->kind == FP_EDGE_TWICE) return true;
    if (cfg->flags[edge->src] & (FP_BLOCK_PAD | FP_BLOCK_HUB)) return false;
    return fp_cfg_out_degree(cfg, edge->src) == 1;
}

bool fp_edit_is_critical(const struct fp_editor *ed, uint32_t e)
{
    const struct fp_cfg *cfg = ed->ir->f->paths.cfg;
    return !at_source_end(cfg, &cfg->edges[e]) && fp_cfg_in_degree(cfg, cfg->edges[e].dst) > 1;
}

void fp_edit_on_edge(struct fp_editor *ed, uint32_t e, bool behind)
{
    const struct fp_cfg *cfg = ed->ir->f->paths.cfg;
    const struct fp_edge *edge = &cfg->edges[e];
    if (edge->kind == FP_EDGE_TWICE && behind) {
        fp_edit_at_head(ed, edge->dst);
    } else if (at_source_end(cfg, edge)) {
        fp_edit_at_end(ed, edge->src);
    } else if (fp_cfg_in_degree(cfg, edge->dst) == 1) {
        fp_edit_at_head(ed, edge->dst);
    } else {
        settle(ed);
        if (!ed->edge_block[e]) {
            bool hub = cfg->flags[edge->src] & FP_BLOCK_HUB;
            ed->edge_block[e] = hub ? arrival_block(ed, e) : split_edge(ed, e);
            ed->has_block[e] = true;
        }
        ed->at_end = true;
        fp_edit_before(ed, LLVMGetBasicBlockTerminator(ed->edge_block[e]));
    }
}

unsigned fp_edit_space(const struct fp_editor *ed)
{
    return ed->threads == FP_THREADS_LOCAL ? SPACE_GS : 0;
}

LLVMTypeRef fp_edit_pointer_type(const struct fp_editor *ed, LLVMTypeRef to)
{
    return LLVMPointerType(to, fp_edit_space(ed));
}

static LLVMValueRef defined_elsewhere(struct fp_editor *ed, const char *prefix, uint64_t id,
                                      LLVMTypeRef type, unsigned alignment)
{
    char name[64];
    snprintf(name, sizeof name, "%s%016llx", prefix, (unsigned long long)id);
    LLVMValueRef variable = LLVMGetNamedGlobal(ed->module, name);
    if (variable) return variable;
    variable = LLVMAddGlobalInAddressSpace(ed->module, type, name, fp_edit_space(ed));
    LLVMSetVisibility(variable, LLVMHiddenVisibility);
    LLVMSetAlignment(variable, alignment);
    return variable;
}

LLVMValueRef fp_edit_counters(struct fp_editor *ed, const char *prefix, uint64_t id, uint64_t slots)
{
    return defined_elsewhere(ed, prefix, id, LLVMArrayType(ed->i64, (unsigned)slots), 8);
}

LLVMValueRef fp_edit_gate(struct fp_editor *ed, uint64_t id)
{
    return defined_elsewhere(ed, FP_GATE_PREFIX, id, LLVMInt16TypeInContext(ed->context), 2);
}

LLVMValueRef fp_edit_word(struct fp_editor *ed, LLVMValueRef counters, uint64_t slots,
                          int64_t index)
{
    LLVMTypeRef type = LLVMArrayType(ed->i64, (unsigned)slots);
    LLVMValueRef indexes[] = {LLVMConstInt(ed->i64, 0, 0),
                              LLVMConstInt(ed->i64, (uint64_t)index, 1)};
    return LLVMConstGEP2(type, counters, indexes, 2);
}

/* addq $amount, pointer: by inline assembly where the code generator would make
 * three instructions of it, between which a signal handler could count too. */
static void add_in_one(struct fp_editor *ed, LLVMValueRef pointer, LLVMValueRef amount)
{
    static const char constraints[] = "=*m,er,*m,~{flags}";
    LLVMTypeRef types[] = {LLVMTypeOf(pointer), ed->i64, LLVMTypeOf(pointer)};
    LLVMTypeRef type = LLVMFunctionType(ed->void_, types, 3, 0);
    char text[64];
    const char *prefix = LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) == SPACE_GS ? "%gs:" : "";
    snprintf(text, sizeof text, "addq $1, %s$0", prefix);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), (char *)constraints,
                                         strlen(constraints), 1, 0, LLVMInlineAsmDialectATT, 0);
    LLVMValueRef args[] = {pointer, amount, pointer};
    LLVMValueRef call = LLVMBuildCall2(ed->builder, type, code, args, 3, "");
    unsigned kind = LLVMGetEnumAttributeKindForName("elementtype", strlen("elementtype"));
    LLVMAttributeRef attribute = LLVMCreateTypeAttribute(ed->context, kind, ed->i64);
    LLVMAddCallSiteAttribute(call, 1, attribute);
    LLVMAddCallSiteAttribute(call, 3, attribute);
}

/* Weak and visible, so that all modules of a process share one. */
LLVMValueRef fp_edit_thread_word(struct fp_editor *ed, const char *name)
{
    LLVMValueRef word = LLVMGetNamedGlobal(ed->module, name);
    if (word) return word;
    word = LLVMAddGlobal(ed->module, ed->i64, name);
    LLVMSetInitializer(word, LLVMConstInt(ed->i64, 0, 0));
    LLVMSetLinkage(word, LLVMWeakAnyLinkage);
    LLVMSetThreadLocalMode(word, LLVMInitialExecTLSModel); /* no call, no memory made meanwhile */
    return word;
}

LLVMValueRef fp_edit_join_unwinds(struct fp_editor *ed, uint32_t pad, const LLVMValueRef *values)
{
    const struct fp_cfg *cfg = ed->ir->f->paths.cfg;
    uint32_t first = cfg->first_in[pad], degree = fp_cfg_in_degree(cfg, pad);
    LLVMValueRef some = NULL;
    for (uint32_t k = 0; k < degree && !some; k++) some = values[cfg->in_edges[first + k]];
    if (!some || degree == 1) return some;
    fp_shim_position_at_head(ed->builder, ed->ir->blocks[pad].bb);
    LLVMValueRef joined = LLVMBuildPhi(ed->builder, LLVMTypeOf(some), "");
    for (uint32_t k = 0; k < degree; k++) {
        uint32_t e = cfg->in_edges[first + k];
        LLVMValueRef value = values[e] ? values[e] : LLVMGetUndef(LLVMTypeOf(joined));
        LLVMAddIncoming(joined, &value, &ed->ir->blocks[cfg->edges[e].src].bb, 1);
    }
    return joined;
}

void fp_edit_add_incoming(struct fp_editor *ed, LLVMValueRef phi, LLVMValueRef value, uint32_t e)
{
    if (ed->edge_block[e]) {
        LLVMAddIncoming(phi, &value, &ed->edge_block[e], 1);
        return;
    }
    LLVMBasicBlockRef from = ed->ir->blocks[ed->ir->f->paths.cfg->edges[e].src].bb;
    LLVMBasicBlockRef to = fp_ir_target(ed->ir, e);
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(from);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++)
        if (LLVMGetSuccessor(terminator, i) == to) LLVMAddIncoming(phi, &value, &from, 1);
}

/* A loop that had its counter in a register would lose what a signal handler counts meanwhile, and
 * would have one register less. */
static void keep_in_memory(struct fp_editor *ed, LLVMValueRef load, LLVMValueRef store)
{
    LLVMSetVolatile(load, 1);
    LLVMSetVolatile(store, 1);
    if (!ed->counter_tag) return;
    LLVMSetMetadata(load, ed->tbaa, ed->counter_tag);
    LLVMSetMetadata(store, ed->tbaa, ed->counter_tag);
}

/* A thread goes on in the copy of one that has ended: ThreadSanitizer would take it for a race. */
void fp_edit_spare_checks(struct fp_editor *ed, LLVMValueRef access)
{
    unsigned kind = LLVMGetMDKindIDInContext(ed->context, "nosanitize", strlen("nosanitize"));
    LLVMMetadataRef nothing = LLVMMDNodeInContext2(ed->context, NULL, 0);
    LLVMSetMetadata(access, kind, LLVMMetadataAsValue(ed->context, nothing));
}

void fp_edit_add_to(struct fp_editor *ed, LLVMValueRef pointer, LLVMValueRef amount)
{
    if (!amount) amount = LLVMConstInt(ed->i64, 1, 0);
    if (ed->threads == FP_THREADS_ATOMIC) {
        LLVMBuildAtomicRMW(ed->builder, LLVMAtomicRMWBinOpAdd, pointer, amount,
                           LLVMAtomicOrderingMonotonic, 0);
        return;
    }
    if (ed->one_instruction) {
        add_in_one(ed, pointer, amount);
        return;
    }
    LLVMValueRef old = LLVMBuildLoad2(ed->builder, ed->i64, pointer, "");
    LLVMSetAlignment(old, 8);
    LLVMValueRef sum = LLVMBuildAdd(ed->builder, old, amount, "");
    LLVMValueRef store = LLVMBuildStore(ed->builder, sum, pointer);
    LLVMSetAlignment(store, 8);
    fp_edit_spare_checks(ed, old);
    fp_edit_spare_checks(ed, store);
    if (ed->optimized_later) keep_in_memory(ed, old, store);
}

/* A call that counts leaves the program's memory alone, and passes behind ours may know. What it
 * does change is read by volatile loads: the words of a table, of a gate and of counters. */
static void spare_memory(struct fp_editor *ed, LLVMValueRef call)
{
    enum { ARGUMENTS_AND_UNREACHABLE = 15 }; /* as llvm/Support/ModRef.h numbers them */
    static const char new_name[] = "memory", old_name[] = "inaccessiblemem_or_argmemonly";
    unsigned kind = LLVMGetEnumAttributeKindForName(new_name, strlen(new_name));
    uint64_t value = kind ? ARGUMENTS_AND_UNREACHABLE : 0;
    if (!kind) kind = LLVMGetEnumAttributeKindForName(old_name, strlen(old_name));
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(ed->context, kind, value));
    kind = LLVMGetEnumAttributeKindForName("nounwind", strlen("nounwind"));
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(ed->context, kind, 0));
}

static LLVMValueRef call_preserving(struct fp_editor *ed, const char *name, LLVMValueRef *args,
                                    unsigned count)
{
    LLVMTypeRef types[] = {LLVMTypeOf(args[0]), ed->i64, ed->i64};
    LLVMTypeRef type = LLVMFunctionType(ed->void_, types, count, 0);
    LLVMValueRef function = LLVMGetNamedFunction(ed->module, name);
    if (!function) {
        function = LLVMAddFunction(ed->module, name, type);
        LLVMSetVisibility(function, LLVMHiddenVisibility);
    }
    enum { PRESERVE_ALL = 15 }; /* the runtime's entry saves every register it uses */
    LLVMSetFunctionCallConv(function, PRESERVE_ALL);
    LLVMValueRef call = LLVMBuildCall2(ed->builder, type, function, args, count, "");
    LLVMSetInstructionCallConv(call, PRESERVE_ALL);
    return call;
}

void fp_edit_count_call(struct fp_editor *ed, const char *name, LLVMValueRef counters,
                        LLVMValueRef key)
{
    LLVMValueRef args[] = {counters, key};
    LLVMValueRef call = call_preserving(ed, name, args, 2);
    if (ed->inlined_later && !ed->one_instruction) spare_memory(ed, call);
}

void fp_edit_sample_call(struct fp_editor *ed, const char *name, LLVMValueRef counters,
                         LLVMValueRef key, LLVMValueRef cost)
{
    LLVMValueRef args[] = {counters, key, cost};
    call_preserving(ed, name, args, 3);
}

/* A call that the compiler does not see: a function that calls nothing else needs no frame. The
 * call writes below the stack pointer, so the function may keep nothing there. Nor may one that it
 * is inlined into, and nothing would tell that one. */
static void call_unseen(struct fp_editor *ed, const char *name, LLVMValueRef *args)
{
    static const char constraints[] = "{di},{si},~{r11},~{memory},~{flags}";
    LLVMTypeRef types[] = {ed->i64, ed->i64}, type = LLVMFunctionType(ed->void_, types, 2, 0);
    char text[96];
    snprintf(text, sizeof text, ".hidden %s\n\tcall %s", name, name);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), (char *)constraints,
                                         strlen(constraints), 1, 0, LLVMInlineAsmDialectATT, 0);
    LLVMBuildCall2(ed->builder, type, code, args, 2, "");
    fp_ir_add_attribute(ed->ir->function, "noredzone");
    fp_ir_add_attribute(ed->ir->function, "noinline");
}

void fp_edit_gate_call(struct fp_editor *ed, LLVMValueRef gate, LLVMValueRef counter)
{
    LLVMValueRef args[] = {LLVMBuildPtrToInt(ed->builder, gate, ed->i64, ""),
                           LLVMBuildPtrToInt(ed->builder, counter, ed->i64, "")};
    if (ed->inlined_later || fp_ir_has_attribute(ed->ir->function, "alwaysinline"))
        fp_edit_count_call(ed, FP_GATE_MISS_SYMBOL, gate, args[1]);
    else
        call_unseen(ed, FP_GATE_MISS_SYMBOL, args);
}

void fp_edit_weigh(struct fp_editor *ed, LLVMValueRef branch, uint32_t first, uint32_t second)
{
    LLVMValueRef weights[] = {LLVMMDStringInContext(ed->context, "branch_weights", 14),
                              LLVMConstInt(ed->i32, first, 0), LLVMConstInt(ed->i32, second, 0)};
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(ed->context, "prof", 4),
                    LLVMMDNodeInContext(ed->context, weights, 3));
}
