/* Signals set back to the default in every way there is, and then died of. Each way is a
 * child; the parent tells how it ended and what the child was told of its actions.
 * run: -> 0
 * calls: end 14
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern sighandler_t bsd_signal(int, sighandler_t);
extern sighandler_t __sysv_signal(int, sighandler_t);

static volatile sig_atomic_t seen;

static void count(int number)
{
    for (int i = 0; i < number; i++)
        if (i % 3 == 0) seen++;
}

/* The glibc manual, "Termination in Handler". */
static void die_of_it(int number)
{
    count(number);
    signal(number, SIG_DFL);
    raise(number);
}

static void info(int number, siginfo_t *about, void *context)
{
    (void)context;
    count(about->si_signo == number ? number : 1000);
}

static void say(const char *what, int number)
{
    struct sigaction old;
    sigaction(number, NULL, &old);
    printf("%s: %s, flags %x, mask of 10 %d\n", what, old.sa_handler == SIG_DFL ? "default" : "other",
           (unsigned)old.sa_flags, sigismember(&old.sa_mask, 10));
}

static void by_sigaction(int number, int flags, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, old;
    sigaddset(&action.sa_mask, 10);
    sigaction(number, &action, &old);
    say("sigaction", number);
}

__attribute__((noinline)) static void end(int way, int number)
{
    switch (way) {
    case 0: signal(number, die_of_it); break;
    case 1: signal(number, count), signal(number, SIG_DFL); break;
    case 2: signal(number, SIG_IGN), raise(number), bsd_signal(number, SIG_DFL); break;
    case 3: __sysv_signal(number, count), say("sysv", number), raise(number), say("once", number); break;
    case 4: sysv_signal(number, SIG_DFL), siginterrupt(number, 1); break;
    case 5: sigset(number, count), raise(number), sigset(number, SIG_DFL); break;
    case 6: by_sigaction(number, 0, SIG_DFL); break;
    case 7: by_sigaction(number, SA_RESTART | SA_NODEFER, SIG_DFL); break;
    case 8: by_sigaction(number, (int)SA_RESETHAND, count), raise(number); break;
    case 9: by_sigaction(number, (int)SA_RESETHAND, die_of_it); break;
    case 10: by_sigaction(number, (int)SA_RESETHAND | SA_SIGINFO, (void (*)(int))info), raise(number); break;
    case 11: siginterrupt(number, 1), signal(number, count), say("interrupting", number), signal(number, SIG_DFL); break;
    case 12: signal(number, SIG_DFL), signal(number, SIG_IGN), signal(number, SIG_DFL); break;
    case 13: ssignal(number, die_of_it); break;
    }
    say("at the end", number);
    printf("seen %d, before: %d\n", (int)seen, signal(number, SIG_DFL) == SIG_DFL);
    if (way == 0 || way == 9 || way == 13) signal(number, die_of_it);
    fflush(stdout);
    raise(number);
    puts("never");
}

int main(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGSEGV, SIGABRT, SIGPIPE, SIGUSR1, SIGALRM};
    for (int way = 0; way < 14; way++) {
        int number = numbers[way % 7], status;
        fflush(stdout);
        if (fork() == 0) end(way, number), _exit(3);
        wait(&status);
        printf("way %d: signal %d\n", way, WIFSIGNALED(status) ? WTERMSIG(status) - number : -1);
    }
    return 0;
}
