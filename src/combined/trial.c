/* One run becomes one trial: see combine.h. Frequencies are those of paper 000, section 3.5.3:
 * an edge relative to its nearest dominating edge, or to the calls of its function
 * where there is none; a path relative to the calls of its function; calls by
 * themselves. Where what it would be relative to was not counted (the counters were
 * reset in mid-run), the count itself stands.
 *
 * One run is one trial. An inline or template function that several modules of a run
 * have copies of counts as one function: the copies' counts are summed first.
 *
 * Not handled: counts that were sampled. */
#include "combined/combiner.h"

#include "base/checked.h"
#include "graph/dominators.h"
#include "paths/edges.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct trial_tally;

struct trial {
    struct fp_combiner *combiner;
    struct fp_combined *into;
    const struct fp_run *records;     /* of the run, one per module */
    struct fp_known_module **modules; /* of each record */
    size_t nrecords;
    struct fp_table copies; /* with several modules: target -> how many of them have it */
    struct fp_table summed; /* target -> 1 + index in sums, where that is more than one */
    FP_VEC(struct trial_tally *) sums;
};

/* What a run did in one function, or in all copies of it. */
struct trial_tally {
    struct fp_combined_function *target;
    const struct fp_function *function;
    uint32_t **dominators;
    bool touched, paths;
    struct fp_edge_counts edges;
    struct fp_counts counts;
    uint64_t path_entries;   /* calls of the copies that count paths */
    struct fp_error problem; /* the counts of a copy are no flow */
};

static bool any_counter(const struct fp_run *run, uint64_t address, uint64_t slots)
{
    uint64_t from;
    size_t low = 0, high = run->ncounters;
    if (!slots || !fp_layout_word(&run->module.sections, address, slots, &from)) return false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (run->counters[middle].index < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < run->ncounters && run->counters[low].index < from + slots;
}

static bool touches(const struct fp_run *run, const struct fp_known_module *known,
                    const struct fp_function *f)
{
    uint64_t table;
    if (any_counter(run, f->layout.edge_address, f->layout.edge_slots)) return true;
    if (fp_layout_table(f, &run->module.sections, &table)) {
        const struct fp_counters *tables = &known->module.tables;
        size_t place = fp_counters_from(tables, table, 0);
        if (place < tables->len && tables->at[place].table == table) return true;
    } else if (any_counter(run, f->layout.path_address, f->layout.path_slots)) {
        return true;
    }
    for (size_t i = 0; i < run->nin_flight; i++)
        if (run->in_flight[i].function == f->id) return true;
    return false;
}

/* Did anything of the function run? Most functions of most runs did not. */
static bool is_touched(const struct trial *a, const struct fp_known_module *known,
                       const struct fp_function *f)
{
    for (size_t i = 0; i < a->nrecords; i++)
        if (a->modules[i] == known && touches(&a->records[i], known, f)) return true;
    return false;
}

static double relative(uint64_t count, uint64_t to)
{
    return (double)count / (double)(to ? to : 1);
}

static void add_edges(struct trial *a, const struct trial_tally *t)
{
    const struct fp_cfg *cfg = t->function->paths.cfg;
    const struct fp_edge_counts *edges = &t->edges;
    if (!*t->dominators) *t->dominators = fp_edge_dominators(&a->combiner->arena, cfg);
    if (edges->entries)
        fp_combined_add(a->into, t->target, FP_EVENT_ENTRY, 0, 0, (double)edges->entries,
                        edges->entries);
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        uint32_t above = (*t->dominators)[e];
        if (!edges->edges[e]) continue;
        uint64_t to = above == FP_NONE ? edges->entries : edges->edges[above];
        fp_combined_add(a->into, t->target, FP_EVENT_EDGE, 0, e, relative(edges->edges[e], to),
                        edges->edges[e]);
    }
}

/* One path can stop in several frames of a run. */
static void add_partials(struct trial *a, struct fp_combined_function *target,
                         const struct fp_counts *counts, uint64_t entries)
{
    for (size_t i = 0; i < counts->npartials; i++) {
        const struct fp_partial_path *p = &counts->partials[i];
        int64_t count = 0;
        bool first = true;
        for (size_t k = 0; k < counts->npartials; k++) {
            const struct fp_partial_path *other = &counts->partials[k];
            if (other->block != p->block || other->prefix != p->prefix) continue;
            if (k < i) first = false;
            count = fp_add_saturated_signed(count, other->count);
        }
        if (first && count > 0)
            fp_combined_add(a->into, target, FP_EVENT_PARTIAL, p->block, p->prefix,
                            relative((uint64_t)count, entries), (uint64_t)count);
    }
}

