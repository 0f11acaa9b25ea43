/* Matching blocks: see blockmatch.h. */
#include "graph/blockmatch.h"

#include "base/table.h"

enum {
    OLD,
    NOW,
    ROUNDS = 3,           /* of neighbours that go into the content of a block */
    MOST_CELLS = 4000000, /* of one alignment */
    MOST_NEIGHBOURS = 8,  /* that are looked at for the likeness of two blocks */
    LIKE_CONTENT = 20,    /* likeness: see likeness() */
    LIKE_KIND = 14,
    LIKE_CALLS = 10,
    LIKE_LINE = 1,
    LIKE_NEIGHBOUR = 3,
    LEAST_LIKENESS = 6,
};

struct matching {
    struct fp_arena *scratch;
    const struct fp_version *of[2];
    uint32_t *other[2];            /* per block: its match in the other version, or FP_NONE */
    uint64_t *hash[2][ROUNDS + 1]; /* per block: its content with that of ever more neighbours */
};

static uint64_t mixed(uint64_t a, uint64_t b)
{
    return fp_hash64(a ^ fp_hash64(b + 0x9e3779b97f4a7c15u));
}

static bool is_matched(const struct matching *m, int side, uint32_t block)
{
    return m->other[side][block] != FP_NONE;
}

static void join(struct matching *m, uint32_t old, uint32_t now)
{
    m->other[OLD][old] = now;
    m->other[NOW][now] = old;
}

/* ---- content with that of neighbours ---- */

static uint64_t first_hash(const struct fp_version *v, uint32_t block, bool kinds)
{
    const uint8_t shape = FP_BLOCK_PAD | FP_BLOCK_HUB;
    const struct fp_block_mark *mark = &v->marks[block];
    uint64_t hash = mixed(kinds ? mark->kind : mark->content, v->cfg->flags[block] & shape);
    return mixed(hash, fp_cfg_out_degree(v->cfg, block));
}

/* Successors in their order; predecessors in any. */
static uint64_t next_hash(const struct fp_cfg *cfg, const uint64_t *last, uint32_t block)
{
    uint64_t hash = last[block], sum = 0;
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++)
        hash = mixed(hash, last[cfg->edges[e].dst]);
    for (uint32_t i = cfg->first_in[block]; i < cfg->first_in[block + 1]; i++)
        sum += fp_hash64(last[cfg->edges[cfg->in_edges[i]].src]);
    return mixed(hash, sum);
}

static void hash_blocks(struct matching *m, int side, bool kinds)
{
    const struct fp_version *v = m->of[side];
    uint32_t n = v->cfg->nblocks;
    for (int round = 0; round <= ROUNDS; round++) {
        uint64_t *to = m->hash[side][round] = FP_NEW_ARRAY(m->scratch, uint64_t, n);
        for (uint32_t b = 0; b < n; b++)
            to[b] =
                round ? next_hash(v->cfg, m->hash[side][round - 1], b) : first_hash(v, b, kinds);
    }
}

/* ---- blocks that are alone in having their content ---- */

/* Hash -> 1 + the block that has it, or UINT64_MAX where several do. */
static void index_alone(struct matching *m, int side, int round, struct fp_table *table)
{
    fp_table_init(table, m->scratch);
    for (uint32_t b = 0; b < m->of[side]->cfg->nblocks; b++) {
        if (is_matched(m, side, b)) continue;
        uint64_t *at = fp_table_add(table, m->hash[side][round][b]);
        *at = *at ? UINT64_MAX : (uint64_t)b + 1;
    }
}

static void join_alone(struct matching *m, int round)
{
    struct fp_table alone[2];
    index_alone(m, OLD, round, &alone[OLD]);
    index_alone(m, NOW, round, &alone[NOW]);
    for (uint32_t b = 0; b < m->of[NOW]->cfg->nblocks; b++) {
        if (is_matched(m, NOW, b)) continue;
        uint64_t hash = m->hash[NOW][round][b];
        const uint64_t *old = fp_table_find(&alone[OLD], hash);
        if (!old || *old == UINT64_MAX || *fp_table_find(&alone[NOW], hash) == UINT64_MAX) continue;
        join(m, (uint32_t)*old - 1, b);
    }
}

/* ---- the longest run of matches in the order of the code ---- */

