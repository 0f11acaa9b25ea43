/* One path that is left ten thousand times, by an exception, by longjmp and by a jump out
 * of deep recursion, from a stack full of other values each time: it is one path.
 * run: -> 0
 * rows: request 1
 * rows: ask 1
 * calls: request 10000
 * calls: ask 10000
 */
#include <csetjmp>
#include <cstdio>
#include <stdexcept>

static std::jmp_buf place;
static volatile int sink;

__attribute__((noinline)) static void dirty(unsigned long seed)
{
    volatile unsigned long words[256];
    for (int i = 0; i < 256; i++) words[i] = seed * 0x9E3779B97F4A7C15ul + i;
}

__attribute__((noinline)) static void note(int x)
{
    sink = sink + x;
}

/* x is never negative here, which the compiler does not know. */
extern "C" __attribute__((noinline)) void parse(int x)
{
    if (x >= 0) throw std::runtime_error("x");
}

extern "C" __attribute__((noinline)) int request(int x)
{
    parse(x); /* leaves here, in the first block: the register holds nothing yet */
    if (x & 1) note(1);
    if (x & 2) note(2);
    if (x & 4) note(3);
    return x;
}

extern "C" __attribute__((noinline)) void jump(int x)
{
    if (x >= 0) std::longjmp(place, 1);
}

extern "C" __attribute__((noinline)) int ask(int x)
{
    jump(x);
    if (x & 1) note(1);
    if (x & 2) note(2);
    if (x & 4) note(3);
    return x;
}

/* Leaves with the register set, in different ways. */
__attribute__((noinline)) static int deep(int depth, int x)
{
    if (x & 1) note(1);
    if (depth & 1) note(2);
    if (depth == 0) jump(x);
    int below = deep(depth - 1, x);
    if (below & 4) note(3);
    return below + 1;
}

int main()
{
    long caught = 0;
    for (int i = 0; i < 10000; i++) {
        dirty(i);
        try {
            request(i & 0xff);
        } catch (std::exception &) {
            caught++;
        }
    }
    volatile int round = 0, jumps = 0;
    if (setjmp(place)) jumps = jumps + 1;
    while (round < 10000) {
        round = round + 1;
        dirty(round);
        ask(round & 0xff);
    }
    volatile int step = 0;
    if (setjmp(place)) jumps = jumps + 1;
    while (step < 3000) {
        step = step + 1;
        deep(step % 40, step & 0xff);
    }
    std::printf("%ld %d\n", caught, jumps);
}
