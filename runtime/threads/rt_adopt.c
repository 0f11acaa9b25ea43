/* Adopts threads that began before the runtime: a program that is not instrumented may have
 * threads when it loads an instrumented library. The runtime finds them in /proc/self/task,
 * gives each a copy of the counters, and interrupts it (rt_stop.c) so that it sets its base.
 *
 * Not handled: threads that such a program makes later are adopted only when the next
 * library is loaded. Threads that block all signals by a system call of their own, which
 * libc never does, are not adopted.
 */
#include "core/rt_unwind.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_region(const struct rt_process *process, uint32_t tid)
{
    for (uint32_t i = 0; i < process->threads.nregions; i++)
        if (process->threads.regions[i].tid == tid) return true;
    return false;
}

struct thread_visit {
    bool (*call)(uint32_t tid, void *context);
    void *context;
};

static bool visit_thread(const char *name, void *context)
{
    const struct thread_visit *visit = context;
    uint32_t tid = (uint32_t)strtoul(name, NULL, 10);
    return tid && visit->call(tid, visit->context);
}

uint32_t rt_each_thread(bool (*call)(uint32_t tid, void *context), void *context)
{
    struct thread_visit visit = {call, context};
    return rt_each_entry("/proc/self/task", visit_thread, &visit);
}

/* Gives a copy to a thread that has none. The first thread needs none, but where a module was
 * rewritten or counters are live. */
#ifdef RT_IN_EXECUTABLE
enum { EVERY_THREAD = true };
#else
enum { EVERY_THREAD = false };
#endif

static bool give_copy(uint32_t tid, void *context)
{
    struct rt_process *process = context;
    return (EVERY_THREAD || rt_is_live() || tid != (uint32_t)getpid()) &&
           !has_region(process, tid) && rt_threads_give_copy(process, tid);
}

/* Runs in the adopted thread. */
static void take_base(const struct rt_frame *frame, void *context)
{
    (void)frame, (void)context;
    int64_t bias = rt_threads_own_bias();
    if (bias) rt_threads_set_base(bias);
}

static void nothing(void *context)
{
    (void)context;
}

/* When a program starts, libc knows of all threads. Later some may have been made by a bare
 * clone. */
static bool is_alone(void)
{
    struct stat about;
    if (rt_is_program() && rt_has_one_thread()) return true;
    return stat("/proc/self/task", &about) == 0 && about.st_nlink == 3; /* one, ".", ".." */
}

/* Repeats until no more threads are found: a thread may be making another one just now. */
void rt_adopt_threads(void)
{
    struct rt_process *process = rt_this.process;
    bool alone = is_alone() && !rt_this.first_region;
    for (int rounds = 0; !alone && rounds < 8 && rt_each_thread(give_copy, process); rounds++) {
        rt_with_threads_stopped(take_base, nothing, NULL);
        if (rt_is_live() || rt_thread_id() != (uint32_t)getpid()) take_base(NULL, NULL);
    }
}
