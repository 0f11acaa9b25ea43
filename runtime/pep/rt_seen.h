/* What a site means, however it was noticed: by a trap (rt_trap.c) or in the second body
 * (rt_body.c). Inline, since these are most of what a site costs. */
#ifndef FP_RT_SEEN_H
#define FP_RT_SEEN_H

#include "rt.h"

/* A thread's copy of the rt_pep_local of the module that began sampling. */
static inline struct rt_pep_local *rt_sample_state_of(const struct rt_process *process)
{
    return (struct rt_pep_local *)((char *)process->pep.sampler + RT_LOCAL->core.bias);
}

/* rt_sample_state, inline. */
static inline struct rt_pep_local *rt_sample_state_here(void)
{
    const struct rt_process *process = rt_this.process;
    return process && process->pep.sampling ? rt_sample_state_of(process) : NULL;
}

struct rt_seen {
    uint64_t counters, value, next; /* as of the site; an address */
    uint32_t flags, function;
    bool has_register; /* the path's id, or a part of the running register, is in a register */
    uint64_t reg;      /* that register, or the running register */
    uint64_t frame;    /* address of the running register; 0: the site has none */
};

/* The call whose running register lies at `frame`, or NULL. Calls whose register lies below
 * the stack pointer have ended and are dropped. Others may have ended too; then the next
 * call at the same place begins with a start site. Functions inlined into one another have
 * their registers in one frame, in any order. */
static inline struct rt_call *rt_seen_find_call(struct rt_pep_local *self, uint64_t frame,
                                                uint32_t function)
{
    uint32_t n = self->ncalls;
    while (n && self->calls[n - 1].frame < self->stack) n--;
    self->ncalls = n;
    for (struct rt_call *call = self->calls + n; call-- > self->calls;)
        if (call->frame == frame && call->function == function) return call;
    return NULL;
}

/* One by one: the second body calls this, and libc's memmove would change vector registers. */
static inline void rt_seen_end_call(struct rt_pep_local *self, struct rt_call *call)
{
    const struct rt_call *end = self->calls + self->ncalls;
    if (call >= end) return;
    for (; call + 1 < end; call++) {
        *call = call[1];
        __asm__ volatile("" : : : "memory"); /* or the compiler would make a memmove of it */
    }
    self->ncalls = (uint32_t)(end - self->calls) - 1;
}

/* Notes where a path of a call begins. Where there is no room, the outermost call is dropped:
 * the id of its next path will not be known. */
static inline void rt_seen_begin_path(struct rt_pep_local *self, struct rt_call *call,
                                      struct rt_call what)
{
    if (!call && self->ncalls == RT_MOST_CALLS) rt_seen_end_call(self, self->calls);
    uint32_t n = self->ncalls;
    if (!call && n == RT_MOST_CALLS) return; /* a handler that was left has interrupted this */
    if (!call) call = &self->calls[n], self->ncalls = n + 1;
    *call = what;
}

/* A path ends. */
static inline __attribute__((always_inline)) void rt_seen_end(struct rt_pep_local *self,
                                                              const struct rt_seen *seen)
{
    uint32_t flags = seen->flags;
    uint64_t id = seen->value;
    bool known = true;
    if (!(flags & FP_SITE_RUNNING)) {
        if (seen->has_register) id += seen->reg;
    } else {
        struct rt_call *call = rt_seen_find_call(self, seen->frame, seen->function);
        if (!(flags & FP_SITE_KNOWN) && (known = call)) id += seen->reg - call->base;
        if (!(flags & FP_SITE_LEAVES))
            rt_seen_begin_path(
                self, call, (struct rt_call){seen->frame, seen->reg + seen->next, seen->function});
        else if (call)
            rt_seen_end_call(self, call);
    }
    if (!known) {
        rt_history_forget(self->history);
        return;
    }
    struct rt_ending *end = &self->here;
    end->counters = seen->counters, end->id = id;
    end->cost = flags >> FP_SITE_COST & FP_SITE_MOST_COST;
    end->hashed = flags & FP_SITE_HASHED;
    end->lap = flags & FP_SITE_LAP;
    end->last = flags & FP_SITE_LAST;
    rt_sample_next(self, end);
}

/* The first path of a call begins. */
static inline void rt_seen_start(struct rt_pep_local *self, const struct rt_seen *seen)
{
    struct rt_call *call = rt_seen_find_call(self, seen->frame, seen->function);
    rt_seen_begin_path(self, call,
                       (struct rt_call){seen->frame, seen->reg + seen->next, seen->function});
}

#endif
