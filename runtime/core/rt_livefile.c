/* The live file (footpath/live_abi.h): made, mapped, grown, removed.
 *
 * The whole file is mapped once, with room to grow, and closed: a program may close or reuse any
 * descriptor. The lock that is taken before belongs to the mapping from then on. So the kernel
 * gives the lock up when the last process that has the file mapped is gone, however it ended, and
 * a tool that gets the lock knows that nobody counts in the file any more.
 *
 * Nothing is written to pages that the file system has not promised (fallocate): a full disk is
 * noticed when room is taken, and not as a SIGBUS in the program. To grow, the file is opened
 * again by its name.
 *
 * Not handled: file systems on networks and in user space, where mappings of several processes
 * may not agree; the file is refused there. Behind a seccomp filter the file does not grow.
 */
#include "core/rt_call.h"
#include "core/rt_file.h"
#include "footpath/live_abi.h"

#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { PAGE = FP_LIVE_PAGE, FIRST_BYTES = 1 << 18, MOST_MORE = 1 << 24, LONGEST = RT_LONGEST_NAME };

#ifndef RT_IN_EXECUTABLE

/* An array takes as much of the disk as it has paths. Beyond this there are hash tables. */
static const uint64_t MOST_FOR_ARRAYS = (uint64_t)8 << 30;

/* ---- may the file lie there? ---- */

static bool is_remote(uint64_t type)
{
    static const uint32_t remote[] = {
        0x6969,     0x517b,     0xff534d42,
        0xfe534d42, 0x65735546, 0x01021997, /* nfs smb fuse 9p */
        0x00c36400, 0x5346414f, 0x6b414653,
        0x73757245, 0x0bd00bd0, 0x47504653, /* ceph afs ... */
    };
    for (size_t i = 0; i < sizeof remote / sizeof *remote; i++)
        if ((uint32_t)type == remote[i]) return true;
    return false;
}

/* Never takes more than half of what is free: the program has use for the disk, too. A file that
 * is longer than the program may write raises a signal. */
static const char *why_no_room(int fd, uint64_t size, uint64_t more)
{
    struct statfs about;
    struct rlimit limit;
    if (syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) == 0 && size + more > limit.rlim_cur)
        return "the program may not write files that large";
    if (rt_call(SYS_fstatfs, (uint64_t)fd, (uintptr_t)&about, 0, 0) < 0) return strerror(errno);
    if (is_remote((uint64_t)about.f_type)) return "it is on a network or in user space";
    if (about.f_bavail * (uint64_t)about.f_bsize / 2 < more) return "the disk is nearly full";
    return NULL;
}

/* Zeros are appended, never written to a place: another thread may have made the file as long
 * meanwhile, and may count there. */
static const char *append_zeros(int fd, uint64_t size)
{
    static const char zeros[PAGE];
    struct stat info;
    rt_call(SYS_fcntl, (uint64_t)fd, F_SETFL, O_APPEND, 0);
    for (;;) {
        if (rt_fstat(fd, &info) < 0) return strerror(errno);
        if ((uint64_t)info.st_size >= size) return NULL;
        if (rt_call(SYS_write, (uint64_t)fd, (uintptr_t)zeros, PAGE, 0) <= 0) return "cannot write";
    }
}

/* Where the file system makes no promises, zeros are written. */
static const char *promise(int fd, uint64_t from, uint64_t len)
{
    if (syscall(SYS_fallocate, fd, 0, from, len) == 0) return NULL;
    if (errno != EOPNOTSUPP && errno != ENOSYS) return strerror(errno);
    return append_zeros(fd, from + len);
}

/* ---- growing ---- */

static RT_SELDOM void complain(struct rt_live *live, const char *why)
{
    __atomic_fetch_add(&live->head->outside, 1, __ATOMIC_RELAXED);
    if (!__atomic_exchange_n(&live->complained, 1, __ATOMIC_RELAXED))
        rt_warn(live->head->path, " cannot grow: ", why,
                "; what is counted from here on may be lost if the program is killed", NULL);
}

