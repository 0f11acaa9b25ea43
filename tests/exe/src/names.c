/* Functions of the program's own that have names of libc's: these return. */
#include <stdio.h>
#include <string.h>

static int said;

__attribute__((noinline)) void err(int status, const char *text)
{
    said += status + (int)strlen(text);
}

__attribute__((noinline)) void errx(int status, const char *text)
{
    if (status > 3) puts(text);
    err(status, text);
}

__attribute__((noinline)) int check(int x)
{
    if (x % 3 == 0) err(x, "three");
    if (x % 5 == 0) errx(x, "five");
    return said;
}

#ifndef LIBRARY
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 20; i++) sum += check(i);
    printf("%d\n", sum);
    return 0;
}
#endif
