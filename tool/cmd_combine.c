/* footpath combine: distributions over many runs (paper 000, sections 3.5 and 4.3). */
#include "commands.h"

#include "cli_combined.h"
#include "cli_lock.h"
#include "cli_mpi.h"
#include "cli_progress.h"
#include "combined/combinedfile.h"
#include "combined/combinefiles.h"
#include "profile/aside.h"

#include <inttypes.h>
#include <unistd.h>

enum { MOST_LINES = 20 };

struct combine_request {
    struct fp_arena arena;
    FP_VEC(const char *) inputs;
    FP_VEC(const char *) binaries;
    struct fp_combine_job job;
    const char *output;
    bool mpi, mix, skip_bad;
    struct cli_progress progress;
    size_t told; /* lines about inputs */
};

static struct combine_request given = {.output = "footpath.cp"};

static void take_bins(const struct cli_command *command, char *value)
{
    uint64_t bins = cli_number(command, "--bins", value);
    if (bins < 1 || bins > FP_MOST_BINS)
        cli_usage(command, "--bins is 1 to %d, got %s", FP_MOST_BINS, value);
    given.job.bins = (uint32_t)bins;
}

static void take_jobs(const struct cli_command *command, char *value)
{
    uint64_t jobs = cli_number(command, "--jobs", value);
    if (jobs < 1 || jobs > 256) cli_usage(command, "--jobs is 1 to 256, got %s", value);
    given.job.threads = (uint32_t)jobs;
}

static void take_binary(const struct cli_command *command, char *value)
{
    (void)command;
    fp_vec_push(&given.arena, &given.binaries, value);
}

static void take_input(const struct cli_command *command, char *value)
{
    (void)command;
    fp_vec_push(&given.arena, &given.inputs, value);
}

static const struct cli_option options[] = {
    {"-o", "FILE", "where to write (footpath.cp); may be one of the inputs", .text = &given.output},
    {"--bins", "N", "bins of a histogram, 1 to 255 (what combined inputs have, or 15)",
     .take = take_bins},
    {"--binary", "FILE", "a program that ran, where it is not at its old place; may be repeated",
     .take = take_binary},
    {"--skip-bad", NULL, "leave out inputs that are missing or bad, instead of failing",
     .flag = &given.skip_bad},
    {"--jobs", "N", "threads (one per core)", .take = take_jobs},
    {"--mpi", NULL, "under mpirun: divide the inputs over the ranks", .flag = &given.mpi},
    {"--program", "NAME", "only runs of the program of that name", .text = &given.job.program},
    {"--mix", NULL, "also programs that share no function", .flag = &given.mix},
    {0},
};

/* A thousand inputs can have one and the same thing wrong with them. */
static void say_line(void *context, const char *line)
{
    struct combine_request *r = context;
    cli_progress_clear(&r->progress);
    if (r->told < MOST_LINES) cli_say("%s", line);
    if (r->told++ == MOST_LINES) cli_say("and so on");
}

static void show_progress(void *context, size_t done)
{
    struct combine_request *r = context;
    cli_progress_at(&r->progress, done);
}

/* Programs that share nothing are two profiles in one file. */
static bool belongs_together(const struct combine_request *r, const struct fp_combined *c)
{
    struct fp_arena scratch = {0};
    struct fp_writer names = {0};
    const struct fp_combined_module **of =
        FP_NEW_ARRAY(&scratch, const struct fp_combined_module *, c->modules.len);
    size_t n = r->mix ? 0 : fp_combined_programs(c, of);
    for (size_t i = 0; n > 1 && i < n && i < 4; i++)
        fp_say(&names, "%s%s", i ? ", " : "", fp_base_name(of[i]->path));
    if (n > 1)
        cli_say("the inputs are of %zu programs that share no function (%.*s%s); choose one by "
                "--program NAME, or combine them all by --mix",
                n, (int)names.len, (const char *)names.bytes, n > 4 ? ", ..." : "");
    fp_writer_free(&names);
    fp_arena_free(&scratch);
    return n <= 1;
}

