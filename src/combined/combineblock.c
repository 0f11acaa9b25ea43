/* Combining the files of one block, and merging blocks in order. */
#include "combined/combineblock.h"

#include "base/plain.h"
#include "footpath/profile_abi.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/utsname.h>

size_t fp_combine_nblocks(const struct fp_combine_job *job)
{
    return (job->ninputs + FP_FILES_IN_BLOCK - 1) / FP_FILES_IN_BLOCK;
}

struct fp_combiner *fp_combiner_for(const struct fp_combine_job *job)
{
    struct fp_combiner *combiner = fp_combiner_new(job->binaries, job->nbinaries);
    fp_combiner_choose(combiner, job->program);
    return combiner;
}

static void note(struct fp_combine_block *block, const char *name,
                 const struct fp_combine_notes *notes)
{
    struct fp_arena scratch = {0};
    if (!block->program) block->program = notes->program;
    if (notes->cut)
        fp_say(&block->messages,
               "%s: ends in the middle of a record; the runs before it are used\n",
               fp_plain(&scratch, name));
    if (notes->merged)
        fp_say(&block->messages,
               "%s: %" PRIu64 " of its records are sums of several runs, each counts as one; "
               "combine the profiles that were merged into it\n",
               fp_plain(&scratch, name), notes->merged);
    fp_arena_free(&scratch);
}

static void refuse(struct fp_combine_block *block, const struct fp_combine_job *job,
                   const struct fp_error *error)
{
    char text[1024];
    fp_error_text(error, text, sizeof text);
    fp_say(&block->messages, "%s\n", text);
    block->skipped++;
    block->failed |= job->strict || job->ninputs == 1;
}

/* A dump in mid-run, _exit and exec all write a run that may be written again, and the
 * other modules of a process may be still to come. Not where the process is known to be
 * gone. */
static bool goes_on(const struct fp_run *run)
{
    struct utsname here;
    if (uname(&here) < 0 || strcmp(here.nodename, run->host)) return run->flags & FP_RUN_UNFINISHED;
    return kill((pid_t)run->pid, 0) == 0 || errno != ESRCH;
}

void fp_combine_block(const struct fp_combine_job *job, struct fp_combiner *combiner, size_t index,
                      struct fp_combine_block *block)
{
    size_t end = (index + 1) * FP_FILES_IN_BLOCK;
    if (end > job->ninputs) end = job->ninputs;
    block->combined = fp_combined_new(job->bins);
    for (size_t i = index * FP_FILES_IN_BLOCK; i < end && !block->failed; i++) {
        struct fp_combine_notes notes = {0};
        struct fp_error error = {0};
        struct fp_combine_going going = {.goes_on = goes_on};
        if (fp_combine_file(combiner, block->combined, job->inputs[i],
                            i == job->in_place ? &going : NULL, &notes, &error))
            note(block, job->inputs[i], &notes);
        else
            refuse(block, job, &error);
        block->opened += notes.opened;
        if (i == job->in_place) block->going = going.kept;
    }
}

void fp_combine_block_free(struct fp_combine_block *block)
{
    fp_combined_free(block->combined);
    fp_writer_free(&block->messages);
    block->combined = NULL;
}

/* Every message ends its line. */
static void tell(const struct fp_combine_job *job, struct fp_writer *messages)
{
    char *end, *line = (char *)messages->bytes, *last = line + messages->len;
    for (; job->say && line < last; line = end + 1) {
        end = memchr(line, '\n', (size_t)(last - line));
        if (!end) break;
        *end = 0;
        job->say(job->context, line);
    }
}

bool fp_combine_merge_block(const struct fp_combine_job *job, struct fp_combine_sum *sum,
                            struct fp_combine_block *block, struct fp_error *error)
{
    tell(job, &block->messages);
    sum->skipped += block->skipped;
    if (!sum->program) sum->program = block->program;
    if (block->going.arena.chunk) sum->going = block->going;
    bool ok = !block->failed && fp_combined_merge(sum->combined, block->combined, error);
    fp_combine_block_free(block);
    return ok;
}

void fp_combine_tell_progress(const struct fp_combine_job *job, size_t index)
{
    if (job->progress) job->progress(job->context, (index + 1) * FP_FILES_IN_BLOCK);
}

void fp_combine_sum_free(struct fp_combine_sum *sum)
{
    fp_arena_free(&sum->going.arena);
    fp_combined_free(sum->combined);
}