/* The file by its name, if it still has the name; or -1. */
static int open_again(const struct fp_live_header *head)
{
    struct stat info;
    int fd = rt_open(head->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd >= 0 && rt_fstat(fd, &info) == 0 && info.st_ino == head->inode &&
        info.st_dev == head->device)
        return fd;
    if (fd >= 0) rt_close(fd);
    return -1;
}

static void raise_to(uint64_t *word, uint64_t value)
{
    uint64_t old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (old < value && !__atomic_compare_exchange_n(word, &old, value, false, __ATOMIC_ACQ_REL,
                                                       __ATOMIC_RELAXED))
        continue;
}

/* Several threads, and handlers, may do so at once: promises may overlap. */
static const char *grow(struct fp_live_header *head, uint64_t end)
{
    uint64_t have = __atomic_load_n(&head->allocated, __ATOMIC_ACQUIRE), more = have;
    if (end <= have) return NULL;
    if (rt_is_confined()) return "the program has confined itself";
    if (more > MOST_MORE) more = MOST_MORE;
    int fd = open_again(head);
    if (fd < 0) return "the file is gone or cannot be opened";
    uint64_t want = end > have + more ? end : have + more;
    const char *why = why_no_room(fd, have, want - have);
    if (!why) why = promise(fd, have, want - have);
    if (why && want > end) {
        want = end;
        why = why_no_room(fd, have, want - have);
        if (!why) why = promise(fd, have, want - have);
    }
    rt_close(fd);
    if (!why) raise_to(&head->allocated, want);
    return why;
}

void *rt_live_take(size_t size)
{
    struct rt_live *live = rt_this.process ? &rt_this.process->core.live : NULL;
    struct fp_live_header *head = live ? __atomic_load_n(&live->head, __ATOMIC_ACQUIRE) : NULL;
    int saved = errno;
    if (!head) return NULL;
    size = (size + PAGE - 1) & ~(size_t)(PAGE - 1);
    uint64_t at = __atomic_load_n(&head->used, __ATOMIC_RELAXED);
    const char *why = "it is too large";
    do why = at + size > live->size ? why : grow(head, at + size);
    while (!why && !__atomic_compare_exchange_n(&head->used, &at, at + size, false,
                                                __ATOMIC_ACQ_REL, __ATOMIC_RELAXED));
    if (why) complain(live, why);
    errno = saved;
    return why ? NULL : (char *)head + at;
}

void *rt_live_take_array(size_t size)
{
    const struct fp_live_header *head = rt_this.process->core.live.head;
    return head->used + size <= MOST_FOR_ARRAYS ? rt_live_take(size) : NULL;
}

/* Pages that were promised and not written to are holes for the file system. */
char *rt_live_next_data(int *fd, char *at, char *end)
{
    const struct fp_live_header *head = rt_this.process->core.live.head;
    if (*fd < 0) *fd = open_again(head);
    if (*fd < 0) return at;
    long next =
        rt_call(SYS_lseek, (uint64_t)*fd, (uint64_t)(at - (const char *)head), SEEK_DATA, 0);
    if (next < 0) return errno == ENXIO ? end : at;
    char *place = (char *)head + next;
    return place < at ? at : place < end ? place : end;
}

bool rt_live_holds(const void *place)
{
    const struct rt_live *live = rt_this.process ? &rt_this.process->core.live : NULL;
    return live && live->head && (uintptr_t)place - (uintptr_t)live->head < live->size;
}

/* ---- parts ---- */

