/* Gathers what was counted into the record of a run (docs/formats/profile.md). rt_file.c
 * appends the record to the file.
 *
 * Not handled: counts that other threads make meanwhile, unless the program was built with
 * --fp-exits; then the threads are held. */
#include "footpath/profile_abi.h"
#include "core/rt_call.h"
#include "rt.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = RT_PAGE, WORDS = PAGE / sizeof(uint64_t) };

/* ---- which pages were ever written to ---- */

enum { AHEAD = 64 };

/* Bit i: the i-th page from here on. */
static uint64_t touched_pages(struct rt_pagemap *map, const char *from, uint64_t count)
{
    uint64_t pages = 0;
    for (uint64_t i = 0; i < count; i++) pages |= (uint64_t)rt_touched(map, from + i * PAGE) << i;
    return pages;
}

/* ---- copies of a place: the first thread's, then the others' ---- */

uint32_t rt_ncopies(void)
{
    return rt_this.process
               ? 1 + __atomic_load_n(&rt_this.process->threads.nregions, __ATOMIC_ACQUIRE) -
                     rt_this.first_region
               : 1;
}

char *rt_copy_of(char *place, uint32_t i)
{
    return i ? place + rt_this.process->threads.regions[rt_this.first_region + i - 1].bias : place;
}

/* ---- counters ---- */

struct counters {
    const struct rt_range *range;
    struct rt_buffer *out;
    uint64_t last;  /* index of the last one put */
    uint64_t count; /* how many */
};

static void put_counter(struct counters *c, uint64_t index, uint64_t value)
{
    rt_put_uint(c->out, index - c->last);
    rt_put_uint(c->out, value);
    c->last = index;
    c->count++;
}

static uint64_t word_at(const uint64_t *words, size_t w)
{
    return __atomic_load_n(&words[w], __ATOMIC_RELAXED);
}

/* Most counters are 0, so a group of zeros is skipped at once. */
enum { GROUP = 16 };

static bool is_zero(const uint64_t *w)
{
    return !(w[0] | w[1] | w[2] | w[3] | w[4] | w[5] | w[6] | w[7] | w[8] | w[9] | w[10] | w[11] |
             w[12] | w[13] | w[14] | w[15]);
}

/* Pairs of distance and value for every counter that is not 0. words: of the page. */
static void put_words(struct counters *c, const char *page, const uint64_t *words)
{
    const struct rt_range *range = c->range;
    size_t from = page < range->start ? (size_t)(range->start - page) / sizeof *words : 0;
    size_t to = range->end - page < PAGE ? (size_t)(range->end - page) / sizeof *words : WORDS;
    uint64_t first = (uint64_t)((page - range->start) / (ptrdiff_t)sizeof *words);
    for (size_t w = from; w < to;) {
        while (to - w >= GROUP && is_zero(words + w)) w += GROUP;
        for (size_t end = to - w < GROUP ? to : w + GROUP; w < end; w++) {
            uint64_t value = word_at(words, w);
            if (value) put_counter(c, first + w, value);
        }
    }
}

/* Puts the sums of a page over the copies whose mask has the bit. */
static void put_sums(struct counters *c, char *page, const uint64_t *masks, uint32_t copies,
                     unsigned bit)
{
    uint64_t sums[WORDS] = {0};
    for (uint32_t i = 0; i < copies; i++) {
        const uint64_t *words = (const uint64_t *)rt_copy_of(page, i);
        for (size_t w = 0; w < WORDS && masks[i] >> bit & 1; w++) sums[w] += word_at(words, w);
    }
    put_words(c, page, sums);
}

/* Puts up to 64 pages, each of the copies whose mask has its bit. Mostly only one copy of a
 * page was touched. */
static void put_pages(struct counters *c, char *first, const uint64_t *masks, uint32_t copies)
{
    uint64_t any = 0, several = 0;
    for (uint32_t i = 0; i < copies; i++) {
        several |= any & masks[i];
        any |= masks[i];
    }
    for (; any; any &= any - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(any);
        char *page = first + (size_t)bit * PAGE;
        uint32_t i = 0;
        while (!(masks[i] >> bit & 1)) i++;
        if (several >> bit & 1)
            put_sums(c, page, masks, copies, bit);
        else
            put_words(c, page, (const uint64_t *)rt_copy_of(page, i));
    }
}

