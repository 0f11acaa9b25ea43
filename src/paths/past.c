/* Pairs and callers: see past.h. */
#include "paths/past.h"

#include "base/checked.h"
#include "footpath/abi.h"
#include "footpath/profile_abi.h"

#include <stdlib.h>
#include <string.h>

bool fp_profile_has_past(const struct fp_profile *profile)
{
    for (size_t i = 0; i < profile->modules.len; i++)
        if (profile->modules.at[i]->history.len) return true;
    return false;
}

/* ---- from counters to functions ---- */

/* The functions of a module by where their path counters begin. The laps of a function with a
 * hash table have words of their own. */
struct counter_owners {
    const struct fp_module *module;
    struct fp_table arrays, tables, laps; /* word, table or word -> 1 + index of the function */
};

static void finder_init(struct fp_arena *arena, const struct fp_module *module,
                        struct counter_owners *find)
{
    const struct fp_sections *at = &module->id.sections;
    *find = (struct counter_owners){.module = module};
    fp_table_init(&find->arrays, arena);
    fp_table_init(&find->tables, arena);
    fp_table_init(&find->laps, arena);
    for (size_t i = 0; i < module->program.nfunctions; i++) {
        const struct fp_function *f = &module->program.functions[i];
        if (f->flags & FP_FUNCTION_SKIPPED || !f->paths.numbering) continue;
        bool hashed = f->flags & FP_FUNCTION_HASHED;
        uint64_t word = (f->layout.path_address - at->counters_address) / 8;
        uint64_t table = (f->layout.path_address - at->tables_address) / FP_HASH_TABLE_SIZE;
        if (hashed)
            *fp_table_add(&find->tables, table) = i + 1;
        else
            *fp_table_add(&find->arrays, word) = i + 1;
        if (hashed && f->layout.edge_address)
            *fp_table_add(&find->laps, (f->layout.edge_address - at->counters_address) / 8) = i + 1;
    }
}

/* *first: what is to be added to an id there. */
static const struct fp_function *find_function(const struct counter_owners *find,
                                               const struct fp_history *entry, uint64_t *first)
{
    bool hashed = entry->kind & FP_HISTORY_HASHED;
    const uint64_t *index = fp_table_find(hashed ? &find->tables : &find->arrays, entry->base);
    *first = 0;
    if (index) return &find->module->program.functions[*index - 1];
    index = hashed ? NULL : fp_table_find(&find->laps, entry->base);
    if (!index) return NULL;
    const struct fp_function *f = &find->module->program.functions[*index - 1];
    *first = f->paths.numbering->num_paths;
    return f;
}

/* ---- pairs ---- */

struct past_maker {
    struct fp_arena *arena;
    struct fp_arena scratch;
    struct fp_past *past;
    FP_VEC(struct fp_past_pair) pairs;
    struct fp_table before; /* function and path -> samples */
    FP_VEC(struct fp_past_caller) callers;
    struct fp_table called_by; /* function, address and code -> 1 + index in callers */
    struct fp_table samples;   /* function -> samples with a caller */
};

/* A path begins where the one before ended. Behind a block that all computed gotos share, it
 * begins at one of the targets. */
static bool follows(const struct fp_cfg *cfg, const struct fp_path *before,
                    const struct fp_path *path)
{
    if (path->start != FP_STARTS_AT_EDGE || before->end_edge == FP_NONE) return false;
    uint32_t at = cfg->edges[before->end_edge].dst;
    if (at == path->first_block) return true;
    for (uint32_t e = cfg->first_out[at]; e < cfg->first_out[at + 1]; e++)
        if (cfg->edges[e].dst == path->first_block && cfg->edges[e].kind == FP_EDGE_INDIRECT)
            return true;
    return false;
}

static uint64_t *of_path(struct fp_table *table, const struct fp_function *f, uint64_t id)
{
    return fp_table_add(table, fp_hash64((uint64_t)(uintptr_t)f ^ fp_hash64(id)));
}

static void add_pair(struct past_maker *m, const struct fp_function *f, uint64_t before,
                     uint64_t id, uint64_t count)
{
    struct fp_path first, second;
    const struct fp_numbering *numbering = f->paths.numbering;
    if (!fp_path_decode(&m->scratch, numbering, before, &first) ||
        !fp_path_decode(&m->scratch, numbering, id, &second)) {
        m->past->unknown = fp_add_saturated(m->past->unknown, count);
    } else if (second.end == FP_ENDS_AS_LAP && before != id) {
        return; /* a lap of another loop: not two rounds */
    } else if (!follows(f->paths.cfg, &first, &second)) {
        m->past->broken = fp_add_saturated(m->past->broken, count);
    } else {
        struct fp_past_pair pair = {.function = f, .before = before, .id = id, .count = count};
        uint64_t *all = of_path(&m->before, f, before);
        *all = fp_add_saturated(*all, count);
        fp_vec_push(m->arena, &m->pairs, pair);
    }
    fp_arena_free(&m->scratch);
}

