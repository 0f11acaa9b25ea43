/* PEP: samples of paths (paper 002, docs/pep.md). At a tick of its timer a thread begins to
 * take samples. It notices the ends of paths by a flag that instrumented code tests, or by
 * traps in the code. Here is what the other rooms use, and what the files of this room share.
 */
#ifndef FP_RT_PEP_H
#define FP_RT_PEP_H

#include "core/rt_core.h"
#include "pep/rt_history.h"

/* ---- samples and ticks: rt_sample.c ---- */

bool rt_sample_has(void) FP_HIDDEN; /* does this module have sampled paths? */
void rt_sample_start(void) FP_HIDDEN;
/* Makes the timer of a thread, if samples are taken. */
void rt_sample_thread_begins(int32_t *timer, uint32_t tid) FP_HIDDEN;
void rt_sample_thread_ends(int32_t *timer) FP_HIDDEN;
/* This thread takes no more samples of its last tick: counts those that it has. */
void rt_sample_count_rest(void) FP_HIDDEN;
/* This thread is the runtime's own: it gets no ticks. */
void rt_sample_not_here(void) FP_HIDDEN;
/* Before a fork; behind it in the parent; behind it in the child, where only this thread is
 * left and timers are not inherited. */
void rt_sample_before_fork(void) FP_HIDDEN;
void rt_sample_after_fork_in_parent(void) FP_HIDDEN;
void rt_sample_after_fork(void) FP_HIDDEN;
/* The module is about to be unloaded, or the process ends. */
void rt_sample_forget_module(bool process_ends) FP_HIDDEN;
/* The signal of ticks, or 0 where samples were never taken. */
int rt_sample_signal(void) FP_HIDDEN;
/* This thread's, or NULL where samples are not taken. */
struct rt_pep_local *rt_sample_state(void) FP_HIDDEN;
/* A path ends here. Takes a sample of it, or not. */
void rt_sample_point(const struct rt_ending *end) FP_HIDDEN;
/* The same where the thread's state is at hand; nothing once it has its samples. */
void rt_sample_next(struct rt_pep_local *self, const struct rt_ending *end) FP_HIDDEN;
/* Is there room below an address, as far as the signal stack of the context is concerned? Other
 * stacks are taken for large enough. */
bool rt_sample_has_room(const ucontext_t *context, uint64_t sp, uint64_t room) FP_HIDDEN;

struct rt_sampled;
/* Counts one sample in whichever module it is of. */
void rt_sample_count_in_module(const struct rt_process *process, const struct rt_sampled *one,
                               uint64_t times) FP_HIDDEN;
/* Counts the samples that there are, with their part of the time. */
void rt_sample_count_now(struct rt_pep_local *self) FP_HIDDEN;

/* ---- targets of indirect calls: rt_targets.c ---- */

/* An indirect call is about to call `target`. key: of the call (count/values.h). */
void rt_target_seen(struct rt_pep_local *self, uint64_t table, uint64_t key,
                    uint64_t target) FP_HIDDEN;
/* Counts what was noted since the last samples: `nsampled` samples count `times` times each. */
void rt_targets_count(const struct rt_process *process, struct rt_pep_local *self,
                      uint32_t nsampled, uint64_t times) FP_HIDDEN;
/* The samples that were counted last count so many times more. */
void rt_targets_count_again(const struct rt_process *process, struct rt_pep_local *self,
                            uint64_t times) FP_HIDDEN;
void rt_targets_forget(struct rt_pep_local *self) FP_HIDDEN;

/* ---- timers: rt_timer.c ---- */

/* Of the thread with this state. */
bool rt_timer_make(struct rt_pep_local *self, int32_t *timer, uint32_t tid, int signal) FP_HIDDEN;
void rt_timer_delete(int32_t *timer) FP_HIDDEN;
/* A tick of this thread, and so many that were left out: the CPU time in ns that they stand for. */
uint64_t rt_timer_tick(struct rt_pep_local *self, int overrun) FP_HIDDEN;
/* The same of the ticks that were due by now and have not come. */
uint64_t rt_timer_rest(struct rt_pep_local *self) FP_HIDDEN;

/* ---- the two signals that sampling needs: rt_mask.c ---- */

/* Which of them the program thinks that this thread blocks. New threads inherit it. */
uint32_t rt_mask_believed(void) FP_HIDDEN;
void rt_mask_believe(uint32_t which) FP_HIDDEN;
void rt_mask_forget(void) FP_HIDDEN;
bool rt_mask_believes(int signal, const ucontext_t *context) FP_HIDDEN;
/* The mask for a handler of the program for one of the two signals, which interrupts this. */
uint64_t rt_mask_for(const struct sigaction *action, int signal,
                     const ucontext_t *context) FP_HIDDEN;