/* Puts `count` pages from here on, of all copies. */
static void put_pages_of_all(struct counters *c, struct rt_pagemap *map, char *page, uint64_t count,
                             uint32_t copies)
{
    struct rt_buffer masks = {0};
    for (uint32_t i = 0; i < copies; i++)
        rt_put_u64(&masks, touched_pages(map, rt_copy_of(page, i), count));
    if (!masks.failed) put_pages(c, page, (const uint64_t *)masks.bytes, copies);
    c->out->failed |= masks.failed;
    rt_buffer_free(&masks);
}

/* Reading a few pages costs less than asking the kernel which of them were touched. */
static void put_counters(struct rt_buffer *out, struct rt_pagemap *map)
{
    enum { FEW = 8 };
    struct rt_buffer pairs = {0};
    struct counters c = {.range = &rt_this.ranges[RT_COUNTERS], .out = &pairs};
    uint32_t copies = rt_ncopies();
    char *page = (char *)((uintptr_t)c.range->start & ~(uintptr_t)(PAGE - 1));
    bool few = c.range->end - page <= FEW * PAGE;
    while (page < c.range->end && !pairs.failed) {
        uint64_t left = (uint64_t)(c.range->end - page + PAGE - 1) / PAGE;
        uint64_t count = left < AHEAD ? left : AHEAD;
        uint64_t mask = copies > 1 ? 0
                        : few      ? ((uint64_t)1 << count) - 1
                                   : touched_pages(map, page, count);
        if (copies > 1)
            put_pages_of_all(&c, map, page, count, copies);
        else
            put_pages(&c, page, &mask, 1);
        page += count * PAGE;
    }
    rt_put_uint(out, c.count);
    rt_put_bytes(out, pairs.bytes, pairs.len);
    out->failed |= pairs.failed;
    rt_buffer_free(&pairs);
}

/* ---- hash tables ---- */

struct tables {
    struct rt_buffer *out;
    uint64_t table, count;
};

static void put_entry(uint64_t key, uint64_t count, void *context)
{
    struct tables *t = context;
    rt_put_uint(t->out, t->table);
    rt_put_uint(t->out, key - 1);
    rt_put_uint(t->out, count);
    t->count++;
}

typedef void table_call(struct rt_pagemap *map, struct fp_hash_table *table, int64_t bias,
                        uint64_t number, void *context);

/* Calls with every copy of a table, and its number. */
static void each_table(struct rt_pagemap *map, table_call *call, void *context)
{
    const struct rt_range *range = &rt_this.ranges[RT_TABLES];
    uint64_t count = (uint64_t)(range->end - range->start) / FP_HASH_TABLE_SIZE;
    for (uint32_t i = 0; i < rt_ncopies(); i++)
        for (uint64_t n = 0; n < count; n++) {
            char *table = range->start + n * FP_HASH_TABLE_SIZE;
            call(map, (struct fp_hash_table *)table, rt_copy_of(table, i) - table, n, context);
        }
}

/* The end of the page, or of the range. */
static char *page_end(const char *at, char *end)
{
    char *next = (char *)(((uintptr_t)at + PAGE) & ~(uintptr_t)(PAGE - 1));
    return next < end ? next : end;
}

/* A thread's copy of a table's direct counts. */
static struct rt_range direct_of(const struct fp_hash_table *table, int64_t bias)
{
    char *start = (char *)(table->direct + (table->direct ? (uint64_t)bias : 0));
    return (struct rt_range){start, start + table->ndirect * sizeof(uint64_t)};
}

