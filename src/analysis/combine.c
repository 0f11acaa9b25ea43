/* Combining runs: see combine.h. Frequencies are those of paper 000, section 3.5.3:
 * an edge relative to its nearest dominating edge, or to the calls of its function
 * where there is none; a path relative to the calls of its function; calls by
 * themselves. Where what it would be relative to was not counted (the counters were
 * reset in mid-run), the count itself stands.
 *
 * Not handled: counts that were sampled. */
#include "analysis/combine.h"

#include "analysis/edges.h"
#include "base/io.h"
#include "footpath/profile_abi.h"
#include "graph/dominators.h"

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
};

struct fp_combiner {
    struct fp_arena arena;
    struct fp_arena scratch; /* of one run */
    const char *const *binaries;
    size_t nbinaries;
    FP_VEC(struct known *) modules;
    FP_VEC(struct fp_embedded_map) embedded; /* of profiles */
    struct fp_profile *maps; /* owns the maps */
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

void fp_combiner_free(struct fp_combiner *c)
{
    if (!c) return;
    for (size_t i = 0; i < c->modules.len; i++) free(c->modules.at[i]->module.words);
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
        hash = fp_hash64(hash ^ (uint64_t)edge->cfg_edge << 32 ^ edge->dst ^ (uint64_t)edge->kind << 61);
    }
    return hash ? hash : 1;
}

static int by_identity(const void *a, const void *b, void *context)
{
    const struct fp_combined_function *keys = context;
    const struct fp_combined_function *x = &keys[*(const uint32_t *)a], *y = &keys[*(const uint32_t *)b];
    const char *xs = strrchr(x->file, '/'), *ys = strrchr(y->file, '/');
    int order = strcmp(x->name, y->name);
    if (!order) order = strcmp(xs ? xs + 1 : x->file, ys ? ys + 1 : y->file);
    if (!order) order = (x->shape > y->shape) - (x->shape < y->shape);
    return order ? order : strcmp(x->file, y->file);
}

