/* The profile file: a record is appended in a way that a kill at any moment leaves what
 * was there before whole (footpath/profile_abi.h). */
#include "footpath/profile_abi.h"
#include "rt.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool write_at(int fd, const void *bytes, size_t len, off_t at)
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

static uint32_t commit_check(const struct fp_profile_commit *commit)
{
    return (uint32_t)rt_checksum(commit, offsetof(struct fp_profile_commit, check), 0);
}

static bool is_valid(const struct fp_profile_commit *commit, off_t size)
{
    return commit->check == commit_check(commit) && commit->length <= (uint64_t)size &&
           commit->length >= sizeof(struct fp_profile_header);
}

/* Which build of which program a file belongs to. */
static uint64_t program_id(const struct rt_identity *program)
{
    return rt_checksum(program->build_id, program->build_id_len, 0);
}

enum opened { OPENED, OTHER_BUILD, FAILED };

/* Is the file that was locked still the one of that name? `footpath combine` puts a
 * new one in its place while it holds the lock, and people remove files. */
static bool still_named(int fd, const char *name)
{
    struct stat held, named;
    return fstat(fd, &held) < 0 ||
           (stat(name, &named) == 0 && held.st_ino == named.st_ino && held.st_dev == named.st_dev);
}

static int open_and_lock(const char *name)
{
    for (int tries = 0;; tries++) {
        int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) return fd;
        while (flock(fd, LOCK_EX) < 0)
            if (errno != EINTR) return fd; /* a file system without locks: go on without */
        if (still_named(fd, name) || tries == 1000) return fd; /* file numbers that never agree */
        close(fd);
    }
}

/* Opens and locks; reads or writes the header. */
static enum opened open_profile(const char *name, uint64_t program, struct fp_profile_header *header,
                                int *fd)
{
    *fd = open_and_lock(name);
    if (*fd < 0) return FAILED;
    struct stat info;
    if (fstat(*fd, &info) < 0) return FAILED;
    if (info.st_size == 0) {
        *header = (struct fp_profile_header){.version = FP_PROFILE_VERSION,
                                             .oldest_reader = FP_PROFILE_OLDEST_READER,
                                             .program = program};
        memcpy(header->magic, FP_PROFILE_MAGIC, sizeof header->magic);
        header->commits[0] = (struct fp_profile_commit){.length = sizeof *header, .sequence = 1};
        header->commits[0].check = commit_check(&header->commits[0]);
        return write_at(*fd, header, sizeof *header, 0) ? OPENED : FAILED;
    }
    if (pread(*fd, header, sizeof *header, 0) != sizeof *header ||
        memcmp(header->magic, FP_PROFILE_MAGIC, sizeof header->magic) ||
        header->oldest_reader > FP_PROFILE_VERSION || header->program != program)
        return OTHER_BUILD;
    bool any = is_valid(&header->commits[0], info.st_size) || is_valid(&header->commits[1], info.st_size);
    return any ? OPENED : OTHER_BUILD;
}

/* What this module wrote of a run that goes on: nobody needs it when there is a later
 * one. The file must not grow for ever, so from time to time the next goes where the
 * first of them was, if nobody has written behind them. */
static struct {
    uint64_t run_id;
    off_t start, end;
    unsigned count;
} mine;

enum { MOST_OF_MINE = 8 };

static bool commit_length(int fd, struct fp_profile_header *header, int *last, off_t length)
{
    struct fp_profile_commit commit = {
        .length = (uint64_t)length,
        .sequence = header->commits[*last].sequence + 1,
    };
    commit.check = commit_check(&commit);
    *last = !*last;
    header->commits[*last] = commit;
    off_t place = (off_t)offsetof(struct fp_profile_header, commits) + (off_t)sizeof commit * *last;
    return write_at(fd, &commit, sizeof commit, place);
}

static bool take_back_mine(int fd, struct fp_profile_header *header, int *last, off_t *end)
{
    bool behind = mine.run_id == rt_settings.run_id && mine.count && mine.end == *end;
    if (!behind) {
        mine.start = *end;
        mine.count = 0;
        mine.run_id = rt_settings.run_id;
    } else if (mine.count >= MOST_OF_MINE) {
        if (!commit_length(fd, header, last, mine.start)) return false;
        *end = mine.start;
        mine.count = 0;
    }
    return true;
}

