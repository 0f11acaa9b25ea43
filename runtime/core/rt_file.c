/* Appends a record to the profile's file. A kill at any moment leaves the records that were
 * there before whole (footpath/profile_abi.h).
 *
 * One thread of the process writes at a time and takes no signals meanwhile (rt_signals.c,
 * rt_writer.c). While another process has the file locked, the thread gives its turn up and
 * tries again, with signals open, for one second in all. Then the run goes to a file of its
 * own (rt_aside.c).
 *
 * Not handled: file systems without flock are written to without a lock.
 */
#include "core/rt_call.h"
#include "core/rt_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* The signals that the thread which writes now has held. */
static struct rt_held *holding;
static int open_now = -1; /* the file while it is locked; the child of a fork closes it */

bool rt_write_at(int fd, const void *bytes, size_t len, off_t at)
{
    while (len) {
        ssize_t put = rt_pwrite(fd, bytes, len, (uint64_t)at);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) rt_note_raised(holding, errno);
        if (put <= 0) return false;
        bytes = (const char *)bytes + put;
        at += put;
        len -= (size_t)put;
    }
    return true;
}

/* ---- the header ---- */

uint32_t rt_commit_check(const struct fp_profile_commit *commit)
{
    return (uint32_t)rt_checksum(commit, offsetof(struct fp_profile_commit, check), 0);
}

static bool is_valid(const struct fp_profile_commit *commit, off_t size)
{
    return commit->check == rt_commit_check(commit) && commit->length <= (uint64_t)size &&
           commit->length >= sizeof(struct fp_profile_header);
}

void rt_new_header(struct fp_profile_header *header, uint64_t program, uint64_t id)
{
    *header = (struct fp_profile_header){.version = FP_PROFILE_VERSION,
                                         .oldest_reader = FP_PROFILE_OLDEST_READER,
                                         .program = program,
                                         .id = id};
    memcpy(header->magic, FP_PROFILE_MAGIC, sizeof header->magic);
    header->commits[0] = (struct fp_profile_commit){.length = sizeof *header, .sequence = 1};
    header->commits[0].check = rt_commit_check(&header->commits[0]);
}

/* Which build of which program a file belongs to. */
static uint64_t program_id(const struct rt_identity *program)
{
    return rt_checksum(program->build_id, program->build_id_len, 0);
}

enum put { PUT, LOCKED, NO_PROFILE, FAILED, NOTHING, BUSY };

/* Where another process has the file locked, only the fields that never change are used. */
static enum put read_header(struct rt_file *file, bool locked)
{
    struct fp_profile_header *header = &file->header;
    if (file->info.st_size == 0 && !locked) {
        *header = (struct fp_profile_header){0};
        return LOCKED;
    }
    if (file->info.st_size == 0) {
        rt_new_header(header, file->program,
                      rt_checksum(&rt_settings.run_id, 8, 1) & ~FP_PROFILE_ASIDE);
        file->is_new = true;
        file->info.st_size = sizeof *header;
        return rt_write_at(file->fd, header, sizeof *header, 0) ? PUT : FAILED;
    }
    const void *bytes = rt_window_at(file->window, file->fd, 0, sizeof *header);
    if (!bytes || memcmp(bytes, FP_PROFILE_MAGIC, sizeof header->magic)) return NO_PROFILE;
    memcpy(header, bytes, sizeof *header);
    if (header->oldest_reader > FP_PROFILE_VERSION) return NO_PROFILE;
    if (!locked) return LOCKED;
    bool any = is_valid(&header->commits[0], file->info.st_size) ||
               is_valid(&header->commits[1], file->info.st_size);
    return any ? PUT : NO_PROFILE;
}

/* ---- opening ---- */

/* Does the name still lead to the file that we locked? `footpath combine` replaces the file
 * while it holds the lock, and people remove files. The number of names does not always tell: on
 * networks and in user space an open file that is removed may keep a hidden one. */
static bool still_named(const struct rt_file *file)
{
    struct stat named;
    return lstat(file->path, &named) == 0 && file->info.st_ino == named.st_ino &&
           file->info.st_dev == named.st_dev;
}

static bool try_lock(int fd)
{
    int result;
    do result = rt_flock(fd, LOCK_EX | LOCK_NB);
    while (result < 0 && errno == EINTR);
    return result == 0 || errno != EWOULDBLOCK; /* a file system without locks: go on without */
}

/* Unlocks before it closes: a child of fork has the file open too, which would keep it
 * locked. A thread that is alone does not fork meanwhile. */
static void close_file(struct rt_file *file)
{
    if (file->fd < 0) return;
    int saved = errno;
    file->window->len = 0;
    if (!rt_has_one_thread()) rt_flock(file->fd, LOCK_UN);
    open_now = -1;
    rt_close(file->fd);
    file->fd = -1;
    errno = saved;
}

/* Reads the header of a file that we locked. *named: still_named. That costs a system call only
 * where there is a doubt: `footpath combine` sets FP_PROFILE_ASIDE in a profile before it puts
 * another in its place. Who removes or renames a file just now might have done so after us. */
