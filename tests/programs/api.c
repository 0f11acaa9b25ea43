/* footpath/runtime.h: write, reset, pause, resume.
 * run: -> 0
 * calls: step 60
 */
#include <footpath/runtime.h>
#include <stdio.h>

static int __attribute__((noinline)) step(int n)
{
    if (n % 3 == 0) return 1;
    return n % 2 ? 2 : 3;
}

static int __attribute__((noinline)) work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        sum += step(i);
        if (i == n / 2 && footpath_dump) footpath_dump();
    }
    return sum;
}

int main(void)
{
    int sum = work(100);
    if (footpath_reset) footpath_reset();
    sum += work(50);
    if (footpath_pause) footpath_pause();
    sum += work(1000);
    if (footpath_resume) footpath_resume();
    sum += work(10);
    printf("%d\n", sum);
    return 0;
}