static bool look_alike(const struct fp_combined_function *a, const struct fp_combined_function *b)
{
    const char *as = strrchr(a->file, '/'), *bs = strrchr(b->file, '/');
    return !strcmp(a->name, b->name) && a->shape == b->shape &&
           !strcmp(as ? as + 1 : a->file, bs ? bs + 1 : b->file);
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

struct fp_combined_function *fp_combine_keys(struct fp_arena *arena, const struct fp_program *program)
{
    struct fp_combined_function *keys =
        FP_NEW_ARRAY(arena, struct fp_combined_function, program->nfunctions);
    for (size_t i = 0; i < program->nfunctions; i++) {
        const struct fp_function *f = &program->functions[i];
        if (!is_counted(f)) continue;
        keys[i] = (struct fp_combined_function){
            .name = f->name, .file = f->file, .line = f->line, .shape = fp_cfg_hash(f->cfg)};
        if (!(f->flags & FP_FUNCTION_PATHS)) continue;
        keys[i].num_ids = f->numbering->num_ids;
        keys[i].numbering = numbering_hash(f->numbering);
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

static struct known *add_known(struct fp_combiner *c, const struct fp_module_id *id, struct fp_error *error)
{
    struct known *k = FP_NEW(&c->arena, struct known);
    k->module.id = *id;
    k->module.id.path = fp_arena_strdup(&c->arena, id->path);
    k->module.id.build_id =
        (unsigned char *)fp_arena_strndup(&c->arena, (const char *)id->build_id, id->build_id_len);
    k->module.nwords = id->sections.counters_size / 8;
    if (!load_map(c, &k->module, error)) return NULL;
    k->module.words = calloc(k->module.nwords ? k->module.nwords : 1, sizeof *k->module.words);
    if (!k->module.words) {
        fp_fail(error, id->path, "expected counters that fit in memory, got %" PRIu64 " bytes",
                id->sections.counters_size);
        return NULL;
    }
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
    if (id->sections.counters_size > UINT32_MAX) {
        fp_fail(error, id->path, "expected at most 4 GB of counters, got %" PRIu64 " bytes",
                id->sections.counters_size);
        return NULL;
    }
    return add_known(c, id, error);
}

const struct fp_program *fp_combiner_program(struct fp_combiner *c, const struct fp_combined_module *m,
                                             struct fp_error *error)
{
    struct fp_module *module = FP_NEW(&c->arena, struct fp_module);
    module->id = (struct fp_module_id){.path = m->path, .build_id = m->build_id,
                                       .build_id_len = m->build_id_len};
    if (m->map.bytes)
        keep_map(c, &(struct fp_embedded_map){module->id, m->map.bytes, m->live.bytes, m->map.len, m->live.len});
    return load_map(c, module, error) ? &module->program : NULL;
}

/* Where the functions of a module go in this combined profile. */
static bool aim(struct known *k, struct fp_combined *into, struct fp_error *error)
{
    if (k->into == into->serial) return true;
    for (size_t i = 0; i < k->module.program.nfunctions; i++) {
        if (!k->keys[i].name) continue;
        struct fp_combined_function *f = k->targets[i] = fp_combined_function(into, &k->keys[i]);
        if (!k->keys[i].numbering) continue;
        if (f->numbering && f->numbering != k->keys[i].numbering)
            return fp_fail(error, k->module.id.path,
                           "the paths of %s are numbered differently than in other inputs; combine builds "
                           "with different options by themselves", f->name);
        f->numbering = k->keys[i].numbering;
        f->num_ids = k->keys[i].num_ids;
    }
    k->into = into->serial;
    return true;
}

/* ---- one run ---- */

struct adding {
    struct fp_combiner *combiner;
    struct fp_combined *into;
    struct known *known;
    const struct fp_run *run;
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

/* Did anything of the function run? Most functions of most runs did not. */
static bool is_touched(const struct adding *a, const struct fp_function *f)
{
    const struct fp_run *run = a->run;
    if (any_counter(run, f->edge_address, f->edge_slots)) return true;
    uint64_t table;
    if (fp_layout_table(f, &run->module.sections, &table)) {
        if (fp_map_find(&a->known->module.tables, table)) return true;
    } else if (any_counter(run, f->path_address, f->path_slots)) {
        return true;
    }
    for (size_t i = 0; i < run->nin_flight; i++)
        if (run->in_flight[i].function == f->id) return true;
    return false;
}

static double relative(uint64_t count, uint64_t to)
{
    return (double)count / (double)(to ? to : 1);
}

static void add_edges(struct adding *a, size_t index, const struct fp_edge_counts *edges)
{
    struct fp_combined_function *target = a->known->targets[index];
    const struct fp_cfg *cfg = a->known->module.program.functions[index].cfg;
    uint32_t **dominators = &a->known->dominators[index];
    if (!*dominators) *dominators = fp_edge_dominators(&a->combiner->arena, cfg);
    if (edges->entries)
        fp_combined_add(a->into, target, FP_EVENT_ENTRY, 0, 0, (double)edges->entries, edges->entries);
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        uint32_t above = (*dominators)[e];
        if (!edges->edges[e]) continue;
        uint64_t to = above == FP_NONE ? edges->entries : edges->edges[above];
        fp_combined_add(a->into, target, FP_EVENT_EDGE, 0, e, relative(edges->edges[e], to),
                        edges->edges[e]);
    }
}

/* One path can stop in several frames of a run. */
static void add_partials(struct adding *a, struct fp_combined_function *target,
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
            count += other->count;
        }
        if (first && count > 0)
            fp_combined_add(a->into, target, FP_EVENT_PARTIAL, p->block, p->prefix,
                            relative((uint64_t)count, entries), (uint64_t)count);
    }
}

static void add_paths(struct adding *a, size_t index, const struct fp_counts *counts, uint64_t entries)
{
    struct fp_combined_function *target = a->known->targets[index];
    for (size_t i = 0; i < counts->npaths; i++)
        fp_combined_add(a->into, target, FP_EVENT_PATH, 0, counts->paths[i].id,
                        relative(counts->paths[i].count, entries), counts->paths[i].count);
    add_partials(a, target, counts, entries);
}

static void leave_out(struct fp_combined *into, const struct fp_function *f, const struct fp_error *error)
{
    into->left_out++;
    if (!into->left_out_why)
        into->left_out_why = fp_arena_printf(&into->arena, "%s: %s", f->name, error->what);
}

static void add_function(struct adding *a, size_t index)
{
    const struct fp_module *module = &a->known->module;
    const struct fp_function *f = &module->program.functions[index];
    struct fp_combined_function *target = a->known->targets[index];
    bool paths = f->flags & FP_FUNCTION_PATHS;
    struct fp_arena *scratch = &a->combiner->scratch;
    struct fp_counts counts = {0};
    struct fp_edge_counts edges = {0};
    struct fp_error error = {0};
    bool touched = is_touched(a, f);
    if (touched) {
        fp_profile_counts(scratch, module, f, &counts);
        if (!fp_edges_of(scratch, &counts, &edges, &error)) {
            leave_out(a->into, f, &error);
            return;
        }
    }
    target->trials[FP_TRIALS_EDGES]++;
    target->trials[FP_TRIALS_PATHS] += paths;
    if (!touched) return;
    add_edges(a, index, &edges);
    if (paths) add_paths(a, index, &counts, edges.entries);
}

static void forget_run(struct fp_combiner *c, struct fp_module *module, const struct fp_run *run)
{
    for (size_t i = 0; i < run->ncounters; i++) module->words[run->counters[i].index] = 0;
    memset(&module->tables, 0, sizeof module->tables);
    memset(&module->paths_of, 0, sizeof module->paths_of);
    memset(&module->in_flight, 0, sizeof module->in_flight);
    memset(&module->in_flight_at, 0, sizeof module->in_flight_at);
    fp_arena_free(&c->scratch);
}

bool fp_combine_run(struct fp_combiner *c, struct fp_combined *into, const struct fp_run *run,
                    struct fp_error *error)
{
    struct known *known = known_module(c, &run->module, error);
    if (!known || !aim(known, into, error)) return false;
    struct fp_module *module = &known->module;
    struct adding a = {c, into, known, run};
    fp_map_init(&module->tables, &c->scratch);
    fp_map_init(&module->in_flight_at, &c->scratch);
    fp_module_add_run(&c->scratch, module, run);
    for (size_t i = 0; i < module->program.nfunctions; i++)
        if (known->keys[i].name) add_function(&a, i);
    struct fp_combined_module *place =
        fp_combined_module(into, run->module.path, run->module.build_id, run->module.build_id_len);
    place->runs++;
    if (module->embedded && !place->map.bytes) fp_combined_set_map(into, place, module->embedded);
    forget_run(c, module, run);
    return true;
}

/* ---- files ---- */

struct reading {
    struct fp_combiner *combiner;
    struct fp_combined *into;
    struct fp_waiting waiting;
    struct fp_combine_notes notes;
    struct fp_arena arena;
    struct fp_map ids; /* of runs: a run has a record per module */
    struct fp_error *error;
    bool check_only;
};

static void count_run(struct reading *r, const struct fp_run *run)
{
    uint64_t *seen = fp_map_add(&r->ids, run->id);
    if (!*seen || !run->id) r->into->runs++;
    *seen = 1;
    r->notes.merged += run->runs > 1;
}

static bool take_run(struct reading *r, const struct fp_run *run)
{
    if (!fp_combine_run(r->combiner, r->into, run, r->error)) return false;
    count_run(r, run);
    return true;
}

static bool take_combined(struct fp_reader *payload, void *context)
{
    struct reading *r = context;
    struct fp_combined *other = fp_combined_decode(payload);
    if (!other) return false;
    bool ok = r->check_only || fp_combined_merge(r->into, other, r->error);
    fp_combined_free(other);
    return ok;
}

static bool take_record(struct fp_arena *arena, const struct fp_run *run, void *context)
{
    (void)arena;
    struct reading *r = context;
    r->notes.records++;
    if (r->check_only) return known_module(r->combiner, &run->module, r->error) != NULL;
    return !fp_waiting_take(&r->waiting, run) || take_run(r, run);
}

static bool take_map(const struct fp_embedded_map *map, void *context)
{
    struct reading *r = context;
    if (r->check_only) keep_map(r->combiner, map);
    return true;
}

/* Everything that can be wrong with a file is found before any of it is added. */
static bool read_file(struct reading *r, const struct fp_file *file, const char *path)
{
    struct fp_profile_visitor visitor = {take_record, take_map, take_combined, r};
    fp_map_init(&r->ids, &r->arena);
    r->check_only = true;
    if (!fp_profile_visit(file->bytes, file->len, path, &visitor, &r->notes.cut, r->error) || r->error->set)
        return false;
    r->check_only = false;
    r->notes.records = 0;
    return fp_profile_visit(file->bytes, file->len, path, &visitor, &r->notes.cut, r->error) &&
           !r->error->set;
}

static bool take_waiting(struct reading *r, struct fp_combine_going *going)
{
    size_t kept = 0;
    for (size_t i = 0; i < r->waiting.runs.len; i++) {
        struct fp_run run = r->waiting.runs.at[i];
        if (going && going->goes_on(&run))
            r->waiting.runs.at[kept++] = run;
        else if (!take_run(r, &run))
            return false;
    }
    r->waiting.runs.len = kept;
    return true;
}

bool fp_combine_file(struct fp_combiner *c, struct fp_combined *into, const char *path,
                     struct fp_combine_going *going, struct fp_combine_notes *notes,
                     struct fp_error *error)
{
    struct reading r = {.combiner = c, .into = into, .error = error};
    struct fp_file file;
    if (!fp_file_open(&file, path, error)) return false;
    r.notes.program = fp_profile_program(file.bytes, file.len);
    bool ok = read_file(&r, &file, path) && take_waiting(&r, going);
    fp_file_close(&file);
    if (going && ok)
        going->kept = r.waiting;
    else
        fp_arena_free(&r.waiting.arena);
    if (notes) *notes = r.notes;
    fp_arena_free(&r.arena);
    return ok;
}
