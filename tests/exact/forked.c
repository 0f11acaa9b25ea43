/* Children that a signal ends while the runtime gives them counters of their own. A handler
 * of fork that is older than the runtime's sets the alarm.
 *
 *   forked COUNT           the children do nothing
 *   forked COUNT reset     the children clear their own counts without a pause
 *   forked COUNT new       the children take new paths without a pause
 *
 * other() has many counters, so that clearing them takes a while. It may be in a shared
 * library. */
#include <footpath/runtime.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

void other(unsigned x);

#ifndef ONLY_MAIN
static volatile unsigned sink;

#define WAY(k) \
    if (x >> k & 1) sink = k;

#define WAYS                                                                                 \
    WAY(0)                                                                                   \
    WAY(1)                                                                                   \
    WAY(2)                                                                                   \
    WAY(3) WAY(4) WAY(5) WAY(6) WAY(7) WAY(8) WAY(9) WAY(10) WAY(11) WAY(12) WAY(13) WAY(14) \
        WAY(15) WAY(16) WAY(17)

__attribute__((noinline)) void other(unsigned x)
{
    WAYS
}
#endif

#ifndef ONLY_OTHER
static unsigned child_number;

static void set_alarm(void)
{
    struct itimerval alarm = {.it_value.tv_usec = 1 + child_number % 64 * 20};
    setitimer(ITIMER_REAL, &alarm, NULL);
}

/* Before all constructors, and with them before the runtime. */
static void at_start(void)
{
    pthread_atfork(NULL, NULL, set_alarm);
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = at_start;

static void child(const char *what)
{
    unsigned next = child_number + 1;
    for (; *what == 'n'; next = next * 1664525 + 1013904223) other(next >> 8);
    while (*what == 'r') {
        for (unsigned x = 0; x < 64; x++) other(x * 4099);
        footpath_reset();
    }
    for (;;) pause();
}

int main(int argc, char **argv)
{
    unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    for (unsigned x = 0; x < 262144 && argc == 2; x++) other(x);
    for (; child_number < count; child_number++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) child(argc > 2 ? argv[2] : "");
        if (pid < 0 || waitpid(pid, &status, 0) != pid) return 1;
        if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM) return 2;
    }
    return 0;
}
#endif
