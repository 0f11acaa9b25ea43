/* footpath p3: one profile from K copies that run at the same time (paper 004). */
#include "p3.h"

#include "cli_divide.h"

#include "p3/collate.h"
#include "p3/divide.h"
#include "base/io.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct p3_request {
    struct p3 p;
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
     .take = take_strategy},
    {"--guide", "PROFILE", "an earlier profile: what is hot", .text = &given.guide},
    {"--labels", "NAME", "weighted, or plain: all edges alike (weighted)", .take = take_labels},
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

static struct fp_profile *load(const char *name, const char *binary)
{
    struct cli_profiles inputs = {.binary = binary, .strict = true};
    fp_vec_push(&inputs.arena, &inputs.names, name);
    struct fp_profile *profile = cli_load(&inputs);
    fp_arena_free(&inputs.arena);
    return profile;
}

/* ---- dividing and building ---- */

static char *reference_program(struct p3 *p)
{
    return fp_arena_printf(&p->arena, "%s/%s", p3_file(p, P3_REFERENCE, "build"), p->argv[0]);
}

static bool divide(struct p3_request *r)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_program program;
    struct fp_division division;
    char *file = fp_arena_printf(&r->p.arena, "%s/division", r->p.work);
    struct fp_profile *guide = r->guide ? load(r->guide, NULL) : NULL;
    if (r->guide && !guide) return false;
    r->how.guide = guide;
    bool ok = fp_program_read(&arena, reference_program(&r->p), &program, &error) &&
              fp_divide(&arena, &program, &r->how, &division, &error) &&
              fp_division_write(file, &division, &error);
    if (!ok) cli_fail(&error, NULL);
    fp_profile_free(guide);
    fp_arena_free(&arena);
    return ok;
}

static bool build_all(struct p3_request *r)
{
    char *done = fp_arena_printf(&r->p.arena, "%s/built", r->p.work), text[64];
    struct fp_error error = {0};
    double start = now();
    if (r->reuse && access(done, R_OK) == 0) return true;
    unlink(done);
    if (!p3_build(&r->p, P3_REFERENCE)) return false;
    progress("built the reference", start);
    if (!divide(r)) return false;
    for (uint32_t i = 0; i < r->p.ncopies; i++) {
        if (!p3_build(&r->p, (int)i)) return false;
        snprintf(text, sizeof text, "built copy %u of %u", i + 1, r->p.ncopies);
        progress(text, start);
    }
    return fp_file_write(done, "", 0, &error) || cli_fail(&error, NULL) == EXIT_OK;
}

/* ---- collating ---- */

struct outcome {
    struct fp_profile **copies, *sequential;
    double *seconds, sequential_seconds; /* from the start to the end of each process */
    uint64_t *hits, sequential_hits;
    bool have_hits;
};

static double seconds_of(const struct fp_profile *profile)
{
    uint64_t longest = 0;
    for (size_t i = 0; i < profile->runs.len; i++) {
        uint64_t took = profile->runs.at[i].end_ns - profile->runs.at[i].start_ns;
        if (took > longest) longest = took;
    }
    return (double)longest / 1e9;
}

static bool load_copies(struct p3_request *r, struct outcome *o)
{
    uint32_t n = r->p.ncopies;
    o->copies = FP_NEW_ARRAY(&r->p.arena, struct fp_profile *, n);
    o->seconds = FP_NEW_ARRAY(&r->p.arena, double, n);
    o->hits = FP_NEW_ARRAY(&r->p.arena, uint64_t, n);
    for (uint32_t i = 0; i < n; i++) {
        o->copies[i] = load(p3_file(&r->p, (int)i, "profile"), NULL);
        if (!o->copies[i]) return false;
        o->seconds[i] = seconds_of(o->copies[i]);
        if (fp_copy_hits(o->copies[i], &o->hits[i])) o->have_hits = true;
    }
    if (!r->p.check) return true;
    o->sequential = load(p3_file(&r->p, P3_REFERENCE, "profile"), NULL);
    if (!o->sequential) return false;
    o->sequential_seconds = seconds_of(o->sequential);
    fp_copy_hits(o->sequential, &o->sequential_hits);
    return true;
}

/* The run as it would have been: what ran when is that of copy 0. */
static void describe_run(const struct fp_profile *copy, struct fp_run *run)
{
    const struct fp_run *first = &copy->runs.at[0];
    struct fp_run described = *first;
    described.module = run->module;
    described.runs = first->runs;
    described.program = run->module.path;
    described.counters = run->counters, described.ncounters = run->ncounters;
    described.tables = run->tables, described.ntables = run->ntables;
    described.in_flight = run->in_flight, described.nin_flight = run->nin_flight;
    described.map = run->map;
    *run = described;
}

