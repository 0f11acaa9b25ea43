/* Short loops without calls, whose counters edge modes keep in registers: several ways round,
 * several exits, exits that other edges share, a switch inside, left in the middle and at once;
 * and those that must not be kept so: with a second way in, entered by a computed goto, around a
 * setjmp.
 * returns: compared also without --fp-exits
 */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>

#define NOINLINE __attribute__((noinline))

static unsigned nodes[4096];
static unsigned char text[4096];

static NOINLINE void toffoli(int n, int c1, int c2, int target)
{
    for (int i = 0; i < n; i++)
        if (nodes[i] & 1u << c1)
            if (nodes[i] & 1u << c2) nodes[i] ^= 1u << target;
}

static NOINLINE int two_exits(const unsigned *a, int n, unsigned what)
{
    int seen = 0;
    for (int i = 0; i < n; i++) {
        if (a[i] == what) return i;
        if (a[i] & 4) {
            seen += 3;
            if (seen > 900) break;
        }
    }
    return seen;
}

/* Both exits and a way around the loop lead to one block. */
static NOINLINE unsigned shared_exit(const unsigned *a, unsigned n, int skip)
{
    unsigned x = 7;
    if (skip) goto out;
    for (unsigned i = 0; i != n; i++) {
        x = x * 5 + a[i];
        if (x % 61 == 0) goto out;
        if (a[i] & 2) x ^= i;
    }
out:
    return x ^ 1;
}

static NOINLINE long by_switch(const unsigned char *s)
{
    long words = 0;
    for (;; s++) {
        switch (*s) {
        case 0: return words;
        case ' ':
        case '\t':
        case '\n': words += 2; break;
        case 'q': words ^= 5;
        /* fallthrough */
        case 'z': words++; break;
        default: break;
        }
    }
}

static NOINLINE unsigned middle_exit(unsigned x, unsigned limit)
{
    unsigned rounds = 0;
    for (;;) {
        x = x & 1 ? 3 * x + 1 : x / 2;
        if (rounds == limit) break;
        rounds++;
        if (x & 8) text[rounds & 4095] ^= (unsigned char)x;
    }
    return x + rounds;
}

static NOINLINE unsigned continues(const unsigned *a, int n)
{
    unsigned sum = 0;
    int i = 0;
    while (i < n) {
        unsigned v = a[i++];
        if (v & 1) continue;
        sum += v;
        if (v & 2) continue;
        sum ^= v << 3;
    }
    return sum;
}

static NOINLINE unsigned reduction(const unsigned *restrict a, int n)
{
    unsigned sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] > 100 ? a[i] * 3 : a[i];
    return sum;
}

static NOINLINE unsigned inner_and_outer(int n)
{
    unsigned sum = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) {
            if (nodes[k] & 1) sum += nodes[k];
            else sum ^= (unsigned)k;
        }
        if (sum & 64) sum /= 3;
    }
    return sum;
}

static NOINLINE unsigned second_way_in(unsigned x, int where)
{
    unsigned n = x & 63;
    if (where) goto inside;
    while (n) {
        if (x & 1) x += n;
inside:
        x = x >> 1 | x << 31;
        if (n) n--;
    }
    return x;
}

static NOINLINE unsigned computed(const unsigned char *code, unsigned x)
{
    static const void *const ways[] = {&&add, &&spin, &&stop};
    goto *ways[*code % 3];
add:
    x += 3;
    goto *ways[*++code % 3];
spin:
    x ^= 5;
    if (x & 0xff0) {
        x >>= 1;
        goto spin;
    }
    goto *ways[*++code % 3];
stop:
    return x;
}

static jmp_buf back;

static NOINLINE int around_setjmp(volatile int n)
{
    volatile int sum = 0;
    for (int i = 0; i < 100; i++) sum += i & 3 ? 1 : 2;
    while (n-- > 0) {
        if (setjmp(back)) sum += 7;
        else if (n & 1) longjmp(back, 1);
    }
    for (int i = 0; i < 50; i++) sum ^= i & 1 ? i : 3;
    return sum;
}

int main(void)
{
    unsigned long sum = 0;
    static const unsigned char code[] = {0, 1, 1, 0, 3, 1, 4, 1, 0, 2};
    for (unsigned i = 0; i < 4096; i++) {
        nodes[i] = i * 2654435761u >> 7;
        text[i] = (unsigned char)" abqz\tcde\nfg"[i * 7919 % 12];
    }
    text[4095] = 0;
    for (int n = 0; n < 900; n += 37) {
        toffoli(n, 3, n % 20, 7);
        sum += (unsigned)two_exits(nodes, n, nodes[n / 2 + 1]) + (unsigned)two_exits(nodes, n, 1u << 31);
        sum = sum * 3 + shared_exit(nodes, (unsigned)n, n % 3 == 0);
        sum += (unsigned long)by_switch(text + 4095 - n) + middle_exit((unsigned)n * 77, (unsigned)n);
        sum = sum * 3 + continues(nodes, n) + reduction(nodes, n) + inner_and_outer(n / 9);
        sum += second_way_in((unsigned)n * 2654435761u, n & 1) + computed(code, (unsigned)n * 99);
        sum = sum * 3 + (unsigned)around_setjmp(n % 11);
    }
    printf("%lu\n", sum);
    return 0;
}
