/* The ways in which control goes: exceptions through several frames, longjmp, callbacks of libc,
 * jump tables, tail calls, virtual calls, computed goto, values in vector registers. The output is
 * the same however paths are sampled.
 *
 *     ways ROUNDS
 */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

static unsigned seed = 1;
static unsigned long destroyed;
static jmp_buf back;

static unsigned next()
{
    seed = seed * 1103515245u + 12345u;
    return seed >> 16;
}

struct Counted {
    ~Counted() { destroyed++; }
};

__attribute__((noinline)) static unsigned may_throw(unsigned n)
{
    Counted counted;
    if (next() % 3 == 0) throw std::runtime_error("x" + std::to_string(n));
    if (next() % 5 == 0) throw n;
    return n * 2;
}

__attribute__((noinline)) static unsigned catches_some(unsigned n)
{
    Counted counted;
    unsigned total = 0;
    for (unsigned i = 0; i < 5; i++) {
        try {
            total += may_throw(n + i);
        } catch (unsigned value) {
            total += value;
        }
    }
    return total;
}

__attribute__((noinline)) static void jump_from(unsigned depth)
{
    if (!depth) longjmp(back, 1);
    jump_from(depth - 1);
    seed += depth;
}

static int by_value(const void *a, const void *b)
{
    unsigned x = *static_cast<const unsigned *>(a), y = *static_cast<const unsigned *>(b);
    return x < y ? -1 : x > y;
}

__attribute__((noinline)) static unsigned by_table(unsigned what, unsigned n)
{
    switch (what) {
    case 0: return n + 1;
    case 1: return n * 3;
    case 2: return n ^ 5;
    case 3: return n - 7;
    case 4: return n << 1;
    case 5: return n / 3;
    case 6: return n | 9;
    default: return n & 1023;
    }
}

static unsigned odd(unsigned n, unsigned sum);
__attribute__((noinline)) static unsigned even(unsigned n, unsigned sum)
{
    return n ? odd(n - 1, sum + n) : sum;
}
__attribute__((noinline)) static unsigned odd(unsigned n, unsigned sum)
{
    return n ? even(n - 1, sum ^ n) : sum;
}

struct Shape {
    virtual unsigned area(unsigned n) = 0;
    virtual ~Shape() {}
};
struct Square : Shape {
    unsigned area(unsigned n) override { return n & 1 ? n * 3 : n / 2; }
};
struct Circle : Shape {
    unsigned area(unsigned n) override { return n % 7 ? n - 1 : n + 1; }
};

__attribute__((noinline)) static unsigned by_labels(const unsigned char *code)
{
    static const void *const labels[] = {&&add, &&thrice, &&mix, &&end};
    unsigned value = 0;
    goto *labels[*code++];
add:
    value += 1;
    goto *labels[*code++];
thrice:
    value *= 3;
    if (value > 1000000) value -= 1000000;
    goto *labels[*code++];
mix:
    value ^= 77;
    goto *labels[*code++];
end:
    return value;
}

__attribute__((noinline)) static double by_vectors(unsigned n)
{
    double sum[4] = {0.5, 0.25, 0.125, 1};
    for (unsigned i = 0; i < n % 40; i++)
        for (unsigned k = 0; k < 4; k++) sum[k] = sum[k] * 0.75 + (next() & 1 ? k : 0.5 * i);
    return sum[0] + sum[1] + sum[2] + sum[3];
}

static unsigned long one_round(unsigned round, Shape **shapes)
{
    unsigned long total = 0;
    std::vector<unsigned> words(200);
    unsigned char code[100];
    std::function<unsigned(unsigned)> call = [&](unsigned n) { return n > 5 ? round : n + 1; };
    try {
        total += catches_some(round);
    } catch (const std::exception &e) {
        total += std::string(e.what()).size();
    }
    if (!setjmp(back)) jump_from(next() % 20);
    for (unsigned &word : words) word = next() % 1000;
    qsort(words.data(), words.size(), sizeof words[0], by_value);
    for (unsigned k = 0; k < 50; k++) total += by_table(next() % 8, k);
    for (unsigned k = 0; k < 40; k++) total += shapes[next() & 1]->area(k);
    for (unsigned char &byte : code) byte = static_cast<unsigned char>(next() % 3);
    code[99] = 3;
    return total + words[5] + even(30, 0) + by_labels(code) + call(round & 7) +
           static_cast<unsigned long>(by_vectors(round));
}

int main(int argc, char **argv)
{
    Square square;
    Circle circle;
    Shape *shapes[] = {&square, &circle};
    unsigned long total = 0;
    unsigned rounds = argc > 1 ? static_cast<unsigned>(atoi(argv[1])) : 1000;
    for (unsigned i = 0; i < rounds; i++) total += one_round(i, shapes);
    printf("%lu %lu\n", total, destroyed);
}
