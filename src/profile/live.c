/* Reading live files: see live.h.
 *
 * The file is a part of a process's memory. Tables hold addresses, which are translated by where
 * the process had the file mapped. What is done here is what the runtime does when a program
 * ends: counters of all copies are added up, and the entries of all tables are listed
 * (runtime/core/rt_write.c, rt_hash.c).
 *
 * Nothing in the file is trusted. An address that leads out of the file ends that table: the
 * process found no room in the file, and said so. A process that runs may change the file while it
 * is read: what is checked is read once.
 */
#include "profile/live.h"

#include "base/io.h"
#include "base/vec.h"
#include "footpath/abi.h"
#include "footpath/live_abi.h"
#include "footpath/profile_abi.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- does the process run? ---- */

static bool read_header(int fd, struct fp_live_header *header)
{
    return pread(fd, header, sizeof *header, 0) == (ssize_t)sizeof *header;
}

static bool is_same_text(const char *path, const char *text, size_t size)
{
    char here[64] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, here, sizeof here - 1) : -1;
    if (fd >= 0) close(fd);
    size_t len = strnlen(text, size);
    return got > 0 && len && !strncmp(here, text, len);
}

/* Field 22 of /proc/PID/stat, or 0. The second field may hold anything, in brackets. */
static uint64_t start_of(uint32_t pid)
{
    char path[64], text[1024] = {0};
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) close(fd);
    char *at = got > 0 ? strrchr(text, ')') : NULL;
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* Where the mapping could not keep the lock. */
static enum fp_live_owner owner_by_process(const struct fp_live_header *header)
{
    struct stat space;
    if (!header->boot[0]) return FP_LIVE_OWNER_UNKNOWN;
    if (!is_same_text("/proc/sys/kernel/random/boot_id", header->boot, sizeof header->boot))
        return FP_LIVE_OWNER_GONE;
    if (stat("/proc/self/ns/pid", &space) < 0 || space.st_ino != header->pid_space)
        return FP_LIVE_OWNER_UNKNOWN;
    return start_of(header->pid) == header->pid_started ? FP_LIVE_OWNER_RUNS : FP_LIVE_OWNER_GONE;
}

enum fp_live_owner fp_live_owner(int fd)
{
    struct fp_live_header header;
    while (flock(fd, LOCK_SH | LOCK_NB) < 0) {
        if (errno == EINTR) continue;
        return errno == EWOULDBLOCK ? FP_LIVE_OWNER_RUNS : FP_LIVE_OWNER_UNKNOWN;
    }
    flock(fd, LOCK_UN);
    if (!read_header(fd, &header)) return FP_LIVE_OWNER_GONE; /* not one that somebody has mapped */
    return header.flags & FP_LIVE_LOCKED ? FP_LIVE_OWNER_GONE : owner_by_process(&header);
}

static bool has_ending(const char *name, const char *of, const char *ending)
{
    size_t len = strlen(of);
    if (strncmp(name, of, len) || name[len] != '.') return false;
    const char *key = name + len + 1;
    return strspn(key, "0123456789abcdef") == FP_LIVE_KEY_DIGITS &&
           !strcmp(key + FP_LIVE_KEY_DIGITS, ending);
}

bool fp_is_live_name(const char *name, const char *of)
{
    return has_ending(name, of, FP_LIVE_SUFFIX);
}

/* Between making the file and locking it a process takes some microseconds. */
bool fp_is_unborn_live(int fd, const char *name, const char *of)
{
    enum { LONG_AGO = 60 };
    struct stat info;
    return has_ending(name, of, FP_LIVE_SUFFIX ".new") && fstat(fd, &info) == 0 &&
           time(NULL) - info.st_mtim.tv_sec > LONG_AGO && flock(fd, LOCK_SH | LOCK_NB) == 0;
}

/* ---- the file as memory ---- */

struct live_image {
    const unsigned char *bytes;
    uint64_t len, base;
    const char *name;
    struct fp_arena *arena;
    struct fp_error *error;
    FP_VEC(struct fp_live_part) parts;
    uint64_t budget; /* words that may be read: nothing is read more than a few times */
};

