/* Building the copies, each in a folder of its own: see copies.h. */
#include "p3/copies.h"

#include "base/buildlog.h"
#include "base/io.h"
#include "base/names.h"
#include "p3/collate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BUILD_LOG "inputs"

char *fp_copy_folder(struct fp_copies *p, int copy)
{
    if (copy == FP_REFERENCE) return fp_arena_printf(&p->arena, "%s/reference", p->work);
    return fp_arena_printf(&p->arena, "%s/copy-%d", p->work, copy);
}

char *fp_copy_file(struct fp_copies *p, int copy, const char *name)
{
    return fp_arena_printf(&p->arena, "%s/%s", fp_copy_folder(p, copy), name);
}

int fp_run_words(char *const *words)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        execvp(words[0], words);
        _exit(127);
    }
    if (child < 0) return -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The compilers beside this program. */
static char *compiler(struct fp_copies *p, const char *name)
{
    return fp_arena_printf(&p->arena, "%s/%s", fp_own_folder(&p->arena), name);
}

/* What the plugin is told: the division, and that files below this build folder are the
 * same as those below another. */
static char *flags_for(struct fp_copies *p, int copy)
{
    const char *before = getenv("FOOTPATH_CC_FLAGS");
    char *flags = fp_arena_printf(&p->arena, "%s --fp-base=%s", before ? before : "",
                                  fp_as_word(&p->arena, fp_copy_file(p, copy, "build")));
    if (p->hits) flags = fp_arena_printf(&p->arena, "%s --fp-hits", flags);
    if (copy == FP_REFERENCE) return fp_arena_printf(&p->arena, "%s --fp-callees", flags);
    return fp_arena_printf(&p->arena, "%s --fp-division=%s/division --fp-copy=%d", flags,
                           fp_as_word(&p->arena, p->work), copy);
}

static int run_build(struct fp_copies *p, int copy, const char *folder, const char *log)
{
    char *cc = compiler(p, "footpath-cc"), *cxx = compiler(p, "footpath-c++");
    char *flags = flags_for(p, copy), *out = fp_copy_file(p, copy, "while-building.prof");
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        int to = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (to >= 0) dup2(to, 1), dup2(to, 2);
        setenv("CC", cc, 1);
        setenv("CXX", cxx, 1);
        setenv("FOOTPATH_CC_FLAGS", flags, 1);
        setenv("FOOTPATH_SOURCE", p->here, 1);
        setenv(FP_BUILD_LOG_VARIABLE, fp_copy_file(p, copy, BUILD_LOG), 1);
        setenv("FOOTPATH_OUT", fp_as_pattern(&p->arena, out), 1);
        if (chdir(folder) == 0) execl("/bin/sh", "sh", "-c", p->build, (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Was the program made by this build, of objects that it made? A source that is copied may
 * have an earlier build in it. */
static bool is_new(struct fp_copies *p, const char *folder, const char *program,
                   const struct fp_build_log *log, struct fp_error *error)
{
    const char *old = fp_older(program, log->begin) ? program : fp_build_log_stale(log, folder);
    if (!old) return true;
    return fp_fail(error, p->source ? p->source : folder,
                   "has %s already, which the build does not make again; begin the --build command "
                   "with one that removes it, such as make clean",
                   old + strlen(folder) + 1);
}

bool fp_copy_build(struct fp_copies *p, int copy, struct fp_error *error)
{
    struct fp_build_log inputs;
    char *noted = fp_copy_file(p, copy, BUILD_LOG);
    char *folder = fp_copy_file(p, copy, "build"), *log = fp_copy_file(p, copy, "log");
    char *remove[] = {(char *)"rm", (char *)"-rf", folder, NULL};
    fp_run_words(remove);
    if (!fp_make_folder(folder, error)) return false;
    if (p->source && !fp_copy_source(p, folder, error)) return false;
    if (!fp_build_log_begin(noted, &inputs, error)) return false;
    int status = run_build(p, copy, folder, log);
    char *program = fp_arena_printf(&p->arena, "%s/%s", folder, p->argv[0]);
    if (status == 0 && access(program, X_OK) == 0)
        return fp_build_log_read(&p->arena, noted, &inputs, error) &&
               is_new(p, folder, program, &inputs, error);
    if (status == 0)
        return fp_fail(error, program,
                       "the build made no such program; PROGRAM is relative to the build folder");
    return fp_fail(error, log, "the build failed with status %d; its output is there", status);
}

/* ---- in front of the copies, and behind them ---- */

static char *reference_program(struct fp_copies *p)
{
    return fp_arena_printf(&p->arena, "%s/%s", fp_copy_file(p, FP_REFERENCE, "build"), p->argv[0]);
}

static char *division_file(struct fp_copies *p)
{
    return fp_arena_printf(&p->arena, "%s/division", p->work);
}

bool fp_copies_divide(struct fp_copies *p, const struct fp_divide_options *how,
                      struct fp_error *error)
{
    struct fp_arena arena = {0};
    struct fp_program program;
    struct fp_division division;
    bool ok = fp_program_read(&arena, reference_program(p), &program, error) &&
              fp_divide(&arena, &program, how, &division, error) &&
              fp_division_write(division_file(p), &division, error);
    fp_arena_free(&arena);
    return ok;
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
    described.caught = run->caught, described.ncaught = run->ncaught;
    described.map = run->map;
    *run = described;
}

bool fp_copies_collate(struct fp_copies *p, struct fp_profile *const *copies, const char *output,
                       struct fp_error *error)
{
    struct fp_program reference;
    struct fp_division division;
    struct fp_run run;
    char *file = division_file(p);
    if (!fp_program_read(&p->arena, reference_program(p), &reference, error) ||
        !fp_division_read(&p->arena, file, &division, error))
        return false;
    if (division.ncopies != p->ncopies)
        return fp_fail(error, file, "is for %u copies, not %u; leave --reuse out", division.ncopies,
                       p->ncopies);
    if (!fp_collate(&p->arena, &reference, &division, copies, &run, error)) return false;
    describe_run(copies[0], &run);
    return fp_profile_write(output, &run, 1, 0, error);
}