static bool collate(struct p3_request *r, struct outcome *o)
{
    struct fp_arena *arena = &r->p.arena;
    struct fp_error error = {0};
    struct fp_program reference;
    struct fp_division division;
    struct fp_run run;
    char *file = fp_arena_printf(arena, "%s/division", r->p.work);
    bool ok = fp_program_read(arena, reference_program(&r->p), &reference, &error) &&
              fp_division_read(arena, file, &division, &error);
    if (ok && division.ncopies != r->p.ncopies)
        ok = fp_fail(&error, file, "is for %u copies, not %u; leave --reuse out", division.ncopies,
                     r->p.ncopies);
    ok = ok && fp_collate(arena, &reference, &division, o->copies, &run, &error);
    if (ok) {
        describe_run(o->copies[0], &run);
        ok = fp_profile_write(r->output, &run, 1, 0, &error);
    }
    if (!ok) cli_fail(&error, NULL);
    return ok;
}

static bool check(struct p3_request *r, struct outcome *o)
{
    struct fp_error error = {0};
    size_t paths = 0;
    struct fp_profile *result = load(r->output, NULL);
    bool ok = result && fp_same_paths(o->sequential, result, &paths, &error);
    if (ok)
        cli_say("%s paths: the same as of the ordinary build", cli_count(paths));
    else if (error.set)
        cli_fail(&error, NULL);
    fp_profile_free(result);
    return ok;
}

/* ---- what it took ---- */

static void print_text(const struct p3_request *r, const struct outcome *o)
{
    for (uint32_t i = 0; i < r->p.ncopies; i++) {
        fprintf(stderr, "  copy %-3u %9.3f s", i, o->seconds[i]);
        if (o->have_hits) fprintf(stderr, " %18s hits", cli_count(o->hits[i]));
        fprintf(stderr, "\n");
    }
    if (!o->sequential) return;
    fprintf(stderr, "  ordinary %9.3f s", o->sequential_seconds);
    if (o->have_hits) fprintf(stderr, " %18s hits", cli_count(o->sequential_hits));
    fprintf(stderr, "\n");
}

static void print_json(const struct p3_request *r, const struct outcome *o)
{
    struct fp_writer out = {0};
    struct fp_json j = {.out = &out};
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "copies"), fp_json_begin(&j, '[');
    for (uint32_t i = 0; i < r->p.ncopies; i++) {
        fp_json_begin(&j, '{');
        fp_json_key(&j, "milliseconds"), fp_json_uint(&j, (uint64_t)(o->seconds[i] * 1000));
        if (o->have_hits) fp_json_key(&j, "hits"), fp_json_uint(&j, o->hits[i]);
        fp_json_end(&j, '}');
    }
    fp_json_end(&j, ']');
    if (o->sequential) {
        fp_json_key(&j, "sequential"), fp_json_begin(&j, '{');
        fp_json_key(&j, "milliseconds"), fp_json_uint(&j, (uint64_t)(o->sequential_seconds * 1000));
        if (o->have_hits) fp_json_key(&j, "hits"), fp_json_uint(&j, o->sequential_hits);
        fp_json_end(&j, '}');
    }
    fp_json_end(&j, '}');
    fp_write_u8(&out, '\n');
    fwrite(out.bytes, 1, out.len, stderr);
    fp_writer_free(&out);
}

/* ---- the command ---- */

static int do_it(struct p3_request *r)
{
    struct outcome o = {0};
    struct fp_error error = {0};
    int status = 0;
    if (strpbrk(r->p.work, " \t\n%")) {
        cli_say("%s: a work folder's name must have no spaces and no %%; choose another by --work",
                r->p.work);
        return EXIT_FAILED;
    }
    if (!fp_make_folder(r->p.work, &error)) return cli_fail(&error, NULL);
    bool ok = build_all(r) && p3_run(&r->p, &status) && load_copies(r, &o) && collate(r, &o) &&
              (!r->p.check || check(r, &o));
    if (ok && r->json) print_json(r, &o);
    if (ok && !r->json && (r->p.hits || r->p.check || isatty(2))) print_text(r, &o);
    for (uint32_t i = 0; o.copies && i < r->p.ncopies; i++) fp_profile_free(o.copies[i]);
    fp_profile_free(o.sequential);
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
