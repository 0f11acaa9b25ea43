#include <stdio.h>

int twice(int x);

int main(int argc, char **argv)
{
    (void)argv;
    int sum = 0;
    for (int i = 0; i < 5 + argc; i++)
        sum += twice(i);
    printf("%d\n", sum);
    return 0;
}
