/* What several files ask the kernel: what time it is, a short sleep,
 * the entries of a folder, memory for a table.
 *
 * Not handled: a sleep that a signal ends early is not continued; the callers sleep in loops.
 * A folder that changes while it is read may give an entry twice or not at all.
 */
#include "rt.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint64_t rt_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void rt_sleep_ms(void)
{
    struct timespec moment = {0, 1000000};
    syscall(SYS_nanosleep, &moment, NULL);
}

/* As getdents64 returns them. */
struct folder_entry {
    uint64_t inode;
    int64_t offset;
    uint16_t len;
    unsigned char type;
    char name[];
};

uint32_t rt_each_entry(const char *folder, bool (*call)(const char *name, void *context),
                       void *context)
{
    char bytes[4096] __attribute__((aligned(8)));
    uint32_t count = 0;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return 0;
    for (long len; (len = syscall(SYS_getdents64, fd, bytes, sizeof bytes)) > 0;)
        for (long at = 0; at < len;) {
            const struct folder_entry *entry = (const struct folder_entry *)(bytes + at);
            at += entry->len;
            count += call(entry->name, context);
        }
    close(fd);
    return count;
}

void *rt_map_once(void **link, size_t size)
{
    void *here = __atomic_load_n(link, __ATOMIC_ACQUIRE);
    if (here) return here;
    void *made = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return NULL;
    rt_hide_from_helgrind(made, size);
    if (__atomic_compare_exchange_n(link, &here, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    munmap(made, size);
    return here;
}
