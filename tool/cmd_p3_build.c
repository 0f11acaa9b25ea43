/* Building the copies, each in a folder of its own: see p3.h. */
#include "p3.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

char *p3_folder(struct p3 *p, int copy)
{
    if (copy == P3_REFERENCE) return fp_arena_printf(&p->arena, "%s/reference", p->work);
    return fp_arena_printf(&p->arena, "%s/copy-%d", p->work, copy);
}

char *p3_file(struct p3 *p, int copy, const char *name)
{
    return fp_arena_printf(&p->arena, "%s/%s", p3_folder(p, copy), name);
}

char *p3_quote(struct fp_arena *arena, const char *word)
{
    char *quoted = fp_arena_alloc(arena, strlen(word) * 4 + 3), *at = quoted;
    *at++ = '\'';
    for (; *word; word++) {
        if (*word == '\'') {
            memcpy(at, "'\\''", 4);
            at += 4;
        } else {
            *at++ = *word;
        }
    }
    *at++ = '\'';
    return quoted;
}

int p3_system(char *const *words)
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

static bool copy_source(struct p3 *p, const char *to)
{
    char *from = fp_arena_printf(&p->arena, "%s/.", p->source);
    char *words[] = {(char *)"cp", (char *)"-a", from, (char *)to, NULL};
    if (p3_system(words) == 0) return true;
    cli_say("%s: cannot be copied to %s", p->source, to);
    return false;
}

/* The compilers beside this program. */
static char *compiler(struct p3 *p, const char *name)
{
    return fp_arena_printf(&p->arena, "%s/%s", fp_own_folder(&p->arena), name);
}

/* What the plugin is told: the division, and that files below this build folder are the
 * same as those below another. */
static char *flags_for(struct p3 *p, int copy)
{
    const char *before = getenv("FOOTPATH_CC_FLAGS");
    char *flags = fp_arena_printf(&p->arena, "%s --fp-base=%s", before ? before : "",
                                  cli_as_word(&p->arena, p3_file(p, copy, "build")));
    if (p->hits) flags = fp_arena_printf(&p->arena, "%s --fp-hits", flags);
    if (copy == P3_REFERENCE) return fp_arena_printf(&p->arena, "%s --fp-callees", flags);
    return fp_arena_printf(&p->arena, "%s --fp-division=%s/division --fp-copy=%d", flags,
                           cli_as_word(&p->arena, p->work), copy);
}

static int run_build(struct p3 *p, int copy, const char *folder, const char *log)
{
    char *cc = compiler(p, "footpath-cc"), *cxx = compiler(p, "footpath-c++");
    char *flags = flags_for(p, copy), *out = p3_file(p, copy, "while-building.prof");
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        int to = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
        if (to >= 0) dup2(to, 1), dup2(to, 2);
        setenv("CC", cc, 1);
        setenv("CXX", cxx, 1);
        setenv("FOOTPATH_CC_FLAGS", flags, 1);
        setenv("FOOTPATH_SOURCE", p->here, 1);
        setenv("FOOTPATH_OUT", cli_as_pattern(&p->arena, out), 1);
        if (chdir(folder) == 0) execl("/bin/sh", "sh", "-c", p->build, (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool p3_build(struct p3 *p, int copy)
{
    struct fp_error error = {0};
    char *folder = p3_file(p, copy, "build"), *log = p3_file(p, copy, "log");
    char *remove[] = {(char *)"rm", (char *)"-rf", folder, NULL};
    p3_system(remove);
    if (!fp_make_folder(folder, &error)) {
        cli_fail(&error, NULL);
        return false;
    }
    if (p->source && !copy_source(p, folder)) return false;
    int status = run_build(p, copy, folder, log);
    char *program = fp_arena_printf(&p->arena, "%s/%s", folder, p->argv[0]);
    if (status == 0 && access(program, X_OK) == 0) return true;
    if (status == 0)
        cli_say("%s: the build made no such program; PROGRAM is relative to the build folder",
                program);
    else
        cli_say("%s: the build failed with status %d; its output is there", log, status);
    return false;
}
