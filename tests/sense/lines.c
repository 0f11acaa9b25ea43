/* Lines that lose their code where they run, and keep it where they do not. A line says in its
 * comment how often it runs. */
#include <stdio.h>
#include <stdlib.h>

struct state {
    int mode, expect, total;
};

/* Folded where it is inlined: `s` is known, `action` too. The copy that others may call stays. */
int compress(struct state *s, int action)
{
    if (s == NULL)                          /* 3 */
        return -1;                          /* 0 */
    for (;;) {
        switch (s->mode) {                  /* 5 */
        case 1:
            return 1;                       /* 1 */
        case 2:
            if (action == 0) {              /* 2 */
                s->total++;                 /* 0 */
                return 2;                   /* 0 */
            } else if (action == 1) {       /* 2 */
                s->expect = s->total;       /* 0 */
                s->mode = 3;                /* 0 */
                continue;                   /* 0 */
            } else {
                s->expect = s->total;       /* 2 */
                s->mode = 4;                /* 2 */
                continue;                   /* 2 */
            }
        case 3:
            return 3;                       /* 0 */
        default:
            if (action != 2)                /* 2 */
                return -2;                  /* 0 */
            s->mode = 1;                    /* 2 */
            return 4;                       /* 2 */
        }
    }
}

static int tester(int kind)
{
    if (kind > 7)                           /* 4 */
        return 1;                           /* 2 */
    return 0;                               /* 2 */
}

int is_large(int kind)
{
    return tester(kind);                    /* 4 */
}

/* The same code on two sides becomes one; of one line, or of none. */
static int sides(int n, int *cells)
{
    int before = cells[0];                  /* 8 */
    if (n & 1) {                            /* 8 */
        cells[1] += n;                      /* 4 */
        cells[2] = cells[1] ^ 5;            /* 4 */
    } else {
        cells[1] += n;                      /* 4 */
        cells[2] = cells[1] ^ 5;            /* 4 */
    }
    if (cells[1] > 1000000)                 /* 8 */
        printf("%d\n", before);             /* 0 */
    return before;                          /* 8 */
}

static int never(int n)
{
    int sum = 0;                            /* 0 */
    for (int i = 0; i < n; i++)             /* 0 */
        sum += i * n;                       /* 0 */
    return sum;                             /* 0 */
}

/* What only a branch needs is computed there. */
__attribute__((noinline)) int sunk(int n)
{
    int large = n * 77 + 5;                 /* 5 */
    int small = n + 1;                      /* 5 */
    if (n > 1000)                           /* 5 */
        printf("%d\n", large % 1000);       /* 0 */
    return small;                           /* 5 */
}

int (*volatile keep_compress)(struct state *, int) = compress;
int (*volatile keep_large)(int) = is_large;

int main(int argc, char **argv)
{
    (void)argv;
    struct state s = {2, 0, 5};
    int cells[3] = {7, 0, 0}, sum = 0;
    sum += compress(&s, 2);                 /* 1 */
    sum += compress(&s, 2);                 /* 1 */
    s.mode = 2;                             /* 1 */
    sum += compress(&s, 2);                 /* 1 */
    sum += is_large(9) + is_large(8) + is_large(3) + is_large(1); /* 1 */
    for (int i = 0; i < 8; i++)
        sum += sides(i, cells);             /* 8 */
    for (int i = 0; i < 5; i++)
        sum += sunk(i + argc);              /* 5 */
    if (argc > 5)                           /* 1 */
        sum += never(argc);                 /* 0 */
    printf("%d %d\n", sum, cells[2]);       /* 1 */
    return 0;
}
