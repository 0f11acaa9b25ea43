/* Makes threads in place of pthread_create and thrd_create. rt_threads.c implements it;
 * rt_interpose.c (dynamic programs) and rt_wrap.c (--wrap) call it. */
#ifndef FP_RT_CREATE_H
#define FP_RT_CREATE_H

#include <pthread.h>
#include <threads.h>

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int c11_function(thrd_t *, thrd_start_t, void *);

/* Makes a thread by the real function. The thread begins with counters of its own. */
int rt_create_thread(create_function *real, pthread_t *thread, const pthread_attr_t *attributes,
                     void *(*routine)(void *), void *arg) __attribute__((visibility("hidden")));
int rt_create_c11_thread(c11_function *real, thrd_t *thread, thrd_start_t routine, void *arg)
    __attribute__((visibility("hidden")));

#endif
