/* Deterministic work with loops, calls, recursion, a switch and an interpreter, for
 * comparing samples with exact counts. */
#include <stdio.h>
#include <stdlib.h>

static unsigned long seed = 1;

static unsigned next(void)
{
    seed = seed * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(seed >> 33);
}

__attribute__((noinline)) static int classify(unsigned x)
{
    switch (x % 7) {
    case 0: return 1;
    case 1:
    case 2: return x & 8 ? 3 : 5;
    case 3: if (x & 16) return 7;
    /* fall through */
    case 4: return 2;
    default: return 0;
    }
}

__attribute__((noinline)) static int depth(unsigned x)
{
    if (x < 2) return 0;
    if (x & 1) return 1 + depth(x / 3);
    return x & 2 ? depth(x / 2) : depth(x / 4) + 2;
}

__attribute__((noinline)) static int interpret(const unsigned char *code)
{
    static const void *const labels[] = {&&add, &&sub, &&twice, &&skip, &&stop};
    int acc = 1;
    goto *labels[*code++];
add:
    acc += *code & 3;
    goto *labels[*code++];
sub:
    if (acc > 5) acc -= 3;
    goto *labels[*code++];
twice:
    acc = acc > 1000 ? 1 : acc * 2;
    goto *labels[*code++];
skip:
    if (acc & 1) code++;
    goto *labels[*code++ & 3];
stop:
    return acc;
}

__attribute__((noinline)) static long rows(int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i % 13; k++) sum += (i ^ k) % 3 ? k : -i;
    return sum;
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000, sum = 0;
    unsigned char code[64];
    for (int i = 0; i < 60; i++) code[i] = (unsigned char)(next() % 4);
    code[60] = code[61] = code[62] = code[63] = 4;
    for (long i = 0; i < n; i++) {
        unsigned x = next();
        sum += classify(x);
        if (x % 3 == 0) sum += depth(x);
        if (x % 16 == 0) sum += interpret(code);
        if (x % 64 == 0) sum += rows(40);
    }
    printf("%ld\n", sum);
    return 0;
}
