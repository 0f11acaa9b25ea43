/* Combining runs: see combine.h. Frequencies are those of paper 000, section 3.5.3:
 * an edge relative to its nearest dominating edge, or to the calls of its function
 * where there is none; a path relative to the calls of its function; calls by
 * themselves. Where what it would be relative to was not counted (the counters were
 * reset in mid-run), the count itself stands.
 *
 * One run is one trial. An inline or template function that several modules of a run
 * have copies of counts as one function: the copies' counts are summed first.
 *
 * Not handled: counts that were sampled. */
#include "combined/combine.h"

#include "paths/edges.h"
#include "base/checked.h"
#include "base/io.h"
#include "footpath/profile_abi.h"
#include "graph/dominators.h"
#include "profile/aside.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A module whose map is loaded; its counts are those of the run at hand. */
struct known {
    struct fp_module module;
    struct fp_combined_function *keys; /* per function */
    uint32_t **dominators;             /* per function, when first needed */
    uint64_t into;                     /* serial of what targets belongs to */
    struct fp_combined_function **targets;
    bool in_run; /* has a record of the run at hand */
};

struct fp_combiner {
    struct fp_arena arena;
    struct fp_arena scratch; /* of one run */
    const char *const *binaries;
    size_t nbinaries;
    const char *program; /* only runs of this one, or NULL */
    FP_VEC(struct known *) modules;
    FP_VEC(struct fp_embedded_map) embedded; /* of profiles */
    struct fp_profile *maps;                 /* owns the maps */
};

struct fp_combiner *fp_combiner_new(const char *const *binaries, size_t nbinaries)
{
    struct fp_combiner *c = calloc(1, sizeof *c);
    if (!c) abort();
    c->binaries = binaries;
    c->nbinaries = nbinaries;
    c->maps = fp_profile_new();
    return c;
}

void fp_combiner_choose(struct fp_combiner *c, const char *program)
{
    c->program = program;
}

void fp_combiner_free(struct fp_combiner *c)
{
    if (!c) return;
    for (size_t i = 0; i < c->modules.len; i++) fp_module_free_counters(&c->modules.at[i]->module);
    fp_profile_free(c->maps);
    fp_arena_free(&c->scratch);
    fp_arena_free(&c->arena);
    free(c);
}

/* ---- modules and their functions ---- */

static uint64_t numbering_hash(const struct fp_numbering *n)
{
    uint64_t hash = fp_hash_bytes(n->value, n->dag->nedges * sizeof *n->value, n->num_ids);
    for (uint32_t e = 0; e < n->dag->nedges; e++) {
        const struct fp_dag_edge *edge = &n->dag->edges[e];
        hash = fp_hash64(hash ^ (uint64_t)edge->cfg_edge << 32 ^ edge->dst ^
                         (uint64_t)edge->kind << 61);
    }
    return hash ? hash : 1;
}

static int by_identity(const void *a, const void *b, void *context)
{
    const struct fp_combined_function *keys = context;
    struct fp_identity x = fp_combined_identity(&keys[*(const uint32_t *)a]),
                       y = fp_combined_identity(&keys[*(const uint32_t *)b]);
    int order = fp_identity_order(&x, &y);
    return order ? order : strcmp(x.file, y.file);
}

static bool look_alike(const struct fp_combined_function *a, const struct fp_combined_function *b)
{
    struct fp_identity x = fp_combined_identity(a), y = fp_combined_identity(b);
    return fp_identity_order(&x, &y) == 0;
}

/* Functions that agree in name, file and shape are numbered in the order of their
 * folders, which another build of the same sources repeats. */
static void tell_apart(struct fp_combined_function *keys, size_t n)
{
    uint32_t *order = calloc(n ? n : 1, sizeof *order);
    size_t used = 0;
    if (!order) abort();
    for (size_t i = 0; i < n; i++)
        if (keys[i].name) order[used++] = (uint32_t)i;
    if (used) qsort_r(order, used, sizeof *order, by_identity, keys);
    for (size_t i = 1; i < used; i++)
        if (look_alike(&keys[order[i]], &keys[order[i - 1]]))
            keys[order[i]].nth = keys[order[i - 1]].nth + 1;
    free(order);
}

static bool is_counted(const struct fp_function *f)
{
    return !(f->flags & FP_FUNCTION_SKIPPED) && f->flags & (FP_FUNCTION_PATHS | FP_FUNCTION_EDGES);
}

