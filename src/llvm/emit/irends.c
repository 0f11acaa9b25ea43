/* Ends of sampled paths: what the plan has as counts becomes points at which the runtime
 * may look (irsample.h). */
#include "footpath/abi.h"
#include "llvm/emit/ircode.h"

/* A path starts on the dag edge: what the running register stands for, less the register
 * itself. */
static int64_t next_from(const struct fp_code *c, uint32_t start)
{
    struct fp_op op = c->plan->on[start];
    return op.kind == FP_OP_SET ? (int64_t)(0 - (uint64_t)op.value) : 0;
}

/* ---- what the paths cost that end at a place ---- */

void fp_code_measure_paths(struct fp_code *c)
{
    const struct fp_function *f = c->ed->ir->f;
    double *sizes = FP_NEW_ARRAY(c->arena, double, c->cfg->nblocks);
    for (uint32_t b = 0; b < c->cfg->nblocks; b++) sizes[b] = f->source.blocks[b].instructions;
    c->sizes = sizes;
    c->lengths = fp_dag_lengths(c->arena, c->dag, c->ed->ir->weights, sizes);
}

static uint32_t as_cost(double length)
{
    return length < 1 ? 1 : length < FP_SITE_MOST_COST ? (uint32_t)length : FP_SITE_MOST_COST;
}

/* Once round. */
static uint32_t cost_of_lap(const struct fp_code *c, int64_t number)
{
    const struct fp_laps *laps = &c->dag->truncation->laps;
    const struct fp_lap *lap = &laps->at[0];
    for (uint32_t i = 0; i < laps->len; i++)
        if (fp_lap_number(laps, i) == number) lap = &laps->at[i];
    double length = c->sizes[c->cfg->edges[lap->closing].src];
    for (uint32_t k = 0; k < lap->nedges; k++) length += c->sizes[c->cfg->edges[lap->edges[k]].src];
    return as_cost(length);
}

/* Of the paths that are counted on dag edge d: from there on they have one way. */
static uint32_t cost_on(const struct fp_code *c, uint32_t d)
{
    const struct fp_dag *dag = c->dag;
    double length = c->lengths[dag->edges[d].src];
    while (dag->edges[d].dst != dag->exit) {
        uint32_t v = dag->edges[d].dst;
        length += c->sizes[v];
        for (d = dag->first_out[v]; !c->plan->numbering->npaths[dag->edges[d].dst];) d++;
    }
    return as_cost(length);
}

/* ---- */

/* The END or EXIT edge of the path that is counted on dag edge d. */
static uint32_t last_edge(const struct fp_code *c, uint32_t d)
{
    const struct fp_dag *dag = c->dag;
    while (dag->edges[d].dst != dag->exit) {
        uint32_t v = dag->edges[d].dst;
        for (d = dag->first_out[v]; !c->plan->numbering->npaths[dag->edges[d].dst];) d++;
    }
    return d;
}

/* The sample point of the path that ends on dag edge d. In `block`, r has the value that
 * it has on d. keeper: the loop that keeps the running register there. */
static struct fp_sample_point end_on(struct fp_code *c, uint32_t d, uint32_t block, uint32_t keeper)
{
    struct fp_op op = c->plan->on[d];
    LLVMValueRef reg = op.kind == FP_OP_COUNT_REG ? c->reg[block] : NULL;
    struct fp_sample_point end = {c->counters, c->hashed, reg,           op.value, FP_NONE,
                                  0,           0,         cost_on(c, d), NULL};
    const struct fp_dag_edge *last = &c->dag->edges[last_edge(c, d)];
    uint32_t then = last->kind == FP_DAG_END ? c->cfg->edges[last->cfg_edge].dst : FP_NONE;
    bool goes_on = then != FP_NONE && then != c->ed->ir->hub;
    if (then == FP_NONE) end.flags = FP_SITE_LAST;
    if (!c->word) return end;
    if (goes_on) end.next = next_from(c, c->dag->start_of[then]);
    if (!goes_on && op.kind == FP_OP_COUNT) return end;
    end.reg = c->word;
    end.moved = fp_code_moved(c, keeper);
    end.flags |= FP_SITE_RUNNING | (op.kind == FP_OP_COUNT ? FP_SITE_KNOWN : 0u) |
                 (goes_on ? 0u : FP_SITE_LEAVES);
    return end;
}

void fp_code_sample(struct fp_code *c, uint32_t d, uint32_t block, uint32_t keeper)
{
    struct fp_sample_point end = end_on(c, d, block, keeper);
    fp_ir_emit_end(c->sampling, &end);
}

