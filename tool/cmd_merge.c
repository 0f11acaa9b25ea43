/* footpath merge: the sum of profiles, as one profile. One input at a time is in
 * memory; threads sum up a share of the inputs each, and their sums are added. */
#include "commands.h"

#include "base/names.h"
#include "cli_lock.h"
#include "profile/aside.h"
#include "cli_progress.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    struct cli_profiles inputs;
    const char *output;
    uint64_t threads;
} given = {.output = "footpath-merged.prof"};

static const struct cli_option options[] = {
    {"-o", "FILE", "where to write (footpath-merged.prof)", .text = &given.output},
    {"--skip-bad", NULL, "leave out inputs that are missing or bad, instead of failing",
     .flag = &given.inputs.skip_bad},
    {"--jobs", "N", "threads (one per core)", .number = &given.threads},
    {0},
};

enum { MOST_THREADS = 16, FEWEST_FILES = 8 }; /* for a thread to be worth it */

struct merge_job {
    const struct cli_profiles *inputs;
    struct fp_error **problems; /* per input, or NULL */
    struct cli_progress progress;
    size_t next;
    size_t in_place; /* the input that is the output, or SIZE_MAX */
    bool stop;
    pthread_mutex_t lock;
};

struct merge_share {
    struct merge_job *job;
    struct fp_profile *sum;
    pthread_t thread;
};

/* The next input for whoever has time; SIZE_MAX at the end. */
static size_t next_input(struct merge_job *job)
{
    pthread_mutex_lock(&job->lock);
    size_t index = job->stop || job->next == job->inputs->names.len ? SIZE_MAX : job->next++;
    if (index != SIZE_MAX) cli_progress_at(&job->progress, index);
    pthread_mutex_unlock(&job->lock);
    return index;
}

static void note_problem(struct merge_job *job, size_t index, const struct fp_error *error)
{
    struct fp_error *kept = malloc(sizeof *kept);
    if (!kept) abort();
    *kept = *error;
    pthread_mutex_lock(&job->lock);
    job->problems[index] = kept;
    job->stop |= !job->inputs->skip_bad;
    pthread_mutex_unlock(&job->lock);
}

static void *sum_up(void *context)
{
    struct merge_share *share = context;
    for (size_t i; (i = next_input(share->job)) != SIZE_MAX;) {
        struct fp_error error = {0};
        share->sum->alone = i == share->job->in_place; /* what lay beside it is in it now */
        if (!fp_profile_add(share->sum, share->job->inputs->names.at[i], &error))
            note_problem(share->job, i, &error);
    }
    return NULL;
}

/* Adds the sums of the others to the first. */
static void add_share(struct fp_profile *sum, struct fp_profile *other)
{
    size_t nruns;
    struct fp_run *runs = fp_profile_merged(other, &nruns);
    for (size_t i = 0; i < nruns; i++) fp_profile_add_run(sum, &runs[i]);
    for (size_t i = 0; i < other->cut.len; i++) {
        const char *name = fp_arena_strdup(&sum->arena, other->cut.at[i]);
        fp_vec_push(&sum->arena, &sum->cut, name);
    }
}

static void sum_by_threads(struct merge_job *job, size_t threads, struct fp_profile *sum)
{
    struct merge_share shares[MOST_THREADS];
    size_t started = 0;
    for (size_t i = 0; i < threads; i++) {
        shares[i] = (struct merge_share){.job = job, .sum = i ? fp_profile_new() : sum};
        shares[i].sum->brief = shares[i].sum->all_builds = true;
    }
    for (size_t i = 1; i < threads; i++, started++)
        if (pthread_create(&shares[i].thread, NULL, sum_up, &shares[i])) break;
    sum_up(&shares[0]);
    for (size_t i = 1; i <= started; i++) pthread_join(shares[i].thread, NULL);
    for (size_t i = 1; i < threads; i++) {
        add_share(sum, shares[i].sum);
        fp_profile_free(shares[i].sum);
    }
}

/* What went wrong, in the order of the inputs. Is what is left to be used? */
static bool say_problems(struct merge_job *job, const struct fp_profile *sum)
{
    size_t bad = 0;
    bool may_skip = job->inputs->skip_bad && job->inputs->names.len > 1;
    for (size_t i = 0; i < job->inputs->names.len; i++) {
        if (!job->problems[i]) continue;
        cli_fail(job->problems[i],
                 may_skip || job->inputs->names.len == 1 ? NULL : "--skip-bad goes on without it");
        free(job->problems[i]);
        bad++;
    }
    if (bad && !may_skip) return false;
    if (bad) cli_say("skipped %zu of %zu profiles", bad, job->inputs->names.len);
    for (size_t i = 0; i < sum->cut.len; i++)
        cli_say("%s: ends in the middle of a record; the runs before it are used", sum->cut.at[i]);
    if (!sum->modules.len)
        cli_say("no runs to merge; did the instrumented program run to its end?");
    return sum->modules.len != 0;
}

/* Counts of one build are never added to those of another, whose paths may be others. */
static void say_builds(const struct fp_profile *sum)
{
    for (size_t i = 0; i < sum->modules.len; i++) {
        const char *name = fp_base_name(sum->modules.at[i]->id.path);
        size_t before = 0, all = 0;
        for (size_t k = 0; k < sum->modules.len; k++) {
            if (strcmp(fp_base_name(sum->modules.at[k]->id.path), name)) continue;
            all++;
            before += k < i;
        }
        if (!before && all > 1)
            cli_say("%s: %zu builds, kept apart; --program chooses one where the sum is read", name,
                    all);
    }
}

static int merge(const struct cli_profiles *inputs, size_t threads, const char *output)
{
    struct fp_profile *sum = fp_profile_new();
    struct merge_job job = {.inputs = inputs, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct fp_error error = {0};
    size_t nruns, most = 1 + inputs->names.len / FEWEST_FILES;
    struct cli_in_place in_place;
    job.problems = calloc(inputs->names.len, sizeof *job.problems);
    if (!job.problems) abort();
    if (!cli_in_place_begin(&in_place, output, inputs->names.at, inputs->names.len, &error))
        cli_fail(&error, NULL);
    job.in_place = in_place.index;
    cli_progress_begin(&job.progress, "merging", inputs->names.len);
    sum_by_threads(&job, threads < most ? threads : most, sum);
    cli_progress_clear(&job.progress);
    bool ok = say_problems(&job, sum);
    if (ok) {
        say_builds(sum);
        struct fp_run *runs = fp_profile_merged(sum, &nruns);
        if (!fp_profile_write(output, runs, nruns, in_place.id, &error))
            ok = cli_fail(&error, NULL) == EXIT_OK;
    }
    cli_in_place_end(&in_place);
    free(job.problems);
    fp_profile_free(sum);
    return ok ? EXIT_OK : EXIT_FAILED;
}

static size_t cores(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (size_t)n;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli_profiles *inputs = &given.inputs;
    given.threads = cores();
    cli_parse(command, argc, argv);
    if (!inputs->names.len) cli_usage(command, "no profile given");
    if (given.threads < 1 || given.threads > MOST_THREADS)
        cli_usage(command, "--jobs is 1 to %d", MOST_THREADS);
    fp_drop_aside(&inputs->arena, inputs->names.at, &inputs->names.len);
    int status = merge(inputs, given.threads, given.output);
    fp_arena_free(&inputs->arena);
    return status;
}

struct cli_command command_merge = {
    .name = "merge",
    .arguments = "PROFILE...",
    .summary = "Add profiles up into one",
    .options = options,
    .words = &given.inputs,
    .run = run,
};
