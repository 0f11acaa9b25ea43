/* The timers of ticks: each thread has one on its own CPU clock.
 *
 * The kernel looks at such timers only when its own clock ticks (250 times a second, mostly) and
 * finds the thread running. So ticks come late, with the number of those that were left out, and
 * what was due since the last one never comes if the thread ends. Beside a load that may be much of
 * what a thread does: so at its end a thread looks at its clock, and the ticks that were due count
 * as well.
 *
 * The first tick is at a random moment of the first period. So many short runs together are
 * sampled in all their parts, and short threads in proportion to their time.
 */
#include "rt.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_MISSED = 255 }; /* a virtual machine may have stood still for long */

static uint64_t in_ns(struct timespec time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static struct timespec as_time(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
}

static uint64_t random_below(uint64_t limit, uint32_t tid)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t seed = in_ns(now) + ((uint64_t)tid << 40);
    seed ^= seed >> 31;
    return (seed * UINT64_C(0x9e3779b97f4a7c15) >> 20) % limit;
}

/* By system calls: libc's timer functions allocate memory. */
bool rt_timer_make(struct rt_pep_local *self, int32_t *timer, uint32_t tid, int signal)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = signal};
    event._sigev_un._tid = (pid_t)tid;
    int clock = (int)(~tid << 3 | 6); /* the CPU clock of a thread */
    int made;
    struct timespec now = {0};
    uint64_t first = 1 + random_below(rt_settings.tick_ns, tid);
    struct itimerspec when = {as_time(rt_settings.tick_ns), as_time(first)};
    if (syscall(SYS_timer_create, clock, &event, &made) < 0) return false;
    *timer = made + 1;
    clock_gettime((clockid_t)clock, &now);
    self->first_tick = in_ns(now) + first;
    self->told = self->ahead = 0;
    return syscall(SYS_timer_settime, made, 0, &when, NULL) == 0;
}

void rt_timer_delete(int32_t *timer)
{
    if (*timer) syscall(SYS_timer_delete, *timer - 1);
    *timer = 0;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
    return value < most ? value : most;
}

/* Those that were counted ahead do not count again. */
uint64_t rt_timer_tick(struct rt_pep_local *self, int overrun)
{
    uint64_t missed = at_most(overrun > 0 ? (uint64_t)overrun : 0, MOST_MISSED);
    uint64_t time = (1 + missed) * rt_settings.tick_ns, known = at_most(self->ahead, time);
    self->ahead -= known;
    self->told += time - known;
    return time - known;
}

uint64_t rt_timer_rest(struct rt_pep_local *self)
{
    struct timespec now;
    if (!self->first_tick || rt_is_confined() || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) < 0 ||
        in_ns(now) < self->first_tick)
        return 0;
    uint64_t due =
        (1 + (in_ns(now) - self->first_tick) / rt_settings.tick_ns) * rt_settings.tick_ns;
    uint64_t missing = due > self->told ? due - self->told : 0;
    missing = at_most(missing, (uint64_t)MOST_MISSED * rt_settings.tick_ns);
    self->told += missing;
    self->ahead += missing;
    return missing;
}