static enum put read_locked(struct rt_file *file, bool *named)
{
    *named = file->info.st_nlink && (file->info.st_size || file->created || still_named(file));
    if (!*named) return NO_PROFILE;
    enum put opened = read_header(file, true);
    if (opened != PUT || file->header.id & FP_PROFILE_ASIDE) *named = still_named(file);
    return opened;
}

static enum put open_profile(struct rt_file *file)
{
    for (int tries = 0;; tries++) {
        file->fd = rt_open_followed(&file->name, &file->created, &file->problem);
        if (file->fd < 0) return FAILED;
        open_now = file->fd;
        bool locked = try_lock(file->fd);
        if (rt_fstat(file->fd, &file->info) < 0) return FAILED;
        if (rt_is_null(&file->info)) return NOTHING;
        file->problem = rt_why_not(file->path, &file->info);
        if (file->problem) return FAILED;
        if (!locked) return read_header(file, false);
        bool named;
        enum put opened = read_locked(file, &named);
        if (named) return opened;
        if (tries == 1000) return read_header(file, true); /* file numbers that never agree */
        close_file(file);
    }
}

/* A file that is no profile stays as it is; ours goes beside it. */
static RT_SELDOM enum put open_beside(struct rt_file *file)
{
    close_file(file);
    char other[RT_LONGEST_NAME];
    struct rt_text before = {other, 0, sizeof other};
    rt_text_add(&before, file->path);
    rt_text_add_char(&file->name, '.');
    rt_text_add_hex(&file->name, file->program >> 32, 8);
    enum put opened = open_profile(file);
    if (opened == PUT && file->is_new && rt_somebody_reads())
        rt_warn(other, " is not a profile; writing ", file->path, NULL);
    return opened;
}

/* ---- appending ---- */

static off_t end_of(const struct rt_file *file, int *last)
{
    const struct fp_profile_commit *commits = file->header.commits;
    bool first_valid = is_valid(&commits[0], file->info.st_size);
    bool second_valid = is_valid(&commits[1], file->info.st_size);
    *last = second_valid && (!first_valid || commits[1].sequence > commits[0].sequence);
    return (off_t)commits[*last].length;
}

static bool commit_length(struct rt_file *file, off_t length)
{
    int last;
    end_of(file, &last);
    struct fp_profile_commit commit = {
        .length = (uint64_t)length,
        .sequence = file->header.commits[last].sequence + 1,
    };
    commit.check = rt_commit_check(&commit);
    if (length > file->info.st_size) file->info.st_size = length;
    file->header.commits[!last] = commit;
    off_t place = (off_t)offsetof(struct fp_profile_header, commits) + (off_t)sizeof commit * !last;
    return rt_write_at(file->fd, &commit, sizeof commit, place);
}

uint64_t rt_file_end(const struct rt_file *file)
{
    int last;
    return (uint64_t)end_of(file, &last);
}

bool rt_append(struct rt_file *file, const void *record, size_t len)
{
    int last;
    off_t end = end_of(file, &last);
    rt_window_cut(file->window, (uint64_t)end);
    return rt_write_at(file->fd, record, len, end) && commit_length(file, end + (off_t)len);
}

/* The records that this module has written of the run that goes on. Each replaces the one
 * before, but the file must not grow for ever: from time to time the next record is written
 * where the first of them was, unless others have written behind them. */
static struct {
    uint64_t run_id;
    off_t start, end;
    unsigned count;
} mine;

enum { MOST_OF_MINE = 8 };

static bool take_back_mine(struct rt_file *file)
{
    int last;
    off_t end = end_of(file, &last);
    bool behind = mine.run_id == rt_settings.run_id && mine.count && mine.end == end;
    if (!behind) {
        mine.start = end;
        mine.count = 0;
        mine.run_id = rt_settings.run_id;
    } else if (mine.count >= MOST_OF_MINE) {
        if (!commit_length(file, mine.start)) return false;
        mine.count = 0;
    }
    return true;
}

static bool append_mine(struct rt_file *file, const struct rt_buffer *record)
{
    int last;
    if (!take_back_mine(file) || !rt_append(file, record->bytes, record->len)) return false;
    mine.end = end_of(file, &last);
    mine.count++;
    return true;
}

/* ---- one run of this module ---- */

struct writing {
    enum rt_why why;
    const struct rt_frame *frame;
    struct rt_buffer record;
    struct rt_file file;
    bool last_try; /* where the file is locked, the run goes beside it */
    bool aside;
};

/* KEY in the name of the run's file beside the profile. */
static uint64_t key_of_run(void)
{
    const struct rt_identity *id = rt_identity;
    return rt_checksum(id->path, strlen(id->path),
                       rt_checksum(id->build_id, id->build_id_len, rt_settings.run_id));
}

/* In a spool each module of each process has a file: nobody waits for another's lock, and the one
 * that takes files in knows whose is locked. Maps lie beside them (rt_map.c). */
static void name_in_spool(struct rt_text *name)
{
    rt_text_add(name, ".spool/");
    rt_text_add_hex(name, key_of_run(), 16);
    rt_text_add(name, ".prof");
}

