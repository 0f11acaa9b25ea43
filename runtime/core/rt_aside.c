/* Writes a run beside a profile that another process keeps locked: NAME.KEY.run, where KEY
 * stands for run and module. Such a file is a profile of one record. Tools read it together
 * with NAME (src/profile/aside.c). The next run that has the lock takes it in.
 *
 * A file is taken in once: it is renamed to NAME.KEY.fold, its record is appended and
 * committed, then the file is removed. A process that finds a .fold file cannot know
 * whether its record is in the profile, and leaves it to the tools, which compare records.
 *
 * A run looks for such files only where the profile's header has FP_PROFILE_ASIDE. The
 * process that writes a file sets that bit, without the lock: nothing else changes these
 * 8 bytes.
 *
 * Not handled: at most MOST_TAKEN files are taken in at a time; later runs take the rest.
 */
#include "core/rt_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { KEY_DIGITS = 16, MOST_TAKEN = 64, LARGEST = 1 << 30 };

static void name_aside(struct rt_text *name, const char *profile, uint64_t key, const char *ending)
{
    name->len = 0;
    rt_text_add(name, profile);
    rt_text_add_char(name, '.');
    rt_text_add_hex(name, key, KEY_DIGITS);
    rt_text_add(name, ending);
}

static bool mark(const struct rt_file *profile, uint64_t id)
{
    return rt_write_at(profile->fd, &id, sizeof id, offsetof(struct fp_profile_header, id));
}

/* ---- writing one ---- */

bool rt_write_new(const char *name, const struct fp_profile_header *header, const void *record,
                  size_t len)
{
    int fd = rt_create(name, O_WRONLY);
    if (fd < 0 && errno == EEXIST && unlink(name) == 0) fd = rt_create(name, O_WRONLY);
    if (fd < 0) return false;
    bool ok =
        rt_write_at(fd, header, sizeof *header, 0) && rt_write_at(fd, record, len, sizeof *header);
    int saved = errno;
    close(fd);
    if (!ok) unlink(name);
    errno = saved;
    return ok;
}

bool rt_put_aside(const struct rt_file *profile, uint64_t key, const void *record, size_t len,
                  struct rt_text *name)
{
    char path[RT_LONGEST_NAME], new_path[RT_LONGEST_NAME];
    struct rt_text ready = {path, 0, sizeof path}, new_one = {new_path, 0, sizeof new_path};
    struct fp_profile_header header;
    name_aside(&ready, profile->path, key, ".run");
    name_aside(&new_one, profile->path, key, ".new");
    rt_new_header(&header, profile->program, profile->header.id & ~FP_PROFILE_ASIDE);
    header.commits[0].length += len;
    header.commits[0].check = rt_commit_check(&header.commits[0]);
    bool ok = rt_write_new(new_path, &header, record, len) && rename(new_path, path) == 0;
    bool has_header = profile->header.version != 0;
    if (ok && has_header) mark(profile, profile->header.id | FP_PROFILE_ASIDE);
    name->len = 0;
    rt_text_add(name, path);
    return ok;
}

void rt_forget_aside(const struct rt_file *profile, uint64_t key)
{
    char path[RT_LONGEST_NAME];
    struct rt_text name = {path, 0, sizeof path};
    name_aside(&name, profile->path, key, ".run");
    unlink(path);
}

/* ---- taking them in ---- */

static bool read_all(int fd, struct rt_buffer *into)
{
    char bytes[4096];
    ssize_t got;
    while ((got = read(fd, bytes, sizeof bytes)) > 0 && into->len < LARGEST)
        rt_put_bytes(into, bytes, (size_t)got);
    return got == 0 && !into->failed;
}

/* A whole profile of one record, written beside this very profile (or
 * when that was empty: then its id was not known). */
