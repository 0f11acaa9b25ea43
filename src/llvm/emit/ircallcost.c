/* What calls cost: see ircallcost.h.
 *
 * A word of the thread, `spent`, is what its blocks have cost so far: each block adds its cost at
 * its head. What a call cost is how far the word moves meanwhile, all that was called on the way
 * included:
 *
 *     before = spent;  call;  cost[call] += spent - before;  returns[call]++
 *
 * A call that an exception ends is measured where the exception lands in the same function. A call
 * that never comes back here (exit, longjmp, an exception that lands elsewhere) adds nothing;
 * `returns` tells the readers how many came back. Calls in tail position become ordinary calls, for
 * something follows them; only a musttail call stays as it is and is not measured. Nor is a call
 * that returns twice.
 *
 * In recursion the cost of the inner calls is part of that of the outer. `again` is the cost of
 * those calls of this function that were made while it was active, so that the rest is the cost of
 * the outermost. Which is the outermost is told by the address of its frame, which lies above
 * those of all that it calls:
 *
 *     entry    again? = active > frame;  active = max(active, frame);  entered = spent
 *     return   if (again?) again += spent - entered; else active = 0
 *
 * A frame that was left without return leaves its address behind. Calls from further up the stack
 * are above it, and set the word anew; calls further down are taken for inner ones until then.
 */
#include "llvm/emit/ircallcost.h"

#include "count/layout.h"
#include "footpath/abi.h"
#include "llvm/shim.h"

#include <string.h>

struct call_costs {
    struct fp_editor *ed;
    LLVMValueRef spent, counters;
    LLVMValueRef *since, *where; /* per cfg edge that unwinds: spent before the call; its words */
    LLVMValueRef entered, again; /* on entry: spent; was the function active? */
    bool any;                    /* is a call measured? */
};

static LLVMValueRef load(struct call_costs *c, LLVMValueRef word)
{
    LLVMValueRef value = LLVMBuildLoad2(c->ed->builder, c->ed->i64, word, "");
    LLVMSetAlignment(value, 8);
    return value;
}

static void store(struct call_costs *c, LLVMValueRef value, LLVMValueRef word)
{
    LLVMSetAlignment(LLVMBuildStore(c->ed->builder, value, word), 8);
}

static LLVMValueRef word_of(struct call_costs *c, uint64_t slot)
{
    return fp_edit_word(c->ed, c->counters, c->ed->ir->f->layout.edge_slots, (int64_t)slot);
}

static LLVMValueRef function_word(struct call_costs *c, unsigned which)
{
    return word_of(c, c->ed->ir->f->layout.call_slot + which);
}

/* ---- calls ---- */

/* A function that is said to touch no memory does: `spent`. What is known of it must not let the
 * compiler read the word once for both sides of the call. */
static void forget_purity(LLVMValueRef call)
{
    static const char *const names[] = {"memory",       "readnone",
                                        "readonly",     "writeonly",
                                        "argmemonly",   "inaccessiblememonly",
                                        "speculatable", "inaccessiblemem_or_argmemonly"};
    LLVMAttributeIndex of_function = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
        if (!kind) continue;
        LLVMRemoveCallSiteEnumAttribute(call, of_function, kind);
        if (callee && LLVMIsAFunction(callee))
            LLVMRemoveEnumAttributeAtIndex(callee, of_function, kind);
    }
}

static bool is_measured(const struct call_costs *c, uint32_t block, LLVMValueRef call)
{
    if (fp_shim_is_must_tail(call) || c->ed->ir->blocks[block].call == call) return false;
    return LLVMGetInstructionOpcode(call) == LLVMInvoke ||
           LLVMGetInstructionOpcode(LLVMGetNextInstruction(call)) != LLVMUnreachable;
}

/* The call is over. `words`: its cost, its returns. */
static void add_cost(struct call_costs *c, LLVMValueRef before, LLVMValueRef words)
{
    LLVMBuilderRef builder = c->ed->builder;
    LLVMValueRef next = LLVMConstInt(c->ed->i64, FP_CALL_RETURNS, 0);
    fp_edit_add_to(c->ed, words, LLVMBuildSub(builder, load(c, c->spent), before, ""));
    fp_edit_add_to(c->ed, LLVMBuildGEP2(builder, c->ed->i64, words, &next, 1, ""), NULL);
}

/* An invoke is over on both its edges. */
static void measure_edges(struct call_costs *c, uint32_t block, LLVMValueRef before,
                          LLVMValueRef words)
{
    const struct fp_cfg *cfg = c->ed->ir->f->paths.cfg;
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) {
        if (cfg->edges[e].kind == FP_EDGE_UNWIND) {
            c->since[e] = before;
            c->where[e] = words;
        } else {
            fp_edit_on_edge(c->ed, e, false);
            add_cost(c, before, words);
        }
    }
}

