/* footpath combine: distributions over many runs (paper 000, sections 3.5 and 4.3).
 *
 * The inputs are divided into blocks of consecutive files. Each block becomes a
 * combined profile by itself, and these are merged in order. Who computes a block, a
 * thread or another machine, makes no difference to the result, down to the last bit;
 * only a few blocks are in memory at a time. */
#include "commands.h"

#include "cli_combined.h"
#include "cli_lock.h"
#include "profile/aside.h"
#include "cli_mpi.h"
#include "cli_progress.h"
#include "footpath/profile_abi.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

static const struct cli_option options[] = {
    {"-o", "FILE", "where to write (footpath.cp); may be one of the inputs"},
    {"--bins", "N", "bins of a histogram, 1 to 255 (what combined inputs have, or 15)"},
    {"--binary", "FILE", "a program that ran, where it is not at its old place; may be repeated"},
    {"--strict", NULL, "a bad input among several is an error, not skipped"},
    {"--jobs", "N", "threads (one per core)"},
    {"--mpi", NULL, "under mpirun: divide the inputs over the ranks"},
    {"--program", "NAME", "only runs of the program of that name"},
    {"--mix", NULL, "also programs that share no function"},
    {NULL, NULL, NULL},
};
enum { OUTPUT, BINS, BINARY, STRICT, JOBS, MPI, PROGRAM, MIX };

enum { FILES_IN_BLOCK = 16 };

struct combine_job {
    struct fp_arena arena;
    FP_VEC(const char *) inputs;
    FP_VEC(const char *) binaries;
    const char *output;
    uint32_t bins; /* 0: as the inputs have */
    uint32_t threads;
    bool strict, mpi, mix;
    const char *program; /* only its runs, or NULL */
    size_t in_place;     /* the input that is the output too, or SIZE_MAX */
    uint64_t id;         /* of the output */
};

/* What became of a block. */
struct block {
    struct fp_combined *combined;
    struct fp_unfinished going; /* of the output itself: runs that may be written again */
    struct fp_writer messages;
    uint64_t program; /* of its first file */
    size_t skipped, opened;
    bool done, failed;
};

static size_t block_count(const struct combine_job *job)
{
    return (job->inputs.len + FILES_IN_BLOCK - 1) / FILES_IN_BLOCK;
}

/* ---- one block ---- */

static void note(struct block *block, const char *name, const struct fp_combine_notes *notes)
{
    struct fp_arena scratch = {0};
    if (!block->program) block->program = notes->program;
    if (notes->cut)
        fp_say(&block->messages,
               "footpath: %s: ends in the middle of a record; the runs before it are used\n",
               fp_plain(&scratch, name));
    if (notes->merged)
        fp_say(&block->messages,
               "footpath: %s: %" PRIu64
               " of its records are sums of several runs, each counts as one; combine "
               "the profiles that were merged into it\n",
               fp_plain(&scratch, name), notes->merged);
    fp_arena_free(&scratch);
}

