/* Copies of blocks: see codecopies.h. */
#include "llvm/codecopies.h"

#include "graph/blockcopies.h"
#include "graph/plan.h"
#include "llvm/shim.h"

struct fp_job_copies {
    struct fp_copied_graph *graph;
    struct fp_paths paths; /* without copies, as are the next two */
    struct fp_ir_block *blocks;
    double *weights;
};

/* How much may be copied. A size is a number of IR instructions. */
struct allowance {
    unsigned percent; /* of the function's size */
    double least;     /* executions in a call of the function, for each instruction of a copy */
    double saved;     /* of the executed operations, or the function stays as it is. Copies that
                         save little are not worth what they do to the register allocator:
                         minisat's innermost loop once took 5% longer for 8% of its operations */
};

static double hottest(const struct fp_job *job)
{
    double most = 0;
    for (uint32_t e = 0; e < job->f->paths.cfg->nedges; e++)
        if (job->ir->weights[e] > most) most = job->ir->weights[e];
    return most;
}

/* Estimates say little of how often a function is called, or comes to its loops: there a block is
 * measured by the hottest one. A guide says it: what is executed rarely, next to all that ran, is
 * not copied at all. */
static struct allowance allowance_of(const struct fp_job *job)
{
    static const double RARELY = 2e-7, SELDOM = 0.2, OF_HOTTEST = 0.02, LOOPS = 1.05;
    if (job->work->flags.copies == FP_COPIES_ALL) return (struct allowance){1000, 0, -1};
    if (job->measured)
        return (struct allowance){job->share > 0 ? 300 : 0, RARELY / job->share, 0.1};
    double most = hottest(job), least = most > LOOPS ? most * OF_HOTTEST : SELDOM;
    return (struct allowance){100, least < SELDOM ? least : SELDOM, 0.2};
}

/* ---- which blocks ---- */

/* What calls cost belongs to the blocks as they were. */
static bool may_copy(const struct fp_job *job)
{
    enum {
        NOT_WITH = FP_FUNCTION_EARLY | FP_FUNCTION_CYCLES | FP_FUNCTION_SAMPLED |
                   FP_FUNCTION_VALUES | FP_FUNCTION_CALL_COSTS,
        MANY_EDGES = 20000
    };
    static const char *const small[] = {"optnone", "optsize", "minsize"};
    const struct fp_work *work = job->work;
    const struct fp_flags *flags = &work->flags;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (fp_ir_has_attribute(job->ir->function, small[i])) return false;
    return flags->copies != FP_COPIES_NO && work->optimizing && !work->division && !flags->hits &&
           !flags->plain_labels && job->f->flags & FP_FUNCTION_PATHS &&
           !(job->f->flags & NOT_WITH) && job->f->paths.cfg->nedges <= MANY_EDGES;
}

/* 0: it stays single. So does a basic block that the cfg has in parts, and one that may unwind. */
static uint32_t size_of(const struct fp_job *job, uint32_t b)
{
    const struct fp_cfg *cfg = job->f->paths.cfg;
    const struct fp_ir_block *block = &job->ir->blocks[b];
    if (!block->bb || !block->has_terminator || cfg->flags[b] & (FP_BLOCK_PAD | FP_BLOCK_HUB))
        return 0;
    for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++)
        if (cfg->edges[e].kind > FP_EDGE_SWITCH) return 0;
    for (uint32_t k = cfg->first_in[b]; k < cfg->first_in[b + 1]; k++) {
        const struct fp_edge *edge = &cfg->edges[cfg->in_edges[k]];
        if (edge->kind > FP_EDGE_SWITCH || cfg->flags[edge->src] & (FP_BLOCK_PAD | FP_BLOCK_HUB))
            return 0;
    }
    return fp_shim_can_copy(block->bb) ? job->f->source.blocks[b].instructions + 1 : 0;
}

static struct fp_copied_graph *choose(const struct fp_job *job, const struct fp_plan *plan,
                                      const struct allowance *allowed)
{
    /* instructions of an operation, and some of a spill; with --fp-exits also the store */
    static const double OF_REGISTER = 1.1, OF_SLOT = 1;
    struct fp_arena scratch = {0};
    uint32_t n = job->f->paths.cfg->nblocks, *sizes = FP_NEW_ARRAY(&scratch, uint32_t, n);
    double *costs = FP_NEW_ARRAY(&scratch, double, n);
    uint64_t whole = 0;
    for (uint32_t b = 0; b < n; b++) {
        sizes[b] = size_of(job, b);
        costs[b] = OF_REGISTER + (job->work->flags.exits ? OF_SLOT : 0);
        whole += job->f->source.blocks[b].instructions + 1;
    }
    struct fp_copy_options how = {.weights = job->ir->weights,
                                  .counted = plan->counted,
                                  .bytes = sizes,
                                  .register_cost = costs,
                                  .most_bytes = whole * allowed->percent / 100,
                                  .laps = job->measured || job->work->flags.copies == FP_COPIES_ALL,
                                  .least_gain = allowed->least};
    struct fp_copied_graph *graph = fp_copy_blocks(job->arena, job->f->paths.numbering, &how);
    fp_arena_free(&scratch);
    return graph;
}

