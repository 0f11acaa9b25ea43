/* Uses a shared library directly. 100 calls of work. */
#include <stdio.h>

int work(int x);

int main(void)
{
    long sum = 0;
    for (int i = 0; i < 100; i++) sum += work(i);
    printf("%ld\n", sum);
    return 0;
}