/* Keeps a signal that was sent, where the program thinks that it is blocked. */
bool rt_mask_hold(int signal, const siginfo_t *info, const ucontext_t *context) FP_HIDDEN;
void rt_mask_send_held(void) FP_HIDDEN;

/* ---- handlers on alternate signal stacks: rt_onstack.c ---- */

/* What the program set last, per signal. */
extern struct sigaction rt_on_stack[];
bool rt_on_stack_wanted(const struct sigaction *action) FP_HIDDEN;
/* Puts a handler of ours into the action. */
void rt_on_stack_instead(int signal, struct sigaction *action) FP_HIDDEN;
/* Puts the program's back into an action that the kernel tells; before: what the program had
 * set. */
void rt_on_stack_tell(const struct sigaction *before, struct sigaction *old) FP_HIDDEN;
/* A tick: the thread has left such a handler. */
void rt_on_stack_tick(struct rt_process *process, struct rt_pep_local *self) FP_HIDDEN;

/* ---- traps: rt_trap.c, rt_places.c ---- */

bool rt_trap_has_sites(void) FP_HIDDEN;
/* In this module, for struct rt_module: */
void rt_trap_set(bool on) FP_HIDDEN;
void rt_trap_arm_active(uint64_t pc, uint64_t sp) FP_HIDDEN;
bool rt_trap_place(uint64_t address) FP_HIDDEN;
void rt_trap_hit(struct rt_pep_local *self, uint64_t address, ucontext_t *context) FP_HIDDEN;
uint64_t rt_trap_moved_from(uint64_t address) FP_HIDDEN;
/* In all modules: a thread wants samples; it has enough; no thread gets any. */
void rt_traps_want(struct rt_process *process, struct rt_pep_local *self,
                   const ucontext_t *context) FP_HIDDEN;
/* Does the thread want samples, and are its traps still there? */
bool rt_traps_are_in(const struct rt_process *process, const struct rt_pep_local *self) FP_HIDDEN;
void rt_traps_enough(struct rt_process *process, struct rt_pep_local *self) FP_HIDDEN;
void rt_traps_none(struct rt_process *process) FP_HIDDEN;
/* No traps come or go meanwhile, and no module with samples is unloaded. In handlers of ours. */
void rt_traps_hold(struct rt_process *process) FP_HIDDEN;
void rt_traps_release(struct rt_process *process) FP_HIDDEN;
/* From rt_traps_before_fork to rt_traps_after_fork there are no traps. */
void rt_traps_before_fork(struct rt_process *process) FP_HIDDEN;
void rt_traps_after_fork(struct rt_process *process) FP_HIDDEN;
/* The signal of traps, and the byte of code that raises it. */
int rt_trap_signal(void) FP_HIDDEN;
unsigned char rt_trap_byte(void) FP_HIDDEN;
/* Deals with the signal of a trap. False: it is not of a trap of ours. */
bool rt_traps_handle(struct rt_process *process, struct rt_pep_local *self, siginfo_t *info,
                     ucontext_t *context) FP_HIDDEN;
/* The instruction whose copy lies at the address, or 0. */
uint64_t rt_traps_moved_from(struct rt_process *process, uint64_t address) FP_HIDDEN;

/* ---- the second body: rt_body.c, rt_bodycalls.c ---- */

/* Has footpath-cc made one for this module? */
bool rt_body_is_here(void) FP_HIDDEN;
void rt_body_offer(struct rt_process *process) FP_HIDDEN;
/* The module is unloaded. */
void rt_body_withdraw(struct rt_process *process) FP_HIDDEN;
/* A tick: the thread is to go on in the second body, from where the context is or from where it
 * next comes back to code that has one. */
void rt_body_enter(struct rt_process *process, ucontext_t *context) FP_HIDDEN;
/* The address in the first body that one in this module's second body stands for; any other address
 * stays. needs: rt_body_is_here. */
uint64_t rt_body_first(uint64_t address) FP_HIDDEN;
/* Does this thread record a site now? Then a tick must leave its state alone. */
bool rt_body_is_recording(struct rt_pep_local *self, const ucontext_t *context) FP_HIDDEN;

/* ---- the instruction under a trap: rt_slot.c ---- */

enum { RT_SLOT_SIZE = 24 };
/* Writes code that does what the instruction at `at` does and goes on behind it. False
 * where that is not possible. */
bool rt_slot_make(const unsigned char *at, unsigned char *slot) FP_HIDDEN;
/* 0: not understood. */
size_t rt_insn_length(const unsigned char *at) FP_HIDDEN;

