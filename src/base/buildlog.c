/* A log of what is compiled and linked: see buildlog.h. */
#include "base/buildlog.h"

#include "base/io.h"
#include "base/varint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char source_word[] = "source ", linked_word[] = "linked ";

bool fp_build_log_begin(const char *path, struct fp_build_log *log, struct fp_error *error)
{
    struct stat about;
    *log = (struct fp_build_log){0};
    if (!fp_file_write(path, "", 0, error)) return false;
    if (stat(path, &about) < 0) return fp_fail(error, path, "%s", strerror(errno));
    log->begin = about.st_mtim;
    return true;
}

/* ---- writing ---- */

static void add_lines(struct fp_writer *text, const char *word, char *const *names, size_t n)
{
    char full[PATH_MAX];
    for (size_t i = 0; i < n; i++) {
        if (!realpath(names[i], full) || strchr(full, '\n')) continue;
        fp_write_bytes(text, word, strlen(word));
        fp_write_bytes(text, full, strlen(full));
        fp_write_bytes(text, "\n", 1);
    }
}

void fp_build_log_add(const char *path, char *const *sources, size_t nsources, char *const *linked,
                      size_t nlinked)
{
    struct fp_writer text = {0};
    add_lines(&text, source_word, sources, nsources);
    add_lines(&text, linked_word, linked, nlinked);
    int fd = text.len ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    /* one call: commands that run at the same time append whole lines. A log that cannot be
     * written is missed by its reader, which says so; the build goes on */
    if (fd >= 0 && write(fd, text.bytes, text.len) < 0) errno = 0;
    if (fd >= 0) close(fd);
    fp_writer_free(&text);
}

/* ---- reading ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t sort_names(const char **names, size_t n)
{
    size_t kept = 0;
    if (n) qsort(names, n, sizeof *names, by_name);
    for (size_t i = 0; i < n; i++)
        if (!kept || strcmp(names[kept - 1], names[i])) names[kept++] = names[i];
    return kept;
}

bool fp_build_log_read(struct fp_arena *arena, const char *path, struct fp_build_log *log,
                       struct fp_error *error)
{
    struct fp_file file;
    if (!fp_file_open(&file, path, error)) return false;
    char *text = fp_arena_strndup(arena, (const char *)file.bytes, file.len), *save;
    fp_file_close(&file);
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (!strncmp(line, source_word, sizeof source_word - 1))
            fp_vec_push(arena, &log->sources, line + sizeof source_word - 1);
        if (!strncmp(line, linked_word, sizeof linked_word - 1))
            fp_vec_push(arena, &log->linked, line + sizeof linked_word - 1);
    }
    log->sources.len = sort_names(log->sources.at, log->sources.len);
    log->linked.len = sort_names(log->linked.at, log->linked.len);
    return true;
}

bool fp_older(const char *path, struct timespec begin)
{
    struct stat about;
    if (stat(path, &about) < 0) return false;
    struct timespec then = about.st_mtim;
    return then.tv_sec < begin.tv_sec ||
           (then.tv_sec == begin.tv_sec && then.tv_nsec < begin.tv_nsec);
}

const char *fp_build_log_stale(const struct fp_build_log *log, const char *folder)
{
    size_t len = strlen(folder);
    for (size_t i = 0; i < log->linked.len; i++) {
        const char *name = log->linked.at[i];
        bool below = !strncmp(name, folder, len) && name[len] == '/';
        if (below && fp_older(name, log->begin)) return name;
    }
    return NULL;
}
