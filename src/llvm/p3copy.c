/* P3 in the compiler: see p3copy.h. */
#include "llvm/p3copy.h"

#include "count/layout.h"
#include "graph/select.h"
#include "graph/weights.h"

bool fp_p3_read_division(struct fp_work *work)
{
    const struct fp_flags *flags = &work->flags;
    struct fp_error error = {0};
    if (!flags->division) return true;
    struct fp_division *division = FP_NEW(&work->arena, struct fp_division);
    if (!fp_division_read(&work->arena, flags->division, division, &error))
        return fp_say_error(&error, "nothing is instrumented");
    if (flags->copy >= division->ncopies) {
        fp_fail(&error, flags->division, "has copies 0 to %u, not %u", division->ncopies - 1,
                flags->copy);
        return fp_say_error(&error, "nothing is instrumented");
    }
    work->division = division;
    return true;
}

/* What the division assumed too (p3/divide.c). */
static const double *copy_weights(const struct fp_job *job)
{
    const struct fp_cfg *cfg = job->f->paths.cfg;
    if (job->work->division->plain_labels) return NULL;
    if (job->part->nweights != cfg->nedges) {
        struct fp_loops loops;
        fp_loops_find(job->arena, cfg, &loops);
        return fp_weights_static(job->arena, cfg, &job->f->paths.truncation->order, &loops);
    }
    double *weights = FP_NEW_ARRAY(job->arena, double, cfg->nedges);
    for (uint32_t e = 0; e < cfg->nedges; e++) weights[e] = (double)job->part->weights[e];
    return weights;
}

static void plan_some_paths(struct fp_job *job, const double *weights)
{
    const struct fp_flags *flags = &job->work->flags;
    const struct fp_part *part = job->part;
    struct fp_selection *s =
        fp_select(job->arena, job->f->paths.numbering, &part->edges[flags->copy],
                  &part->laps[flags->copy], weights, flags->exits);
    job->plan = s->plan;
    job->copy.labels = (struct fp_pspp *)s->labels;
    job->copy.laps = part->laps[flags->copy];
    fp_layout_paths(job->f, s->sums->num_ids, flags->array_paths);
    job->ir->short_loops = NULL; /* the array is there once */
}

static void plan_all_paths(struct fp_job *job, const double *weights)
{
    bool exits = job->work->flags.exits;
    struct fp_plan_options how = {.exits = exits, .branch_counts = exits && weights};
    job->plan = fp_plan_make(job->arena, job->f->paths.numbering, weights, &how);
}

/* Counters that the reference does not have make another function of it. */
static void add_counters(struct fp_job *job)
{
    struct fp_function *f = job->f;
    if (job->work->flags.hits) {
        f->flags |= FP_FUNCTION_HITS;
        f->copy->hits_slot = fp_layout_add_edge(f);
    }
    f->id = fp_hash64(f->id ^ (f->flags & ~(uint32_t)(FP_FUNCTION_CALLEES | FP_FUNCTION_CALLS)));
    f->id = fp_hash64(f->id ^ f->layout.path_slots ^ f->layout.edge_slots << 32);
    f->id += f->layout.sparse_slots;
}

static void plan_copy(struct fp_job *job)
{
    const double *weights = copy_weights(job);
    if (job->part->kind == FP_PART_PATHS)
        plan_some_paths(job, weights);
    else
        plan_all_paths(job, weights);
    job->copy.turns_slot = fp_layout_add_edge(job->f);
    job->f->flags |= FP_FUNCTION_COPY;
    job->f->layout.at_end = job->plan->at_end;
    add_counters(job);
}

/* Another copy counts the paths. This one counts the calls, so that the collation sees
 * whether both did the same. */
static void plan_calls(struct fp_job *job)
{
    struct fp_function *f = job->f;
    f->flags &= FP_FUNCTION_EARLY | FP_FUNCTION_INLINED;
    f->flags |= FP_FUNCTION_COPY;
    f->layout.path_slots = f->layout.edge_slots = 0;
    job->copy.turns_slot = fp_layout_add_edge(f);
    f->id = fp_hash64(f->id ^ f->flags);
}

static void begin_copy(struct fp_job *job)
{
    job->copy =
        (struct fp_copy_info){.reference = job->f->id, .turns_slot = FP_NONE, .hits_slot = FP_NONE};
    job->f->copy = &job->copy;
}

bool fp_p3_plan(struct fp_job *job)
{
    job->part = fp_division_find(job->work->division, job->f->id);
    if (!job->part) return false;
    begin_copy(job);
    if (fp_part_concerns(job->part, job->work->flags.copy))
        plan_copy(job);
    else
        plan_calls(job);
    return true;
}

void fp_p3_add_hits(struct fp_job *job)
{
    begin_copy(job);
    add_counters(job);
}

bool fp_p3_takes_turns(const struct fp_job *job, uint32_t *turn)
{
    if (!job->part || job->part->kind != FP_PART_TURNS) return false;
    uint32_t n = job->work->division->ncopies;
    *turn = (job->work->flags.copy + n - job->part->copy) % n;
    return true;
}
