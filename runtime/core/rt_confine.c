/* Programs that confine themselves by seccomp. The filter may kill the program for a system
 * call that only the runtime makes, and trying such a call would kill it too. So right
 * before the filter is set the runtime writes the profile, removes its handlers and threads,
 * and makes no system call from then on. What the program does afterwards is not in the
 * profile. FOOTPATH_SECCOMP=allow is for filters that allow the calls of the runtime
 * (docs/security.md lists them).
 *
 * Not handled: filters that are set by a bare instruction, in static programs, or before
 * the program was started. */
#include "core/rt_unwind.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

bool rt_is_confined(void)
{
    return __atomic_load_n(&rt_writing()->confined, __ATOMIC_ACQUIRE);
}

/* Called in each module. */
void rt_confine_module(void)
{
    rt_periodic_forget_module();
    rt_sample_forget_module(true);
    rt_end_unwatch();
}

static bool begun;

/* Called by rt_interpose.c in front of the call that sets a filter, and behind it. */
void __footpath_before_seccomp(void);
RT_ENTRY void __footpath_before_seccomp(void)
{
    int saved = errno;
    struct rt_process *process = rt_this.process;
    const char *how = rt_variable("FOOTPATH_SECCOMP");
    if (!process || rt_is_confined() || (how && !strcmp(how, "allow")) ||
        getpid() != rt_settings.pid)
        return;
    struct rt_frame frame;
    rt_unwind_here(&frame);
    rt_write_all(RT_MEANWHILE, &frame);
    for (size_t i = 0; i < RT_MOST_MODULES; i++)
        if (process->core.modules[i]) process->core.modules[i]->confine();
    if (rt_somebody_reads())
        rt_warn("the program confines itself by seccomp; what it does from here on is not in the "
                "profile",
                NULL);
    begun = true;
    __atomic_store_n(&process->core.writing.confined, 1, __ATOMIC_RELEASE);
    errno = saved;
}

void __footpath_after_seccomp(bool done);
void __footpath_after_seccomp(bool done)
{
    int saved = errno;
    if (begun && !done) {
        __atomic_store_n(&rt_writing()->confined, 0, __ATOMIC_RELEASE);
        rt_this.take_over();
    }
    begun = false;
    errno = saved;
}