void rt_words_each(struct rt_pagemap *map, const struct rt_range *range, rt_count_call *call,
                   void *context)
{
    const uint64_t *first = (const uint64_t *)range->start;
    char *at = range->start;
    for (char *next; (at = rt_next_touched(map, at, range->end)) < range->end; at = next) {
        next = page_end(at, range->end);
        for (uint64_t *word = (uint64_t *)at, *stop = (uint64_t *)next; word < stop;) {
            while (stop - word >= GROUP && is_zero(word)) word += GROUP;
            for (uint64_t *last = stop - word < GROUP ? stop : word + GROUP; word < last; word++)
                if (*word) call((uint64_t)(word - first) + 1, *word, context);
        }
    }
}

static struct fp_hash_table *copy_of_table(struct fp_hash_table *table, int64_t bias)
{
    return (struct fp_hash_table *)((char *)table + bias);
}

void rt_table_each(struct rt_pagemap *map, struct fp_hash_table *table, int64_t bias,
                   rt_count_call *call, void *context)
{
    struct rt_range direct = direct_of(table, bias);
    struct rt_range sparse = rt_sparse_array(copy_of_table(table, bias));
    rt_hash_each(copy_of_table(table, bias), call, context);
    rt_words_each(map, &direct, call, context);
    rt_words_each(map, &sparse, call, context);
}

static void put_table(struct rt_pagemap *map, struct fp_hash_table *table, int64_t bias,
                      uint64_t number, void *context)
{
    ((struct tables *)context)->table = number;
    rt_table_each(map, table, bias, put_entry, context);
}

/* Puts triples of table, path and count. A path that several threads counted is there several
 * times; the reader adds up. */
static void put_tables(struct rt_buffer *out, struct rt_pagemap *map)
{
    struct rt_buffer entries = {0};
    struct tables t = {.out = &entries};
    each_table(map, put_table, &t);
    rt_put_uint(out, t.count);
    rt_put_bytes(out, entries.bytes, entries.len);
    out->failed |= entries.failed;
    rt_buffer_free(&entries);
}

static void clear_words(struct rt_pagemap *map, char *at, char *end)
{
    for (char *next; at < end; at = next) {
        next = page_end(at, end);
        if (rt_touched(map, at)) memset(at, 0, (size_t)(next - at));
    }
}

/* Of an array nothing stays, so that a child of fork does not look at each page. */
static void clear_array(struct rt_pagemap *map, const struct rt_range *array)
{
    size_t size = (size_t)(array->end - array->start);
    bool kept = rt_live_holds(array->start); /* a file keeps what was in it */
    if (size && (kept || madvise(array->start, size, MADV_DONTNEED))) /* or locked by the program */
        clear_words(map, array->start, array->end);
}

static void clear_table(struct rt_pagemap *map, struct fp_hash_table *table, int64_t bias,
                        uint64_t number, void *context)
{
    (void)number;
    (void)context;
    struct rt_range direct = direct_of(table, bias);
    struct rt_range sparse = rt_sparse_array(copy_of_table(table, bias));
    rt_hash_clear(copy_of_table(table, bias));
    clear_words(map, direct.start, direct.end);
    clear_array(map, &sparse);
}

void rt_clear_counters(void)
{
    struct rt_pagemap map;
    const struct rt_range *range = &rt_this.ranges[RT_COUNTERS];
    bool locked = rt_fold_lock(rt_this.process);
    if (rt_this.process) __atomic_fetch_add(&rt_this.process->core.clearings, 1, __ATOMIC_RELAXED);
    rt_pagemap_open(&map);
    for (uint32_t i = 0; i < rt_ncopies(); i++)
        clear_words(&map, rt_copy_of(range->start, i), rt_copy_of(range->end, i));
    each_table(&map, clear_table, NULL);
    rt_pagemap_close(&map);
    if (locked) rt_fold_unlock(rt_this.process);
#ifdef RT_IN_EXECUTABLE
    rt_exe_clear_caught();
#endif
    rt_history_clear();
}

/* ---- the record ---- */

static uint64_t link_address(const struct rt_identity *id, const char *place)
{
    return place ? (uint64_t)((uintptr_t)place - id->load_bias) : 0;
}