static struct fp_sample_point lap_end(const struct fp_code *c, int64_t id)
{
    int64_t lap = id - (int64_t)c->plan->numbering->num_paths;
    struct fp_sample_point end = {.counters = c->counters,
                                  .value = id,
                                  .target = FP_NONE,
                                  .flags = FP_SITE_LAP,
                                  .cost = cost_of_lap(c, lap)};
    if (c->hashed) end.counters = c->laps, end.value = lap;
    return end;
}

void fp_code_sample_lap(struct fp_code *c, int64_t id)
{
    struct fp_sample_point end = lap_end(c, id);
    fp_ir_emit_end(c->sampling, &end);
}

/* ---- a running register ---- */

/* A running register is set only behind the hub, where that is no more than a start. */
void fp_code_move_word(struct fp_code *c, uint32_t e, struct fp_op op)
{
    LLVMBuilderRef builder = c->ed->builder;
    fp_edit_on_edge(c->ed, e, false);
    if (op.kind == FP_OP_SET) {
        fp_ir_emit_start(c->sampling, c->word, (int64_t)(0 - (uint64_t)op.value));
        return;
    }
    if (c->sampling->how == FP_PEP_BODY && op.value == (int32_t)op.value) {
        fp_ir_emit_addition(c->sampling, c->word, op.value);
        return;
    }
    uint32_t keeper = fp_code_keeper_of_edge(c, e);
    LLVMValueRef word = keeper != FP_NONE ? fp_code_moved_by(c, keeper) : c->word;
    LLVMValueRef old = LLVMBuildLoad2(builder, c->ed->i64, word, "");
    LLVMValueRef sum =
        LLVMBuildAdd(builder, old, LLVMConstInt(c->ed->i64, (uint64_t)op.value, 1), "");
    LLVMBuildStore(builder, sum, word);
}

void fp_code_make_word(struct fp_code *c)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(c->ed->ir->function);
    LLVMPositionBuilderBefore(c->ed->builder, LLVMGetFirstInstruction(entry));
    c->word = LLVMBuildAlloca(c->ed->builder, c->ed->i64, "");
}

void fp_code_start_word(struct fp_code *c)
{
    fp_ir_emit_start(c->sampling, c->word, next_from(c, c->dag->entry_edge));
}

/* ---- path ends in front of branches (footpath/abi.h) ---- */

static bool ends_on(const struct fp_code *c, uint32_t e)
{
    struct fp_edge_ops ops = fp_plan_on_edge(c->plan, e);
    return fp_code_is_count(ops.first) || fp_code_is_count(ops.then);
}

/* Is a call all that keeps the block from returning what the call gives? The code
 * generator makes a jump of that call, if the block that returns stays empty. */
static bool is_return_of_calls(const struct fp_code *c, uint32_t block)
{
    LLVMBasicBlockRef bb = c->ed->ir->blocks[block].bb;
    LLVMValueRef i = bb ? LLVMGetFirstInstruction(bb) : NULL;
    while (i && LLVMGetInstructionOpcode(i) == LLVMPHI) i = LLVMGetNextInstruction(i);
    if (!i || LLVMGetInstructionOpcode(i) != LLVMRet) return false;
    for (uint32_t k = c->cfg->first_in[block]; k < c->cfg->first_in[block + 1]; k++) {
        LLVMBasicBlockRef from = c->ed->ir->blocks[c->cfg->edges[c->cfg->in_edges[k]].src].bb;
        LLVMValueRef last = from ? LLVMGetBasicBlockTerminator(from) : NULL;
        last = last ? LLVMGetPreviousInstruction(last) : NULL;
        if (last && LLVMGetInstructionOpcode(last) == LLVMCall && LLVMIsTailCall(last)) return true;
    }
    return false;
}

/* Is there an instruction in the block that no code generator leaves out? */
static bool has_code(const struct fp_code *c, uint32_t block)
{
    const struct fp_ir_block *b = &c->ed->ir->blocks[block];
    for (LLVMValueRef i = b->begin; i && i != b->end; i = LLVMGetNextInstruction(i)) {
        LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
        LLVMValueRef callee = opcode == LLVMCall ? LLVMGetCalledValue(i) : NULL;
        if (opcode == LLVMStore) return true;
        if (callee && LLVMIsAFunction(callee) && !LLVMGetIntrinsicID(callee)) return true;
    }
    return false;
}

/* Is the end on this way a note at the head of a block that has nothing else? Then its address is
 * that of the next block, where others arrive too. */
static bool ends_in_nothing(const struct fp_code *c, uint32_t e)
{
    return !has_code(c, c->cfg->edges[e].dst);
}

