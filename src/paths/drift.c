/* Drift: see drift.h. The first part is a profile as the other side, the second measures one
 * function, the third takes the functions together. */
#include "paths/drift.h"

#include "base/names.h"
#include "paths/match.h"

#include <math.h>
#include <stdlib.h>

/* ---- a profile as the other side ---- */

struct side {
    struct fp_matcher matcher;
    struct fp_table names; /* of name and file: it has such a function */
};

double fp_drift_flow(const struct fp_cfg *cfg, uint64_t entries, const uint64_t *edges)
{
    double sum = (double)entries;
    for (uint32_t e = 0; e < cfg->nedges; e++) sum += (double)edges[e];
    return sum;
}

static bool know(struct fp_arena *arena, const struct fp_function_ref *ref, struct fp_known *known)
{
    struct fp_counts counts;
    struct fp_edge_counts edges;
    struct fp_error error = {0};
    fp_profile_counts(arena, ref->module, ref->function, &counts);
    if (!fp_edges_of(arena, &counts, &edges, &error)) return false;
    *known = (struct fp_known){.entries = edges.entries, .edges = edges.edges};
    known->paths = FP_NEW_ARRAY(arena, struct fp_known_path, counts.npaths);
    for (size_t i = 0; i < counts.npaths; i++) {
        struct fp_known_path *path = &known->paths[known->npaths];
        path->count = counts.paths[i].count;
        known->npaths +=
            fp_path_decode(arena, ref->function->paths.numbering, counts.paths[i].id, &path->path);
    }
    return true;
}

static enum fp_drift_match find(const struct fp_drift_other *other, struct fp_arena *arena,
                                const struct fp_function *f, struct fp_known *known)
{
    const struct side *side = other->context;
    const struct fp_function_ref *ref = fp_matcher_find(&side->matcher, f);
    if (ref && know(arena, ref, known)) return FP_DRIFT_SAME;
    bool named = fp_table_find(&side->names, fp_name_key(f->name, f->file));
    return ref || named ? FP_DRIFT_RESHAPED : FP_DRIFT_ABSENT;
}

static void add_flow(const struct fp_measured *measured, struct fp_arena *scratch, void *context)
{
    (void)scratch;
    struct fp_drift_other *other = context;
    if (measured->edges)
        other->flow += fp_drift_flow(measured->function->paths.cfg, measured->edges->entries,
                                     measured->edges->edges);
}

void fp_drift_against_profile(struct fp_arena *arena, const struct fp_profile *profile,
                              struct fp_drift_other *other)
{
    struct side *side = FP_NEW(arena, struct side);
    fp_matcher_init(&side->matcher, arena, profile);
    fp_table_init(&side->names, arena);
    for (size_t i = 0; i < side->matcher.refs.len; i++) {
        const struct fp_function *f = side->matcher.refs.at[i].function;
        *fp_table_add(&side->names, fp_name_key(f->name, f->file)) = 1;
    }
    *other = (struct fp_drift_other){.find = find, .context = side};
    fp_each_measured(profile, add_flow, other);
}

/* ---- one function ---- */

struct both {
    double now, then;
};

/* Two distributions side by side, which need not be of the same length. */
struct distributions {
    FP_VEC(struct both) at;
    double now, then; /* sums */
};

static double common_of(const struct distributions *s)
{
    double common = 0;
    if (s->now <= 0 || s->then <= 0) return 0;
    for (size_t i = 0; i < s->at.len; i++)
        common += fmin(s->at.at[i].now / s->now, s->at.at[i].then / s->then);
    return common;
}

/* How far two sets of draws from one distribution lie apart: half the sum of the expected
 * distances. A share of n draws has the deviation sqrt(q(1-q)/n), and is a normal one where the
 * draws are many. The distribution is taken from both sides. */
static double chance_of(const struct distributions *s)
{
    const double pi = 3.14159265358979323846;
    double distance = 0;
    if (s->now <= 0 || s->then <= 0) return 0;
    for (size_t i = 0; i < s->at.len; i++) {
        double q = (s->at.at[i].now + s->at.at[i].then) / (s->now + s->then);
        double spread = q * (1 - q) * (1 / s->now + 1 / s->then);
        distance += fmin(sqrt(2 * spread / pi), 2 * q);
    }
    return fmin(distance / 2, 1);
}

