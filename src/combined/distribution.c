/* Distributions of events over runs: see distribution.h. */
#include "combined/distribution.h"

#include "base/checked.h"

#include <math.h>
#include <string.h>

/* ---- the grid ---- */

/* Boundary k of the finest grid is the double nearest to k / 100. A frequency is a
 * quotient of two counts, rounded to the nearest double as well: one that lies on a
 * boundary equals it, and multiplying or dividing by 0.01 would not always find that. */
static double boundary(uint64_t place, uint32_t scale)
{
    return ldexp((double)place, (int)scale) / FP_BINS_IN_ONE;
}

/* The last boundary that is not above the value. The place at scale + 1 is half the
 * place at scale, rounded down, for every value. */
static uint64_t place_of(double value, uint32_t scale)
{
    double guess = value * FP_BINS_IN_ONE;
    if (guess >= 0x1p52) return fp_count_from(ldexp(guess, -(int)scale));
    uint64_t place = (uint64_t)guess;
    while (boundary(place + 1, 0) <= value) place++;
    while (place && boundary(place, 0) > value) place--;
    return scale < 64 ? place >> scale : 0;
}

enum { PLACE_BITS = 52 }; /* places are whole numbers in a double */

/* The finest scale, from `least` on, at which min .. max fits the bins. */
static uint32_t scale_for(double min, double max, uint32_t bins, uint32_t least)
{
    uint32_t scale = least;
    while (max * FP_BINS_IN_ONE >= ldexp(1, PLACE_BITS + (int)scale)) scale++;
    while (place_of(max, scale) - place_of(min, scale) >= bins) scale++;
    return scale;
}

double fp_histogram_width(const struct fp_histogram *h)
{
    return boundary(1, h->scale);
}

double fp_histogram_lower(const struct fp_histogram *h)
{
    return boundary(h->first, h->scale);
}

double fp_histogram_weight(const struct fp_histogram *h)
{
    double weight = 0;
    for (uint32_t i = 0; i < h->nbins; i++) weight += h->bins[i];
    return weight;
}

static void coarsen(struct fp_histogram *h, uint32_t scale)
{
    uint32_t by = scale - h->scale, last = 0;
    if (!by || !h->nbins) {
        h->scale = scale;
        return;
    }
    uint64_t first = by < 64 ? h->first >> by : 0;
    for (uint32_t i = 0; i < h->nbins; i++) {
        uint64_t place = by < 64 ? (h->first + i) >> by : 0;
        uint32_t to = (uint32_t)(place - first);
        double weight = h->bins[i];
        h->bins[i] = 0; /* to <= i: a place not read again */
        h->bins[to] += weight;
        last = to;
    }
    h->first = first;
    h->nbins = last + 1;
    h->scale = scale;
}

/* Makes the bins cover first .. last. */
static void widen(struct fp_arena *arena, struct fp_histogram *h, uint64_t first, uint64_t last)
{
    if (h->nbins && first > h->first) first = h->first;
    if (h->nbins && last < h->first + h->nbins - 1) last = h->first + h->nbins - 1;
    uint32_t need = (uint32_t)(last - first + 1);
    uint32_t shift = h->nbins ? (uint32_t)(h->first - first) : 0;
    if (need > h->cap) {
        uint32_t cap = need < 4 ? need : need + need / 2;
        double *bins = FP_NEW_ARRAY(arena, double, cap);
        if (h->nbins) memcpy(bins + shift, h->bins, h->nbins * sizeof *bins);
        h->bins = bins;
        h->cap = cap;
    } else {
        if (shift) memmove(h->bins + shift, h->bins, h->nbins * sizeof *h->bins);
        for (uint32_t i = 0; i < shift; i++) h->bins[i] = 0;
        for (uint32_t i = shift + h->nbins; i < need; i++) h->bins[i] = 0;
    }
    h->first = first;
    h->nbins = need;
}

static void add_weight(struct fp_arena *arena, struct fp_histogram *h, uint64_t place,
                       double weight)
{
    if (!h->nbins || place < h->first || place >= h->first + h->nbins)
        widen(arena, h, place, place);
    h->bins[place - h->first] += weight;
}

/* ---- merging ---- */

/* A number as the sum of two doubles, for means that differ in their last digits. */
struct value_pair {
    double high, low;
};

