/* Adding up runs, and giving each function its counts: see profile.h. */
#include "profile/profile.h"

#include "base/checked.h"
#include "base/io.h"
#include "footpath/profile_abi.h"
#include "graph/select.h"
#include "profile/aside.h"
#include "profile/builds.h"
#include "count/values.h"
#include "profile/unfinished.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct fp_profile *fp_profile_new(void)
{
    struct fp_profile *profile = calloc(1, sizeof *profile);
    if (!profile) abort();
    return profile;
}

void fp_profile_free(struct fp_profile *profile)
{
    if (!profile) return;
    if (profile->free_owner) profile->free_owner(profile->owner);
    for (size_t i = 0; i < profile->modules.len; i++)
        fp_module_free_counters(profile->modules.at[i]);
    fp_arena_free(&profile->arena);
    free(profile);
}

/* ---- adding runs ---- */

static struct fp_module_id copy_id(struct fp_arena *arena, const struct fp_module_id *id)
{
    struct fp_module_id copy = *id;
    copy.path = fp_arena_strdup(arena, id->path);
    copy.build_id =
        (unsigned char *)fp_arena_strndup(arena, (const char *)id->build_id, id->build_id_len);
    return copy;
}

static struct fp_module *module_of(struct fp_profile *profile, const struct fp_module_id *id)
{
    for (size_t i = 0; i < profile->modules.len; i++)
        if (fp_same_module(&profile->modules.at[i]->id, id)) return profile->modules.at[i];
    struct fp_module *module = FP_NEW(&profile->arena, struct fp_module);
    module->id = copy_id(&profile->arena, id);
    fp_table_init(&module->in_flight_at, &profile->arena);
    fp_table_init(&module->history_at, &profile->arena);
    fp_vec_push(&profile->arena, &profile->modules, module);
    return module;
}

static bool same_place(const struct fp_in_flight *a, const struct fp_in_flight *b)
{
    return a->function == b->function && a->block == b->block && a->reg == b->reg;
}

static void add_in_flight(struct fp_arena *arena, struct fp_module *module,
                          const struct fp_in_flight *entry)
{
    uint64_t key = fp_hash64(fp_hash64(entry->function ^ entry->block << 40) ^ entry->reg), *index;
    for (;; key++) { /* another frame with the same hash: try the next key */
        index = fp_table_add(&module->in_flight_at, key);
        if (!*index) break;
        struct fp_in_flight *known = &module->in_flight.at[*index - 1];
        if (!same_place(known, entry)) continue;
        known->count = fp_add_saturated_signed(known->count, entry->count);
        return;
    }
    fp_vec_push(arena, &module->in_flight, *entry);
    *index = module->in_flight.len;
}

static bool same_history(const struct fp_history *a, const struct fp_history *b)
{
    return a->kind == b->kind && a->base == b->base && a->id == b->id && a->other == b->other &&
           a->code == b->code;
}

static void add_history(struct fp_arena *arena, struct fp_module *module,
                        const struct fp_history *entry)
{
    uint64_t key = fp_hash64(entry->kind << 62 ^ entry->base) ^ entry->id, *index;
    key = fp_hash64(fp_hash64(key) ^ entry->other) ^ entry->code;
    for (;; key++) { /* another one with the same hash: try the next key */
        index = fp_table_add(&module->history_at, key);
        if (!*index) break;
        struct fp_history *known = &module->history.at[*index - 1];
        if (!same_history(known, entry)) continue;
        known->count = fp_add_saturated(known->count, entry->count);
        return;
    }
    fp_vec_push(arena, &module->history, *entry);
    *index = module->history.len;
}

static void add_caught(struct fp_arena *arena, struct fp_module *module,
                       const struct fp_caught *entry)
{
    for (size_t i = 0; i < module->caught.len; i++)
        if (module->caught.at[i].function == entry->function) {
            module->caught.at[i].count = fp_add_saturated(module->caught.at[i].count, entry->count);
            return;
        }
    fp_vec_push(arena, &module->caught, *entry);
}

