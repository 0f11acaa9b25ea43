/* IR to cfg: see irgraph.h. */
#include "llvm/read/irgraph.h"

#include "base/vec.h"
#include "llvm/read/irlines.h"
#include "llvm/read/irunseen.h"
#include "llvm/sense/sense.h"
#include "llvm/shim.h"

#include <string.h>

struct ir_reading {
    struct fp_ir *ir;
    const struct fp_ir_options *options;
    struct fp_ir_lines lines;
    struct fp_sense sense;
    FP_VEC(struct fp_ir_block) blocks;
    FP_VEC(struct fp_block_info) infos;
    FP_VEC(uint8_t) flags;
    FP_VEC(struct fp_edge) edges;
    FP_VEC(struct fp_edge_info) labels;
    FP_VEC(struct fp_ir_way) ways;
    struct fp_table seen; /* targets of the present terminator -> 1 + edge */
    const char *problem;
};

static unsigned attribute_kind(const char *name)
{
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

bool fp_ir_has_attribute(LLVMValueRef function, const char *name)
{
    return LLVMGetEnumAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                       attribute_kind(name)) != NULL;
}

void fp_ir_add_attribute(LLVMValueRef function, const char *name)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(context, attribute_kind(name), 0));
}

static LLVMValueRef called_function(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return callee && LLVMIsAFunction(callee) ? callee : NULL;
}

static bool call_has(LLVMValueRef call, const char *name)
{
    if (LLVMGetCallSiteEnumAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                     attribute_kind(name)))
        return true;
    LLVMValueRef callee = called_function(call);
    return callee && fp_ir_has_attribute(callee, name);
}

static bool is_call(LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    return opcode == LLVMCall || opcode == LLVMInvoke || opcode == LLVMCallBr;
}

static bool is_intrinsic(LLVMValueRef call)
{
    LLVMValueRef callee = called_function(call);
    return callee && LLVMGetIntrinsicID(callee) != 0;
}

static bool is_call_of(LLVMValueRef call, const char *name)
{
    size_t len;
    LLVMValueRef callee = called_function(call);
    return callee && !strcmp(LLVMGetValueName2(callee, &len), name);
}

/* __builtin_setjmp is an intrinsic, which does not say that it returns twice. */
static bool returns_twice(LLVMValueRef call)
{
    return call_has(call, "returns_twice") || is_call_of(call, "llvm.eh.sjlj.setjmp");
}

/* Of other intrinsics that do not return, none lets the program go on elsewhere. */
static bool is_left_by(LLVMValueRef call)
{
    if (is_intrinsic(call)) return is_call_of(call, "llvm.eh.sjlj.longjmp");
    return call_has(call, "noreturn");
}

static bool is_bookkeeping(LLVMValueRef inst)
{
    if (LLVMGetInstructionOpcode(inst) != LLVMCall) return false;
    LLVMValueRef callee = called_function(inst);
    if (!callee || !LLVMGetIntrinsicID(callee)) return false;
    size_t len;
    const char *name = LLVMGetValueName2(callee, &len);
    return !strncmp(name, "llvm.dbg.", 9) || !strncmp(name, "llvm.lifetime.", 14) ||
           !strncmp(name, "llvm.assume", 11) || !strncmp(name, "llvm.experimental.noalias", 25);
}

/* May control leave the function at this instruction, never to come back? */
static bool may_leave(const struct ir_reading *r, LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMCall:
    case LLVMInvoke:
    case LLVMCallBr:
        if (is_bookkeeping(inst)) return false;
        if (is_intrinsic(inst)) return r->options->faults;
        return r->options->faults || !call_has(inst, "nounwind") || !call_has(inst, "willreturn");
    case LLVMResume: return true; /* becomes a call that does not return */
    case LLVMLoad:
    case LLVMStore:
    case LLVMAtomicCmpXchg:
    case LLVMAtomicRMW:
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem: return r->options->faults;
    default: return false;
    }
}

