/* Gives memory of copies back. A thread that ends leaves a copy of the counters of which it
 * may have touched many pages. A few such copies are kept as they are for the next threads.
 * Of the others the counts are added to one copy, which nobody counts in, and their pages
 * are given back to the kernel.
 *
 * The thread does this itself as it ends, with all signals blocked: nobody else counts in its
 * copy, so nothing changes meanwhile. Several threads may do so at once. Who writes or clears
 * counters, or unloads a module, waits until none does.
 * What the thread counts later, in other destructors, stays in its copy.
 *
 * Live copies (rt_live.c) stay as they are: a kill in between would lose counts or double them, and
 * the kernel can write their pages to the file whenever memory is scarce.
 *
 * Not handled: entries of hash tables' levels, and pages that counters share with other variables,
 * stay in the copy. The copies of threads that live are not looked at.
 */
#include "rt.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_WARM = 4, LEAST_BYTES = 1 << 20, MOST_WAIT_MS = 10000 };

/* The lock: how many threads fold now, and whether somebody wants the counts to stay. */
static const uint32_t HELD = (uint32_t)1 << 31;

static bool wait_until(uint64_t *until)
{
    if (!*until) *until = rt_now_ms() + MOST_WAIT_MS;
    if (rt_now_ms() >= *until) return false;
    rt_sleep_ms();
    return true;
}

bool rt_fold_lock(struct rt_process *process)
{
    uint32_t *lock = process ? &process->threads.folding : NULL;
    uint64_t until = 0;
    if (!lock) return false;
    while (__atomic_fetch_or(lock, HELD, __ATOMIC_ACQUIRE) & HELD)
        if (!wait_until(&until)) return false;
    while (__atomic_load_n(lock, __ATOMIC_ACQUIRE) != HELD)
        if (!wait_until(&until)) break; /* a thread that does not get on */
    return true;
}

void rt_fold_unlock(struct rt_process *process)
{
    __atomic_fetch_and(&process->threads.folding, ~HELD, __ATOMIC_RELEASE);
}

static bool begin_fold(struct rt_process *process)
{
    uint32_t *lock = &process->threads.folding, others = __atomic_load_n(lock, __ATOMIC_RELAXED);
    uint64_t until = 0;
    for (;;) {
        if (others & HELD) {
            if (!wait_until(&until)) return false;
            others = __atomic_load_n(lock, __ATOMIC_RELAXED);
        } else if (__atomic_compare_exchange_n(lock, &others, others + 1, false, __ATOMIC_ACQUIRE,
                                               __ATOMIC_RELAXED)) {
            return true;
        }
    }
}

static void end_fold(struct rt_process *process)
{
    __atomic_fetch_sub(&process->threads.folding, 1, __ATOMIC_RELEASE);
}

/* ---- pages ---- */

static const int folded[] = {RT_COUNTERS, RT_DIRECT};
enum { NFOLDED = sizeof folded / sizeof *folded };

/* The whole pages of a range of the module. */
static struct rt_range whole_pages(const struct rt_module *module, int which)
{
    const struct rt_range *range = &module->ranges[which];
    uintptr_t mask = RT_PAGE - 1;
    struct rt_range pages = {(char *)(((uintptr_t)range->start + mask) & ~mask),
                             (char *)((uintptr_t)range->end & ~mask)};
    if (pages.end < pages.start) pages.end = pages.start;
    return pages;
}

static size_t bytes_to_fold(const struct rt_process *process, int64_t bias)
{
    size_t bytes = 0;
    for (size_t i = 0; i < process->core.nmodules; i++) {
        const struct rt_module *module = process->core.modules[i];
        for (int k = 0; module && k < NFOLDED; k++) {
            struct rt_range pages = whole_pages(module, folded[k]);
            bytes += (size_t)(pages.end - pages.start);
        }
        if (module) bytes += rt_sparse_bytes(module, bias);
    }
    return bytes;
}

static void fold_range(struct rt_pagemap *map, struct rt_range pages, int64_t into, int64_t from)
{
    if (pages.start == pages.end) return;
    char *page = pages.start + from, *end = pages.end + from;
    for (; (page = rt_next_touched(map, page, end)) < end; page += RT_PAGE)
        rt_add_page((uint64_t *)(page - from + into), (const uint64_t *)page);
    madvise(pages.start + from, (size_t)(pages.end - pages.start), MADV_DONTNEED);
}

static void fold(const struct rt_process *process, int64_t into, int64_t from)
{
    struct rt_pagemap map;
    rt_pagemap_open(&map);
    for (size_t i = 0; i < process->core.nmodules; i++) {
        const struct rt_module *module = process->core.modules[i];
        for (int k = 0; module && k < NFOLDED; k++)
            fold_range(&map, whole_pages(module, folded[k]), into, from);
        if (module) module->fold_arrays(&map, into, from);
        if (module) rt_gate_close_all(module, from);
    }
    rt_pagemap_close(&map);
}

/* ---- a thread ends ---- */

/* Keeps the pages for the next owner, unless enough copies have theirs. */
static bool keep_warm(struct rt_process *process, struct rt_region *region)
{
    uint32_t before = __atomic_fetch_add(&process->threads.nwarm, 1, __ATOMIC_RELAXED);
    region->warm = before < MOST_WARM;
    if (!region->warm) __atomic_fetch_sub(&process->threads.nwarm, 1, __ATOMIC_RELAXED);
    return region->warm;
}

void rt_fold_taken(struct rt_process *process, struct rt_region *region)
{
    if (region->warm) __atomic_fetch_sub(&process->threads.nwarm, 1, __ATOMIC_RELAXED);
    region->warm = 0;
}

/* Also held: the signal by which rt_stop.c holds threads. It waits a while for those that
 * block it, and then for the lock. */
void rt_fold_ending(struct rt_region *region)
{
    struct rt_process *process = rt_this.process;
    uint64_t all = ~(uint64_t)0, before;
    if (!process || rt_is_confined() || rt_is_live() || process->threads.incomplete ||
        region->tid == RT_LEFT || bytes_to_fold(process, region->bias) < LEAST_BYTES ||
        keep_warm(process, region))
        return;
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof all);
    const struct rt_region *into = rt_threads_ownerless(process);
    if (into && begin_fold(process)) {
        fold(process, into->bias, region->bias);
        end_fold(process);
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
}