/* Copies everything of a run but its counts. */
static struct fp_run note_of(struct fp_arena *arena, const struct fp_run *run)
{
    struct fp_run note = *run;
    note.counters = NULL, note.ncounters = 0;
    note.tables = NULL, note.ntables = 0;
    note.in_flight = NULL, note.nin_flight = 0;
    note.history = NULL, note.nhistory = 0;
    note.caught = NULL, note.ncaught = 0;
    note.map = NULL;
    note.host = fp_arena_strdup(arena, run->host);
    note.program = fp_arena_strdup(arena, run->program);
    note.folder = fp_arena_strdup(arena, run->folder);
    note.args = FP_NEW_ARRAY(arena, char *, run->nargs);
    for (size_t i = 0; i < run->nargs; i++) note.args[i] = fp_arena_strdup(arena, run->args[i]);
    note.module = copy_id(arena, &run->module);
    return note;
}

static void note_run(struct fp_profile *profile, struct fp_module *module, const struct fp_run *run)
{
    struct fp_run *about = &module->about;
    if (!about->program) *about = note_of(&profile->arena, run);
    if (run->start_ns < about->start_ns) about->start_ns = run->start_ns;
    if (run->end_ns > about->end_ns) about->end_ns = run->end_ns;
    if (!profile->brief)
        fp_vec_push(&profile->arena, &profile->runs, note_of(&profile->arena, run));
}

void fp_module_add_run(struct fp_arena *arena, struct fp_module *module, const struct fp_run *run)
{
    size_t place = 0;
    module->runs = fp_add_saturated(module->runs, run->runs);
    for (size_t i = 0; i < run->ncounters; i++)
        fp_counters_add(&module->counters, 0, run->counters[i].index, run->counters[i].count,
                        &place);
    place = 0;
    for (size_t i = 0; i < run->ntables; i++)
        fp_counters_add(&module->tables, run->tables[i].table, run->tables[i].path,
                        run->tables[i].count, &place);
    for (size_t i = 0; i < run->nin_flight; i++) add_in_flight(arena, module, &run->in_flight[i]);
    for (size_t i = 0; i < run->nhistory; i++) add_history(arena, module, &run->history[i]);
    module->history_dropped = fp_add_saturated(module->history_dropped, run->history_dropped);
    for (size_t i = 0; i < run->ncaught; i++) add_caught(arena, module, &run->caught[i]);
}

void fp_module_sort(struct fp_module *module)
{
    fp_counters_sort(&module->counters);
    fp_counters_sort(&module->tables);
}

void fp_module_free_counters(struct fp_module *module)
{
    fp_counters_free(&module->counters);
    fp_counters_free(&module->tables);
}

static const unsigned char *copy_bytes(struct fp_arena *arena, const unsigned char *bytes,
                                       size_t len)
{
    return bytes ? (const unsigned char *)fp_arena_strndup(arena, (const char *)bytes, len) : NULL;
}

static void embed_map(struct fp_profile *profile, struct fp_module *module,
                      const struct fp_embedded_map *map)
{
    struct fp_embedded_map *kept = FP_NEW(&profile->arena, struct fp_embedded_map);
    *kept = *map;
    kept->module = module->id;
    kept->map = copy_bytes(&profile->arena, map->map, map->map_len);
    kept->live = copy_bytes(&profile->arena, map->live, map->live_len);
    module->embedded = kept;
}

static struct fp_module *add_run(struct fp_profile *profile, const struct fp_run *run)
{
    struct fp_module *module = module_of(profile, &run->module);
    fp_module_add_run(&profile->arena, module, run);
    note_run(profile, module, run);
    if (run->map && !module->embedded) embed_map(profile, module, run->map);
    return module;
}

void fp_profile_add_run(struct fp_profile *profile, const struct fp_run *run)
{
    fp_module_sort(add_run(profile, run));
}

struct run_adding {
    struct fp_profile *profile;
    struct fp_unfinished unfinished;
    struct fp_error *error;
    const char *path;
    bool any_map;
    struct fp_builds builds;
};

static bool is_chosen(const struct run_adding *a, const struct fp_run *run)
{
    const struct fp_build *build = fp_builds_of(&a->builds, run);
    return !build || !build->left_out;
}

