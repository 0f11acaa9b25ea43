/* Holds the other threads while the profile is written, so that all counts are of one
 * moment. Each thread reports its paths in flight and waits.
 *
 * Every thread that counts gets a signal. It is one that libc keeps for itself, so programs
 * cannot block it, and it carries a value by which we know it for ours. A thread in the
 * middle of counting goes on instruction by instruction (by the processor's trace flag)
 * until it is between two counts. A thread that begins meanwhile waits before it counts.
 *
 * A thread that was held may be slow to leave the handler. rt_stop_forget_module waits for
 * it before the module is unloaded.
 *
 * Not handled: a thread that blocks all signals by a bare system call is not held after
 * PATIENCE_MS, nor one that does not answer within WAIT_MS.
 */
#include "core/rt_unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TRACE_FLAG = 0x100, MOST_STEPS = 200000, WAIT_MS = 2000, PATIENCE_MS = 50 };
enum { STOP_SIGNAL = 33 }; /* glibc: threads change their user id together */

static struct {
    void (*visit)(const struct rt_frame *, void *);
    void *context;
    uint32_t visiting; /* one thread at a time */
    uint32_t arrived, released, active;
    int32_t round; /* the signal carries it too: a late one belongs to a round that is over */
    struct rt_action old;
    int patience; /* ms left to spend on threads that block the signal */
    bool used;    /* ever */
} stop;

static bool is_over(int32_t round)
{
    return __atomic_load_n(&stop.round, __ATOMIC_ACQUIRE) != round ||
           __atomic_load_n(&stop.released, __ATOMIC_ACQUIRE);
}

static void wait_here(const struct rt_frame *frame, int32_t round)
{
    while (__atomic_exchange_n(&stop.visiting, 1, __ATOMIC_ACQUIRE)) sched_yield();
    stop.visit(frame, stop.context);
    __atomic_store_n(&stop.visiting, 0, __ATOMIC_RELEASE);
    __atomic_fetch_add(&stop.arrived, 1, __ATOMIC_ACQ_REL);
    while (!is_over(round)) {
        struct timespec moment = {0, 100000};
        syscall(SYS_nanosleep, &moment, NULL);
    }
}

/* Unblocks SIGTRAP: a trap that is blocked would kill the program. Our handlers block all signals,
 * so nobody takes the words away meanwhile. */
static bool step_on(ucontext_t *where, int32_t round)
{
    struct rt_self *self = rt_self_with(RT_STEPS), *own = self ? self : rt_self_take(RT_STEPS);
    if (!own) return false;
    if (!self)
        own->threads =
            (struct rt_threads_self){.trap_was_blocked = sigismember(&where->uc_sigmask, SIGTRAP)};
    own->threads.steps++;
    own->threads.asked_in = round;
    sigdelset(&where->uc_sigmask, SIGTRAP);
    where->uc_mcontext.gregs[REG_EFL] |= TRACE_FLAG;
    return true;
}

static void step_no_more(ucontext_t *where)
{
    const struct rt_self *self = rt_self_with(RT_STEPS);
    if (self && self->threads.trap_was_blocked) sigaddset(&where->uc_sigmask, SIGTRAP);
    where->uc_mcontext.gregs[REG_EFL] &= ~TRACE_FLAG;
    rt_self_drop(RT_STEPS);
}

static bool is_ours(int signal, const siginfo_t *info)
{
    return signal == SIGTRAP || (info->si_code == SI_QUEUE && info->si_value.sival_ptr == &stop);
}

/* ---- threads in handlers of this module ---- */

/* How many handlers have begun and not ended. We do not call handlers of the program in
 * between: they may leave by siglongjmp. */
static uint32_t handlers;

void rt_handler_begins(void)
{
    __atomic_fetch_add(&handlers, 1, __ATOMIC_ACQ_REL);
}

void rt_handler_ends(void)
{
    __atomic_fetch_sub(&handlers, 1, __ATOMIC_ACQ_REL);
}

