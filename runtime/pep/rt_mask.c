/* Keeps the two signals of sampling, SIGTRAP and the signal of ticks, unblocked and with our
 * handlers. Where the program blocks one of them or sets its action, that is only
 * remembered; where the program asks, it gets what it has set. The stand-ins that the
 * program calls are in rt_interpose.c.
 *
 * Not handled: masks that the program sets by bare system calls. A program that is executed
 * (exec) inherits the real mask, not the remembered one.
 */
#include "rt.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

enum { TRAP = 1, TICK = 2 };

/* Which of SIGTRAP and the tick signal the program thinks this thread has blocked; per
 * signal, which of them the sa_mask of its handler names. */
RT_PER_THREAD(uint32_t, believed)
static unsigned char believed_by[NSIG];

static int tick_signal(void)
{
    const struct rt_process *process = rt_this.process;
    return process && process->pep.sampler ? process->pep.sampling_signal : 0;
}

/* Is it one of the two? SIGTRAP is ours only where some module has traps. */
static bool is_trap(int signal)
{
    return signal == SIGTRAP && rt_this.process->pep.trap_taken;
}

uint32_t rt_mask_believed(void)
{
    return *believed();
}

void rt_mask_believe(uint32_t which)
{
    *believed() = which;
}

/* Takes the two signals out of a set. Returns which of them were in it. */
static uint32_t take_out(sigset_t *set)
{
    uint32_t which = 0;
    int tick = tick_signal();
    if (!tick) return 0;
    if (is_trap(SIGTRAP) && sigismember(set, SIGTRAP) == 1) which |= TRAP;
    if (sigismember(set, tick) == 1) which |= TICK;
    if (is_trap(SIGTRAP)) sigdelset(set, SIGTRAP);
    sigdelset(set, tick);
    return which;
}

static void put_in(sigset_t *set, uint32_t which)
{
    if (which & TRAP) sigaddset(set, SIGTRAP);
    if (which & TICK) sigaddset(set, tick_signal());
}

/* pthread_sigmask, or sigprocmask. */
int __footpath_sigmask(int (*real)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set,
                       sigset_t *old);
int __footpath_sigmask(int (*real)(int, const sigset_t *, sigset_t *), int how, const sigset_t *set,
                       sigset_t *old)
{
    if (!tick_signal()) return real(how, set, old);
    uint32_t before = *believed(), which = 0;
    sigset_t copy;
    if (set) {
        copy = *set;
        which = take_out(&copy);
    }
    int result = real(how, set ? &copy : NULL, old);
    if (result == 0 && set) {
        if (how == SIG_BLOCK) *believed() |= which;
        if (how == SIG_UNBLOCK) *believed() &= ~which;
        if (how == SIG_SETMASK) *believed() = which;
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

/* The action of SIGTRAP or the tick signal is only remembered. */
static bool remember_action(int signal, const struct sigaction *action, struct sigaction *old)
{
    struct rt_process *process = rt_this.process;
    struct sigaction *kept =
        signal == SIGTRAP ? &process->pep.trap_before : &process->pep.tick_before;
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
    if (is_trap(signal) || signal == tick) {
        remember_action(signal, action, old);
        return 0;
    }
    uint32_t before = believed_by[signal], which = 0;
    struct sigaction copy;
    if (action) {
        copy = *action;
        which = take_out(&copy.sa_mask);
    }
    int result = rt_set_action(real, signal, action ? &copy : NULL, old);
    if (result == 0 && action) believed_by[signal] = (unsigned char)which;
    if (result == 0 && old) put_in(&old->sa_mask, before);
    return result;
}