/* The bytes at an offset, or NULL: not in the file. All that is read there is aligned to 8. */
static const void *at_offset(const struct live_image *image, uint64_t at, uint64_t len)
{
    return at % 8 == 0 && at <= image->len && len <= image->len - at ? image->bytes + at : NULL;
}

static const void *at_address(const struct live_image *image, uint64_t address, uint64_t len)
{
    return address >= image->base ? at_offset(image, address - image->base, len) : NULL;
}

static bool afford(struct live_image *image, uint64_t words)
{
    bool enough = words <= image->budget;
    image->budget -= enough ? words : image->budget;
    return enough;
}

static uint64_t word_at(const void *place)
{
    return __atomic_load_n((const uint64_t *)place, __ATOMIC_RELAXED);
}

static bool list_parts(struct live_image *image, uint64_t at)
{
    uint64_t most = image->len / FP_LIVE_PAGE;
    for (uint64_t lists = 0; at; lists++) {
        const struct fp_live_list *list = at_offset(image, at, sizeof *list);
        if (!list || lists > most)
            return fp_fail(image->error, image->name, "expected a list of parts at %" PRIu64, at);
        for (size_t i = 0; i < FP_LIVE_LIST_PARTS; i++) {
            if (__atomic_load_n(&list->parts[i].state, __ATOMIC_ACQUIRE) != FP_LIVE_READY) continue;
            struct fp_live_part part = list->parts[i];
            if (!at_offset(image, part.at, part.len) || !afford(image, part.len / 8))
                return fp_fail(image->error, image->name, "expected a part at %" PRIu64, part.at);
            fp_vec_push(image->arena, &image->parts, part);
        }
        at = word_at(&list->next);
    }
    return true;
}

/* ---- one module ---- */

struct live_reading {
    struct live_image *image;
    const struct fp_live_module *module;
    uint64_t *sums; /* of the counters of all copies */
    uint64_t nsums;
    FP_VEC(struct fp_table_count) tables;
    FP_VEC(struct fp_in_flight) left;
};

/* A place of the first thread's sections, in a copy. */
static const void *in_copy(const struct live_reading *r, const struct fp_live_part *copy,
                           uint64_t address, uint64_t len)
{
    uint64_t from = address - r->module->span;
    if (address < r->module->span || from > copy->len || len > copy->len - from) return NULL;
    return at_offset(r->image, copy->at + from, len);
}

static void add_counters(struct live_reading *r, const struct fp_live_part *copy)
{
    const uint64_t *words = in_copy(r, copy, r->module->counters, r->nsums * 8);
    if (!words || !afford(r->image, r->nsums)) return;
    for (uint64_t i = 0; i < r->nsums; i++) r->sums[i] += word_at(&words[i]);
}

static void add_entry(struct live_reading *r, uint64_t table, uint64_t path, uint64_t count)
{
    struct fp_table_count entry = {.table = table, .path = path, .count = count};
    if (count) fp_vec_push(r->image->arena, &r->tables, entry);
}

static void add_words(struct live_reading *r, uint64_t table, const uint64_t *words, uint64_t count)
{
    if (!words || !afford(r->image, count)) return;
    for (uint64_t i = 0; i < count; i++) add_entry(r, table, i, word_at(&words[i]));
}

/* The highest bit of a count: an array has the counts of this level, which it replaced. */
static const uint64_t CLOSED = UINT64_C(1) << 63;

static bool add_level(struct live_reading *r, uint64_t table, const struct fp_hash_level *level)
{
    uint64_t count = word_at(&level->mask) / sizeof(struct fp_hash_entry) + 1;
    uint64_t from = (uint64_t)((const unsigned char *)level->entries - r->image->bytes);
    if (!afford(r->image, count * 2) ||
        !at_offset(r->image, from, count * sizeof(struct fp_hash_entry)))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t key = word_at(&level->entries[i].key);
        if (key) add_entry(r, table, key - 1, word_at(&level->entries[i].count) & ~CLOSED);
    }
    return true;
}