static void add_paths(struct trial *a, const struct trial_tally *t)
{
    const struct fp_counts *counts = &t->counts;
    for (size_t i = 0; i < counts->npaths; i++)
        fp_combined_add(a->into, t->target, FP_EVENT_PATH, 0, counts->paths[i].id,
                        relative(counts->paths[i].count, t->path_entries), counts->paths[i].count);
    add_partials(a, t->target, counts, t->path_entries);
}

static void leave_out(struct fp_combined *into, const struct fp_function *f,
                      const struct fp_error *error)
{
    into->left_out++;
    if (!into->left_out_why)
        into->left_out_why = fp_arena_printf(&into->arena, "%s: %s", f->name, error->what);
}

/* The function's trial in this run. */
static void add_tally(struct trial *a, const struct trial_tally *t)
{
    if (t->problem.set) {
        leave_out(a->into, t->function, &t->problem);
        return;
    }
    t->target->trials[FP_TRIALS_EDGES]++;
    t->target->trials[FP_TRIALS_PATHS] += t->paths;
    if (!t->touched) return;
    add_edges(a, t);
    if (t->paths) add_paths(a, t);
}

static struct trial_tally tally_function(struct trial *a, struct fp_known_module *known,
                                         size_t index)
{
    struct fp_arena *scratch = &a->combiner->scratch;
    const struct fp_function *f = &known->module.program.functions[index];
    struct trial_tally t = {.target = known->targets[index],
                            .function = f,
                            .dominators = &known->dominators[index],
                            .paths = f->flags & FP_FUNCTION_PATHS,
                            .touched = is_touched(a, known, f)};
    if (!t.touched) return t;
    fp_profile_counts(scratch, &known->module, f, &t.counts);
    fp_edges_of(scratch, &t.counts, &t.edges, &t.problem);
    if (t.paths) t.path_entries = t.edges.entries;
    return t;
}

/* ---- copies of a function in several modules of a run ---- */

static uint64_t key_of(const struct fp_combined_function *target)
{
    return (uint64_t)target->index + 1;
}

