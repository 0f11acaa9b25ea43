/* Linked into dynamic executables only: takes the place of functions that all code in
 * the process, libraries included, calls. New threads must be seen; and our handlers
 * of fatal signals must not: who asks is told the default action that they stand for. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <threads.h>

int __footpath_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __footpath_thrd_create(thrd_t *, thrd_start_t, void *);

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread,
                                                          const pthread_attr_t *attributes,
                                                          void *(*routine)(void *), void *arg)
{
    return __footpath_pthread_create(thread, attributes, routine, arg);
}

__attribute__((visibility("default"))) int thrd_create(thrd_t *thread, thrd_start_t routine, void *arg)
{
    return __footpath_thrd_create(thread, routine, arg);
}

typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);
bool __footpath_is_our_handler(const struct sigaction *action);

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
    if (result == 0 && old && __footpath_is_our_handler(old))
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
    return __footpath_is_our_handler(&old) ? SIG_DFL : old.sa_handler;
}
