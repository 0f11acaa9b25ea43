/* signal() by way of sigaction, shared by the two kinds of stand-ins: rt_signal.h and
 * rt_wrap_signal.c. Does what glibc's does. */
#ifndef FP_RT_HANDLER_H
#define FP_RT_HANDLER_H

#include <errno.h>
#include <signal.h>

typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);

/* Returns the handler before, or SIG_ERR. set: the sigaction to call. */
static inline sighandler_t set_handler(sigaction_function *set, int number,
                                       const struct sigaction *action)
{
    struct sigaction old;
    if (action->sa_handler == SIG_ERR || number < 1 || number >= NSIG) {
        errno = EINVAL;
        return SIG_ERR;
    }
    return set(number, action, &old) < 0 ? SIG_ERR : old.sa_handler;
}

/* What signal() is for programs that ask for ISO C alone. */
static inline sighandler_t set_handler_once(sigaction_function *set, int number,
                                            sighandler_t handler)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    return set_handler(set, number, &action);
}

#endif