/* The matched blocks of `now`, in order, whose matches are in order too: as many as possible. */
static size_t longest_run(struct matching *m, uint32_t *run)
{
    uint32_t n = m->of[NOW]->cfg->nblocks;
    uint32_t *best = FP_NEW_ARRAY(m->scratch, uint32_t, n); /* per length: the block it ends at */
    uint32_t *before = FP_NEW_ARRAY(m->scratch, uint32_t, n);
    size_t len = 0;
    for (uint32_t b = 0; b < n; b++) {
        if (!is_matched(m, NOW, b)) continue;
        size_t low = 0, high = len;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (m->other[NOW][best[middle]] < m->other[NOW][b])
                low = middle + 1;
            else
                high = middle;
        }
        before[b] = low ? best[low - 1] : FP_NONE;
        best[low] = b;
        if (low == len) len++;
    }
    uint32_t at = len ? best[len - 1] : FP_NONE;
    for (size_t i = len; i--; at = before[at]) run[i] = at;
    return len;
}

/* Content alone, without neighbours, may be the same by chance. Such matches must be in order. */
static void drop_crossing(struct matching *m, const bool *sure)
{
    uint32_t n = m->of[NOW]->cfg->nblocks;
    uint32_t *run = FP_NEW_ARRAY(m->scratch, uint32_t, n);
    bool *kept = FP_NEW_ARRAY(m->scratch, bool, n);
    size_t len = longest_run(m, run);
    for (size_t i = 0; i < len; i++) kept[run[i]] = true;
    for (uint32_t b = 0; b < n; b++) {
        if (!is_matched(m, NOW, b) || kept[b] || sure[b]) continue;
        m->other[OLD][m->other[NOW][b]] = FP_NONE;
        m->other[NOW][b] = FP_NONE;
    }
}

/* By content; then by kind, with neighbours. */
static void find_anchors(struct matching *m)
{
    uint32_t n = m->of[NOW]->cfg->nblocks;
    bool *sure = FP_NEW_ARRAY(m->scratch, bool, n);
    join(m, 0, 0); /* the entry is the entry */
    for (int kinds = 0; kinds < 2; kinds++) {
        hash_blocks(m, OLD, kinds);
        hash_blocks(m, NOW, kinds);
        for (int round = ROUNDS; round > 0; round--) join_alone(m, round);
        for (uint32_t b = 0; b < n; b++) sure[b] |= is_matched(m, NOW, b);
        join_alone(m, 0);
        drop_crossing(m, sure);
    }
}

/* ---- how like two blocks are ---- */

static int like_neighbours(const struct matching *m, uint32_t old, uint32_t now)
{
    const struct fp_cfg *a = m->of[OLD]->cfg, *b = m->of[NOW]->cfg;
    uint32_t outs = fp_cfg_out_degree(b, now), ins = fp_cfg_in_degree(b, now);
    int like = 0;
    if (outs != fp_cfg_out_degree(a, old)) return 0;
    for (uint32_t i = 0; i < outs && i < MOST_NEIGHBOURS; i++)
        like += m->other[NOW][b->edges[b->first_out[now] + i].dst] ==
                a->edges[a->first_out[old] + i].dst;
    for (uint32_t i = 0; i < ins && i < MOST_NEIGHBOURS; i++)
        for (uint32_t k = 0; k < fp_cfg_in_degree(a, old) && k < MOST_NEIGHBOURS; k++)
            like += m->other[NOW][b->edges[b->in_edges[b->first_in[now] + i]].src] ==
                    a->edges[a->in_edges[a->first_in[old] + k]].src;
    return like > 4 ? 4 : like;
}

/* 0: they are no match. */
static uint32_t likeness(const struct matching *m, uint32_t old, uint32_t now)
{
    const struct fp_block_mark *a = &m->of[OLD]->marks[old], *b = &m->of[NOW]->marks[now];
    const uint8_t shape = FP_BLOCK_PAD | FP_BLOCK_HUB;
    uint32_t like = 0;
    if ((m->of[OLD]->cfg->flags[old] ^ m->of[NOW]->cfg->flags[now]) & shape) return 0;
    if (a->content == b->content)
        like += LIKE_CONTENT;
    else if (a->kind && a->kind == b->kind)
        like += LIKE_KIND;
    else if (a->calls && a->calls == b->calls)
        like += LIKE_CALLS;
    like += LIKE_NEIGHBOUR * (uint32_t)like_neighbours(m, old, now);
    if (like < LEAST_LIKENESS) return 0;
    return like + (a->line == b->line ? LIKE_LINE : 0);
}

/* ---- alignment of what lies between two matches ---- */

struct gap {
    uint32_t *old, *now; /* blocks that are not matched, in order */
    size_t nold, nnow;
};

