/* Running the copies: see copies.h. Each is started by a script of its own, through the
 * launcher if there is one, so that it may run on another machine that sees the same
 * folder. The script does everything that depends on the machine. */
#include "p3/copies.h"

#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- preparing ---- */

/* A word of a shell. */
static char *quote(struct fp_arena *arena, const char *word)
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

/* Standard input once, for all: a terminal gives nothing. */
static bool keep_input(const char *path, struct fp_error *error)
{
    struct fp_file file;
    if (isatty(0)) return fp_file_write(path, "", 0, error);
    if (!fp_file_open(&file, "-", error)) return false;
    bool ok = fp_file_write(path, file.bytes, file.len, error);
    fp_file_close(&file);
    return ok;
}

static bool is_private(const struct fp_copies *p, const char *name)
{
    for (size_t i = 0; i < p->private_files.len; i++)
        if (!strcmp(p->private_files.at[i], name)) return true;
    return false;
}

/* The working directory: what is in the current folder, as links, or as copies of
 * files that the program changes. What it creates is its own. */
static bool fill_folder(struct fp_copies *p, const char *folder, struct fp_error *error)
{
    char *remove[] = {(char *)"rm", (char *)"-rf", (char *)folder, NULL};
    fp_run_words(remove);
    if (!fp_make_folder(folder, error)) return false;
    DIR *here = opendir(p->here);
    if (!here) return fp_fail(error, p->here, "cannot be read: %s", strerror(errno));
    bool ok = true;
    for (struct dirent *entry; ok && (entry = readdir(here));) {
        char *from = fp_arena_printf(&p->arena, "%s/%s", p->here, entry->d_name);
        char *to = fp_arena_printf(&p->arena, "%s/%s", folder, entry->d_name);
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || !strcmp(from, p->work))
            continue;
        char *copy[] = {(char *)"cp", (char *)"-a", from, to, NULL};
        if (is_private(p, entry->d_name))
            ok = fp_run_words(copy) == 0;
        else
            ok = symlink(from, to) == 0;
        if (!ok) fp_fail(error, to, "cannot be made: %s", strerror(errno));
    }
    closedir(here);
    return ok;
}

/* In its folder the program has the same name in every copy. */
static bool write_script(struct fp_copies *p, int copy, struct fp_error *error)
{
    struct fp_arena *a = &p->arena;
    struct fp_writer text = {0};
    const char *folder = p->same_folder ? p->here : fp_copy_file(p, copy, "run");
    const char *program =
        p->same_folder ? fp_arena_printf(a, "%s/%s", fp_copy_file(p, copy, "build"), p->argv[0])
                       : fp_arena_printf(a, "../build/%s", p->argv[0]);
    char *head = fp_arena_printf(a, "cd %s || exit 127\nFOOTPATH_OUT=%s\nexport FOOTPATH_OUT\n%s",
                                 quote(a, folder), quote(a, fp_copy_file(p, copy, "profile")),
                                 quote(a, program));
    fp_write_bytes(&text, head, strlen(head));
    for (int i = 1; i < p->argc; i++) {
        char *word = fp_arena_printf(a, " %s", quote(a, p->argv[i]));
        fp_write_bytes(&text, word, strlen(word));
    }
    char *status = fp_copy_file(p, copy, "status");
    char *tail = fp_arena_printf(a, " <%s >%s 2>%s\necho $? >%s && mv %s %s\n",
                                 quote(a, fp_arena_printf(a, "%s/stdin", p->work)),
                                 quote(a, fp_copy_file(p, copy, "stdout")),
                                 quote(a, fp_copy_file(p, copy, "stderr")),
                                 quote(a, fp_arena_printf(a, "%s.new", status)),
                                 quote(a, fp_arena_printf(a, "%s.new", status)), quote(a, status));
    fp_write_bytes(&text, tail, strlen(tail));
    bool ok = fp_file_write(fp_copy_file(p, copy, "run.sh"), text.bytes, text.len, error);
    fp_writer_free(&text);
    return ok;
}

