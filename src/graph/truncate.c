/* The fate of every edge: see truncate.h. */
#include "graph/truncate.h"

#include "base/checked.h"
#include "base/vec.h"
#include "graph/weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct cutter {
    const struct fp_cfg *cfg;
    const double *weights;
    struct fp_truncation *out;
    struct fp_order *order;
    struct fp_bitset in_lap; /* edges on the way round of a lap: they stay whole */
    struct fp_bitset starts; /* blocks where a truncated edge leads */
    uint64_t *from;          /* paths from a block to an end */
    uint64_t *to;            /* ways from a start to a block */
};

static uint64_t paths_from(const struct fp_cfg *cfg, const uint8_t *fate, const uint64_t *from,
                           uint32_t block)
{
    if (fp_cfg_out_degree(cfg, block) == 0) return 1;
    uint64_t sum = 0;
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) {
        if (fate[e] == FP_FATE_KEPT) sum = fp_add_saturated(sum, from[cfg->edges[e].dst]);
        if (fate[e] == FP_FATE_TRUNCATED) sum = fp_add_saturated(sum, 1);
    }
    return sum;
}

/* Blocks at which a path can start other than the entry, each once. */
static void mark_starts(const struct fp_cfg *cfg, const uint8_t *fate, struct fp_bitset *starts)
{
    memset(starts->words, 0, (starts->bits / 64 + 1) * sizeof(uint64_t));
    for (uint32_t e = 0; e < cfg->nedges; e++)
        if (fate[e] == FP_FATE_TRUNCATED) fp_bitset_add(starts, cfg->edges[e].dst);
}

static uint64_t total_paths(const struct fp_cfg *cfg, const struct fp_bitset *starts,
                            const uint64_t *from)
{
    uint64_t total = from[0];
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        if (fp_bitset_has(starts, b)) total = fp_add_saturated(total, from[b]);
    return total;
}

uint64_t fp_count_paths(const struct fp_cfg *cfg, const struct fp_order *order, uint64_t *from)
{
    struct fp_arena scratch = {0};
    struct fp_bitset starts = fp_bitset_new(&scratch, cfg->nblocks);
    for (uint32_t i = order->nblocks; i-- > 0;)
        from[order->blocks[i]] = paths_from(cfg, order->fate, from, order->blocks[i]);
    mark_starts(cfg, order->fate, &starts);
    uint64_t total = total_paths(cfg, &starts, from);
    fp_arena_free(&scratch);
    return total;
}

static bool can_cut(const struct cutter *c, uint32_t e)
{
    return c->order->fate[e] == FP_FATE_KEPT && c->cfg->edges[e].kind <= FP_EDGE_SWITCH &&
           !fp_bitset_has(&c->in_lap, e);
}

static void cut(struct cutter *c, uint32_t e)
{
    c->order->fate[e] = FP_FATE_TRUNCATED;
}

/* Every kept way into the block can be cut, and there is one. */
static bool can_cut_block(const struct cutter *c, uint32_t block)
{
    bool some = false;
    for (uint32_t k = c->cfg->first_in[block]; k < c->cfg->first_in[block + 1]; k++) {
        uint32_t e = c->cfg->in_edges[k];
        if (c->order->fate[e] != FP_FATE_KEPT) continue;
        if (!can_cut(c, e)) return false;
        some = true;
    }
    return some;
}

static void cut_block(struct cutter *c, uint32_t block)
{
    for (uint32_t k = c->cfg->first_in[block]; k < c->cfg->first_in[block + 1]; k++)
        if (c->order->fate[c->cfg->in_edges[k]] == FP_FATE_KEPT) cut(c, c->cfg->in_edges[k]);
}

/* From a block with too many paths, down the successors that contribute most:
 * the coldest block that can be cut and still matters. */
