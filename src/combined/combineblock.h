/* One block of a job: see combinefiles.h. */
#ifndef FP_COMBINED_COMBINEBLOCK_H
#define FP_COMBINED_COMBINEBLOCK_H

#include "combined/combinefiles.h"

enum { FP_FILES_IN_BLOCK = 16 };

struct fp_combine_block {
    struct fp_combined *combined;
    struct fp_unfinished going; /* see fp_combine_sum */
    struct fp_writer messages;  /* lines */
    uint64_t program;           /* of its first file */
    size_t skipped, opened;     /* files */
    bool done, failed;
};

size_t fp_combine_nblocks(const struct fp_combine_job *job);

struct fp_combiner *fp_combiner_for(const struct fp_combine_job *job);

void fp_combine_block(const struct fp_combine_job *job, struct fp_combiner *combiner, size_t index,
                      struct fp_combine_block *block);
void fp_combine_block_free(struct fp_combine_block *block);

/* Blocks are merged in their order. Frees the block. */
bool fp_combine_merge_block(const struct fp_combine_job *job, struct fp_combine_sum *sum,
                            struct fp_combine_block *block, struct fp_error *error);

/* Tells how far the job is when block `index` is merged. */
void fp_combine_tell_progress(const struct fp_combine_job *job, size_t index);

#endif
