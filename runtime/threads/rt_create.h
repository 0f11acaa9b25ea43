/* Standing in for the functions that make threads: rt_threads.c does it, rt_interpose.c
 * and rt_wrap.c are the two ways to be asked. */
#ifndef FP_RT_CREATE_H
#define FP_RT_CREATE_H

#include <pthread.h>
#include <threads.h>

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int c11_function(thrd_t *, thrd_start_t, void *);

/* Makes a thread by the real function; it begins with counters of its own. */
int rt_create_thread(create_function *real, pthread_t *thread, const pthread_attr_t *attributes,
                     void *(*routine)(void *), void *arg) __attribute__((visibility("hidden")));
int rt_create_c11_thread(c11_function *real, thrd_t *thread, thrd_start_t routine, void *arg)
    __attribute__((visibility("hidden")));

#endif
