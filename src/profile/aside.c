/* Runs beside a profile: see aside.h.
 *
 * A run may be both in the profile and beside it. A writer may be killed after it put the run
 * into the profile and before it removed the file. Or the file holds a dump of a program that
 * goes on, and a later dump of the same run is in the profile. So records are compared by run
 * and module.
 *
 * The files are read before the profile is. If another process puts one into the profile
 * meanwhile, the run is found in both places, and never in neither.
 */
#include "profile/aside.h"

#include "base/vec.h"
#include "footpath/profile_abi.h"
#include "profile/runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_DIGITS = 16 };

/* What identifies a run, and when it ended. */
struct about {
    uint64_t id, flags, end_ns;
    struct fp_module_id module;
};

struct aside {
    char *path;
    struct fp_file file;
    struct about about;
    bool known; /* in the profile already, or replaced there */
};

struct folding {
    struct fp_arena arena;
    FP_VEC(struct aside) files;
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

static bool note_about(struct fp_arena *arena, const struct fp_run *run, void *context)
{
    (void)arena;
    struct about *about = context;
    *about = (struct about){run->id, run->flags, run->end_ns, run->module};
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

static void find(struct folding *f, const char *profile)
{
    char full[PATH_MAX];
    struct stat info;
    if (!strcmp(profile, "-") || stat(profile, &info) < 0 || !S_ISREG(info.st_mode) ||
        !realpath(profile, full))
        return;
    char *slash = strrchr(full, '/'), *base = slash + 1;
    const char *folder =
        fp_arena_strndup(&f->arena, full, slash == full ? 1 : (size_t)(slash - full));
    DIR *entries = opendir(folder);
    if (!entries) return;
    for (struct dirent *entry; (entry = readdir(entries));) {
        if (!fp_is_aside(entry->d_name, base)) continue;
        struct aside aside = {.path = fp_arena_printf(&f->arena, "%s/%s", folder, entry->d_name)};
        if (read_aside(&f->arena, &aside)) fp_vec_push(&f->arena, &f->files, aside);
    }
    closedir(entries);
}

static void forget(struct folding *f)
{
    for (size_t i = 0; i < f->files.len; i++) fp_file_close(&f->files.at[i].file);
    fp_arena_free(&f->arena);
}

/* ---- comparing them with the profile ---- */

static bool replaces(const struct about *in_profile, const struct about *beside)
{
    if (in_profile->id != beside->id || in_profile->flags & FP_RUN_MERGED ||
        !fp_same_module(&in_profile->module, &beside->module))
        return false;
    if (!(in_profile->flags & FP_RUN_UNFINISHED)) return true;
    return beside->flags & FP_RUN_UNFINISHED && in_profile->end_ns >= beside->end_ns;
}

static bool compare_run(struct fp_arena *arena, const struct fp_run *run, void *context)
{
    struct folding *f = context;
    struct about about;
    note_about(arena, run, &about);
    for (size_t i = 0; i < f->files.len; i++)
        f->files.at[i].known |= replaces(&about, &f->files.at[i].about);
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
        .run = compare_run, .combined = pass_combined, .context = f};
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

bool fp_profile_open(struct fp_file *file, const char *path, struct fp_error *error)
{
    struct folding f = {0};
    struct fp_writer w = {0};
    find(&f, path);
    bool ok = fp_file_open(file, path, error);
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
                          sizeof commit * (size_t)place));
}

bool fp_profile_take_in(int fd, const char *path, struct fp_error *error)
{
    struct folding f = {0};
    struct fp_writer records = {0};
    struct fp_file file;
    bool ok = true;
    find(&f, path);
    if (f.files.len && (ok = fp_file_open(&file, path, error))) {
        if (compare(&f, &file)) {
            add_records(&records, &f);
            ok = append(fd, &file, &records) ||
                 fp_fail(error, path, "cannot write: %s", strerror(errno));
            for (size_t i = 0; ok && i < f.files.len; i++) unlink(f.files.at[i].path);
        }
        fp_file_close(&file);
    }
    fp_writer_free(&records);
    forget(&f);
    return ok;
}

static bool is_read_with_another(const char *name, const char *const *names, size_t count)
{
    size_t len = strlen(name);
    if (len < 4 || (strcmp(name + len - 4, ".run") && strcmp(name + len - 4, "fold"))) return false;
    for (size_t i = 0; i < count; i++)
        if (fp_is_aside(name, names[i])) return true;
    return false;
}

void fp_drop_aside(const char **names, size_t *count)
{
    size_t kept = 0, all = *count;
    for (size_t i = 0; i < all; i++)
        if (!is_read_with_another(names[i], names, all)) kept++;
    if (kept == all) return;
    const char **read = malloc(kept * sizeof *read);
    if (!read) abort();
    kept = 0;
    for (size_t i = 0; i < all; i++)
        if (!is_read_with_another(names[i], names, all)) read[kept++] = names[i];
    memcpy(names, read, kept * sizeof *read);
    free(read);
    *count = kept;
}
