/* A program that confines itself by a seccomp filter which kills for the calls that samples need,
 * while its threads take samples; then works on. Prints the same with and without samples. A word
 * says how the filter is set. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "work.h"

static volatile unsigned long work;
static volatile int stop;

static void *worker(void *unused)
{
    (void)unused;
    while (!stop) work += spin(1000, work);
    return NULL;
}

#define KILL(number)                                           \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),       \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static int confine(const char *how)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        KILL(SYS_mprotect), KILL(SYS_timer_create), KILL(SYS_timer_delete), KILL(SYS_timer_settime),
        KILL(SYS_rt_sigaction), KILL(SYS_process_vm_readv), KILL(SYS_rt_sigpending),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return -1;
    if (!strcmp(how, "prctl")) return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
    unsigned flags = strcmp(how, "all") ? 0 : SECCOMP_FILTER_FLAG_TSYNC;
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "all";
    pthread_t thread;
    int one = strcmp(how, "prctl");
    if (one) pthread_create(&thread, NULL, worker, NULL);
    for (double until = cpu() + 0.5; cpu() < until;) work += spin(1000, work);
    printf("confined %d\n", confine(how));
    fflush(stdout);
    for (double until = cpu() + 0.15; cpu() < until;) work += spin(1000, work);
    stop = 1;
    if (one) pthread_join(thread, NULL);
    printf("done\n");
    return 0;
}
