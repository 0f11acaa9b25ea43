/* The control-flow graph of one function: blocks, and the edges between them.
 *
 * This is the only form in which the graph core sees a program. src/llvm makes
 * it from IR, src/sample from machine code, the tests from text or at random.
 * Block 0 is the entry. A block without out-edges leaves the function.
 *
 * Two kinds of block cannot hold code of their own and exist to keep every
 * other rule simple (fp_cfg_check enforces them):
 *
 *   pad  the place where exceptions land. All its in-edges are unwind edges,
 *        which can carry no code; its one out-edge is an ordinary edge, which
 *        can. A block has at most one unwind out-edge.
 *   hub  the middle of all indirect jumps:  u1 ==> hub ---> v1
 *                                           u2 ==>     ---> v2
 *        The jump itself (u ==> hub) and the arrival (hub ---> v) are edges
 *        that can be counted and carry code; which u went to which v is not
 *        known without a counter per pair, and is not asked.
 *
 * A twice edge joins the two halves of a block that a returns-twice call
 * (setjmp) divides. Control can arrive behind it without having been in front.
 */
#ifndef FP_GRAPH_CFG_H
#define FP_GRAPH_CFG_H

#include "base/arena.h"
#include "base/error.h"

#define FP_NONE UINT32_MAX

enum fp_edge_kind {
    FP_EDGE_NORMAL,
    FP_EDGE_SWITCH,
    FP_EDGE_UNWIND,
    FP_EDGE_INDIRECT, /* into a hub */
    FP_EDGE_TWICE,
};

enum fp_block_flag {
    FP_BLOCK_PAD = 1,
    FP_BLOCK_HUB = 2,
    FP_BLOCK_LEAVES = 4, /* control may leave the function for good in mid-block */
    FP_BLOCK_CALLS = 8,  /* the next three only inform static weights */
    FP_BLOCK_STORES = 16,
    FP_BLOCK_COLD = 32, /* ends in abort(), is marked cold */
};

struct fp_edge {
    uint32_t src, dst;
    enum fp_edge_kind kind;
};

struct fp_cfg {
    uint32_t nblocks, nedges;
    struct fp_edge *edges; /* ordered by src, then as added */
    uint32_t *first_out;   /* out-edges of b: first_out[b] .. first_out[b+1]-1 */
    uint32_t *first_in;    /* in-edges of b: in_edges[first_in[b]] .. */
    uint32_t *in_edges;
    uint8_t *flags; /* per block, of enum fp_block_flag */
};

/* The edges may come in any order; the array is copied. flags may be NULL. */
struct fp_cfg *fp_cfg_new(struct fp_arena *arena, uint32_t nblocks, const struct fp_edge *edges,
                          uint32_t nedges, const uint8_t *flags);

/* Says which rule a graph breaks. Everything below assumes a graph that passed. */
bool fp_cfg_check(const struct fp_cfg *cfg, struct fp_error *error);

/* Changes when the shape changes: blocks, edges, kinds; not weights. */
uint64_t fp_cfg_hash(const struct fp_cfg *cfg);

static inline uint32_t fp_cfg_out_degree(const struct fp_cfg *cfg, uint32_t block)
{
    return cfg->first_out[block + 1] - cfg->first_out[block];
}

static inline uint32_t fp_cfg_in_degree(const struct fp_cfg *cfg, uint32_t block)
{
    return cfg->first_in[block + 1] - cfg->first_in[block];
}

#endif