static bool fits(const struct rt_file *profile, const struct rt_buffer *file)
{
    struct fp_profile_header header;
    struct fp_record_header record;
    if (file->len < sizeof header + sizeof record) return false;
    memcpy(&header, file->bytes, sizeof header);
    memcpy(&record, file->bytes + sizeof header, sizeof record);
    return !memcmp(header.magic, FP_PROFILE_MAGIC, sizeof header.magic) &&
           header.version == FP_PROFILE_VERSION &&
           (!header.id || header.id == (profile->header.id & ~FP_PROFILE_ASIDE)) &&
           header.commits[0].check == rt_commit_check(&header.commits[0]) &&
           header.commits[0].length == file->len && record.magic == FP_RECORD_MAGIC &&
           record.type == FP_RECORD_RUN &&
           record.length == file->len - sizeof header - sizeof record &&
           record.checksum ==
               rt_checksum(file->bytes + sizeof header + sizeof record, record.length, 0);
}

static bool read_aside(const struct rt_file *profile, const char *name, struct rt_buffer *into)
{
    struct stat info;
    int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return false;
    bool ok = fstat(fd, &info) == 0 && !rt_why_not(name, &info) && read_all(fd, into) &&
              fits(profile, into);
    close(fd);
    return ok;
}

static bool take_one(struct rt_file *profile, uint64_t key)
{
    char path[RT_LONGEST_NAME], claimed[RT_LONGEST_NAME];
    struct rt_text name = {path, 0, sizeof path}, claim = {claimed, 0, sizeof claimed};
    struct rt_buffer file = {0};
    name_aside(&name, profile->path, key, ".run");
    name_aside(&claim, profile->path, key, ".fold");
    bool ok =
        read_aside(profile, path, &file) && access(claimed, F_OK) < 0 && rename(path, claimed) == 0;
    if (ok) {
        size_t head = sizeof(struct fp_profile_header);
        ok = rt_append(profile, file.bytes + head, file.len - head);
        if (ok)
            unlink(claimed);
        else
            rename(claimed, path);
    }
    rt_buffer_free(&file);
    return ok;
}

/* Is the entry a file NAME.KEY.run beside the profile? Then *key is its KEY. */
static bool key_in(const char *entry, const char *base, uint64_t *key)
{
    size_t len = strlen(base);
    if (strncmp(entry, base, len) || entry[len] != '.' ||
        strlen(entry) != len + 1 + KEY_DIGITS + 4 || strcmp(entry + len + 1 + KEY_DIGITS, ".run"))
        return false;
    *key = 0;
    for (size_t i = 0; i < KEY_DIGITS; i++) {
        const char *digits = "0123456789abcdef", *digit = strchr(digits, entry[len + 1 + i]);
        if (!digit) return false;
        *key = *key << 4 | (uint64_t)(digit - digits);
    }
    return true;
}

struct found_keys {
    const char *base; /* name of the profile without its folder */
    uint64_t keys[MOST_TAKEN];
    size_t count;
};

static bool find_key(const char *entry, void *context)
{
    struct found_keys *found = context;
    if (found->count == MOST_TAKEN || !key_in(entry, found->base, &found->keys[found->count]))
        return false;
    found->count++;
    return true;
}

static void find_keys(const struct rt_file *profile, struct found_keys *found)
{
    char folder[RT_LONGEST_NAME];
    struct rt_text text = {folder, 0, sizeof folder};
    const char *slash = strrchr(profile->path, '/');
    found->base = slash ? slash + 1 : profile->path;
    found->count = 0;
    rt_folder_of(&text, profile->path);
    rt_each_entry(folder, find_key, found);
}

/* Clears FP_PROFILE_ASIDE first: a file that is made later sets it again. Where files may be
 * left, the bit is set again at the end. */
void rt_take_in(struct rt_file *profile)
{
    struct found_keys found;
    uint64_t id = profile->header.id & ~FP_PROFILE_ASIDE;
    if (!mark(profile, id)) return;
    find_keys(profile, &found);
    size_t taken = 0;
    for (size_t i = 0; i < found.count; i++) taken += take_one(profile, found.keys[i]);
    if (found.count == MOST_TAKEN && taken) mark(profile, id | FP_PROFILE_ASIDE);
}
