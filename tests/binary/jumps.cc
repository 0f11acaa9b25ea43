// Every kind of jump that compilers make, for recovery.py.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#define NOINLINE __attribute__((noinline))

static volatile int sink;

NOINLINE static int dense(int n)
{
    switch (n) {
    case 0: return sink + 3;
    case 1: sink = 4; return 17;
    case 2: return sink * 7;
    case 3: sink++; return 9;
    case 4: return -sink;
    case 5: return sink & 3;
    case 6: sink = n; return sink ^ 12;
    default: return n % 5;
    }
}

// no default: compilers know that the holes are never taken
NOINLINE static int holes(int n)
{
    int got = 0;
    switch (n) {
    case 1: got = sink + 1; break;
    case 3: sink = 2; got = 4; break;
    case 4: got = sink * 3; break;
    case 9: sink--; got = 7; break;
    case 12: got = sink | 8; break;
    case 20: sink = 11; break;
    case 21: got = sink << 2; break;
    default: __builtin_unreachable();
    }
    return got + sink;
}

// a loop around two switches, whose tables a compiler may load once
NOINLINE static long nested(const unsigned char *text, int len)
{
    long sum = 0;
    for (int i = 0; i < len; i++) {
        switch (text[i] & 7) {
        case 0: sum += 1; break;
        case 1: sum ^= i; break;
        case 2: sum *= 3; break;
        case 3: sum -= sink; break;
        case 4: sink++; break;
        case 5: sum += dense(i & 7); break;
        case 6: sum = -sum; break;
        case 7: continue;
        }
        switch (text[i] >> 4) {
        case 1: sum += 2; break;
        case 2: sum ^= 0x55; break;
        case 3: sum -= i; break;
        case 4: sink ^= 1; break;
        case 5: sum <<= 1; break;
        case 6: sum |= 1; break;
        case 7: sum += sink; break;
        }
    }
    return sum;
}

// one jump per operation, through addresses
NOINLINE static int threaded(const unsigned char *code)
{
    static const void *const labels[] = {&&stop, &&add, &&twice, &&less, &&skip};
    int a = 1;
    goto *labels[*code];
add:
    a += sink;
    goto *labels[*++code];
twice:
    a *= 2;
    goto *labels[*++code];
less:
    a -= 3;
    goto *labels[*++code];
skip:
    code++;
    if (a & 1) a++;
    goto *labels[*++code];
stop:
    return a;
}

extern "C" int differences(const unsigned char *code); // labeljumps.c

__attribute__((noreturn, cold, noinline)) static void give_up(const char *why)
{
    std::fputs(why, stderr);
    std::exit(3);
}

NOINLINE static int guarded(int n)
{
    if (__builtin_expect(n > 5000, 0)) give_up("large\n");
    if (__builtin_expect(n == 77, 0)) {
        std::fputs("seldom\n", stderr);
        sink += 77;
    }
    return n + 1;
}

struct Guard {
    int step;
    NOINLINE ~Guard() { sink += step; }
};

NOINLINE static void thrower(int n)
{
    if (n % 3 == 0) throw n;
    if (n % 5 == 0) throw std::runtime_error("five");
    sink++;
}

NOINLINE static int catcher(int n)
{
    Guard outer{1};
    try {
        Guard inner{2};
        thrower(n);
        return guarded(n);
    } catch (int got) {
        return got * 2;
    } catch (const std::exception &error) {
        return error.what()[0];
    }
}

NOINLINE static int rethrower(int n)
{
    try {
        thrower(n);
    } catch (...) {
        if (n & 1) throw;
        return -n;
    }
    return n;
}

static std::jmp_buf back;

NOINLINE static void jumper(int n)
{
    if (n & 1) std::longjmp(back, n);
    sink += n;
}

NOINLINE static int returns_twice(int n)
{
    volatile int kept = n;
    int got = setjmp(back);
    if (got) return got + kept;
    jumper(n);
    return kept;
}

NOINLINE static int even(unsigned n);
NOINLINE static int odd(unsigned n)
{
    return n == 0 ? sink : even(n - 1);
}
NOINLINE static int even(unsigned n)
{
    return n == 0 ? sink + 1 : odd(n - 1);
}

static int (*const by_number[])(int) = {dense, guarded, returns_twice, rethrower};

NOINLINE static int by_pointer(int n)
{
    return by_number[n & 1](n & 7);
}

int main(int argc, char **argv)
{
    static const unsigned char program[] = {1, 2, 3, 4, 0, 1, 2, 2, 3, 0}, other[] = {1, 2, 3, 1, 3, 2, 0};
    static const int points[] = {1, 3, 4, 9, 12, 20, 21};
    long sum = argc;
    (void)argv;
    for (int i = 0; i < 60; i++) {
        sum += dense(i % 9) + holes(points[i % 7]) + threaded(program) + differences(other);
        sum += nested(program, sizeof program) + nested((const unsigned char *)"jumps and tables", 16);
        sum += catcher(i) + returns_twice(i) + even((unsigned)i) + by_pointer(i) + guarded(i + 40);
        try {
            sum += rethrower(i);
        } catch (int got) {
            sum -= got;
        } catch (...) {
            sum++;
        }
    }
    std::printf("%ld\n", sum);
    return 0;
}