static void align(struct matching *m, const struct gap *gap)
{
    size_t width = gap->nnow + 1;
    if (!gap->nold || !gap->nnow || gap->nold > MOST_CELLS / width) return;
    struct fp_arena arena = {0};
    uint32_t *best = FP_NEW_ARRAY(&arena, uint32_t, (gap->nold + 1) * width);
    uint32_t *like = FP_NEW_ARRAY(&arena, uint32_t, gap->nold * gap->nnow);
    for (size_t i = gap->nold; i--;)
        for (size_t k = gap->nnow; k--;) {
            uint32_t here = likeness(m, gap->old[i], gap->now[k]);
            uint32_t down = best[(i + 1) * width + k], right = best[i * width + k + 1];
            uint32_t both = here ? best[(i + 1) * width + k + 1] + here : 0;
            like[i * gap->nnow + k] = here;
            best[i * width + k] = both > down && both > right ? both : down > right ? down : right;
        }
    for (size_t i = 0, k = 0; i < gap->nold && k < gap->nnow;) {
        uint32_t here = like[i * gap->nnow + k], value = best[i * width + k];
        if (here && value == best[(i + 1) * width + k + 1] + here)
            join(m, gap->old[i++], gap->now[k++]);
        else if (value == best[(i + 1) * width + k])
            i++;
        else
            k++;
    }
    fp_arena_free(&arena);
}

static size_t unmatched_between(const struct matching *m, int side, uint32_t from, uint32_t to,
                                uint32_t *out)
{
    size_t n = 0;
    for (uint32_t b = from; b < to; b++)
        if (!is_matched(m, side, b)) out[n++] = b;
    return n;
}

static void align_gaps(struct matching *m)
{
    uint32_t nold = m->of[OLD]->cfg->nblocks, nnow = m->of[NOW]->cfg->nblocks;
    uint32_t *run = FP_NEW_ARRAY(m->scratch, uint32_t, (size_t)nnow + 1);
    struct gap gap = {.old = FP_NEW_ARRAY(m->scratch, uint32_t, nold),
                      .now = FP_NEW_ARRAY(m->scratch, uint32_t, nnow)};
    size_t len = longest_run(m, run);
    uint32_t old = 0, now = 0;
    for (size_t i = 0; i <= len; i++) {
        uint32_t old_end = i < len ? m->other[NOW][run[i]] : nold;
        uint32_t now_end = i < len ? run[i] : nnow;
        gap.nold = unmatched_between(m, OLD, old, old_end, gap.old);
        gap.nnow = unmatched_between(m, NOW, now, now_end, gap.now);
        align(m, &gap);
        old = old_end + 1, now = now_end + 1;
    }
}

/* ---- neighbours ---- */

/* The one neighbour that is not matched, or FP_NONE. */
static uint32_t only_unmatched(const struct matching *m, int side, uint32_t block, bool back)
{
    const struct fp_cfg *cfg = m->of[side]->cfg;
    uint32_t first = back ? cfg->first_in[block] : cfg->first_out[block];
    uint32_t end = back ? cfg->first_in[block + 1] : cfg->first_out[block + 1];
    uint32_t found = FP_NONE;
    for (uint32_t i = first; i < end; i++) {
        const struct fp_edge *e = &cfg->edges[back ? cfg->in_edges[i] : i];
        uint32_t next = back ? e->src : e->dst;
        if (is_matched(m, side, next) || next == found) continue;
        if (found != FP_NONE) return FP_NONE;
        found = next;
    }
    return found;
}

/* All others are matched, so the two that are left belong together: one was edited. */
static bool join_left_over(struct matching *m, uint32_t old, uint32_t now, bool back)
{
    const struct fp_cfg *a = m->of[OLD]->cfg, *b = m->of[NOW]->cfg;
    const uint8_t shape = FP_BLOCK_PAD | FP_BLOCK_HUB;
    uint32_t degrees[] = {back ? fp_cfg_in_degree(a, old) : fp_cfg_out_degree(a, old),
                          back ? fp_cfg_in_degree(b, now) : fp_cfg_out_degree(b, now)};
    uint32_t x = only_unmatched(m, OLD, old, back), y = only_unmatched(m, NOW, now, back);
    if (x == FP_NONE || y == FP_NONE || degrees[0] != degrees[1]) return false;
    if ((a->flags[x] ^ b->flags[y]) & shape) return false;
    if (fp_cfg_out_degree(a, x) != fp_cfg_out_degree(b, y)) return false;
    join(m, x, y);
    return true;
}