static uint8_t flags_of(const struct ir_reading *r, LLVMValueRef inst)
{
    uint8_t flags = may_leave(r, inst) ? FP_BLOCK_LEAVES : 0;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if (opcode == LLVMStore) flags |= FP_BLOCK_STORES;
    if (opcode == LLVMUnreachable) flags |= FP_BLOCK_COLD;
    if (is_call(inst) && !is_intrinsic(inst)) {
        flags |= FP_BLOCK_CALLS;
        if (call_has(inst, "cold")) flags |= FP_BLOCK_COLD;
    }
    return flags;
}

/* ---- blocks ---- */

static struct fp_ir_block *new_block(struct ir_reading *r, LLVMBasicBlockRef bb, uint8_t flags)
{
    struct fp_ir_block block = {.bb = bb};
    struct fp_block_info info = {.first_position = (uint32_t)r->lines.positions.len};
    fp_vec_push(r->ir->arena, &r->blocks, block);
    fp_vec_push(r->ir->arena, &r->infos, info);
    fp_vec_push(r->ir->arena, &r->flags, flags);
    return &r->blocks.at[r->blocks.len - 1];
}

static void new_edge(struct ir_reading *r, uint32_t src, uint32_t dst, enum fp_edge_kind kind)
{
    struct fp_edge edge = {src, dst, kind};
    struct fp_edge_info label = {FP_LABEL_NONE, 0};
    fp_vec_push(r->ir->arena, &r->edges, edge);
    fp_vec_push(r->ir->arena, &r->labels, label);
    fp_vec_push(r->ir->arena, &r->ways, (struct fp_ir_way){.to = FP_NONE});
}

/* Where the code at the end of a block goes: before the terminator, but before a
 * call in tail position and before one that does not return. */
static LLVMValueRef end_position(LLVMValueRef terminator)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(terminator);
    if (opcode != LLVMRet && opcode != LLVMUnreachable) return terminator;
    LLVMValueRef before = LLVMGetPreviousInstruction(terminator);
    while (before && is_bookkeeping(before)) before = LLVMGetPreviousInstruction(before);
    /* a cast of the result may stand between */
    if (before && opcode == LLVMRet && LLVMGetInstructionOpcode(before) == LLVMBitCast &&
        LLVMGetNumOperands(terminator) && LLVMGetOperand(terminator, 0) == before)
        before = LLVMGetPreviousInstruction(before);
    if (!before || LLVMGetInstructionOpcode(before) != LLVMCall) return terminator;
    bool tail = LLVMIsTailCall(before) && !is_intrinsic(before);
    return (opcode == LLVMRet ? tail : is_left_by(before)) ? before : terminator;
}

static void finish_block(struct ir_reading *r, LLVMValueRef end)
{
    size_t last = r->blocks.len - 1;
    r->blocks.at[last].end = end;
    r->infos.at[last].npositions =
        (uint32_t)r->lines.positions.len - r->infos.at[last].first_position;
}

/* A returns-twice call ends a block and begins another behind it. */
static void split_at_call(struct ir_reading *r, LLVMBasicBlockRef bb, LLVMValueRef call)
{
    finish_block(r, call);
    uint32_t front = (uint32_t)r->blocks.len - 1;
    r->blocks.at[front].call = call;
    new_block(r, bb, 0)->begin = LLVMGetNextInstruction(call);
    new_edge(r, front, front + 1, FP_EDGE_TWICE);
}

static void read_instruction(struct ir_reading *r, LLVMBasicBlockRef bb, LLVMValueRef inst)
{
    size_t here = r->blocks.len - 1;
    if (is_bookkeeping(inst)) return;
    r->flags.at[here] |= flags_of(r, inst);
    r->infos.at[here].instructions++;
    fp_ir_lines_add(&r->lines, inst, r->infos.at[here].first_position);
    if (LLVMGetInstructionOpcode(inst) == LLVMCall && returns_twice(inst))
        split_at_call(r, bb, inst);
}