void rt_profile_name(struct rt_text *name)
{
    rt_output_name(name, &rt_program);
    if (rt_output_is_store()) name_in_spool(name);
}

void rt_finish_record(struct rt_buffer *record)
{
    struct fp_record_header header;
    if (record->failed) return;
    memcpy(&header, record->bytes, sizeof header);
    header.length = record->len - sizeof header;
    header.checksum = rt_checksum(record->bytes + sizeof header, header.length, 0);
    memcpy(record->bytes, &header, sizeof header);
}

static void make_record(struct writing *w)
{
    struct fp_record_header header = {.magic = FP_RECORD_MAGIC, .type = FP_RECORD_RUN};
    rt_put_bytes(&w->record, &header, sizeof header);
    rt_put_run(&w->record, w->why, w->frame, rt_identity, &rt_program);
    rt_finish_record(&w->record);
}

static enum put put_record(struct writing *w)
{
    struct rt_file *file = &w->file;
    static bool is_aside; /* a dump of this run */
    enum put opened = open_profile(file);
    if (opened == NO_PROFILE) opened = open_beside(file);
    if (opened == LOCKED && w->last_try) {
        w->aside = is_aside =
            rt_put_aside(file, key_of_run(), w->record.bytes, w->record.len, &file->name);
        return w->aside ? PUT : FAILED;
    }
    if (opened != PUT) return opened;
    rt_writing()->lock_waited_ms = 0;
    if (file->header.id & FP_PROFILE_ASIDE || (file->is_new && !file->created)) rt_take_in(file);
    if (!append_mine(file, &w->record)) return FAILED;
    if (is_aside) rt_forget_aside(file, key_of_run());
    is_aside = false;
    rt_put_map(file);
    return PUT;
}

static void report(const struct writing *w, enum put put, int error)
{
    const char *path = w->file.path;
    if (put == NO_PROFILE)
        rt_warn(path, " is not a profile; nothing written", NULL);
    else if (put == BUSY)
        rt_warn(
            "another thread has not finished writing; the end of this run is not in the profile",
            NULL);
    else if (put == FAILED && w->record.failed)
        rt_warn("cannot write ", path, ": out of memory", NULL);
    else if (put == FAILED && w->file.problem)
        rt_warn(path, " ", w->file.problem, "; nothing written",
                rt_settings.privileged ? "" : "; set FOOTPATH_OUT to a file of your own", NULL);
    else if (put == FAILED)
        rt_warn("cannot write ", path, ": ", strerror(error),
                "; set FOOTPATH_OUT to a place that can be written", NULL);
    else if (put == PUT && (rt_settings.log || (w->aside && rt_somebody_reads())))
        rt_warn(w->aside ? "the profile is locked by another process; wrote " : "wrote ", path,
                NULL);
}

/* Takes the process's turn to write and tries once. */
static enum put write_once(struct writing *w)
{
    static uint64_t run_ended; /* the run whose last record is written: two threads may _exit */
    struct rt_held held;
    struct rt_window window;
    if (!rt_writer_begin(&held, w->why == RT_MEANWHILE))
        return w->why == RT_MEANWHILE ? NOTHING : BUSY;
    holding = &held;
    enum put put = NOTHING;
    char *path = rt_program.path + strlen(rt_program.path) + 1; /* in rt_near_names */
    path[0] = 0;
    window.at = window.len = 0; /* the bytes are read before they are looked at */
    w->file = (struct rt_file){.path = path,
                               .name = {path, 0, RT_LONGEST_NAME},
                               .fd = -1,
                               .window = &window,
                               .program = program_id(&rt_program)};
    if (run_ended != rt_settings.run_id && rt_output_wanted(&rt_program)) {
        rt_profile_name(&w->file.name);
        if (!w->record.len) make_record(w);
        put = w->record.failed ? FAILED : put_record(w);
        if (put == PUT && (w->why == RT_AT_END || w->why == RT_BY_SIGNAL))
            run_ended = rt_settings.run_id;
        if (put == PUT && w->why != RT_MEANWHILE) rt_live_written(); /* while it is locked */
    }
    int error = errno;
    close_file(&w->file);
    if (put != LOCKED) report(w, put, error);
    rt_writer_end(&held);
    return put;
}

static bool nothing_counts(void)
{
    return rt_this.ranges[RT_COUNTERS].start == rt_this.ranges[RT_COUNTERS].end &&
           rt_this.ranges[RT_TABLES].start == rt_this.ranges[RT_TABLES].end;
}

bool rt_write_profile(enum rt_why why, const struct rt_frame *frame)
{
    struct writing w = {.why = why, .frame = frame};
    uint64_t pending = 0;
    enum put put;
    if (nothing_counts() || rt_is_confined()) return true;
    while ((put = write_once(&w)) == LOCKED) w.last_try = !rt_writer_wait(&pending);
    rt_buffer_free(&w.record);
    rt_writer_honour(frame);
    return put == PUT || put == NOTHING;
}

void rt_file_after_fork(void)
{
    if (open_now >= 0) rt_close(open_now);
    open_now = -1;
}
