/* Whole files: see io.h. */
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/auxv.h>
#include <unistd.h>

static bool read_all(struct fp_file *file, int fd, const char *path, struct fp_error *error)
{
    size_t len = 0, cap = 1 << 16;
    unsigned char *bytes = malloc(cap);
    if (!bytes) abort();
    for (;;) {
        ssize_t got = read(fd, bytes + len, cap - len);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            free(bytes);
            return fp_fail(error, path, "cannot read: %s", strerror(errno));
        }
        if (got == 0) break;
        len += (size_t)got;
        if (len < cap) continue;
        cap *= 2;
        bytes = realloc(bytes, cap);
        if (!bytes) abort();
    }
    *file = (struct fp_file){bytes, len, false};
    return true;
}

static const struct fp_opener *elsewhere;

void fp_set_opener(const struct fp_opener *opener)
{
    elsewhere = opener;
}

bool fp_is_elsewhere(const char *name)
{
    return elsewhere && elsewhere->claims(name);
}

bool fp_file_of(struct fp_file *file, int fd, const char *path, struct fp_error *error)
{
    bool ok = true;
    struct stat info;
    *file = (struct fp_file){0};
    if (fstat(fd, &info) < 0) {
        ok = fp_fail(error, path, "cannot read: %s", strerror(errno));
    } else if (S_ISDIR(info.st_mode)) {
        ok = fp_fail(error, path, "is a folder, expected a file");
    } else if (!S_ISREG(info.st_mode) || info.st_size == 0) {
        ok = read_all(file, fd, path, error);
    } else {
        void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes == MAP_FAILED)
            ok = read_all(file, fd, path, error);
        else
            *file = (struct fp_file){bytes, (size_t)info.st_size, true};
    }
    return ok;
}

bool fp_file_open(struct fp_file *file, const char *path, struct fp_error *error)
{
    *file = (struct fp_file){0};
    if (!strcmp(path, "-")) return read_all(file, STDIN_FILENO, "standard input", error);
    if (fp_is_elsewhere(path)) return elsewhere->open(file, path, error);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fp_fail(error, path, "cannot open: %s", strerror(errno));
    bool ok = fp_file_of(file, fd, path, error);
    close(fd);
    return ok;
}

void fp_file_close(struct fp_file *file)
{
    if (file->mapped)
        munmap((void *)file->bytes, file->len);
    else
        free((void *)file->bytes);
    *file = (struct fp_file){0};
}

int fp_open_regular(const char *path, struct fp_error *error)
{
    struct stat info;
    int fd = -1;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        fp_fail(error, path, "is no regular file");
        return -1;
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) fp_fail(error, path, "cannot open: %s", strerror(errno));
    return fd;
}

static bool write_fully(int fd, const unsigned char *bytes, size_t len)
{
    while (len) {
        ssize_t put = write(fd, bytes, len);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        bytes += put;
        len -= (size_t)put;
    }
    return true;
}

int fp_keep_bytes(const void *bytes, size_t len, struct fp_error *error)
{
    int fd = memfd_create("footpath", MFD_CLOEXEC);
    if (fd >= 0 && write_fully(fd, bytes, len)) return fd;
    fp_fail(error, NULL, "cannot keep %zu bytes in memory: %s", len, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

bool fp_file_write(const char *path, const void *bytes, size_t len, struct fp_error *error)
{
    if (!strcmp(path, "-")) {
        if (write_fully(STDOUT_FILENO, bytes, len)) return true;
        return fp_fail(error, "standard output", "cannot write: %s", strerror(errno));
    }
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) { /* a pipe, /dev/null */
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        bool ok = fd >= 0 && write_fully(fd, bytes, len);
        int problem = errno;
        if (fd >= 0) close(fd);
        return ok || fp_fail(error, path, "cannot write: %s", strerror(problem));
    }
    size_t room = strlen(path) + 16;
    char *temporary = malloc(room);
    if (!temporary) abort();
    snprintf(temporary, room, "%s.XXXXXX", path);
    int fd = mkstemp(temporary);
    bool ok = fd >= 0;
    if (ok) {
        mode_t mask = umask(0);
        umask(mask);
        ok = fchmod(fd, 0666 & ~mask) == 0 && write_fully(fd, bytes, len);
        ok = close(fd) == 0 && ok;
        ok = ok && rename(temporary, path) == 0;
        int problem = errno;
        if (!ok) unlink(temporary);
        errno = problem;
    }
    if (!ok) fp_fail(error, path, "cannot write: %s", strerror(errno));
    free(temporary);
    return ok;
}

bool fp_make_folder(const char *path, struct fp_error *error)
{
    char *copy = strdup(path);
    if (!copy) abort();
    bool ok = true;
    for (char *slash = copy + 1; ok && *copy; slash++) {
        char kept = *slash;
        if (kept && kept != '/') continue;
        *slash = 0;
        struct stat info;
        if (mkdir(copy, 0777) < 0 &&
            (errno != EEXIST || stat(copy, &info) < 0 || !S_ISDIR(info.st_mode)))
            ok = fp_fail(error, copy, "cannot create folder: %s", strerror(errno));
        *slash = kept;
        if (!kept) break;
    }
    free(copy);
    return ok;
}

char *fp_own_folder(struct fp_arena *arena)
{
    char path[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", path, sizeof path - 1);
    if (len > 0) {
        path[len] = 0;
    } else { /* no /proc: use the name that the program was started with */
        const char *name = (const char *)getauxval(AT_EXECFN);
        if (!name || !realpath(name, path)) return fp_arena_strdup(arena, ".");
    }
    char *slash = strrchr(path, '/');
    if (slash) *slash = 0;
    return fp_arena_strdup(arena, path);
}
