/* How far quantiles that are read from histograms are off the exact ones, on real
 * profiles: keeps every frequency of every run, which footpath combine does not.
 *
 *     quantile-error [--bins N] PROFILE...       one run in each
 *
 * The error of an event's quantile is given relative to the range of the event over
 * the runs, and in widths of its bins; events that are the same in all runs are left
 * out, their error is 0. The exact quantile is the smallest frequency that a share q of the runs
 * does not exceed.
 */
#include "combined/combine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double quantiles[] = {0.05, 0.25, 0.5, 0.75, 0.9, 0.95};
enum { NQUANTILES = sizeof quantiles / sizeof *quantiles };

/* Per event of the sum, in its order: the frequencies that are not 0. */
struct values {
    FP_VEC(double) at;
};

struct table {
    struct fp_arena arena;
    struct fp_table of; /* event of the sum, by its function and index -> 1 + index below */
    FP_VEC(struct values) all;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct values *values_of(struct table *t, const struct fp_combined_function *f, size_t event)
{
    uint64_t key = fp_hash64((uint64_t)(uintptr_t)f) + event;
    uint64_t *index = fp_table_add(&t->of, key);
    if (!*index) {
        struct values empty = {0};
        fp_vec_push(&t->arena, &t->all, empty);
        *index = t->all.len;
    }
    return &t->all.at[*index - 1];
}

/* What one run has, beside the sum that it is then part of. */
static void keep_values(struct table *t, const struct fp_combined *sum,
                        const struct fp_combined *run)
{
    for (size_t i = 0; i < run->functions.len; i++) {
        const struct fp_combined_function *from = run->functions.at[i];
        const struct fp_combined_function *to = fp_combined_lookup(sum, from);
        for (size_t k = 0; k < from->events.len; k++) {
            const struct fp_event *e = &from->events.at[k];
            const struct fp_event *known = fp_combined_find(to, e->kind, e->block, e->id);
            struct values *values = values_of(t, to, (size_t)(known - to->events.at));
            fp_vec_push(&t->arena, &values->at, e->distribution.max);
        }
    }
}

static double exact_quantile(const struct values *v, uint64_t trials, double q)
{
    size_t rank = (size_t)ceil(q * (double)trials), zeros = trials - v->at.len;
    return rank <= zeros ? 0 : v->at.at[rank - zeros - 1];
}

struct errors {
    FP_VEC(double) relative, widths;
};

static double at_share(double *sorted, size_t n, double share)
{
    return n ? sorted[(size_t)((double)(n - 1) * share)] : 0;
}

static void report(const char *name, struct errors *e)
{
    qsort(e->relative.at, e->relative.len, sizeof(double), by_value);
    qsort(e->widths.at, e->widths.len, sizeof(double), by_value);
    double sum = 0;
    for (size_t i = 0; i < e->relative.len; i++) sum += e->relative.at[i];
    printf("%-6s %8.3f%% %8.3f%% %8.3f%% %8.3f%%   %6.2f %6.2f\n", name,
           100 * sum / (double)e->relative.len,
           100 * at_share(e->relative.at, e->relative.len, 0.5),
           100 * at_share(e->relative.at, e->relative.len, 0.95),
           100 * at_share(e->relative.at, e->relative.len, 1),
           at_share(e->widths.at, e->widths.len, 0.95), at_share(e->widths.at, e->widths.len, 1));
}

static void compare(struct table *t, const struct fp_combined *sum, size_t files)
{
    struct errors errors[NQUANTILES] = {0};
    struct fp_arena arena = {0};
    size_t varying = 0, constant = 0;
    for (size_t i = 0; i < sum->functions.len; i++)
        for (size_t k = 0; k < sum->functions.at[i]->events.len; k++) {
            const struct fp_distribution *d = &sum->functions.at[i]->events.at[k].distribution;
            struct values *v = values_of(t, sum->functions.at[i], k);
            if (d->min == d->max) {
                constant++;
                continue;
            }
            varying++;
            qsort(v->at.at, v->at.len, sizeof(double), by_value);
            for (int q = 0; q < NQUANTILES; q++) {
                double off = fabs(fp_distribution_quantile(d, quantiles[q]) -
                                  exact_quantile(v, d->trials, quantiles[q]));
                fp_vec_push(&arena, &errors[q].relative, off / (d->max - d->min));
                fp_vec_push(&arena, &errors[q].widths, off / fp_histogram_width(&d->histogram));
            }
        }
    printf("%zu profiles, %u bins: %zu events vary, %zu are the same in all runs\n", files,
           sum->bins, varying, constant);
    printf("share   mean      median    95%%       most       95%%    most\n"
           "        error / range of the event              error / bin\n");
    for (int q = 0; q < NQUANTILES && varying; q++) {
        char name[16];
        snprintf(name, sizeof name, "%g", quantiles[q]);
        report(name, &errors[q]);
    }
    fp_arena_free(&arena);
}

int main(int argc, char **argv)
{
    uint32_t bins = FP_DEFAULT_BINS;
    int first = 1;
    if (argc > 2 && !strcmp(argv[1], "--bins")) {
        bins = (uint32_t)strtoul(argv[2], NULL, 10);
        first = 3;
    }
    struct table t = {0};
    struct fp_error error = {0};
    struct fp_combiner *combiner = fp_combiner_new(NULL, 0);
    struct fp_combined *sum = fp_combined_new(bins);
    fp_table_init(&t.of, &t.arena);
    for (int i = first; i < argc; i++) {
        struct fp_combined *run = fp_combined_new(bins);
        if (!fp_combine_file(combiner, run, argv[i], NULL, NULL, &error) ||
            !fp_combined_merge(sum, run, &error)) {
            char text[700];
            fp_error_text(&error, text, sizeof text);
            fprintf(stderr, "%s\n", text);
            return 1;
        }
        keep_values(&t, sum, run);
        fp_combined_free(run);
    }
    fp_combined_settle(sum);
    compare(&t, sum, (size_t)(argc - first));
    fp_combined_free(sum);
    fp_combiner_free(combiner);
    fp_arena_free(&t.arena);
    return 0;
}
