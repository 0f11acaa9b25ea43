/* footpath p3: one profile from K copies that run at the same time (paper 004). */
#include "commands.h"

#include "cli_divide.h"
#include "cli_outcome.h"
#include "p3/collate.h"
#include "p3/copies.h"
#include "base/io.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct p3_request {
    struct fp_copies p;
    struct fp_divide_options how;
    const char *output, *guide;
    bool reuse, json;
};

static struct p3_request given = {
    .output = "footpath.prof",
    .p = {.work = "footpath-p3"},
    .how = {.ncopies = 2, .strategy = FP_STRATEGY_INVOCATIONS},
};

static void take_copies(const struct cli_command *command, char *value)
{
    cli_take_copies(command, value, &given.how);
}

static void take_strategy(const struct cli_command *command, char *value)
{
    cli_take_strategy(command, value, &given.how);
}

static void take_labels(const struct cli_command *command, char *value)
{
    cli_take_labels(command, value, &given.how);
}

static void take_launcher(const struct cli_command *command, char *value)
{
    (void)command;
    given.p.launcher = strcmp(value, "local") ? value : NULL;
}

static void take_private(const struct cli_command *command, char *value)
{
    (void)command;
    fp_vec_push(&given.p.arena, &given.p.private_files, value);
}

static const struct cli_option options[] = {
    {"-k", "K", "number of copies (2)", .take = take_copies},
    {"--build", "COMMAND", "shell command that builds the program in the current folder",
     .text = &given.p.build},
    {"--source", "FOLDER", "copied into each build folder first", .text = &given.p.source},
    {"-o", "FILE", "where to write the profile (footpath.prof)", .text = &given.output},
    {"--strategy", "NAME", "invocations, cuts, procedures or p3 (invocations)",
     .take = take_strategy, .words = "invocations cuts procedures p3"},
    {"--guide", "PROFILE", "an earlier profile: what is hot", .text = &given.guide},
    {"--labels", "NAME", "weighted, or plain: all edges alike (weighted)", .take = take_labels,
     .words = "weighted plain"},
    {"--work", "FOLDER", "for builds and runs (footpath-p3)", .text = &given.p.work},
    {"--reuse", NULL, "run copies that were built before in the work folder", .flag = &given.reuse},
    {"--launcher", "WORDS", "start each copy by this: 'srun -n1 --exclusive', 'ssh HOST' (local)",
     .take = take_launcher},
    {"--private", "NAME", "a file here that the program changes: a copy for each",
     .take = take_private},
    {"--here", NULL, "run all copies in the current folder", .flag = &given.p.same_folder},
    {"--hits", NULL, "count executed operations and print them", .flag = &given.p.hits},
    {"--check", NULL, "run the ordinary build too; its profile must be the same",
     .flag = &given.p.check},
    {"--any-output", NULL, "do not compare what the copies write", .flag = &given.p.any_output},
    {"--json", NULL, "times and hits as JSON, on standard error", .flag = &given.json},
    {0},
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void progress(const char *what, double since)
{
    if (isatty(2)) cli_say("%s (%.1f s)", what, now() - since);
}

/* ---- dividing and building ---- */

static bool divide(struct p3_request *r, struct fp_error *error)
{
    struct fp_profile *guide = r->guide ? cli_load_one(r->guide) : NULL;
    if (r->guide && !guide) return false;
    r->how.guide = guide;
    bool ok = fp_copies_divide(&r->p, &r->how, error);
    fp_profile_free(guide);
    return ok;
}

static bool build_all(struct p3_request *r, struct fp_error *error)
{
    char *done = fp_arena_printf(&r->p.arena, "%s/built", r->p.work), text[64];
    double start = now();
    if (r->reuse && access(done, R_OK) == 0) return true;
    unlink(done);
    if (!fp_copy_build(&r->p, FP_REFERENCE, error)) return false;
    progress("built the reference", start);
    if (!divide(r, error)) return false;
    for (uint32_t i = 0; i < r->p.ncopies; i++) {
        if (!fp_copy_build(&r->p, (int)i, error)) return false;
        snprintf(text, sizeof text, "built copy %u of %u", i + 1, r->p.ncopies);
        progress(text, start);
    }
    return fp_file_write(done, "", 0, error);
}

/* ---- running ---- */

/* What copy 0 wrote. */
static void show(struct fp_copies *p, const char *stream, FILE *to)
{
    struct fp_error error = {0};
    struct fp_file file;
    if (!fp_file_open(&file, fp_copy_file(p, 0, stream), &error)) return;
    fwrite(file.bytes, 1, file.len, to);
    fflush(to);
    fp_file_close(&file);
}

static bool run_all(struct fp_copies *p, int *status, struct fp_error *error)
{
    if (!fp_copies_run(p, error)) return false;
    show(p, "stdout", stdout);
    show(p, "stderr", stderr);
    return fp_copies_compare(p, status, error);
}

static bool check(struct p3_request *r, struct cli_outcome *o, struct fp_error *error)
{
    size_t paths = 0;
    struct fp_profile *result = cli_load_one(r->output);
    bool ok = result && fp_same_paths(o->sequential, result, &paths, error);
    if (ok) cli_say("%s paths: the same as of the ordinary build", cli_count(paths));
    fp_profile_free(result);
    return ok;
}

/* ---- the command ---- */

static int do_it(struct p3_request *r)
{
    struct cli_outcome o = {0};
    struct fp_error error = {0};
    int status = 0;
    if (strpbrk(r->p.work, " \t\n%")) {
        cli_say("%s: a work folder's name must have no spaces and no %%; choose another by --work",
                r->p.work);
        return EXIT_FAILED;
    }
    if (!fp_make_folder(r->p.work, &error)) return cli_fail(&error, NULL);
    bool ok = build_all(r, &error) && run_all(&r->p, &status, &error) &&
              cli_load_outcome(&r->p, &o) &&
              fp_copies_collate(&r->p, o.copies, r->output, &error) &&
              (!r->p.check || check(r, &o, &error));
    if (error.set) cli_fail(&error, NULL);
    if (ok && r->json) cli_print_outcome_json(&o);
    if (ok && !r->json && (r->p.hits || r->p.check || isatty(2))) cli_print_outcome(&o);
    cli_free_outcome(&o);
    return ok ? status : EXIT_FAILED;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct p3_request *r = &given;
    char here[PATH_MAX];
    int first = cli_parse(command, argc, argv);
    r->p.ncopies = r->how.ncopies;
    r->p.argv = argv + first;
    r->p.argc = argc - first;
    if (!r->p.argc) cli_usage(command, "no program given");
    if (!r->p.build && !r->reuse) cli_usage(command, "no --build command given");
    if (r->p.argv[0][0] == '/') cli_usage(command, "PROGRAM is relative to the build folder");
    if (!getcwd(here, sizeof here)) {
        cli_say("the current folder is gone");
        return EXIT_FAILED;
    }
    r->p.here = here;
    if (r->p.work[0] != '/') r->p.work = fp_arena_printf(&r->p.arena, "%s/%s", here, r->p.work);
    int status = do_it(r);
    fp_arena_free(&r->p.arena);
    return status;
}

struct cli_command command_p3 = {
    .name = "p3",
    .arguments = "--build COMMAND PROGRAM [ARGUMENT...]",
    .summary = "Profile by K copies that run at the same time, each counting a part",
    .text =
        "Builds the program once as usual, divides it, builds the copies, runs them with the same\n"
        "input and makes one ordinary profile. COMMAND runs in an empty folder, or with\n"
        "--source in a copy of that, where it leaves PROGRAM; $CC and $CXX are the compilers,\n"
        "$FOOTPATH_SOURCE is the current folder. Each copy runs in a folder of its own, where\n"
        "what is in the current folder appears as links. What copy 0 writes is shown; others\n"
        "that write something else, end otherwise or count otherwise are an error.\n"
        "The exit status is the program's, or 1.",
    .options = options,
    .starts_program = true,
    .run = run,
};