/* The instruction that has the place of a branch: itself, or what it tests. */
static LLVMValueRef placed(LLVMValueRef terminator)
{
    struct fp_shim_place place;
    if (fp_shim_place(terminator, &place) && place.line) return terminator;
    if (!LLVMIsABranchInst(terminator) || !LLVMIsConditional(terminator)) return NULL;
    LLVMValueRef condition = LLVMGetCondition(terminator);
    return LLVMIsAInstruction(condition) ? condition : NULL;
}

/* A branch stands where its condition does, at the end of its block. */
static void add_branch_place(struct ir_reading *r, LLVMValueRef terminator)
{
    LLVMValueRef at = LLVMGetNumSuccessors(terminator) > 1 ? placed(terminator) : NULL;
    size_t first = r->infos.at[r->infos.len - 1].first_position;
    if (!at || !fp_ir_lines_add(&r->lines, at, first)) return;
    struct fp_position *last = &r->lines.positions.at[r->lines.positions.len - 1];
    if (!fp_sense_place(&r->sense, terminator, last)) return;
    if (r->lines.positions.len - first < 2 || last[-1].scope != last->scope ||
        last[-1].line != last->line || last[-1].discriminator != last->discriminator)
        return;
    last[-1] = *last;
    r->lines.positions.len--;
}

static void read_block(struct ir_reading *r, LLVMBasicBlockRef bb)
{
    *fp_table_add(&r->ir->first_of, (uintptr_t)bb) = r->blocks.len;
    LLVMValueRef inst = LLVMGetFirstInstruction(bb);
    while (inst && LLVMGetInstructionOpcode(inst) == LLVMPHI) inst = LLVMGetNextInstruction(inst);
    if (LLVMGetInstructionOpcode(inst) == LLVMLandingPad) {
        new_block(r, bb, FP_BLOCK_PAD);
        finish_block(r, NULL);
        uint32_t pad = (uint32_t)r->blocks.len - 1;
        new_edge(r, pad, pad + 1, FP_EDGE_NORMAL);
        inst = LLVMGetNextInstruction(inst);
    }
    struct fp_ir_block *block = new_block(r, bb, 0);
    block->begin = inst;
    if (r->blocks.len == 1) /* keep the allocas of the entry together */
        while (LLVMGetInstructionOpcode(block->begin) == LLVMAlloca)
            block->begin = LLVMGetNextInstruction(block->begin);
    for (; inst; inst = LLVMGetNextInstruction(inst)) read_instruction(r, bb, inst);
    add_branch_place(r, LLVMGetBasicBlockTerminator(bb));
    finish_block(r, end_position(LLVMGetBasicBlockTerminator(bb)));
    r->blocks.at[r->blocks.len - 1].has_terminator = true;
}

/* ---- edges ---- */

static uint32_t first_block_of(const struct fp_ir *ir, LLVMBasicBlockRef bb)
{
    return (uint32_t)*fp_table_find(&ir->first_of, (uintptr_t)bb);
}

static enum fp_edge_kind kind_of(const struct ir_reading *r, LLVMValueRef terminator, uint32_t dst)
{
    if (r->flags.at[dst] & FP_BLOCK_PAD) return FP_EDGE_UNWIND;
    return LLVMGetInstructionOpcode(terminator) == LLVMSwitch ? FP_EDGE_SWITCH : FP_EDGE_NORMAL;
}

/* Two ways to one target: the default says more than a case beside it; a condition whose ways
 * meet at once says nothing. */
static void join_labels(struct fp_edge_info *known, struct fp_edge_info other)
{
    if (known->label == FP_LABEL_CASE && other.label != FP_LABEL_CASE) *known = other;
    if (fp_label_is_truth(known->label) && other.label != known->label)
        known->label = FP_LABEL_NONE;
}

