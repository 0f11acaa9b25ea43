/* From a cfg to a plan: see planning.h. */
#include "llvm/planning.h"

#include "base/checked.h"
#include "count/layout.h"
#include "graph/lapexits.h"
#include "graph/keptcounts.h"
#include "graph/shortloops.h"
#include "llvm/codecopies.h"
#include "llvm/read/irlapvars.h"

/* How many ids an array has at most. Where paths end to make them fit one, the functions that need
 * many cuts get a larger one: few functions do, and all arrays of a program must lie within the
 * reach of its code. */
static uint64_t largest_array(const struct fp_flags *flags)
{
    enum { LARGER = 4 };
    bool fit = flags->cuts == FP_CUTS_FIT || flags->cuts == FP_CUTS_LOOPS;
    return fp_mul_saturated(flags->array_paths, fit ? LARGER : 1);
}

static struct fp_limits limits_of(const struct fp_job *job)
{
    const struct fp_flags *flags = &job->work->flags;
    struct fp_limits limits = {.no_laps = flags->cuts == FP_CUTS_PAPER};
    bool fit = flags->cuts == FP_CUTS_FIT, loops = flags->cuts == FP_CUTS_LOOPS;
    if (fit || loops) limits.good_paths = flags->array_paths;
    if (fit || loops) limits.large_paths = largest_array(flags);
    /* doors only where they were asked for, or where a guide knows how often the loop goes round */
    if (loops || (fit && job->measured))
        limits.loop_entries =
            flags->loop_entries > 0 ? flags->loop_entries : fp_loop_entries(job->measured);
    /* cycles are kept in an array: cut whatever does not fit one */
    if (flags->cycles) limits.max_paths = flags->array_paths;
    return limits;
}

void fp_job_truncate(struct fp_job *job)
{
    struct fp_paths *paths = &job->f->paths;
    struct fp_limits limits = limits_of(job);
    paths->truncation = FP_NEW(job->arena, struct fp_truncation);
    fp_truncate(job->arena, paths->cfg, job->ir->weights, &limits, paths->truncation);
    if (!job->ir->weights) job->ir->weights = FP_NEW_ARRAY(job->arena, double, paths->cfg->nedges);
}

/* Does the function look as if it were called seldom, next to what it does? Where a way is taken
 * more than once a call, its counts are many. Without weights nothing is known. */
static bool looks_seldom(const struct fp_job *job)
{
    const struct fp_cfg *cfg = job->f->paths.cfg;
    double entry = 0, most = 0;
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        if (cfg->edges[e].src == 0) entry += job->ir->weights[e];
        if (job->ir->weights[e] > most) most = job->ir->weights[e];
    }
    return entry > 0 && most < 1.5 * entry;
}

/* A gate costs two instructions at each count, and saves each thread the pages of the array
 * (footpath/abi.h). Where a run was measured the counts are known, and a gate is not worth it. */
static bool wants_gate(const struct fp_job *job)
{
    enum { A_PAGE = 512 };
    uint32_t others = FP_FUNCTION_HASHED | FP_FUNCTION_CYCLES | FP_FUNCTION_SAMPLED;
    return !(job->f->flags & others) && job->f->layout.path_slots > A_PAGE && !job->measured &&
           job->work->flags.threads == FP_THREADS_LOCAL && looks_seldom(job);
}

static void find_short_loops(struct fp_job *job)
{
    const struct fp_function *f = job->f;
    uint32_t *instructions = FP_NEW_ARRAY(job->arena, uint32_t, f->paths.cfg->nblocks);
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
        instructions[b] = f->source.blocks[fp_job_old_block(job, b)].instructions;
    job->ir->short_loops =
        fp_short_loops(job->arena, f->paths.truncation, job->ir->weights, instructions);
}

/* Short loops count in turn, in two copies of an array. Tables, cycles and samples have no such
 * array. With --fp-exits a path in flight is known by one counter. Before optimisations, and
 * without them, rounds are not short. Threads that share counters wait for each other anyway.
 * Whether there are two arrays does not depend on copies of blocks: a copy of P3 has none, and its
 * function must be the reference's. */
static void choose_short_loops(struct fp_job *job)
{
    enum {
        NO_TURNS = FP_FUNCTION_HASHED | FP_FUNCTION_CYCLES | FP_FUNCTION_SAMPLED |
                   FP_FUNCTION_EXITS | FP_FUNCTION_EARLY
    };
    const struct fp_work *work = job->work;
    struct fp_function *f = job->f;
    if (f->flags & NO_TURNS || !work->optimizing || work->flags.threads != FP_THREADS_LOCAL) return;
    find_short_loops(job);
    if (job->ir->short_loops) fp_layout_twice(f);
}

