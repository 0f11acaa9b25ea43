/* Static programs set the actions of signals by these, where the linker was told to wrap
 * the calls: what rt_interpose.c is in dynamic ones. */
#include "rt.h"

#include <errno.h>
#include <signal.h>

typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);
extern sigaction_function __real_sigaction;
extern int __footpath_sigaction(sigaction_function *real, int signal,
                                const struct sigaction *action, struct sigaction *old);
sigaction_function __wrap_sigaction;
sighandler_t __wrap_signal(int number, sighandler_t handler);
sighandler_t __wrap___sysv_signal(int number, sighandler_t handler);

int __wrap_sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    return __footpath_sigaction(__real_sigaction, signal, action, old);
}

static sighandler_t set_handler(int number, const struct sigaction *action)
{
    struct sigaction old;
    if (action->sa_handler == SIG_ERR || number < 1 || number >= NSIG) {
        errno = EINVAL;
        return SIG_ERR;
    }
    return __wrap_sigaction(number, action, &old) < 0 ? SIG_ERR : old.sa_handler;
}

sighandler_t __wrap_signal(int number, sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaddset(&action.sa_mask, number);
    return set_handler(number, &action);
}

/* What signal() is for programs that ask for ISO C alone. */
sighandler_t __wrap___sysv_signal(int number, sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    return set_handler(number, &action);
}