/* One edge per target, whatever number of cases leads there. */
static void read_successors(struct ir_reading *r, uint32_t src, LLVMValueRef terminator)
{
    unsigned count = LLVMGetNumSuccessors(terminator);
    struct fp_edge_info *labels = FP_NEW_ARRAY(r->ir->arena, struct fp_edge_info, count);
    if (count > 1) fp_table_init(&r->seen, r->ir->arena);
    fp_sense_label(&r->sense, terminator, labels, &r->infos.at[src]);
    for (unsigned i = 0; i < count; i++) {
        uint32_t dst = first_block_of(r->ir, LLVMGetSuccessor(terminator, i));
        if (count > 1) {
            uint64_t *seen = fp_table_add(&r->seen, dst);
            if (*seen) {
                join_labels(&r->labels.at[*seen - 1], labels[i]);
                r->ways.at[*seen - 1].to = FP_NONE;
                continue;
            }
            *seen = r->edges.len + 1;
        }
        new_edge(r, src, dst, kind_of(r, terminator, dst));
        r->labels.at[r->labels.len - 1] = labels[i];
        if (count > 1)
            r->ways.at[r->ways.len - 1] =
                (struct fp_ir_way){r->sense.branch, fp_sense_target(&r->sense.branch, labels[i])};
    }
}

static void read_indirect(struct ir_reading *r, uint32_t src, LLVMValueRef terminator,
                          struct fp_table *targets)
{
    new_edge(r, src, r->ir->hub, FP_EDGE_INDIRECT);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++) {
        uint32_t dst = first_block_of(r->ir, LLVMGetSuccessor(terminator, i));
        uint64_t *seen = fp_table_add(targets, dst);
        if (!*seen) new_edge(r, r->ir->hub, dst, FP_EDGE_NORMAL);
        *seen = 1;
    }
}

static void read_edges(struct ir_reading *r)
{
    struct fp_table targets; /* of indirect branches */
    fp_table_init(&targets, r->ir->arena);
    uint32_t count = (uint32_t)r->blocks.len;
    for (uint32_t b = 0; b < count; b++) {
        if (!r->blocks.at[b].has_terminator) continue;
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(r->blocks.at[b].bb);
        if (LLVMGetInstructionOpcode(terminator) != LLVMIndirectBr) {
            read_successors(r, b, terminator);
            continue;
        }
        if (LLVMGetNumSuccessors(terminator) == 0) continue; /* goes nowhere */
        if (r->ir->hub == FP_NONE) {
            r->ir->hub = (uint32_t)r->blocks.len;
            new_block(r, NULL, FP_BLOCK_HUB);
        }
        read_indirect(r, b, terminator, &targets);
    }
}

/* ---- the function ---- */

static const char *unsupported(LLVMValueRef function)
{
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(function); bb;
         bb = LLVMGetNextBasicBlock(bb)) {
        LLVMValueRef first = LLVMGetFirstInstruction(bb);
        while (first && LLVMGetInstructionOpcode(first) == LLVMPHI)
            first = LLVMGetNextInstruction(first);
        if (!first || !LLVMGetBasicBlockTerminator(bb)) return "a block without terminator";
        LLVMOpcode opcode = LLVMGetInstructionOpcode(first);
        if (opcode == LLVMCatchPad || opcode == LLVMCleanupPad || opcode == LLVMCatchSwitch)
            return "funclet exception handling";
    }
    return NULL;
}