static struct value_pair mean_of(const struct fp_distribution *d)
{
    double trials = (double)d->trials, mean = d->sum / trials;
    return (struct value_pair){mean, (fma(-mean, trials, d->sum) + d->rest) / trials};
}

/* Knuth: the sum of two doubles and what it lacks. */
static struct value_pair add_exactly(double a, double b)
{
    double sum = a + b, of_b = sum - a;
    return (struct value_pair){sum, (a - (sum - of_b)) + (b - of_b)};
}

/* Formulae 3 and 4. */
static void merge_moments(struct fp_distribution *d, const struct fp_distribution *other)
{
    double na = (double)d->trials, nb = (double)other->trials;
    struct value_pair a = mean_of(d), b = mean_of(other), sum = add_exactly(d->sum, other->sum);
    double distance = (a.high - b.high) + (a.low - b.low);
    d->squares += other->squares + na * nb / (na + nb) * distance * distance;
    struct value_pair whole = add_exactly(sum.high, sum.low + d->rest + other->rest);
    d->sum = whole.high;
    d->rest = whole.low;
}

static void merge_ranges(struct fp_distribution *d, const struct fp_distribution *other)
{
    if (other->min < d->min) d->min = other->min;
    if (other->max > d->max) d->max = other->max;
    if (other->least < d->least) d->least = other->least;
    if (other->most > d->most) d->most = other->most;
}

static void merge_histograms(struct fp_arena *arena, struct fp_distribution *d,
                             const struct fp_histogram *other, uint32_t bins)
{
    struct fp_histogram *h = &d->histogram;
    uint32_t least = h->scale > other->scale ? h->scale : other->scale;
    uint32_t scale = scale_for(d->min, d->max, bins, least), by = scale - other->scale;
    coarsen(h, scale);
    for (uint32_t i = 0; i < other->nbins; i++)
        if (other->bins[i] != 0)
            add_weight(arena, h, by < 64 ? (other->first + i) >> by : 0, other->bins[i]);
}

void fp_distribution_merge(struct fp_arena *arena, struct fp_distribution *d,
                           const struct fp_distribution *other, uint32_t bins)
{
    if (!other->trials) return;
    if (!d->trials) {
        struct fp_histogram empty = {0};
        *d = *other;
        d->histogram = empty;
        d->trials = 0;
    } else {
        merge_moments(d, other);
        merge_ranges(d, other);
        d->nonzero = fp_add_saturated(d->nonzero, other->nonzero);
        d->count = fp_add_saturated(d->count, other->count);
    }
    d->trials = fp_add_saturated(d->trials, other->trials);
    merge_histograms(arena, d, &other->histogram, bins);
}

static void add_equal(struct fp_arena *arena, struct fp_distribution *d, double frequency,
                      uint64_t count, uint64_t trials, uint32_t bins)
{
    double weight = (double)trials;
    struct fp_distribution point = {
        .trials = trials,
        .nonzero = frequency > 0 || count ? trials : 0,
        .sum = frequency * weight,
        .min = frequency,
        .max = frequency,
        .count = fp_mul_saturated(count, trials),
        .least = count,
        .most = count,
        .histogram = {.nbins = 1, .bins = &weight},
    };
    point.histogram.scale = scale_for(frequency, frequency, bins, 0);
    point.histogram.first = place_of(frequency, point.histogram.scale);
    fp_distribution_merge(arena, d, &point, bins);
}

void fp_distribution_add(struct fp_arena *arena, struct fp_distribution *d, double frequency,
                         uint64_t count, uint32_t bins)
{
    add_equal(arena, d, frequency, count, 1, bins);
}

void fp_distribution_add_zeros(struct fp_arena *arena, struct fp_distribution *d, uint64_t trials,
                               uint32_t bins)
{
    if (trials) add_equal(arena, d, 0, 0, trials, bins);
}

void fp_distribution_set_bins(struct fp_distribution *d, uint32_t bins)
{
    if (d->trials) coarsen(&d->histogram, scale_for(d->min, d->max, bins, d->histogram.scale));
}

