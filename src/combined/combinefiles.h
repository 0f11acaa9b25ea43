/* Combining many files, by threads or by ranks (paper 000, section 4.3).
 *
 * The inputs are divided into blocks of consecutive files. Each block becomes a combined
 * profile by itself, and these are merged in order. The result is the same to the last bit,
 * whichever thread or machine computes a block. Only a few blocks are in memory at a time.
 *
 *     struct fp_combine_job job = {.inputs = ..., .threads = 4, .in_place = SIZE_MAX};
 *     struct fp_combine_sum sum;
 *     if (fp_combine_files(&job, &sum, &error)) ... sum.combined ...
 *     fp_combine_sum_free(&sum);
 */
#ifndef FP_COMBINED_COMBINEFILES_H
#define FP_COMBINED_COMBINEFILES_H

#include "combined/combine.h"
#include "combined/ranks.h"

struct fp_combine_job {
    const char *const *inputs;
    size_t ninputs;
    const char *const *binaries; /* programs that ran, where they are now */
    size_t nbinaries;
    const char *program; /* only runs of the program of this name, or NULL */
    uint32_t bins;
    uint32_t threads; /* at least 1 */
    bool strict;      /* a bad input fails the job; else it is skipped */
    size_t in_place;  /* the input whose place the result takes, or SIZE_MAX */
    /* What is to be told of an input, a line without its end. */
    void (*say)(void *context, const char *line);
    void (*progress)(void *context, size_t done); /* how many inputs are combined */
    void *context;
};

struct fp_combine_sum {
    struct fp_combined *combined;
    struct fp_unfinished going; /* of the input in whose place the sum goes: runs that may be
                                   written again */
    uint64_t program;           /* of the first input, by its header */
    size_t skipped;             /* inputs */
};

/* False: `error` is set, or say() told what is wrong with an input. The sum is to be freed
 * in any case. */
bool fp_combine_files(const struct fp_combine_job *job, struct fp_combine_sum *sum,
                      struct fp_error *error);

/* The same by ranks: block i is made by rank i modulo their number. Rank 0 calls
 * fp_combine_from_ranks and has the sum, the others call fp_combine_for_rank_0. */
bool fp_combine_from_ranks(const struct fp_combine_job *job, struct fp_ranks *ranks,
                           struct fp_combine_sum *sum, struct fp_error *error);
bool fp_combine_for_rank_0(const struct fp_combine_job *job, struct fp_ranks *ranks,
                           struct fp_error *error);

void fp_combine_sum_free(struct fp_combine_sum *sum);

#endif
