/* Linked into dynamic executables only: takes the place of the functions by which
 * all code in the process, libraries included, makes threads. */
#include <pthread.h>
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
