/* Running the copies: see p3.h. Each is started by a script of its own, through the
 * launcher if there is one, so that it may run on another machine that sees the same
 * folder. The script does everything that depends on the machine. */
#include "p3.h"

#include "base/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- preparing ---- */

/* Standard input once, for all: a terminal gives nothing. */
static bool keep_input(struct p3 *p, const char *path)
{
    struct fp_error error = {0};
    struct fp_file file;
    if (isatty(0)) return fp_file_write(path, "", 0, &error) || cli_fail(&error, NULL) == EXIT_OK;
    if (!fp_file_open(&file, "-", &error)) return cli_fail(&error, NULL) == EXIT_OK;
    bool ok = fp_file_write(path, file.bytes, file.len, &error);
    fp_file_close(&file);
    (void)p;
    return ok || cli_fail(&error, NULL) == EXIT_OK;
}

static bool is_private(const struct p3 *p, const char *name)
{
    for (size_t i = 0; i < p->private_files.len; i++)
        if (!strcmp(p->private_files.at[i], name)) return true;
    return false;
}

/* The working directory: what is in the current folder, as links, or as copies of
 * files that the program changes. What it creates is its own. */
static bool fill_folder(struct p3 *p, const char *folder)
{
    struct fp_error error = {0};
    char *remove[] = {(char *)"rm", (char *)"-rf", (char *)folder, NULL};
    p3_system(remove);
    if (!fp_make_folder(folder, &error)) return cli_fail(&error, NULL) == EXIT_OK;
    DIR *here = opendir(p->here);
    if (!here) return false;
    bool ok = true;
    for (struct dirent *entry; ok && (entry = readdir(here));) {
        char *from = fp_arena_printf(&p->arena, "%s/%s", p->here, entry->d_name);
        char *to = fp_arena_printf(&p->arena, "%s/%s", folder, entry->d_name);
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || !strcmp(from, p->work))
            continue;
        char *copy[] = {(char *)"cp", (char *)"-a", from, to, NULL};
        if (is_private(p, entry->d_name))
            ok = p3_system(copy) == 0;
        else
            ok = symlink(from, to) == 0;
        if (!ok) cli_say("%s: cannot be made: %s", to, strerror(errno));
    }
    closedir(here);
    return ok;
}

/* In its folder the program has the same name in every copy. */
static bool write_script(struct p3 *p, int copy)
{
    struct fp_arena *a = &p->arena;
    struct fp_writer text = {0};
    struct fp_error error = {0};
    const char *folder = p->same_folder ? p->here : p3_file(p, copy, "run");
    const char *program = p->same_folder
                              ? fp_arena_printf(a, "%s/%s", p3_file(p, copy, "build"), p->argv[0])
                              : fp_arena_printf(a, "../build/%s", p->argv[0]);
    char *head = fp_arena_printf(a, "cd %s || exit 127\nFOOTPATH_OUT=%s\nexport FOOTPATH_OUT\n%s",
                                 p3_quote(a, folder), p3_quote(a, p3_file(p, copy, "profile")),
                                 p3_quote(a, program));
    fp_write_bytes(&text, head, strlen(head));
    for (int i = 1; i < p->argc; i++) {
        char *word = fp_arena_printf(a, " %s", p3_quote(a, p->argv[i]));
        fp_write_bytes(&text, word, strlen(word));
    }
    char *status = p3_file(p, copy, "status");
    char *tail = fp_arena_printf(
        a, " <%s >%s 2>%s\necho $? >%s && mv %s %s\n",
        p3_quote(a, fp_arena_printf(a, "%s/stdin", p->work)),
        p3_quote(a, p3_file(p, copy, "stdout")), p3_quote(a, p3_file(p, copy, "stderr")),
        p3_quote(a, fp_arena_printf(a, "%s.new", status)),
        p3_quote(a, fp_arena_printf(a, "%s.new", status)), p3_quote(a, status));
    fp_write_bytes(&text, tail, strlen(tail));
    bool ok = fp_file_write(p3_file(p, copy, "run.sh"), text.bytes, text.len, &error);
    fp_writer_free(&text);
    return ok || cli_fail(&error, NULL) == EXIT_OK;
}