static bool add_callback(struct fp_arena *arena, const struct fp_run *run, void *context)
{
    (void)arena;
    struct run_adding *a = context;
    if (!is_chosen(a, run)) return true;
    if (fp_unfinished_take(&a->unfinished, run)) add_run(a->profile, run);
    return true;
}

static bool check_run(struct fp_arena *arena, const struct fp_run *run, void *context)
{
    (void)arena;
    struct run_adding *a = context;
    if (!a->profile->all_builds) fp_builds_note(&a->builds, run);
    return true; /* reading it is the check */
}

static bool check_map(const struct fp_embedded_map *map, void *context)
{
    (void)map;
    return ((struct run_adding *)context)->any_map = true;
}

/* Skips the map of a module that has no run in the profile. */
static bool keep_map(const struct fp_embedded_map *map, void *context)
{
    struct run_adding *a = context;
    for (size_t i = 0; i < a->profile->modules.len; i++) {
        struct fp_module *module = a->profile->modules.at[i];
        if (!module->embedded && fp_same_module(&module->id, &map->module))
            embed_map(a->profile, module, map);
    }
    return true;
}

static bool choose_build(struct run_adding *a)
{
    struct fp_profile *profile = a->profile;
    if (profile->all_builds) return true;
    const struct fp_build *one =
        fp_builds_choose(&a->builds, profile->wanted_build, a->path, a->error);
    if (a->error->set) return false;
    for (size_t i = 0; i < a->builds.all.len; i++) {
        struct fp_build *b = a->builds.all.at[i];
        b->left_out = profile->each_program ? !fp_builds_is_last(&a->builds, b) : b != one;
        if (b->left_out)
            fp_vec_push(&profile->arena, &profile->left_out, b);
        else
            fp_vec_push(&profile->arena, &profile->builds, b);
    }
    return true;
}

static bool visit_file(struct run_adding *a, const struct fp_file *file, bool *cut,
                       const struct fp_profile_visitor *visitor)
{
    return fp_profile_visit(file->bytes, file->len, a->path, visitor, cut, a->error) &&
           !a->error->set;
}

/* Three passes: check the whole file, add the runs, take the maps of their modules. */
static bool add_file(struct run_adding *a, const struct fp_file *file, bool *cut)
{
    const struct fp_profile_visitor first = {.run = check_run, .map = check_map, .context = a};
    const struct fp_profile_visitor runs = {.run = add_callback, .context = a};
    const struct fp_profile_visitor maps = {.map = keep_map, .context = a};
    if (!visit_file(a, file, cut, &first) || !choose_build(a) || !visit_file(a, file, cut, &runs) ||
        (a->any_map && !visit_file(a, file, cut, &maps)))
        return false;
    for (size_t i = 0; i < a->unfinished.runs.len; i++)
        add_run(a->profile, &a->unfinished.runs.at[i]);
    for (size_t i = 0; i < a->profile->modules.len; i++) fp_module_sort(a->profile->modules.at[i]);
    return true;
}

bool fp_profile_add(struct fp_profile *profile, const char *path, struct fp_error *error)
{
    struct run_adding a = {.profile = profile, .error = error, .path = path};
    struct fp_file file;
    bool cut = false;
    fp_builds_init(&a.builds, &profile->arena);
    if (!(profile->alone ? fp_file_open : fp_profile_open)(&file, path, error)) return false;
    bool ok = add_file(&a, &file, &cut);
    fp_file_close(&file);
    fp_arena_free(&a.unfinished.arena);
    if (!ok) return false;
    char *name = fp_arena_strdup(&profile->arena, path);
    if (!profile->brief) fp_vec_push(&profile->arena, &profile->files, name);
    if (cut) fp_vec_push(&profile->arena, &profile->cut, name);
    return true;
}

/* ---- maps ---- */

bool fp_program_fits(const struct fp_program *program, const struct fp_module_id *id)
{
    return id->build_id_len == program->build_id_len &&
           (!program->build_id_len ||
            !memcmp(id->build_id, program->build_id, program->build_id_len));
}

