/* Writing with signals held. The thread that writes takes no signal: one that arrives
 * waits in the kernel and strikes when the write is done, so that no handler ever runs
 * in the middle of it. What our own write raises (SIGXFSZ beyond a limit of file size,
 * SIGPIPE on a closed standard error) is taken back before the program could see it.
 *
 * By system calls: the functions of libc are ours to stand in for (rt_interpose.c).
 */
#include "rt.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BIT(signal) ((uint64_t)1 << ((signal) - 1))

/* 32 and 33 are libc's own; rt_stop.c uses one of them to hold threads. */
static const uint64_t held_signals = ~(BIT(32) | BIT(33));

uint64_t rt_signals_pending(void)
{
    uint64_t pending = 0;
    syscall(SYS_rt_sigpending, &pending, sizeof pending);
    return pending;
}

void rt_hold_signals(struct rt_held *held)
{
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &held_signals, &held->mask, sizeof held->mask);
    held->pending = rt_signals_pending();
    held->raised = 0;
}

void rt_note_raised(struct rt_held *held, int error)
{
    if (error == EFBIG) held->raised |= BIT(SIGXFSZ);
    if (error == EPIPE) held->raised |= BIT(SIGPIPE);
}

/* A signal that was waiting before is the program's, and stays. */
void rt_release_signals(const struct rt_held *held)
{
    uint64_t ours = held->raised & ~held->pending;
    struct timespec now = {0, 0};
    if (ours)
        while (syscall(SYS_rt_sigtimedwait, &ours, NULL, &now, sizeof ours) > 0) continue;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &held->mask, NULL, sizeof held->mask);
}
