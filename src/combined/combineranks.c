/* Combining by ranks: block i is made by rank i modulo their number, merged by rank 0. */
#include "combined/combineblock.h"

#include "base/plain.h"

#include <stdlib.h>
#include <sys/utsname.h>

static int owner(const struct fp_combine_job *job, const struct fp_ranks *ranks, size_t index)
{
    if (job->in_place != SIZE_MAX && index == job->in_place / FP_FILES_IN_BLOCK) return 0;
    return (int)(index % (size_t)ranks->size);
}

/* What a rank has seen of its inputs. */
struct combine_share {
    size_t files, opened;
};

/* A rank that opens none of its files most likely does not see the file system they are
 * on: that must not look like a few bad inputs. */
static void check_share(const struct fp_combine_job *job, const struct fp_ranks *ranks,
                        size_t index, struct combine_share *share, struct fp_combine_block *block)
{
    struct utsname here = {0};
    size_t begin = index * FP_FILES_IN_BLOCK, end = begin + FP_FILES_IN_BLOCK, next = index + 1;
    size_t nblocks = fp_combine_nblocks(job);
    share->files += (end > job->ninputs ? job->ninputs : end) - begin;
    share->opened += block->opened;
    while (next < nblocks && owner(job, ranks, next) != ranks->rank) next++;
    if (next < nblocks || share->opened) return;
    uname(&here);
    fp_say(&block->messages,
           "rank %d on %s could open none of its %zu inputs; put them where all machines find them "
           "under the same name\n",
           ranks->rank, here.nodename, share->files);
    block->failed = true;
}

static bool send_block(struct fp_ranks *ranks, const struct fp_combine_block *block)
{
    struct fp_writer bytes = {0};
    fp_write_u8(&bytes, block->failed);
    fp_write_u64(&bytes, block->program);
    fp_write_uint(&bytes, block->skipped);
    fp_write_uint(&bytes, block->messages.len);
    fp_write_bytes(&bytes, block->messages.bytes, block->messages.len);
    fp_combined_encode(&bytes, block->combined);
    fp_combined_encode_kin(&bytes, block->combined);
    bool ok = ranks->send(0, bytes.bytes, bytes.len);
    fp_writer_free(&bytes);
    return ok;
}

bool fp_combine_for_rank_0(const struct fp_combine_job *job, struct fp_ranks *ranks,
                           struct fp_error *error)
{
    struct combine_share share = {0};
    bool ok = true, sent = true;
    struct fp_combiner *combiner = fp_combiner_for(job);
    for (size_t i = 0; sent && i < fp_combine_nblocks(job); i++) {
        struct fp_combine_block block = {0};
        if (owner(job, ranks, i) != ranks->rank) continue;
        fp_combine_block(job, combiner, i, &block);
        check_share(job, ranks, i, &share, &block);
        sent = send_block(ranks, &block);
        ok = ok && !block.failed;
        fp_combine_block_free(&block);
    }
    fp_combiner_free(combiner);
    if (!sent) return fp_fail(error, NULL, "rank %d cannot send to rank 0", ranks->rank);
    return ok;
}

static bool receive_block(struct fp_ranks *ranks, int from, struct fp_combine_block *block,
                          struct fp_error *error)
{
    size_t len;
    struct fp_error unread = {0};
    unsigned char *bytes = ranks->receive(from, &len);
    if (!bytes) return fp_fail(error, NULL, "cannot receive from rank %d", from);
    struct fp_reader reader = {
        .bytes = bytes, .len = len, .file = "another rank", .error = &unread};
    block->failed = fp_read_u8(&reader);
    block->program = fp_read_u64(&reader);
    block->skipped = fp_read_uint(&reader);
    size_t messages = fp_read_count(&reader, 1);
    const void *text = fp_read_bytes(&reader, messages);
    if (text) fp_write_bytes(&block->messages, text, messages);
    block->combined = fp_combined_decode(&reader);
    if (block->combined) fp_combined_decode_kin(&reader, block->combined);
    free(bytes);
    if (block->combined && !unread.set) return true;
    return fp_fail(error, "another rank", "%s; all ranks must run the same footpath", unread.what);
}

bool fp_combine_from_ranks(const struct fp_combine_job *job, struct fp_ranks *ranks,
                           struct fp_combine_sum *sum, struct fp_error *error)
{
    struct fp_combiner *combiner = fp_combiner_for(job);
    struct combine_share share = {0};
    bool ok = true;
    *sum = (struct fp_combine_sum){.combined = fp_combined_new(job->bins)};
    for (size_t i = 0; ok && i < fp_combine_nblocks(job); i++) {
        struct fp_combine_block block = {0};
        int from = owner(job, ranks, i);
        if (from == 0) {
            fp_combine_block(job, combiner, i, &block);
            check_share(job, ranks, i, &share, &block);
        } else {
            ok = receive_block(ranks, from, &block, error);
        }
        ok = ok && fp_combine_merge_block(job, sum, &block, error);
        fp_combine_block_free(&block);
        fp_combine_tell_progress(job, i);
    }
    fp_combiner_free(combiner);
    return ok;
}
