/* The queries of footpath/runtime.h: a program asks for its own paths.
 *
 * Objects compiled with --fp-query have a record for each function, which says where its counts are
 * (struct fp_query). The linker takes this file only for such objects. A query finds the record by
 * the address of the function, in whichever module, gathers the counts of all threads into a
 * buffer, and sorts them.
 *
 * Counts do not move from one copy to another meanwhile, and no module goes (rt_fold.c). Signals
 * wait: a handler that writes the profile would wait for our lock.
 *
 * Not handled: paths of frames that were left without a return (docs/exits.md): the runtime knows
 * where these paths were, but not their ids. Programs confined by seccomp get no answers.
 */
#include "core/rt_order.h"
#include "footpath/runtime.h"
#include "rt.h"

#include <errno.h>

/* Asked for by objects that have records. */
const char footpath_query[] __asm__(FP_QUERY_SYMBOL) FP_HIDDEN = "footpath query";

RT_SECTION_BOUNDS(char, queries, FP_QUERY_SECTION);

/* Behind the start of the module, which finds the identity. */
__attribute__((constructor(102))) RT_ENTRY static void offer_queries(void)
{
    rt_this.queries = (struct rt_range){queries_start, queries_end};
    rt_this.image = (struct rt_range){(char *)rt_identity->low, (char *)rt_identity->high};
}

/* ---- the function ---- */

static const struct fp_query *find_in(const struct rt_module *module, uint64_t function)
{
    const struct fp_query *at = (const struct fp_query *)module->queries.start;
    const struct fp_query *end = (const struct fp_query *)module->queries.end;
    for (; at < end; at++)
        if (at->function == function) return at;
    return NULL;
}

/* Several modules may have a function of that name, of which the loader takes one for all. So the
 * record of the module that the address lies in goes first. */
static const struct fp_query *find_function(const struct rt_process *process, const void *function)
{
    const struct fp_query *found = NULL;
    for (size_t i = 0; function && i < process->core.nmodules; i++) {
        const struct rt_module *module = process->core.modules[i];
        const struct fp_query *query = module ? find_in(module, (uint64_t)function) : NULL;
        bool own = query && (const char *)function >= module->image.start &&
                   (const char *)function < module->image.end;
        if (own) return query;
        if (!found) found = query;
    }
    return found;
}

/* ---- its counts ---- */

struct gathered {
    struct rt_buffer *out; /* struct footpath_query_path */
    uint64_t first;        /* the id of the first word */
    uint64_t width;        /* words of an id */
    uint64_t nids;         /* how many there are; of the words: how often they come again */
};

static void put_path(const struct gathered *c, uint64_t id, uint64_t count)
{
    struct footpath_query_path path = {id, count};
    rt_put_bytes(c->out, &path, sizeof path);
}

/* A table may have counted other things, too (--fp-values); their keys are above all ids. */
static void put_key(uint64_t key, uint64_t count, void *context)
{
    const struct gathered *c = context;
    if (key - 1 < c->nids) put_path(c, key - 1, count);
}

static void put_word(uint64_t key, uint64_t count, void *context)
{
    const struct gathered *c = context;
    uint64_t word = key - 1;
    if (word % c->width == 0) put_path(c, c->first + word / c->width % c->nids, count);
}

/* Another thread may replace what the table points to, and move its counts, while we read. */
static void gather_table(struct rt_pagemap *map, const struct fp_query *query,
                         struct rt_buffer *out, int64_t bias)
{
    enum { TRIES = 16 };
    struct gathered c = {.out = out, .nids = query->npaths};
    struct fp_hash_table *table = (struct fp_hash_table *)query->counters;
    uint64_t *level = (uint64_t *)((uint64_t)&table->level + (uint64_t)bias);
    size_t before = out->len;
    /* a copy may lack the part of a module for which there was no room: rt_threads.c */
    if (bias && !rt_touched(map, (const char *)level)) return;
    for (int i = 0; i < TRIES; i++) {
        uint64_t seen = __atomic_load_n(level, __ATOMIC_ACQUIRE);
        out->len = before;
        rt_table_each(map, table, bias, put_key, &c);
        if (__atomic_load_n(level, __ATOMIC_ACQUIRE) == seen) break;
    }
}

static void gather_words(struct rt_pagemap *map, char *start, uint64_t nwords,
                         const struct gathered *c, int64_t bias)
{
    char *at = start + bias;
    struct rt_range words = {at, at + nwords * sizeof(uint64_t)};
    rt_words_each(map, &words, put_word, (void *)c);
}

static void gather_copy(struct rt_pagemap *map, const struct fp_query *query, struct rt_buffer *out,
                        int64_t bias)
{
    uint64_t all = query->npaths + query->nlaps;
    struct gathered ids = {.out = out, .width = 1, .nids = all};
    struct gathered laps = {.out = out, .first = query->npaths, .width = 1, .nids = query->nlaps};
    if (query->flags & FP_QUERY_TABLE) {
        gather_table(map, query, out, bias);
        if (query->nlaps) gather_words(map, (char *)query->laps, query->nlaps, &laps, bias);
        return;
    }
    if (query->flags & FP_QUERY_PAIRS) ids.width = 2;
    uint64_t times = query->flags & FP_QUERY_TWICE ? 2 : 1;
    gather_words(map, (char *)query->counters, all * ids.width * times, &ids, bias);
}

static uint32_t first_region_of(const struct rt_process *process, const struct fp_query *query)
{
    for (size_t i = 0; i < process->core.nmodules; i++) {
        const struct rt_module *module = process->core.modules[i];
        if (module && (const char *)query >= module->queries.start &&
            (const char *)query < module->queries.end)
            return module->first_region;
    }
    return 0;
}