void rt_put_module(struct rt_buffer *out, const struct rt_identity *id)
{
    rt_put_string(out, id->path);
    rt_put_uint(out, id->build_id_len);
    rt_put_bytes(out, id->build_id, id->build_id_len);
    for (int i = RT_COUNTERS; i <= RT_TABLES; i++) {
        const struct rt_range *range = &rt_this.ranges[i];
        rt_put_uint(out, link_address(id, range->start));
        rt_put_uint(out, (uint64_t)(range->end - range->start));
    }
}

static uint64_t flags_of(enum rt_why why)
{
    switch (why) {
    case RT_AT_END: return 0;
    case RT_MEANWHILE: return FP_RUN_UNFINISHED;
    case RT_LEAVING: return FP_RUN_UNFINISHED | FP_RUN_LEAVING;
    case RT_BY_SIGNAL: return FP_RUN_SIGNALLED;
    }
    return 0;
}

void rt_put_begin(struct rt_buffer *out, uint64_t flags)
{
    rt_put_uint(out, flags);
    rt_put_u64(out, rt_settings.run_id);
    rt_put_uint(out, 1); /* runs in this record */
    rt_put_uint(out, rt_settings.start_ns);
}

void rt_put_about(struct rt_buffer *out, const struct rt_identity *id,
                  const struct rt_identity *program)
{
    struct utsname host;
    rt_put_uint(out, (uint64_t)rt_settings.pid);
    rt_put_string(out, rt_uname(&host) == 0 ? host.nodename : "");
    rt_put_string(out, program->path);
    rt_put_string(out, rt_settings.folder);
    rt_put_arguments(out);
    rt_put_module(out, id);
}

static void put_head(struct rt_buffer *out, enum rt_why why, uint64_t more_flags,
                     const struct rt_identity *id, const struct rt_identity *program)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    rt_put_begin(out, flags_of(why) | more_flags);
    rt_put_uint(out, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
    rt_put_about(out, id, program);
}

/* What all threads counted. */
struct gathering {
    struct rt_buffer *out;
    const struct rt_frame *frame;
    struct rt_buffer in_flight;
    uint64_t nin_flight;
};

static void gather_frames(const struct rt_frame *frame, void *context)
{
    struct gathering *g = context;
    g->nin_flight += rt_in_flight_now(&g->in_flight, frame);
}

static void gather(void *context)
{
    struct gathering *g = context;
    struct rt_pagemap map;
    bool locked =
        rt_fold_lock(rt_this.process); /* no count is in two copies, or in none, meanwhile */
    rt_pagemap_open(&map);
    put_counters(g->out, &map);
    put_tables(g->out, &map);
    rt_pagemap_close(&map);
    if (locked) rt_fold_unlock(rt_this.process);
    if (g->frame) gather_frames(g->frame, g);
    g->nin_flight += rt_in_flight_left(&g->in_flight);
    g->nin_flight += rt_in_flight_waiting(&g->in_flight);
    rt_put_uint(g->out, g->nin_flight);
    rt_put_bytes(g->out, g->in_flight.bytes, g->in_flight.len);
    g->out->failed |= g->in_flight.failed;
}

void rt_put_run(struct rt_buffer *out, enum rt_why why, const struct rt_frame *frame,
                const struct rt_identity *id, const struct rt_identity *program)
{
    struct gathering g = {.out = out, .frame = frame};
    uint64_t more_flags = 0;
#ifdef RT_IN_EXECUTABLE
    if (rt_exe_has_caught()) more_flags = FP_RUN_CAUGHT;
    uint64_t caught = more_flags;
#endif
    bool history = rt_history_has();
    if (history) more_flags |= FP_RUN_HISTORY;
    put_head(out, why, more_flags, id, program);
    /* without marks there are no paths in flight to ask threads for */
    if (rt_has_marks())
        rt_with_threads_stopped(gather_frames, gather, &g);
    else
        gather(&g);
    rt_buffer_free(&g.in_flight);
#ifdef RT_IN_EXECUTABLE
    if (caught) rt_exe_put_caught(out);
#endif
    if (history) rt_history_put(out);
}
