/* The example of docs/how-it-works.md; `draw` makes its pictures. */
#include <stdio.h>

static volatile int sink;

__attribute__((noinline)) static void small(int x)
{
    sink = x;
}

__attribute__((noinline)) static void large(int x)
{
    sink = -x;
}

__attribute__((noinline)) int visit(const int *a, int n)
{
    int big = 0;
    for (int i = 0; i < n; i++) {
        if (a[i] > 9) {
            large(a[i]);
            big++;
        } else {
            small(a[i]);
        }
    }
    return big;
}

__attribute__((noinline)) int total(const int *a, int n, int twice)
{
    int sum = 0;
    if (twice) large(n);
    for (int i = 0; i < n; i++) sum += a[i] ^ sink;
    return sum;
}

int main(void)
{
    int a[100], sum = 0;
    for (int i = 0; i < 100; i++) a[i] = i % 13;
    for (int i = 0; i < 50; i++) sum += visit(a, i);
    for (int i = 0; i < 50; i++) sum += total(a, i, i % 5 == 0);
    printf("%d\n", sum);
    return 0;
}