/* Edges are sorted by source in the cfg; their labels must follow. */
static void make_cfg(struct ir_reading *r)
{
    struct fp_function *f = r->ir->f;
    uint32_t n = (uint32_t)r->blocks.len;
    f->paths.cfg = fp_cfg_new(r->ir->arena, n, r->edges.at, (uint32_t)r->edges.len, r->flags.at);
    f->source.edges = FP_NEW_ARRAY(r->ir->arena, struct fp_edge_info, r->edges.len);
    struct fp_ir_way *ways = FP_NEW_ARRAY(r->ir->arena, struct fp_ir_way, r->edges.len);
    uint32_t *next = FP_NEW_ARRAY(r->ir->arena, uint32_t, (size_t)n + 1);
    memcpy(next, f->paths.cfg->first_out, n * sizeof *next);
    for (size_t i = 0; i < r->edges.len; i++) {
        uint32_t e = next[r->edges.at[i].src]++;
        f->source.edges[e] = r->labels.at[i];
        ways[e] = r->ways.at[i];
    }
    r->ways.at = ways;
}

const char *fp_ir_read(struct fp_arena *arena, LLVMValueRef function, struct fp_function *f,
                       const struct fp_ir_options *options, struct fp_ir *ir)
{
    *ir = (struct fp_ir){.arena = arena, .function = function, .f = f, .hub = FP_NONE};
    fp_table_init(&ir->first_of, arena);
    fp_ir_lines_function(arena, function, f);
    const char *problem = unsupported(function);
    if (problem) return problem;
    struct ir_reading r = {.ir = ir, .options = options};
    r.sense = (struct fp_sense){.survey = options->survey, .arena = arena};
    fp_ir_lines_init(&r.lines, arena);
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(function); bb;
         bb = LLVMGetNextBasicBlock(bb))
        read_block(&r, bb);
    read_edges(&r);
    make_cfg(&r);
    ir->blocks = r.blocks.at;
    f->source.blocks = r.infos.at;
    if (options->unseen && options->survey)
        fp_ir_list_unseen(ir, &r.lines, options->survey, r.ways.at);
    f->source.positions = r.lines.positions.at;
    f->source.npositions = (uint32_t)r.lines.positions.len;
    f->source.scopes = r.lines.all.at;
    f->source.nscopes = (uint32_t)r.lines.all.len;
    struct fp_error error = {0};
    if (!fp_cfg_check(f->paths.cfg, &error)) return fp_arena_strdup(arena, error.what);
    return NULL;
}

LLVMBasicBlockRef fp_ir_target(const struct fp_ir *ir, uint32_t edge)
{
    return ir->blocks[ir->f->paths.cfg->edges[edge].dst].bb;
}

/* Adds up the probabilities of the successors that one edge stands for. */
static void estimate_out_edges(struct fp_ir *ir, uint32_t b, struct fp_arena *scratch)
{
    const struct fp_cfg *cfg = ir->f->paths.cfg;
    const struct fp_ir_block *block = &ir->blocks[b];
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block->bb);
    double frequency = fp_shim_block_frequency(block->bb);
    struct fp_table edge_to; /* first cfg block of the target -> edge */
    fp_table_init(&edge_to, scratch);
    for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++)
        *fp_table_add(&edge_to, cfg->edges[e].dst) = e;
    for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++) {
        uint64_t *e = fp_table_find(&edge_to, first_block_of(ir, LLVMGetSuccessor(terminator, i)));
        ir->weights[*e] += frequency * fp_shim_edge_probability(block->bb, i);
    }
}

void fp_ir_estimate(struct fp_ir *ir)
{
    const struct fp_cfg *cfg = ir->f->paths.cfg;
    struct fp_arena scratch = {0};
    ir->weights = FP_NEW_ARRAY(ir->arena, double, cfg->nedges);
    fp_shim_estimates(ir->function);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        const struct fp_ir_block *block = &ir->blocks[b];
        if (block->bb && block->has_terminator && fp_cfg_out_degree(cfg, b) > 1) {
            estimate_out_edges(ir, b, &scratch);
            continue;
        }
        /* from the hub: as often as the target runs */
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++)
            ir->weights[e] =
                fp_shim_block_frequency(block->bb ? block->bb : ir->blocks[cfg->edges[e].dst].bb);
    }
    fp_arena_free(&scratch);
}
