/* What came before a sample: the path before it in the same call of the function, and where
 * the call came from. rt_history.c keeps both; rt_sample.c takes samples. */
#ifndef FP_RT_HISTORY_H
#define FP_RT_HISTORY_H

#include "core/rt_core.h"

/* The end of a path, or of a lap. */
struct rt_ending {
    uint64_t counters; /* as linked, of the first thread: the array or the hash table */
    uint64_t cost;     /* of such a path on average, in instructions; 0: not known */
    uint64_t id;       /* without FP_SAMPLE_LAP and FP_SAMPLE_LAST */
    bool hashed;
    bool lap;        /* of a loop: the path itself goes on */
    bool last;       /* no path follows in this call */
    bool in_handler; /* floating-point registers are saved, there is room: libc may be called */
    /* Where the thread is: an address in the function, and the registers there. */
    uint64_t pc, sp, bp;
};

struct rt_history;

/* A path has ended. Call it for every path end of a burst, in order, also for those that are
 * no samples (`counted` false). `link` is where the thread keeps its history; NULL there at
 * first. */
void rt_history_ending(struct rt_history **link, const struct rt_ending *end,
                       bool counted) FP_HIDDEN;
/* A tick: looks up the places that were met for the first time outside of handlers, if it may. */
void rt_history_tick(struct rt_history *history, bool may_look) FP_HIDDEN;
/* In this module, for struct rt_module: the way from a place. False: it is not in this module. */
bool rt_history_way(uint64_t pc, struct rt_way *way) FP_HIDDEN;
/* The thread may have missed path ends: the next one has nothing before it. */
void rt_history_forget(struct rt_history *history) FP_HIDDEN;

/* Of this module, by all threads: was anything noted; puts it into a profile; forgets it. */
bool rt_history_has(void) FP_HIDDEN;
void rt_history_put(struct rt_buffer *out) FP_HIDDEN;
void rt_history_clear(void) FP_HIDDEN;

#endif