static struct fp_live_list *next_list(uint64_t *link, const struct fp_live_header *head)
{
    uint64_t here = __atomic_load_n(link, __ATOMIC_ACQUIRE);
    if (here) return (struct fp_live_list *)((char *)head + here);
    char *made = rt_live_take(sizeof(struct fp_live_list));
    if (!made) return NULL;
    uint64_t at = (uint64_t)(made - (const char *)head);
    if (__atomic_compare_exchange_n(link, &here, at, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return (struct fp_live_list *)made;
    return (struct fp_live_list *)((char *)head + here);
}

struct fp_live_part *rt_livefile_part(const struct rt_live *live)
{
    uint64_t *link = &live->head->parts;
    for (struct fp_live_list *list; (list = next_list(link, live->head)); link = &list->next) {
        uint64_t at = __atomic_load_n(&list->taken, __ATOMIC_RELAXED);
        while (at < FP_LIVE_LIST_PARTS)
            if (__atomic_compare_exchange_n(&list->taken, &at, at + 1, false, __ATOMIC_ACQ_REL,
                                            __ATOMIC_RELAXED)) {
                __atomic_store_n(&list->parts[at].state, FP_LIVE_BUSY, __ATOMIC_RELAXED);
                return &list->parts[at];
            }
    }
    return NULL;
}

/* ---- making it ---- */

/* NAME.KEY.live.new, where `name` is NAME or a link to it. */
static const char *name_file(struct rt_text *name)
{
    const char *problem = rt_follow_links(name);
    rt_text_add_char(name, '.');
    rt_text_add_hex(name, rt_settings.run_id, FP_LIVE_KEY_DIGITS);
    rt_text_add(name, FP_LIVE_SUFFIX ".new");
    return problem;
}

/* Far below programs and libraries: what is within some 4 GB steps of them is for the copies of
 * threads, and a library that is loaded later must find its place in each copy. The last places are
 * for sanitizers, which have other memory at the first. Only valgrind has none of these. */
static long map_apart(int fd, uint64_t size)
{
    static const uint64_t places[] = {(uint64_t)1 << 40,  (uint64_t)2 << 40, (uint64_t)3 << 40,
                                      (uint64_t)4 << 40,  (uint64_t)1 << 39, (uint64_t)17 << 40,
                                      (uint64_t)18 << 40, (uint64_t)19 << 40};
    long got = -1;
    for (size_t i = 0; i < sizeof places / sizeof *places && got == -1; i++)
        got = syscall(SYS_mmap, places[i], size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd, 0L);
    if (got == -1 && rt_under_valgrind())
        got = syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
                      0L);
    return got;
}

/* How much address space the file may take. Of a program under a limit (ulimit -v) little: the rest
 * is the program's. */
static uint64_t address_space(void)
{
    enum { SHARE = 32 };
    struct rlimit limit;
    uint64_t most = rt_under_valgrind() ? (uint64_t)1 << 28 : (uint64_t)1 << 36;
    if (syscall(SYS_prlimit64, 0, RLIMIT_AS, NULL, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return most;
    uint64_t share = limit.rlim_cur / SHARE / PAGE * PAGE;
    return share < most ? share : most;
}

/* The largest piece of it that is to be had. */
static void *map_file(int fd, uint64_t *size)
{
    for (*size = address_space(); *size >= FIRST_BYTES; *size = *size / 4 / PAGE * PAGE) {
        long got = map_apart(fd, *size);
        if (got == -1) continue;
        syscall(SYS_munlock, got, *size);
        syscall(SYS_madvise, got, *size, MADV_DONTDUMP);
        /* pages around one that is touched stay holes */
        syscall(SYS_madvise, got, *size, MADV_RANDOM);
        return (void *)got;
    }
    return NULL;
}

/* Does the mapping keep the lock, now that the file is closed? On overlays it belongs to another
 * file. */
static bool lock_is_kept(const struct fp_live_header *head)
{
    int fd = open_again(head);
    if (fd < 0) return false;
    bool kept = rt_flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
    rt_close(fd);
    return kept;
}

static ssize_t read_text(const char *name, char *text, size_t size)
{
    int fd = rt_open(name, O_RDONLY | O_CLOEXEC, 0);
    ssize_t got = fd >= 0 ? rt_pread(fd, text, size - 1, 0) : 0;
    if (fd >= 0) rt_close(fd);
    text[got > 0 ? got : 0] = 0;
    return got;
}

/* By which a tool knows whether this very process runs. The name of the program in its second
 * field may hold anything. */
static RT_SELDOM void note_process(struct fp_live_header *head)
{
    char text[1024];
    struct stat space;
    read_text("/proc/sys/kernel/random/boot_id", head->boot, sizeof head->boot);
    if (stat("/proc/self/ns/pid", &space) == 0) head->pid_space = space.st_ino;
    read_text("/proc/self/stat", text, sizeof text);
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    for (at = at ? at + 1 : ""; *at >= '0' && *at <= '9'; at++)
        head->pid_started = head->pid_started * 10 + (uint64_t)(*at - '0');
}

/* The file has its name when it is whole: NAME.KEY.live.new before. */
static const char *fill_in(struct rt_live *live, int fd, const char *path)
{
    struct stat info;
    uint64_t size;
    const char *why = why_no_room(fd, 0, FIRST_BYTES);
    if (!why) why = promise(fd, 0, FIRST_BYTES);
    if (why) return why;
    if (rt_flock(fd, LOCK_EX | LOCK_NB) < 0) return "it cannot be locked";
    if (rt_fstat(fd, &info) < 0) return strerror(errno);
    struct fp_live_header *head = map_file(fd, &size);
    if (!head) return "no address space";
    struct rt_text name = {head->path, 0, sizeof head->path};
    *head = (struct fp_live_header){.version = FP_LIVE_VERSION,
                                    .oldest_reader = FP_LIVE_OLDEST_READER,
                                    .pid = (uint32_t)rt_settings.pid,
                                    .run_id = rt_settings.run_id,
                                    .base = (uint64_t)head,
                                    .used = sizeof *head,
                                    .allocated = FIRST_BYTES,
                                    .inode = info.st_ino,
                                    .device = info.st_dev};
    _Static_assert(sizeof *head <= PAGE, "the first page");
    head->used = PAGE;
    rt_text_add(&name, path);
    *live = (struct rt_live){.head = head, .size = size, .tried = 1};
    return NULL;
}

/* /dev/null takes no profile, and its folder no file. */
static bool is_nowhere(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && rt_is_null(&info);
}

bool rt_livefile_make(struct rt_live *live)
{
    char path[LONGEST];
    struct rt_text name = {path, 0, sizeof path};
    struct rt_live made = {0};
    path[0] = 0;
    rt_profile_name(&name);
    if (is_nowhere(path)) return false;
    const char *why = name_file(&name);
    if (!why && name.len >= sizeof made.head->path) why = "the name is too long";
    int fd = why ? -1 : rt_create_with_folder(path, O_RDWR);
    if (!why && fd < 0) why = strerror(errno);
    if (!why) why = fill_in(&made, fd, path);
    if (fd >= 0) rt_close(fd);
    if (fd >= 0 && why) unlink(path);
    if (why) {
        rt_warn("cannot count in ", path, ": ", why, "; counts are lost if the program is killed",
                NULL);
        return false;
    }
    if (lock_is_kept(made.head))
        made.head->flags |= FP_LIVE_LOCKED;
    else
        note_process(made.head);
    *live = made;
    return true;
}

bool rt_livefile_publish(struct rt_live *live)
{
    struct fp_live_header *head = live->head;
    char path[sizeof head->path];
    size_t len = strlen(head->path) - (sizeof ".new" - 1);
    memcpy(path, head->path, len);
    path[len] = 0;
    memcpy(head->magic, FP_LIVE_MAGIC, sizeof head->magic);
    if (rename(head->path, path) < 0) return false;
    head->path[len] = 0;
    return true;
}

void rt_livefile_remove(const struct rt_live *live)
{
    int fd = open_again(live->head);
    if (fd < 0) return;
    unlink(live->head->path);
    rt_close(fd);
}

#endif
