/* footpath run: run a program, then show where it went. */
#include "cli_progress.h"
#include "commands.h"

#include "base/names.h"
#include "cli_combined.h"
#include "exe/execache.h"
#include "profile/aside.h"
#include "report/show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    const char *output;
    uint64_t repeat, top;
    bool as_it_is, libraries, no_exits;
} given = {.output = "footpath.prof", .repeat = 1, .top = 10};

static const struct cli_option options[] = {
    {"-o", "FILE", "keep the profile here (footpath.prof); NAME.cp: combined with earlier runs",
     .text = &given.output},
    {"--repeat", "N", "run it N times", .number = &given.repeat},
    {"--top", "N", "paths to show afterwards (10; 0: none)", .number = &given.top},
    {"--libs", NULL, "also count the libraries that the program is linked with",
     .flag = &given.libraries},
    {"--no-exits", NULL,
     "where the program counts nothing: do not count paths in flight when a frame is left for good",
     .flag = &given.no_exits},
    {"--as-is", NULL,
     "run the program itself, also where it counts nothing: its children may count",
     .flag = &given.as_it_is},
    {0},
};

/* The loader is to find copies of the program's libraries that count. */
static void use_libraries(const char *program)
{
    struct fp_arena arena = {0};
    const char *before = getenv("LD_LIBRARY_PATH");
    struct cli_progress progress;
    cli_progress_begin(&progress, "moving functions of libraries", 1);
    const struct fp_exe_options how = {
        .no_exits = given.no_exits, .progress = cli_progress_of, .context = &progress};
    const char *folders = fp_exe_cached_libraries(&arena, program, &how);
    cli_progress_clear(&progress);
    if (*folders && before && *before) folders = fp_arena_printf(&arena, "%s:%s", folders, before);
    if (*folders) setenv("LD_LIBRARY_PATH", folders, 1);
    fp_arena_free(&arena);
}

/* The file to run: the program, or where it counts nothing a copy that does. NULL: what a
 * shell would run. */
static const char *file_to_run(struct fp_arena *arena, const char *name)
{
    struct fp_arena scratch = {0};
    struct fp_error error = {0};
    struct cli_progress progress;
    const struct fp_exe_options how = {
        .no_exits = given.no_exits, .progress = cli_progress_of, .context = &progress};
    const char *found = fp_exe_find(arena, name), *copy = NULL;
    bool rewrite = found && fp_exe_counts_nothing(&scratch, found);
    fp_arena_free(&scratch);
    if (found && given.libraries) use_libraries(found);
    if (!rewrite) return NULL;
    cli_progress_begin(&progress, "moving functions", 1);
    copy = fp_exe_cached(&scratch, found, &how, &error);
    cli_progress_clear(&progress);
    if (copy) copy = fp_arena_strdup(arena, copy);
    if (!copy) cli_fail(&error, "it runs as it is");
    fp_arena_free(&scratch);
    return copy;
}

/* The program's own status; 127 where it could not be started, as a shell says. */
static int run_once(const char *file, char **argv)
{
    pid_t child = fork();
    if (child == 0) {
        if (file) execv(file, argv);
        execvp(argv[0], argv);
        cli_say("cannot run %s: %s", argv[0], strerror(errno));
        _exit(127);
    }
    if (child < 0) {
        cli_say("cannot start a process: %s", strerror(errno));
        return 127;
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
        cli_say("%s ended by signal %d (%s)", argv[0], WTERMSIG(status),
                strsignal(WTERMSIG(status)));
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}

/* What killed processes have left beside the profile goes into it: of earlier runs before this one,
 * and of this one, if it was killed. */
static void take_in(const char *path)
{
    struct fp_beside beside;
    struct fp_error error = {0};
    if (!fp_profile_fold(path, &beside, &error))
        cli_fail(&error, "the live files stay as they are");
}

/* How much the profile holds, with the runs that lie beside it; 0 where there is none. */
static size_t size_of(const char *path)
{
    struct fp_file file;
    struct fp_error error = {0};
    if (access(path, R_OK) < 0 || !fp_profile_open(&file, path, &error)) return 0;
    size_t size = file.len;
    fp_file_close(&file);
    return size;
}

static struct footpath *open_one(const char *path)
{
    struct cli_profiles inputs = {0};
    fp_vec_push(&inputs.arena, &inputs.names, path);
    struct footpath *fp = cli_open(&inputs, NULL, false);
    fp_arena_free(&inputs.arena);
    return fp;
}

static void show(const char *path, uint64_t top)
{
    struct footpath *fp = open_one(path);
    if (!fp) return;
    struct fp_writer out = {0};
    struct fp_show_options how = {
        .view = FP_SHOW_PATHS, .top = top, .colours = cli_colours(stderr)};
    fp_show_text(&out, fp, &how);
    /* the program's output goes on being what standard output holds */
    fflush(stdout);
    fwrite(out.bytes, 1, out.len, stderr);
    fp_writer_free(&out);
    footpath_close(fp);
}

/* The runs are folded in here, where nobody waits for a dying program. */
static void show_combined(const char *path, uint64_t top)
{
    if (cli_compact(path) != EXIT_OK || !top) return;
    fflush(stdout);
    struct footpath *fp = open_one(path);
    if (fp)
        cli_show_combined(fp, &(struct cli_show_combined){.above = -1, .top = top, .to = stderr});
    footpath_close(fp);
}

static bool is_script(const char *path)
{
    char start[2] = "";
    FILE *f = path ? fopen(path, "r") : NULL;
    if (!f) return false;
    bool is = fread(start, 1, 2, f) == 2 && start[0] == '#' && start[1] == '!';
    fclose(f);
    return is;
}

static void say_nothing_counted(const char *name)
{
    struct fp_arena arena = {0};
    const char *found = fp_exe_find(&arena, name);
    if (is_script(found))
        cli_say("%s is a script and counted nothing; to count what runs it: footpath run "
                "INTERPRETER %s",
                name, found);
    else if (found && given.as_it_is)
        cli_say("%s counted nothing; without --as-is a copy that counts is run", name);
    else if (found)
        cli_say("%s counted nothing", name);
    fp_arena_free(&arena);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    int first = cli_parse(command, argc, argv);
    const char *output = given.output;
    if (first == argc) cli_usage(command, "no program given");
    struct fp_arena arena = {0};
    setenv("FOOTPATH_OUT", fp_as_pattern(&arena, output), 1);
    int status = 0;
    take_in(output);
    size_t before = size_of(output);
    const char *file = given.as_it_is ? NULL : file_to_run(&arena, argv[first]);
    for (uint64_t i = 0; i < given.repeat && status != 127; i++)
        status = run_once(file, argv + first);
    fp_arena_free(&arena);
    take_in(output);
    if (size_of(output) <= before)
        say_nothing_counted(argv[first]);
    else if (fp_is_combined(output))
        show_combined(output, given.top);
    else if (given.top)
        show(output, given.top);
    return status;
}

struct cli_command command_run = {
    .name = "run",
    .arguments = "PROGRAM [ARGUMENT...]",
    .summary = "Run a program, then show its hottest paths",
    .text = "The paths are shown on standard error; the exit status is the program's.\n"
            "A program that counts nothing is run as footpath exe would make it.",
    .options = options,
    .starts_program = true,
    .run = run,
};