/* ---- state ---- */

/* An active call of a function with a running register (footpath/abi.h). */
struct rt_call {
    uint64_t frame; /* address of its running register */
    uint64_t base;
    uint32_t function;
};

/* A sample that is not counted yet. */
struct rt_sampled {
    uint64_t counters, id; /* RT_SAMPLED_HASHED is added to an id in a hash table */
};
#define RT_SAMPLED_HASHED (UINT64_C(1) << 63)
/* Added to `counters`, a table: the id is a key of count/values.h. */
#define RT_SAMPLED_TARGET UINT64_C(1)

/* The target of an indirect call, noted so many times. */
struct rt_target {
    uint64_t table, key;
    uint64_t times;
};

enum { RT_MOST_CALLS = 32, RT_MOST_SAMPLED = 32, RT_MOST_TARGETS = 32, RT_MOST_BODIES = 64 };

/* A module that has a second body, and the addresses from its first body to its second. Known
 * without a look into the module, which another thread may be unloading. */
struct rt_body_span {
    uint64_t start, size; /* size 0: the slot is free */
    struct rt_module *module;
};

/* In use in the copies of the module that began sampling: process->pep.sampler. */
struct rt_pep_local {
    uint32_t samples_left; /* to take until the next tick */
    uint32_t skip;         /* path ends to pass over before the next sample */
    uint32_t rotation;     /* of the first stride */
    uint32_t nsampled;     /* that are not counted yet */
    uint32_t busy;         /* a sample is being kept */
    uint32_t on_stack;     /* handlers on a small stack: no traps meanwhile */
    uint64_t cost;         /* of these, in instructions */
    uint64_t time;         /* of CPU in ns, that these and the samples to come stand for */
    uint64_t late;         /* of ticks that came while a sample was being kept */
    uint64_t first_tick;   /* when it was due, by the thread's CPU clock; 0: it has no timer */
    uint64_t told;         /* what its ticks have stood for until now */
    uint64_t ahead;        /* the part of it whose ticks did not come yet */
    uint64_t last_cost;    /* of the samples that were counted last, and their number */
    uint32_t last_sampled; /* they are those of `sampled`, unless nsampled */
    struct rt_sampled sampled[RT_MOST_SAMPLED];
    uint32_t ntargets;     /* that are not counted yet */
    uint32_t last_targets; /* counted last: they are those of `targets`, unless ntargets */
    uint64_t passed;       /* path ends since samples were counted last */
    uint64_t last_passed;  /* what it was then */
    uint64_t target_rest;  /* less than one call, which the next targets are given: rt_targets.c */
    struct rt_target targets[RT_MOST_TARGETS];
    uint32_t wants_traps, trap_epoch;
    uint64_t branch, branch_register; /* address of the site in front of a branch, or 0 */
    uint64_t branch_frame;
    uint32_t branch_nth; /* the place of that site among those of its address */
    uint32_t ncalls;     /* calls that were seen since the tick, the innermost last */
    struct rt_call calls[RT_MOST_CALLS];
    uint64_t stack;                  /* nothing below this address is in use */
    uint64_t readable, readable_end; /* pages of the stack known to be mapped, since the tick */
    uint32_t calls_epoch;            /* the epoch in which `calls` and `branch` were seen */
    uint64_t recording;    /* the stack pointer of what records a site in the second body, or 0 */
    uint64_t branch_place; /* as `branch`, in the second body: the address of its place */
    struct rt_ending here; /* where the site is that is being passed */
    struct rt_history *history; /* what came before samples; NULL at first */
};

struct rt_pep_self {
    siginfo_t held; /* a signal that the program thinks is blocked: rt_mask.c */
};

struct rt_pep_process {
    struct rt_pep_local *sampler; /* of the module that began sampling, or NULL */
    int32_t sampling_signal;      /* the signal of ticks */
    int32_t trap_signal;          /* SIGSEGV, or SIGTRAP under Valgrind */
    int32_t first_timer;          /* of the first thread: as `timer` in a region */
    uint32_t trap_lock, traps_wanted, trap_epoch, trap_hits, others_hits;
    uint32_t forking;            /* threads that are in fork: no traps meanwhile */
    uint32_t has_sites;          /* some module has traps */
    uint32_t has_bodies;         /* slots of `bodies` that were ever used */
    struct rt_body_span *bodies; /* RT_MOST_BODIES; NULL: no module has a second body */
    uint32_t masks_kept;         /* the program cannot block the two signals that sampling needs */
    uint32_t sampling;           /* samples are taken now */
    struct sigaction trap_before, tick_before; /* actions that the program has set for the two */
};

#endif
