/* Branches whose combinations tests and production take: `ways LETTERS...`, a call of
 * both() for each two letters. */
#include <stdio.h>

static int trace;

static int __attribute__((noinline)) both(int first, int second)
{
    if (first == 'y')
        printf("first ");
    if (second == 'y')
        printf("second ");
    return ++trace;
}

static int __attribute__((noinline)) never_tested(int n)
{
    while (n-- > 0)
        printf(".");
    return n;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == 'r')
            never_tested(argv[i][1] - '0');
        else
            both(argv[i][0], argv[i][1]);
    }
    return 0;
}