static void refuse(struct block *block, const struct combine_job *job, const struct fp_error *error)
{
    char text[1024];
    fp_error_text(error, text, sizeof text);
    fp_say(&block->messages, "footpath: %s\n", text);
    block->skipped++;
    block->failed |= job->strict || job->inputs.len == 1;
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

static void combine_block(const struct combine_job *job, struct fp_combiner *combiner, size_t index,
                          struct block *block)
{
    size_t end = (index + 1) * FILES_IN_BLOCK;
    if (end > job->inputs.len) end = job->inputs.len;
    block->combined = fp_combined_new(job->bins);
    for (size_t i = index * FILES_IN_BLOCK; i < end && !block->failed; i++) {
        struct fp_combine_notes notes = {0};
        struct fp_error error = {0};
        struct fp_combine_going going = {.goes_on = goes_on};
        if (fp_combine_file(combiner, block->combined, job->inputs.at[i],
                            i == job->in_place ? &going : NULL, &notes, &error))
            note(block, job->inputs.at[i], &notes);
        else
            refuse(block, job, &error);
        block->opened += notes.opened;
        if (i == job->in_place) block->going = going.kept;
    }
}

static struct fp_combiner *new_combiner(const struct combine_job *job)
{
    struct fp_combiner *combiner = fp_combiner_new(job->binaries.at, job->binaries.len);
    fp_combiner_choose(combiner, job->program);
    return combiner;
}

static void free_block(struct block *block)
{
    fp_combined_free(block->combined);
    fp_writer_free(&block->messages);
    block->combined = NULL;
}

/* ---- merging blocks in order ---- */

struct sum {
    struct fp_combined *combined;
    struct fp_unfinished going;
    struct cli_progress progress;
    uint64_t program;
    size_t skipped, told; /* of the latter: lines of messages */
};

enum { MOST_LINES = 20 };

/* A thousand inputs can have one and the same thing wrong with them. */
static void tell(struct sum *sum, const struct fp_writer *messages)
{
    if (messages->len) cli_progress_clear(&sum->progress);
    for (size_t at = 0; at < messages->len && sum->told <= MOST_LINES;) {
        const unsigned char *end = memchr(messages->bytes + at, '\n', messages->len - at);
        size_t len = (size_t)(end - (messages->bytes + at)) + 1; /* every message ends its line */
        if (sum->told++ == MOST_LINES)
            cli_say("and so on");
        else
            fwrite(messages->bytes + at, 1, len, stderr);
        at += len;
    }
}

static bool take_block(struct sum *sum, struct block *block)
{
    struct fp_error error = {0};
    tell(sum, &block->messages);
    sum->skipped += block->skipped;
    if (!sum->program) sum->program = block->program;
    if (block->going.arena.chunk) sum->going = block->going;
    bool ok = !block->failed && fp_combined_merge(sum->combined, block->combined, &error);
    if (error.set) {
        cli_progress_clear(&sum->progress);
        cli_fail(&error, NULL);
    }
    free_block(block);
    return ok;
}

/* ---- threads: each takes the next block, at most a few ahead of the merging ---- */

struct team {
    const struct combine_job *job;
    struct block *blocks;
    size_t next, merged, ahead;
    bool stop;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

static void *work(void *context)
{
    struct team *team = context;
    struct fp_combiner *combiner = new_combiner(team->job);
    pthread_mutex_lock(&team->lock);
    while (!team->stop && team->next < block_count(team->job)) {
        if (team->next >= team->merged + team->ahead) {
            pthread_cond_wait(&team->changed, &team->lock);
            continue;
        }
        size_t index = team->next++;
        pthread_mutex_unlock(&team->lock);
        combine_block(team->job, combiner, index, &team->blocks[index]);
        pthread_mutex_lock(&team->lock);
        team->blocks[index].done = true;
        pthread_cond_broadcast(&team->changed);
    }
    pthread_mutex_unlock(&team->lock);
    fp_combiner_free(combiner);
    return NULL;
}

static bool merge_as_done(struct team *team, struct sum *sum)
{
    bool ok = true;
    for (size_t i = 0; ok && i < block_count(team->job); i++) {
        pthread_mutex_lock(&team->lock);
        while (!team->blocks[i].done) pthread_cond_wait(&team->changed, &team->lock);
        pthread_mutex_unlock(&team->lock);
        ok = take_block(sum, &team->blocks[i]);
        pthread_mutex_lock(&team->lock);
        team->merged = i + 1;
        pthread_cond_broadcast(&team->changed);
        pthread_mutex_unlock(&team->lock);
        cli_progress_at(&sum->progress, (i + 1) * FILES_IN_BLOCK);
    }
    return ok;
}

static bool combine_by_threads(const struct combine_job *job, struct sum *sum)
{
    size_t nblocks = block_count(job);
    uint32_t threads = job->threads < nblocks ? job->threads : (uint32_t)nblocks;
    struct team team = {.job = job,
                        .ahead = 2 * (size_t)threads,
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .changed = PTHREAD_COND_INITIALIZER};
    team.blocks = calloc(nblocks, sizeof *team.blocks);
    pthread_t *members = calloc(threads, sizeof *members);
    if (!team.blocks || !members) abort();
    uint32_t started = 0;
    while (started < threads && pthread_create(&members[started], NULL, work, &team) == 0)
        started++;
    if (!started) { /* no threads to be had */
        team.ahead = nblocks;
        work(&team);
    }
    bool ok = merge_as_done(&team, sum);
    pthread_mutex_lock(&team.lock);
    team.stop = true;
    pthread_cond_broadcast(&team.changed);
    pthread_mutex_unlock(&team.lock);
    for (uint32_t i = 0; i < started; i++) pthread_join(members[i], NULL);
    for (size_t i = 0; i < nblocks; i++) free_block(&team.blocks[i]);
    free(team.blocks);
    free(members);
    return ok;
}

/* ---- ranks: block i is made by rank i modulo their number, merged by rank 0 ---- */

static int owner(const struct combine_job *job, const struct cli_mpi *mpi, size_t index)
{
    if (job->in_place != SIZE_MAX && index == job->in_place / FILES_IN_BLOCK) return 0;
    return (int)(index % (size_t)mpi->size);
}

/* What a rank has to say about its inputs. */
struct combine_share {
    size_t files, opened;
};

/* A rank that opens none of its files most likely does not see the file system they are
 * on: that must not look like a few bad inputs. */
static void check_share(const struct combine_job *job, const struct cli_mpi *mpi, size_t index,
                        struct combine_share *share, struct block *block)
{
    struct utsname here = {0};
    size_t begin = index * FILES_IN_BLOCK, end = begin + FILES_IN_BLOCK, next = index + 1;
    share->files += (end > job->inputs.len ? job->inputs.len : end) - begin;
    share->opened += block->opened;
    while (next < block_count(job) && owner(job, mpi, next) != mpi->rank) next++;
    if (next < block_count(job) || share->opened) return;
    uname(&here);
    fp_say(&block->messages,
           "footpath: rank %d on %s could open none of its %zu inputs; put them where all machines "
           "find them under the same name\n",
           mpi->rank, here.nodename, share->files);
    block->failed = true;
}

/* False where this rank failed. */
static bool send_blocks(const struct combine_job *job, struct cli_mpi *mpi)
{
    struct combine_share share = {0};
    bool failed = false;
    struct fp_combiner *combiner = new_combiner(job);
    for (size_t i = 0; i < block_count(job); i++) {
        struct block block = {0};
        struct fp_writer bytes = {0};
        if (owner(job, mpi, i) != mpi->rank) continue;
        combine_block(job, combiner, i, &block);
        check_share(job, mpi, i, &share, &block);
        failed |= block.failed;
        fp_write_u8(&bytes, block.failed);
        fp_write_u64(&bytes, block.program);
        fp_write_uint(&bytes, block.skipped);
        fp_write_uint(&bytes, block.messages.len);
        fp_write_bytes(&bytes, block.messages.bytes, block.messages.len);
        fp_combined_encode(&bytes, block.combined);
        fp_combined_encode_kin(&bytes, block.combined);
        bool ok = mpi->send(0, bytes.bytes, bytes.len);
        fp_writer_free(&bytes);
        free_block(&block);
        if (!ok) mpi->give_up(EXIT_FAILED);
    }
    fp_combiner_free(combiner);
    return !failed;
}

static bool receive_block(struct cli_mpi *mpi, int from, struct block *block)
{
    size_t len;
    struct fp_error error = {0};
    unsigned char *bytes = mpi->receive(from, &len);
    if (!bytes) return false;
    struct fp_reader reader = {.bytes = bytes, .len = len, .file = "another rank", .error = &error};
    block->failed = fp_read_u8(&reader);
    block->program = fp_read_u64(&reader);
    block->skipped = fp_read_uint(&reader);
    size_t messages = fp_read_count(&reader, 1);
    const void *text = fp_read_bytes(&reader, messages);
    if (text) fp_write_bytes(&block->messages, text, messages);
    block->combined = fp_combined_decode(&reader);
    if (block->combined) fp_combined_decode_kin(&reader, block->combined);
    free(bytes);
    if (error.set) cli_fail(&error, "all ranks must run the same footpath");
    return block->combined && !error.set;
}

static bool combine_by_ranks(const struct combine_job *job, struct cli_mpi *mpi, struct sum *sum)
{
    struct fp_combiner *combiner = new_combiner(job);
    struct combine_share share = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < block_count(job); i++) {
        struct block block = {0};
        int from = owner(job, mpi, i);
        if (from == 0) {
            combine_block(job, combiner, i, &block);
            check_share(job, mpi, i, &share, &block);
        } else {
            ok = receive_block(mpi, from, &block);
        }
        ok = ok && take_block(sum, &block);
        cli_progress_at(&sum->progress, (i + 1) * FILES_IN_BLOCK);
    }
    fp_combiner_free(combiner);
    return ok;
}

/* ---- the output ---- */

static int write_sum(const struct combine_job *job, struct sum *sum)
{
    struct fp_error error = {0};
    if (cli_write_combined(job->output, sum->program, job->id, sum->combined, &sum->going, &error))
        return EXIT_OK;
    return cli_fail(&error, NULL);
}

/* Programs that share nothing are two profiles in one file. */
static bool belongs_together(const struct combine_job *job, const struct fp_combined *c)
{
    struct fp_arena scratch = {0};
    struct fp_writer names = {0};
    const struct fp_combined_module **of =
        FP_NEW_ARRAY(&scratch, const struct fp_combined_module *, c->modules.len);
    size_t n = job->mix ? 0 : fp_combined_programs(c, of);
    for (size_t i = 0; n > 1 && i < n && i < 4; i++)
        fp_say(&names, "%s%s", i ? ", " : "", fp_base_name(of[i]->path));
    if (n > 1)
        cli_say("the inputs are of %zu programs that share no function (%.*s%s); choose one by "
                "--program NAME, or "
                "combine them all by --mix",
                n, (int)names.len, (const char *)names.bytes, n > 4 ? ", ..." : "");
    fp_writer_free(&names);
    fp_arena_free(&scratch);
    return n <= 1;
}

static int finish(const struct combine_job *job, struct sum *sum, bool ok)
{
    cli_progress_clear(&sum->progress);
    if (ok && sum->skipped) cli_say("skipped %zu of %zu inputs", sum->skipped, job->inputs.len);
    if (ok && !sum->combined->runs && !sum->going.runs.len) {
        if (job->program)
            cli_say("no runs of a program %s to combine", job->program);
        else
            cli_say("no runs to combine; did the instrumented program run to its end?");
        ok = false;
    }
    ok = ok && belongs_together(job, sum->combined);
    if (ok && sum->combined->left_out_why)
        cli_say("%" PRIu64 " counts of a function in a run were left out; the first is of %s",
                sum->combined->left_out, sum->combined->left_out_why);
    return ok ? write_sum(job, sum) : EXIT_FAILED;
}

static int combine(struct combine_job *job, struct cli_mpi *mpi)
{
    if (!job->bins) job->bins = fp_combined_bins(job->inputs.at, job->inputs.len);
    struct sum sum = {.combined = fp_combined_new(job->bins)};
    struct cli_in_place in_place;
    struct fp_error error = {0};
    job->in_place = cli_find_in_place(job->output, job->inputs.at, job->inputs.len);
    if (mpi && mpi->rank) {
        bool sent = send_blocks(job, mpi);
        fp_combined_free(sum.combined);
        return sent ? EXIT_OK : EXIT_FAILED;
    }
    bool ok = cli_in_place_begin(&in_place, job->output, job->inputs.at, job->inputs.len, &error) ||
              cli_fail(&error, NULL) == EXIT_OK;
    job->id = in_place.id;
    cli_progress_begin(&sum.progress, "combining", job->inputs.len);
    ok = ok && (mpi ? combine_by_ranks(job, mpi, &sum) : combine_by_threads(job, &sum));
    int status = finish(job, &sum, ok);
    if (mpi && status != EXIT_OK) mpi->give_up(status); /* others may wait to be received */
    cli_in_place_end(&in_place);
    fp_arena_free(&sum.going.arena);
    fp_combined_free(sum.combined);
    return status;
}

int cli_compact(const char *path)
{
    struct combine_job job = {
        .output = path, .threads = 1, .mix = true}; /* what is in it stays in it */
    fp_vec_push(&job.arena, &job.inputs, path);
    int status = combine(&job, NULL);
    fp_arena_free(&job.arena);
    return status;
}

static uint32_t read_bins(const struct cli_command *command, const char *value)
{
    uint64_t bins = cli_number(command, "--bins", value);
    if (bins < 1 || bins > FP_MOST_BINS)
        cli_usage(command, "--bins is 1 to %d, got %s", FP_MOST_BINS, value);
    return (uint32_t)bins;
}

static uint32_t read_jobs(const struct cli_command *command, const char *value)
{
    uint64_t jobs = cli_number(command, "--jobs", value);
    if (jobs < 1 || jobs > 256) cli_usage(command, "--jobs is 1 to 256, got %s", value);
    return (uint32_t)jobs;
}

static uint32_t cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 16 ? 16 : (uint32_t)n;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    struct combine_job job = {.output = "footpath.cp", .threads = cores()};
    struct cli_mpi *mpi = NULL;
    struct fp_error error = {0};
    char *value;
    for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
        switch (option) {
        case OUTPUT: job.output = value; break;
        case BINS: job.bins = read_bins(command, value); break;
        case BINARY: fp_vec_push(&job.arena, &job.binaries, value); break;
        case STRICT: job.strict = true; break;
        case JOBS: job.threads = read_jobs(command, value); break;
        case MPI: job.mpi = true; break;
        case PROGRAM: job.program = value; break;
        case MIX: job.mix = true; break;
        case CLI_WORD: fp_vec_push(&job.arena, &job.inputs, value); break;
        default: break;
        }
    }
    if (!job.inputs.len) cli_usage(command, "no profile given");
    for (size_t i = 0; i < job.binaries.len; i++)
        if (!cli_check_binary(job.binaries.at[i])) return EXIT_FAILED;
    if (job.mpi && !(mpi = cli_mpi_begin(&error))) return cli_fail(&error, NULL);
    fp_drop_aside(job.inputs.at, &job.inputs.len);
    int status = combine(&job, mpi);
    if (mpi) mpi->end();
    fp_arena_free(&job.arena);
    return status;
}

struct cli_command command_combine = {
    .name = "combine",
    .arguments = "PROFILE...",
    .summary = "Distributions of edges and paths over many runs",
    .text =
        "Inputs are profiles of paths or edges with any number of runs, and earlier combined\n"
        "profiles, of one program or of several that share code. One run is one trial, also of\n"
        "an inline function that several of its modules have. footpath show reads the result.",
    .options = options,
    .run = run,
};
