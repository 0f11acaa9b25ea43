/* The measures of paper 002, sections 6.3 and 6.4, on examples computed by hand. */
#include "paths/compare.h"
#include "check.h"

#include <math.h>

static bool near(double got, double expected)
{
    if (fabs(got - expected) < 1e-9) return true;
    fprintf(stderr, "got %.12f, expected %.12f\n", got, expected);
    return false;
}

static struct fp_arena arena;

static void add_path(struct fp_pair *pair, double actual, double estimate)
{
    struct fp_pair_path path = {actual, estimate};
    fp_vec_push(&arena, &pair->paths, path);
}

static void add_branch(struct fp_pair *pair, uint32_t ways, const double *actual, const double *estimate)
{
    struct fp_pair_branch branch = {pair->actual.len, ways};
    fp_vec_push(&arena, &pair->branches, branch);
    for (uint32_t i = 0; i < ways; i++) {
        fp_vec_push(&arena, &pair->actual, actual[i]);
        fp_vec_push(&arena, &pair->estimate, estimate[i]);
    }
}

/* Flows 500, 300, 150, 49, 1 of 1000; hot from 10%: the first three. The estimate's
 * three hottest are the 1st, 4th and 2nd: 800 of 950 are found. */
static void test_wall(void)
{
    struct fp_pair pair = {0};
    struct fp_metric_options options = {.hot = 0.10};
    add_path(&pair, 500, 40);
    add_path(&pair, 300, 20);
    add_path(&pair, 150, 10);
    add_path(&pair, 49, 30);
    add_path(&pair, 1, 0);
    CHECK(near(fp_wall_match(&pair, &options), 800.0 / 950.0));
    /* at the paper's threshold, 1.25 here, four are hot, and the estimate has all four */
    options.hot = FP_HOT_FLOW;
    CHECK(near(fp_wall_match(&pair, &options), 1));
    /* two hot ones: the estimate's are the 1st and the 4th, which is not hot */
    options.hot = 0.2;
    CHECK(near(fp_wall_match(&pair, &options), 500.0 / 800.0));
}

/* The scale of the estimate does not matter; paths it has not seen are not found. */
static void test_wall_edges(void)
{
    struct fp_pair pair = {0};
    struct fp_metric_options options = {.hot = FP_HOT_FLOW};
    CHECK(near(fp_wall_match(&pair, &options), 1)); /* nothing is hot */
    add_path(&pair, 600, 0);
    add_path(&pair, 400, 0);
    CHECK(near(fp_wall_match(&pair, &options), 0));
    pair.paths.at[1].estimate = 1e-3;
    CHECK(near(fp_wall_match(&pair, &options), 0.4));
    /* a tie in the estimate gives nothing away: the cold one comes first */
    struct fp_pair tie = {0};
    options.hot = 0.5;
    add_path(&tie, 900, 5);
    add_path(&tie, 100, 5);
    CHECK(near(fp_wall_match(&tie, &options), 0));
}

/* A branch taken 90 of 100 times, estimated at 3 of 4: accuracy 0.85. One of 300
 * executions taken always, estimated so: 1. (100 * 0.85 + 300) / 400 */
static void test_relative(void)
{
    struct fp_pair pair = {0};
    add_branch(&pair, 2, (double[]){90, 10}, (double[]){3, 1});
    add_branch(&pair, 2, (double[]){300, 0}, (double[]){7, 0});
    add_branch(&pair, 2, (double[]){0, 0}, (double[]){1, 5}); /* did not run */
    CHECK(near(fp_relative_overlap(&pair, NULL), 385.0 / 400.0));
    /* a switch: 0.5, 0.3, 0.2 against 0.25, 0.25, 0.5: half of 0.25 + 0.05 + 0.3 */
    struct fp_pair cases = {0};
    add_branch(&cases, 3, (double[]){50, 30, 20}, (double[]){1, 1, 2});
    CHECK(near(fp_relative_overlap(&cases, NULL), 0.7));
    /* one that the estimate never saw is wrong */
    add_branch(&cases, 2, (double[]){50, 50}, (double[]){0, 0});
    CHECK(near(fp_relative_overlap(&cases, NULL), 0.35));
}

/* Of 400 branches 90 10 300 0; of 10 estimated 3 0 5 2. In parts: 0.225 0.025 0.75 0
 * and 0.3 0 0.5 0.2; common 0.225 + 0 + 0.5 + 0. */
static void test_absolute(void)
{
    struct fp_pair pair = {0};
    CHECK(near(fp_absolute_overlap(&pair, NULL), 1));
    add_branch(&pair, 2, (double[]){90, 10}, (double[]){3, 0});
    add_branch(&pair, 2, (double[]){300, 0}, (double[]){5, 2});
    CHECK(near(fp_absolute_overlap(&pair, NULL), 0.725));
}

int main(void)
{
    test_wall();
    test_wall_edges();
    test_relative();
    test_absolute();
    fp_arena_free(&arena);
    return check_summary();
}