/* A level, those that it replaced, and the further ones of each. More than these few there are
 * not: each is many times as large as the one before. */
static void add_levels(struct live_reading *r, uint64_t table, uint64_t address)
{
    enum { MOST = 64 };
    for (int i = 0; address && i < MOST; i++) {
        const struct fp_hash_level *level = at_address(r->image, address, sizeof *level), *more;
        if (!level || !add_level(r, table, level)) return;
        uint64_t next = word_at(&level->more);
        for (int k = 0; next && k < MOST; k++, next = word_at(&more->more)) {
            more = at_address(r->image, next, sizeof *more);
            if (!more || !add_level(r, table, more)) break;
        }
        address = word_at(&level->older);
    }
}

/* What is there now. It may be something else a moment later. */
static void read_once(void *to, const void *from, size_t len)
{
    for (size_t i = 0; i < len / 8; i++) ((uint64_t *)to)[i] = word_at((const uint64_t *)from + i);
}

static void add_table(struct live_reading *r, const struct fp_live_part *copy, uint64_t number)
{
    struct fp_hash_table table;
    uint64_t address = r->module->tables + number * FP_HASH_TABLE_SIZE;
    const void *place = in_copy(r, copy, address, sizeof table);
    if (!place) return;
    read_once(&table, place, sizeof table);
    add_words(r, number, in_copy(r, copy, table.direct, (uint64_t)table.ndirect * 8),
              table.direct ? table.ndirect : 0);
    if (!table.nsparse)
        add_levels(r, number, table.level);
    else if (table.level & FP_SPARSE_LEVELS)
        add_levels(r, number, table.level & ~(FP_SPARSE_LEVELS | FP_SPARSE_LASTING));
    else if (table.level)
        add_words(r, number, at_address(r->image, table.level, (uint64_t)table.nsparse * 8),
                  table.nsparse);
}

static void add_left(struct live_reading *r, const struct fp_live_part *part)
{
    const struct fp_live_left *entry = at_offset(r->image, part->at + 8, 0);
    for (uint64_t n = (part->len - 8) / sizeof *entry; entry && n; n--, entry++) {
        struct fp_in_flight left = {entry->function, entry->block, entry->reg, entry->count};
        if (__atomic_load_n(&entry->state, __ATOMIC_ACQUIRE) == FP_LIVE_LEFT_READY && left.count)
            fp_vec_push(r->image->arena, &r->left, left);
    }
}

static void add_part(struct live_reading *r, const struct fp_live_part *part)
{
    uint64_t tables = (r->module->tables_end - r->module->tables) / FP_HASH_TABLE_SIZE;
    if (part->kind == FP_LIVE_LEFT && part->len > 8) add_left(r, part);
    if (part->kind != FP_LIVE_COPY) return;
    add_counters(r, part);
    for (uint64_t i = 0; i < tables && afford(r->image, 1); i++) add_table(r, part, i);
}

/* ---- its record ---- */

/* The record without counts: what the runtime put at the start, with a time of the end. */
static bool decode_run(const struct live_image *image, const struct fp_live_module *m,
                       const unsigned char *begin, uint64_t end_ns, struct fp_run *run)
{
    struct fp_writer bytes = {0};
    fp_write_bytes(&bytes, begin, m->begin_len);
    fp_write_uint(&bytes, end_ns);
    fp_write_bytes(&bytes, begin + m->begin_len, m->about_len);
    for (int i = 0; i < 3; i++) fp_write_uint(&bytes, 0);
    unsigned char *kept = fp_arena_alloc(image->arena, bytes.len);
    memcpy(kept, bytes.bytes, bytes.len);
    struct fp_reader reader = {
        .bytes = kept, .len = bytes.len, .file = image->name, .error = image->error};
    fp_writer_free(&bytes);
    bool ok = fp_run_decode(image->arena, &reader, run);
    if (ok && run->end_ns < run->start_ns) run->end_ns = run->start_ns;
    return ok;
}

