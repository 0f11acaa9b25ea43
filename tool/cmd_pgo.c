/* footpath pgo: build to count, train, build by the profile; or with --from, build by a profile
 * that there is, such as what production did lately (a store).
 *
 * The commands are given to the shell. They find CC and CXX set to the compiler
 * wrappers and FOOTPATH_CC_FLAGS to what each build needs; a command that names its
 * compiler itself must name footpath-cc.
 *
 * The first build must count everything and the second one must compile everything again. What
 * footpath-cc compiled and linked (base/buildlog.h) and the programs that were trained tell
 * whether they did.
 */
#include "commands.h"

#include "base/buildlog.h"
#include "base/io.h"
#include "base/names.h"
#include "base/plain.h"
#include "cli_rebuild.h"
#include "guide/makeguide.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct cycle {
    const char *build, *train, *from, *clean, *folder, *flags;
    enum fp_guide_by by;
    bool edges;
    char *here;
    char *profile, *guide, *inputs; /* files in the folder */
    struct fp_build_log log;        /* of the first build */
};

static struct cycle given = {.folder = "footpath-pgo", .flags = ""};

static void take_by(const struct cli_command *command, char *value)
{
    static const char *const names[] = {
        [FP_GUIDE_BY_SUM] = "sum", [FP_GUIDE_BY_MEAN] = "mean", [FP_GUIDE_BY_WORST] = "worst"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(value, names[i])) {
            given.by = (enum fp_guide_by)i;
            return;
        }
    cli_usage(command, "--by is sum, mean or worst, got %s", value);
}

static const struct cli_option options[] = {
    {"--build", "COMMAND", "builds the program, with $CC and $CXX", .text = &given.build},
    {"--train", "COMMAND", "runs it on typical inputs", .text = &given.train},
    {"--from", "PROFILE", "no training: a profile or a store, such as store:PATH?since=7d",
     .text = &given.from},
    {"--clean", "COMMAND", "runs before each build, where one does not compile all by itself",
     .text = &given.clean},
    {"--folder", "FOLDER", "where profiles go (footpath-pgo)", .text = &given.folder},
    {"--by", "HOW", "runs count by their sum, mean or worst case (sum)", .take = take_by,
     .words = "sum mean worst"},
    {"--edges", NULL, "by edges alone: no path-guided duplication", .flag = &given.edges},
    {"--flags", "FLAGS", "more --fp- flags for both builds", .text = &given.flags},
    {0},
};

static int step_number, steps = 4;

static void begin_step(const char *what, const char *command)
{
    bool colour = cli_colours(stderr);
    struct fp_arena arena = {0};
    fprintf(stderr, "%s[%d/%d] %s%s%s%s\n", colour ? "\033[1m" : "", ++step_number, steps, what,
            *command ? ": " : "", fp_plain(&arena, command), colour ? "\033[0m" : "");
    fp_arena_free(&arena);
}