void fp_distribution_spread(struct fp_arena *arena, struct fp_distribution *d, double lower,
                            double upper, double weight, uint32_t bins)
{
    struct fp_histogram *h = &d->histogram;
    coarsen(h, scale_for(d->min, d->max, bins, h->scale));
    if (lower < d->min) lower = d->min;
    if (upper > d->max) upper = d->max;
    if (upper < lower) upper = lower;
    double left = weight;
    uint64_t last = place_of(upper, h->scale);
    for (uint64_t place = place_of(lower, h->scale); place < last; place++) {
        double from = boundary(place, h->scale);
        if (from < lower) from = lower;
        double part = weight * (boundary(place + 1, h->scale) - from) / (upper - lower);
        if (part > left) part = left;
        if (part > 0) add_weight(arena, h, place, part);
        left -= part;
    }
    add_weight(arena, h, last, left); /* the rest, so that no weight is lost to rounding */
}

void fp_distribution_mend(struct fp_distribution *d)
{
    struct fp_histogram *h = &d->histogram;
    uint64_t first = place_of(d->min, h->scale);
    if (h->nbins < 1 || !first || h->first != first - 1) return;
    h->first = first;
    if (h->nbins == 1) return;
    h->bins[1] += h->bins[0];
    h->bins++;
    h->nbins--;
    h->cap--;
}

bool fp_distribution_is_sound(const struct fp_distribution *d)
{
    const struct fp_histogram *h = &d->histogram;
    double trials = (double)d->trials;
    if (!d->trials || d->nonzero > d->trials || !(d->min <= d->max) || !h->nbins) return false;
    if (d->nonzero < d->trials && d->min > 0) return false;
    if (!(fabs(d->rest) <= 1e-9 * d->sum)) return false;
    if (d->max * FP_BINS_IN_ONE >= ldexp(1, PLACE_BITS + (int)h->scale)) return false;
    uint64_t first = place_of(d->min, h->scale), last = place_of(d->max, h->scale);
    if (last - first >= FP_MOST_BINS || h->first < first || h->first > last ||
        h->nbins - 1 > last - h->first)
        return false;
    return fabs(fp_histogram_weight(h) - trials) <= 1e-6 * trials;
}

/* ---- questions ---- */

double fp_distribution_mean(const struct fp_distribution *d)
{
    return d->trials ? d->sum / (double)d->trials : 0;
}

double fp_distribution_variance(const struct fp_distribution *d)
{
    /* all equal: rounding in the mean must not look like variation */
    if (!d->trials || d->min == d->max) return 0;
    return d->squares / (double)d->trials;
}

double fp_distribution_deviation(const struct fp_distribution *d)
{
    return sqrt(fp_distribution_variance(d));
}

double fp_distribution_variation(const struct fp_distribution *d)
{
    double mean = fp_distribution_mean(d);
    return mean > 0 ? fp_distribution_deviation(d) / mean : 0;
}

/* A bin as far as it can hold values. Zeros are known exactly, so the first bin of
 * the grid is left with the others. */
struct part {
    double from, to, weight;
};

static struct part part_of(const struct fp_distribution *d, uint32_t i)
{
    const struct fp_histogram *h = &d->histogram;
    struct part part = {boundary(h->first + i, h->scale), boundary(h->first + i + 1, h->scale),
                        h->bins[i]};
    if (h->first + i == 0) part.weight -= (double)(d->trials - d->nonzero);
    if (part.weight < 0) part.weight = 0;
    if (part.from < d->min) part.from = d->min;
    if (part.to > d->max) part.to = d->max;
    if (part.from > part.to) part.from = part.to; /* rounding at the edge of a bin */
    return part;
}

double fp_distribution_quantile(const struct fp_distribution *d, double q)
{
    double wanted = q * (double)d->trials - (double)(d->trials - d->nonzero);
    if (!d->trials || q >= 1) return d->max;
    if (q <= 0) return d->min;
    if (wanted <= 0 && d->nonzero < d->trials) return 0;
    for (uint32_t i = 0; i < d->histogram.nbins; i++) {
        struct part part = part_of(d, i);
        if (part.weight > 0 && wanted <= part.weight)
            return part.from + (part.to - part.from) * wanted / part.weight;
        wanted -= part.weight;
    }
    return d->max;
}

double fp_distribution_above(const struct fp_distribution *d, double x)
{
    if (!d->trials || x >= d->max) return 0;
    if (x < d->min) return 1;
    if (x == 0) return (double)d->nonzero / (double)d->trials;
    double above = 0;
    for (uint32_t i = 0; i < d->histogram.nbins; i++) {
        struct part part = part_of(d, i);
        if (x < part.from)
            above += part.weight;
        else if (x < part.to)
            above += part.weight * (part.to - x) / (part.to - part.from);
    }
    return above / (double)d->trials;
}
