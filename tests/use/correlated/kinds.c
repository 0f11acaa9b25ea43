/* Records of three kinds go through stages that each ask for the kind. */
#include "common.h"

#define STAGE(r, n)                         \
    {                                       \
        int kind = (r)->kind;               \
        if (kind == 0) even(n);             \
        else if (kind == 1) odd(n);         \
        else neither(n);                    \
    }

__attribute__((noinline)) static void neither(int by) { total -= by; }

__attribute__((noinline)) static int handle(struct record *r)
{
    STAGE(r, 1)
    CHECKS(r, 1)
    STAGE(r, 2)
    CHECKS(r, 11)
    STAGE(r, 3)
    CHECKS(r, 21)
    STAGE(r, 4)
    CHECKS(r, 31)
    STAGE(r, 5)
    CHECKS(r, 41)
    STAGE(r, 6)
    CHECKS(r, 51)
    STAGE(r, 7)
    CHECKS(r, 61)
    STAGE(r, 8)
    return 0;
}

int main(void)
{
    make_records(3);
    for (int k = 0; k < ROUNDS; k++)
        for (int i = 0; i < RECORDS; i++) handle(&records[i]);
    printf("%d\n", total);
    return 0;
}
