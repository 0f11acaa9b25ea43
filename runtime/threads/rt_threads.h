/* Threads: every thread but the first counts in a private copy of all counters, at a fixed
 * distance from them, the bias (docs/threads.md). Here is what the other rooms use.
 */
#ifndef FP_RT_THREADS_H
#define FP_RT_THREADS_H

#include "core/rt_core.h"

/* ---- copies: rt_threads.c ---- */

/* A copy of the counters of all modules. It lies `bias` bytes away from them. */
struct rt_region {
    int64_t bias;
    uint32_t tid;           /* of the thread that owns the copy; 0: free for the next thread */
    uint32_t ended;         /* 0, RT_ENDED or RT_UNTOLD */
    int32_t timer;          /* 1 + the timer of the owner's ticks, or 0; pep/ */
    uint32_t warm;          /* has no owner, and has its last owner's pages; rt_fold.c */
    void *signal_stack;     /* memory for the owner's signal stack, kept for the next; exits/ */
    struct rt_range shadow; /* of the owner's stack; exe/ */
};

enum {
    RT_ENDED = 1, /* the owner has said that it ends */
    RT_UNTOLD = 2 /* the owner was adopted and will not say when it ends */
};

/* No threads have these ids. A copy that is left has counts, and nobody takes it again: it lacks
 * the part of some module. */
enum { RT_NOBODY = INT32_MAX, RT_LEFT = INT32_MAX - 1 };

/* The first threads' biases are this many steps of 4 GB apart from 0 in a process that has a
 * rewritten module: what lies at a stack's address less such a distance is free. */
enum { RT_FAR_STEPS = 4096, RT_FAR_STEPS_LOW = 256 };
#define RT_BIAS_STEP ((int64_t)1 << 32)

void rt_threads_start(void) FP_HIDDEN;
/* 1 where threads share counters: rt_share.c. */
extern const char rt_threads_share FP_HIDDEN;
/* The lock of the table of copies. With `patient` false this fails after a while: a signal
 * handler may have interrupted the owner. */
bool rt_threads_lock(struct rt_process *process, bool patient) FP_HIDDEN;
void rt_threads_unlock(struct rt_process *process) FP_HIDDEN;
void rt_threads_set_base(int64_t bias) FP_HIDDEN; /* of %gs */
/* Can the base be any value? Else it can be an address only. */
bool rt_threads_any_base(void) FP_HIDDEN;
/* The sections of a module of which every thread has a copy, from the first to the last. */
struct rt_range rt_threads_span(const struct rt_module *module) FP_HIDDEN;
/* Makes a copy for this thread, which has counted in the sections themselves so far. */
bool rt_threads_make_first(struct rt_process *process, int64_t *bias) FP_HIDDEN;
/* Makes a copy for another thread, which rt_adopt.c found. */
bool rt_threads_give_copy(struct rt_process *process, uint32_t tid) FP_HIDDEN;
/* The bias of this thread's copy, also while footpath_pause makes it count elsewhere. */
int64_t rt_threads_own_bias(void) FP_HIDDEN;
/* Makes the copy to count in while paused. */
bool rt_threads_make_nowhere(void) FP_HIDDEN;
/* The module is about to be unloaded, or the process ends. */
void rt_threads_forget_module(bool process_ends) FP_HIDDEN;
/* In the child of a fork: only this thread is left. */
void rt_threads_after_fork(void) FP_HIDDEN;

#ifdef RT_IN_STATIC
/* A thread begins, and ends: called by the thread itself. stack_size may be 0: not known. */
void rt_threads_begin(size_t stack_size) FP_HIDDEN;
void rt_threads_end(void) FP_HIDDEN;
#endif

/* The copy that nobody counts in: RT_NOBODY owns it. NULL: none can be made. */
struct rt_region *rt_threads_ownerless(struct rt_process *process) FP_HIDDEN;

/* ---- gates in front of large arrays: rt_gate.c ---- */

/* Counts where the gate is not open. Both addresses are the first thread's. */
void rt_gate_count(uint64_t gate, uint64_t counter) FP_HIDDEN;
/* Are there gates, and no copy yet for what threads count in front of them? */
bool rt_gate_needs_copy(const struct rt_process *process) FP_HIDDEN;
/* In the copy that lies there. */
void rt_gate_close_all(const struct rt_module *module, int64_t bias) FP_HIDDEN;

/* ---- memory of copies: rt_fold.c ---- */

/* The owner of this copy ends, and calls this. */
void rt_fold_ending(struct rt_region *region) FP_HIDDEN;
/* A thread takes this copy. */
void rt_fold_taken(struct rt_process *process, struct rt_region *region) FP_HIDDEN;
/* While locked no counts go from one copy to another. False: not locked. */
bool rt_fold_lock(struct rt_process *process) FP_HIDDEN;
void rt_fold_unlock(struct rt_process *process) FP_HIDDEN;

/* ---- threads that began before the runtime: rt_adopt.c ---- */

void rt_adopt_threads(void) FP_HIDDEN;
/* Calls with every thread of the process. Returns how many calls returned true. */
uint32_t rt_each_thread(bool (*call)(uint32_t tid, void *context), void *context) FP_HIDDEN;

/* ---- holding threads: rt_stop.c ---- */

/* Holds all other threads that count while `work` runs. Each gives its frames to `visit`
 * first. */
void rt_with_threads_stopped(void (*visit)(const struct rt_frame *frame, void *context),
                             void (*work)(void *context), void *context) FP_HIDDEN;
void rt_stop_after_fork(void) FP_HIDDEN;
/* Returns when no thread is in a signal handler of this module, and none will be. */
void rt_stop_forget_module(void) FP_HIDDEN;
/* Handlers of signals that any thread may get call these first and last. */
void rt_handler_begins(void) FP_HIDDEN;
void rt_handler_ends(void) FP_HIDDEN;

/* ---- state ---- */

/* Of a thread that is to be held and goes on step by step. */
struct rt_threads_self {
    uint32_t steps;
    int32_t asked_in; /* round */
    bool trap_was_blocked;
};

/* The copies that an unloaded library has left mapped. */
struct rt_orphan {
    struct rt_range span;           /* of the first thread's */
    const struct rt_module *module; /* where it was */
    uint32_t first_region, nregions;
    int64_t nowhere;
    struct rt_space *arrays; /* of all copies, and the first thread's */
};

enum { RT_MOST_REGIONS = 16384, RT_MOST_ORPHANS = 64 };

struct rt_threads_process {
    uint32_t lock;
    uint32_t nregions;
    uint32_t next_step;
    uint32_t last_taken; /* index of the copy that a thread took last */
    uint32_t held;       /* the profile is being written: threads that begin wait */
    uint32_t stopping;   /* some module holds the other threads (rt_stop.c) */
    uint32_t norphans;
    uint32_t folding;          /* the lock of rt_fold.c */
    uint32_t incomplete;       /* some copy lacks the part of some module */
    uint32_t nwarm;            /* copies that are warm */
    int64_t nowhere;           /* bias of the copy to count in while paused, or 0 */
    int64_t shared;            /* bias of the copy that nobody owns, where gates need it; or 0 */
    struct rt_region *regions; /* RT_MOST_REGIONS of them; mapped for the first copy */
    struct rt_orphan *orphans; /* RT_MOST_ORPHANS of them; mapped for the first one */
};

#endif