struct fp_combined_function *fp_combine_keys(struct fp_arena *arena,
                                             const struct fp_program *program)
{
    struct fp_combined_function *keys =
        FP_NEW_ARRAY(arena, struct fp_combined_function, program->nfunctions);
    for (size_t i = 0; i < program->nfunctions; i++) {
        const struct fp_function *f = &program->functions[i];
        if (!is_counted(f)) continue;
        keys[i] = (struct fp_combined_function){
            .name = f->name, .file = f->file, .line = f->line, .shape = fp_cfg_hash(f->paths.cfg)};
        if (!(f->flags & FP_FUNCTION_PATHS)) continue;
        keys[i].num_ids = f->paths.numbering->num_ids;
        keys[i].numbering = numbering_hash(f->paths.numbering);
    }
    tell_apart(keys, program->nfunctions);
    return keys;
}

static struct fp_embedded_map *find_map(struct fp_combiner *c, const struct fp_module_id *id)
{
    for (size_t i = 0; i < c->embedded.len; i++) {
        struct fp_module_id *other = &c->embedded.at[i].module;
        if (other->build_id_len == id->build_id_len &&
            (id->build_id_len ? !memcmp(other->build_id, id->build_id, id->build_id_len)
                              : !strcmp(other->path, id->path)))
            return &c->embedded.at[i];
    }
    return NULL;
}

static const void *copied(struct fp_arena *arena, const void *bytes, size_t len)
{
    return bytes ? fp_arena_strndup(arena, bytes, len) : NULL;
}

static void keep_map(struct fp_combiner *c, const struct fp_embedded_map *map)
{
    if (find_map(c, &map->module)) return;
    struct fp_embedded_map kept = *map;
    kept.module.path = fp_arena_strdup(&c->arena, map->module.path);
    kept.module.build_id = copied(&c->arena, map->module.build_id, map->module.build_id_len);
    kept.map = copied(&c->arena, map->map, map->map_len);
    kept.live = copied(&c->arena, map->live, map->live_len);
    fp_vec_push(&c->arena, &c->embedded, kept);
}

static bool load_map(struct fp_combiner *c, struct fp_module *module, struct fp_error *error)
{
    module->embedded = find_map(c, &module->id);
    struct fp_profile one = {0}; /* as fp_profile_load_maps wants it */
    one.arena = c->maps->arena;
    fp_vec_push(&one.arena, &one.modules, module);
    for (size_t i = 0; i < c->nbinaries && !module->have_program; i++)
        fp_profile_load_maps(&one, c->binaries[i]);
    if (!module->have_program) fp_profile_load_maps(&one, NULL);
    c->maps->arena = one.arena;
    if (module->have_program) return true;
    return fp_fail(error, module->problem.file, "%s; name the program that ran by --binary FILE",
                   module->problem.what);
}

static struct known *add_known(struct fp_combiner *c, const struct fp_module_id *id,
                               struct fp_error *error)
{
    struct known *k = FP_NEW(&c->arena, struct known);
    k->module.id = *id;
    k->module.id.path = fp_arena_strdup(&c->arena, id->path);
    k->module.id.build_id =
        (unsigned char *)fp_arena_strndup(&c->arena, (const char *)id->build_id, id->build_id_len);
    if (!load_map(c, &k->module, error)) return NULL;
    size_t n = k->module.program.nfunctions;
    k->keys = fp_combine_keys(&c->arena, &k->module.program);
    k->dominators = FP_NEW_ARRAY(&c->arena, uint32_t *, n);
    k->targets = FP_NEW_ARRAY(&c->arena, struct fp_combined_function *, n);
    fp_vec_push(&c->arena, &c->modules, k);
    return k;
}

static struct known *known_module(struct fp_combiner *c, const struct fp_module_id *id,
                                  struct fp_error *error)
{
    for (size_t i = 0; i < c->modules.len; i++)
        if (fp_same_module(&c->modules.at[i]->module.id, id)) return c->modules.at[i];
    return add_known(c, id, error);
}

const struct fp_program *fp_combiner_program(struct fp_combiner *c,
                                             const struct fp_combined_module *m,
                                             struct fp_error *error)
{
    struct fp_module *module = FP_NEW(&c->arena, struct fp_module);
    module->id = (struct fp_module_id){
        .path = m->path, .build_id = m->build_id, .build_id_len = m->build_id_len};
    if (m->map.bytes)
        keep_map(c, &(struct fp_embedded_map){module->id, m->map.bytes, m->live.bytes, m->map.len,
                                              m->live.len});
    return load_map(c, module, error) ? &module->program : NULL;
}

