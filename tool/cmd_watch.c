/* footpath watch: the paths that cost most in a program that runs, again and again.
 *
 * The program writes its profile every few seconds (FOOTPATH_DUMP_SECONDS) or when it
 * gets FOOTPATH_DUMP_SIGNAL; this reads it under the lock that writers take. With --pid it reads
 * the live file of a process, which does not notice. A store is asked at every look. Shown is what
 * was added since the last look, or with --total everything.
 *
 * With --against it says how far what was added lies from another profile (cli_drift.h). Looks
 * at too few counts for that are put together.
 */
#include "commands.h"

#include "api/handle.h"
#include "base/checked.h"
#include "base/io.h"
#include "cli_drift.h"
#include "cli_live.h"
#include "cli_store.h"
#include "report/show.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct watch {
    const char *path, *binary;
    const char *pid; /* pid:N, of a program with live counters, or NULL */
    double every;
    uint64_t looks;
    bool total, json, screen;
    struct footpath_options what;
    struct fp_show_options how;
    struct cli_drift drift;
};

static struct watch given = {
    .every = 2, .how = {.view = FP_SHOW_PATHS, .top = 15}, .drift = CLI_DRIFT_DEFAULTS};

static void take_seconds(const struct cli_command *command, char *value)
{
    given.every = strtod(value, NULL);
    if (!(given.every >= 0.05)) cli_usage(command, "--every: expected seconds, at least 0.05");
}

static void take_threshold(const struct cli_command *command, char *value)
{
    if (!cli_real(value, 0, 1, &given.drift.view.threshold))
        cli_usage(command, "--threshold: expected a number from 0 to 1, got '%s'", value);
}

static void take_by(const struct cli_command *command, char *value)
{
    (void)command; /* one of the words: cli_parse has looked */
    for (size_t i = 0; fp_drift_by_names[i]; i++)
        if (!strcmp(fp_drift_by_names[i], value)) given.drift.view.by = (enum fp_drift_by)i;
    given.drift.by_given = true;
}

static void take_path(const struct cli_command *command, char *value)
{
    if (given.path) cli_usage(command, "one profile at a time");
    given.path = value;
}

static void take_pid(const struct cli_command *command, char *value)
{
    static struct fp_arena arena; /* of the process */
    given.pid = cli_live_name(&arena, value);
    if (!given.pid) cli_usage(command, "--pid needs the number of a process, got '%s'", value);
}

static const struct cli_option options[] = {
    {"--pid", "N", "look at process N, started with FOOTPATH_LIVE=1", .take = take_pid},
    {"--every", "SECONDS", "how often to look (2)", .take = take_seconds},
    {"--top", "N", "how many paths (15)", .number = &given.how.top},
    {"--function", "NAME", "only functions whose name contains NAME", .text = &given.what.function},
    {"--functions", NULL, "functions instead of paths", .chosen = &given.how.view,
     .choice = FP_SHOW_FUNCTIONS},
    {"--total", NULL, "everything since the start, not only what is new", .flag = &given.total},
    {"--looks", "N", "stop after N looks at a changed profile", .number = &given.looks},
    {"--against", "OTHER", "how far it has drifted from a profile, combined profile or guide",
     .text = &given.drift.view.other},
    {"--threshold", "X", "with --against: exit with status 3 when the drift is above X (0 to 1)",
     .take = take_threshold},
    {"--by", "WHAT", "what the threshold is for: paths (the default), branches, flipped, unseen",
     .take = take_by, .words = "paths branches flipped unseen"},
    {"--evidence", "N", "with --against: how many paths must have ended before it judges (20000)",
     .number = &given.drift.view.evidence},
    {"--json", NULL, "each look as JSON", .flag = &given.json},
    {"--binary", "FILE", "the program that runs, where it is not at its old place",
     .text = &given.binary},
    {0},
};

static struct fp_profile *read_one(const struct watch *w, const char *path, struct fp_error *error)
{
    struct fp_profile *profile = fp_profile_new();
    if (fp_profile_add(profile, path, error)) {
        fp_profile_load_maps(profile, w->binary);
        return profile;
    }
    fp_profile_free(profile);
    return NULL;
}

static bool read_twice(const struct watch *w, const char *path, struct fp_profile *twice[2],
                       struct fp_error *error)
{
    twice[0] = read_one(w, path, error);
    twice[1] = twice[0] ? read_one(w, path, error) : NULL;
    if (!twice[1] && twice[0]) fp_profile_free(twice[0]);
    return twice[1];
}

