/* Counts of random graphs, placed in random edits of these graphs.
 *
 * A graph gets random walks and marks; its edit has blocks that were put in or taken out, branches
 * whose ways were swapped, blocks with other content. Whatever the edit: matches are one to one,
 * matched edges join matched blocks, and what is placed is a flow. Without an edit every count is
 * where it was, also where all blocks look alike. Where blocks were only put into edges, every
 * block of before is found again and has its count.
 *
 *     property-stale [--count N] [--seed S] [--only I]
 */
#include "base/table.h"
#include "graph/placecounts.h"

#include "../check.h"
#include "../each_graph.h"
#include "../random_cfg.h"

/* ---- edits ---- */

struct edit {
    struct fp_arena *arena;
    FP_VEC(struct fp_edge) edges;
    FP_VEC(uint8_t) flags;
    FP_VEC(struct fp_block_mark) marks;
    FP_VEC(uint32_t) was; /* per block: its number before, or FP_NONE */
    uint32_t fresh;       /* marks that no block has had */
};

static struct edit edit_of(struct fp_arena *arena, const struct fp_cfg *cfg,
                           const struct fp_block_mark *marks)
{
    struct edit edit = {.arena = arena, .fresh = 1u << 20};
    for (uint32_t e = 0; e < cfg->nedges; e++) fp_vec_push(arena, &edit.edges, cfg->edges[e]);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        fp_vec_push(arena, &edit.flags, cfg->flags[b]);
        fp_vec_push(arena, &edit.marks, marks[b]);
        fp_vec_push(arena, &edit.was, b);
    }
    return edit;
}

static uint32_t some_plain_edge(const struct edit *edit)
{
    for (int tries = 0; edit->edges.len && tries < 20; tries++) {
        uint32_t e = random_below(&rng, (uint32_t)edit->edges.len);
        const struct fp_edge *at = &edit->edges.at[e];
        bool plain = at->kind == FP_EDGE_NORMAL || at->kind == FP_EDGE_SWITCH;
        if (plain && !(edit->flags.at[at->src] & FP_BLOCK_PAD)) return e;
    }
    return FP_NONE;
}

/* A new block in an edge; or with a way around it. */
static void put_in(struct edit *edit, bool branch)
{
    uint32_t e = some_plain_edge(edit), block = (uint32_t)edit->flags.len;
    if (e == FP_NONE) return;
    struct fp_edge on = {block, edit->edges.at[e].dst, FP_EDGE_NORMAL};
    struct fp_edge around = {block, random_below(&rng, block), FP_EDGE_NORMAL};
    if (edit->flags.at[around.dst] & (FP_BLOCK_PAD | FP_BLOCK_HUB)) around.dst = 0;
    fp_vec_push(edit->arena, &edit->flags, 0);
    fp_vec_push(edit->arena, &edit->was, FP_NONE);
    uint32_t mark = edit->fresh++;
    fp_vec_push(edit->arena, &edit->marks, (struct fp_block_mark){mark, mark, 0, mark});
    edit->edges.at[e].dst = block;
    fp_vec_push(edit->arena, &edit->edges, on);
    if (branch) fp_vec_push(edit->arena, &edit->edges, around);
}

/* What led to a block leads past it: the block can no longer be reached. */
static void take_out(struct edit *edit)
{
    uint32_t e = some_plain_edge(edit);
    if (e == FP_NONE) return;
    uint32_t block = edit->edges.at[e].dst, next = FP_NONE;
    for (size_t i = 0; i < edit->edges.len; i++)
        if (edit->edges.at[i].src == block && edit->edges.at[i].kind == FP_EDGE_NORMAL)
            next = edit->edges.at[i].dst;
    if (next != FP_NONE && !(edit->flags.at[block] & FP_BLOCK_PAD)) edit->edges.at[e].dst = next;
}

