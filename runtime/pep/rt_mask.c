/* Two signals that the program cannot block or take: that of ticks and SIGTRAP, while
 * paths are sampled. What the program says of them is remembered, and told when it
 * asks, so that it sees the masks and actions it has set. The functions that it calls
 * are in rt_interpose.c; here is what they need.
 *
 * Not seen: masks set by system calls of the program's own, and what a program inherits
 * that is executed while the two are believed to be blocked.
 */
#include "rt.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

enum { TRAP = 1, TICK = 2 };

/* Which of the two this thread believes to block; which ones the program's handlers do. */
static _Thread_local uint32_t believed __attribute__((tls_model("initial-exec")));
static unsigned char believed_by[NSIG];

static int tick_signal(void)
{
    const struct rt_process *process = rt_this.process;
    return process && process->pep.sampler ? process->pep.sampling_signal : 0;
}

uint32_t rt_mask_believed(void)
{
    return believed;
}

void rt_mask_believe(uint32_t which)
{
    believed = which;
}

/* Takes the two out of a set, and says which were in it. */
static uint32_t take_out(sigset_t *set)
{
    uint32_t which = 0;
    int tick = tick_signal();
    if (!tick) return 0;
    if (sigismember(set, SIGTRAP) == 1) which |= TRAP;
    if (sigismember(set, tick) == 1) which |= TICK;
    sigdelset(set, SIGTRAP);
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
    uint32_t before = believed, which = 0;
    sigset_t copy;
    if (set) {
        copy = *set;
        which = take_out(&copy);
    }
    int result = real(how, set ? &copy : NULL, old);
    if (result == 0 && set) {
        if (how == SIG_BLOCK) believed |= which;
        if (how == SIG_UNBLOCK) believed &= ~which;
        if (how == SIG_SETMASK) believed = which;
    }
    if (result == 0 && old) put_in(old, before);
    return result;
}

/* A mask for the time of a system call: what to pass on instead. */
const sigset_t *__footpath_mask_for_call(const sigset_t *set, sigset_t *room);
const sigset_t *__footpath_mask_for_call(const sigset_t *set, sigset_t *room)
{
    if (!set || !tick_signal()) return set;
    *room = *set;
    take_out(room);
    return room;
}

/* Of the two, the action is only remembered. */
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
    if (signal == SIGTRAP || signal == tick) {
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
