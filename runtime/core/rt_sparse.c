/* Sparse arrays of functions with many paths (footpath/abi.h): a word for each path, of which
 * only the pages that were counted in are in memory. An array is made when the function is seen
 * to be hot (rt_hash.c). Each thread's copy of the table has an array of its own.
 *
 * Arrays are pieces of a few large spaces, so that even a hundred thousand of them are few
 * mappings: a process may have 65,530. What is not taken of a space cannot be accessed. Nothing
 * is given back by itself; all spaces of a module go when the module is unloaded.
 *
 * Where address space or memory is rationed there are no arrays, but levels (rt_hash.c). Arrays of
 * live counters are in the live file (rt_livefile.c), which has to have room for all of an array.
 *
 * Not handled: a program that sets itself a limit of address space after its first counts, or
 * locks all its memory (mlockall with MCL_CURRENT) then, has whole arrays in it.
 */
#include "rt.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- may this process have arrays? ---- */

static bool is_limited(int resource)
{
    struct rlimit limit;
    return syscall(SYS_prlimit64, 0, resource, NULL, &limit) || limit.rlim_cur != RLIM_INFINITY;
}

/* Does the kernel reserve memory for all that could be written to? */
static bool is_reserved(void)
{
    char how = 0;
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    syscall(SYS_read, fd, &how, 1L);
    syscall(SYS_close, fd);
    return how == '2';
}

/* A confined program may be killed for a system call of ours. Helgrind takes an exchange for no
 * race. */