/* Appends behind the last whole record, then commits. */
static bool append(int fd, struct fp_profile_header *header, const struct rt_buffer *payload)
{
    struct stat info;
    if (fstat(fd, &info) < 0) return false;
    bool first_valid = is_valid(&header->commits[0], info.st_size);
    bool second_valid = is_valid(&header->commits[1], info.st_size);
    int last = second_valid && (!first_valid || header->commits[1].sequence > header->commits[0].sequence);
    off_t end = (off_t)header->commits[last].length;
    if (!take_back_mine(fd, header, &last, &end)) return false;
    struct fp_record_header record = {
        .magic = FP_RECORD_MAGIC,
        .type = FP_RECORD_RUN,
        .length = payload->len,
        .checksum = rt_checksum(payload->bytes, payload->len, 0),
    };
    if (!write_at(fd, &record, sizeof record, end) ||
        !write_at(fd, payload->bytes, payload->len, end + (off_t)sizeof record))
        return false;
    mine.end = end + (off_t)sizeof record + (off_t)payload->len;
    mine.count++;
    return commit_length(fd, header, &last, mine.end);
}

/* Another build's profile stays as it is; ours goes beside it. */
static enum opened open_beside(struct rt_text *name, uint64_t program,
                               struct fp_profile_header *header, int *fd)
{
    enum opened opened = open_profile(name->at, program, header, fd);
    if (opened != OTHER_BUILD) return opened;
    close(*fd);
    char other[4200];
    struct rt_text before = {other, 0, sizeof other};
    rt_text_add(&before, name->at);
    rt_text_add_char(name, '.');
    rt_text_add_hex(name, program >> 32, 8);
    bool is_new = access(name->at, F_OK) < 0;
    opened = open_profile(name->at, program, header, fd);
    /* For people only: a program whose stderr somebody reads (Tcl's exec takes any
     * word there for a failure) must not say more than it did. */
    if (opened == OPENED && is_new && (rt_settings.log || isatty(STDERR_FILENO)))
        rt_warn(other, " is of another build; writing ", name->at, NULL);
    return opened;
}

/* One at a time. A signal that kills the program may find us writing: then it waits in
 * vain, and writes anyway. */
static void begin_writing(uint32_t *writing)
{
    enum { WAIT_MS = 1000 };
    for (int ms = 0; __atomic_exchange_n(writing, 1, __ATOMIC_ACQUIRE) && ms < WAIT_MS; ms++) {
        struct timespec moment = {0, 1000000};
        nanosleep(&moment, NULL);
    }
}

bool rt_write_profile(enum rt_why why, const struct rt_frame *frame)
{
    static uint32_t writing;
    static char path[4400];
    struct rt_text name = {path, 0, sizeof path};
    struct rt_buffer payload = {0};
    struct fp_profile_header header;
    int fd = -1;
    if (rt_this.ranges[RT_COUNTERS].start == rt_this.ranges[RT_COUNTERS].end &&
        rt_this.ranges[RT_TABLES].start == rt_this.ranges[RT_TABLES].end)
        return true; /* nothing instrumented was linked */
    begin_writing(&writing);
    path[0] = 0;
    if (!rt_output_wanted(&rt_program)) {
        __atomic_store_n(&writing, 0, __ATOMIC_RELEASE);
        return true;
    }
    rt_output_name(&name, &rt_program);
    rt_put_run(&payload, why, frame, &rt_identity, &rt_program);
    enum opened opened = open_beside(&name, program_id(&rt_program), &header, &fd);
    bool ok = opened == OPENED && !payload.failed && append(fd, &header, &payload);
    if (opened == OTHER_BUILD)
        rt_warn(path, " is not a profile of this build; nothing written", NULL);
    else if (!ok)
        rt_warn("cannot write ", path, ": ", payload.failed ? "out of memory" : strerror(errno),
                "; set FOOTPATH_OUT to a place that can be written", NULL);
    else if (rt_settings.log)
        rt_warn("wrote ", path, NULL);
    if (fd >= 0) close(fd);
    rt_buffer_free(&payload);
    __atomic_store_n(&writing, 0, __ATOMIC_RELEASE);
    return ok;
}
