/* The counters of a module that are not 0, in order. A file may claim a section of
 * gigabytes, or a million tables: memory follows what was counted.
 *
 *     struct fp_counters c = {0};
 *     size_t place = 0;
 *     for each: fp_counters_add(&c, table, index, count, &place);
 *     fp_counters_settle(&c);                                       before looking
 *     fp_counters_get(&c, table, index), fp_counters_from(&c, table, index)
 *     fp_counters_free(&c);
 *
 * Most runs of a program touch the counters of the run before: those are added to where
 * they are. The few new ones wait, in no order, until there are enough of them to be worth
 * a merge.
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
    struct fp_table_count *at; /* by table, then by path; words of a section are of table 0 */
    size_t len;
    struct fp_table_count *waiting; /* in no order; may hold the same counter twice */
    size_t nwaiting, cap;
    bool wraps; /* sums are modulo 2^64, for changes below 0; else they stop at UINT64_MAX */
};

/* *place is where the last one was found, 0 at first: who adds in rising order does not
 * search far. */
void fp_counters_add(struct fp_counters *counters, uint64_t table, uint64_t path, uint64_t count,
                     size_t *place);
/* Takes in what waits. */
void fp_counters_settle(struct fp_counters *counters);
void fp_counters_free(struct fp_counters *counters);

/* The place of the first counter that is this one or comes behind it. */
size_t fp_counters_from(const struct fp_counters *counters, uint64_t table, uint64_t path);
/* 0 for one that is not there. */
uint64_t fp_counters_get(const struct fp_counters *counters, uint64_t table, uint64_t path);

#endif
