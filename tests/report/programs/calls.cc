// Calls of which every number is known: by name, through a pointer, in recursion, past exceptions.
#include <cstdio>
#include <stdexcept>

static __attribute__((noinline)) int leaf(int n)
{
    volatile int sum = 0;
    for (int i = 0; i < n; i++)
        sum = sum + i;
    return sum;
}

static __attribute__((noinline)) int twice(int n)
{
    return leaf(n) + leaf(n);
}

static __attribute__((noinline)) int throws(int n)
{
    if (n == 3)
        throw std::runtime_error("three");
    return leaf(n);
}

static __attribute__((noinline)) int recursive(int n)
{
    return n ? recursive(n - 1) + leaf(50) : 0;
}

int main(int argc, char **)
{
    int sum = 0;
    int (*volatile pointer)(int) = twice;
    for (int i = 0; i < 10 * argc; i++) {
        try {
            sum += twice(50);
            sum += throws(50 - i % 2 * 47);
        } catch (std::exception &) {
            sum += leaf(50);
        }
    }
    for (int i = 0; i < 5; i++)
        sum += pointer(50);
    printf("%d\n", sum + recursive(10));
}