static void swap_ways(struct edit *edit)
{
    uint32_t a = some_plain_edge(edit), b = some_plain_edge(edit);
    if (a == FP_NONE || b == FP_NONE || edit->edges.at[a].src != edit->edges.at[b].src) return;
    uint32_t dst = edit->edges.at[a].dst;
    edit->edges.at[a].dst = edit->edges.at[b].dst;
    edit->edges.at[b].dst = dst;
}

static void change_content(struct edit *edit)
{
    struct fp_block_mark *mark = &edit->marks.at[random_below(&rng, (uint32_t)edit->marks.len)];
    mark->content = edit->fresh++;
    if (random_chance(&rng, 50)) mark->kind = edit->fresh++;
}

static void edit_at_random(struct edit *edit)
{
    for (uint32_t n = 1 + random_below(&rng, 5); n--;) {
        switch (random_below(&rng, 5)) {
        case 0: put_in(edit, false); break;
        case 1: put_in(edit, true); break;
        case 2: take_out(edit); break;
        case 3: swap_ways(edit); break;
        default: change_content(edit); break;
        }
    }
}

static struct fp_cfg *cfg_of(const struct edit *edit)
{
    return fp_cfg_new(edit->arena, (uint32_t)edit->flags.len, edit->edges.at,
                      (uint32_t)edit->edges.len, edit->flags.at);
}

/* ---- laws ---- */

static void check_matches(const struct fp_cfg *old, const struct fp_cfg *now,
                          const uint32_t *old_of, const uint32_t *old_edges)
{
    bool blocks[128] = {0}, edges[512] = {0};
    MUST(old_of[0] == 0);
    for (uint32_t b = 0; b < now->nblocks; b++) {
        if (old_of[b] == FP_NONE) continue;
        MUST(old_of[b] < old->nblocks && !blocks[old_of[b]]);
        blocks[old_of[b]] = true;
    }
    for (uint32_t e = 0; e < now->nedges; e++) {
        if (old_edges[e] == FP_NONE) continue;
        MUST(old_edges[e] < old->nedges && !edges[old_edges[e]]);
        edges[old_edges[e]] = true;
        MUST(old->edges[old_edges[e]].src == old_of[now->edges[e].src]);
        MUST(old->edges[old_edges[e]].dst == old_of[now->edges[e].dst]);
    }
}

/* What arrives leaves, but where the function or a setjmp is left. */
static void check_flow(const struct fp_cfg *cfg, const struct fp_placed *placed)
{
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        uint64_t in = fp_block_executions(cfg, placed->entries, placed->edges, b), out = 0;
        bool twice = false;
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++) {
            out += placed->edges[e];
            twice |= cfg->edges[e].kind == FP_EDGE_TWICE;
        }
        if (fp_cfg_out_degree(cfg, b) && !twice) MUST(in == out);
    }
    MUST(placed->placed <= placed->total);
}

static struct fp_placed placed_in(struct fp_arena *arena, const struct fp_version *old,
                                  const struct fp_version *now, const struct walks *w)
{
    struct fp_placed placed = {0};
    uint32_t *old_of = fp_match_blocks(arena, old, now);
    uint32_t *old_edges = fp_match_edges(arena, old->cfg, now->cfg, old_of);
    struct fp_placement in = {old->cfg, now->cfg, old_of, old_edges, w->entries, w->edges};
    check_matches(old->cfg, now->cfg, old_of, old_edges);
    MUST(fp_place_counts(arena, &in, &placed));
    check_flow(now->cfg, &placed);
    return placed;
}

/* Walks that left in mid-block are no flow: their counts may be corrected. */
static bool is_flow(const struct fp_cfg *cfg, const struct walks *w)
{
    int64_t left = 0;
    for (uint32_t b = 0; b < cfg->nblocks; b++) left |= w->left[b];
    return !left;
}