/* asked_in: the round; 0: that of the step before. */
static void hold(ucontext_t *where, int32_t asked_in)
{
    struct rt_frame frame;
    const struct rt_self *self = rt_self_with(RT_STEPS);
    uint32_t steps = self ? self->threads.steps : 0;
    int32_t round = self && !asked_in ? self->threads.asked_in : asked_in;
    rt_unwind_from_signal(&frame, where);
    bool wanted = __atomic_load_n(&stop.active, __ATOMIC_ACQUIRE) && !is_over(round);
    if (wanted && steps < MOST_STEPS && !rt_place_is_certain(&frame) && step_on(where, round))
        return;
    step_no_more(where);
    if (wanted) wait_here(&frame, round);
}

static void stopped(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    rt_handler_begins();
    if (is_ours(signal, info)) {
        hold(context, signal == STOP_SIGNAL ? info->si_errno : 0);
    } else if ((uintptr_t)stop.old.handler > 1) {
        stop.old.handler(signal, info, context);
    }
    rt_handler_ends();
    errno = saved;
}

/* Which signals a thread blocks: bit number - 1. All bits, which no thread can block: the thread
 * has ended and is still known. The first thread is so while others go on. */
static uint64_t blocked_by(uint32_t tid)
{
    char path[64], text[2048];
    struct rt_text name = {path, 0, sizeof path};
    rt_text_add(&name, "/proc/self/task/");
    rt_text_add_number(&name, tid);
    rt_text_add(&name, "/status");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t len = read(fd, text, sizeof text - 1);
    close(fd);
    text[len > 0 ? len : 0] = 0;
    if (strstr(text, "State:\tZ")) return UINT64_MAX;
    const char *mask = strstr(text, "SigBlk:");
    return mask ? strtoull(mask + 7, NULL, 16) : 0;
}

/* Does a thread take the stop signal? A thread that blocks all signals is about to begin or has
 * just ended: libc blocks them for a moment where it creates a thread. Waits for that moment to
 * pass. */
static bool takes_signal(uint32_t tid)
{
    for (;; stop.patience--) {
        uint64_t blocked = blocked_by(tid);
        if (!(blocked >> (STOP_SIGNAL - 1) & 1)) return true;
        if (blocked == UINT64_MAX || !stop.patience) return false;
        rt_sleep_ms();
    }
}

static bool ask(uint32_t tid)
{
    if (!takes_signal(tid)) return false;
    siginfo_t info = {.si_signo = STOP_SIGNAL, .si_code = SI_QUEUE};
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_errno = stop.round;
    info.si_value.sival_ptr = &stop;
    return syscall(SYS_rt_tgsigqueueinfo, getpid(), tid, STOP_SIGNAL, &info) == 0;
}

static bool ask_other(uint32_t tid, void *self)
{
    return tid != *(const uint32_t *)self && tid != (uint32_t)getpid() && ask(tid);
}

/* Threads with copies of the counters are in the table. With shared or atomic counters
 * threads begin without the runtime: then the table is empty, and /proc names them. */
static uint32_t signal_threads(void)
{
    uint32_t sent = 0, self = rt_thread_id(), first = (uint32_t)getpid();
    struct rt_process *process = rt_this.process;
    bool first_asked = first == self;
    for (uint32_t i = 0; i < process->threads.nregions; i++) {
        uint32_t tid = process->threads.regions[i].tid;
        if (!tid || tid == self || tid == RT_NOBODY || tid == RT_LEFT) continue;
        sent += ask(tid);
        first_asked |= tid == first;
    }
    if (!process->threads.nregions) sent += rt_each_thread(ask_other, &self);
    /* the first thread, when another one writes; in rewritten programs it has a copy, too */
    if (!first_asked) sent += ask(first);
    return sent;
}

static void wait_for(uint32_t count)
{
    for (int ms = 0; ms < WAIT_MS && __atomic_load_n(&stop.arrived, __ATOMIC_ACQUIRE) < count; ms++)
        rt_sleep_ms();
}

/* Makes threads that begin from now on wait. Under the lock a thread either has its copy of
 * the counters, and gets a signal, or will see `held`. */
static void hold_beginners(struct rt_process *process, bool hold)
{
    bool locked = rt_threads_lock(process, false);
    __atomic_store_n(&process->threads.held, hold, __ATOMIC_RELEASE);
    if (locked) rt_threads_unlock(process);
}

