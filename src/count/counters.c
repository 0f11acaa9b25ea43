/* Counters that are not 0: see counters.h. */
#include "count/counters.h"

#include "base/checked.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_UNSORTED = 1024 };

void fp_counters_free(struct fp_counters *c)
{
    free(c->at);
    free(c->unsorted);
    *c = (struct fp_counters){0};
}

static int order_of(const struct fp_table_count *x, const struct fp_table_count *y)
{
    if (x->table != y->table) return x->table < y->table ? -1 : 1;
    return (x->path > y->path) - (x->path < y->path);
}

/* The first place from `low` on that is not before the counter. Steps that double, then a
 * binary search: the next counter is mostly near the last. */
static size_t search_from(const struct fp_counters *c, size_t low, const struct fp_table_count *one)
{
    size_t step = 1, high = low;
    while (high < c->len && order_of(&c->at[high], one) < 0) {
        low = high + 1;
        high += step;
        step *= 2;
    }
    if (high > c->len) high = c->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (order_of(&c->at[middle], one) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t fp_counters_from(const struct fp_counters *c, uint64_t table, uint64_t path)
{
    assert(!c->nunsorted);
    return search_from(c, 0, &(struct fp_table_count){table, path, 0});
}

uint64_t fp_counters_get(const struct fp_counters *c, uint64_t table, uint64_t path)
{
    size_t place = fp_counters_from(c, table, path);
    return place < c->len && c->at[place].table == table && c->at[place].path == path
               ? c->at[place].count
               : 0;
}

static uint64_t sum_of(const struct fp_counters *c, uint64_t a, uint64_t b)
{
    return c->wraps ? a + b : fp_add_saturated(a, b);
}

static struct fp_table_count *room_for(size_t n)
{
    struct fp_table_count *room =
        n > SIZE_MAX / sizeof *room ? NULL : malloc((n ? n : 1) * sizeof *room);
    if (!room) abort();
    return room;
}

static void add_unsorted(struct fp_counters *c, const struct fp_table_count *one)
{
    if (c->nunsorted == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : FEWEST_UNSORTED;
        struct fp_table_count *wider = room_for(cap);
        if (c->nunsorted) memcpy(wider, c->unsorted, c->nunsorted * sizeof *wider);
        free(c->unsorted);
        c->unsorted = wider;
        c->cap = cap;
    }
    c->unsorted[c->nunsorted++] = *one;
}

static int in_order(const void *a, const void *b)
{
    return order_of(a, b);
}

/* Adds up equal counters, which are neighbours after sorting. */
static size_t join_equal(const struct fp_counters *c, struct fp_table_count *at, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept && !order_of(&at[kept - 1], &at[i]))
            at[kept - 1].count = sum_of(c, at[kept - 1].count, at[i].count);
        else
            at[kept++] = at[i];
    }
    return kept;
}

void fp_counters_sort(struct fp_counters *c)
{
    if (!c->nunsorted) return;
    qsort(c->unsorted, c->nunsorted, sizeof *c->unsorted, in_order);
    struct fp_table_count *all = room_for(c->len + c->nunsorted);
    size_t i = 0, k = 0, n = 0;
    while (i < c->len || k < c->nunsorted) {
        bool old = k == c->nunsorted || (i < c->len && order_of(&c->at[i], &c->unsorted[k]) <= 0);
        all[n++] = old ? c->at[i++] : c->unsorted[k++];
    }
    free(c->at);
    free(c->unsorted);
    *c = (struct fp_counters){.at = all, .len = join_equal(c, all, n), .wraps = c->wraps};
}

void fp_counters_add(struct fp_counters *c, uint64_t table, uint64_t path, uint64_t count,
                     size_t *place)
{
    struct fp_table_count one = {table, path, count};
    size_t low = *place && *place <= c->len && order_of(&c->at[*place - 1], &one) < 0 ? *place : 0;
    *place = search_from(c, low, &one);
    if (*place < c->len && !order_of(&c->at[*place], &one)) {
        c->at[*place].count = sum_of(c, c->at[*place].count, count);
        return;
    }
    add_unsorted(c, &one);
    if (c->nunsorted >= FEWEST_UNSORTED && c->nunsorted > c->len / 2) fp_counters_sort(c);
}