static bool try_map(struct fp_profile *profile, struct fp_module *module, const char *path)
{
    struct fp_program program;
    struct fp_error error = {0};
    if (!fp_program_read(&profile->arena, path, &program, &error)) {
        if (!module->problem.set) module->problem = error;
        return false;
    }
    if (!fp_program_fits(&program, &module->id)) {
        fp_fail(&module->problem, path, "is another build than the one that ran");
        return false;
    }
    module->program = program;
    return module->have_program = true;
}

static bool try_embedded(struct fp_profile *profile, struct fp_module *module)
{
    const struct fp_embedded_map *map = module->embedded;
    struct fp_program program = {.build_id = module->id.build_id,
                                 .build_id_len = module->id.build_id_len};
    if (!map || !fp_program_parse(&profile->arena, module->id.path, map->map, map->map_len,
                                  map->live, map->live_len, &program, &module->problem))
        return false;
    module->program = program;
    return module->have_program = true;
}

void fp_profile_load_maps(struct fp_profile *profile, const char *binary)
{
    for (size_t i = 0; i < profile->modules.len; i++) {
        struct fp_module *module = profile->modules.at[i];
        if (module->have_program || try_embedded(profile, module)) continue;
        if ((binary && try_map(profile, module, binary))) continue;
        if (try_map(profile, module, module->id.path)) module->problem.set = false;
    }
}

/* ---- counts of one function ---- */

/* The counter in a slot of the function's edge counters; 0 if they lie outside of the section. */
static uint64_t edge_word(const struct fp_module *module, const struct fp_function *f,
                          uint32_t slot)
{
    struct fp_place place;
    return fp_layout_of_edge(f, &module->id.sections, slot, &place)
               ? fp_counters_get(&module->counters, 0, place.word)
               : 0;
}

struct fp_call_cost *fp_profile_call_costs(struct fp_arena *arena, const struct fp_module *module,
                                           const struct fp_function *f, uint64_t *again)
{
    *again = 0;
    if (!(f->flags & FP_FUNCTION_CALL_COSTS)) return NULL;
    struct fp_call_cost *costs = FP_NEW_ARRAY(arena, struct fp_call_cost, f->source.ncalls + 1);
    *again = edge_word(module, f, f->layout.call_slot + FP_CALL_AGAIN);
    for (uint32_t i = 0; i < f->source.ncalls; i++) {
        uint32_t slot = (uint32_t)fp_layout_call(f, i);
        costs[i].cost = edge_word(module, f, slot + FP_CALL_COST);
        costs[i].returns = edge_word(module, f, slot + FP_CALL_RETURNS);
    }
    return costs;
}

