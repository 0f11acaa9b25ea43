/* Decides when samples of paths are taken (paper 002, section 4.4).
 *
 * Every thread has a timer on its own CPU clock. At a tick the thread begins to look at the
 * paths that end in it. It skips some, a number that rotates below STRIDE, and counts the
 * next SAMPLES (simplified Arnold-Grove sampling). With full Arnold-Grove sampling, as in the
 * second body, it skips STRIDE - 1 between any two. Samples are counted in the thread's own
 * counters, as paths are, so readers of profiles need not know of samples.
 *
 * What a sample counts. A tick stands for the CPU time since the tick before. The samples of a
 * tick follow each other, so in that time each of their paths was taken in proportion to its
 * samples. Were all that time spent like this, then the paths were taken so many times:
 *
 *     time / cost of the samples        in ns, at one instruction a ns
 *
 * So each sample of the tick counts so many times. The counts of a profile then are in proportion
 * to the times that paths were taken, also where some ticks met short paths and others long ones;
 * and a count times the length of its path is the CPU time spent there. A thread that got few
 * samples of a tick counts each of them more often, so threads count in proportion to their time.
 *
 * The end of a path is noticed by a flag that instrumented code tests, or by traps
 * (rt_trap.c).
 *
 * The program must not notice the ticks: a system call that a tick interrupts is made again,
 * and the signal of ticks is one that the program does not use.
 *
 * Not handled: programs with ThreadSanitizer, which holds signals back; they take no
 * samples. System calls that are not made by libc's wrappers may fail with EINTR.
 */
#include "core/rt_call.h"
#include "pep/rt_seen.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* 1 where rt_interpose.c is linked: its definition replaces this one. Then the program
 * cannot block our signals. The symbol must be defined here: gold leaves an undefined weak
 * hidden symbol of a shared library to the loader, which takes the address of the library
 * for it. */
char __footpath_interposed __attribute__((weak)) FP_HIDDEN = 0;

extern char __tsan_init __attribute__((weak));

RT_SECTION_BOUNDS(char, flags, FP_FLAG_SECTION);

unsigned char rt_sampling __asm__(FP_SAMPLING_SYMBOL) FP_HIDDEN
    __attribute__((section("footpath_local"), used));

struct rt_pep_local *rt_sample_state(void)
{
    return rt_sample_state_here();
}

static struct rt_pep_local *state(const struct rt_process *process)
{
    return rt_sample_state_of(process);
}

/* ---- samples ---- */

static void set_flags(const struct rt_process *process, unsigned char value)
{
    for (size_t i = 0; i < process->core.nmodules; i++) {
        const struct rt_module *module =
            __atomic_load_n(&process->core.modules[i], __ATOMIC_ACQUIRE);
        if (module && module->sampling) module->sampling[RT_LOCAL->core.bias] = value;
    }
}

static void count(uint64_t counters, uint64_t id, uint64_t times)
{
    bool target = counters & RT_SAMPLED_TARGET, in_table = target || id & RT_SAMPLED_HASHED;
    const struct rt_range *range = &rt_this.ranges[in_table ? (int)RT_TABLES : (int)RT_COUNTERS];
    uint64_t at = counters;
    if (!in_table) at += id * sizeof(uint64_t);
    if (at < (uint64_t)range->start || at >= (uint64_t)range->end) return;
    if (target)
        rt_hash_count(counters & ~RT_SAMPLED_TARGET, id + 1, times);
    else if (in_table)
        rt_hash_count(counters, (id & ~RT_SAMPLED_HASHED) + 1, times);
    else
        __atomic_fetch_add((uint64_t *)(at + (uint64_t)RT_LOCAL->core.bias), times,
                           __ATOMIC_RELAXED);
}

/* A module that was unloaded meanwhile is not found. */
void rt_sample_count_in_module(const struct rt_process *process, const struct rt_sampled *one,
                               uint64_t times)
{
    for (size_t i = 0; i < process->core.nmodules; i++) {
        struct rt_module *module = __atomic_load_n(&process->core.modules[i], __ATOMIC_ACQUIRE);
        if (module && module->count_sample) module->count_sample(one->counters, one->id, times);
    }
}

