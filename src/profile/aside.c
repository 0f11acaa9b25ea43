/* Runs beside a profile: see aside.h.
 *
 * A run may be both in the profile and beside it. A writer may be killed after it put the run
 * into the profile and before it removed the file. Or the file holds a dump of a program that
 * goes on, and a later dump of the same run is in the profile. So records are compared by run
 * and module.
 *
 * Live files (live.h) of processes that were killed are beside a profile, too: each module's part
 * of one is read as such a run. A run that is in the profile is not taken again, so whoever is
 * killed while it takes files in does no harm.
 *
 * The files are read before the profile is. If another process puts one into the profile
 * meanwhile, the run is found in both places, and never in neither.
 */
#include "profile/aside.h"

#include "base/vec.h"
#include "footpath/live_abi.h"
#include "footpath/profile_abi.h"
#include "profile/live.h"
#include "profile/program.h"
#include "profile/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_DIGITS = 16 };

/* What identifies a run, and when it ended. */
struct about {
    uint64_t id, flags, end_ns;
    uint64_t total; /* of its counts */
    struct fp_module_id module;
};

struct aside {
    char *path;
    struct fp_file file;
    struct about about;
    bool known;       /* in the profile already, or replaced there */
    bool live;        /* of a live file */
    uint64_t earlier; /* whole records of run and module that were in the profile before this one */
};

struct folding {
    struct fp_arena arena;
    FP_VEC(struct aside) files;
    FP_VEC(const char *) spent; /* live files of which all was taken */
    bool profile_exists, profile_empty;
    struct fp_beside beside;
    FP_VEC(struct fp_module_id) maps; /* that the profile has */
};

/* ---- finding them ---- */

bool fp_is_aside(const char *name, const char *of)
{
    size_t len = strlen(of);
    if (strncmp(name, of, len) || name[len] != '.') return false;
    const char *key = name + len + 1;
    return strspn(key, "0123456789abcdef") == KEY_DIGITS &&
           (!strcmp(key + KEY_DIGITS, ".run") || !strcmp(key + KEY_DIGITS, ".fold"));
}

static uint64_t total_of(const struct fp_run *run)
{
    uint64_t total = 0;
    for (size_t i = 0; i < run->ncounters; i++) total += run->counters[i].count;
    for (size_t i = 0; i < run->ntables; i++) total += run->tables[i].count;
    return total;
}

static bool note_about(struct fp_arena *arena, const struct fp_run *run, void *context)
{
    (void)arena;
    struct about *about = context;
    *about = (struct about){run->id, run->flags, run->end_ns, total_of(run), run->module};
    return true;
}

static void copy_module(struct fp_arena *arena, struct fp_module_id *m)
{
    m->path = fp_arena_strdup(arena, m->path);
    m->build_id =
        (unsigned char *)fp_arena_strndup(arena, (const char *)m->build_id, m->build_id_len);
}

struct keeping {
    struct fp_arena *arena;
    struct about *about;
    size_t runs;
};

static bool keep_about(struct fp_arena *arena, const struct fp_run *run, void *context)
{
    struct keeping *k = context;
    note_about(arena, run, k->about);
    copy_module(k->arena, &k->about->module);
    k->runs++;
    return true;
}

/* Opens a file that is a whole profile of one run. Links and pipes of that name are ignored. */
static bool read_aside(struct fp_arena *arena, struct aside *aside)
{
    struct stat info;
    struct fp_error error = {0};
    struct keeping k = {arena, &aside->about, 0};
    bool cut;
    if (lstat(aside->path, &info) < 0 || !S_ISREG(info.st_mode) || info.st_size == 0) return false;
    if (!fp_file_open(&aside->file, aside->path, &error)) return false;
    if (fp_profile_parse(aside->file.bytes, aside->file.len, aside->path, keep_about, &k, &cut,
                         &error) &&
        !cut && k.runs == 1)
        return true;
    fp_file_close(&aside->file);
    return false;
}

