/* Pairs of blocks by the best alignment: see blockpairs.h. */
#include "gcov/blockpairs.h"

#include "graph/cfg.h"

/* A pair is worth more than any two parts of likeness: as many pairs as there can be come first. */
enum { A_PAIR = 8, BRANCHES_ALIKE = 4, LINES_ALIKE = 7 };

static uint32_t shared_lines(const struct fp_lined_block *a, const struct fp_lined_block *b)
{
    uint32_t shared = 0;
    for (uint32_t i = 0; i < a->nlines; i++)
        for (uint32_t k = 0; k < b->nlines; k++) shared += a->lines[i] == b->lines[k];
    return shared;
}

static uint64_t lines_of(const struct fp_lined_block *blocks, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += blocks[i].nlines;
    return sum;
}

/* 0: not a pair. */
static uint32_t worth(const struct fp_lined_block *a, const struct fp_lined_block *b)
{
    uint32_t shared = shared_lines(a, b), pair = A_PAIR;
    if (!shared) return 0;
    if (a->branches == b->branches) pair += BRANCHES_ALIKE;
    return pair + LINES_ALIKE * 2 * shared / (a->nlines + b->nlines);
}

/* best[i * wide + k] is what the blocks from a's i and b's k on are worth. */
bool fp_pair_blocks(struct fp_arena *scratch, const struct fp_lined_block *a, size_t n,
                    const struct fp_lined_block *b, size_t m, uint32_t *pairs)
{
    enum { MOST_PAIRS = 1 << 24, MOST_COMPARED = 1 << 26 };
    size_t wide = m + 1;
    if (n >= MOST_PAIRS || wide > MOST_PAIRS / (n + 1)) return false;
    if (lines_of(a, n) * lines_of(b, m) > MOST_COMPARED) return false;
    uint32_t *best = FP_NEW_ARRAY(scratch, uint32_t, (n + 1) * wide);
    for (size_t i = n; i-- > 0;)
        for (size_t k = m; k-- > 0;) {
            uint32_t pair = worth(&a[i], &b[k]), skip_a = best[(i + 1) * wide + k];
            uint32_t most = best[i * wide + k + 1];
            if (skip_a > most) most = skip_a;
            if (pair && pair + best[(i + 1) * wide + k + 1] > most)
                most = pair + best[(i + 1) * wide + k + 1];
            best[i * wide + k] = most;
        }
    for (size_t i = 0; i < n; i++) pairs[i] = FP_NONE;
    for (size_t i = 0, k = 0; i < n && k < m;) {
        uint32_t pair = worth(&a[i], &b[k]), here = best[i * wide + k];
        if (pair && here == pair + best[(i + 1) * wide + k + 1])
            pairs[i++] = (uint32_t)k++;
        else if (here == best[(i + 1) * wide + k])
            i++;
        else
            k++;
    }
    return true;
}