static bool prepare(struct p3 *p, int copy)
{
    unlink(p3_file(p, copy, "profile"));
    unlink(p3_file(p, copy, "status"));
    return (p->same_folder || fill_folder(p, p3_file(p, copy, "run"))) && write_script(p, copy);
}

/* ---- running ---- */

static pid_t start(struct p3 *p, int copy)
{
    char *script = p3_file(p, copy, "run.sh");
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

static bool read_status(struct p3 *p, int copy, int *status)
{
    struct fp_error error = {0};
    struct fp_file file;
    if (!fp_file_open(&file, p3_file(p, copy, "status"), &error)) {
        cli_say("%s: was not run to its end%s%s", p3_file(p, copy, "run.sh"),
                p->launcher ? "; does this launcher work: " : "", p->launcher ? p->launcher : "");
        return false;
    }
    char text[16] = "";
    memcpy(text, file.bytes, file.len < 15 ? file.len : 15);
    fp_file_close(&file);
    *status = atoi(text);
    return true;
}

/* ---- comparing ---- */

static const char *name_of(int copy)
{
    static char name[32];
    if (copy == P3_REFERENCE) return "the reference";
    snprintf(name, sizeof name, "copy %d", copy);
    return name;
}

static bool same_output(struct p3 *p, int copy, const char *stream)
{
    struct fp_error error = {0};
    struct fp_file a, b;
    if (!fp_file_open(&a, p3_file(p, 0, stream), &error)) return cli_fail(&error, NULL) == EXIT_OK;
    if (!fp_file_open(&b, p3_file(p, copy, stream), &error)) {
        fp_file_close(&a);
        return cli_fail(&error, NULL) == EXIT_OK;
    }
    size_t at = 0;
    while (at < a.len && at < b.len && a.bytes[at] == b.bytes[at]) at++;
    bool same = at == a.len && at == b.len;
    if (!same)
        cli_say(
            "%s: %s wrote something else than copy 0, from byte %zu on; do all get the same input, "
            "or use --any-output",
            p3_file(p, copy, stream), name_of(copy), at);
    fp_file_close(&a);
    fp_file_close(&b);
    return same;
}

static bool compare(struct p3 *p, int copy, int *first_status)
{
    int status;
    if (!read_status(p, copy, &status)) return false;
    if (copy == 0) *first_status = status;
    if (status != *first_status) {
        cli_say("%s: %s ended with status %d, copy 0 with %d", p3_file(p, copy, "run.sh"),
                name_of(copy), status, *first_status);
        return false;
    }
    return p->any_output || (same_output(p, copy, "stdout") && same_output(p, copy, "stderr"));
}

static void show(struct p3 *p, const char *stream, FILE *to)
{
    struct fp_error error = {0};
    struct fp_file file;
    if (!fp_file_open(&file, p3_file(p, 0, stream), &error)) return;
    fwrite(file.bytes, 1, file.len, to);
    fflush(to);
    fp_file_close(&file);
}

bool p3_run(struct p3 *p, int *status)
{
    int first = p->check ? P3_REFERENCE : 0, n = (int)p->ncopies;
    pid_t *children = FP_NEW_ARRAY(&p->arena, pid_t, p->ncopies + 1);
    if (!keep_input(p, fp_arena_printf(&p->arena, "%s/stdin", p->work))) return false;
    for (int i = first; i < n; i++)
        if (!prepare(p, i)) return false;
    for (int i = first; i < n; i++) children[i + 1] = start(p, i);
    for (int i = first; i < n; i++) {
        int ignored;
        while (children[i + 1] > 0 && waitpid(children[i + 1], &ignored, 0) < 0 && errno == EINTR) {
        }
    }
    show(p, "stdout", stdout);
    show(p, "stderr", stderr);
    for (int i = 0; i < n; i++)
        if (!compare(p, i, status)) return false;
    return !p->check || compare(p, P3_REFERENCE, status);
}
