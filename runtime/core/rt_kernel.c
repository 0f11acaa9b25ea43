/* Small questions to the kernel: which thread this is, what time it is, and a short sleep.
 *
 * Not handled: a sleep that a signal ends early is not continued; the callers sleep in loops.
 */
#include "rt.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

uint32_t rt_thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}

uint64_t rt_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void rt_sleep_ms(void)
{
    struct timespec moment = {0, 1000000};
    syscall(SYS_nanosleep, &moment, NULL);
}
