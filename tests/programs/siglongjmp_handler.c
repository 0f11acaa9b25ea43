/* siglongjmp out of a signal handler, on the normal and on an alternate stack.
 * run: -> 0
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static sigjmp_buf env;
static int jumps;

static void on_signal(int number)
{
    if (number == SIGUSR1) jumps++;
    siglongjmp(env, number);
}

static void __attribute__((noinline)) down(int n, int number)
{
    if (n % 2) jumps += 2;
    if (n) down(n - 1, number);
    else raise(number);
    puts("never");
}

int main(void)
{
    static char room[1 << 16];
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    sigaltstack(&stack, NULL);
    struct sigaction on_stack = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR2, &on_stack, NULL);
    signal(SIGUSR1, on_signal);
    for (volatile int i = 0; i < 6; i++) {
        if (sigsetjmp(env, 1) == 0) down(3, i % 2 ? SIGUSR1 : SIGUSR2);
    }
    printf("%d\n", jumps);
    return 0;
}