static uint32_t coldest_below(const struct cutter *c, uint32_t block, uint64_t soft)
{
    enum { WINDOW = 512 };
    const struct fp_cfg *cfg = c->cfg;
    uint32_t best = FP_NONE, start = c->order->position[block];
    double best_weight = INFINITY;
    while (c->from[block] > soft / 256 && c->order->position[block] - start <= WINDOW) {
        double weight = fp_weight_of_block(cfg, c->weights, block);
        if (weight < best_weight && can_cut_block(c, block)) {
            best = block;
            best_weight = weight;
        }
        uint32_t next = FP_NONE;
        for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) {
            uint32_t dst = cfg->edges[e].dst;
            if (c->order->fate[e] == FP_FATE_KEPT &&
                (next == FP_NONE || c->from[dst] > c->from[next]))
                next = dst;
        }
        if (next == FP_NONE) break;
        block = next;
    }
    return best;
}

static bool goes_through(const struct fp_cfg *cfg, const struct fp_lap *lap, uint32_t block)
{
    if (cfg->edges[lap->closing].dst == block) return true;
    for (uint32_t k = 0; k < lap->nedges; k++)
        if (cfg->edges[lap->edges[k]].dst == block) return true;
    return false;
}

/* Makes ordinary loops of the laps through a block, and so of the laps through
 * the headers of those. */
static void give_up_laps(struct cutter *c, uint32_t block)
{
    struct fp_laps *laps = &c->out->laps;
    for (uint32_t i = 0; i < laps->len;) {
        struct fp_lap lap = laps->at[i];
        if (!goes_through(c->cfg, &lap, block)) {
            i++;
            continue;
        }
        laps->at[i] = laps->at[--laps->len];
        c->order->fate[lap.closing] = FP_FATE_TRUNCATED;
        give_up_laps(c, c->cfg->edges[lap.closing].dst);
        i = 0;
    }
}

static void mark_laps(struct cutter *c)
{
    const struct fp_laps *laps = &c->out->laps;
    memset(c->in_lap.words, 0, (c->cfg->nedges / 64 + 1) * sizeof(uint64_t));
    for (uint32_t i = 0; i < laps->len; i++)
        for (uint32_t k = 0; k < laps->at[i].nedges; k++)
            fp_bitset_add(&c->in_lap, laps->at[i].edges[k]);
}

/* The last resort inside a lap or behind a pad: give up the laps through the
 * block and cut what can be cut on the way out of it. */
static void cut_around(struct cutter *c, uint32_t block)
{
    const struct fp_cfg *cfg = c->cfg;
    give_up_laps(c, block);
    mark_laps(c);
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++)
        if (can_cut(c, e) && c->from[cfg->edges[e].dst] > 1) cut(c, e);
}

/* In reverse topological order; where a block has more than `soft` paths ahead
 * of it, a cold block at or a little below it becomes a start. `soft` is far
 * enough under the limit for one block's out-edges to add up. */
static void cut_to_soft_limit(struct cutter *c, uint64_t soft)
{
    struct fp_order *order = c->order;
    for (uint32_t i = order->nblocks; i-- > 0;) {
        uint32_t block = order->blocks[i];
        c->from[block] = paths_from(c->cfg, order->fate, c->from, block);
        if (c->from[block] <= soft) continue;
        uint32_t at = coldest_below(c, block, soft);
        if (at != FP_NONE) {
            cut_block(c, at);
            i = order->position[at]; /* what is above it is counted again */
        } else if (c->from[block] > soft * 4) {
            cut_around(c, block);
            c->from[block] = paths_from(c->cfg, order->fate, c->from, block);
        }
    }
}

/* Terminates: the soft limit is divided by 16 each round; at 0 every edge that can be cut
 * is cut. */
static uint64_t cut_to_limit(struct cutter *c, uint64_t limit, struct fp_arena *scratch)
{
    uint64_t total = fp_count_paths(c->cfg, c->order, c->from);
    if (total <= limit) return total;
    size_t nedges = c->cfg->nedges;
    uint8_t *fates = FP_NEW_ARRAY(scratch, uint8_t, nedges);
    memcpy(fates, c->order->fate, nedges);
    struct fp_lap *laps = FP_NEW_ARRAY(scratch, struct fp_lap, c->out->laps.len);
    uint32_t nlaps = c->out->laps.len;
    if (nlaps) memcpy(laps, c->out->laps.at, nlaps * sizeof *laps);
    for (uint64_t soft = limit >> 22 ? limit >> 22 : limit / 4 + 1;; soft = soft / 16) {
        memcpy(c->order->fate, fates, nedges);
        if (nlaps) memcpy(c->out->laps.at, laps, nlaps * sizeof *laps);
        c->out->laps.len = nlaps;
        mark_laps(c);
        cut_to_soft_limit(c, soft);
        total = fp_count_paths(c->cfg, c->order, c->from);
        if (total <= limit || soft == 0) return total;
    }
}

