/* What the programs of the suite share: records with random contents, and checks that
 * never fail, which push older branches out of a predictor's history. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { RECORDS = 4096, ROUNDS = 12 };

struct record {
    volatile int kind; /* may change at any time, for all that the compiler knows */
    int value, limit;
};

static struct record records[RECORDS];
static uint64_t seed = 88172645463325252u;

static int random_below(int n)
{
    seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
    return (int)(seed % (uint64_t)n);
}

static void make_records(int kinds)
{
    for (int i = 0; i < RECORDS; i++)
        records[i] = (struct record){random_below(kinds), random_below(1000), 2000};
}

__attribute__((noinline)) static int failed(int where)
{
    fprintf(stderr, "check %d failed\n", where);
    return -1;
}

#define CHECK1(r, n) \
    if ((r)->value + (n) > (r)->limit) return failed(n);
#define CHECKS(r, n)                                                                    \
    CHECK1(r, n) CHECK1(r, n + 1) CHECK1(r, n + 2) CHECK1(r, n + 3) CHECK1(r, n + 4)    \
    CHECK1(r, n + 5) CHECK1(r, n + 6)

static int total;
__attribute__((noinline)) static void even(int by) { total += by; }
__attribute__((noinline)) static void odd(int by) { total ^= by; }