/* Where the functions of a module go in this combined profile. */
static bool aim(struct known *k, struct fp_combined *into, struct fp_error *error)
{
    struct fp_combined_function *first = NULL;
    if (k->into == into->serial) return true;
    for (size_t i = 0; i < k->module.program.nfunctions; i++) {
        if (!k->keys[i].name) continue;
        struct fp_combined_function *f = k->targets[i] = fp_combined_function(into, &k->keys[i]);
        if (!first) first = f;
        fp_combined_join(into, f, first);
        if (!k->keys[i].numbering) continue;
        if (f->numbering && f->numbering != k->keys[i].numbering)
            return fp_fail(
                error, k->module.id.path,
                "the paths of %s are numbered differently than in other inputs; combine builds "
                "with different options by themselves",
                f->name);
        f->numbering = k->keys[i].numbering;
        f->num_ids = k->keys[i].num_ids;
    }
    k->into = into->serial;
    return true;
}

/* ---- one run ---- */

struct trial_tally;

struct trial {
    struct fp_combiner *combiner;
    struct fp_combined *into;
    const struct fp_run *records; /* of the run, one per module */
    struct known **modules;       /* of each record */
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

static bool touches(const struct fp_run *run, const struct known *known,
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
static bool is_touched(const struct trial *a, const struct known *known,
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

static struct trial_tally tally_function(struct trial *a, struct known *known, size_t index)
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

/* The same shape, so the same edges; the same numbers of paths, which aim() saw to. */
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

static void list_copies(struct trial *a, const struct known *known)
{
    for (size_t i = 0; i < known->module.program.nfunctions; i++)
        if (known->keys[i].name) ++*fp_table_add(&a->copies, key_of(known->targets[i]));
}

static void add_module(struct trial *a, struct known *known)
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
        a->modules[i] = known_module(a->combiner, &a->records[i].module, error);
        if (!a->modules[i] || !aim(a->modules[i], a->into, error)) return false;
    }
    return true;
}

static const struct fp_combined_function *some_function(const struct known *known)
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
        struct known *known = a->modules[i];
        if (!known->in_run) {
            fp_table_init(&known->module.in_flight_at, scratch);
            known->in_run = true;
            if (a->nrecords > 1) list_copies(a, known);
        }
        fp_module_add_run(scratch, &known->module, &a->records[i]);
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
    a.modules = FP_NEW_ARRAY(&c->scratch, struct known *, nrecords);
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

/* ---- files ---- */

/* The records of a run that is not whole yet. */
struct part_of_run {
    uint64_t id;
    struct fp_unfinished records;
};

struct combining {
    struct fp_combiner *combiner;
    struct fp_combined *into;
    struct fp_unfinished waiting;
    struct fp_combine_notes notes;
    struct fp_combine_going *going;
    struct fp_arena arena;
    struct fp_table left;  /* id of a run -> its records that are still to come */
    struct fp_table parts; /* id -> 1 + index in pending */
    FP_VEC(struct part_of_run) pending;
    const char *path;
    struct fp_error *error;
    bool check_only;
};

static bool goes_on(const struct combining *r, const struct fp_run *records, size_t n)
{
    for (size_t i = 0; r->going && i < n; i++)
        if (r->going->goes_on(&records[i])) return true;
    return false;
}

/* All records of a run. */
static bool take_run(struct combining *r, const struct fp_run *records, size_t n)
{
    if (goes_on(r, records, n)) {
        for (size_t i = 0; i < n; i++) fp_unfinished_keep(&r->going->kept, &records[i]);
        return true;
    }
    if (!fp_combine_run(r->combiner, r->into, records, n, r->error)) return false;
    r->into->runs++;
    for (size_t i = 0; i < n; i++) r->notes.merged += records[i].runs > 1;
    return true;
}

static struct fp_unfinished *part_of(struct combining *r, uint64_t id)
{
    uint64_t *index = fp_table_add(&r->parts, id);
    if (!*index) {
        struct part_of_run part = {.id = id};
        fp_vec_push(&r->arena, &r->pending, part);
        *index = r->pending.len;
    }
    return &r->pending.at[*index - 1].records;
}

static bool take_part(struct combining *r, struct fp_unfinished *part)
{
    bool ok = !part->runs.len || take_run(r, part->runs.at, part->runs.len);
    fp_arena_free(&part->arena);
    *part = (struct fp_unfinished){0};
    return ok;
}

static bool waits(const struct combining *r, uint64_t id)
{
    for (size_t i = 0; i < r->waiting.runs.len; i++)
        if (r->waiting.runs.at[i].id == id) return true;
    return false;
}

/* Each module of a process writes a record of its own; those of other runs may lie in
 * between. Most runs have one. */
static bool take_next(struct combining *r, const struct fp_run *run)
{
    uint64_t *left = fp_table_add(&r->left, run->id);
    bool last = --*left == 0, finished = fp_unfinished_take(&r->waiting, run);
    if (finished &&
        (!run->id || (last && !fp_table_find(&r->parts, run->id) && !waits(r, run->id))))
        return take_run(r, run, 1); /* made by a tool, or a run of one record */
    if (finished) fp_unfinished_keep(part_of(r, run->id), run);
    return !last || waits(r, run->id) || !fp_table_find(&r->parts, run->id) ||
           take_part(r, part_of(r, run->id));
}

static bool take_combined(struct fp_reader *payload, void *context)
{
    struct combining *r = context;
    if (r->combiner->program)
        return fp_fail(r->error, r->path,
                       "is a combined profile, in which runs can no longer be told apart; "
                       "choose the program when its runs are combined");
    struct fp_combined *other = fp_combined_decode(payload);
    if (!other) return false;
    bool ok = r->check_only || fp_combined_merge(r->into, other, r->error);
    fp_combined_free(other);
    return ok;
}

static bool is_chosen(const struct fp_combiner *c, const struct fp_run *run)
{
    return !c->program || !strcmp(fp_base_name(run->program), c->program);
}

static bool take_record(struct fp_arena *arena, const struct fp_run *run, void *context)
{
    (void)arena;
    struct combining *r = context;
    if (!is_chosen(r->combiner, run)) return true;
    r->notes.records++;
    if (!r->check_only) return take_next(r, run);
    ++*fp_table_add(&r->left, run->id);
    return known_module(r->combiner, &run->module, r->error) != NULL;
}

static bool take_map(const struct fp_embedded_map *map, void *context)
{
    struct combining *r = context;
    if (r->check_only) keep_map(r->combiner, map);
    return true;
}

/* Everything that can be wrong with a file is found before any of it is added. */
static bool read_file(struct combining *r, const struct fp_file *file, const char *path)
{
    struct fp_profile_visitor visitor = {take_record, take_map, take_combined, r};
    fp_table_init(&r->left, &r->arena);
    fp_table_init(&r->parts, &r->arena);
    r->check_only = true;
    if (!fp_profile_visit(file->bytes, file->len, path, &visitor, &r->notes.cut, r->error) ||
        r->error->set)
        return false;
    r->check_only = false;
    r->notes.records = 0;
    return fp_profile_visit(file->bytes, file->len, path, &visitor, &r->notes.cut, r->error) &&
           !r->error->set;
}

/* At the end of the file: what still waits is as it is. */
static bool take_rest(struct combining *r)
{
    bool ok = true;
    for (size_t i = 0; i < r->waiting.runs.len && ok; i++) {
        const struct fp_run *run = &r->waiting.runs.at[i];
        if (run->id)
            fp_unfinished_keep(part_of(r, run->id), run);
        else
            ok = take_run(r, run, 1);
    }
    for (size_t i = 0; i < r->pending.len && ok; i++) ok = take_part(r, &r->pending.at[i].records);
    return ok;
}

static void free_reading(struct combining *r)
{
    for (size_t i = 0; i < r->pending.len; i++) fp_arena_free(&r->pending.at[i].records.arena);
    fp_arena_free(&r->waiting.arena);
    fp_arena_free(&r->arena);
}

bool fp_combine_file(struct fp_combiner *c, struct fp_combined *into, const char *path,
                     struct fp_combine_going *going, struct fp_combine_notes *notes,
                     struct fp_error *error)
{
    struct combining r = {
        .combiner = c, .into = into, .going = going, .path = path, .error = error};
    struct fp_file file;
    if (!(going ? fp_file_open : fp_profile_open)(&file, path, error)) return false;
    r.notes.opened = true;
    r.notes.program = fp_profile_program(file.bytes, file.len);
    bool ok = read_file(&r, &file, path) && take_rest(&r);
    fp_file_close(&file);
    free_reading(&r);
    if (notes) *notes = r.notes;
    return ok;
}
