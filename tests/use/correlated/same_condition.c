/* One condition, tested again and again: with a copy for each way the later tests can be
 * removed, not only predicted. */
#include "common.h"

#define TEST(n) \
    if (large) even(n); else odd(n);

__attribute__((noinline)) static int handle(struct record *r)
{
    int large = r->kind > 1;
    TEST(1)
    CHECKS(r, 1)
    TEST(2)
    CHECKS(r, 11)
    TEST(3)
    CHECKS(r, 21)
    TEST(4)
    CHECKS(r, 31)
    TEST(5)
    CHECKS(r, 41)
    TEST(6)
    CHECKS(r, 51)
    TEST(7)
    CHECKS(r, 61)
    TEST(8)
    CHECKS(r, 71)
    TEST(9)
    return 0;
}

int main(void)
{
    make_records(4);
    for (int k = 0; k < ROUNDS; k++)
        for (int i = 0; i < RECORDS; i++) handle(&records[i]);
    printf("%d\n", total);
    return 0;
}
