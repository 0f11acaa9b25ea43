/* Longest task first: see distribute.h. */
#include "p3/distribute.h"

#include "base/arena.h"

#include <stdlib.h>

struct task {
    double cost;
    size_t index;
};

static int by_cost(const void *a, const void *b)
{
    const struct task *x = a, *y = b;
    if (x->cost != y->cost) return x->cost > y->cost ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

uint32_t fp_least_loaded(const double *loads, uint32_t ncopies)
{
    uint32_t least = 0;
    for (uint32_t i = 1; i < ncopies; i++)
        if (loads[i] < loads[least]) least = i;
    return least;
}

uint32_t fp_most_loaded(const double *loads, uint32_t ncopies)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < ncopies; i++)
        if (loads[i] > loads[most]) most = i;
    return most;
}

void fp_distribute(const double *costs, size_t ntasks, uint32_t ncopies, double *loads,
                   uint32_t *copy)
{
    struct fp_arena scratch = {0};
    struct task *tasks = FP_NEW_ARRAY(&scratch, struct task, ntasks);
    for (size_t i = 0; i < ntasks; i++) tasks[i] = (struct task){costs[i], i};
    if (ntasks) qsort(tasks, ntasks, sizeof *tasks, by_cost);
    for (size_t i = 0; i < ntasks; i++) {
        uint32_t to = fp_least_loaded(loads, ncopies);
        copy[tasks[i].index] = to;
        loads[to] += tasks[i].cost;
    }
    fp_arena_free(&scratch);
}
