/* Death by a signal, raised by an instruction, by oneself and by a timer; the status
 * is that of the signal.
 * run: segv -> signal 11
 * run: fpe -> signal 8
 * run: ill -> signal 4
 * run: abort -> signal 6
 * run: assert -> signal 6
 * run: term -> signal 15
 * run: pipe -> signal 13
 */
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

volatile int zero;
volatile long spins;

static void __attribute__((noinline)) die(const char *how)
{
    if (!strcmp(how, "segv")) *(volatile int *)(long)zero = 1;
    if (!strcmp(how, "fpe")) zero = 7 / zero;
    if (!strcmp(how, "ill")) __builtin_trap();
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "assert")) assert(zero);
    if (!strcmp(how, "term")) raise(SIGTERM);
    if (!strcmp(how, "pipe")) {
        int fds[2];
        if (pipe(fds)) exit(1);
        close(fds[0]);
        for (int i = 0; i < 3; i++)
            if (write(fds[1], "x", 1) < 0) exit(1);
    }
}

static void __attribute__((noinline)) down(int n, const char *how)
{
    if (n % 2) zero = 0;
    if (n) down(n - 1, how);
    else die(how);
    zero = n;
}

int main(int argc, char **argv)
{
    down(4, argc > 1 ? argv[1] : "none");
    return 0;
}