/* Successors by their place in the list, where they are alike. */
static bool join_successors(struct matching *m, uint32_t old, uint32_t now)
{
    const struct fp_cfg *a = m->of[OLD]->cfg, *b = m->of[NOW]->cfg;
    uint32_t degree = fp_cfg_out_degree(b, now);
    bool some = false;
    for (uint32_t i = 0; degree == fp_cfg_out_degree(a, old) && i < degree; i++) {
        uint32_t x = a->edges[a->first_out[old] + i].dst, y = b->edges[b->first_out[now] + i].dst;
        if (is_matched(m, OLD, x) || is_matched(m, NOW, y) || !likeness(m, x, y)) continue;
        join(m, x, y);
        some = true;
    }
    return some;
}

static void follow_neighbours(struct matching *m)
{
    enum { MOST_ROUNDS = 100 };
    bool some = true;
    for (int round = 0; some && round < MOST_ROUNDS; round++) {
        some = false;
        for (uint32_t b = 0; b < m->of[NOW]->cfg->nblocks; b++)
            if (is_matched(m, NOW, b)) some |= join_successors(m, m->other[NOW][b], b);
        for (uint32_t b = 0; !some && b < m->of[NOW]->cfg->nblocks; b++) {
            if (!is_matched(m, NOW, b)) continue;
            some |= join_left_over(m, m->other[NOW][b], b, false);
            some |= join_left_over(m, m->other[NOW][b], b, true);
        }
    }
}

/* ---- all ---- */

static bool is_same_version(const struct fp_version *a, const struct fp_version *b)
{
    bool same = a->cfg->nblocks == b->cfg->nblocks && a->cfg->nedges == b->cfg->nedges;
    for (uint32_t e = 0; same && e < a->cfg->nedges; e++) {
        const struct fp_edge *x = &a->cfg->edges[e], *y = &b->cfg->edges[e];
        same = x->src == y->src && x->dst == y->dst && x->kind == y->kind;
    }
    for (uint32_t i = 0; same && i < a->cfg->nblocks; i++)
        same = a->marks[i].content == b->marks[i].content;
    return same;
}

static void match_all(struct matching *m)
{
    find_anchors(m);
    align_gaps(m);
    follow_neighbours(m);
}

uint32_t *fp_match_blocks(struct fp_arena *arena, const struct fp_version *old,
                          const struct fp_version *now)
{
    struct fp_arena scratch = {0};
    struct matching m = {.scratch = &scratch, .of = {old, now}};
    m.other[OLD] = FP_NEW_ARRAY(&scratch, uint32_t, old->cfg->nblocks);
    m.other[NOW] = FP_NEW_ARRAY(arena, uint32_t, now->cfg->nblocks);
    for (int side = OLD; side <= NOW; side++)
        for (uint32_t b = 0; b < m.of[side]->cfg->nblocks; b++) m.other[side][b] = FP_NONE;
    if (is_same_version(old, now))
        for (uint32_t b = 0; b < now->cfg->nblocks; b++) join(&m, b, b);
    else
        match_all(&m);
    fp_arena_free(&scratch);
    return m.other[NOW];
}

/* An if may have become a switch. */
static bool same_kind(enum fp_edge_kind a, enum fp_edge_kind b)
{
    return (a == FP_EDGE_SWITCH ? FP_EDGE_NORMAL : a) == (b == FP_EDGE_SWITCH ? FP_EDGE_NORMAL : b);
}

uint32_t *fp_match_edges(struct fp_arena *arena, const struct fp_cfg *old, const struct fp_cfg *now,
                         const uint32_t *old_of)
{
    uint32_t *edges = FP_NEW_ARRAY(arena, uint32_t, now->nedges);
    struct fp_arena scratch = {0};
    bool *taken = FP_NEW_ARRAY(&scratch, bool, old->nedges);
    for (uint32_t e = 0; e < now->nedges; e++) {
        uint32_t src = old_of[now->edges[e].src], dst = old_of[now->edges[e].dst];
        edges[e] = FP_NONE;
        if (src == FP_NONE || dst == FP_NONE) continue;
        for (uint32_t k = old->first_out[src]; k < old->first_out[src + 1]; k++) {
            if (old->edges[k].dst != dst || taken[k]) continue;
            if (!same_kind(old->edges[k].kind, now->edges[e].kind)) continue;
            taken[k] = true;
            edges[e] = k;
            break;
        }
    }
    fp_arena_free(&scratch);
    return edges;
}

uint32_t *fp_match_turned(struct fp_arena *arena, const uint32_t *map, uint32_t n, uint32_t nback)
{
    uint32_t *back = FP_NEW_ARRAY(arena, uint32_t, nback);
    for (uint32_t i = 0; i < nback; i++) back[i] = FP_NONE;
    for (uint32_t i = 0; i < n; i++)
        if (map[i] != FP_NONE) back[map[i]] = i;
    return back;
}
