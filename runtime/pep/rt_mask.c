/* Keeps the two signals of sampling, that of traps (SIGSEGV) and that of ticks, unblocked and with
 * our handlers. Where the program blocks one of them or sets its action, that is only
 * remembered; where the program asks, it gets what it has set. The stand-ins that the
 * program calls are in rt_interpose.c. A signal of the two that is sent while the program thinks
 * that it is blocked is held, and sent again when it is not. Of each thread one signal is held.
 *
 * While a handler of the program for the signal of traps runs, the kernel would block that signal.
 * We block signal 32 in its place, which is libc's and which no program can block: a fault in such
 * a handler kills the program, as it should, and siglongjmp out of the handler restores the mask,
 * as it should. A thread is not cancelled meanwhile.
 *
 * Not handled: sigwait and sigpending of a signal that is held. Masks that the program sets by bare
 * system calls. A program that is executed (exec) inherits the real mask, not the remembered one.
 */
#include "rt.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

enum { TRAP = 1, TICK = 2 }; /* RT_BELIEVES */
enum { STANDS_FOR_TRAP = 32 };

/* Per signal, which of the two signals the sa_mask of its handler names. */
static unsigned char believed_by[NSIG];

static int tick_signal(void)
{
    const struct rt_process *process = rt_this.process;
    return process && process->pep.sampler ? process->pep.sampling_signal : 0;
}

/* 0 where no module has traps: then the signal is the program's. */
static int trap_signal(void)
{
    return rt_this.process->pep.trap_signal;
}

/* Sets of signals: bit number - 1. */
static uint64_t bit(int signal)
{
    return signal ? (uint64_t)1 << (signal - 1) : 0;
}

/* Without those and with these; returns what it was. libc's functions refuse signal 32. */
static uint64_t change(sigset_t *set, uint64_t without, uint64_t with)
{
    uint64_t was, now;
    memcpy(&was, set, sizeof was);
    now = (was & ~without) | with;
    memcpy(set, &now, sizeof now);
    return was;
}

static uint64_t of_context(const ucontext_t *context)
{
    uint64_t mask;
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    return mask;
}

uint64_t rt_mask_for(const struct sigaction *action, int signal, const ucontext_t *context)
{
    uint64_t more, mask = of_context(context);
    memcpy(&more, &action->sa_mask, sizeof more);
    if (!(action->sa_flags & SA_NODEFER)) more |= bit(signal);
    bool trap = more & bit(trap_signal());
    more &= ~(bit(trap_signal()) | bit(rt_this.process->pep.sampling_signal));
    return mask | more | (trap ? bit(STANDS_FOR_TRAP) : 0);
}

uint32_t rt_mask_believed(void)
{
    return rt_self_bits() & RT_BELIEVES;
}

/* First the new ones: a signal may come in between. */
void rt_mask_believe(uint32_t which)
{
    if (which) rt_self_take(which);
    rt_self_drop(RT_BELIEVES & ~which);
}

void rt_mask_forget(void)
{
    rt_self_drop(RT_BELIEVES | RT_HOLDS);
}

/* Takes the two signals out of a set. Returns which of them were in it. */
static uint32_t take_out(sigset_t *set)
{
    uint32_t which = 0;
    int tick = tick_signal();
    if (!tick) return 0;
    if (trap_signal() && sigismember(set, trap_signal()) == 1) which |= TRAP;
    if (sigismember(set, tick) == 1) which |= TICK;
    if (trap_signal()) sigdelset(set, trap_signal());
    sigdelset(set, tick);
    return which;
}

static void put_in(sigset_t *set, uint32_t which)
{
    if (which & TRAP) sigaddset(set, trap_signal());
    if (which & TICK) sigaddset(set, tick_signal());
}

/* Only the mask of a context tells that a handler for the signal of traps runs. */
bool rt_mask_believes(int signal, const ucontext_t *context)
{
    if (signal != trap_signal()) return rt_mask_believed() & TICK;
    return rt_mask_believed() & TRAP || of_context(context) & bit(STANDS_FOR_TRAP);
}