/* The run of a module that was killed, as a file of a single run. */
static bool take_live_run(struct fp_arena *arena, const struct fp_run *run, uint64_t earlier,
                          void *context)
{
    struct folding *f = context;
    struct fp_writer w = {0}, payload = {0};
    struct aside aside = {.path = "", .live = true, .earlier = earlier};
    struct keeping k = {&f->arena, &aside.about, 0};
    fp_write_profile_header(&w, 0, 0);
    fp_run_encode(&payload, run);
    fp_write_record(&w, FP_RECORD_RUN, &payload);
    fp_writer_free(&payload);
    fp_write_commit(&w);
    keep_about(arena, run, &k);
    aside.file = (struct fp_file){w.bytes, w.len, false};
    fp_vec_push(&f->arena, &f->files, aside);
    return true;
}

static bool take_live(struct folding *f, int fd, const char *path)
{
    struct fp_error error = {0};
    struct fp_arena arena = {0};
    uint64_t outside = 0;
    size_t before = f->files.len;
    bool ok = fp_live_read(&arena, fd, path, take_live_run, f, &outside, &error);
    if (ok)
        fp_vec_push(&f->arena, &f->spent, path);
    else
        while (f->files.len > before) fp_file_close(&f->files.at[--f->files.len].file);
    if (!ok) f->beside.why = error;
    f->beside.outside += outside;
    fp_arena_free(&arena);
    return ok;
}

/* A file that cannot be read stays where it is. */
static void read_live(struct folding *f, const char *path)
{
    struct fp_error error = {0};
    int fd = fp_open_regular(path, &error);
    if (fd < 0) return;
    switch (fp_live_owner(fd)) {
    case FP_LIVE_OWNER_RUNS: f->beside.running++; break;
    case FP_LIVE_OWNER_UNKNOWN: f->beside.unknown++; break;
    case FP_LIVE_OWNER_GONE:
        if (take_live(f, fd, path))
            f->beside.killed++;
        else
            f->beside.unknown++;
        break;
    }
    close(fd);
}

static void find_unborn(struct folding *f, const char *folder, const char *name, const char *base)
{
    struct fp_error error = {0};
    const char *path = fp_arena_printf(&f->arena, "%s/%s", folder, name);
    int fd = fp_open_regular(path, &error);
    if (fd < 0) return;
    if (fp_is_unborn_live(fd, name, base)) fp_vec_push(&f->arena, &f->spent, path);
    close(fd);
}

/* The folder and the name of the profile, by which the files beside it are known. A profile that
 * is not there yet may have live files. */
static bool place_of(struct folding *f, const char *profile, const char **folder, const char **base)
{
    char full[PATH_MAX];
    struct stat info;
    if (!strcmp(profile, "-") || fp_is_elsewhere(profile)) return false;
    f->profile_exists = stat(profile, &info) == 0;
    if (f->profile_exists && !S_ISREG(info.st_mode)) return false;
    f->profile_empty = f->profile_exists && info.st_size == 0;
    const char *slash = strrchr(profile, '/'), *named = slash ? slash + 1 : profile;
    const char *of = f->profile_exists  ? profile
                     : slash == profile ? "/"
                     : slash ? fp_arena_strndup(&f->arena, profile, (size_t)(slash - profile))
                             : ".";
    if (!realpath(of, full)) return false;
    char *last = strrchr(full, '/');
    *folder = fp_arena_strdup(&f->arena, full);
    *base = fp_arena_strdup(&f->arena, named);
    if (!f->profile_exists) return true;
    *folder = fp_arena_strndup(&f->arena, full, last == full ? 1 : (size_t)(last - full));
    *base = fp_arena_strdup(&f->arena, last + 1);
    return true;
}

