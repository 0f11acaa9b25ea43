/* A program with signal handlers of its own: it is asked and told the default where
 * it set none, and its handlers run instrumented code.
 * run: -> 0
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t seen;

static void on_signal(int number)
{
    for (int i = 0; i < number; i++)
        if (i % 3 == 0) seen++;
}

int main(void)
{
    struct sigaction old;
    sigaction(SIGINT, NULL, &old);
    printf("INT default: %d\n", old.sa_handler == SIG_DFL);
    printf("TERM before: %d\n", signal(SIGTERM, on_signal) == SIG_DFL);
    printf("TERM after: %d\n", signal(SIGTERM, on_signal) == on_signal);
    raise(SIGTERM);
    raise(SIGTERM);
    printf("seen %d\n", (int)seen);
    printf("back: %d\n", signal(SIGTERM, SIG_DFL) == on_signal);
    sigaction(SIGTERM, NULL, &old);
    printf("TERM default: %d\n", old.sa_handler == SIG_DFL);
    return 0;
}
