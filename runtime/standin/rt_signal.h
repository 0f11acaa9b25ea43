/* Stands in for the other functions of libc that set the action of a signal: each calls our
 * sigaction, since libc's would call libc's own. Each does what glibc's does. A symbol is
 * weak where ISO C leaves the name to the program. */
#ifndef FP_RT_SIGNAL_H
#define FP_RT_SIGNAL_H

#define STAND_IN_WEAK __attribute__((visibility("default"), weak))

/* Signals for which siginterrupt was called: their handlers interrupt system calls. */
static sigset_t interrupting;

STAND_IN sighandler_t signal(int number, sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler};
    sigaddset(&action.sa_mask, number);
    if (sigismember(&interrupting, number) != 1) action.sa_flags = SA_RESTART;
    return set_handler(sigaction, number, &action);
}

extern sighandler_t bsd_signal(int number, sighandler_t handler); /* not in newer headers */
STAND_IN_WEAK sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

STAND_IN_WEAK sighandler_t ssignal(int number, sighandler_t handler)
{
    return signal(number, handler);
}

STAND_IN sighandler_t __sysv_signal(int number, sighandler_t handler)
{
    return set_handler_once(sigaction, number, handler);
}

STAND_IN_WEAK sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return __sysv_signal(number, handler);
}

STAND_IN_WEAK int siginterrupt(int number, int interrupt)
{
    struct sigaction action;
    if (sigaction(number, NULL, &action) < 0) return -1;
    if (interrupt) {
        sigaddset(&interrupting, number);
        action.sa_flags &= ~SA_RESTART;
    } else {
        sigdelset(&interrupting, number);
        action.sa_flags |= SA_RESTART;
    }
    return sigaction(number, &action, NULL);
}

STAND_IN_WEAK sighandler_t sigset(int number, sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler}, old;
    sigset_t one, before;
    bool hold = handler == SIG_HOLD;
    sigemptyset(&one);
    if (sigaddset(&one, number) < 0) return SIG_ERR;
    if (!hold && sigaction(number, &action, &old) < 0) return SIG_ERR;
    if (sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &one, &before) < 0) return SIG_ERR;
    if (sigismember(&before, number) == 1) return SIG_HOLD;
    if (hold && sigaction(number, NULL, &old) < 0) return SIG_ERR;
    return old.sa_handler;
}

#endif