static void measure_call(struct call_costs *c, uint32_t index)
{
    const struct fp_function *f = c->ed->ir->f;
    uint32_t block = f->source.calls[index].block;
    LLVMValueRef call = c->ed->ir->calls[index];
    struct fp_ir_block *at = &c->ed->ir->blocks[block];
    if (!is_measured(c, block, call)) return;
    LLVMValueRef words = word_of(c, fp_layout_call(f, index));
    forget_purity(call);
    fp_edit_before(c->ed, call);
    LLVMValueRef before = load(c, c->spent);
    if (at->begin == call) at->begin = before; /* the block's own cost comes first */
    c->any = true;
    if (LLVMGetInstructionOpcode(call) == LLVMInvoke) {
        measure_edges(c, block, before, words);
        return;
    }
    fp_edit_before(c->ed, LLVMGetNextInstruction(call));
    add_cost(c, before, words);
}

/* Only where all that land there are measured. */
static void measure_unwinds(struct call_costs *c, uint32_t pad)
{
    const struct fp_cfg *cfg = c->ed->ir->f->paths.cfg;
    for (uint32_t k = cfg->first_in[pad]; k < cfg->first_in[pad + 1]; k++)
        if (!c->since[cfg->in_edges[k]]) return;
    LLVMValueRef since = fp_edit_join_unwinds(c->ed, pad, c->since);
    LLVMValueRef where = fp_edit_join_unwinds(c->ed, pad, c->where);
    if (!since) return;
    fp_edit_at_head(c->ed, cfg->edges[cfg->first_out[pad]].dst);
    add_cost(c, since, where);
}

static void measure_calls(struct call_costs *c)
{
    const struct fp_cfg *cfg = c->ed->ir->f->paths.cfg;
    c->since = FP_NEW_ARRAY(c->ed->ir->arena, LLVMValueRef, cfg->nedges);
    c->where = FP_NEW_ARRAY(c->ed->ir->arena, LLVMValueRef, cfg->nedges);
    for (uint32_t i = 0; i < c->ed->ir->f->source.ncalls; i++) measure_call(c, i);
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        if (cfg->flags[b] & FP_BLOCK_PAD) measure_unwinds(c, b);
}

/* ---- recursion ---- */

static LLVMValueRef frame_address(struct call_costs *c)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(c->ed->ir->function);
    fp_edit_before(c->ed, LLVMGetFirstInstruction(entry));
    return LLVMBuildAlloca(c->ed->builder, c->ed->i64, "");
}

static void note_entry(struct call_costs *c)
{
    LLVMBuilderRef builder = c->ed->builder;
    LLVMValueRef frame = frame_address(c), active = function_word(c, FP_CALL_ACTIVE);
    fp_edit_at_head(c->ed, 0);
    LLVMValueRef mine = LLVMBuildPtrToInt(builder, frame, c->ed->i64, "");
    LLVMValueRef first = load(c, active);
    c->again = LLVMBuildICmp(builder, LLVMIntUGT, first, mine, "");
    store(c, LLVMBuildSelect(builder, c->again, first, mine, ""), active);
    c->entered = load(c, c->spent);
}

/* Where a block returns or passes an exception on; NULL where it does neither. */
static LLVMValueRef leaving(const struct fp_ir_block *block)
{
    if (!block->has_terminator) return NULL;
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block->bb);
    LLVMOpcode opcode = LLVMGetInstructionOpcode(end);
    if (opcode != LLVMRet && opcode != LLVMResume) return NULL;
    return fp_shim_is_must_tail(block->end) ? block->end : end;
}

static void note_return(struct call_costs *c, LLVMValueRef end)
{
    LLVMBuilderRef builder = c->ed->builder;
    LLVMValueRef none = LLVMConstInt(c->ed->i64, 0, 0), active = function_word(c, FP_CALL_ACTIVE);
    fp_edit_before(c->ed, end);
    LLVMValueRef cost = LLVMBuildSub(builder, load(c, c->spent), c->entered, "");
    fp_edit_add_to(c->ed, function_word(c, FP_CALL_AGAIN),
                   LLVMBuildSelect(builder, c->again, cost, none, ""));
    store(c, LLVMBuildSelect(builder, c->again, load(c, active), none, ""), active);
}

static void note_returns(struct call_costs *c)
{
    const struct fp_ir *ir = c->ed->ir;
    for (uint32_t b = 0; b < ir->f->paths.cfg->nblocks; b++) {
        LLVMValueRef end = ir->blocks[b].bb ? leaving(&ir->blocks[b]) : NULL;
        if (end) note_return(c, end);
    }
}

/* ---- blocks ---- */

static void spend_blocks(struct call_costs *c)
{
    const struct fp_function *f = c->ed->ir->f;
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) {
        uint32_t cost = f->source.blocks[b].instructions;
        if (!c->ed->ir->blocks[b].begin || !cost) continue;
        fp_edit_at_head(c->ed, b);
        fp_edit_add_to(c->ed, c->spent, LLVMConstInt(c->ed->i64, cost, 0));
    }
}

void fp_ir_emit_call_costs(struct fp_editor *ed)
{
    const struct fp_function *f = ed->ir->f;
    struct call_costs c = {.ed = ed, .spent = fp_edit_thread_word(ed, FP_SPENT_SYMBOL)};
    c.counters = fp_edit_counters(ed, FP_EDGE_COUNTER_PREFIX, f->id, f->layout.edge_slots);
    measure_calls(&c);
    if (c.any) note_entry(&c);
    spend_blocks(&c);
    if (c.any) note_returns(&c);
}