static void give_counters(struct live_reading *r, struct fp_run *run)
{
    size_t count = 0;
    for (uint64_t i = 0; i < r->nsums; i++) count += r->sums[i] != 0;
    run->counters = FP_NEW_ARRAY(r->image->arena, struct fp_counter, count);
    for (uint64_t i = 0; i < r->nsums; i++)
        if (r->sums[i]) run->counters[run->ncounters++] = (struct fp_counter){i, r->sums[i]};
}

static bool are_sections(const struct fp_live_module *m, const struct fp_run *run, uint64_t len)
{
    const struct fp_sections *s = &run->module.sections;
    return m->counters_end - m->counters == s->counters_size && s->counters_size <= len &&
           m->tables_end - m->tables == s->tables_size && s->tables_size <= len;
}

static bool read_module(struct live_image *image, const struct fp_live_part *part, uint64_t end_ns,
                        struct fp_run *run)
{
    struct fp_live_module m;
    const void *place = at_offset(image, part->at, sizeof m);
    uint64_t room = image->len - part->at - sizeof m;
    if (place) read_once(&m, place, sizeof m);
    if (!place || part->len < sizeof m || m.begin_len > room || m.about_len > room - m.begin_len)
        return fp_fail(image->error, image->name, "expected a module at %" PRIu64, part->at);
    if (!decode_run(image, &m, (const unsigned char *)place + sizeof m, end_ns, run)) return false;
    if (!are_sections(&m, run, image->len) ||
        !afford(image, run->module.sections.counters_size / 8))
        return fp_fail(image->error, image->name, "expected the sections of %s", run->module.path);
    struct live_reading r = {
        .image = image, .module = &m, .nsums = (m.counters_end - m.counters) / 8};
    r.sums = FP_NEW_ARRAY(image->arena, uint64_t, r.nsums);
    for (size_t i = 0; i < image->parts.len; i++)
        if (image->parts.at[i].module == part->at) add_part(&r, &image->parts.at[i]);
    give_counters(&r, run);
    run->tables = r.tables.at, run->ntables = r.tables.len;
    run->in_flight = r.left.at, run->nin_flight = r.left.len;
    return true;
}

static bool read_image(struct live_image *image, uint64_t end_ns, fp_live_callback *call,
                       void *context)
{
    const struct fp_live_header *header = at_offset(image, 0, sizeof *header);
    if (!header || memcmp(header->magic, FP_LIVE_MAGIC, sizeof header->magic))
        return fp_fail(image->error, image->name, "expected a live file");
    if (header->oldest_reader > FP_LIVE_VERSION)
        return fp_fail(image->error, image->name,
                       "a live file of version %" PRIu32 ", this footpath reads up to %d; use a "
                       "newer one",
                       header->version, FP_LIVE_VERSION);
    image->base = header->base;
    image->budget = 6 * (image->len / 8);
    if (!list_parts(image, word_at(&header->parts))) return false;
    for (size_t i = 0; i < image->parts.len; i++) {
        const struct fp_live_part *part = &image->parts.at[i];
        if (part->kind != FP_LIVE_MODULE) continue;
        const struct fp_live_module *m = at_offset(image, part->at, sizeof *m);
        if (m && word_at(&m->run) == FP_LIVE_WRITTEN) continue;
        struct fp_run run;
        if (!read_module(image, part, end_ns, &run)) return false;
        if (!call(image->arena, &run, m->earlier, context)) break;
    }
    return true;
}

bool fp_live_read(struct fp_arena *arena, int fd, const char *name, fp_live_callback *call,
                  void *context, uint64_t *outside, struct fp_error *error)
{
    struct stat info;
    struct fp_live_header header;
    if (fstat(fd, &info) < 0 || !read_header(fd, &header))
        return fp_fail(error, name, "expected a live file");
    size_t len = (size_t)info.st_size;
    void *bytes = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED) return fp_fail(error, name, "cannot map: %s", strerror(errno));
    struct live_image image = {
        .bytes = bytes, .len = len, .name = name, .arena = arena, .error = error};
    uint64_t end_ns = (uint64_t)info.st_mtim.tv_sec * 1000000000u + (uint64_t)info.st_mtim.tv_nsec;
    bool ok = read_image(&image, end_ns, call, context);
    *outside = ok ? header.outside : 0;
    munmap(bytes, len);
    return ok;
}

