/* Sets actions of signals in static programs, where the linker wraps the calls (--wrap).
 * rt_interpose.c does the same in dynamic programs.
 *
 * Not handled: the functions that rt_signal.h has beside signal and __sysv_signal. */
#include "rt.h"
#include "standin/rt_handler.h"

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

sighandler_t __wrap_signal(int number, sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaddset(&action.sa_mask, number);
    return set_handler(__wrap_sigaction, number, &action);
}

sighandler_t __wrap___sysv_signal(int number, sighandler_t handler)
{
    return set_handler_once(__wrap_sigaction, number, handler);
}
