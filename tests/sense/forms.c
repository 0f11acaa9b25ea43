/* Every form of branch. The comment at the end of a line says how often each of its conditions
 * held and did not, in order: main calls all with 0 to 9. `whole` is about the line's condition as
 * a whole, which compilers may test at once. `or nothing`: where conditions are joined. */
#include <stdio.h>

static volatile int sink, zero;

__attribute__((noinline)) static void act(int n)
{
    sink += n;
}

/* No compiler may know what it returns, or conditions behind it are gone. */
__attribute__((noinline)) static int ask(int n)
{
    sink += n;
    return n + zero;
}

#define IS_SMALL(n) ((n) < 3)
#define IF_SMALL(n, then) \
    if ((n) < 3) {        \
        then;             \
    }

__attribute__((noinline)) static void plain(int n)
{
    if (n == 4) /* 1/9 */
        act(1);
    if (n > 6) /* 3/7 */
        act(2);
    else
        ask(3);
}

__attribute__((noinline)) static void negated(int n)
{
    if (!n) /* 1/9 */
        act(1);
    if (!(n < 4)) /* 6/4 */
        act(2);
    else
        ask(3);
    if (!!ask(n)) /* 9/1 */
        act(4);
}

__attribute__((noinline)) static int leaves(int n)
{
    if (n == 7) /* 1/9 */
        return ask(3);
    act(1);
    if (!ask(n)) /* 1/8 */
        goto out;
    act(2);
out:
    return ask(1);
}

__attribute__((noinline)) static void both(int n)
{
    if (ask(n) > 2 && ask(n) < 6) /* 7/3 3/4 */
        act(1);
    if (ask(n) > 2 && /* 7/3 */
        ask(n) != 8) /* 6/1 */
        act(2);
    else
        ask(3);
}

__attribute__((noinline)) static void either(int n)
{
    if (ask(n) < 2 || ask(n) > 6) /* 2/8 3/5 */
        act(1);
    if (ask(n) < 2 || /* 2/8 */
        !ask(n - 5)) /* 1/7 */
        act(2);
}

__attribute__((noinline)) static void not_both(int n)
{
    if (!(ask(n) > 2 && /* 7/3 */
          ask(n) < 6)) /* 3/4 */
        act(1);
    else
        ask(2);
}

__attribute__((noinline)) static void at_once(int n)
{
    if (n > 2 && n < 6) /* 7/3 3/4 whole 3/7 */
        act(1);
    if (!(n > 2 && n < 6)) /* 7/3 3/4 whole 7/3 */
        act(2);
    else
        ask(3);
    while (n > 2 && n < 6) /* 10/7 6/4 whole 6/10 */
        n += ask(1);
}

__attribute__((noinline)) static int as_values(int n)
{
    int a = ask(n) > 1 && ask(n) < 5; /* 8/2 */
    int b = ask(n) > 7 || ask(n) < 5; /* 2/8 */
    act(a + b);
    return n > 3 ? ask(1) : sink; /* 6/4 */
}

__attribute__((noinline)) static void loops(int n)
{
    for (int i = 0; i < n; i++) /* 45/10 */
        act(i);
    int k = n;
    while (k > 0) { /* 45/10 */
        act(k);
        k--;
    }
    do {
        act(k);
        k++;
    } while (k < n); /* 36/10 */
    for (;;) {
        act(k);
        if (k-- == 0) /* 10/46 */
            break;
    }
}

__attribute__((noinline)) static void nested(int n)
{
    for (int i = 0; i < 3; i++) { /* 30/10 */
        if (ask(i) == n) /* 3/27 */
            continue;
        int k = i;
        do {
            act(k);
        } while (k++ < n); /* 109/27 */
    }
}

__attribute__((noinline)) static void chosen(int n)
{
    switch (n) { /* case 0: 1, case 1: 1, case 4: 2, default: 6 */
    case 0: act(10); break;
    case 1: ask(11); /* falls through */
    case 4:
    case 5: act(12); break;
    default: ask(13);
    }
}

/* Two of a switch are branches when they are optimised. */
__attribute__((noinline)) static void chosen_of_two(int n)
{
    switch (n) { /* case 3: 1, default: 9 */
    case 3: act(20); break;
    default: ask(21);
    }
}

/* Compilers make a switch of it. */
__attribute__((noinline)) static void no_switch(int n)
{
    if (n == 1)
        act(30);
    else if (n == 3)
        act(31);
    else if (n == 5)
        act(32);
    else if (n == 7)
        act(33);
    else
        ask(34);
}

__attribute__((noinline)) static void macros(int n)
{
    if (IS_SMALL(n)) /* 3/7 */
        act(1);
    IF_SMALL(n - 1, act(2)) /* 4/6 */
    IF_SMALL(n - 2, act(3)) /* 5/5 */
}

static inline int is_letter(int n)
{
    return n > 2 && n < 7;
}

static inline int find(int n)
{
    for (int i = 0; i < 5; i++)
        if (ask(i) == n) /* 5/35 */
            return 1;
    return 0;
}

__attribute__((noinline)) static void inlined(int n)
{
    if (is_letter(n)) /* 4/6 */
        act(1);
    if (!find(n)) /* 5/5 */
        act(2);
    else
        ask(3);
}

/* Two conditions become one comparison: of both bits, or of the second value alone. */
__attribute__((noinline)) static void both_bits(int n, int first, int second)
{
    static int state[8];
    for (int i = 0; i < 8; i++) { /* 80/10 or nothing */
        state[i] = ask(n + i);
        if (state[i] & (1 << first)) { /* 40/40 or nothing */
            if (state[i] & (1 << second)) /* 20/20 or nothing */
                state[i] ^= 1 << n;
        }
    }
}

struct kind {
    int of;
    long beside;
};

static inline int is_last(const struct kind *kind)
{
    return kind->of == 3;
}

static inline void leave_first(struct kind *kind)
{
    if (kind->of == 0) /* 1/8 or nothing */
        kind->of = 1;
}

__attribute__((noinline)) static int lowered(struct kind *kind)
{
    if (is_last(kind)) /* 1/9 or nothing */
        return 0;
    leave_first(kind);
    return 1;
}

static inline int is_name(int c)
{
    return (c >= 'a' && c <= 'z') || c == '_' || c == '$';
}

/* What is left of a condition behind its first part may be joined with the next one. */
__attribute__((noinline)) static void named(int c)
{
    if (is_name(c)) /* 4/6 or nothing */
        act(1);
    else if (c == '+') /* 1/5 or nothing */
        ask(2);
}

int main(void)
{
    static volatile int input; /* what is in it no compiler knows */
    for (input = 0; input < 10; input++) {
        int n = input;
        plain(n), negated(n), leaves(n), both(n), either(n), not_both(n), at_once(n);
        as_values(n), loops(n), nested(n), chosen(n), chosen_of_two(n), no_switch(n), macros(n), inlined(n), both_bits(n, input & 0, 1);
        struct kind kind = {n, 0};
        lowered(&kind), named("a_$z+- .9?"[n]);
    }
    printf("%d\n", sink);
    return 0;
}
