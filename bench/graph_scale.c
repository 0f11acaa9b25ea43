/* How the graph core scales: numbering and placement for 10^3 to 10^6 blocks.
 * Prints a table in markdown; part of `make bench`. */
#include "graph/flow.h"
#include "graph/plan.h"
#include "shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct times {
    double truncate, number, place, chords, total;
};

static struct times measure(uint32_t nblocks, uint64_t seed)
{
    struct fp_arena arena = {0};
    struct fp_cfg *cfg = fp_shape_random(&arena, nblocks, seed);
    struct fp_truncation t;
    struct times times;
    double start = now();
    fp_truncate(&arena, cfg, NULL, &(struct fp_limits){0}, &t);
    double truncated = now();
    struct fp_numbering *n =
        fp_number(&arena, fp_dag_make(&arena, &t), FP_NUMBER_LARGEST_LAST, NULL);
    double numbered = now();
    fp_plan_make(&arena, n, NULL, &(struct fp_plan_options){0});
    double placed = now();
    fp_flow_make(&arena, cfg, &t.order, NULL);
    double end = now();
    times = (struct times){truncated - start, numbered - truncated, placed - numbered, end - placed,
                           end - start};
    fp_arena_free(&arena);
    return times;
}

int main(void)
{
    printf("| blocks | truncation ms | numbering ms | placement ms | edge chords ms | total ms | "
           "ns per block |\n|---|---|---|---|---|---|---|\n");
    for (uint32_t n = 1000; n <= 1000000; n *= 10) {
        struct times best = measure(n, 1);
        for (uint64_t seed = 2; seed < 5; seed++) {
            struct times t = measure(n, seed);
            if (t.total < best.total) best = t;
        }
        printf("| %u | %.2f | %.2f | %.2f | %.2f | %.2f | %.0f |\n", n, best.truncate * 1e3,
               best.number * 1e3, best.place * 1e3, best.chords * 1e3, best.total * 1e3,
               best.total * 1e9 / n);
    }
    return 0;
}
