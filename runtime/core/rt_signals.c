/* Holds signals while a thread writes. A signal that arrives waits in the kernel until the
 * write is done, so no handler runs in the middle of a write. A signal that our own write
 * raises (SIGXFSZ beyond a limit of file size, SIGPIPE on a closed stderr) is removed before
 * the program could see it.
 *
 * Most short programs have one thread and no handlers but ours of fatal signals. There the
 * thread that writes does not ask the kernel to hold signals, which saves two system calls:
 * our handler notes the signal, and the thread sends it to itself again when it has written.
 *
 * All by system calls: libc's functions have stand-ins of ours (rt_interpose.c).
 *
 * Not handled: signals 32 and 33, which are libc's, are not held. Handlers that the program has
 * set by bare system calls may run while it writes.
 */
#include "core/rt_call.h"
#include "rt.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define BIT(signal) ((uint64_t)1 << ((signal) - 1))

/* The signals that our own writes may raise. */
static const uint64_t raised_by_writes = BIT(SIGXFSZ) | BIT(SIGPIPE);

/* These bytes, behind a nop: debuggers and unwinders know the frame of a handler by them. */
__asm__(".pushsection .text\n"
        "nop\n"
        ".hidden __footpath_return_from_signal\n"
        ".globl __footpath_return_from_signal\n"
        ".type __footpath_return_from_signal, @function\n"
        "__footpath_return_from_signal: mov $15, %rax\n" /* rt_sigreturn */
        "syscall\n"
        ".popsection\n");

bool rt_set_kernel_action(int signal, const struct rt_action *action, struct rt_action *old)
{
    return rt_call(SYS_rt_sigaction, (uint64_t)signal, (uintptr_t)action, (uintptr_t)old,
                   sizeof action->mask) == 0;
}

uint64_t rt_signals_pending(void)
{
    uint64_t pending = 0;
    syscall(SYS_rt_sigpending, &pending, sizeof pending);
    return pending;
}

/* Only a signal that was blocked before can be pending. */
void rt_hold_signals(struct rt_held *held)
{
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &rt_all_signals, &held->mask, sizeof held->mask);
    held->pending = held->mask & raised_by_writes ? rt_signals_pending() : 0;
    held->raised = 0;
    held->noting = false;
}

/* ---- signals that are noted ---- */

static struct {
    bool on;
    int signal; /* or 0 */
    siginfo_t info;
} noted;

void rt_hold_for_write(struct rt_held *held)
{
    *held = (struct rt_held){.noting = rt_handlers_are_ours()};
    if (!held->noting) {
        rt_hold_signals(held);
        return;
    }
    noted.signal = 0;
    __atomic_store_n(&noted.on, true, __ATOMIC_SEQ_CST);
}

/* One is enough: the process will die of it. Only one that our own write may have raised gives
 * way to another. In the handler all signals are blocked. */
bool rt_note_signal(int signal, const siginfo_t *info)
{
    if (!__atomic_load_n(&noted.on, __ATOMIC_SEQ_CST)) return false;
    if (!noted.signal || BIT(noted.signal) & raised_by_writes) {
        noted.info = *info;
        __atomic_store_n(&noted.signal, signal, __ATOMIC_SEQ_CST);
    }
    return true;
}

static void send_noted(uint64_t ours)
{
    __atomic_store_n(&noted.on, false, __ATOMIC_SEQ_CST);
    int signal = __atomic_load_n(&noted.signal, __ATOMIC_SEQ_CST);
    if (signal && !(ours & BIT(signal)))
        syscall(SYS_rt_tgsigqueueinfo, rt_getpid(), rt_thread_id(), signal, &noted.info);
}

void rt_note_raised(struct rt_held *held, int error)
{
    if (error == EFBIG) held->raised |= BIT(SIGXFSZ);
    if (error == EPIPE) held->raised |= BIT(SIGPIPE);
}

/* A signal that was pending before is the program's and stays pending. */
void rt_release_signals(const struct rt_held *held)
{
    uint64_t ours = held->raised & ~held->pending;
    struct timespec now = {0, 0};
    if (ours)
        while (syscall(SYS_rt_sigtimedwait, &ours, NULL, &now, sizeof ours) > 0) continue;
    if (held->noting)
        send_noted(ours);
    else
        syscall(SYS_rt_sigprocmask, SIG_SETMASK, &held->mask, NULL, sizeof held->mask);
}
