/* A loop without calls in a function with calls: the loop's path register should not be in memory. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static int ask(int x)
{
    return x > 2 ? getenv("HOME") == NULL : x;
}

__attribute__((noinline)) static long work(const unsigned char *text, int size)
{
    long sum = ask(size);
    for (int i = 0; i < size; i++) {
        if (text[i] & 1) sum += text[i] ^ 3;
        if (text[i] & 2) sum ^= sum >> 3;
        if (text[i] & 4) sum += i;
    }
    /* the path out of the loop goes on behind the call */
    return ask((int)sum) > 3 ? sum * 3 : sum - 1;
}

int main(void)
{
    static unsigned char text[1 << 20];
    for (int i = 0; i < 1 << 20; i++) text[i] = (unsigned char)((unsigned)i * 2654435761u >> 24);
    printf("%ld\n", work(text, 1 << 20));
    return 0;
}