static void count_ways_to(struct cutter *c)
{
    const struct fp_cfg *cfg = c->cfg;
    mark_starts(cfg, c->order->fate, &c->starts);
    for (uint32_t i = 0; i < c->order->nblocks; i++) {
        uint32_t block = c->order->blocks[i];
        uint64_t sum = (uint64_t)(block == 0) + fp_bitset_has(&c->starts, block);
        for (uint32_t k = cfg->first_in[block]; k < cfg->first_in[block + 1]; k++) {
            uint32_t e = cfg->in_edges[k];
            if (c->order->fate[e] == FP_FATE_KEPT)
                sum = fp_add_saturated(sum, c->to[cfg->edges[e].src]);
        }
        c->to[block] = sum;
    }
}

/* How hot path ends are: what a hash table would be paid for. */
static double weight_of_ends(const struct cutter *c)
{
    double sum = 0;
    for (uint32_t e = 0; e < c->cfg->nedges; e++)
        if (c->order->fate[e] == FP_FATE_TRUNCATED) sum += c->weights[e];
    for (uint32_t i = 0; i < c->order->nblocks; i++)
        if (fp_cfg_out_degree(c->cfg, c->order->blocks[i]) == 0)
            sum += fp_weight_of_block(c->cfg, c->weights, c->order->blocks[i]);
    return sum;
}

/* Of all edges cold enough, the one that takes away most of the logarithm of
 * the number of paths for its weight. With P ways to its source and N paths
 * from its target, cutting it replaces P*N paths by P + N. */
static uint32_t best_edge(struct cutter *c, double total, double weight_limit)
{
    const struct fp_cfg *cfg = c->cfg;
    uint32_t best = FP_NONE;
    double best_score = 0;
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        if (!can_cut(c, e) || c->weights[e] > weight_limit) continue;
        uint32_t dst = cfg->edges[e].dst;
        double ways = (double)c->to[cfg->edges[e].src], paths = (double)c->from[dst];
        double after = total - ways * paths + ways;
        if (!fp_bitset_has(&c->starts, dst)) after += paths;
        if (after < 1) after = 1;
        double score = log(total / after) / (c->weights[e] + weight_limit * 1e-6);
        if (score > best_score) {
            best_score = score;
            best = e;
        }
    }
    return best;
}

/* Cuts at cold edges until the paths fit an array, or puts everything back. */
static uint64_t cut_to_fit(struct cutter *c, uint64_t total, uint64_t fit, uint32_t most_cuts,
                           struct fp_arena *scratch)
{
    if (total <= fit) return total;
    uint8_t *fates = FP_NEW_ARRAY(scratch, uint8_t, c->cfg->nedges);
    memcpy(fates, c->order->fate, c->cfg->nedges);
    uint64_t before = total;
    double ends = weight_of_ends(c), spent = 0;
    for (uint32_t i = 0; i < most_cuts && total > fit; i++) {
        count_ways_to(c);
        uint32_t e = best_edge(c, (double)total, ends / 8);
        if (e == FP_NONE) break;
        spent += c->weights[e];
        if (spent > ends / 4) break;
        cut(c, e);
        total = fp_count_paths(c->cfg, c->order, c->from);
    }
    if (total <= fit) return total;
    memcpy(c->order->fate, fates, c->cfg->nedges);
    return before;
}

/* A function is small, or it is given a larger array: with MOST_CUTS, sqlite's interpreter has
 * 10^10 paths left of 10^16. With as many cuts as the small array takes, it counts 4.2 million
 * times in a run, and 2.9 million times with those for the large one. Each cut looks at all edges,
 * so their number is limited by how long that takes. An array has the laps behind the paths. */
