/* Taking in a spool: see spool.h.
 *
 * Files here are profiles that their programs append to under a lock (runtime/core/rt_file.c). So
 * a file is taken while this process holds its lock: read, added, committed, and then removed,
 * all with the lock held. A program that wants to write meanwhile waits, and then finds that the
 * file it locked has no name any more: it makes a new one. Killed at any moment, this leaves a
 * file whose runs are in the store already; they do not count again (storeput.c).
 *
 * Maps lie in files of their own, BUILD-ID.map, and stay: so that programs need not write them
 * again. Anyone who may write to the folder may put files here; profiles are read as hostile
 * input always is.
 */
#include "store/spool.h"

#include "base/io.h"
#include "footpath/live_abi.h"
#include "profile/aside.h"
#include "profile/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AT_ONCE = 400 }; /* files in a transaction, all of them open and locked */

const char *fp_spool_of(struct fp_arena *arena, const struct fp_store_name *name)
{
    return name->postgresql ? NULL : fp_arena_printf(arena, "%s.spool", name->place);
}

static bool ends_with(const char *name, const char *ending)
{
    size_t len = strlen(name), tail = strlen(ending);
    return len > tail && !strcmp(name + len - tail, ending);
}

/* Profiles, and single runs beside one that was locked (docs/formats/profile.md). */
static bool is_run_file(const char *name)
{
    return ends_with(name, ".prof") || ends_with(name, ".run") || ends_with(name, ".fold");
}

/* KEY.prof.KEY.live: what a process has counted that may have been killed (docs/live.md). */
static bool is_live_file(const char *name)
{
    return ends_with(name, FP_LIVE_SUFFIX);
}

bool fp_spool_waits(const char *folder)
{
    DIR *entries = opendir(folder);
    bool found = false;
    if (!entries) return false;
    for (struct dirent *e; !found && (e = readdir(entries));)
        found = is_run_file(e->d_name) || is_live_file(e->d_name);
    closedir(entries);
    return found;
}

struct taken {
    int fd;
    char *path;
};

struct taking {
    struct fp_spool *spool;
    struct fp_store *store;
    struct fp_arena arena;
    FP_VEC(const char *) runs, maps;
    struct taken files[AT_ONCE];
    size_t nfiles;
    struct fp_error *error;
};

static char *path_of(struct taking *t, const char *name)
{
    return fp_arena_printf(&t->arena, "%s/%s", t->spool->folder, name);
}

/* Killed processes leave live files; each becomes the file that the process would have written.
 * Those that cannot be read stay. */
static void fold_live_files(struct taking *t)
{
    DIR *entries = opendir(t->spool->folder);
    if (!entries) return;
    for (struct dirent *e; (e = readdir(entries));) {
        size_t len = strlen(e->d_name), tail = FP_LIVE_KEY_DIGITS + sizeof FP_LIVE_SUFFIX;
        struct fp_error ignored = {0};
        struct fp_beside beside;
        if (!is_live_file(e->d_name) || len <= tail) continue;
        const char *name = fp_arena_strndup(&t->arena, e->d_name, len - tail);
        if (fp_is_live_name(e->d_name, name)) fp_profile_fold(path_of(t, name), &beside, &ignored);
    }
    closedir(entries);
}

static bool list_folder(struct taking *t)
{
    fold_live_files(t);
    DIR *entries = opendir(t->spool->folder);
    if (!entries && errno == ENOENT) return true;
    if (!entries) return fp_fail(t->error, t->spool->folder, "cannot read: %s", strerror(errno));
    for (struct dirent *e; (e = readdir(entries));) {
        const char *name = fp_arena_strdup(&t->arena, e->d_name);
        if (is_run_file(name)) fp_vec_push(&t->arena, &t->runs, name);
        if (ends_with(name, ".map")) fp_vec_push(&t->arena, &t->maps, name);
    }
    closedir(entries);
    return true;
}