/* A process as it is: each look has a name of its own, which is the same both times. */
static bool read_process(const struct watch *w, struct fp_profile *twice[2], struct fp_error *error)
{
    static uint64_t looks;
    struct fp_arena arena = {0};
    bool ok = read_twice(w, fp_arena_printf(&arena, "%s#%" PRIu64, w->pid, ++looks), twice, error);
    fp_arena_free(&arena);
    return ok;
}

/* The profile as it is, twice: one of them will have less taken off. Writers, who replace what
 * they wrote before, wait meanwhile: *as_read is the file as it was read. */
static bool read_locked(const struct watch *w, struct fp_profile *twice[2], struct stat *as_read,
                        struct fp_error *error)
{
    bool stored = fp_is_elsewhere(w->path);
    if (stored) cli_store_ask_again();
    int fd = stored ? -1 : open(w->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && !stored) return fp_fail(error, w->path, "cannot open");
    while (fd >= 0 && flock(fd, LOCK_SH) < 0 && errno == EINTR) continue;
    if (fd >= 0) fstat(fd, as_read);
    bool ok = read_twice(w, w->path, twice, error);
    if (fd >= 0) close(fd);
    return ok;
}

static void subtract_counters(struct fp_counters *now, const struct fp_counters *before)
{
    for (size_t i = 0; i < now->len; i++) {
        uint64_t old = fp_counters_get(before, now->at[i].table, now->at[i].path);
        if (old <= now->at[i].count) now->at[i].count -= old;
    }
}

/* Paths that were in flight at the last look were shown then, as far as they had come. */
static void subtract_in_flight(struct fp_arena *arena, struct fp_module *now,
                               const struct fp_module *before)
{
    for (size_t i = 0; i < before->in_flight.len; i++) {
        struct fp_in_flight old = before->in_flight.at[i];
        size_t k = 0;
        while (k < now->in_flight.len &&
               !(now->in_flight.at[k].function == old.function &&
                 now->in_flight.at[k].block == old.block && now->in_flight.at[k].reg == old.reg))
            k++;
        old.count = old.count == INT64_MIN ? INT64_MAX : -old.count;
        if (k < now->in_flight.len)
            now->in_flight.at[k].count =
                fp_add_saturated_signed(now->in_flight.at[k].count, old.count);
        else
            fp_vec_push(arena, &now->in_flight, old);
    }
}

/* Takes off what was there at the last look. A counter that has become smaller (its
 * program was started again into a new file) counts from 0. */
static void subtract(struct fp_profile *profile, const struct fp_profile *before)
{
    for (size_t i = 0; i < profile->modules.len; i++) {
        struct fp_module *module = profile->modules.at[i];
        for (size_t k = 0; k < before->modules.len; k++) {
            const struct fp_module *old = before->modules.at[k];
            if (!fp_same_module(&module->id, &old->id)) continue;
            subtract_counters(&module->counters, &old->counters);
            subtract_counters(&module->tables, &old->tables);
            subtract_in_flight(&profile->arena, module, old);
        }
    }
}

static int show(struct watch *w, struct fp_profile *profile)
{
    struct fp_writer out = {0};
    int status = EXIT_OK;
    if (w->screen) fp_write_bytes(&out, "\033[H\033[2J", 7);
    if (w->drift.view.other) {
        status = cli_drift_look(&w->drift, profile, w->json, &out);
    } else {
        struct footpath *fp = fp_handle_of_profile(profile, &w->what);
        if (w->json)
            fp_show_json(&out, fp);
        else
            fp_show_text(&out, fp, &w->how);
        footpath_close(fp);
    }
    if (cli_output(NULL, &out) != EXIT_OK) status = EXIT_FAILED;
    fflush(stdout);
    return status;
}

/* What a store holds is known when it is read. */
static bool changed(const char *path, const struct stat *last)
{
    struct stat now;
    if (fp_is_elsewhere(path)) return true;
    if (stat(path, &now) < 0) return false;
    return now.st_size != last->st_size || now.st_ino != last->st_ino ||
           now.st_mtim.tv_sec != last->st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != last->st_mtim.tv_nsec;
}

static void pause_for(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) < 0 && errno == EINTR) continue;
}

static bool counted_anything(const struct fp_profile *profile)
{
    for (size_t i = 0; i < profile->modules.len; i++) {
        const struct fp_counters *counters = &profile->modules.at[i]->counters;
        for (size_t k = 0; k < counters->len; k++)
            if (counters->at[k].count) return true;
    }
    return false;
}