bool rt_mask_hold(int signal, const siginfo_t *info, const ucontext_t *context)
{
    if (!rt_mask_believes(signal, context)) return false;
    struct rt_self *self = rt_self_take(RT_HOLDS);
    if (self) self->pep.held = *info;
    return self;
}

void rt_mask_send_held(void)
{
    const struct rt_self *self = rt_self_with(RT_HOLDS);
    if (!self) return;
    siginfo_t info = self->pep.held;
    uint32_t which = info.si_signo == trap_signal() ? TRAP : TICK;
    if (rt_mask_believed() & which) return;
    if (!rt_self_drop(RT_HOLDS)) return; /* a tick has come meanwhile, and sent it */
    syscall(SYS_rt_tgsigqueueinfo, getpid(), rt_thread_id(), info.si_signo, &info);
}

/* pthread_sigmask, or sigprocmask. */
int __footpath_sigmask(int (*real)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set,
                       sigset_t *old);
int __footpath_sigmask(int (*real)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set,
                       sigset_t *old)
{
    if (!tick_signal()) return real(how, set, old);
    uint32_t before = rt_mask_believed(), which = 0;
    sigset_t copy;
    if (set) {
        copy = *set;
        which = take_out(&copy);
    }
    if (how == SIG_UNBLOCK && which & TRAP) change(&copy, 0, bit(STANDS_FOR_TRAP));
    if (how == SIG_SETMASK && set && rt_sample_state() && rt_sample_state()->on_stack)
        change(&copy, 0, bit(tick_signal())); /* rt_onstack.c */
    int result = real(how, set ? &copy : NULL, old);
    if (result == 0 && old) {
        uint64_t was = change(old, bit(STANDS_FOR_TRAP) | bit(tick_signal()), 0);
        if (was & bit(STANDS_FOR_TRAP)) before |= TRAP;
    }
    if (result == 0 && set) {
        if (how == SIG_BLOCK && which) rt_self_take(which);
        if (how == SIG_UNBLOCK) rt_self_drop(which);
        if (how == SIG_SETMASK) rt_mask_believe(which);
        rt_mask_send_held();
    }
    if (result == 0 && old) put_in(old, before);
    return result;
}

/* The mask to pass on instead of the mask of a sigsuspend, ppoll, pselect or epoll_pwait. */
const sigset_t *__footpath_mask_for_call(const sigset_t *set, sigset_t *room);
const sigset_t *__footpath_mask_for_call(const sigset_t *set, sigset_t *room)
{
    if (!set || !tick_signal()) return set;
    *room = *set;
    take_out(room);
    return room;
}

/* The action of one of the two signals is only remembered. */
static bool remember_action(int signal, const struct sigaction *action, struct sigaction *old)
{
    struct rt_process *process = rt_this.process;
    struct sigaction *kept =
        signal == trap_signal() ? &process->pep.trap_before : &process->pep.tick_before;
    struct sigaction before = *kept;
    if (action) *kept = *action;
    if (old) *old = before;
    return true;
}

int __footpath_sigaction(int (*real)(int, const struct sigaction *, struct sigaction *), int signal,
                         const struct sigaction *action, struct sigaction *old);
int __footpath_sigaction(int (*real)(int, const struct sigaction *, struct sigaction *), int signal,
                         const struct sigaction *action, struct sigaction *old)
{
    int tick = tick_signal();
    if (!tick || signal < 1 || signal >= NSIG) return rt_set_action(real, signal, action, old);
    if (signal == trap_signal() || signal == tick) {
        remember_action(signal, action, old);
        return 0;
    }
    uint32_t before = believed_by[signal], which = 0;
    struct sigaction copy;
    if (action) {
        copy = *action;
        which = take_out(&copy.sa_mask);
    }
    struct sigaction kept = rt_on_stack[signal];
    bool instead = action && rt_on_stack_wanted(action);
    if (instead) rt_on_stack_instead(signal, &copy);
    int result = rt_set_action(real, signal, action ? &copy : NULL, old);
    if (result < 0 && instead) rt_on_stack[signal] = kept;
    if (result == 0 && old) rt_on_stack_tell(&kept, old);
    if (result == 0 && action) believed_by[signal] = (unsigned char)which;
    if (result == 0 && old) put_in(&old->sa_mask, before);
    return result;
}
