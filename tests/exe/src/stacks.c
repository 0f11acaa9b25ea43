/* Two stacks that switch by setjmp and longjmp: no frame is left, so none is in flight but at the end. */
#include <setjmp.h>
#include <stdlib.h>
#include <ucontext.h>

static jmp_buf first, second;
static ucontext_t ended, begun;
static char stack[1 << 16];
static volatile int n;

#define APART __attribute__((noinline))

APART static void to_first(void)
{
    if (!_setjmp(second)) _longjmp(first, 1);
}

APART static void step(int i)
{
    if (i & 1) n++;
    to_first();
    if (i % 3 == 0) n += 2;
}

static void on_second(void)
{
    for (int i = 0; i < 20; i++) step(i);
    exit(n & 127);
}

int main(void)
{
    getcontext(&begun);
    begun.uc_stack.ss_sp = stack;
    begun.uc_stack.ss_size = sizeof stack;
    begun.uc_link = &ended;
    makecontext(&begun, on_second, 0);
    if (!_setjmp(first)) setcontext(&begun);
    for (;;) {
        n++;
        if (!_setjmp(first)) _longjmp(second, 1);
    }
}