/* One command in the shell; says how long it took. */
static bool run_step(const char *what, const char *command)
{
    struct timespec start, end;
    begin_step(what, command);
    clock_gettime(CLOCK_MONOTONIC, &start);
    int status = system(command);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (status == 0) {
        fprintf(stderr, "      %.1f s\n",
                (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9);
        return true;
    }
    if (WIFEXITED(status))
        cli_say("%s ended with status %d; see above", command, WEXITSTATUS(status));
    else
        cli_say("%s was ended by a signal", command);
    return false;
}

static void set_compilers(struct fp_arena *arena, const struct cycle *c, const char *flags)
{
    setenv("CC", fp_arena_printf(arena, "%s/footpath-cc", c->here), 1);
    setenv("CXX", fp_arena_printf(arena, "%s/footpath-c++", c->here), 1);
    setenv("FOOTPATH_CC_FLAGS", fp_arena_printf(arena, "%s %s", flags, c->flags), 1);
}

/* By edges alone no paths need be counted. Whole paths are, in arrays four times as large as by
 * default: a hash table costs much more than memory that is mostly not touched. */
static const char *how_to_count(const struct cycle *c)
{
    return c->edges ? "--fp-at=early --fp-inline=small --fp-mode=edge-min --fp-values"
                    : "--fp-at=early --fp-inline=small --fp-cuts=few --fp-array-paths=16384 "
                      "--fp-values";
}

/* What the build or the training wrote, as the guide of the second build. */
static bool make_guide(const char *profile, const char *guide, enum fp_guide_by by)
{
    struct fp_error error = {0};
    begin_step("Reading the profile", "");
    if (!given.from && access(profile, R_OK) < 0) {
        cli_say("%s: training wrote no profile; is the program built by $CC or $CXX?", profile);
        return false;
    }
    if (fp_guide_write(&profile, 1, NULL, by, guide, &error)) return true;
    cli_fail(&error, NULL);
    return false;
}

/* ---- did the builds compile everything? ---- */

static bool clean(const char *command)
{
    if (!command || system(command) == 0) return true;
    cli_say("%s failed", command);
    return false;
}

/* Builds and notes what footpath-cc took. */
static bool build_noting(struct fp_arena *arena, struct cycle *c)
{
    struct fp_error error = {0};
    if (fp_build_log_begin(c->inputs, &c->log, &error) &&
        !run_step(c->from ? "Building by the profile" : "Building to count", c->build))
        return false;
    if (!error.set && fp_build_log_read(arena, c->inputs, &c->log, &error)) return true;
    cli_fail(&error, NULL);
    return false;
}

/* What was there before the build and was not made again, or NULL; "" for everything. */
static const char *not_built(const struct cycle *c)
{
    char here[PATH_MAX];
    if (!c->log.sources.len) return "";
    return getcwd(here, sizeof here) ? fp_build_log_stale(&c->log, here) : NULL;
}

/* The first build. One that finds its objects up to date is cleaned first. */
static bool build_all(struct fp_arena *arena, struct cycle *c)
{
    char *own_clean = c->clean ? NULL : cli_clean_of(arena, c->build);
    if (!clean(c->clean) || !build_noting(arena, c)) return false;
    const char *old = not_built(c);
    if (old && own_clean) {
        cli_say("the build took what was built before; cleaning by %s", own_clean);
        step_number--;
        if (!clean(own_clean) || !build_noting(arena, c)) return false;
        old = not_built(c);
    }
    if (old && *old)
        cli_say("%s is older than this build: not %s; see --clean", old,
                c->from ? "built by the profile" : "counted");
    if (!old || *old) return true;
    cli_say("%s: nothing was compiled by $CC or $CXX; if all was up to date, say how to clean by "
            "--clean COMMAND; if the build names its own compiler, give it, as in make CC=\"$CC\"",
            c->build);
    return false;
}

static bool check_result(struct fp_arena *arena, const struct cycle *c)
{
    struct fp_error error = {0};
    /* with --flags the second build may be asked to count, too */
    bool may_count = strstr(c->flags, "--fp-mode=");
    const char *program = cli_still_counts(arena, c->profile, c->log.begin, may_count, &error);
    if (error.set) cli_fail(&error, NULL);
    if (program)
        cli_say("%s still counts: the second build did not make it again; say how to clean by "
                "--clean COMMAND, such as make clean",
                program);
    return !program && !error.set;
}

/* ---- the cycle ---- */

static void use_guide(struct fp_arena *arena, const struct cycle *c)
{
    set_compilers(arena, c,
                  fp_arena_printf(arena, "--fp-use=%s%s", fp_as_word(arena, c->guide),
                                  c->edges ? " --fp-paths=no" : ""));
}

static bool build_by_profile(struct fp_arena *arena, struct cycle *c)
{
    struct cli_touched touched = {0};
    use_guide(arena, c);
    if (!clean(c->clean)) return false;
    if (!c->clean) cli_touch(arena, &c->log, &touched);
    bool ok = run_step("Building by the profile", c->build);
    cli_untouch(&touched);
    return ok && check_result(arena, c);
}

static bool go_round(struct fp_arena *arena, struct cycle *c)
{
    struct fp_error error = {0};
    char folder[PATH_MAX];
    if (!fp_make_folder(c->folder, &error) || !realpath(c->folder, folder))
        return cli_fail(&error, NULL), false;
    c->profile = fp_arena_printf(arena, "%s/train.prof", folder);
    c->guide = fp_arena_printf(arena, "%s/train.guide", folder);
    c->inputs = fp_arena_printf(arena, "%s/inputs", folder);
    if (c->from) {
        steps = 2;
        if (!make_guide(c->from, c->guide, c->by)) return false;
        setenv(FP_BUILD_LOG_VARIABLE, c->inputs, 1);
        use_guide(arena, c);
        return build_all(arena, c);
    }
    unlink(c->profile);
    /* what a build runs while building is not training */
    char *meanwhile = fp_arena_printf(arena, "%s/while-building.prof", folder);
    setenv("FOOTPATH_OUT", fp_as_pattern(arena, meanwhile), 1);
    setenv(FP_BUILD_LOG_VARIABLE, c->inputs, 1);
    set_compilers(arena, c, how_to_count(c));
    if (!build_all(arena, c)) return false;
    unsetenv(FP_BUILD_LOG_VARIABLE);
    setenv("FOOTPATH_OUT", fp_as_pattern(arena, c->profile), 1);
    if (!run_step("Training", c->train)) return false;
    if (!make_guide(c->profile, c->guide, c->by)) return false;
    /* a test that the second build runs is no training either */
    setenv("FOOTPATH_OUT", fp_as_pattern(arena, meanwhile), 1);
    return build_by_profile(arena, c);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct fp_arena arena = {0};
    cli_parse(command, argc, argv);
    given.here = fp_own_folder(&arena);
    if (!given.build || !given.train == !given.from)
        cli_usage(command,
                  "--build COMMAND and one of --train COMMAND and --from PROFILE are needed");
    bool ok = go_round(&arena, &given);
    fp_arena_free(&arena);
    return ok ? EXIT_OK : EXIT_FAILED;
}

struct cli_command command_pgo = {
    .name = "pgo",
    .arguments = "--build COMMAND --train COMMAND|--from PROFILE",
    .summary = "Build, train and build again, faster",
    .text =
        "  footpath pgo --build 'make CC=\"$CC\"' --train './prog input'\n"
        "  footpath pgo --build 'make CC=\"$CC\"' --from 'store:prod.store?since=7d'\n\n"
        "Sources get the time of the second build while it runs, so that all is compiled again.\n"
        "A program that was trained and still counts in the end is an error.",
    .options = options,
    .run = run,
};
