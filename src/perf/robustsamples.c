/* Samples without stalls: see robustsamples.h. The constants are fitted as those of
 * blockweights.c are. */
#include "perf/robustsamples.h"

#include <math.h>

enum { CAP_ROUNDS = 3 };
static const double MOST_OF_MEAN = 4.1;
static const double MOST_OF_EXPECTED = 6, LEAST_OF_EXPECTED = 0.062, SLACK = 2.4;
static const double CAPPED_PART = 0.25;                /* the rest is clipped */
static const double TINY = 0.84, SMALL = 0.69;         /* blocks of 1 or 2 instructions, and of 3 */
static const double FAR_ABOVE = 0.42, FAR_BELOW = 1.5; /* as logarithms */

double fp_capped_samples(const struct fp_machine_function *f, uint32_t block, const double *insns)
{
    uint32_t first = f->blocks[block].first_insn, n = f->blocks[block].ninsns;
    double sum = 0;
    for (uint32_t i = first; i < first + n; i++) sum += insns[i];
    for (int round = 0; round < CAP_ROUNDS && n > 1; round++) {
        double most = MOST_OF_MEAN * sum / n;
        sum = 0;
        for (uint32_t i = first; i < first + n; i++) sum += fmin(insns[i], most);
    }
    return sum;
}

double fp_clipped_samples(const struct fp_machine_function *f, uint32_t block, const double *insns,
                          double expected, double period)
{
    uint32_t first = f->blocks[block].first_insn, n = f->blocks[block].ninsns;
    double most = MOST_OF_EXPECTED * expected + SLACK * period, sum = 0;
    for (uint32_t i = first; i < first + n; i++)
        sum += fmax(fmin(insns[i], most), LEAST_OF_EXPECTED * expected);
    return CAPPED_PART * fp_capped_samples(f, block, insns) + (1 - CAPPED_PART) * sum;
}

double fp_sample_trust(double weight, double count, double period)
{
    double distance = log((weight + period) / (count + period));
    return 1 / (1 + (distance > 0 ? distance / FAR_ABOVE : -distance / FAR_BELOW));
}

double fp_block_trust(uint32_t ninsns)
{
    return ninsns < 3 ? TINY : ninsns == 3 ? SMALL : 1;
}
