/* The way something came out is kept as a number, and looked at later. */
#include "common.h"

enum code { DONE, AGAIN };

#define ASK(n) \
    if (code == DONE) even(n); else odd(n);

__attribute__((noinline)) static int handle(struct record *r)
{
    volatile enum code code; /* others may change it */
    if (r->kind == 0) {
        even(1);
        code = DONE;
    } else {
        odd(2);
        code = AGAIN;
    }
    CHECKS(r, 1)
    ASK(3)
    CHECKS(r, 11)
    if (code == AGAIN) odd(4); else even(4);
    CHECKS(r, 21)
    ASK(5)
    CHECKS(r, 31)
    if (code != DONE) odd(6); else even(6);
    CHECKS(r, 41)
    ASK(7)
    CHECKS(r, 51)
    ASK(8)
    CHECKS(r, 61)
    ASK(9)
    CHECKS(r, 71)
    ASK(10)
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
