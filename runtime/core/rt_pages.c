/* Which pages of memory were ever written to, by /proc/self/pagemap. It has 64 bits per page:
 * bit 63 in memory, bit 62 in swap.
 *
 * Of live counters (rt_live.c), which are a file's, it does not tell: the kernel may have written a
 * page to the file. There, and where the file cannot be read, every page counts as touched. Of
 * arrays in the live file the file system tells. The module's own sections are never a file's.
 */
#include "core/rt_call.h"
#include "rt.h"

#include <fcntl.h>
#include <unistd.h>

enum { NOT_OPENED_YET = -2, AHEAD = 64 };

void rt_pagemap_open(struct rt_pagemap *map)
{
    map->fd = NOT_OPENED_YET;
    map->live = rt_is_live();
    map->live_fd = -1;
    map->first = map->count = 0;
}

void rt_pagemap_close(struct rt_pagemap *map)
{
    if (map->fd >= 0) rt_close(map->fd);
    if (map->live_fd >= 0) rt_close(map->live_fd);
}

/* Reads what the kernel has of the page and of those behind it. */
static void read_ahead(struct rt_pagemap *map, uint64_t page, uint64_t count)
{
    uint64_t most = sizeof map->entries / sizeof *map->entries;
    if (map->fd == NOT_OPENED_YET) map->fd = rt_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
    count = count < AHEAD ? AHEAD : count < most ? count : most;
    ssize_t got = map->fd < 0 ? 0
                              : rt_pread(map->fd, map->entries, count * sizeof *map->entries,
                                         page * sizeof *map->entries);
    map->first = page;
    map->count = got > 0 ? (uint64_t)got / sizeof *map->entries : 0;
}

/* May the place be a file's? Pages of the own sections hold nothing else that counts. */
static bool may_be_live(const struct rt_pagemap *map, const char *place)
{
    if (!map->live) return false;
    struct rt_range own = rt_threads_span(&rt_this);
    return place < own.start || place >= own.end;
}

bool rt_touched(struct rt_pagemap *map, const char *place)
{
    uint64_t page = (uintptr_t)place / RT_PAGE;
    if (may_be_live(map, place)) return true;
    if (page - map->first >= map->count) read_ahead(map, page, AHEAD);
    return !map->count || map->entries[page - map->first] >> 62;
}

char *rt_next_touched(struct rt_pagemap *map, char *at, char *end)
{
    if (rt_live_holds(at)) return rt_live_next_data(&map->live_fd, at, end);
    if (may_be_live(map, at)) return at;
    uint64_t first = (uintptr_t)at / RT_PAGE, last = ((uintptr_t)end + RT_PAGE - 1) / RT_PAGE;
    uint64_t page = first;
    for (; page < last; page++) {
        if (page - map->first >= map->count) read_ahead(map, page, last - page);
        if (!map->count || map->entries[page - map->first] >> 62) break;
    }
    return page == first ? at : page < last ? (char *)(page * RT_PAGE) : end;
}

void rt_add_page(uint64_t *into, const uint64_t *from)
{
    for (size_t i = 0; i < RT_PAGE / sizeof *into; i++)
        if (from[i]) __atomic_fetch_add(&into[i], from[i], __ATOMIC_RELAXED);
}
