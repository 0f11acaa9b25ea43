/* Programs that count, kept for the next run (exe/execache.h).
 *
 * Not handled: copies are never removed; the folder may be emptied at any time.
 */
#include "exe/execache.h"

#include "base/checksum.h"
#include "base/io.h"
#include "base/names.h"
#include "exe/elfview.h"
#include "footpath/abi.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_program(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, X_OK) == 0;
}

const char *fp_exe_find(struct fp_arena *arena, const char *name)
{
    const char *folders = getenv("PATH");
    if (strchr(name, '/')) return is_program(name) ? name : NULL;
    if (!folders) folders = "/usr/local/bin:/usr/bin:/bin";
    for (const char *at = folders;; at++) {
        size_t len = strcspn(at, ":");
        const char *path =
            fp_arena_printf(arena, "%.*s/%s", len ? (int)len : 1, len ? at : ".", name);
        if (is_program(path)) return path;
        at += len;
        if (!*at) return NULL;
    }
}

bool fp_exe_counts_nothing(struct fp_arena *arena, const char *path)
{
    struct fp_elfview view;
    struct fp_error error = {0};
    size_t len;
    return fp_elfview_open(arena, path, &view, &error) &&
           !fp_elfview_note(&view, "footpath", FP_NOTE_MODULE, &len);
}

/* Of all bytes: a build-id says nothing about a program that was changed since it was linked. */
static bool sum_of(const char *path, uint64_t seed, uint64_t *sum, struct fp_error *error)
{
    struct fp_file file;
    if (!fp_file_open(&file, path, error)) return false;
    *sum = fp_checksum(file.bytes, file.len, seed);
    fp_file_close(&file);
    return true;
}

static const char *cache_folder(struct fp_arena *arena)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache == '/') return fp_arena_printf(arena, "%s/footpath", cache);
    if (home && *home == '/') return fp_arena_printf(arena, "%s/.cache/footpath", home);
    return fp_arena_printf(arena, "/tmp/footpath-%lu", (unsigned long)getuid());
}

/* Is it ours alone? Another user could put programs there. */
static bool is_own(const char *folder, struct fp_error *error)
{
    struct stat about;
    if (lstat(folder, &about) == 0 && S_ISDIR(about.st_mode) && about.st_uid == geteuid() &&
        !(about.st_mode & (S_IWGRP | S_IWOTH)))
        return true;
    return fp_fail(error, folder,
                   "is not a folder that only you can write to; XDG_CACHE_HOME names "
                   "another one");
}

/* Which of the two is used depends on the program. */
static bool sum_runtimes(struct fp_arena *arena, const char *given, uint64_t *sum,
                         struct fp_error *error)
{
    static const char *const names[] = {"exe", "static"};
    if (given) return sum_of(given, *sum, sum, error);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = fp_arena_printf(arena, "%s/../lib/footpath/libfootpath-%s.so",
                                           fp_own_folder(arena), names[i]);
        if (!sum_of(path, *sum, sum, error)) return false;
    }
    return true;
}

const char *fp_exe_cached(struct fp_arena *arena, const char *path,
                          const struct fp_exe_options *options, struct fp_error *error)
{
    struct fp_exe_summary summary;
    const char *folder = cache_folder(arena);
    uint64_t sum;
    if (!sum_of(path, 0, &sum, error) || !sum_runtimes(arena, options->runtime, &sum, error))
        return NULL;
    sum = fp_checksum(FOOTPATH_VERSION, strlen(FOOTPATH_VERSION), sum);
    if (options->no_exits) sum = fp_checksum("no exits", 8, sum);
    if (!fp_make_folder(folder, error) || !is_own(folder, error)) return NULL;
    const char *copy =
        fp_arena_printf(arena, "%s/%016" PRIx64 "/%s", folder, sum, fp_base_name(path));
    if (access(copy, X_OK) == 0) return copy;
    const char *own = fp_arena_printf(arena, "%s/%016" PRIx64, folder, sum);
    if (!fp_make_folder(own, error)) return NULL;
    if (fp_exe_rewrite(arena, path, copy, options, &summary, error)) return copy;
    rmdir(own);
    return NULL;
}

/* ---- libraries ---- */

/* What the loader would load for the program: it says so and ends. */
static FILE *ask_loader(const char *program, pid_t *child)
{
    int ends[2];
    if (pipe(ends) < 0) return NULL;
    *child = fork();
    if (*child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
        execl(program, program, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    if (*child > 0) return fdopen(ends[0], "r");
    close(ends[0]);
    return NULL;
}

/* The path in a line "NAME => PATH (ADDRESS)", or NULL. */
static char *path_in(char *line)
{
    char *path = strstr(line, " => /"), *end = path ? strrchr(path, '(') : NULL;
    if (!end || end[-1] != ' ') return NULL;
    end[-1] = 0;
    return path + 4;
}

/* A static program would not be loaded but run. */
static bool has_loader(struct fp_arena *arena, const char *program)
{
    struct fp_elfview view;
    struct fp_error error = {0};
    return fp_elfview_open(arena, program, &view, &error) && fp_elfview_segment(&view, PT_INTERP);
}

const char *fp_exe_cached_libraries(struct fp_arena *arena, const char *program,
                                    const struct fp_exe_options *options)
{
    char line[4096];
    const char *folders = "";
    pid_t child = 0;
    FILE *from = has_loader(arena, program) ? ask_loader(program, &child) : NULL;
    while (from && fgets(line, sizeof line, from)) {
        struct fp_arena scratch = {0};
        struct fp_error error = {0};
        const char *path = path_in(line);
        bool rewrite = path && fp_exe_counts_nothing(&scratch, path);
        const char *copy = rewrite ? fp_exe_cached(&scratch, path, options, &error) : NULL;
        if (copy)
            folders = fp_arena_printf(arena, "%s%s%.*s", folders, *folders ? ":" : "",
                                      (int)(strrchr(copy, '/') - copy), copy);
        fp_arena_free(&scratch);
    }
    if (from) fclose(from);
    while (from && waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
    return folders;
}