/* ---- of a running process ---- */

/* "start-end rights offset device inode path": a path that ends as live files do, from offset 0. */
static const char *live_path(char *line, uint64_t *inode)
{
    static const char ending[] = FP_LIVE_SUFFIX "\n";
    char *path = strchr(line, '/');
    size_t len = path ? strlen(path) : 0;
    if (len < sizeof ending || strcmp(path + len - (sizeof ending - 1), ending)) return NULL;
    path[len - 1] = 0;
    return sscanf(line, "%*s %*s %*s %*s %" SCNu64, inode) == 1 ? path : NULL;
}

/* A path of a process in a container is one of that container. One of a process that has changed
 * its root is one of ours. */
static const char *open_path(struct fp_arena *arena, uint64_t pid, const char *path, uint64_t inode)
{
    struct stat info;
    const char *inside = fp_arena_printf(arena, "/proc/%" PRIu64 "/root%s", pid, path);
    bool is_ours = stat(inside, &info) < 0 && stat(path, &info) == 0 && info.st_ino == inode;
    return is_ours ? fp_arena_strdup(arena, path) : inside;
}

/* The live file that the process has mapped, as a path that opens it. NULL with an error. */
static const char *file_of_process(struct fp_arena *arena, uint64_t pid, struct fp_error *error)
{
    char maps[64], *line = NULL;
    const char *found = NULL;
    uint64_t inode;
    size_t size = 0;
    snprintf(maps, sizeof maps, "/proc/%" PRIu64 "/maps", pid);
    FILE *file = fopen(maps, "re");
    if (!file) {
        fp_fail(error, maps, "%s", errno == ENOENT ? "there is no such process" : strerror(errno));
        return NULL;
    }
    while (!found && getline(&line, &size, file) > 0) {
        const char *path = live_path(line, &inode);
        if (path) found = open_path(arena, pid, path, inode);
    }
    free(line);
    fclose(file);
    if (!found)
        fp_fail(error, maps,
                "process %" PRIu64 " does not count in a live file; start it with FOOTPATH_LIVE=1",
                pid);
    return found;
}

struct going_runs {
    struct fp_writer *bytes;
    size_t count;
};

static bool put_run(struct fp_arena *arena, const struct fp_run *run, uint64_t earlier,
                    void *context)
{
    struct going_runs *runs = context;
    struct fp_writer payload = {0};
    struct fp_run going = *run;
    struct timespec now;
    (void)arena, (void)earlier;
    clock_gettime(CLOCK_REALTIME, &now);
    going.flags = FP_RUN_UNFINISHED;
    going.end_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    fp_run_encode(&payload, &going);
    fp_write_record(runs->bytes, FP_RECORD_RUN, &payload);
    fp_writer_free(&payload);
    runs->count++;
    return true;
}

bool fp_live_profile(uint64_t pid, struct fp_writer *bytes, struct fp_error *error)
{
    struct fp_arena arena = {0};
    struct going_runs runs = {bytes, 0};
    uint64_t outside;
    const char *path = file_of_process(&arena, pid, error);
    int fd = path ? fp_open_regular(path, error) : -1;
    fp_write_profile_header(bytes, 0, 0);
    bool ok = fd >= 0 && fp_live_read(&arena, fd, path, put_run, &runs, &outside, error);
    if (ok && !runs.count)
        ok = fp_fail(error, path, "process %" PRIu64 " ends: its counts are in its profile", pid);
    fp_write_commit(bytes);
    if (fd >= 0) close(fd);
    fp_arena_free(&arena);
    return ok;
}
