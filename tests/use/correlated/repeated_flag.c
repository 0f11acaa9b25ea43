/* A flag in memory, tested again and again: the first test tells the others, but only
 * the paths show it. */
#include "common.h"

#define TEST(r, n) \
    if ((r)->kind) even(n); else odd(n);

__attribute__((noinline)) static int handle(struct record *r)
{
    TEST(r, 1)
    CHECKS(r, 1)
    TEST(r, 2)
    CHECKS(r, 11)
    TEST(r, 3)
    CHECKS(r, 21)
    TEST(r, 4)
    CHECKS(r, 31)
    TEST(r, 5)
    CHECKS(r, 41)
    TEST(r, 6)
    CHECKS(r, 51)
    TEST(r, 7)
    CHECKS(r, 61)
    TEST(r, 8)
    CHECKS(r, 71)
    TEST(r, 9)
    return 0;
}

int main(void)
{
    make_records(2);
    for (int k = 0; k < ROUNDS; k++)
        for (int i = 0; i < RECORDS; i++) handle(&records[i]);
    printf("%d\n", total);
    return 0;
}