static uint64_t cut_to_arrays(struct cutter *c, uint64_t total, const struct fp_limits *limits,
                              struct fp_arena *scratch)
{
    enum { MANY_EDGES = 20000, MOST_CUTS = 64, MOST_OF_LARGE = 1000, MOST_LOOKS = 8000000 };
    uint32_t nedges = c->cfg->nedges;
    uint64_t nlaps = c->out->laps.len;
    uint64_t good = limits->good_paths > nlaps ? limits->good_paths - nlaps : 0;
    uint64_t large = limits->large_paths > nlaps ? limits->large_paths - nlaps : 0;
    if (nedges > MANY_EDGES || !nedges) return total;
    uint32_t most = MOST_LOOKS / nedges < MOST_OF_LARGE ? MOST_LOOKS / nedges : MOST_OF_LARGE;
    if (good) total = cut_to_fit(c, total, good, MOST_CUTS, scratch);
    if (total > good && large) total = cut_to_fit(c, total, large, most, scratch);
    return total;
}

/* Where a path may begin at a loop's header or come from outside, the sum so far is in
 * a register, to be set on every round. In a hot loop it pays to end paths at the
 * door. Laps have no such cost. */
static void cut_hot_loops(struct cutter *c, const struct fp_loops *loops, double entries)
{
    const struct fp_cfg *cfg = c->cfg;
    for (uint32_t h = 0; h < cfg->nblocks; h++) {
        if (!fp_bitset_has(&loops->heads, h) || !can_cut_block(c, h)) continue;
        double entered = h == 0, round = 0;
        for (uint32_t k = cfg->first_in[h]; k < cfg->first_in[h + 1]; k++) {
            uint32_t e = cfg->in_edges[k];
            if (c->order->fate[e] == FP_FATE_KEPT) entered += c->weights[e];
            if (c->order->fate[e] == FP_FATE_TRUNCATED) round += c->weights[e];
        }
        if (round > 0 && entered * entries <= round) cut_block(c, h);
    }
}

static enum fp_cause natural_cause(enum fp_edge_kind kind)
{
    if (kind == FP_EDGE_INDIRECT) return FP_CAUSE_INDIRECT;
    return kind == FP_EDGE_TWICE ? FP_CAUSE_TWICE : FP_CAUSE_BACK;
}

enum fp_cause *fp_truncation_causes(struct fp_arena *arena, const struct fp_cfg *cfg,
                                    const struct fp_order *order)
{
    struct fp_arena scratch = {0};
    struct fp_order natural;
    enum fp_cause *causes = FP_NEW_ARRAY(arena, enum fp_cause, cfg->nedges);
    fp_order_make(&scratch, cfg, &natural);
    struct fp_bitset begin = fp_bitset_new(&scratch, cfg->nblocks);
    mark_starts(cfg, natural.fate, &begin);
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        if (order->fate[e] != FP_FATE_TRUNCATED) continue;
        if (natural.fate[e] == FP_FATE_TRUNCATED)
            causes[e] = natural_cause(cfg->edges[e].kind);
        else
            causes[e] = fp_bitset_has(&begin, cfg->edges[e].dst) ? FP_CAUSE_DOOR : FP_CAUSE_CUT;
    }
    fp_arena_free(&scratch);
    return causes;
}

static void count_cuts(struct fp_truncation *t)
{
    struct fp_arena scratch = {0};
    const enum fp_cause *causes = fp_truncation_causes(&scratch, t->cfg, &t->order);
    for (uint32_t e = 0; e < t->cfg->nedges; e++) {
        t->ncuts += causes[e] == FP_CAUSE_CUT;
        t->ndoors += causes[e] == FP_CAUSE_DOOR;
    }
    fp_arena_free(&scratch);
}

bool fp_same_ends(const struct fp_truncation *a, const struct fp_truncation *b)
{
    return a->cfg->nedges == b->cfg->nedges &&
           (!a->cfg->nedges || !memcmp(a->order.fate, b->order.fate, a->cfg->nedges));
}

/* The order in which laps are numbered. */
static int by_closing_edge(const void *a, const void *b)
{
    uint32_t x = ((const struct fp_lap *)a)->closing, y = ((const struct fp_lap *)b)->closing;
    return (x > y) - (x < y);
}

