/* The profile of a program that goes on, every N seconds: FOOTPATH_DUMP_SECONDS. A thread
 * of ours sleeps and writes; the program's own are not disturbed by signals. */
#include "rt.h"

#include <pthread.h>
#include <time.h>

static void *write_again(void *unused)
{
    (void)unused;
    rt_sample_not_here();
    struct timespec period = {(time_t)(rt_settings.dump_ns / 1000000000u),
                              (long)(rt_settings.dump_ns % 1000000000u)};
    for (;;) {
        clock_nanosleep(CLOCK_MONOTONIC, 0, &period, NULL);
        struct rt_process *process = rt_this.process;
        if (!process || process->exiting) return NULL;
        rt_write_all(RT_MEANWHILE, NULL);
    }
}

/* One for all modules: that of the first. The thread blocks all signals, so that the
 * program's handlers do not run in it. */
void rt_periodic_start(bool after_fork)
{
    struct rt_process *process = rt_this.process;
    if (!rt_settings.dump_ns || !process) return;
    if (after_fork ? process->dumper != &rt_this : process->dumper != NULL) return;
    process->dumper = &rt_this;
    sigset_t all, old;
    pthread_t thread;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, 1 << 18);
    if (pthread_create(&thread, &attributes, write_again, NULL))
        rt_warn("no thread for FOOTPATH_DUMP_SECONDS; the profile is written at the end only", NULL);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}