void fp_job_number(struct fp_job *job)
{
    struct fp_paths *paths = &job->f->paths;
    if (!(job->f->flags & FP_FUNCTION_PATHS)) return;
    paths->dag = fp_dag_make(job->arena, paths->truncation);
    double *weights = fp_dag_weights(job->arena, paths->dag, job->ir->weights);
    /* smart numbering, paper 002, section 3.4: hot edges get 0 and carry no code */
    bool sampled = job->f->flags & FP_FUNCTION_SAMPLED;
    enum fp_numbering_order order = sampled ? FP_NUMBER_HOTTEST_FIRST : FP_NUMBER_LARGEST_LAST;
    paths->numbering = fp_number(job->arena, paths->dag, order, weights);
    fp_layout_paths(job->f, paths->numbering->num_ids, largest_array(&job->work->flags));
    job->f->layout.gated = wants_gate(job);
    choose_short_loops(job);
    fp_job_copy_blocks(job);
    if (job->ir->short_loops) find_short_loops(job); /* of the blocks that there are now */
}

/* Laps that the program counts itself need no counter in their loop. Only where control
 * leaves loops by edges alone: with calls that might not return, or where paths in flight
 * are wanted (--fp-exits), laps are counted one by one. */
static const uint32_t *find_lap_exits(struct fp_job *job)
{
    uint32_t *exits = fp_lap_exits(job->arena, job->f->paths.truncation, job->ir->weights);
    job->ir->lap_variables = fp_ir_lap_variables(job->ir, exits);
    return exits;
}

/* Counters of loops that need not go up in them. Not where edges are wanted up to the place
 * where a frame was left (--fp-exits): in a loop that place is known, its counts are not. */
static void choose_loops(struct fp_job *job)
{
    const struct fp_function *f = job->f;
    if (job->work->flags.exits) return;
    find_lap_exits(job);
    job->ir->loops = fp_counted_loops_find(job->arena, f->paths.truncation, f->paths.flow,
                                           f->layout.flow_slot, job->ir->weights);
}

void fp_job_choose_edges(struct fp_job *job)
{
    struct fp_function *f = job->f;
    if (!(f->flags & FP_FUNCTION_EDGES)) return;
    if (f->flags & FP_FUNCTION_VALUES) fp_layout_values(f);
    const struct fp_paths *old = fp_job_old_paths(job);
    struct fp_flow *flow =
        fp_flow_make(job->arena, old->cfg, &old->truncation->order, fp_job_old_weights(job));
    f->paths.flow = flow;
    f->layout.flow_slot = FP_NEW_ARRAY(job->arena, uint32_t, flow->nedges);
    for (uint32_t i = 0; i < flow->nedges; i++) {
        enum fp_flow_kind kind = flow->edges[i].kind;
        bool wanted = f->flags & FP_FUNCTION_CHORDS ? !fp_bitset_has(&flow->in_tree, i)
                                                    : kind == FP_FLOW_ENTRY || kind == FP_FLOW_EDGE;
        f->layout.flow_slot[i] = wanted ? fp_layout_add_edge(f) : FP_NONE;
    }
    choose_loops(job);
}

static bool is_watched_access(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
    case LLVMStore: return LLVMGetVolatile(i) || LLVMGetOrdering(i) != LLVMAtomicOrderingNotAtomic;
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return true;
    default: return false;
    }
}

/* What other threads, or handlers of signals, are told or waited for by. */
static bool has_watched_access(LLVMBasicBlockRef bb)
{
    for (LLVMValueRef i = bb ? LLVMGetFirstInstruction(bb) : NULL; i; i = LLVMGetNextInstruction(i))
        if (is_watched_access(i)) return true;
    return false;
}

/* Is the value made of what the block loads, by a few operations in it? */
static bool is_loaded(LLVMValueRef value, LLVMBasicBlockRef bb, unsigned depth)
{
    if (!LLVMIsAInstruction(value) || LLVMGetInstructionParent(value) != bb) return false;
    if (LLVMIsAPHINode(value) || !depth) return false;
    if (LLVMIsALoadInst(value)) return true;
    for (int i = 0; i < LLVMGetNumOperands(value); i++)
        if (is_loaded(LLVMGetOperand(value, (unsigned)i), bb, depth - 1)) return true;
    return false;
}

