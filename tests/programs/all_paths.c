/* More different paths taken than fit any small buffer, each once.
 * paths: sift 32768
 * calls: sift 32768
 */
#include <stdio.h>

static volatile unsigned sink;

#define STEP(bit) if (n >> bit & 1) sink = bit; else sink += n;

static void __attribute__((noinline)) sift(unsigned n)
{
    STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
    STEP(8) STEP(9) STEP(10) STEP(11) STEP(12) STEP(13) STEP(14)
}

int main(void)
{
    for (unsigned n = 0; n < 1u << 15; n++) sift(n);
    printf("%u\n", sink);
    return 0;
}