static double unseen_of(const struct distributions *s)
{
    double unseen = 0;
    for (size_t i = 0; i < s->at.len; i++)
        if (s->at.at[i].then <= 0) unseen += s->at.at[i].now;
    return s->now > 0 ? unseen / s->now : 0;
}

/* False where a path of the other side has no number here: paths end at other edges. */
static bool paths_side_by_side(struct fp_arena *arena, const struct fp_counts *counts,
                               const struct fp_known *known, struct distributions *s)
{
    const struct fp_numbering *numbering = counts->function->paths.numbering;
    struct fp_table by_id;
    if (!numbering) return false;
    fp_table_init(&by_id, arena);
    for (size_t i = 0; i < counts->npaths; i++) {
        struct both path = {.now = (double)counts->paths[i].count};
        fp_vec_push(arena, &s->at, path);
        s->now += path.now;
        *fp_table_add(&by_id, counts->paths[i].id) = s->at.len;
    }
    for (size_t i = 0; i < known->npaths; i++) {
        uint64_t id = fp_path_encode(numbering, &known->paths[i].path);
        if (id == FP_NO_ID) return false;
        uint64_t *index = fp_table_add(&by_id, id);
        if (!*index) {
            fp_vec_push(arena, &s->at, (struct both){0});
            *index = s->at.len;
        }
        s->at.at[*index - 1].then += (double)known->paths[i].count;
        s->then += (double)known->paths[i].count;
    }
    return counts->npaths && known->npaths;
}

/* Sums over the branches of functions, weighted by how often a branch ran. */
struct branch_sums {
    double ran, common, flipped, unseen, chance;
};

static void add_branch(struct fp_arena *arena, const struct fp_cfg *cfg, uint32_t block,
                       const uint64_t *now, const uint64_t *then, struct branch_sums *sums)
{
    struct distributions s = {0};
    double likely_now = 0, likely_then = 0, on_likely_then = 0;
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) {
        struct both way = {(double)now[e], (double)then[e]};
        fp_vec_push(arena, &s.at, way);
        s.now += way.now;
        s.then += way.then;
        likely_now = fmax(likely_now, way.now);
        if (way.then > likely_then || (way.then == likely_then && way.now > on_likely_then))
            likely_then = way.then, on_likely_then = way.now;
    }
    if (s.now <= 0) return;
    sums->ran += s.now;
    sums->common += s.now * common_of(&s);
    sums->unseen += s.now * unseen_of(&s);
    sums->chance += s.now * chance_of(&s);
    if (s.then > 0) sums->flipped += likely_now - on_likely_then;
}

static struct branch_sums branches_of(struct fp_arena *arena, const struct fp_cfg *cfg,
                                      const uint64_t *now, const uint64_t *then)
{
    struct branch_sums sums = {0};
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        if (fp_cfg_out_degree(cfg, b) > 1) add_branch(arena, cfg, b, now, then, &sums);
    return sums;
}

/* A function that the other side never ran has nothing in common; one without a branch that
 * both ran, all. */
static void compare_function(struct fp_arena *arena, const struct fp_measured *measured,
                             const struct fp_known *known, double flow_then,
                             struct fp_drift_function *f)
{
    struct distributions paths = {0};
    const struct fp_cfg *cfg = measured->function->paths.cfg;
    struct branch_sums b = branches_of(arena, cfg, measured->edges->edges, known->edges);
    bool by_paths = paths_side_by_side(arena, measured->counts, known, &paths);
    f->m = (struct fp_drift_measures){.paths = 1, .branches = 1};
    if (b.ran > 0) {
        f->m = (struct fp_drift_measures){b.common / b.ran, b.common / b.ran, b.flipped / b.ran,
                                          b.unseen / b.ran, b.chance / b.ran};
    }
    if (flow_then <= 0) {
        f->m = (struct fp_drift_measures){.unseen = 1};
    } else if (by_paths) {
        f->m.paths = common_of(&paths);
        f->m.unseen = unseen_of(&paths);
        f->m.chance = chance_of(&paths);
    } else {
        f->by_branches = true;
    }
}

/* ---- all functions ---- */

struct drifting {
    struct fp_arena *arena;
    const struct fp_drift_other *other;
    struct fp_drift *drift;
    FP_VEC(struct fp_drift_function) functions;
    double flow;    /* of now, in all */
    double matched; /* and in functions that were compared */
    double branches_ran;
    struct fp_drift_measures sums; /* weighted by flow; branches and flipped by branches */
};