static bool wants_branch_ends(const struct fp_code *c, uint32_t block)
{
    bool critical = false;
    if (c->cfg->flags[block] & (FP_BLOCK_HUB | FP_BLOCK_PAD)) return false;
    for (uint32_t e = c->cfg->first_out[block]; e < c->cfg->first_out[block + 1]; e++) {
        if (c->cfg->edges[e].kind > FP_EDGE_SWITCH) return false;
        if (is_return_of_calls(c, c->cfg->edges[e].dst)) return false;
        if (fp_code_is_live(c, e) && ends_on(c, e))
            critical |= fp_edit_is_critical(c->ed, e) || ends_in_nothing(c, e);
    }
    if (!critical) return false;
    LLVMOpcode opcode =
        LLVMGetInstructionOpcode(LLVMGetBasicBlockTerminator(c->ed->ir->blocks[block].bb));
    return opcode == LLVMBr || opcode == LLVMSwitch;
}

/* Does a path end at the end of the block, in front of its branch or of its return? */
static bool has_end_behind(const struct fp_code *c, uint32_t block)
{
    uint32_t exit = c->dag->exit_of[block], first = c->cfg->first_out[block];
    if (c->at_branch[block]) return true;
    if (exit != FP_NONE && fp_code_is_count(c->plan->on[exit])) return true;
    return c->cfg->first_out[block + 1] == first + 1 && fp_code_is_live(c, first) &&
           ends_on(c, first);
}

/* If the code generator leaves nothing of the block but the site at its end, jumps to the block are
 * jumps to the site. An arrival at its head tells so (FP_SITE_BEHIND). A block with one way in does
 * not need it: where the code in front runs into the block, that is the way in. */
static bool wants_head(const struct fp_code *c, uint32_t block)
{
    if (!c->ed->ir->blocks[block].bb || c->cfg->flags[block] & (FP_BLOCK_HUB | FP_BLOCK_PAD))
        return false;
    return fp_cfg_in_degree(c->cfg, block) > 1 && has_end_behind(c, block) && !has_code(c, block);
}

void fp_code_choose_branch_ends(struct fp_code *c)
{
    const struct fp_cfg *cfg = c->cfg;
    bool *arrival = c->arrival = FP_NEW_ARRAY(c->arena, bool, cfg->nblocks);
    if (!c->sampling || c->sampling->how == FP_PEP_FLAG) return;
    for (uint32_t b = 0; b < cfg->nblocks; b++) c->at_branch[b] = wants_branch_ends(c, b);
    for (uint32_t b = 0; b < cfg->nblocks; b++) arrival[b] = wants_head(c, b);
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        for (uint32_t e = cfg->first_out[b]; c->at_branch[b] && e < cfg->first_out[b + 1]; e++) {
            /* where no path ends on the way, the site in front of the target's own branch
             * tells as well that it was taken */
            uint32_t dst = cfg->edges[e].dst;
            if (!c->at_branch[dst] || (fp_code_is_live(c, e) && ends_on(c, e))) arrival[dst] = true;
        }
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        if (!arrival[b]) continue;
        fp_edit_at_head(c->ed, b);
        fp_ir_emit_arrival(c->sampling, b);
    }
}

void fp_code_emit_branch_ends(struct fp_code *c, uint32_t block)
{
    const struct fp_cfg *cfg = c->cfg;
    FP_VEC(struct fp_sample_point) points = {0};
    LLVMValueRef reg = NULL, moved = NULL;
    if (!c->at_branch[block]) return;
    fp_edit_at_end(c->ed, block);
    /* Where the branch in front is decided later, both have one address: then this says that the
     * ways of that one end here. */
    if (!c->arrival[block] && !has_code(c, block))
        fp_vec_push(c->arena, &points,
                    ((struct fp_sample_point){.target = block, .flags = FP_SITE_ARRIVAL}));
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) {
        struct fp_edge_ops ops = fp_plan_on_edge(c->plan, e);
        bool lap = fp_code_fate(c, e) == FP_FATE_LAP;
        for (int k = 0; fp_code_is_live(c, e) && k < 2; k++) {
            struct fp_op op = k ? ops.then : ops.first;
            if (!fp_code_is_count(op)) continue;
            uint32_t d = k ? c->dag->start_of[cfg->edges[e].dst] : c->dag->of_edge[e];
            struct fp_sample_point end =
                lap ? lap_end(c, op.value) : end_on(c, d, block, fp_code_keeper_of_block(c, block));
            end.target = cfg->edges[e].dst;
            if (end.reg) reg = end.reg;
            if (end.moved) moved = end.moved;
            end.flags |= FP_SITE_BRANCH;
            fp_vec_push(c->arena, &points, end);
        }
    }
    fp_ir_emit_branch_ends(c->sampling, points.at, points.len, reg, moved);
}