/* Estimates are bad at how often a loop goes round: by an estimate, a loop has to look
 * hotter before paths end at its door. */
double fp_loop_entries(bool measured)
{
    return measured ? 4 : 8;
}

void fp_truncate(struct fp_arena *arena, const struct fp_cfg *cfg, const double *weights,
                 const struct fp_limits *limits, struct fp_truncation *out)
{
    struct fp_arena scratch = {0};
    *out = (struct fp_truncation){.cfg = cfg};
    fp_order_make(arena, cfg, &out->order);
    struct fp_loops loops;
    fp_loops_find(&scratch, cfg, &loops);
    if (!weights) weights = fp_weights_static(&scratch, cfg, &out->order, &loops);
    if (!limits->no_laps) fp_laps_find(arena, cfg, &loops, &out->order, &out->laps);
    struct cutter c = {
        .cfg = cfg,
        .weights = weights,
        .out = out,
        .order = &out->order,
        .in_lap = fp_bitset_new(&scratch, cfg->nedges),
        .starts = fp_bitset_new(&scratch, cfg->nblocks),
        .from = FP_NEW_ARRAY(&scratch, uint64_t, cfg->nblocks),
        .to = FP_NEW_ARRAY(&scratch, uint64_t, cfg->nblocks),
    };
    mark_laps(&c);
    if (limits->loop_entries > 0) cut_hot_loops(&c, &loops, limits->loop_entries);
    uint64_t max = limits->max_paths ? limits->max_paths : FP_MAX_PATHS;
    out->num_paths = cut_to_limit(&c, max, &scratch);
    if (limits->good_paths) out->num_paths = cut_to_arrays(&c, out->num_paths, limits, &scratch);
    count_cuts(out);
    if (out->laps.len) qsort(out->laps.at, out->laps.len, sizeof *out->laps.at, by_closing_edge);
    fp_arena_free(&scratch);
}

/* A lap's way round, backwards from the closing edge: each block on it but the
 * header has one kept way in. */
static bool restore_lap(struct fp_arena *arena, const struct fp_truncation *out, uint32_t closing,
                        struct fp_lap *lap)
{
    const struct fp_cfg *cfg = out->cfg;
    FP_VEC(uint32_t) back = {0};
    uint32_t header = cfg->edges[closing].dst;
    for (uint32_t block = cfg->edges[closing].src; block != header;) {
        uint32_t way = FP_NONE;
        for (uint32_t k = cfg->first_in[block]; k < cfg->first_in[block + 1]; k++) {
            uint32_t e = cfg->in_edges[k];
            if (out->order.fate[e] == FP_FATE_TRUNCATED) return false;
            if (out->order.fate[e] != FP_FATE_KEPT) continue;
            if (way != FP_NONE) return false;
            way = e;
        }
        if (way == FP_NONE) return false;
        fp_vec_push(arena, &back, way);
        block = cfg->edges[way].src;
    }
    *lap = (struct fp_lap){closing, (uint32_t)back.len, back.at};
    for (size_t i = 0; i < back.len / 2; i++) {
        uint32_t swap = back.at[i];
        back.at[i] = back.at[back.len - 1 - i];
        back.at[back.len - 1 - i] = swap;
    }
    return true;
}

bool fp_truncate_as_stored(struct fp_arena *arena, const struct fp_cfg *cfg, const uint8_t *fates,
                           struct fp_truncation *out)
{
    *out = (struct fp_truncation){.cfg = cfg};
    if (!fp_order_from_fates(arena, cfg, fates, &out->order)) return false;
    FP_VEC(struct fp_lap) laps = {0};
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        if (out->order.fate[e] != FP_FATE_LAP) continue;
        struct fp_lap lap;
        if (!restore_lap(arena, out, e, &lap)) return false;
        fp_vec_push(arena, &laps, lap);
    }
    out->laps = (struct fp_laps){laps.at, (uint32_t)laps.len, NULL};
    count_cuts(out);
    struct fp_arena scratch = {0};
    out->num_paths =
        fp_count_paths(cfg, &out->order, FP_NEW_ARRAY(&scratch, uint64_t, cfg->nblocks));
    fp_arena_free(&scratch);
    return out->num_paths <= FP_MAX_PATHS;
}
