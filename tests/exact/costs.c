/* Two ways: one taken nine times out of ten that costs next to nothing, one that takes
 * a thousand dependent divisions. */
#include <stdio.h>

__attribute__((noinline)) static unsigned way(unsigned x)
{
    if (x % 10) return x + 1;
    unsigned long y = x + 1000000007ul;
    /* in one block: no loop, so no path of its own */
#define STEP y = (y ^ 0x9e3779b97f4a7c15ul) / (y % 1000 + 3) + 1000000007ul;
#define TEN(s) s s s s s s s s s s
    TEN(TEN(TEN(STEP)))
    return (unsigned)y;
}

int main(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 20000; i++) sum += way(i);
    printf("%u\n", sum);
    return 0;
}