static void gather_counts(const struct fp_query *query, struct rt_buffer *out)
{
    const struct rt_process *process = rt_this.process;
    struct rt_pagemap map;
    rt_pagemap_open(&map);
    gather_copy(&map, query, out, 0);
    for (uint32_t i = first_region_of(process, query); i < process->threads.nregions; i++)
        gather_copy(&map, query, out, process->threads.regions[i].bias);
    rt_pagemap_close(&map);
}

/* ---- paths ---- */

static bool id_is_before(const void *a, const void *b)
{
    return ((const struct footpath_query_path *)a)->id <
           ((const struct footpath_query_path *)b)->id;
}

static bool is_hotter(const void *a, const void *b)
{
    const struct footpath_query_path *x = a, *y = b;
    return x->count != y->count ? x->count > y->count : x->id < y->id;
}

struct paths {
    struct rt_buffer buffer;
    struct footpath_query_path *at; /* by rising id, each once */
    size_t len;
    uint64_t npaths; /* ids from here on are laps */
    uint64_t clearings;
};

static void add_up(struct paths *paths)
{
    size_t all = paths->buffer.len / sizeof *paths->at;
    paths->at = (struct footpath_query_path *)paths->buffer.bytes;
    rt_sort(paths->at, all, sizeof *paths->at, id_is_before);
    for (size_t i = 0; i < all; i++) {
        if (paths->len && paths->at[paths->len - 1].id == paths->at[i].id)
            paths->at[paths->len - 1].count += paths->at[i].count;
        else
            paths->at[paths->len++] = paths->at[i];
    }
}

/* The counts of a function as they are now. False: it is not known. The caller frees the buffer. */
static bool look(const void *function, struct paths *paths)
{
    struct rt_process *process = rt_this.process;
    struct rt_held held;
    bool known = false;
    *paths = (struct paths){0};
    if (!process || rt_is_confined()) return false;
    rt_hold_signals(&held);
    if (rt_fold_lock(process)) {
        const struct fp_query *query = find_function(process, function);
        known = query;
        if (query) gather_counts(query, &paths->buffer);
        paths->npaths = query ? query->npaths : 0;
        paths->clearings = process->core.clearings;
        rt_fold_unlock(process);
    }
    rt_release_signals(&held);
    if (paths->buffer.failed) known = false;
    if (known) add_up(paths);
    return known;
}

/* Takes off what the mark has. Counts of other threads are read one by one while they go up: one
 * that is below the mark is nothing. */
static void take_off(struct paths *paths, const struct footpath_query_mark *since)
{
    size_t kept = 0;
    bool cleared = since->clearings != paths->clearings;
    for (size_t i = 0, k = 0; i < paths->len; i++) {
        struct footpath_query_path path = paths->at[i];
        while (!cleared && k < since->npaths && since->paths[k].id < path.id) k++;
        uint64_t before = 0;
        if (!cleared && k < since->npaths && since->paths[k].id == path.id)
            before = since->paths[k].count;
        if (path.count <= before) continue;
        path.count -= before;
        paths->at[kept++] = path;
    }
    paths->len = kept;
}

static bool look_since(const struct footpath_query_mark *since, struct paths *paths)
{
    *paths = (struct paths){0};
    if (!since || !look(since->function, paths)) return false;
    take_off(paths, since);
    return true;
}

/* How many are paths: laps come behind them. */
static size_t without_laps(const struct paths *paths)
{
    size_t n = paths->len;
    while (n && paths->at[n - 1].id >= paths->npaths) n--;
    return n;
}

static uint64_t sum_of(const struct footpath_query_path *paths, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += paths[i].count;
    return sum;
}

/* ---- the queries ---- */

long footpath_query_mark(struct footpath_query_mark *mark, const void *function,
                         struct footpath_query_path *memory, size_t room)
{
    int saved = errno;
    struct paths paths;
    long result = -1;
    if (!mark) return -1;
    *mark = (struct footpath_query_mark){0};
    if (look(function, &paths)) {
        result = (long)paths.len;
        bool fits = paths.len <= room && (memory || !room);
        for (size_t i = 0; fits && i < paths.len; i++) memory[i] = paths.at[i];
        if (fits)
            *mark = (struct footpath_query_mark){function, memory, paths.len, paths.clearings};
    }
    rt_buffer_free(&paths.buffer);
    errno = saved;
    return result;
}

long footpath_query_hottest(const struct footpath_query_mark *since,
                            struct footpath_query_path *hottest, size_t room, uint64_t *total)
{
    int saved = errno;
    struct paths paths;
    bool known = look_since(since, &paths);
    size_t n = without_laps(&paths);
    if (total) *total = sum_of(paths.at, n);
    if (n) rt_sort(paths.at, n, sizeof *paths.at, is_hotter);
    for (size_t i = 0; hottest && i < n && i < room; i++) hottest[i] = paths.at[i];
    long result = known ? (long)n : -1;
    rt_buffer_free(&paths.buffer);
    errno = saved;
    return result;
}

int footpath_query_count(const struct footpath_query_mark *since, uint64_t id, uint64_t *count,
                         uint64_t *total)
{
    int saved = errno;
    struct paths paths;
    bool known = look_since(since, &paths);
    uint64_t found = 0;
    for (size_t i = 0; i < paths.len; i++)
        if (paths.at[i].id == id) found = paths.at[i].count;
    if (count) *count = found;
    if (total) *total = sum_of(paths.at, without_laps(&paths));
    rt_buffer_free(&paths.buffer);
    errno = saved;
    return known ? 0 : -1;
}