static int by_path(const void *a, const void *b)
{
    const struct fp_path_count *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static void sum_paths(struct fp_arena *scratch, struct fp_counts *into,
                      const struct fp_counts *from)
{
    size_t n = into->npaths + from->npaths, kept = 0;
    struct fp_path_count *paths = FP_NEW_ARRAY(scratch, struct fp_path_count, n);
    if (into->npaths) memcpy(paths, into->paths, into->npaths * sizeof *paths);
    if (from->npaths) memcpy(paths + into->npaths, from->paths, from->npaths * sizeof *paths);
    if (n) qsort(paths, n, sizeof *paths, by_path);
    for (size_t i = 0; i < n; i++) {
        if (kept && paths[kept - 1].id == paths[i].id)
            paths[kept - 1].count = fp_add_saturated(paths[kept - 1].count, paths[i].count);
        else
            paths[kept++] = paths[i];
    }
    into->paths = paths;
    into->npaths = kept;
}

static void sum_partials(struct fp_arena *scratch, struct fp_counts *into,
                         const struct fp_counts *from)
{
    size_t n = into->npartials + from->npartials;
    struct fp_partial_path *partials = FP_NEW_ARRAY(scratch, struct fp_partial_path, n);
    if (into->npartials) memcpy(partials, into->partials, into->npartials * sizeof *partials);
    if (from->npartials)
        memcpy(partials + into->npartials, from->partials, from->npartials * sizeof *partials);
    into->partials = partials;
    into->npartials = n;
}

static void sum_edges(struct fp_edge_counts *into, const struct fp_edge_counts *from,
                      uint32_t nedges)
{
    into->entries = fp_add_saturated(into->entries, from->entries);
    for (uint32_t e = 0; e < nedges; e++)
        into->edges[e] = fp_add_saturated(into->edges[e], from->edges[e]);
}

/* The same shape, so the same edges; the same numbers of paths, which fp_combiner_aim() saw to. */
static void sum_tallies(struct fp_arena *scratch, struct trial_tally *into,
                        const struct trial_tally *from)
{
    if (from->problem.set) into->problem = from->problem;
    into->paths |= from->paths;
    if (into->problem.set || !from->touched) return;
    if (!into->touched) {
        into->edges = from->edges;
        into->touched = true;
    } else {
        sum_edges(&into->edges, &from->edges, into->function->paths.cfg->nedges);
    }
    into->path_entries = fp_add_saturated(into->path_entries, from->path_entries);
    sum_paths(scratch, &into->counts, &from->counts);
    sum_partials(scratch, &into->counts, &from->counts);
}

static void add_to_sum(struct trial *a, const struct trial_tally *t)
{
    struct fp_arena *scratch = &a->combiner->scratch;
    uint64_t *index = fp_table_add(&a->summed, key_of(t->target));
    if (*index) {
        sum_tallies(scratch, a->sums.at[*index - 1], t);
        return;
    }
    struct trial_tally *sum = FP_NEW(scratch, struct trial_tally);
    *sum = *t;
    fp_vec_push(scratch, &a->sums, sum);
    *index = a->sums.len;
}

static void list_copies(struct trial *a, const struct fp_known_module *known)
{
    for (size_t i = 0; i < known->module.program.nfunctions; i++)
        if (known->keys[i].name) ++*fp_table_add(&a->copies, key_of(known->targets[i]));
}

static void add_module(struct trial *a, struct fp_known_module *known)
{
    for (size_t i = 0; i < known->module.program.nfunctions; i++) {
        if (!known->keys[i].name) continue;
        struct trial_tally t = tally_function(a, known, i);
        const uint64_t *copies = fp_table_find(&a->copies, key_of(t.target));
        if (copies && *copies > 1)
            add_to_sum(a, &t);
        else
            add_tally(a, &t);
    }
}

/* ---- all modules of a run ---- */

static bool open_records(struct trial *a, struct fp_error *error)
{
    for (size_t i = 0; i < a->nrecords; i++) {
        a->modules[i] = fp_combiner_module(a->combiner, &a->records[i].module, error);
        if (!a->modules[i] || !fp_combiner_aim(a->modules[i], a->into, error)) return false;
    }
    return true;
}

static const struct fp_combined_function *some_function(const struct fp_known_module *known)
{
    for (size_t i = 0; i < known->module.program.nfunctions; i++)
        if (known->keys[i].name) return known->targets[i];
    return NULL;
}

static void note_module(struct trial *a, size_t i)
{
    const struct fp_module_id *id = &a->records[i].module;
    struct fp_combined_module *place =
        fp_combined_module(a->into, id->path, id->build_id, id->build_id_len);
    const struct fp_module *module = &a->modules[i]->module;
    const struct fp_combined_function *first = some_function(a->modules[0]),
                                      *any = some_function(a->modules[i]);
    place->runs++;
    if (!place->any) place->any = any;
    if (first && any) fp_combined_join(a->into, a->into->functions.at[first->index], any);
    if (module->embedded && !place->map.bytes)
        fp_combined_set_map(a->into, place, module->embedded);
}

static void load_records(struct trial *a)
{
    struct fp_arena *scratch = &a->combiner->scratch;
    for (size_t i = 0; i < a->nrecords; i++) {
        struct fp_known_module *known = a->modules[i];
        if (!known->in_run) {
            fp_table_init(&known->module.in_flight_at, scratch);
            known->in_run = true;
            if (a->nrecords > 1) list_copies(a, known);
        }
        struct fp_run counts = a->records[i];
        counts.nhistory = 0; /* a combined profile has no pairs and no callers */
        fp_module_add_run(scratch, &known->module, &counts);
        note_module(a, i);
    }
    for (size_t i = 0; i < a->nrecords; i++) fp_module_sort(&a->modules[i]->module);
}

static void forget_records(struct trial *a)
{
    for (size_t i = 0; i < a->nrecords; i++) {
        struct fp_module *module = &a->modules[i]->module;
        fp_module_free_counters(module);
        memset(&module->in_flight, 0, sizeof module->in_flight);
        memset(&module->in_flight_at, 0, sizeof module->in_flight_at);
    }
}

bool fp_combine_run(struct fp_combiner *c, struct fp_combined *into, const struct fp_run *records,
                    size_t nrecords, struct fp_error *error)
{
    struct trial a = {.combiner = c, .into = into, .records = records, .nrecords = nrecords};
    a.modules = FP_NEW_ARRAY(&c->scratch, struct fp_known_module *, nrecords);
    fp_table_init(&a.copies, &c->scratch);
    fp_table_init(&a.summed, &c->scratch);
    bool ok = open_records(&a, error);
    if (ok) {
        load_records(&a);
        for (size_t i = 0; i < nrecords; i++) {
            if (a.modules[i]->in_run) add_module(&a, a.modules[i]);
            a.modules[i]->in_run = false;
        }
        for (size_t i = 0; i < a.sums.len; i++) add_tally(&a, a.sums.at[i]);
        forget_records(&a);
    }
    fp_arena_free(&c->scratch);
    return ok;
}