/* Did a store get nothing since the last look? */
static bool is_idle(const struct watch *w, const struct fp_profile *before,
                    const struct fp_profile *since)
{
    return before && !w->total && fp_is_elsewhere(w->path) && !counted_anything(since);
}

/* One look at a profile that has changed. *before is what the last look saw: it stays where this
 * look had too few counts to judge by. *looks grows where something was shown. False: it could
 * not be read. */
static bool look(struct watch *w, struct fp_profile **before, struct stat *last, int *status,
                 uint64_t *looks, struct fp_error *error)
{
    struct fp_profile *twice[2] = {NULL, NULL};
    if (!(w->pid ? read_process(w, twice, error) : read_locked(w, twice, last, error)))
        return false;
    if (*before && !w->total) subtract(twice[0], *before);
    if (is_idle(w, *before, twice[0])) {
        fp_profile_free(twice[0]);
        fp_profile_free(twice[1]);
        return true;
    }
    ++*looks;
    *status = show(w, twice[0]);
    fp_profile_free(twice[0]);
    if (w->drift.view.other && !w->drift.judged) {
        fp_profile_free(twice[1]);
        return true;
    }
    if (*before) fp_profile_free(*before);
    *before = twice[1];
    return true;
}

/* A file that is not there yet is waited for; one that stays bad is an error. */
static int watch(struct watch *w)
{
    enum { MOST_FAILURES = 5 };
    struct fp_profile *before = NULL;
    struct stat last = {0};
    int status = EXIT_OK, failures = 0;
    for (uint64_t looks = 0; status == EXIT_OK && (!w->looks || looks < w->looks);
         pause_for(w->every)) {
        struct fp_error error = {0};
        if (!w->pid && !changed(w->path, &last)) continue;
        if (!look(w, &before, &last, &status, &looks, &error)) {
            if (w->pid && before) break; /* the process has ended */
            if (++failures >= MOST_FAILURES)
                status = cli_fail(&error, w->pid ? NULL : "is it a footpath profile?");
            continue;
        }
        failures = 0;
        if (looks == w->looks && looks) break;
    }
    if (before) fp_profile_free(before);
    return status;
}

/* Usage errors that --against has. */
static void check_drift(const struct cli_command *command, const struct cli_drift *drift)
{
    if (!drift->view.other && (drift->view.threshold >= 0 || drift->by_given))
        cli_usage(command, "--threshold and --by need --against OTHER");
    if (drift->view.other && (given.what.function || given.how.view == FP_SHOW_FUNCTIONS))
        cli_usage(command, "--against looks at all functions: no --function, no --functions");
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct watch *w = &given;
    cli_parse(command, argc, argv);
    check_drift(command, &w->drift);
    w->screen = isatty(STDOUT_FILENO);
    w->how.colours = cli_colours(stdout);
    if (!cli_check_binary(w->binary)) return EXIT_FAILED;
    if (w->path && w->pid) cli_usage(command, "a profile, or --pid N");
    if (!w->path) w->path = "footpath.prof";
    if (w->json) w->screen = false, w->what.edges = 1;
    if (!cli_drift_open(&w->drift)) return EXIT_FAILED;
    w->drift.view.top = w->how.top;
    w->drift.view.colours = w->how.colours;
    if (w->screen && !w->pid && !fp_is_elsewhere(w->path) && access(w->path, R_OK) < 0)
        cli_say("%s: not there yet; waiting", w->path);
    int status = watch(w);
    if (status == EXIT_OK) status = cli_drift_outcome(&w->drift);
    cli_drift_close(&w->drift);
    return status;
}

struct cli_command command_watch = {
    .name = "watch",
    .arguments = "[PROFILE]",
    .summary = "Show the hottest paths of a running program, live",
    .text = "Start the program with FOOTPATH_DUMP_SECONDS=N (or FOOTPATH_DUMP_SIGNAL=USR2), built\n"
            "with --fp-mode=pep for little cost; or with FOOTPATH_LIVE=1, for --pid. Without "
            "PROFILE, footpath.prof. Shown is what\n"
            "was added since the last look.\n"
            "--against says how far that lies from the profile that the program was built with,\n"
            "in which functions, and what it is likely to cost; with --threshold it ends with\n"
            "status 3 when that is too far, so that a script can build anew.",
    .options = options,
    .take_word = take_path,
    .run = run,
};