static void find(struct folding *f, const char *profile)
{
    const char *folder, *base;
    DIR *entries = place_of(f, profile, &folder, &base) ? opendir(folder) : NULL;
    if (!entries) return;
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (strstr(entry->d_name, ".new")) find_unborn(f, folder, entry->d_name, base);
        bool is_live = fp_is_live_name(entry->d_name, base);
        if (!is_live && !(f->profile_exists && fp_is_aside(entry->d_name, base))) continue;
        struct aside aside = {.path = fp_arena_printf(&f->arena, "%s/%s", folder, entry->d_name)};
        if (is_live)
            read_live(f, aside.path);
        else if (read_aside(&f->arena, &aside))
            fp_vec_push(&f->arena, &f->files, aside);
    }
    closedir(entries);
}

static void forget(struct folding *f)
{
    for (size_t i = 0; i < f->files.len; i++) fp_file_close(&f->files.at[i].file);
    fp_arena_free(&f->arena);
}

/* ---- comparing them with the profile ---- */

static bool replaces(const struct about *in_profile, const struct aside *aside)
{
    const struct about *beside = &aside->about;
    if (!(in_profile->flags & FP_RUN_UNFINISHED)) return true;
    /* nothing was counted behind the record, which may also have paths in flight */
    if (aside->live) return in_profile->total == beside->total;
    return beside->flags & FP_RUN_UNFINISHED && in_profile->end_ns >= beside->end_ns;
}

/* A library that was unloaded and loaded again has several whole records of one run. */
static void compare_one(struct aside *aside, const struct about *in_profile)
{
    if (in_profile->id != aside->about.id || in_profile->flags & FP_RUN_MERGED ||
        !fp_same_module(&in_profile->module, &aside->about.module) || !replaces(in_profile, aside))
        return;
    bool is_earlier = aside->live && !(in_profile->flags & FP_RUN_UNFINISHED) && aside->earlier;
    aside->earlier -= is_earlier;
    aside->known = !is_earlier;
}

static bool compare_run(struct fp_arena *arena, const struct fp_run *run, void *context)
{
    struct folding *f = context;
    struct about about;
    note_about(arena, run, &about);
    for (size_t i = 0; i < f->files.len; i++) compare_one(&f->files.at[i], &about);
    return true;
}

static bool note_map(const struct fp_embedded_map *map, void *context)
{
    struct folding *f = context;
    struct fp_module_id module = map->module;
    copy_module(&f->arena, &module);
    fp_vec_push(&f->arena, &f->maps, module);
    return true;
}

static bool pass_combined(struct fp_reader *payload, void *context)
{
    (void)payload, (void)context;
    return true;
}

static struct fp_profile_header header_of(const struct fp_file *file)
{
    struct fp_profile_header header = {0};
    if (file->len >= sizeof header) memcpy(&header, file->bytes, sizeof header);
    return header;
}

/* Does the file belong to this profile? Its id is 0 if the profile was empty when it was
 * written. */
static bool belongs(const struct fp_profile_header *profile, const struct fp_file *file)
{
    struct fp_profile_header header = header_of(file);
    return !header.id || header.id == (profile->id & ~FP_PROFILE_ASIDE);
}

static int by_end(const void *a, const void *b)
{
    const struct aside *x = a, *y = b;
    return (x->about.end_ns > y->about.end_ns) - (x->about.end_ns < y->about.end_ns);
}

/* False if the profile cannot be read; the caller reads it again and reports why. */
static bool compare(struct folding *f, const struct fp_file *profile)
{
    struct fp_error error = {0};
    struct fp_profile_header header = header_of(profile);
    struct fp_profile_visitor visitor = {
        .run = compare_run, .map = note_map, .combined = pass_combined, .context = f};
    bool cut;
    if (!fp_profile_visit(profile->bytes, profile->len, "", &visitor, &cut, &error) || cut)
        return false;
    qsort(f->files.at, f->files.len, sizeof *f->files.at, by_end);
    size_t kept = 0;
    for (size_t i = 0; i < f->files.len; i++) {
        if (belongs(&header, &f->files.at[i].file))
            f->files.at[kept++] = f->files.at[i];
        else
            fp_file_close(&f->files.at[i].file);
    }
    f->files.len = kept;
    return true;
}

/* ---- reading ---- */

