/* The counters of a module that are not 0, sorted. A file may claim a section of
 * gigabytes, or a million hash tables; this takes memory only for what was counted.
 *
 *     struct fp_counters c = {0};
 *     size_t place = 0;
 *     for each: fp_counters_add(&c, table, index, count, &place);
 *     fp_counters_sort(&c);                                       before reading
 *     fp_counters_get(&c, table, index), fp_counters_from(&c, table, index)
 *     fp_counters_free(&c);
 *
 * Most runs of a program touch the same counters as the run before; those are found and
 * added to in place. New counters go to an unsorted list, which is sorted and merged when
 * it has grown long enough to pay for the merge.
 */
#ifndef FP_COUNT_COUNTERS_H
#define FP_COUNT_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fp_table_count {
    uint64_t table, path, count;
};

struct fp_counters {
    struct fp_table_count
        *at; /* sorted by table, then by path; words of the counter section have table 0 */
    size_t len;
    struct fp_table_count *unsorted; /* may hold the same counter twice */
    size_t nunsorted, cap;
    bool wraps; /* sums are modulo 2^64, for changes below 0; else they stop at UINT64_MAX */
};

/* *place is where the last counter was found; start with 0. Adding in rising order then
 * searches near it. */
void fp_counters_add(struct fp_counters *counters, uint64_t table, uint64_t path, uint64_t count,
                     size_t *place);
/* Sorts and merges what was added. */
void fp_counters_sort(struct fp_counters *counters);
void fp_counters_free(struct fp_counters *counters);

/* The place of the first counter that is not before this one. */
size_t fp_counters_from(const struct fp_counters *counters, uint64_t table, uint64_t path);
/* 0 where there is no such counter. */
uint64_t fp_counters_get(const struct fp_counters *counters, uint64_t table, uint64_t path);

#endif
