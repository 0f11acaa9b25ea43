/* One path that is left by an exception, as often as the argument says, with other values on
 * the stack each time. */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

__attribute__((noinline)) static void dirty(unsigned long seed)
{
    volatile unsigned long words[256];
    for (int i = 0; i < 256; i++) words[i] = seed * 0x9E3779B97F4A7C15ul + (unsigned long)i;
}

__attribute__((noinline)) static void parse(int x)
{
    if (x >= 0) throw std::runtime_error("x");
}

__attribute__((noinline)) static void note(int x)
{
    asm volatile("" ::"r"(x));
}

extern "C" __attribute__((noinline)) int request(int x)
{
    parse(x); /* leaves here, in the first block */
    if (x & 1) note(1);
    if (x & 2) note(2);
    if (x & 4) note(3);
    if (x & 8) note(4);
    return x;
}

static int sink;

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1, caught = 0;
    for (long i = 0; i < n; i++) {
        dirty((unsigned long)i);
        try {
            sink += request((int)i & 0xffff);
        } catch (std::exception &) {
            caught++;
        }
    }
    std::printf("%ld\n", caught);
}