/* Is there a sum that may be written? Says why not. */
static bool check_sum(const struct combine_request *r, const struct fp_combine_sum *sum)
{
    const struct fp_combined *c = sum->combined;
    if (sum->skipped) cli_say("skipped %zu of %zu inputs", sum->skipped, r->inputs.len);
    if (!c->runs && !sum->going.runs.len) {
        if (r->job.program)
            cli_say("no runs of a program %s to combine", r->job.program);
        else
            cli_say("no runs to combine; did the instrumented program run to its end?");
        return false;
    }
    if (!belongs_together(r, c)) return false;
    if (c->left_out_why)
        cli_say("%" PRIu64 " counts of a function in a run were left out; the first is of %s",
                c->left_out, c->left_out_why);
    return true;
}

/* Combines, and writes the result where no other process writes meanwhile. */
static int combine_and_write(struct combine_request *r, struct fp_ranks *ranks)
{
    struct fp_combine_job *job = &r->job;
    struct fp_combine_sum sum = {0};
    struct cli_in_place in_place;
    struct fp_error error = {0};
    bool ok = cli_in_place_begin(&in_place, r->output, job->inputs, job->ninputs, &error);
    cli_progress_begin(&r->progress, "combining", job->ninputs);
    ok = ok && (ranks ? fp_combine_from_ranks(job, ranks, &sum, &error)
                      : fp_combine_files(job, &sum, &error));
    cli_progress_clear(&r->progress);
    ok = ok && check_sum(r, &sum) &&
         fp_combined_write(r->output, sum.program, in_place.id, sum.combined, &sum.going, &error);
    if (error.set) cli_fail(&error, NULL);
    if (ranks && !ok) ranks->give_up(EXIT_FAILED); /* others may wait to be received */
    cli_in_place_end(&in_place);
    fp_combine_sum_free(&sum);
    return ok ? EXIT_OK : EXIT_FAILED;
}

static int combine_for_rank_0(struct combine_request *r, struct fp_ranks *ranks)
{
    struct fp_error error = {0};
    bool ok = fp_combine_for_rank_0(&r->job, ranks, &error);
    if (error.set) ranks->give_up(EXIT_FAILED);
    return ok ? EXIT_OK : EXIT_FAILED;
}

static int combine(struct combine_request *r)
{
    struct fp_combine_job *job = &r->job;
    struct fp_error error = {0};
    struct fp_ranks *ranks = r->mpi ? cli_mpi_begin(&error) : NULL;
    if (error.set) return cli_fail(&error, NULL);
    fp_drop_aside(&r->arena, r->inputs.at, &r->inputs.len);
    job->strict = !r->skip_bad;
    job->inputs = r->inputs.at, job->ninputs = r->inputs.len;
    job->binaries = r->binaries.at, job->nbinaries = r->binaries.len;
    job->say = say_line, job->progress = show_progress, job->context = r;
    if (!job->bins) job->bins = fp_combined_bins(job->inputs, job->ninputs);
    job->in_place = cli_find_in_place(r->output, job->inputs, job->ninputs);
    int status = ranks && ranks->rank ? combine_for_rank_0(r, ranks) : combine_and_write(r, ranks);
    if (ranks) ranks->end();
    return status;
}

int cli_compact(const char *path)
{
    struct combine_request r = {
        .output = path, .job = {.threads = 1}, .mix = true}; /* what is in it stays in it */
    fp_vec_push(&r.arena, &r.inputs, path);
    int status = combine(&r);
    fp_arena_free(&r.arena);
    return status;
}

static uint32_t cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > 16 ? 16 : (uint32_t)n;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    given.job.threads = cores();
    cli_parse(command, argc, argv);
    if (!given.inputs.len) cli_usage(command, "no profile given");
    for (size_t i = 0; i < given.binaries.len; i++)
        if (!cli_check_binary(given.binaries.at[i])) return EXIT_FAILED;
    int status = combine(&given);
    fp_arena_free(&given.arena);
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
    .take_word = take_input,
    .run = run,
};