/* The copied graph, or NULL where it does not pay. */
static struct fp_copied_graph *worthwhile(const struct fp_job *job)
{
    struct fp_arena scratch = {0};
    struct allowance allowed = allowance_of(job);
    struct fp_plan_options how = {.branch_counts = true, .exits = job->work->flags.exits};
    if (!allowed.percent) return NULL;
    struct fp_plan *plan = fp_plan_make(&scratch, job->f->paths.numbering, job->ir->weights, &how);
    struct fp_copied_graph *g = choose(job, plan, &allowed);
    if (g) {
        struct fp_plan *copied = fp_plan_make(&scratch, g->numbering, g->weights, &how);
        double before = fp_plan_cost(plan, job->ir->weights);
        if (fp_plan_cost(copied, g->weights) > before * (1 - allowed.saved)) g = NULL;
    }
    fp_arena_free(&scratch);
    return g;
}

/* ---- the code ---- */

/* The instruction of a copy that is as far from the end as the old one. */
static LLVMValueRef same_place(LLVMBasicBlockRef copy, LLVMValueRef old)
{
    LLVMValueRef at = LLVMGetLastInstruction(copy);
    for (LLVMValueRef i = LLVMGetNextInstruction(old); i; i = LLVMGetNextInstruction(i))
        at = LLVMGetPreviousInstruction(at);
    return at;
}

static void copy_code(struct fp_job *job, const struct fp_copied_graph *g)
{
    const struct fp_ir_block *old = job->ir->blocks;
    uint32_t nold = g->nold, n = g->cfg->nblocks, nedges = 0;
    LLVMBasicBlockRef *bbs = FP_NEW_ARRAY(job->arena, LLVMBasicBlockRef, n);
    struct fp_shim_copied_edge *edges =
        FP_NEW_ARRAY(job->arena, struct fp_shim_copied_edge, g->cfg->nedges);
    for (uint32_t b = 0; b < nold; b++) bbs[b] = old[b].bb;
    for (uint32_t e = 0; e < g->cfg->nedges; e++) {
        const struct fp_edge *edge = &g->cfg->edges[e];
        if (edge->src >= nold || edge->dst >= nold)
            edges[nedges++] = (struct fp_shim_copied_edge){edge->src, edge->dst};
    }
    struct fp_shim_copies how = {bbs, g->block_of, nold, n, edges, nedges};
    fp_shim_copy_graph(&how);
    struct fp_ir_block *blocks = FP_NEW_ARRAY(job->arena, struct fp_ir_block, n);
    for (uint32_t b = 0; b < n; b++) {
        blocks[b] = old[g->block_of[b]];
        if (b < nold) continue;
        blocks[b].bb = bbs[b];
        blocks[b].begin = same_place(bbs[b], blocks[b].begin);
        blocks[b].end = same_place(bbs[b], blocks[b].end);
    }
    job->ir->blocks = blocks;
}

void fp_job_copy_blocks(struct fp_job *job)
{
    struct fp_paths *paths = &job->f->paths;
    struct fp_copied_graph *g = may_copy(job) ? worthwhile(job) : NULL;
    if (!g) return;
    job->copies = FP_NEW(job->arena, struct fp_job_copies);
    *job->copies = (struct fp_job_copies){g, *paths, job->ir->blocks, job->ir->weights};
    copy_code(job, g);
    paths->cfg = g->cfg;
    paths->truncation = g->truncation;
    paths->dag = g->dag;
    paths->numbering = g->numbering;
    job->ir->weights = g->weights;
    job->ir->edge_of = g->edge_of;
}

/* ---- with copies, and without ---- */

uint32_t fp_job_old_block(const struct fp_job *job, uint32_t block)
{
    return job->copies ? job->copies->graph->block_of[block] : block;
}

uint32_t fp_job_old_edge(const struct fp_job *job, uint32_t edge)
{
    return job->copies ? job->copies->graph->edge_of[edge] : edge;
}

const struct fp_paths *fp_job_old_paths(const struct fp_job *job)
{
    return job->copies ? &job->copies->paths : &job->f->paths;
}

const double *fp_job_old_weights(const struct fp_job *job)
{
    return job->copies ? job->copies->weights : job->ir->weights;
}

void fp_job_fit_copies(struct fp_job *job)
{
    if (!job->copies) return;
    job->f->layout.at_end = FP_NEW_ARRAY(job->arena, uint32_t, job->copies->graph->nold);
    fp_copied_counts(job->copies->graph, job->plan->at_end, job->f->layout.at_end);
}

void fp_job_note_left_copies(struct fp_job *job)
{
    if (!job->copies) return;
    const struct fp_copied_graph *g = job->copies->graph;
    job->f->layout.ncopies = g->cfg->nblocks - g->nold;
    job->f->layout.copy_of = g->block_of + g->nold;
}

void fp_job_forget_copies(struct fp_job *job)
{
    struct fp_flow *flow = job->f->paths.flow; /* chosen later, and of the old edges */
    if (!job->copies) return;
    job->f->paths = job->copies->paths;
    job->f->paths.flow = flow;
    job->ir->blocks = job->copies->blocks;
    job->ir->weights = job->copies->weights;
    job->ir->edge_of = NULL;
    job->copies = NULL;
}