static bool prepare(struct fp_copies *p, int copy, struct fp_error *error)
{
    unlink(fp_copy_file(p, copy, "profile"));
    unlink(fp_copy_file(p, copy, "status"));
    return (p->same_folder || fill_folder(p, fp_copy_file(p, copy, "run"), error)) &&
           write_script(p, copy, error);
}

/* ---- running ---- */

static pid_t start(struct fp_copies *p, int copy)
{
    char *script = fp_copy_file(p, copy, "run.sh");
    char *command = fp_arena_printf(&p->arena, "exec %s \"$@\"", p->launcher ? p->launcher : "");
    pid_t child = fork();
    if (child == 0) {
        int none = open("/dev/null", O_RDONLY); /* launchers read standard input too */
        if (none >= 0) dup2(none, 0);
        execl("/bin/sh", "sh", "-c", command, "sh", "sh", script, (char *)NULL);
        _exit(127);
    }
    return child;
}

bool fp_copies_run(struct fp_copies *p, struct fp_error *error)
{
    int first = p->check ? FP_REFERENCE : 0, n = (int)p->ncopies;
    pid_t *children = FP_NEW_ARRAY(&p->arena, pid_t, p->ncopies + 1);
    if (!keep_input(fp_arena_printf(&p->arena, "%s/stdin", p->work), error)) return false;
    for (int i = first; i < n; i++)
        if (!prepare(p, i, error)) return false;
    for (int i = first; i < n; i++) children[i + 1] = start(p, i);
    for (int i = first; i < n; i++) {
        int ignored;
        while (children[i + 1] > 0 && waitpid(children[i + 1], &ignored, 0) < 0 && errno == EINTR) {
        }
    }
    return true;
}

/* ---- comparing ---- */

static bool read_status(struct fp_copies *p, int copy, int *status, struct fp_error *error)
{
    struct fp_error missing = {0};
    struct fp_file file;
    if (!fp_file_open(&file, fp_copy_file(p, copy, "status"), &missing))
        return fp_fail(error, fp_copy_file(p, copy, "run.sh"), "was not run to its end%s%s",
                       p->launcher ? "; does this launcher work: " : "",
                       p->launcher ? p->launcher : "");
    char text[16] = "";
    memcpy(text, file.bytes, file.len < 15 ? file.len : 15);
    fp_file_close(&file);
    *status = atoi(text);
    return true;
}

static const char *name_of(struct fp_copies *p, int copy)
{
    return copy == FP_REFERENCE ? "the reference" : fp_arena_printf(&p->arena, "copy %d", copy);
}

static bool same_output(struct fp_copies *p, int copy, const char *stream, struct fp_error *error)
{
    struct fp_file a, b;
    if (!fp_file_open(&a, fp_copy_file(p, 0, stream), error)) return false;
    if (!fp_file_open(&b, fp_copy_file(p, copy, stream), error)) {
        fp_file_close(&a);
        return false;
    }
    size_t at = 0;
    while (at < a.len && at < b.len && a.bytes[at] == b.bytes[at]) at++;
    bool same = at == a.len && at == b.len;
    if (!same)
        fp_fail(error, fp_copy_file(p, copy, stream),
                "%s wrote something else than copy 0, from byte %zu on; do all get the same input, "
                "or use --any-output",
                name_of(p, copy), at);
    fp_file_close(&a);
    fp_file_close(&b);
    return same;
}

static bool compare(struct fp_copies *p, int copy, int *first_status, struct fp_error *error)
{
    int status;
    if (!read_status(p, copy, &status, error)) return false;
    if (copy == 0) *first_status = status;
    if (status != *first_status)
        return fp_fail(error, fp_copy_file(p, copy, "run.sh"),
                       "%s ended with status %d, copy 0 with %d", name_of(p, copy), status,
                       *first_status);
    return p->any_output ||
           (same_output(p, copy, "stdout", error) && same_output(p, copy, "stderr", error));
}

bool fp_copies_compare(struct fp_copies *p, int *status, struct fp_error *error)
{
    for (int i = 0; i < (int)p->ncopies; i++)
        if (!compare(p, i, status, error)) return false;
    return !p->check || compare(p, FP_REFERENCE, status, error);
}
