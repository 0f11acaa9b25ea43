/* What is known of one event over many runs: how often, how evenly, and the shape
 * (paper 000, sections 3.5.1 and 3.5.2).
 *
 *     fp_distribution_add(arena, &d, 0.75, 3, 15);   one run: 3 times, 0.75 of its dominator
 *     fp_distribution_merge(arena, &d, &other, 15);
 *     fp_distribution_quantile(&d, 0.5);
 *
 * Sum and sum of squared deviations merge by the paper's formulae 3 and 4. The
 * histogram's bins lie on a grid that starts at zero and whose width is 0.01
 * doubled as often as the range needs, so a bin of a wider grid is exactly two of
 * the next finer one: merging moves whole weights and its result does not depend
 * on order or grouping. Only histograms of other tools, whose bins lie anywhere,
 * are spread over the grid in fractions.
 */
#ifndef FP_COMBINED_DISTRIBUTION_H
#define FP_COMBINED_DISTRIBUTION_H

#include "base/arena.h"

#include <stdbool.h>

/* The finest bin is 1 / FP_BINS_IN_ONE wide. */
enum { FP_BINS_IN_ONE = 100, FP_DEFAULT_BINS = 15, FP_MOST_BINS = 255 };

struct fp_histogram {
    uint32_t scale; /* a bin is 2^scale / FP_BINS_IN_ONE wide */
    uint32_t nbins, cap;
    uint64_t first; /* place of bins[0] on the grid */
    double *bins;   /* weights; whole numbers unless spread */
};

struct fp_distribution {
    uint64_t trials, nonzero;
    double sum, rest;     /* of the frequencies; rest is what sum lacks by rounding */
    double squares;       /* sum of squared deviations */
    double min, max;      /* frequencies, runs without the event included */
    uint64_t count;       /* raw, over all runs; saturated */
    uint64_t least, most; /* raw, in one run */
    struct fp_histogram histogram;
};

/* One run: the event's frequency and its raw count. */
void fp_distribution_add(struct fp_arena *arena, struct fp_distribution *d, double frequency,
                         uint64_t count, uint32_t bins);
/* Runs without the event. */
void fp_distribution_add_zeros(struct fp_arena *arena, struct fp_distribution *d, uint64_t trials,
                               uint32_t bins);
void fp_distribution_merge(struct fp_arena *arena, struct fp_distribution *d,
                           const struct fp_distribution *other, uint32_t bins);
/* To a smaller number of bins; a larger one changes nothing. */
void fp_distribution_set_bins(struct fp_distribution *d, uint32_t bins);

/* Adds weight to the histogram, evenly over lower .. upper. The caller has set min
 * and max, which bound it. */
void fp_distribution_spread(struct fp_arena *arena, struct fp_distribution *d, double lower,
                            double upper, double weight, uint32_t bins);

double fp_distribution_mean(const struct fp_distribution *d);
double fp_distribution_variance(const struct fp_distribution *d); /* squares / trials */
double fp_distribution_deviation(const struct fp_distribution *d);
/* Deviation over mean; 0 where the mean is 0. */
double fp_distribution_variation(const struct fp_distribution *d);
/* The frequency that a share q of the runs does not exceed. Read from the
 * histogram; exact for the runs without the event and at both ends. */
double fp_distribution_quantile(const struct fp_distribution *d, double q);
/* The share of runs whose frequency is above x; exact for x = 0. */
double fp_distribution_above(const struct fp_distribution *d, double x);

/* Earlier versions put a frequency on a boundary into the bin below. Of the least one that
 * shows: no bin may lie in front of its own. */
void fp_distribution_mend(struct fp_distribution *d);

/* Do the parts agree? For what was read from a file: sizes and places are trusted
 * from here on. */
bool fp_distribution_is_sound(const struct fp_distribution *d);

double fp_histogram_width(const struct fp_histogram *h);
double fp_histogram_lower(const struct fp_histogram *h);
double fp_histogram_weight(const struct fp_histogram *h);

#endif
