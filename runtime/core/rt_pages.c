/* Which pages of memory were ever written to, by /proc/self/pagemap. It has 64 bits per page:
 * bit 63 in memory, bit 62 in swap.
 *
 * Not handled: where the file cannot be read every page counts as touched.
 */
#include "rt.h"

#include <fcntl.h>
#include <unistd.h>

enum { NOT_OPENED_YET = -2 };

void rt_pagemap_open(struct rt_pagemap *map)
{
    map->fd = NOT_OPENED_YET;
    map->first = map->count = 0;
}

void rt_pagemap_close(struct rt_pagemap *map)
{
    if (map->fd >= 0) close(map->fd);
}

bool rt_touched(struct rt_pagemap *map, const char *place)
{
    uint64_t page = (uintptr_t)place / RT_PAGE;
    if (map->fd == NOT_OPENED_YET) map->fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (map->fd < 0) return true;
    if (page - map->first >= map->count) {
        ssize_t got =
            pread(map->fd, map->entries, sizeof map->entries, (off_t)(page * sizeof(uint64_t)));
        map->first = page;
        map->count = got > 0 ? (uint64_t)got / sizeof(uint64_t) : 0;
    }
    return !map->count || map->entries[page - map->first] >> 62;
}
