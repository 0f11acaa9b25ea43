/* Kruskal's algorithm with a radix sort: a function of a million blocks has
 * some two million edges. */
#include "graph/tree.h"

#include <assert.h>
#include <math.h>
#include <string.h>

struct fp_union_find fp_union_find_new(struct fp_arena *arena, uint32_t n)
{
    struct fp_union_find sets = {
        .parent = FP_NEW_ARRAY(arena, uint32_t, n),
        .size = FP_NEW_ARRAY(arena, uint32_t, n),
        .joined = FP_NEW_ARRAY(arena, uint32_t, n),
    };
    for (uint32_t v = 0; v < n; v++) {
        sets.parent[v] = v;
        sets.size[v] = 1;
    }
    return sets;
}

uint32_t fp_union_find_root(const struct fp_union_find *sets, uint32_t v)
{
    while (sets->parent[v] != v) v = sets->parent[v];
    return v;
}

bool fp_union_find_join(struct fp_union_find *sets, uint32_t a, uint32_t b)
{
    a = fp_union_find_root(sets, a);
    b = fp_union_find_root(sets, b);
    if (a == b) return false;
    if (sets->size[a] < sets->size[b]) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    sets->parent[b] = a;
    sets->size[a] += sets->size[b];
    sets->joined[sets->njoined++] = b;
    return true;
}

void fp_union_find_undo(struct fp_union_find *sets)
{
    uint32_t b = sets->joined[--sets->njoined];
    sets->size[sets->parent[b]] -= sets->size[b];
    sets->parent[b] = b;
}

struct weighted_edge {
    uint64_t key;
    uint32_t edge;
};

/* The bits of a double that is not negative order as the double does; inverted,
 * so that the greatest comes first. */
static uint64_t descending_key(double weight)
{
    uint64_t bits;
    assert(weight >= 0);
    memcpy(&bits, &weight, sizeof bits);
    return ~bits;
}

/* Least significant digit first; digits that all keys share are skipped. Stable. Few
 * keys are not worth a large table. */
static struct weighted_edge *sort_keyed(struct fp_arena *scratch, struct weighted_edge *items,
                                        uint32_t n)
{
    if (n < 64) { /* insertion sort: most functions are small */
        for (uint32_t i = 1; i < n; i++) {
            struct weighted_edge item = items[i];
            uint32_t k = i;
            for (; k && items[k - 1].key > item.key; k--) items[k] = items[k - 1];
            items[k] = item;
        }
        return items;
    }
    struct weighted_edge *other = FP_NEW_ARRAY(scratch, struct weighted_edge, n);
    const unsigned bits = n < 1 << 14 ? 8 : 16;
    const uint32_t digits = (uint32_t)1 << bits, mask = digits - 1;
    uint32_t *start = FP_NEW_ARRAY(scratch, uint32_t, digits + 1);
    for (unsigned shift = 0; shift < 64; shift += bits) {
        memset(start, 0, (digits + 1) * sizeof *start);
        for (uint32_t i = 0; i < n; i++) start[(items[i].key >> shift & mask) + 1]++;
        if (start[(items[0].key >> shift & mask) + 1] == n) continue;
        for (uint32_t d = 0; d < digits; d++) start[d + 1] += start[d];
        for (uint32_t i = 0; i < n; i++) other[start[items[i].key >> shift & mask]++] = items[i];
        struct weighted_edge *swap = items;
        items = other;
        other = swap;
    }
    return items;
}

struct fp_bitset fp_spanning_tree(struct fp_arena *arena, uint32_t nverts,
                                  const struct fp_tree_edge *edges, uint32_t nedges)
{
    struct fp_arena scratch = {0};
    struct fp_bitset taken = fp_bitset_new(arena, nedges);
    struct weighted_edge *items = FP_NEW_ARRAY(&scratch, struct weighted_edge, nedges);
    for (uint32_t i = 0; i < nedges; i++)
        items[i] = (struct weighted_edge){descending_key(edges[i].weight), i};
    items = sort_keyed(&scratch, items, nedges);
    struct fp_union_find sets = fp_union_find_new(&scratch, nverts);
    for (uint32_t i = 0; i < nedges; i++) {
        const struct fp_tree_edge *edge = &edges[items[i].edge];
        bool joins = fp_union_find_join(&sets, edge->a, edge->b);
        assert(joins || !isinf(edge->weight));
        if (joins) fp_bitset_add(&taken, items[i].edge);
    }
    fp_arena_free(&scratch);
    return taken;
}