/* Our own handler may still be set: a thread was slow to get the signal last time. */
static void take_stop_signal(const struct rt_action *ours)
{
    struct rt_action before;
    rt_set_kernel_action(STOP_SIGNAL, ours, &before);
    if (before.handler != stopped) stop.old = before;
}

/* One module at a time: each sets a handler of its own and puts the old one back. Waits no
 * longer than WAIT_MS: a fatal signal may have interrupted the other one. */
static void wait_for_turn(struct rt_process *process)
{
    for (int ms = 0;
         __atomic_exchange_n(&process->threads.stopping, 1, __ATOMIC_ACQUIRE) && ms < WAIT_MS; ms++)
        rt_sleep_ms();
}

void rt_with_threads_stopped(void (*visit)(const struct rt_frame *, void *), void (*work)(void *),
                             void *context)
{
    struct rt_process *process = rt_this.process;
    bool alone = rt_has_one_thread() && process && !process->threads.nregions;
    if (!process || alone || __atomic_exchange_n(&stop.active, 1, __ATOMIC_ACQ_REL)) {
        work(context);
        return;
    }
    wait_for_turn(process);
    hold_beginners(process, true);
    struct rt_action ours = {stopped, SA_SIGINFO | SA_RESTART | RT_RESTORER,
                             __footpath_return_from_signal, ~(uint64_t)0};
    struct rt_action old_trap;
    stop.visit = visit;
    stop.context = context;
    __atomic_store_n(&stop.round, stop.round + 1, __ATOMIC_RELEASE);
    stop.arrived = stop.released = 0;
    stop.patience = PATIENCE_MS;
    stop.used = true;
    take_stop_signal(&ours);
    rt_set_kernel_action(SIGTRAP, &ours, &old_trap);
    uint32_t count = signal_threads();
    wait_for(count);
    work(context);
    __atomic_store_n(&stop.active, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&stop.released, 1, __ATOMIC_RELEASE);
    hold_beginners(process, false);
    rt_set_kernel_action(SIGTRAP, &old_trap, NULL);
    /* a thread that was slow to get the signal must not die of it */
    if (__atomic_load_n(&stop.arrived, __ATOMIC_ACQUIRE) == count)
        rt_set_kernel_action(STOP_SIGNAL, &stop.old, NULL);
    __atomic_store_n(&process->threads.stopping, 0, __ATOMIC_RELEASE);
}

/* Only this thread is left. */
void rt_stop_after_fork(void)
{
    handlers = 0;
    stop.active = stop.visiting = 0;
}

/* ---- the module goes ---- */

/* Puts libc's handler back, which ignores signals of ours that arrive late. Where libc has
 * none, the signal is ignored for a moment, which drops them. */
static void restore_stop_action(void)
{
    struct rt_action now, ignore = {.handler = (void (*)(int, siginfo_t *, void *))1};
    rt_set_kernel_action(STOP_SIGNAL, NULL, &now);
    if (now.handler != stopped) return;
    if ((uintptr_t)stop.old.handler <= 1) rt_set_kernel_action(STOP_SIGNAL, &ignore, NULL);
    rt_set_kernel_action(STOP_SIGNAL, &stop.old, NULL);
}

/* Waits until a thread is not in a handler of ours. Our handlers block all signals until the
 * system call that leaves them, so a thread that does not block a signal is not in its
 * handler. A thread that blocks signals itself is waited for only while patience lasts. */
static bool leaves_handler(uint32_t tid, void *context)
{
    const uint64_t *signals = context;
    if (tid == rt_thread_id()) return false;
    for (; blocked_by(tid) & *signals && stop.patience; stop.patience--) rt_sleep_ms();
    return true;
}

void rt_stop_forget_module(void)
{
    struct rt_process *process = rt_this.process;
    if (!process) return;
    restore_stop_action();
    while (__atomic_load_n(&handlers, __ATOMIC_ACQUIRE)) rt_sleep_ms();
    uint64_t signals = 0;
    if (stop.used) signals |= (uint64_t)1 << (STOP_SIGNAL - 1);
    if (rt_sample_signal()) signals |= (uint64_t)1 << (rt_sample_signal() - 1);
    stop.patience = WAIT_MS;
    if (signals) rt_each_thread(leaves_handler, &signals);
}
