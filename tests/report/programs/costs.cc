// Calls of one function that cost very different amounts: by name, through a pointer, in recursion, ended by an
// exception or by longjmp, from another thread.
#include <csetjmp>
#include <cstdio>
#include <pthread.h>

#define APART __attribute__((noinline)) static

APART int work(int n)
{
    volatile int sum = 0;
    for (int i = 0; i < n; i++)
        sum = sum + i;
    return sum;
}

APART int cheap(int n)
{
    int sum = 0;
    for (int i = 0; i < 9; i++)
        sum += work(n);
    return sum;
}

APART int costly(int n)
{
    return work(1000 * n) + 1;
}

APART int outer(int n);

/* Called again by what it calls: the cost of the first call has that of the others. */
APART int inner(int n)
{
    int sum = work(20 * n);
    return n ? sum + outer(n - 1) : sum;
}

APART int outer(int n)
{
    int (*volatile pointer)(int) = inner;
    return pointer(n) + 1;
}

APART int throws(int n)
{
    if (work(300 * n) >= 0)
        throw n;
    return 0;
}

APART int passes(int n)
{
    return throws(n) + 1;
}

APART int catches(int n)
{
    try {
        return passes(n);
    } catch (int thrown) {
        return thrown;
    }
}

static jmp_buf place;

APART void jumps(int n)
{
    work(500 * n);
    longjmp(place, 1);
}

APART int returns_twice(int n)
{
    if (!setjmp(place))
        jumps(n);
    return n;
}

static void *other(void *n)
{
    static int sum;
    sum = costly(*(int *)n);
    return &sum;
}

int main(int argc, char **)
{
    pthread_t thread;
    int sum = cheap(argc) + costly(argc) + outer(5 * argc) + catches(argc) + returns_twice(argc);
    if (pthread_create(&thread, nullptr, other, &argc))
        return 1;
    pthread_join(thread, nullptr);
    printf("%d\n", sum);
    return 0;
}
