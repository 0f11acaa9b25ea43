/* Coroutines by ucontext: some run to their end, some are never resumed.
 * run: -> 0
 */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t main_context, routines[3];
static int turns;

static void __attribute__((noinline)) yield_from(int which, int step)
{
    if (step % 2) turns++;
    else turns += 2;
    swapcontext(&routines[which], &main_context);
    if (step == 1) turns += 10;
}

static void routine(int which)
{
    for (int step = 0; step < 3; step++) {
        if (which == step) turns += 100;
        yield_from(which, step);
    }
}

int main(void)
{
    for (int i = 0; i < 3; i++) {
        getcontext(&routines[i]);
        routines[i].uc_stack.ss_sp = malloc(1 << 16);
        routines[i].uc_stack.ss_size = 1 << 16;
        routines[i].uc_link = &main_context;
        makecontext(&routines[i], (void (*)(void))routine, 1, i);
    }
    for (int i = 0; i < 4; i++) swapcontext(&main_context, &routines[0]); /* to its end */
    for (int i = 0; i < 2; i++) swapcontext(&main_context, &routines[1]); /* half way */
    swapcontext(&main_context, &routines[2]);
    printf("%d\n", turns);
    return 0;
}
