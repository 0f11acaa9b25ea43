/* Where the linker was told to wrap calls: in static programs, in libraries and without
 * libc. Linked only where something calls them, so that the references to the
 * real functions can be strong: a weak one would not bring them out of a static libc. */
#include "threads/rt_create.h"

extern create_function __real_pthread_create;
extern c11_function __real_thrd_create;
create_function __wrap_pthread_create;
c11_function __wrap_thrd_create;

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*routine)(void *), void *arg)
{
    return rt_create_thread(__real_pthread_create, thread, attributes, routine, arg);
}

int __wrap_thrd_create(thrd_t *thread, thrd_start_t routine, void *arg)
{
    return rt_create_c11_thread(__real_thrd_create, thread, routine, arg);
}