/* The length of the valid part of a profile, by the larger of its two valid commits. */
static size_t good_length(const struct fp_file *profile)
{
    struct fp_profile_header header = header_of(profile);
    return fp_profile_good_length(&header, profile->len);
}

static void add_records(struct fp_writer *w, const struct folding *f)
{
    size_t head = sizeof(struct fp_profile_header);
    for (size_t i = 0; i < f->files.len; i++) {
        const struct fp_file *file = &f->files.at[i].file;
        if (!f->files.at[i].known) fp_write_bytes(w, file->bytes + head, good_length(file) - head);
    }
}

/* A profile that has no file yet, or an empty one, whose writer was killed: all its runs are beside
 * it. */
static bool open_new(struct fp_file *file)
{
    struct fp_writer w = {0};
    fp_write_profile_header(&w, 0, 0);
    fp_write_commit(&w);
    *file = (struct fp_file){w.bytes, w.len, false};
    return true;
}

bool fp_profile_open(struct fp_file *file, const char *path, struct fp_error *error)
{
    struct folding f = {0};
    struct fp_writer w = {0};
    find(&f, path);
    bool is_new = (!f.profile_exists || f.profile_empty) && f.files.len;
    bool ok = is_new ? open_new(file) : fp_file_open(file, path, error);
    if (ok && f.files.len && compare(&f, file)) {
        fp_write_bytes(&w, file->bytes, good_length(file));
        add_records(&w, &f);
        fp_write_commit(&w);
        fp_file_close(file);
        *file = (struct fp_file){w.bytes, w.len, false};
    }
    forget(&f);
    return ok;
}

/* ---- for good ---- */

static bool put_at(int fd, const void *bytes, size_t len, off_t at)
{
    while (len) {
        ssize_t put = pwrite(fd, bytes, len, at);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes = (const char *)bytes + put;
        at += put;
        len -= (size_t)put;
    }
    return true;
}

/* Appends the records, then writes a commit into the header's place that is not in use. */
static bool append(int fd, const struct fp_file *profile, const struct fp_writer *records)
{
    struct fp_profile_header header = header_of(profile);
    size_t end = good_length(profile);
    int place;
    struct fp_profile_commit commit = fp_profile_next_commit(&header, end + records->len, &place);
    return put_at(fd, records->bytes, records->len, (off_t)end) &&
           put_at(fd, &commit, sizeof commit,
                  (off_t)(offsetof(struct fp_profile_header, commits) +
                          sizeof commit * (size_t)place)) &&
           (fdatasync(fd) == 0 || errno == EINVAL || errno == EROFS);
}

static bool has_map(const struct folding *f, const struct fp_module_id *module)
{
    for (size_t i = 0; i < f->maps.len; i++)
        if (fp_same_module(&f->maps.at[i], module)) return true;
    return false;
}

/* The map of a module that was killed before it could write one, from the module's file, if that is
 * still the one that ran. */
static void add_map(struct fp_writer *w, struct folding *f, const struct fp_module_id *module)
{
    struct fp_map_file map;
    struct fp_error ignored = {0};
    if (has_map(f, module) || !fp_program_map(&f->arena, module->path, &map, &ignored) ||
        map.build_id_len != module->build_id_len ||
        memcmp(map.build_id, module->build_id, map.build_id_len))
        return;
    struct fp_writer payload = {0};
    struct fp_embedded_map record = {*module, map.map, map.live, map.map_len, map.live_len};
    fp_map_record_encode(&payload, &record);
    fp_write_record(w, FP_RECORD_MAP, &payload);
    fp_writer_free(&payload);
    fp_vec_push(&f->arena, &f->maps, *module);
}

/* Removes files only when what they held is on the disk. */
static bool put_in(struct folding *f, int fd, const char *path, const struct fp_file *profile,
                   struct fp_error *error)
{
    struct fp_writer records = {0};
    add_records(&records, f);
    for (size_t i = 0; i < f->files.len; i++) {
        const struct aside *aside = &f->files.at[i];
        if (aside->live && !aside->known) add_map(&records, f, &aside->about.module);
        f->beside.runs += !aside->known;
    }
    bool ok = !records.len || append(fd, profile, &records) ||
              fp_fail(error, path, "cannot write: %s", strerror(errno));
    fp_writer_free(&records);
    for (size_t i = 0; ok && i < f->files.len; i++)
        if (!f->files.at[i].live) unlink(f->files.at[i].path);
    for (size_t i = 0; ok && i < f->spent.len; i++) unlink(f->spent.at[i]);
    return ok;
}

