/* An interpreter: which operation follows depends on the one before, and all come
 * together at one switch. `found` is a flag that the way in decides, tested behind code
 * that is too long for the compiler to copy by itself. */
#include <stdio.h>

static const unsigned char program[] = {0, 1, 2, 3, 1, 4, 0, 2, 5, 3, 6, 1, 4, 7};

__attribute__((noinline)) static unsigned long run(int rounds)
{
    unsigned long a = 1, b = 7, sum = 0;
    const unsigned char *at = program;
    while (1) {
        switch (*at++) {
        case 0: a += b; break;
        case 1: b ^= a << 3; break;
        case 2: sum += a & b; break;
        case 3: a = a * 5 + 1; break;
        case 4: sum ^= b; break;
        case 5: b -= sum; break;
        case 6: a ^= sum >> 7; break;
        default:
            if (!--rounds) return sum + a + b;
            at = program;
            break;
        }
    }
}

/* The loop's own step is behind the switch, as sqlite's is: what it steps is a value of
 * the switch's block from the last time round. */
__attribute__((noinline)) static unsigned long step(unsigned rounds)
{
    unsigned long a = 1, b = 7, steps = 0;
    for (const unsigned char *at = program; 1; at++) {
        steps++;
        switch (*at) {
        case 0: a += b; break;
        case 1: b ^= a << 3; break;
        case 2: a ^= b >> 5; break;
        case 3: a = a * 5 + 1; break;
        case 4: b += 3 * a; break;
        case 5: b -= steps; break;
        case 6: at += a & 0; break;
        default:
            if (!--rounds) return steps + a + b;
            at = program;
            break;
        }
    }
}

static unsigned seen;
__attribute__((noinline)) static void note(unsigned what) { seen += what; }
__attribute__((noinline)) static unsigned odd(unsigned what) { return seen ^ what; }

__attribute__((noinline)) static unsigned long look(const unsigned *items, unsigned wanted, unsigned long s)
{
    int found;
    if (items[wanted & 7] > 3) {
        note(items[0]);
        found = 1;
    } else {
        s ^= odd(items[1]);
        found = 0;
    }
    s = (s << 5 | s >> 59) + items[2] * items[3] - (items[4] ^ items[5]) + (items[6] | items[7]);
    s = (s ^ s >> 31) * 7 + (s << 3 ^ items[1]) * 11 + (s >> 9);
    if (found)
        note((unsigned)s & 3);
    else
        s += odd(4);
    return s;
}

int main(void)
{
    unsigned items[] = {1, 9, 2, 8, 3, 7, 4, 6};
    unsigned long s = run(20000) ^ step(20000);
    for (unsigned i = 0; i < 100000; i++) s = look(items, i, s);
    printf("%lu\n", s);
    return 0;
}
