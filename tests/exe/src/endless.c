/* Runs until a signal ends it, at any instruction. The program counts some of its lines itself, in the
 * file that the argument names. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile unsigned long *seen;
/* The comment keeps compilers from joining two of them. */
#define COUNT(n)                   \
    do {                           \
        __asm__ volatile("# " #n); \
        seen[n]++;                 \
    } while (0)

__attribute__((noinline)) static unsigned leaf(unsigned x)
{
    unsigned r = 0;
    while (x > 3) {
        if (x & 1)
            COUNT(1);
        x >>= 1;
        r++;
    }
    if (r > 4)
        COUNT(2);
    else
        COUNT(3);
    return r;
}

__attribute__((noinline)) static unsigned pick(unsigned x, const unsigned *t)
{
    switch (x % 9) {
    case 0:
        COUNT(4);
        break;
    case 1:
        COUNT(5);
        x += leaf(x);
        break;
    case 2:
        COUNT(6); /* fall through */
    case 3:
        COUNT(7);
        break;
    case 5:
        for (unsigned i = 0; i < (x & 7); i++)
            COUNT(8);
        break;
    case 6:
        if (t[x & 7] > x)
            COUNT(9);
        break;
    default:
        if (t[x & 7] == 5 || t[x & 3] < 3)
            COUNT(10);
        else if (x & 16)
            COUNT(11);
    }
    return x * 3 + 1;
}

int main(int argc, char **argv)
{
    static unsigned t[8] = {1, 5, 3, 1000000, 7, 5, 2, 9};
    if (argc < 2) return 1;
    int fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (ftruncate(fd, 4096)) return 1;
    seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    puts("ready");
    fflush(stdout);
    unsigned x = 1;
    for (unsigned i = 0;; i++) {
        COUNT(12);
        x = pick(x + i, t);
        if (x & 64)
            COUNT(13);
        if (leaf(x & 0xff) == 3)
            COUNT(14);
    }
}
