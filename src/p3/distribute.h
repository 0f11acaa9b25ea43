/* Distributing tasks over copies so that the largest load is small: longest task
 * first, each to the copy with the least load (Graham 1969: at most 4/3 of the best). */
#ifndef FP_P3_DISTRIBUTE_H
#define FP_P3_DISTRIBUTE_H

#include <stddef.h>
#include <stdint.h>

/* Fills copy[i] of each task and adds to loads, which may hold loads that are there
 * already. Among equals the earlier task and the lower copy come first. */
void fp_distribute(const double *costs, size_t ntasks, uint32_t ncopies, double *loads,
                   uint32_t *copy);

uint32_t fp_least_loaded(const double *loads, uint32_t ncopies);
uint32_t fp_most_loaded(const double *loads, uint32_t ncopies);

#endif