/* Counts the samples, which stand for so much time. */
static void count_sampled(const struct rt_process *process, struct rt_pep_local *s, uint64_t time)
{
    uint64_t times = s->cost ? time / s->cost : 0;
    uint32_t n = s->nsampled;
    s->last_sampled = n;
    s->last_cost = s->cost;
    s->nsampled = 0;
    s->cost = 0;
    s->time -= time;
    if (!times) times = 1;
    for (uint32_t i = 0; i < n; i++) rt_sample_count_in_module(process, &s->sampled[i], times);
    rt_targets_count(process, s, n, times);
}

/* The thread takes no more samples: what time is left is that of the last ones. */
static void count_again(const struct rt_process *process, struct rt_pep_local *s)
{
    uint64_t times = s->last_cost ? s->time / s->last_cost : 0;
    if (times) s->time = 0;
    for (uint32_t i = 0; times && i < s->last_sampled; i++)
        rt_sample_count_in_module(process, &s->sampled[i], times);
    rt_targets_count_again(process, s, times);
}

/* No more samples come of the last tick. Its time goes on to the next one if there were none. */
static void count_rest(const struct rt_process *process, struct rt_pep_local *s, uint64_t time)
{
    if (s->nsampled) count_sampled(process, s, time);
}

static void keep(struct rt_pep_local *s, struct rt_sampled one, uint64_t cost)
{
    s->sampled[s->nsampled++] = one;
    s->cost += cost ? cost : 1;
    s->samples_left--;
    if (s->nsampled < RT_MOST_SAMPLED && s->samples_left) return;
    rt_sample_count_now(s);
}

void rt_sample_count_now(struct rt_pep_local *s)
{
    if (!s->nsampled) return;
    count_sampled(rt_this.process, s, s->time * s->nsampled / (s->nsampled + s->samples_left));
}

/* A tick is more likely in what takes long, and what follows that has more than its part of samples
 * that follow each other. Path ends that are passed over between them help. In the second body
 * these cost no more than a call each; a trap is a signal. */
static bool strides_between(const struct rt_process *process)
{
    if (rt_settings.full_stride || rt_settings.simple_stride) return rt_settings.full_stride;
    return process->pep.has_bodies && !process->pep.has_sites;
}

static void take(struct rt_process *process, struct rt_pep_local *s, const struct rt_ending *end)
{
    uint64_t id = end->id | (end->hashed ? RT_SAMPLED_HASHED : 0);
    __atomic_store_n(&s->busy, 1, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    keep(s, (struct rt_sampled){end->counters, id}, end->cost);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&s->busy, 0, __ATOMIC_RELAXED);
    if (strides_between(process)) s->skip = rt_settings.stride - 1;
    if (s->samples_left) return;
    set_flags(process, 0);
    if (s->wants_traps) rt_traps_enough(process, s);
}

void rt_sample_next(struct rt_pep_local *s, const struct rt_ending *end)
{
    if (!s->samples_left) return;
    s->passed++;
    rt_history_ending(&s->history, end, !s->skip);
    if (s->skip)
        s->skip--;
    else
        take(rt_this.process, s, end);
}

void rt_sample_point(const struct rt_ending *end)
{
    struct rt_pep_local *s = rt_sample_state();
    if (s && s->samples_left)
        rt_sample_next(s, end);
    else
        rt_sampling = 0;
}

/* ---- ticks ---- */

/* Some system calls (poll, nanosleep) fail with EINTR in spite of SA_RESTART. They are made
 * again: the handler goes back to the instruction that loads the number of the call. Only
 * the form of libc's wrappers is known:  mov $number, %eax; syscall
 * Our signal has the highest number. Where another one is pending too, the kernel sets up
 * that one's handler first. Our context is then the beginning of that handler, and its EINTR
 * stays. */
