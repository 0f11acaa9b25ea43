/* Ways that code does not show plainly: tables with holes, exceptions, tail calls, parts put apart. */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#define APART __attribute__((noinline))

static volatile unsigned sink;

/* A table with holes that lead to the end, or to the default. */
APART static unsigned table(unsigned v, unsigned w)
{
    switch (v) {
    case 0: return w * 3;
    case 1: return w ^ 0x55;
    case 3: sink = w; return w + 7;
    case 6: return w / 3;
    case 9: sink += w; return w << 2;
    case 12: return ~w;
    case 13: return w % 11;
    case 31: return w - 2;
    case 32: __builtin_unreachable();
    }
    return w;
}

APART static void thrower(unsigned v)
{
    if (v % 97 == 5) throw std::runtime_error("five");
    if (v % 89 == 7) throw (int)v;
    sink += v;
}

APART static unsigned catcher(unsigned v)
{
    std::string text = v & 1 ? "odd" : "even";
    try {
        thrower(v);
        text += "!";
        thrower(v + 1);
    } catch (const std::runtime_error &e) {
        return (unsigned)text.size() + 1;
    } catch (int n) {
        return (unsigned)n;
    }
    return (unsigned)text.size();
}

APART static unsigned last(unsigned v) { return v * 2654435761u; }
APART static unsigned other(unsigned v) { return v ^ sink; }

/* Tail calls, one of them conditional. */
APART static unsigned tail(unsigned v)
{
    sink = v;
    if (v % 3 == 0) return last(v);
    if (v % 5 == 0) return other(v + 1);
    sink = v + 1;
    return last(v + 2);
}

__attribute__((cold, noinline)) static void rare(unsigned v)
{
    std::printf("rare %u\n", v);
    if (v == 12345) std::abort();
}

/* A part that runs rarely, put apart by gcc. */
APART static unsigned apart(unsigned v)
{
    if (v % 1000 == 999) {
        rare(v);
        for (unsigned i = 0; i < 5; i++) sink += i * v;
    }
    return v + 1;
}

/* Labels as values. */
APART static unsigned labels(unsigned v)
{
    static void *const where[] = {&&add, &&twist, &&leave};
    unsigned n = 0;
again:
    goto *where[(v >> n) % 3];
add:
    v += 3;
    if (++n < 9) goto again;
    return v;
twist:
    v ^= v >> 5;
    if (++n < 9) goto again;
    return v;
leave:
    return v + n;
}

int main(int argc, char **argv)
{
    unsigned n = argc > 1 ? (unsigned)std::atoi(argv[1]) : 1000, sum = 0;
    for (unsigned i = 0; i < n; i++) {
        sum += table(i % 40 == 32 ? 0 : i % 40, i) + tail(i) + apart(i) + labels(i * 7919);
        try {
            sum += catcher(i);
        } catch (...) {
            sum++;
        }
    }
    std::printf("%u\n", sum);
}