static uint64_t executions(const struct fp_measured *measured)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < measured->counts->npaths; i++) sum += measured->counts->paths[i].count;
    return sum ? sum : measured->edges->entries;
}

static double branches_run(const struct fp_cfg *cfg, const uint64_t *edges)
{
    double sum = 0;
    for (uint32_t e = 0; e < cfg->nedges; e++)
        if (fp_cfg_out_degree(cfg, cfg->edges[e].src) > 1) sum += (double)edges[e];
    return sum;
}

static void add_to_sums(struct drifting *d, const struct fp_drift_function *f, double branches)
{
    d->matched += f->flow;
    d->branches_ran += branches;
    d->drift->counts += f->counts;
    d->drift->by_branches += f->by_branches;
    d->sums.paths += f->flow * f->m.paths;
    d->sums.unseen += f->flow * f->m.unseen;
    d->sums.chance += f->flow * f->m.chance;
    d->sums.branches += branches * f->m.branches;
    d->sums.flipped += branches * f->m.flipped;
}

static void add_function(const struct fp_measured *measured, struct fp_arena *scratch,
                         void *context)
{
    struct drifting *d = context;
    struct fp_known known = {0};
    const struct fp_cfg *cfg = measured->function->paths.cfg;
    if (!measured->edges) {
        d->drift->unusable++;
        return;
    }
    struct fp_drift_function f = {
        .function = measured->function,
        .flow = fp_drift_flow(cfg, measured->edges->entries, measured->edges->edges)};
    if (f.flow <= 0) return;
    d->flow += f.flow;
    f.counts = executions(measured);
    f.match = d->other->find(d->other, scratch, measured->function, &known);
    if (f.match == FP_DRIFT_SAME) {
        double then = fp_drift_flow(cfg, known.entries, known.edges);
        f.then = d->other->flow > 0 ? then / d->other->flow : 0;
        compare_function(scratch, measured, &known, then, &f);
        add_to_sums(d, &f, branches_run(cfg, measured->edges->edges));
    }
    d->drift->reshaped += f.match == FP_DRIFT_RESHAPED;
    d->drift->absent += f.match == FP_DRIFT_ABSENT;
    fp_vec_push(d->arena, &d->functions, f);
}

/* How much of the drift is this function's. */
static double part_of(const struct fp_drift_function *f)
{
    return f->match == FP_DRIFT_SAME ? f->flow * (1 - f->m.paths) : 0;
}

static int drifted_more(const void *a, const void *b)
{
    const struct fp_drift_function *x = a, *y = b;
    double first = part_of(x), second = part_of(y);
    if (first != second) return first < second ? 1 : -1;
    return (x->flow < y->flow) - (x->flow > y->flow);
}

static void take_together(struct drifting *d)
{
    struct fp_drift *drift = d->drift;
    drift->matched = d->flow > 0 ? d->matched / d->flow : 0;
    drift->m = (struct fp_drift_measures){.paths = 1, .branches = 1};
    if (d->matched > 0) {
        drift->m.paths = d->sums.paths / d->matched;
        drift->m.unseen = d->sums.unseen / d->matched;
        drift->m.chance = d->sums.chance / d->matched;
    }
    if (d->branches_ran > 0) {
        drift->m.branches = d->sums.branches / d->branches_ran;
        drift->m.flipped = d->sums.flipped / d->branches_ran;
    }
    for (size_t i = 0; i < d->functions.len; i++) {
        struct fp_drift_function *f = &d->functions.at[i];
        f->share = f->flow / d->flow;
        drift->common_flow += fmin(f->share, f->then);
    }
}

void fp_drift_make(struct fp_arena *arena, const struct fp_profile *now,
                   const struct fp_drift_other *other, struct fp_drift *drift)
{
    struct drifting d = {.arena = arena, .other = other, .drift = drift};
    *drift = (struct fp_drift){0};
    fp_each_measured(now, add_function, &d);
    take_together(&d);
    if (d.functions.len)
        qsort(d.functions.at, d.functions.len, sizeof *d.functions.at, drifted_more);
    drift->functions = d.functions.at;
    drift->nfunctions = d.functions.len;
}