/* ---- callers ---- */

static void add_caller(struct past_maker *m, const struct fp_module *module,
                       const struct fp_function *f, const struct fp_history *entry, uint64_t id)
{
    uint64_t key = fp_hash64((uint64_t)(uintptr_t)f ^ fp_hash64(entry->other)) ^ entry->code;
    uint64_t *index = fp_table_add(&m->called_by, key), *samples = of_path(&m->samples, f, 0);
    *samples = fp_add_saturated(*samples, entry->count);
    if (!*index) {
        struct fp_past_caller caller = {
            .module = module, .function = f, .address = entry->other, .code = entry->code};
        fp_vec_push(m->arena, &m->callers, caller);
        *index = m->callers.len;
    }
    struct fp_past_caller *caller = &m->callers.at[*index - 1];
    if (!(caller->npaths & (caller->npaths - 1))) { /* full: twice as many */
        struct fp_past_path *wider =
            FP_NEW_ARRAY(m->arena, struct fp_past_path, caller->npaths ? 2 * caller->npaths : 1);
        if (caller->npaths) memcpy(wider, caller->paths, caller->npaths * sizeof *wider);
        caller->paths = wider;
    }
    caller->paths[caller->npaths++] = (struct fp_past_path){id, entry->count};
    caller->count = fp_add_saturated(caller->count, entry->count);
}

static void add_module(struct past_maker *m, const struct fp_module *module, const char *filter)
{
    struct counter_owners find;
    finder_init(m->arena, module, &find);
    m->past->dropped = fp_add_saturated(m->past->dropped, module->history_dropped);
    for (size_t i = 0; i < module->history.len; i++) {
        const struct fp_history *entry = &module->history.at[i];
        uint64_t first = 0;
        const struct fp_function *f = find_function(&find, entry, &first);
        if (!f || entry->id >= f->paths.numbering->num_ids - first)
            m->past->unknown = fp_add_saturated(m->past->unknown, entry->count);
        else if (filter && !strstr(f->name, filter))
            continue;
        else if (entry->kind & FP_HISTORY_CALLER)
            add_caller(m, module, f, entry, first + entry->id);
        else
            add_pair(m, f, first + entry->other, first + entry->id, entry->count);
    }
}

/* ---- order ---- */

static int more_frequent(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

static int by_count_of_pair(const void *a, const void *b)
{
    const struct fp_past_pair *x = a, *y = b;
    if (x->count != y->count) return more_frequent(x->count, y->count);
    if (x->function != y->function) return x->function < y->function ? -1 : 1;
    if (x->before != y->before) return x->before < y->before ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_count_of_caller(const void *a, const void *b)
{
    const struct fp_past_caller *x = a, *y = b;
    if (x->count != y->count) return more_frequent(x->count, y->count);
    if (x->function != y->function) return x->function < y->function ? -1 : 1;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    return (x->code > y->code) - (x->code < y->code);
}

static int by_count_of_path(const void *a, const void *b)
{
    const struct fp_past_path *x = a, *y = b;
    if (x->count != y->count) return more_frequent(x->count, y->count);
    return (x->id > y->id) - (x->id < y->id);
}

static void finish(struct past_maker *m)
{
    for (size_t i = 0; i < m->pairs.len; i++)
        m->pairs.at[i].all = *of_path(&m->before, m->pairs.at[i].function, m->pairs.at[i].before);
    for (size_t i = 0; i < m->callers.len; i++) {
        struct fp_past_caller *caller = &m->callers.at[i];
        caller->all = *of_path(&m->samples, caller->function, 0);
        qsort(caller->paths, caller->npaths, sizeof *caller->paths, by_count_of_path);
    }
    if (m->pairs.len) qsort(m->pairs.at, m->pairs.len, sizeof *m->pairs.at, by_count_of_pair);
    if (m->callers.len)
        qsort(m->callers.at, m->callers.len, sizeof *m->callers.at, by_count_of_caller);
    m->past->pairs = m->pairs.at, m->past->npairs = m->pairs.len;
    m->past->callers = m->callers.at, m->past->ncallers = m->callers.len;
}

void fp_past_make(struct fp_arena *arena, const struct fp_profile *profile, const char *filter,
                  struct fp_past *past)
{
    struct past_maker m = {.arena = arena, .past = past};
    *past = (struct fp_past){0};
    fp_table_init(&m.before, arena);
    fp_table_init(&m.called_by, arena);
    fp_table_init(&m.samples, arena);
    for (size_t i = 0; i < profile->modules.len; i++)
        if (profile->modules.at[i]->have_program) add_module(&m, profile->modules.at[i], filter);
    finish(&m);
}