static void check_unchanged(struct fp_arena *arena, const struct fp_version *old,
                            const struct fp_version *now, const struct walks *w)
{
    struct fp_placed placed = placed_in(arena, old, now, w);
    MUST(placed.entries == w->entries);
    MUST(placed.placed == placed.total);
    for (uint32_t e = 0; e < old->cfg->nedges; e++) MUST(placed.edges[e] == w->edges[e]);
    MUST(fp_bitset_count(&placed.guessed) == 0);
}

/* Blocks in edges: what was there has its count, whatever the order of the edges is now. */
static void check_put_in(struct fp_arena *arena, const struct fp_version *old,
                         const struct walks *w)
{
    struct edit edit = edit_of(arena, old->cfg, old->marks);
    for (uint32_t n = 1 + random_below(&rng, 3); n--;) put_in(&edit, false);
    struct fp_version now = {cfg_of(&edit), edit.marks.at};
    struct fp_placed placed = placed_in(arena, old, &now, w);
    for (uint32_t b = 0; b < now.cfg->nblocks; b++) {
        if (edit.was.at[b] == FP_NONE) continue;
        uint64_t count = fp_block_executions(now.cfg, placed.entries, placed.edges, b);
        MUST(count == fp_block_executions(old->cfg, w->entries, w->edges, edit.was.at[b]));
    }
    MUST(placed.placed == placed.total);
}

/* One block does something else: all others have their counts. */
static void check_one_changed(struct fp_arena *arena, const struct fp_version *old,
                              const struct walks *w)
{
    struct edit edit = edit_of(arena, old->cfg, old->marks);
    uint32_t block = random_below(&rng, old->cfg->nblocks);
    edit.marks.at[block] = (struct fp_block_mark){edit.fresh, edit.fresh, 0, 0};
    struct fp_version now = {old->cfg, edit.marks.at};
    struct fp_placed placed = placed_in(arena, old, &now, w);
    for (uint32_t b = 0; b < old->cfg->nblocks; b++) {
        if (b == block) continue;
        uint64_t count = fp_block_executions(old->cfg, placed.entries, placed.edges, b);
        MUST(count == fp_block_executions(old->cfg, w->entries, w->edges, b));
    }
}

/* ---- one graph ---- */

/* Contents of their own, or few: many blocks are alike. */
static struct fp_block_mark *random_marks(struct fp_arena *arena, uint32_t n, uint32_t contents)
{
    struct fp_block_mark *marks = FP_NEW_ARRAY(arena, struct fp_block_mark, n);
    for (uint32_t b = 0; b < n; b++) {
        uint32_t content = contents ? 1 + random_below(&rng, contents) : b + 1;
        marks[b] = (struct fp_block_mark){content, 1 + content / 2, content % 4, b};
    }
    return marks;
}

static void check_graph(uint64_t index, uint64_t seed)
{
    static const uint32_t contents[] = {0, 1, 3, 8};
    struct fp_arena arena = {0};
    current_index = index, current_seed = seed;
    rng = fp_hash64(seed ^ fp_hash64(index + 1));
    struct fp_cfg *cfg = random_cfg(&arena);
    current = cfg;
    struct walks w = random_walks(&arena, cfg);
    uint32_t few = contents[index % 4];
    struct fp_version old = {cfg, random_marks(&arena, cfg->nblocks, few)};
    if (is_flow(cfg, &w)) {
        check_unchanged(&arena, &old, &old, &w);
        if (!few) check_put_in(&arena, &old, &w);
        if (!few) check_one_changed(&arena, &old, &w);
    }
    struct edit edit = edit_of(&arena, cfg, old.marks);
    edit_at_random(&edit);
    struct fp_version now = {cfg_of(&edit), edit.marks.at};
    placed_in(&arena, &old, &now, &w);
    placed_in(&arena, &now, &old,
              &(struct walks){.edges = FP_NEW_ARRAY(&arena, uint64_t, now.cfg->nedges)});
    fp_arena_free(&arena);
}

int main(int argc, char **argv)
{
    each_graph(argc, argv, check_graph);
    return check_summary();
}