static void restart_system_call(ucontext_t *context)
{
    greg_t *regs = context->uc_mcontext.gregs;
    if (regs[REG_RAX] != -EINTR) return;
    const unsigned char *at = (const unsigned char *)regs[REG_RIP] - 7;
    if (at[0] == 0xb8 && !at[3] && !at[4] && at[5] == 0x0f && at[6] == 0x05) regs[REG_RIP] -= 7;
}

/* A trap in a thread that blocks its signal would kill the program. */
static bool may_trap(struct rt_process *process, const ucontext_t *context)
{
    if (process->pep.masks_kept)
        return process->pep.trap_signal &&
               !sigismember(&context->uc_sigmask, process->pep.trap_signal);
    if (!__atomic_exchange_n(&process->core.complained, 1, __ATOMIC_RELAXED))
        rt_warn("a program linked statically or by another compiler cannot be "
                "sampled by traps; build with --fp-pep=flag",
                NULL);
    return false;
}

/* Is the signal an instruction's, and would it kill the program without us? The kernel ends a
 * program that ignores such a signal, or blocks it. */
static bool kills(const struct sigaction *action, int signal, const siginfo_t *info,
                  const ucontext_t *context)
{
    bool handled = action->sa_flags & SA_SIGINFO ||
                   (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
    return info->si_code > 0 && (!handled || rt_mask_believes(signal, context));
}

/* Does with a signal that is not ours what the program wants. When our handler returns, the kernel
 * restores the mask of the context. */
static void pass_on(struct sigaction *kept, int signal, siginfo_t *info, ucontext_t *context)
{
    struct sigaction action = *kept;
    bool plain = !(action.sa_flags & SA_SIGINFO);
    if (info->si_code <= 0 && rt_mask_hold(signal, info, context)) return;
    if ((plain && action.sa_handler == SIG_DFL) || kills(&action, signal, info, context)) {
        rt_die(signal, info, context);
        return;
    }
    if (plain && action.sa_handler == SIG_IGN) return;
    if (action.sa_flags & (int)SA_RESETHAND) *kept = (struct sigaction){.sa_handler = SIG_DFL};
    uint64_t mask = rt_mask_for(&action, signal, context);
    rt_call(SYS_rt_sigprocmask, SIG_SETMASK, (uintptr_t)&mask, 0, sizeof mask);
    if (plain)
        action.sa_handler(signal);
    else
        action.sa_sigaction(signal, info, context);
}

bool rt_sample_has_room(const ucontext_t *context, uint64_t sp, uint64_t room)
{
    const stack_t *stack = &context->uc_stack;
    uint64_t left = sp - (uint64_t)stack->ss_sp;
    return stack->ss_flags & SS_DISABLE || left >= stack->ss_size || left >= room;
}

static bool has_room_to_walk(const ucontext_t *context)
{
    enum { ROOM_TO_WALK = 6144 };
    return rt_sample_has_room(context, (uint64_t)__builtin_frame_address(0), ROOM_TO_WALK);
}

/* Does the tick interrupt the code that keeps a sample (--fp-pep=flag)? That is rare. A handler of
 * the program may have left that code by siglongjmp: then the third tick is taken. */
static bool is_busy(struct rt_pep_local *s)
{
    return s->busy && ++s->busy < 4;
}

static void take_tick(siginfo_t *info, void *context)
{
    struct rt_process *process = rt_this.process;
    restart_system_call(context);
    if (process && process->pep.sampling && !process->core.paused) {
        struct rt_pep_local *s = state(process);
        s->late += rt_timer_tick(s, info->si_overrun);
        if (rt_body_is_recording(s, context) || is_busy(s)) return;
        s->busy = 0;
        rt_on_stack_tick(process, s);
        uint64_t since = s->late;
        s->late = 0;
        s->time += since;
        if (s->samples_left && rt_traps_are_in(process, s)) return; /* it is at it */
        count_rest(process, s, s->time - since);
        s->samples_left = rt_settings.samples;
        s->skip = s->rotation++ % rt_settings.stride;
        s->branch = s->branch_place = 0;
        s->readable = s->readable_end = 0;
        s->ncalls = 0; /* what happened since the last tick was not seen */
        rt_mask_send_held();
        rt_history_tick(s->history, has_room_to_walk(context));
        set_flags(process, 1);
        if (process->pep.has_sites && may_trap(process, context))
            rt_traps_want(process, s, context);
        if (process->pep.has_bodies) rt_body_enter(process, context);
    }
}

static void tick(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    struct rt_process *process = rt_this.process;
    bool ours = info->si_code == SI_TIMER;
    rt_handler_begins();
    if (ours) take_tick(info, context);
    rt_handler_ends();
    if (!ours && process) pass_on(&process->pep.tick_before, signal, info, context);
    errno = saved;
}

/* A fault of the program's own. In the copy of an instruction (rt_slot.c) the program is told the
 * place of the instruction itself. Where its handler returns there, the copy is executed again:
 * what happened at the place is noted already. */
static void own_fault(struct rt_process *process, int signal, siginfo_t *info, ucontext_t *context)
{
    greg_t *pc = &context->uc_mcontext.gregs[REG_RIP], copy = *pc;
    uint64_t from = rt_traps_moved_from(process, (uint64_t)copy);
    if (from) *pc = (greg_t)from;
    pass_on(&process->pep.trap_before, signal, info, context);
    if (from && *pc == (greg_t)from) *pc = copy;
}

static void trap(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    struct rt_process *process = rt_this.process;
    rt_handler_begins();
    bool ours = !process || rt_traps_handle(process, state(process), info, context);
    rt_handler_ends();
    if (!ours && !rt_is_for_us(signal, info, context)) own_fault(process, signal, info, context);
    errno = saved;
}

/* Does the signal have this action: SIG_DFL or SIG_IGN? */
static bool has_action(int signal, sighandler_t wanted)
{
    struct sigaction action;
    return sigaction(signal, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) &&
           action.sa_handler == wanted;
}

/* A module that was unloaded has left its signal ignored, for ticks that come late. */
static int free_signal(const struct rt_process *process)
{
    int left = process->pep.sampling_signal;
    if (left && has_action(left, SIG_IGN)) return left;
    for (int signal = SIGRTMAX; signal >= SIGRTMIN; signal--)
        if (has_action(signal, SIG_DFL)) return signal;
    return 0;
}

/* Of a thread that had this state before, or of the parent of a fork. */
static void forget_samples(struct rt_pep_local *s)
{
    s->samples_left = s->nsampled = s->last_sampled = 0;
    s->cost = s->time = s->late = s->first_tick = 0;
    s->on_stack = 0;
    rt_targets_forget(s);
}

void rt_sample_thread_begins(int32_t *timer, uint32_t tid)
{
    struct rt_process *process = rt_this.process;
    if (!process || !process->pep.sampling) return;
    *timer = 0;
    forget_samples(state(process));
    if (!rt_timer_make(state(process), timer, tid, process->pep.sampling_signal) &&
        !__atomic_exchange_n(&process->core.complained, 1, __ATOMIC_RELAXED))
        rt_warn("no timer for a thread; its paths are not sampled", NULL);
}

void rt_sample_thread_ends(int32_t *timer)
{
    rt_timer_delete(timer);
}

/* A tick in between would count samples twice. */
void rt_sample_count_rest(void)
{
    struct rt_process *process = rt_this.process;
    if (!process || !process->pep.sampling) return;
    struct rt_pep_local *s = state(process);
    struct rt_held held;
    rt_hold_signals(&held);
    rt_on_stack_tick(process, s); /* the thread ends in such a handler */
    s->time += s->late + rt_timer_rest(s);
    s->late = 0;
    if (s->nsampled)
        count_sampled(process, s, s->time);
    else
        count_again(process, s);
    s->samples_left = 0;
    rt_release_signals(&held);
}

bool rt_sample_has(void)
{
    return &flags_start[0] != &flags_end[0] || rt_trap_has_sites();
}

/* libc takes the signals 32 and 33, its own, out of every mask. By 32 it cancels threads: the
 * thread would unwind out of our handler and keep our lock. The kernel takes a mask as it is. */
static void block_all_in(int signal)
{
    struct rt_action action;
    if (!rt_set_kernel_action(signal, NULL, &action)) return;
    action.mask = UINT64_MAX;
    rt_set_kernel_action(signal, &action, NULL);
}

/* needs: the signal is not known as ours yet, or sigaction would only remember this (rt_mask.c). */
static void take_signal(int signal, void (*handler)(int, siginfo_t *, void *),
                        struct sigaction *before)
{
    struct sigaction action = {.sa_sigaction = handler,
                               .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    sigaction(signal, &action, before);
    block_all_in(signal);
}

/* Where no module has traps, their signal stays the program's. */
static bool took_trap; /* the handler is this module's */

static void take_trap(struct rt_process *process)
{
    if (process->pep.trap_signal || !process->pep.has_sites) return;
    take_signal(rt_trap_signal(), trap, &process->pep.trap_before);
    took_trap = true;
    process->pep.trap_signal = rt_trap_signal();
}

static void give_trap_back(struct rt_process *process)
{
    if (!took_trap) return;
    process->pep.trap_signal = 0; /* from here on sigaction sets the action again */
    sigaction(rt_trap_signal(), &process->pep.trap_before, NULL);
}

/* Calls what our handlers call of libc: the loader looks for a function at its first call, which
 * takes more room than a small signal stack has. */
static void bind_functions(void)
{
    volatile size_t none = 0;
    char bytes[2] = {0};
    memcpy(bytes, bytes + 1, none);
    memmove(bytes, bytes + 1, none);
    memset(bytes, 0, none);
    sigset_t set;
    sigemptyset(&set);
    volatile int results = strncmp(bytes, bytes + 1, none) + !strchr(bytes, (int)none) +
                           mprotect(NULL, none, PROT_NONE) + sched_yield() + getpid() +
                           sigismember(&set, SIGTRAP) + (getauxval(AT_PAGESZ) > 0);
    (void)results;
    void *room = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room != MAP_FAILED) munmap(room, 1);
}

static void offer_traps(struct rt_process *process)
{
    rt_this.set_traps = rt_trap_set;
    rt_this.trap_place = rt_trap_place;
    rt_this.trap_hit = rt_trap_hit;
    rt_this.moved_from = rt_trap_moved_from;
    rt_this.arm_active = rt_trap_arm_active;
    process->pep.has_sites = 1;
}

/* The timer of another thread. */
static void make_timer_of(const struct rt_process *process, struct rt_region *region)
{
    struct rt_pep_local *self =
        (struct rt_pep_local *)((char *)process->pep.sampler + region->bias);
    rt_timer_make(self, &region->timer, region->tid, process->pep.sampling_signal);
}

static bool has_owner(const struct rt_region *region)
{
    return region->tid && region->tid != RT_NOBODY && region->tid != RT_LEFT &&
           region->ended != RT_ENDED;
}

void rt_sample_start(void)
{
    struct rt_process *process = rt_this.process;
    if (process && __footpath_interposed) process->pep.masks_kept = 1;
    if (!rt_sample_has() || !process) return;
    rt_this.sampling = &rt_sampling;
    rt_this.count_sample = count;
    rt_this.way_at = rt_history_way;
    if (rt_body_is_here())
        rt_body_offer(process);
    else if (rt_trap_has_sites())
        offer_traps(process);
    if (!rt_settings.samples || !rt_settings.tick_ns) return;
    if (process->pep.sampler) {
        take_trap(process);
        return;
    }
    /* ThreadSanitizer delivers a signal later, at another place. This is so in every program
     * built with it, so the warning is only for people who read stderr. */
    bool held_back = &__tsan_init;
    int signal = held_back ? 0 : free_signal(process);
    if (!signal) {
        if ((!held_back || rt_somebody_reads()) &&
            !__atomic_exchange_n(&process->core.complained, 1, __ATOMIC_RELAXED))
            rt_warn(held_back ? "ThreadSanitizer holds signals back" : "no free signal",
                    "; paths are not sampled", NULL);
        return;
    }
    bind_functions();
    take_signal(signal, tick, &process->pep.tick_before);
    take_trap(process);
    process->pep.sampling_signal = signal;
    process->pep.sampler = &rt_local.pep;
    process->pep.sampling = 1;
    rt_sample_thread_begins(&process->pep.first_timer, (uint32_t)getpid());
    for (uint32_t i = 0; i < process->threads.nregions; i++)
        if (has_owner(&process->threads.regions[i]) &&
            process->threads.regions[i].tid != (uint32_t)getpid())
            make_timer_of(process, &process->threads.regions[i]);
}

int rt_sample_signal(void)
{
    return rt_this.process ? rt_this.process->pep.sampling_signal : 0;
}

static int32_t *own_timer(struct rt_process *process)
{
    int32_t *timer = &process->pep.first_timer;
    for (uint32_t i = 0; i < process->threads.nregions; i++)
        if (process->threads.regions[i].bias == RT_LOCAL->core.bias)
            timer = &process->threads.regions[i].timer;
    return timer;
}

/* A thread of ours has no paths: it would want samples for ever, and keep the traps in for
 * all other threads. */
void rt_sample_not_here(void)
{
    struct rt_process *process = rt_this.process;
    if (!process || !process->pep.sampling || !RT_LOCAL->core.bias) return;
    rt_sample_thread_ends(own_timer(process));
    forget_samples(state(process));
    rt_traps_none(process);
}

void rt_sample_before_fork(void)
{
    if (rt_this.process) rt_traps_before_fork(rt_this.process);
}

void rt_sample_after_fork_in_parent(void)
{
    if (rt_this.process) rt_traps_after_fork(rt_this.process);
}

void rt_sample_after_fork(void)
{
    struct rt_process *process = rt_this.process;
    if (process) process->pep.forking = 0;
    if (!process || process->pep.sampler != &rt_local.pep || !process->pep.sampling) return;
    process->pep.trap_lock = 0;
    process->pep.first_timer = 0;
    for (uint32_t i = 0; i < process->threads.nregions; i++) process->threads.regions[i].timer = 0;
    forget_samples(state(process));
    rt_timer_make(state(process), own_timer(process), rt_thread_id(), process->pep.sampling_signal);
}

/* This module goes: takes the traps away, and no tick puts some into its code again. */
static void leave_traps(struct rt_process *process)
{
    rt_traps_before_fork(process);
    rt_this.set_traps = NULL;
    rt_this.arm_active = NULL;
    rt_this.count_sample = NULL;
    rt_this.way_at = NULL;
    rt_traps_after_fork(process);
}

/* The module that is unloaded may have the handlers: then there are no more ticks. When the
 * process ends the handlers stay: a thread that still runs may be passing a trap. */
void rt_sample_forget_module(bool process_ends)
{
    struct rt_process *process = rt_this.process;
    if (!process || !process->pep.sampler) return;
    rt_sample_count_rest();
    if (!process_ends) leave_traps(process);
    if (!process_ends) rt_body_withdraw(process);
    if (!process_ends) give_trap_back(process);
    if (process->pep.sampler != &rt_local.pep && !process_ends) return;
    process->pep.sampling = 0; /* before the traps go: no tick puts them in again */
    rt_traps_none(process);
    rt_sample_thread_ends(&process->pep.first_timer);
    for (uint32_t i = 0; i < process->threads.nregions; i++)
        rt_sample_thread_ends(&process->threads.regions[i].timer);
    if (process_ends || process->pep.sampler != &rt_local.pep) return;
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    process->pep.sampler = NULL; /* from here on sigaction sets actions again */
    sigaction(process->pep.sampling_signal, &ignore, NULL);
}