static bool has_space(void)
{
    enum { UNKNOWN, YES, NO };
    static int known;
    if (rt_is_confined()) return false;
    int has = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (has == UNKNOWN) {
        int found = is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA) || is_reserved() ? NO : YES;
        if (__atomic_compare_exchange_n(&known, &has, found, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            has = found;
    }
    return has == YES;
}

/* ---- spaces ---- */

/* In the first page of each. */
struct rt_space {
    uint64_t used, size; /* bytes, with this page */
    uint64_t total;      /* with the older ones */
    struct rt_space *older;
};

static struct rt_space *newest;

#define FIRST_SIZE (RT_PAGE + (uint64_t)FP_SPARSE_MOST * sizeof(uint64_t))
static const uint64_t LARGEST = (uint64_t)1 << 32, MOST_TOTAL = (uint64_t)1 << 39;

/* Always from the start: pages that are open make no work, and threads that take pieces at the
 * same time leave no gaps. Behind a gap the kernel begins another mapping, which stays one. */
static bool open_until(struct rt_space *space, uint64_t end)
{
    return !syscall(SYS_mprotect, space, end, PROT_READ | PROT_WRITE);
}

/* With large pages each count could take 2 MB. A program that locks its future memory would
 * have all pages in it. What is in memory is no help in a core file. */
static struct rt_space *new_space(struct rt_space *older)
{
    uint64_t size = older ? older->size * 2 : FIRST_SIZE, total = older ? older->total : 0;
    if (size > LARGEST) size = LARGEST;
    if (total + size > MOST_TOTAL) return NULL;
    long got = syscall(SYS_mmap, NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                       -1, 0L);
    if (got == -1) return NULL;
    struct rt_space *made = (struct rt_space *)got;
    syscall(SYS_munlock, made, size);
    syscall(SYS_madvise, made, size, MADV_NOHUGEPAGE);
    syscall(SYS_madvise, made, size, MADV_DONTDUMP);
    if (!open_until(made, RT_PAGE)) {
        syscall(SYS_munmap, made, size);
        return NULL;
    }
    *made = (struct rt_space){RT_PAGE, size, total + size, older};
    return made;
}

/* A piece that can be written to, or NULL. Handlers that interrupt this, and other threads, may
 * take a piece too. */
static char *take(uint64_t size)
{
    for (;;) {
        struct rt_space *space = __atomic_load_n(&newest, __ATOMIC_ACQUIRE);
        uint64_t at = space ? __atomic_fetch_add(&space->used, size, __ATOMIC_RELAXED) : 0;
        if (space && at + size <= space->size)
            return open_until(space, at + size) ? (char *)space + at : NULL;
        struct rt_space *made = new_space(space);
        if (!made) return NULL;
        if (!__atomic_compare_exchange_n(&newest, &space, made, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            syscall(SYS_munmap, made, made->size);
    }
}

/* Threads may still count: see rt_threads_forget_module. */
struct rt_space *rt_sparse_leave(void)
{
    for (struct rt_space *space = newest; space; space = space->older)
        madvise((char *)space + RT_PAGE, space->size - RT_PAGE, MADV_DONTNEED);
    return newest;
}

void rt_sparse_unmap(struct rt_space *space)
{
    for (struct rt_space *older; space; space = older) {
        older = space->older;
        munmap(space, space->size);
    }
}

/* ---- arrays ---- */

extern const char hash_empty __asm__(FP_HASH_EMPTY_SYMBOL) FP_HIDDEN; /* rt_hash.c */

static uint64_t *new_array(const struct fp_hash_table *table)
{
    uint64_t size = (table->nsparse * sizeof(uint64_t) + RT_PAGE - 1) & ~(uint64_t)(RT_PAGE - 1);
    int saved = errno;
    char *made = rt_is_live() ? rt_live_take_array(size) : has_space() ? take(size) : NULL;
    if (made) rt_hide_from_helgrind(made, size);
    errno = saved;
    return (uint64_t *)made;
}

/* Handlers that interrupt this, and threads that share the table, may make an array too; the first
 * one is kept. A level that is closed by several has its counts in each of their arrays. */
uint64_t *rt_sparse_make(struct fp_hash_table *table)
{
    uint64_t here = __atomic_load_n(&table->level, __ATOMIC_ACQUIRE);
    uint64_t *made = NULL;
    while (!here || (here & FP_SPARSE_LEVELS && !(here & FP_SPARSE_LASTING))) {
        if (!made) made = new_array(table);
        if (made && here) rt_hash_close(here, made);
        uint64_t levels = here ? here : (uint64_t)&hash_empty | FP_SPARSE_LEVELS;
        uint64_t wanted = made ? (uint64_t)made : levels | FP_SPARSE_LASTING;
        if (__atomic_compare_exchange_n(&table->level, &here, wanted, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            here = wanted;
    }
    return here & FP_SPARSE_LEVELS ? NULL : (uint64_t *)here;
}

struct rt_range rt_sparse_array(const struct fp_hash_table *table)
{
    uint64_t here = __atomic_load_n(&table->level, __ATOMIC_ACQUIRE);
    if (!table->nsparse || here & FP_SPARSE_LEVELS || !here) return (struct rt_range){0};
    char *start = (char *)here;
    return (struct rt_range){start, start + table->nsparse * sizeof(uint64_t)};
}

/* ---- folding ---- */

static struct fp_hash_table *copy_of(char *table, int64_t bias)
{
    return (struct fp_hash_table *)(table + bias);
}

size_t rt_sparse_bytes(const struct rt_module *module, int64_t bias)
{
    const struct rt_range *tables = &module->ranges[RT_TABLES];
    size_t bytes = 0;
    for (char *table = tables->start; table < tables->end; table += FP_HASH_TABLE_SIZE) {
        struct rt_range array = rt_sparse_array(copy_of(table, bias));
        bytes += (size_t)(array.end - array.start);
    }
    return bytes;
}

static void fold_array(struct rt_pagemap *map, uint64_t *into, struct rt_range from)
{
    char *end = from.start + ((from.end - from.start + RT_PAGE - 1) & ~(ptrdiff_t)(RT_PAGE - 1));
    for (char *page = from.start; (page = rt_next_touched(map, page, end)) < end; page += RT_PAGE)
        rt_add_page(into + (page - from.start) / (ptrdiff_t)sizeof *into, (const uint64_t *)page);
    madvise(from.start, (size_t)(end - from.start), MADV_DONTNEED);
}

void rt_sparse_fold(struct rt_pagemap *map, int64_t into, int64_t from)
{
    const struct rt_range *tables = &rt_this.ranges[RT_TABLES];
    for (char *table = tables->start; table < tables->end; table += FP_HASH_TABLE_SIZE) {
        struct rt_range array = rt_sparse_array(copy_of(table, from));
        uint64_t *sums = array.start ? rt_sparse_make(copy_of(table, into)) : NULL;
        if (sums) fold_array(map, sums, array);
    }
}
