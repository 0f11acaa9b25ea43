/* Functions whose IR says little about their machine code: addresses and loads that become operands, divisions that become
 * many instructions, a switch that becomes a tree. */
#include <stdio.h>

#define APART __attribute__((noinline)) static

static unsigned char text[4096];
static unsigned table[256];

APART int matches(const unsigned char *at, unsigned i, unsigned j)
{
    for (int k = 0; k < 8; k++, i++, j++)
        if (at[i] != at[j])
            return at[i] > at[j];
    return 0;
}

APART unsigned sums(const unsigned char *at, unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum = table[(sum ^ at[i]) & 255] ^ sum >> 8;
    return sum;
}

APART int digits(unsigned n)
{
    int sum = 0;
    for (unsigned i = 0; i < 30; i++)
        sum += (n + i) % 10 * ((n + i) / 7);
    return sum;
}

APART int chooses(int n)
{
    switch (n % 1000) {
    case 3: return matches(text, 1, 2);
    case 50: return 7;
    case 77: return 9;
    case 110: return 2;
    case 230: return 12;
    case 235: return 4;
    case 400: return 1;
    case 500: return 100;
    case 600: return 1000;
    default: return n;
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    long sum = 0;
    for (int i = 0; i < 256; i++)
        table[i] = (unsigned)i * 2654435761u;
    for (int i = 0; i < 3000; i++) {
        sum += matches(text, (unsigned)i % 64, (unsigned)argc);
        sum += sums(text + i, 30);
        sum += digits((unsigned)i);
        for (int k = 0; k < 20; k++)
            sum += chooses(i * k);
    }
    printf("%ld\n", sum);
}
