/* Conditions that optimisation joins, or leaves without a place of their own behind them. The
 * comments say how often each line's conditions held and did not, and `one`, `both` or `any`: how
 * many ways have a label at -O2. */
#include <stdio.h>
#include <string.h>

static volatile int sink, zero;
static int passed, failed;

__attribute__((noinline)) static void act(int n)
{
    sink += n;
}

__attribute__((noinline)) static int ask(int n)
{
    sink += n;
    return n + zero;
}

/* A switch with two targets. */
__attribute__((noinline)) static void several(int c)
{
    if (c == '*' || c == '-' || c == '+') /* 5/5 both */
        act(1);
    act(2);
}

/* One branch: what it says of the first line is certain on one way. */
__attribute__((noinline)) static void nested(int a, int b)
{
    if (a > 3)     /* 6/4 one */
        if (b < 5) /* 1/5 any */
            act(1);
    act(2);
}

/* One call of printf behind a phi of two strings. */
__attribute__((noinline)) static int test(const char *expected, const char *found)
{
    int pass;
    if (!expected && !found)
        pass = 1;
    else if (!expected || !found)
        pass = 0;
    else
        pass = !strcmp(expected, found);
    if (pass) /* 7/3 both */
        printf("[pass]");
    else
        printf("[fail]");
    if (pass) /* 7/3 any */
        ++passed;
    else
        ++failed;
    return pass;
}

static int is_start(int c)
{
    if (c >= 128) /* 0/15 any */
        return 1;
    if (ask(c) == 'a') /* 4/11 both */
        return 1;
    return c == ':' || c == '_';
}

/* Both ways of ask() lead out of the function that was inlined. */
__attribute__((noinline)) static const char *name(const char *p)
{
    if (!*p) return 0;                          /* 1/9 any */
    if (!is_start((unsigned char)*p)) return 0; /* 3/6 any */
    ++p;
    while (*p && is_start((unsigned char)*p)) ++p;
    act(*p);
    return p;
}

/* A condition of two lines: the loop's is told at its first. */
__attribute__((noinline)) static int rounds(int n, int m)
{
    int k = 0;
    do {
        k++;
    } while (ask(n) > k && /* 21/10 any */
             ask(m) != k);
    return k;
}

struct item {
    long *data;
    int size, room;
};
static struct item items[100];

/* An unrolled loop has tests of the compiler's own, and is left once. */
__attribute__((noinline)) static void fill(struct item *at, int from, int to)
{
    for (int i = from; i < to; i++) /* 70/10 any */
        at[i] = (struct item){0, i, 0};
}

struct element {
    int line, closing;
};

/* The last two sides become one branch: that it is taken does not say which of the two held. */
__attribute__((noinline)) static const char *sides(const char *p, struct element *e)
{
    if (!p || !*p || e->closing != 0) /* sides 2/8 1/7 4/3 */
        return p;
    act(e->line);
    return p + 1;
}

/* The same of &&. */
__attribute__((noinline)) static int all_sides(int n, const struct element *e)
{
    if (ask(n) > 2 && e->line < 8 && e->closing == 0) /* sides 7/3 5/2 2/3 */
        return 1;
    act(n);
    return 0;
}

/* The second comparison decides both sides. */
__attribute__((noinline)) static int is_known(const unsigned *size)
{
    if (*size != ~0u && *size < 5) /* sides 8/2 5/3 */
        return 1;
    act((int)*size);
    return 0;
}

/* A value of several sides: a switch on the first three leads to the end where any of them held. */
__attribute__((noinline)) static int is_space(int c)
{
    return c == 9 || c == 10 || c == 32 || ask(c) == 40; /* sides 1/9 2/7 2/5 */
}

/* A range of which the loop says the lower end becomes one comparison. */
__attribute__((noinline)) static void ranges(const signed char *p)
{
    while (*p) {
        if (*p > 0 && *p < 64) /* sides 80/20 40/40 */
            act(*p);
        p++;
    }
}

/* Where the first test has been answered, the second branch is the first one's place and the
 * second one's comparison. */
__attribute__((noinline)) static int kinds(int indented, int kind, int lazy)
{
    int n;
    if (!indented && ((n = ask(kind)) == 3 || (kind != 8 && !lazy && (n = ask(lazy)))))
        act(n);
    else if (!indented && kind == 8 && (n = ask(kind))) /* sides 9/1 5/4 5/0 */
        act(n + 1);
    else
        lazy += ask(2);
    return lazy;
}

/* The same, where the first side compares nothing. */
__attribute__((noinline)) static int flagged(_Bool indented, int kind, int lazy)
{
    int n;
    if (!indented && ((n = ask(kind)) == 3 || (kind != 8 && !lazy && (n = ask(lazy)))))
        act(n);
    else if (!indented && kind == 8 && (n = ask(kind))) /* sides 9/1 5/4 5/0 */
        act(n + 1);
    else
        lazy += ask(2);
    return lazy;
}

/* The range says nothing of either of its sides where 7 and 9 are tested with it; that neither of
 * these is n is certain on one way. */
__attribute__((noinline)) static int is_odd(int n)
{
    if ((n >= 3 && n <= 5) || n == 7 || n == 9 || ask(n) == 8) /* sides 7/3 3/4 1/6 1/5 1/4 */
        act(n);
    return n;
}

static int left;

static int find(int n)
{
    if (left == 0) return 0;
    return ask(n);
}

/* What find() tests first becomes one branch with the second side. */
__attribute__((noinline)) static void more(int allowed, int n)
{
    if (allowed && ask(n) > 2) /* sides 9/1 7/2 */
        if (find(n)) act(1);
    act(2);
}

/* Behind the first side the others cannot both hold, so the branch is known, and neither of them. */
__attribute__((noinline)) static void narrow(int c)
{
    if (c < 1 || ((unsigned)c < 4u && !c)) /* sides 2/3 2/1 0/2 */
        act(1);
    else
        act(2);
}

int main(void)
{
    static const int narrows[] = {-1, 0, 2, 3, 7};
    for (int i = 0; i < 5; i++) narrow(narrows[i]);
    static const signed char bytes[] = "ab01\377x2y\3763";
    static const char *const words[] = {"abc", "a.b", ":x",    "1a", "_",
                                        "",    "--",  "a:b c", "z9", "ab"};
    for (int i = 0; i < 10; i++) {
        several("a*b-c+d*e-"[i]);
        nested(i, i);
        test(words[i], i % 3 ? words[i] : "ab");
        name(words[i]);
        rounds(i, i * 3 % 7);
        fill(items, 7 * i, 7 * i + 7);
        struct element e = {i, i % 5 == 4 || i == 7 || i == 3};
        sides(i == 2 || i == 6 ? NULL : words[i], &e);
        all_sides(i, &e);
        unsigned size = i < 8 ? (unsigned)i : ~0u;
        is_known(&size);
        is_space("a\tb\n c\n d("[i]);
        ranges(bytes);
        kinds(i == 9, i < 4 ? 8 : i, i & 1);
        flagged(i == 9, i < 4 ? 8 : i, i & 1);
        is_odd(i);
        left = i % 2;
        more(i, i);
    }
    return 0;
}
