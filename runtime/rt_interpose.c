/* Linked into dynamic executables only: takes the place of functions that all code in
 * the process, libraries included, calls. New threads must be seen; and our handlers
 * of fatal signals must not: who asks is told the default action that they stand for. */
#include "rt_create.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>

/* Weak: a program without instrumented code gets these stand-ins and no runtime. */
extern create_function __footpath_pthread_create __attribute__((weak));
extern c11_function __footpath_thrd_create __attribute__((weak));
extern bool __footpath_is_our_handler(const struct sigaction *action) __attribute__((weak));

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
                                                          const pthread_attr_t *attributes,
                                                          void *(*routine)(void *), void *arg)
{
    if (__footpath_pthread_create) return __footpath_pthread_create(thread, attributes, routine, arg);
    create_function *real = (create_function *)dlsym(RTLD_NEXT, "pthread_create");
    return real ? real(thread, attributes, routine, arg) : EAGAIN;
}

__attribute__((visibility("default"))) int thrd_create(thrd_t *thread, thrd_start_t routine, void *arg)
{
    if (__footpath_thrd_create) return __footpath_thrd_create(thread, routine, arg);
    c11_function *real = (c11_function *)dlsym(RTLD_NEXT, "thrd_create");
    return real ? real(thread, routine, arg) : thrd_error;
}

static bool is_ours(const struct sigaction *action)
{
    return __footpath_is_our_handler && __footpath_is_our_handler(action);
}

typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);

__attribute__((visibility("default"))) int sigaction(int signal, const struct sigaction *action,
                                                     struct sigaction *old)
{
    static sigaction_function *real;
    if (!real) real = (sigaction_function *)dlsym(RTLD_NEXT, "sigaction");
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    int result = real(signal, action, old);
    if (result == 0 && old && is_ours(old))
        *old = (struct sigaction){.sa_handler = SIG_DFL};
    return result;
}

typedef sighandler_t signal_function(int, sighandler_t);

__attribute__((visibility("default"))) sighandler_t signal(int number, sighandler_t handler)
{
    static signal_function *real;
    if (!real) real = (signal_function *)dlsym(RTLD_NEXT, "signal");
    if (!real) {
        errno = ENOSYS;
        return SIG_ERR;
    }
    struct sigaction old = {.sa_flags = SA_SIGINFO};
    old.sa_handler = real(number, handler);
    return is_ours(&old) ? SIG_DFL : old.sa_handler;
}