static int by_id(const void *a, const void *b)
{
    const struct fp_path_count *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

struct collecting {
    struct fp_arena *arena;
    FP_VEC(struct fp_path_count) paths;
};

static void collect_id(uint64_t id, uint64_t count, uint64_t cycles, void *context)
{
    struct collecting *c = context;
    struct fp_path_count path = {id, count, cycles};
    fp_vec_push(c->arena, &c->paths, path);
}

/* Adds the entries of a function's hash table; returns how many. */
static size_t table_of(const struct fp_module *module, const struct fp_function *f,
                       const struct fp_table_count **entries)
{
    const struct fp_counters *all = &module->tables;
    uint64_t table;
    if (!fp_layout_table(f, &module->id.sections, &table)) return 0;
    size_t from = fp_counters_from(all, table, 0), to = fp_counters_from(all, table + 1, 0);
    *entries = all->at + from;
    return to - from;
}

static int by_value_key(const void *a, const void *b)
{
    const struct fp_value_count *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

size_t fp_profile_values(struct fp_arena *arena, const struct fp_module *module,
                         const struct fp_function *f, struct fp_value_count **values)
{
    const struct fp_table_count *entries = NULL;
    size_t all = f->flags & FP_FUNCTION_VALUES ? table_of(module, f, &entries) : 0, n = 0;
    *values = FP_NEW_ARRAY(arena, struct fp_value_count, all);
    for (size_t i = 0; i < all; i++)
        if (entries[i].count && fp_value_is(entries[i].path))
            (*values)[n++] = (struct fp_value_count){entries[i].path, entries[i].count};
    if (n) qsort(*values, n, sizeof **values, by_value_key);
    return n;
}

static void path_counts(struct fp_arena *arena, const struct fp_module *module,
                        const struct fp_function *f, struct fp_counts *counts)
{
    struct collecting c = {.arena = arena};
    const struct fp_table_count *entries = NULL;
    size_t n = table_of(module, f, &entries);
    for (size_t i = 0; i < n; i++)
        if (entries[i].count && entries[i].path < fp_layout_sums(f))
            collect_id(entries[i].path, entries[i].count, 0, &c);
    fp_layout_each_word(f, &module->id.sections, &module->counters, collect_id, &c);
    counts->paths = c.paths.at;
    counts->npaths = c.paths.len;
    if (n && counts->npaths) qsort(counts->paths, counts->npaths, sizeof *counts->paths, by_id);
}

static void flow_counts(struct fp_arena *arena, const struct fp_module *module,
                        const struct fp_function *f, struct fp_counts *counts)
{
    counts->flow = FP_NEW_ARRAY(arena, uint64_t, f->paths.flow->nedges);
    for (uint32_t i = 0; i < f->paths.flow->nedges; i++)
        if (f->layout.flow_slot[i] != FP_NONE)
            counts->flow[i] = edge_word(module, f, f->layout.flow_slot[i]);
}

/* The partial paths of frames that never returned. A path that was counted before its frame was
 * left is not in flight. */
static void partial_counts(struct fp_arena *arena, const struct fp_module *module,
                           const struct fp_function *f, struct fp_counts *counts)
{
    FP_VEC(struct fp_partial_path) partials = {0};
    for (size_t i = 0; i < module->in_flight.len; i++) {
        const struct fp_in_flight *left = &module->in_flight.at[i];
        uint32_t place = (uint32_t)left->block & ~FP_LEFT_BEHIND; /* a block, or a copy of one */
        if (left->function != f->id || !left->count) continue;
        if (place >= fp_layout_places(f) || f->layout.counted[place]) continue;
        uint64_t prefix =
            (uint64_t)f->layout.offset[place] + (f->layout.has_register[place] ? left->reg : 0);
        struct fp_partial_path partial = {fp_layout_block_at(f, place), prefix, left->count,
                                          (left->block & FP_LEFT_BEHIND) != 0};
        fp_vec_push(arena, &partials, partial);
    }
    counts->partials = partials.at;
    counts->npartials = partials.len;
}

/* Turns the sums of a copy's labels into ids. Sums of paths that the copy does not count are
 * dropped. */
static void translate_sums(const struct fp_function *f, struct fp_counts *counts)
{
    uint64_t sums = fp_layout_sums(f), nlaps = f->paths.truncation->laps.len;
    size_t kept = 0;
    for (size_t i = 0; i < counts->npaths; i++) {
        struct fp_path_count count = counts->paths[i];
        uint64_t lap = count.id - sums, id = FP_NO_ID;
        if (count.id < sums)
            id = fp_select_decode(f->copy->labels, f->paths.numbering, count.id);
        else if (lap < nlaps && fp_bitset_has(&f->copy->laps, lap))
            id = f->paths.numbering->num_paths + lap;
        if (id == FP_NO_ID) continue;
        count.id = id;
        counts->paths[kept++] = count;
    }
    counts->npaths = kept;
    if (kept) qsort(counts->paths, kept, sizeof *counts->paths, by_id);
}

static void copy_counts(const struct fp_module *module, const struct fp_function *f,
                        struct fp_counts *counts)
{
    if (f->copy->labels) translate_sums(f, counts);
    if (f->copy->hits_slot != FP_NONE) counts->hits = edge_word(module, f, f->copy->hits_slot);
    if (f->copy->turns_slot != FP_NONE) counts->turns = edge_word(module, f, f->copy->turns_slot);
}

/* Subtracts what counters in front of branches counted too much (graph/recover.c). */
static void recover_counts(const struct fp_function *f, struct fp_counts *counts)
{
    struct fp_arena scratch = {0};
    uint64_t *ids = FP_NEW_ARRAY(&scratch, uint64_t, counts->npaths);
    uint64_t *values = FP_NEW_ARRAY(&scratch, uint64_t, counts->npaths);
    for (size_t i = 0; i < counts->npaths; i++) {
        ids[i] = counts->paths[i].id;
        values[i] = counts->paths[i].count;
    }
    fp_recover(f->paths.numbering, f->layout.at_end, ids, values, counts->npaths, counts->partials,
               counts->npartials);
    size_t kept = 0;
    for (size_t i = 0; i < counts->npaths; i++) {
        if (!values[i]) continue;
        counts->paths[kept] = counts->paths[i];
        counts->paths[kept++].count = values[i];
    }
    counts->npaths = kept;
    fp_arena_free(&scratch);
}

void fp_profile_counts(struct fp_arena *arena, const struct fp_module *module,
                       const struct fp_function *f, struct fp_counts *counts)
{
    *counts = (struct fp_counts){.function = f};
    if (module->given) {
        *counts = module->given[f - module->program.functions];
        return;
    }
    if (f->flags & FP_FUNCTION_PATHS) path_counts(arena, module, f, counts);
    if (f->flags & FP_FUNCTION_EDGES) flow_counts(arena, module, f, counts);
    if (f->flags & FP_FUNCTION_EXITS) partial_counts(arena, module, f, counts);
    if (f->copy) copy_counts(module, f, counts);
    if (f->flags & FP_FUNCTION_PATHS) recover_counts(f, counts);
}

uint64_t fp_profile_run_count(const struct fp_profile *profile)
{
    struct fp_arena scratch = {0};
    struct fp_table most; /* run id -> the most runs that a record of it stands for */
    uint64_t count = 0;
    fp_table_init(&most, &scratch);
    for (size_t i = 0; i < profile->runs.len; i++) {
        const struct fp_run *run = &profile->runs.at[i];
        uint64_t *known = fp_table_add(&most, run->id);
        if (!run->id) *known = 0; /* written by a tool: each record is a run of its own */
        if (run->runs <= *known) continue;
        count = fp_add_saturated(count, run->runs - *known);
        *known = run->runs;
    }
    fp_arena_free(&scratch);
    return count;
}

/* ---- merging ---- */

/* Leaves out counters that became 0 by a subtraction. */
static void merge_words(struct fp_arena *arena, const struct fp_counters *all, struct fp_run *run)
{
    run->counters = FP_NEW_ARRAY(arena, struct fp_counter, all->len);
    for (size_t i = 0; i < all->len; i++)
        if (all->at[i].count)
            run->counters[run->ncounters++] =
                (struct fp_counter){all->at[i].path, all->at[i].count};
}

static struct fp_run merged_module(struct fp_profile *profile, struct fp_module *module)
{
    struct fp_run run = module->about;
    run.runs = module->runs;
    run.map = module->embedded;
    if (run.runs > 1) /* a later record of its first run must not replace the sum */
        run.flags = (run.flags | FP_RUN_MERGED) & ~(uint64_t)(FP_RUN_UNFINISHED | FP_RUN_LEAVING);
    merge_words(&profile->arena, &module->counters, &run);
    run.tables = module->tables.at;
    run.ntables = module->tables.len;
    run.in_flight = module->in_flight.at;
    run.nin_flight = module->in_flight.len;
    run.history = module->history.at;
    run.nhistory = module->history.len;
    run.history_dropped = module->history_dropped;
    run.caught = module->caught.at;
    run.ncaught = module->caught.len;
    return run;
}

struct fp_run *fp_profile_merged(struct fp_profile *profile, size_t *nruns)
{
    struct fp_run *runs = FP_NEW_ARRAY(&profile->arena, struct fp_run, profile->modules.len);
    for (size_t i = 0; i < profile->modules.len; i++)
        runs[i] = merged_module(profile, profile->modules.at[i]);
    *nruns = profile->modules.len;
    return runs;
}
