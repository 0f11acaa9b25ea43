/* footpath watch: the paths that cost most in a program that runs, again and again.
 *
 * The program writes its profile every few seconds (FOOTPATH_DUMP_SECONDS) or when it
 * gets FOOTPATH_DUMP_SIGNAL; this reads it under the lock that writers take. Shown is
 * what was added since the last look, or with --total everything.
 */
#include "commands.h"

#include "api/handle.h"
#include "report/show.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct watch {
    const char *path, *binary;
    double every;
    uint64_t looks;
    bool total, json, screen;
    struct footpath_options what;
    struct fp_show_options how;
};

static struct watch given = {.every = 2, .how = {.view = FP_SHOW_PATHS, .top = 15}};

static void take_seconds(const struct cli_command *command, char *value)
{
    given.every = strtod(value, NULL);
    if (!(given.every >= 0.05)) cli_usage(command, "--every: expected seconds, at least 0.05");
}

static void take_path(const struct cli_command *command, char *value)
{
    if (given.path) cli_usage(command, "one profile at a time");
    given.path = value;
}

static const struct cli_option options[] = {
    {"--every", "SECONDS", "how often to look (2)", .take = take_seconds},
    {"--top", "N", "how many paths (15)", .number = &given.how.top},
    {"--function", "NAME", "only functions whose name contains NAME", .text = &given.what.function},
    {"--functions", NULL, "functions instead of paths", .chosen = &given.how.view,
     .choice = FP_SHOW_FUNCTIONS},
    {"--total", NULL, "everything since the start, not only what is new", .flag = &given.total},
    {"--looks", "N", "stop after N looks at a changed profile", .number = &given.looks},
    {"--json", NULL, "each look as JSON", .flag = &given.json},
    {"--binary", "FILE", "the program that runs, where it is not at its old place",
     .text = &given.binary},
    {0},
};

/* Shared with writers, who replace what they wrote before. */
static struct fp_profile *read_locked(const struct watch *w, struct fp_error *error)
{
    int fd = open(w->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        fp_fail(error, w->path, "cannot open");
        return NULL;
    }
    while (flock(fd, LOCK_SH) < 0 && errno == EINTR) continue;
    struct fp_profile *profile = fp_profile_new();
    bool ok = fp_profile_add(profile, w->path, error);
    close(fd);
    if (!ok) {
        fp_profile_free(profile);
        return NULL;
    }
    fp_profile_load_maps(profile, w->binary);
    return profile;
}

static void subtract_counters(struct fp_counters *now, const struct fp_counters *before)
{
    for (size_t i = 0; i < now->len; i++) {
        uint64_t old = fp_counters_get(before, now->at[i].table, now->at[i].path);
        if (old <= now->at[i].count) now->at[i].count -= old;
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
        }
    }
}

static int show(const struct watch *w, struct fp_profile *profile)
{
    struct fp_writer out = {0};
    struct footpath *fp = fp_handle_of_profile(profile, &w->what);
    if (w->screen) fp_write_bytes(&out, "\033[H\033[2J", 7);
    if (w->json)
        fp_show_json(&out, fp);
    else
        fp_show_text(&out, fp, &w->how);
    footpath_close(fp);
    int status = cli_output(NULL, &out);
    fflush(stdout);
    return status;
}

static bool changed(const char *path, struct stat *last)
{
    struct stat now;
    if (stat(path, &now) < 0) return false;
    bool same = now.st_size == last->st_size && now.st_ino == last->st_ino &&
                now.st_mtim.tv_sec == last->st_mtim.tv_sec &&
                now.st_mtim.tv_nsec == last->st_mtim.tv_nsec;
    *last = now;
    return !same;
}

static void pause_for(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) < 0 && errno == EINTR) continue;
}

/* A file that is not there yet is waited for; one that stays bad is an error. */
static int watch(const struct watch *w)
{
    enum { MOST_FAILURES = 5 };
    struct fp_profile *before = NULL;
    struct stat last = {0};
    int status = EXIT_OK, failures = 0;
    for (uint64_t looks = 0; status == EXIT_OK && (!w->looks || looks < w->looks);
         pause_for(w->every)) {
        struct fp_error error = {0};
        if (!changed(w->path, &last)) continue;
        struct fp_profile *now = read_locked(w, &error);
        if (!now) {
            if (++failures >= MOST_FAILURES) status = cli_fail(&error, "is it a footpath profile?");
            continue;
        }
        failures = 0;
        struct fp_profile *shown = w->total || !before ? now : read_locked(w, &error);
        if (shown && shown != now) subtract(shown, before);
        if (shown) status = show(w, shown);
        looks++;
        if (shown != now) fp_profile_free(shown);
        if (before) fp_profile_free(before);
        before = now;
        if (w->looks && looks >= w->looks) break;
    }
    if (before) fp_profile_free(before);
    return status;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct watch *w = &given;
    cli_parse(command, argc, argv);
    w->screen = isatty(STDOUT_FILENO);
    w->how.colours = cli_colours(stdout);
    if (!cli_check_binary(w->binary)) return EXIT_FAILED;
    if (!w->path) w->path = "footpath.prof";
    if (w->json) w->screen = false, w->what.edges = 1;
    if (w->screen && access(w->path, R_OK) < 0) cli_say("%s: not there yet; waiting", w->path);
    return watch(w);
}

struct cli_command command_watch = {
    .name = "watch",
    .arguments = "[PROFILE]",
    .summary = "Show the hottest paths of a running program, live",
    .text = "Start the program with FOOTPATH_DUMP_SECONDS=N (or FOOTPATH_DUMP_SIGNAL=USR2), built\n"
            "with --fp-mode=pep for little cost. Without PROFILE, footpath.prof. Shown is what\n"
            "was added since the last look.",
    .options = options,
    .take_word = take_path,
    .run = run,
};