static bool goes_by_data(LLVMBasicBlockRef bb)
{
    enum { DEEPEST = 4 };
    LLVMValueRef end = bb ? LLVMGetBasicBlockTerminator(bb) : NULL;
    if (!end) return false;
    if (LLVMIsASwitchInst(end)) return true;
    return LLVMIsABranchInst(end) && LLVMIsConditional(end) &&
           is_loaded(LLVMGetCondition(end), bb, DEEPEST);
}

/* Counts of short loops are kept in registers, where the code generator has some: not without
 * optimisation, and not before it. Tables, gates and cycles have no counter that could be kept. Of
 * samples the running register is kept. */
static void choose_kept_loops(struct fp_job *job)
{
    enum {
        NO_COUNTS =
            FP_FUNCTION_HASHED | FP_FUNCTION_CYCLES | FP_FUNCTION_SAMPLED | FP_FUNCTION_EXITS
    };
    const struct fp_function *f = job->f;
    bool running = job->plan->running;
    uint32_t n = f->paths.cfg->nblocks, *instructions = FP_NEW_ARRAY(job->arena, uint32_t, n);
    uint32_t *origin = FP_NEW_ARRAY(job->arena, uint32_t, n);
    struct fp_bitset watched = fp_bitset_new(job->arena, n), by_data = fp_bitset_new(job->arena, n);
    if (f->flags & FP_FUNCTION_EARLY || (!running && f->flags & NO_COUNTS) || f->layout.gated ||
        !job->work->optimizing || fp_ir_has_attribute(job->ir->function, "optnone"))
        return;
    for (uint32_t b = 0; b < n; b++) {
        origin[b] = fp_job_old_block(job, b);
        instructions[b] = f->source.blocks[origin[b]].instructions;
        if (has_watched_access(job->ir->blocks[b].bb)) fp_bitset_add(&watched, b);
        if (goes_by_data(job->ir->blocks[b].bb)) fp_bitset_add(&by_data, b);
    }
    const double *weights = job->ir->weights;
    uint32_t *kept =
        running ? fp_kept_moves(job->arena, job->plan, weights, instructions, origin, &by_data)
                : fp_kept_counts(job->arena, job->plan, weights, instructions, origin, &watched,
                                 &by_data);
    job->ir->kept_loops = kept;
    for (uint32_t b = 0; kept && job->ir->short_loops && b < n; b++)
        if (kept[b] != FP_NONE) job->ir->short_loops[b] = FP_NONE;
}

void fp_job_plan(struct fp_job *job)
{
    const struct fp_flags *flags = &job->work->flags;
    bool sampled = job->f->flags & FP_FUNCTION_SAMPLED;
    if (!(job->f->flags & FP_FUNCTION_PATHS)) return;
    struct fp_plan_options how = {
        .eager = flags->cycles,
        .exits = flags->exits,
        .running = sampled && job->pep != FP_PEP_FLAG,
        /* a program that asks for its own counts has nobody who subtracts (graph/recover.c) */
        .branch_counts = !flags->cycles && !sampled && !flags->plain_labels && !flags->query,
    };
    if (how.branch_counts && !how.exits && !flags->hits) how.lap_exits = find_lap_exits(job);
    job->plan = fp_plan_make(job->arena, job->f->paths.numbering,
                             flags->plain_labels ? NULL : job->ir->weights, &how);
    job->f->layout.at_end = job->plan->at_end;
    /* with a second body nothing is added in the first one, so there is nothing to keep */
    bool adds = job->plan->running && job->pep != FP_PEP_BODY;
    if (how.lap_exits || adds) choose_kept_loops(job);
    fp_job_fit_copies(job);
}

/* Without paths all that counts is that the block was not passed. */
void fp_job_note_exits(struct fp_job *job)
{
    const struct fp_plan *plan = job->plan;
    const struct fp_cfg *cfg = job->f->paths.cfg;
    struct fp_layout *layout = &job->f->layout;
    if (!(job->f->flags & FP_FUNCTION_EXITS)) return;
    layout->counted = plan ? plan->counted : FP_NEW_ARRAY(job->arena, bool, cfg->nblocks);
    layout->has_register = plan ? plan->has_register : FP_NEW_ARRAY(job->arena, bool, cfg->nblocks);
    layout->offset = plan ? plan->offset : FP_NEW_ARRAY(job->arena, int64_t, cfg->nblocks);
    for (uint32_t b = 0; !plan && b < cfg->nblocks; b++)
        layout->counted[b] = fp_cfg_out_degree(cfg, b) == 0;
    fp_job_note_left_copies(job);
}
