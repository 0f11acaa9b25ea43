/* Loops that are entered in the middle. A site has the address of the instruction behind it, which
 * other ways lead to as well: the jump into a loop, and what the code generator shares between the
 * test in front of a loop and that at its end. These have not passed the site. Two of the functions
 * are like functions of Lua, in which paths that were never taken had samples.
 *
 *     joins ROUNDS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    const char *key;
    char kind;
    int next;
};

static struct node nodes[8] = {{"a", 4, 3}, {"b", 4, 0}, {"c", 4, 1}, {"d", 4, -2},
                               {"e", 3, 2}, {"f", 4, -3}, {"g", 4, 0}, {"h", 3, 0}};
static const struct node absent;

__attribute__((noinline)) static const struct node *other(int key)
{
    return key < 8 ? &nodes[key] : &absent;
}

__attribute__((noinline)) static const struct node *get(const struct node *n, int type,
                                                        const char *key)
{
    switch (type & 0x3f) {
    case 4:
        for (;;) {
            if (n->kind == 4 && n->key == key) return n;
            if (!n->next) return &absent;
            n += n->next;
        }
    case 3: return other(type >> 6);
    case 0: return &absent;
    case 19: return other(type >> 8);
    default: return other(7);
    }
}

struct value {
    long number;
    unsigned char kind;
};

__attribute__((noinline)) static void reverse(struct value *from, struct value *to)
{
    for (; from < to; from++, to--) {
        struct value kept = *from;
        from->number = to->number, from->kind = to->kind;
        to->number = kept.number, to->kind = kept.kind;
    }
}

__attribute__((noinline)) static void rotate(struct value *base, struct value *top, int at, int n)
{
    struct value *from = at > 0 ? base + at : top + at, *last = top - 1;
    struct value *middle = n >= 0 ? last - n : from - n - 1;
    for (struct value *a = from, *b = middle; a < b; a++, b--) {
        struct value kept = *a;
        a->number = b->number, a->kind = b->kind;
        b->number = kept.number, b->kind = kept.kind;
    }
    for (struct value *a = middle + 1, *b = last; a < b; a++, b--) {
        struct value kept = *a;
        a->number = b->number, a->kind = b->kind;
        b->number = kept.number, b->kind = kept.kind;
    }
    for (struct value *a = from, *b = last; a < b; a++, b--) {
        struct value kept = *a;
        a->number = b->number, a->kind = b->kind;
        b->number = kept.number, b->kind = kept.kind;
    }
}

/* As strcmp, for strings with a 0 inside. */
__attribute__((noinline)) static int compare(const char *a, size_t na, const char *b, size_t nb)
{
    for (;;) {
        int order = strcmp(a, b);
        if (order) return order;
        size_t len = strlen(a);
        if (len == nb) return len != na;
        if (len == na) return -1;
        len++;
        a += len, na -= len;
        b += len, nb -= len;
    }
}

int main(int argc, char **argv)
{
    static struct value values[16];
    static const char left[] = "ab\0cd\0x", right[] = "ab\0cd\0y";
    long rounds = argc > 1 ? atol(argv[1]) : 1000, sum = 0;
    for (long i = 0; i < rounds; i++) {
        int at = (int)(i % 6);
        sum += get(&nodes[i % 5 ? 0 : at], i % 7 ? 4 : 3 + (at << 6), nodes[at].key)->kind;
        rotate(values, values + 8, i % 9 ? -2 : 3, i % 4 ? -1 : 1);
        if (i % 16 == 0) reverse(values, values + i % 5);
        sum += compare(left + i % 3, 7 - (size_t)(i % 3), i % 11 ? "b" : right + i % 3,
                       i % 11 ? 1 : 7 - (size_t)(i % 3));
        values[at].number += sum;
    }
    printf("%ld %ld\n", sum, values[3].number);
}
