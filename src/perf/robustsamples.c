/* Samples without stalls: see robustsamples.h. */
#include "perf/robustsamples.h"

#include <math.h>

enum { CAP_ROUNDS = 3 };

double fp_capped_samples(const struct fp_fitted *fitted, const struct fp_machine_function *f,
                         uint32_t block, const double *insns)
{
    uint32_t first = f->blocks[block].first_insn, n = f->blocks[block].ninsns;
    double sum = 0;
    for (uint32_t i = first; i < first + n; i++) sum += insns[i];
    for (int round = 0; round < CAP_ROUNDS && n > 1; round++) {
        double most = fitted->most_of_mean * sum / n;
        sum = 0;
        for (uint32_t i = first; i < first + n; i++) sum += fmin(insns[i], most);
    }
    return sum;
}

double fp_clipped_samples(const struct fp_fitted *fitted, const struct fp_machine_function *f,
                          uint32_t block, const double *insns, double expected, double period)
{
    uint32_t first = f->blocks[block].first_insn, n = f->blocks[block].ninsns;
    double most = fitted->most_of_expected * expected + fitted->slack * period, sum = 0;
    for (uint32_t i = first; i < first + n; i++)
        sum += fmax(fmin(insns[i], most), fitted->least_of_expected * expected);
    double part = fitted->capped_part;
    return part * fp_capped_samples(fitted, f, block, insns) + (1 - part) * sum;
}

double fp_sample_trust(const struct fp_fitted *fitted, double weight, double count, double period)
{
    double distance = log((weight + period) / (count + period));
    return 1 / (1 + (distance > 0 ? distance / fitted->far_above : -distance / fitted->far_below));
}

double fp_block_trust(const struct fp_fitted *fitted, uint32_t ninsns)
{
    return ninsns < 3 ? fitted->tiny_block : ninsns == 3 ? fitted->small_block : 1;
}
