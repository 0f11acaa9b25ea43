/* The path in flight in new code: see inflight.h. */
#include "exe/inflight.h"

static struct fp_left nothing(void)
{
    return (struct fp_left){.block = FP_NONE, .home = FP_HOME_NONE};
}

static bool is_hub(const struct fp_counting *c, uint32_t b)
{
    return c->m->cfg->flags[b] & FP_BLOCK_HUB;
}

static bool is_count(const struct fp_placed_op *op)
{
    return op->op.kind == FP_OP_COUNT || op->op.kind == FP_OP_COUNT_REG;
}

/* What a path begins with that comes from a hub: nothing sets the register in front of it. */
static struct fp_op start_of(const struct fp_counting *c, uint32_t hub)
{
    uint32_t start = c->paths.dag->start_of[hub];
    return start == FP_NONE ? (struct fp_op){FP_OP_NONE, 0} : c->plan->on[start];
}

/* In a block, behind all operations of the edge that led there. */
static struct fp_left at_block(const struct fp_counting *c, uint32_t b)
{
    struct fp_left left = {.block = b, .home = FP_HOME_NONE};
    if (b == c->m->tail || c->plan->counted[b]) return nothing();
    if (!c->plan->has_register[b]) return left;
    if (is_hub(c, b))
        left.adjust = (int32_t)start_of(c, b).value;
    else
        left.home = c->home[c->region[b]];
    return left;
}

/* At the end of an edge's source, with the operations that were made since. */
static struct fp_left at_source(const struct fp_counting *c, uint32_t e, const fp_placed_ops *ops,
                                size_t done)
{
    uint32_t u = c->m->cfg->edges[e].src;
    struct fp_left left = at_block(c, u);
    left.behind = c->plan->at_end[u] != FP_NONE;
    for (size_t i = 0; i < done; i++)
        if (ops->at[i].op.kind == FP_OP_ADD) left.adjust -= (int32_t)ops->at[i].op.value;
    return left;
}

/* Where the value is that an edge carries from region to region: in the source's home until it
 * moves. Operations at the top of the target stand behind the move, others in front of it. */
static struct fp_left carried(const struct fp_counting *c, uint32_t e, size_t done,
                              struct fp_left left)
{
    const struct fp_edge *edge = &c->m->cfg->edges[e];
    if (c->move[e] == FP_STAND_NONE || left.home == FP_HOME_NONE) return left;
    bool moved = c->move[e] == FP_STAND_TOP && done;
    left.home = c->home[c->region[moved ? edge->dst : edge->src]];
    return left;
}

static void apply(struct fp_left *left, struct fp_op op)
{
    if (op.kind == FP_OP_ADD) left->adjust += (int32_t)op.value;
    if (op.kind != FP_OP_SET) return;
    left->home = FP_HOME_NONE;
    left->adjust = (int32_t)op.value;
}

struct fp_left fp_left_on_edge(struct fp_counting *c, uint32_t e, size_t done)
{
    uint32_t v = c->m->cfg->edges[e].dst;
    fp_placed_ops ops = fp_counting_on_edge(c, e);
    /* between two counts the first path has ended, and the second is not begun */
    bool ended = done && done <= ops.len && is_count(&ops.at[done - 1]);
    for (size_t i = done; i < ops.len; i++)
        if (is_count(&ops.at[i]))
            return ended ? nothing() : carried(c, e, done, at_source(c, e, &ops, done));
    struct fp_left left = carried(c, e, done, at_block(c, v));
    if (left.block == FP_NONE || !c->plan->has_register[v] || is_hub(c, v)) return left;
    for (size_t i = done; i < ops.len; i++) apply(&left, ops.at[i].op);
    return left;
}

struct fp_left fp_left_at_entry(const struct fp_counting *c)
{
    struct fp_left left = at_block(c, 0);
    struct fp_op op = c->plan->on[c->paths.dag->entry_edge];
    if (left.block != FP_NONE && c->plan->has_register[0]) apply(&left, op);
    return left;
}

struct fp_left fp_left_in_block(struct fp_counting *c, uint32_t b)
{
    const struct fp_cfg *cfg = c->m->cfg;
    uint32_t e = c->top[b];
    if (e == FP_NONE && fp_cfg_in_degree(cfg, b) == 1) {
        uint32_t in = cfg->in_edges[cfg->first_in[b]];
        if (c->move[in] == FP_STAND_TOP) e = in;
    }
    return e == FP_NONE ? at_block(c, b) : fp_left_on_edge(c, e, 0);
}

struct fp_left fp_left_behind(struct fp_counting *c, const struct fp_placed_op *op,
                              struct fp_left before)
{
    switch ((enum fp_op_role)op->role) {
    case FP_ROLE_EDGE:
        return op->edge == FP_NONE ? at_block(c, 0)
                                   : fp_left_on_edge(c, op->edge, (size_t)op->index + 1);
    case FP_ROLE_AT_END: before.behind = true; break;
    case FP_ROLE_EXIT: return nothing();
    case FP_ROLE_EARLY: break;
    }
    return before;
}

/* Values of operations are sums of paths, of which there are few: 32 bits hold them. */
static bool fits(struct fp_op op)
{
    enum { MOST = 1 << 24 };
    return op.kind == FP_OP_NONE || (op.value < MOST && op.value > -MOST);
}

const char *fp_left_check(const struct fp_counting *c)
{
    const struct fp_dag *dag = c->paths.dag;
    for (uint32_t b = 0; b < c->m->cfg->nblocks; b++) {
        if (!c->plan->has_register[b] || c->paths.truncation->order.position[b] == FP_NONE)
            continue;
        bool known = is_hub(c, b) ? start_of(c, b).kind == FP_OP_SET
                                  : c->live[b] && c->home[c->region[b]] != FP_HOME_NONE;
        if (!known) return "its path is not known in some block";
    }
    for (uint32_t d = 0; d < dag->nedges; d++)
        if (!fits(c->plan->on[d])) return "a sum of its paths does not fit into 32 bits";
    return NULL;
}