bool fp_profile_take_in(int fd, const char *path, struct fp_beside *beside, struct fp_error *error)
{
    struct folding f = {0};
    struct fp_file file;
    bool ok = true;
    find(&f, path);
    if ((f.files.len || f.spent.len) && (ok = fp_file_open(&file, path, error))) {
        if (compare(&f, &file))
            ok = put_in(&f, fd, path, &file, error);
        else
            f.beside.damaged = true;
        fp_file_close(&file);
    }
    if (beside) *beside = f.beside;
    forget(&f);
    return ok;
}

/* A program that ends while its profile is locked waits, and then looks whether the name is still
 * this file's (runtime/core/rt_file.c). */
int fp_profile_lock(const char *path, bool create)
{
    for (;;) {
        struct stat held, named;
        int fd = open(path, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0666);
        if (fd < 0) return -1;
        while (flock(fd, LOCK_EX) < 0)
            if (errno != EINTR) return fd; /* a file system without locks */
        if (fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino &&
            held.st_dev == named.st_dev)
            return fd;
        close(fd);
    }
}

static bool write_header(int fd, const char *path, struct fp_error *error)
{
    struct fp_writer w = {0};
    struct stat info;
    bool ok = true;
    if (fstat(fd, &info) == 0 && info.st_size == 0) {
        fp_write_profile_header(&w, 0, 0);
        fp_write_commit(&w);
        ok = put_at(fd, w.bytes, w.len, 0) ||
             fp_fail(error, path, "cannot write: %s", strerror(errno));
    }
    fp_writer_free(&w);
    return ok;
}

bool fp_profile_fold(const char *path, struct fp_beside *beside, struct fp_error *error)
{
    struct folding f = {0};
    find(&f, path);
    bool any = f.files.len || f.spent.len;
    *beside = f.beside;
    forget(&f);
    if (!any) return true;
    int fd = fp_profile_lock(path, true);
    if (fd < 0) return fp_fail(error, path, "cannot open: %s", strerror(errno));
    bool ok = write_header(fd, path, error) && fp_profile_take_in(fd, path, beside, error);
    close(fd);
    return ok;
}

/* NAME of NAME.KEY.live, or NULL. */
static const char *profile_of_live(struct fp_arena *arena, const char *name)
{
    size_t len = strlen(name), ending = 1 + KEY_DIGITS + sizeof FP_LIVE_SUFFIX - 1;
    if (len <= ending || name[len - ending - 1] == '/') return NULL;
    const char *of = fp_arena_strndup(arena, name, len - ending);
    return fp_is_live_name(name, of) ? of : NULL;
}

/* What stands in the place of the file of a run: nothing, if its profile is in the list. */
static const char *instead_of(struct fp_arena *arena, const char **names, size_t count, size_t at)
{
    const char *name = names[at], *of = profile_of_live(arena, name);
    for (size_t i = 0; i < count; i++)
        if (i != at && (of ? !strcmp(names[i], of) : fp_is_aside(name, names[i]))) return NULL;
    return of ? of : name;
}

void fp_drop_aside(struct fp_arena *arena, const char **names, size_t *count)
{
    size_t kept = 0, all = *count;
    if (!all) return;
    const char **read = FP_NEW_ARRAY(arena, const char *, all);
    memcpy(read, names, all * sizeof *names);
    for (size_t i = 0; i < all; i++) {
        const char *name = instead_of(arena, read, all, i);
        if (!name) continue;
        read[i] = name; /* a further live file of the same profile finds it in the list */
        names[kept++] = name;
    }
    *count = kept;
}
