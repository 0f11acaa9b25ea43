/* Counts of the paths in flight of frames that were left: rt_inflight.c. */
#ifndef FP_RT_LEFT_H
#define FP_RT_LEFT_H

#include "rt.h"

struct rt_left {
    uint64_t function, block, reg; /* reg: 0 in a block where the slot holds nothing */
};

/* The path that a frame has in flight. False: none, or it is not this module's.
 * needs: a frame that was looked at. */
bool rt_identify_frame(const struct rt_frame *frame, struct rt_left *left) FP_HIDDEN;

struct rt_left_count {
    uint32_t state; /* EMPTY, BUSY while the key is filled in, READY */
    struct rt_left left;
    int64_t count;
};

/* Records that are taken one by one and never given back. */
struct rt_pool {
    void *records; /* mapped at the first need */
    uint32_t used;
};

/* NULL: no memory, or all records are taken. */
void *rt_pool_take(struct rt_pool *pool, size_t size, uint32_t most) FP_HIDDEN;

/* The entry of this key, made at the first need. NULL: no memory. */
struct rt_left_count *rt_left_entry(const struct rt_left *left) FP_HIDDEN;

/* One instruction either way: a signal handler may come between. */
static inline void rt_left_add(struct rt_left_count *entry, int64_t weight)
{
    if (!entry) return;
    if (rt_has_one_thread())
        __asm__("addq %1, %0" : "+m"(entry->count) : "er"(weight));
    else
        __atomic_fetch_add(&entry->count, weight, __ATOMIC_RELAXED);
}

#endif
