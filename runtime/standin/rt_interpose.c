/* Functions that take the place of libc's in dynamic executables, for all code of the
 * process, libraries included. They see every new thread. They hide our handlers of fatal
 * signals: sigaction() and its kin report SIG_DFL for them, and put them back where the
 * program sets SIG_DFL (rt_default.c). They keep the two signals of sampling unblocked
 * (rt_mask.c).
 *
 * Sanitizers define the same functions as weak symbols, so ours win; ours then call the
 * sanitizer's by its other name, __interceptor_NAME.
 *
 * Not handled: static programs (rt_wrap.c, rt_wrap_signal.c) and bare system calls. */
#include "standin/rt_handler.h"
#include "threads/rt_create.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/select.h>

/* A program without instrumented code gets these stand-ins and no runtime: these two are used
 * where rt_threads.c is not linked. They are not weak references, as a hidden symbol that
 * nobody defines is not NULL in position-independent programs that gold linked: it is the
 * program's base. */
__attribute__((weak)) int rt_create_thread(create_function *real, pthread_t *thread,
                                           const pthread_attr_t *attributes,
                                           void *(*routine)(void *), void *arg)
{
    return real(thread, attributes, routine, arg);
}

__attribute__((weak)) int rt_create_c11_thread(c11_function *real, thrd_t *thread,
                                               thrd_start_t routine, void *arg)
{
    return real(thread, routine, arg);
}

extern create_function __interceptor_pthread_create __attribute__((weak));
extern sigaction_function __interceptor_sigaction __attribute__((weak));

#define STAND_IN __attribute__((visibility("default")))

STAND_IN int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*routine)(void *), void *arg)
{
    static create_function *known; /* the search takes the loader's lock, and 1 us */
    create_function *real = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!real) real = __interceptor_pthread_create;
    if (!real) real = (create_function *)dlsym(RTLD_NEXT, "pthread_create");
    if (!real) return EAGAIN;
    __atomic_store_n(&known, real, __ATOMIC_RELAXED);
    return rt_create_thread(real, thread, attributes, routine, arg);
}

STAND_IN int thrd_create(thrd_t *thread, thrd_start_t routine, void *arg)
{
    static c11_function *known;
    c11_function *real = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!real) real = (c11_function *)dlsym(RTLD_NEXT, "thrd_create");
    if (!real) return thrd_error;
    __atomic_store_n(&known, real, __ATOMIC_RELAXED);
    return rt_create_c11_thread(real, thread, routine, arg);
}

/* Tells the runtime that what follows is linked (rt_sample.c). */
char __footpath_interposed __attribute__((visibility("hidden"))) = 1;

extern int __footpath_sigaction(sigaction_function *real, int signal,
                                const struct sigaction *action, struct sigaction *old)
    __attribute__((weak));

STAND_IN int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    static sigaction_function *real;
    if (!real) real = __interceptor_sigaction;
    if (!real) real = (sigaction_function *)dlsym(RTLD_NEXT, "sigaction");
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    return __footpath_sigaction ? __footpath_sigaction(real, signal, action, old)
                                : real(signal, action, old);
}

#include "standin/rt_seccomp.h"
#include "standin/rt_signal.h"

/* ---- masks ---- */

/* The function of that name behind ours. */
static void *behind(void **known, const char *name)
{
    if (!*known) *known = dlsym(RTLD_NEXT, name);
    return *known;
}

typedef int mask_function(int, const sigset_t *, sigset_t *);
extern mask_function __interceptor_pthread_sigmask __attribute__((weak));
extern mask_function __interceptor_sigprocmask __attribute__((weak));
extern int __footpath_sigmask(mask_function *real, int how, const sigset_t *set, sigset_t *old)
    __attribute__((weak));
extern const sigset_t *__footpath_mask_for_call(const sigset_t *set, sigset_t *room)
    __attribute__((weak));

static int set_mask(mask_function *real, int how, const sigset_t *set, sigset_t *old)
{
    return __footpath_sigmask ? __footpath_sigmask(real, how, set, old) : real(how, set, old);
}

static const sigset_t *for_call(const sigset_t *set, sigset_t *room)
{
    return __footpath_mask_for_call ? __footpath_mask_for_call(set, room) : set;
}

STAND_IN int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    static void *known;
    mask_function *real = __interceptor_pthread_sigmask;
    if (!real) real = (mask_function *)behind(&known, "pthread_sigmask");
    return real ? set_mask(real, how, set, old) : ENOSYS;
}

STAND_IN int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    static void *known;
    mask_function *real = __interceptor_sigprocmask;
    if (!real) real = (mask_function *)behind(&known, "sigprocmask");
    if (real) return set_mask(real, how, set, old);
    errno = ENOSYS;
    return -1;
}

typedef int suspend_function(const sigset_t *);

STAND_IN int sigsuspend(const sigset_t *set)
{
    static void *known;
    sigset_t room;
    suspend_function *real = (suspend_function *)behind(&known, "sigsuspend");
    if (real) return real(for_call(set, &room));
    errno = ENOSYS;
    return -1;
}

typedef int ppoll_function(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);

STAND_IN int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                   const sigset_t *set)
{
    static void *known;
    sigset_t room;
    ppoll_function *real = (ppoll_function *)behind(&known, "ppoll");
    if (real) return real(fds, count, timeout, for_call(set, &room));
    errno = ENOSYS;
    return -1;
}

typedef int pselect_function(int, fd_set *, fd_set *, fd_set *, const struct timespec *,
                             const sigset_t *);

STAND_IN int pselect(int count, fd_set *in, fd_set *out, fd_set *except,
                     const struct timespec *timeout, const sigset_t *set)
{
    static void *known;
    sigset_t room;
    pselect_function *real = (pselect_function *)behind(&known, "pselect");
    if (real) return real(count, in, out, except, timeout, for_call(set, &room));
    errno = ENOSYS;
    return -1;
}

typedef int epoll_function(int, struct epoll_event *, int, int, const sigset_t *);

STAND_IN int epoll_pwait(int epoll, struct epoll_event *events, int most, int timeout,
                         const sigset_t *set)
{
    static void *known;
    sigset_t room;
    epoll_function *real = (epoll_function *)behind(&known, "epoll_pwait");
    if (real) return real(epoll, events, most, timeout, for_call(set, &room));
    errno = ENOSYS;
    return -1;
}
