/* Makes threads where the linker wraps calls (--wrap): in static programs, in libraries and
 * without libc. The linker takes this file only where something calls these functions, so
 * the references to the real functions can be strong. Weak ones would not bring the real
 * functions out of a static libc. */
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
