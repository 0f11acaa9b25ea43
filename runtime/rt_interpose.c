/* Linked into dynamic executables only: takes the place of functions that all code in
 * the process, libraries included, calls. New threads must be seen; and our handlers
 * of fatal signals must not: who asks is told the default action that they stand for.
 *
 * Sanitizers stand in for the same functions, by weak symbols that give way, and offer
 * theirs by another name for us to go on with. */
#include "rt_create.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>

/* Weak: a program without instrumented code gets these stand-ins and no runtime. */
#pragma weak rt_create_thread
#pragma weak rt_create_c11_thread
extern bool __footpath_is_our_handler(const struct sigaction *action) __attribute__((weak));

typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);
typedef sighandler_t signal_function(int, sighandler_t);
extern create_function __interceptor_pthread_create __attribute__((weak));
extern sigaction_function __interceptor_sigaction __attribute__((weak));
extern signal_function __interceptor_signal __attribute__((weak));

#define STAND_IN __attribute__((visibility("default")))

STAND_IN int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *),
                            void *arg)
{
    create_function *real = __interceptor_pthread_create;
    if (!real) real = (create_function *)dlsym(RTLD_NEXT, "pthread_create");
    if (!real) return EAGAIN;
    return rt_create_thread ? rt_create_thread(real, thread, attributes, routine, arg)
                            : real(thread, attributes, routine, arg);
}

STAND_IN int thrd_create(thrd_t *thread, thrd_start_t routine, void *arg)
{
    c11_function *real = (c11_function *)dlsym(RTLD_NEXT, "thrd_create");
    if (!real) return thrd_error;
    return rt_create_c11_thread ? rt_create_c11_thread(real, thread, routine, arg)
                                : real(thread, routine, arg);
}

static bool is_ours(const struct sigaction *action)
{
    return __footpath_is_our_handler && __footpath_is_our_handler(action);
}

STAND_IN int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    static sigaction_function *real;
    if (!real) real = __interceptor_sigaction;
    if (!real) real = (sigaction_function *)dlsym(RTLD_NEXT, "sigaction");
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    int result = real(signal, action, old);
    if (result == 0 && old && is_ours(old)) *old = (struct sigaction){.sa_handler = SIG_DFL};
    return result;
}

STAND_IN sighandler_t signal(int number, sighandler_t handler)
{
    static signal_function *real;
    if (!real) real = __interceptor_signal;
    if (!real) real = (signal_function *)dlsym(RTLD_NEXT, "signal");
    if (!real) {
        errno = ENOSYS;
        return SIG_ERR;
    }
    struct sigaction old = {.sa_flags = SA_SIGINFO};
    old.sa_handler = real(number, handler);
    return is_ours(&old) ? SIG_DFL : old.sa_handler;
}
