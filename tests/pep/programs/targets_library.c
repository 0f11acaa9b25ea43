/* The library of targets.c: half of its indirect calls lead into the program. */
typedef unsigned step(unsigned);
unsigned visit(unsigned long n, step *back);

__attribute__((noinline)) static unsigned inside(unsigned x)
{
    return x & 8 ? x * 5 : x + 1;
}

static step *volatile own = inside;

unsigned visit(unsigned long n, step *back)
{
    unsigned x = 1;
    for (unsigned long i = 0; i < n; i++) x = i % 2 ? own(x) : back(x);
    return x;
}
