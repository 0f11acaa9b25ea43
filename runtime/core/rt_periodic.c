/* Writes the profile every FOOTPATH_DUMP_SECONDS while the program runs. A thread of ours
 * sleeps and writes, so no signal disturbs the program's threads.
 *
 * Not handled: the time that a write takes is added to the period. */
#include "rt.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_t writer;
static uint32_t enough; /* 1: the thread ends */

static void *write_again(void *unused)
{
    (void)unused;
    rt_sample_not_here();
    struct timespec period = {(time_t)(rt_settings.dump_ns / 1000000000u),
                              (long)(rt_settings.dump_ns % 1000000000u)};
    for (;;) {
        syscall(SYS_futex, &enough, FUTEX_WAIT_PRIVATE, 0, &period, NULL, 0);
        struct rt_process *process = rt_this.process;
        if (__atomic_load_n(&enough, __ATOMIC_ACQUIRE) || !process || process->core.exiting)
            return NULL;
        rt_write_all(RT_MEANWHILE, NULL);
    }
}

/* The first module's thread writes for all modules. It blocks all signals, so that no
 * handler of the program runs in it. */
void rt_periodic_start(bool after_fork)
{
    struct rt_process *process = rt_this.process;
    if (!rt_settings.dump_ns || !process) return;
    if (after_fork ? process->core.dumper != &rt_this : process->core.dumper != NULL) return;
    process->core.dumper = &rt_this;
    sigset_t all, old;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1 << 18);
    if (pthread_create(&writer, &attributes, write_again, NULL)) {
        process->core.dumper = NULL;
        rt_warn("no thread for FOOTPATH_DUMP_SECONDS; the profile is written at the end only",
                NULL);
    }
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void rt_periodic_forget_module(void)
{
    struct rt_process *process = rt_this.process;
    if (!process || process->core.dumper != &rt_this) return;
    __atomic_store_n(&enough, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &enough, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    pthread_join(writer, NULL);
    process->core.dumper = NULL;
}