/* A descriptor of a regular file, or -1. Links are not followed: the folder may be everyone's. */
static int open_entry(const char *path, struct stat *info)
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, info) == 0 && S_ISREG(info->st_mode)) return fd;
    if (fd >= 0) close(fd);
    return -1;
}

/* The file locked, as it is under its name now; or -1. */
static int lock_entry(struct taking *t, const char *path)
{
    struct stat info;
    int fd = open_entry(path, &info);
    if (fd < 0) return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
        t->spool->busy++;
        close(fd);
        return -1;
    }
    if (fstat(fd, &info) == 0 && info.st_nlink) return fd;
    close(fd);
    return -1;
}

static void put_away(struct taking *t, const char *path, const struct fp_error *why)
{
    rename(path, fp_arena_printf(&t->arena, "%s.bad", path));
    t->spool->bad++;
    if (t->spool->tell) t->spool->tell(why, t->spool->context);
}

/* false: the store failed. What is wrong with the file alone is told. An empty file was made by a
 * program that has not written yet or was killed: it goes, and the program makes another. */
static bool add_open_file(struct taking *t, int fd, const char *path, bool *added)
{
    struct fp_file file;
    struct fp_error bad = {0};
    *added = false;
    if (!fp_file_of(&file, fd, path, &bad)) {
        put_away(t, path, &bad);
        return true;
    }
    bool ok = true;
    if (!file.len)
        *added = true;
    else if (!fp_store_can_add(path, file.bytes, file.len, &bad))
        put_away(t, path, &bad);
    else
        *added = ok =
            fp_store_add(t->store, path, file.bytes, file.len, &t->spool->added, t->error);
    fp_file_close(&file);
    return ok;
}

static bool take_file(struct taking *t, const char *name)
{
    char *path = path_of(t, name);
    int fd = lock_entry(t, path);
    bool added;
    if (fd < 0) return true;
    bool ok = add_open_file(t, fd, path, &added);
    if (ok && added)
        t->files[t->nfiles++] = (struct taken){fd, path};
    else
        close(fd);
    return ok;
}

static void let_go(struct taking *t, bool committed)
{
    for (size_t i = 0; i < t->nfiles; i++) {
        if (committed && unlink(t->files[i].path) == 0) t->spool->files++;
        close(t->files[i].fd);
    }
    t->nfiles = 0;
}

/* BUILD-ID.map, where the store has no map of that build yet. */
static bool take_map(struct taking *t, const char *name)
{
    char *path = path_of(t, name), *build = fp_arena_strndup(&t->arena, name, strlen(name) - 4);
    struct stat info;
    bool has, added, ok = fp_store_has_map(t->store, build, &has, t->error);
    int fd = ok && !has ? open_entry(path, &info) : -1;
    if (fd < 0) return ok;
    ok = add_open_file(t, fd, path, &added);
    close(fd);
    return ok;
}

static bool take_some(struct taking *t, size_t *next)
{
    bool ok = fp_store_begin(t->store, t->error);
    if (!ok) return false;
    for (size_t i = 0; ok && i < t->maps.len; i++) ok = take_map(t, t->maps.at[i]);
    t->maps.len = 0;
    while (ok && *next < t->runs.len && t->nfiles < AT_ONCE)
        ok = take_file(t, t->runs.at[(*next)++]);
    if (ok)
        ok = fp_store_commit(t->store, t->error);
    else
        fp_store_rollback(t->store);
    let_go(t, ok);
    return ok;
}

bool fp_spool_take(struct fp_spool *spool, struct fp_store *store, struct fp_error *error)
{
    struct taking *t = calloc(1, sizeof *t);
    if (!t) abort();
    t->spool = spool, t->store = store, t->error = error;
    spool->busy = 0;
    size_t next = 0;
    bool ok = list_folder(t);
    while (ok && (t->maps.len || next < t->runs.len)) ok = take_some(t, &next);
    fp_arena_free(&t->arena);
    free(t);
    return ok;
}
