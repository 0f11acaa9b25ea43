/* Network simplex: see mincost.h.
 *
 * The tree hangs from a root outside of the network, to which every node has an
 * artificial arc of prohibitive cost; those carry the first flow. A pivot sends
 * as much as possible around the cycle that an arc closes with the tree, and
 * exchanges that arc for one that blocks:
 *
 *            join
 *           /    \
 *        first  second      the entering arc leads from `first` to `second` in
 *           \ -> /          the direction of the flow to be sent
 *
 * Among several blocking arcs the last one on the way round from join is taken,
 * which keeps the tree strongly feasible.
 */
#include "graph/mincost.h"

#include <assert.h>
#include <math.h>

enum { NO = -1 };

enum state { AT_UPPER = -1, IN_TREE = 0, AT_LOWER = 1 };

struct simplex {
    struct fp_network *net;
    struct fp_arc *arcs; /* the network's, then one per node to or from the root */
    size_t narcs, nreal;
    int8_t *state; /* per arc */
    uint32_t root;
    int64_t *potential;
    int32_t *parent, *pred;  /* pred: the arc to the parent */
    uint32_t *thread, *back; /* the nodes in preorder, a ring through the root */
    uint32_t *last,
        *size; /* per node, of its subtree: the last node in that order, the number of nodes */
    size_t at, block; /* where the search for an entering arc continues */
};

void fp_network_init(struct fp_network *network, struct fp_arena *arena, uint32_t nnodes)
{
    *network = (struct fp_network){.arena = arena, .nnodes = nnodes};
    network->supply = FP_NEW_ARRAY(arena, int64_t, nnodes);
    network->potential = FP_NEW_ARRAY(arena, int64_t, (size_t)nnodes + 1);
}

size_t fp_network_arc(struct fp_network *network, uint32_t from, uint32_t to, int64_t capacity,
                      int64_t cost)
{
    struct fp_arc arc = {from, to, capacity, cost, 0};
    assert(cost >= 0 && capacity >= 0);
    fp_vec_push(network->arena, &network->arcs, arc);
    return network->arcs.len - 1;
}

/* ---- the tree: a subtree is a piece of the thread, from its top to its last node,
 * so that walking over it, where most of the time goes, is following a list ---- */

static void link_nodes(struct simplex *s, uint32_t before, uint32_t after)
{
    s->thread[before] = after;
    s->back[after] = before;
}

/* Cuts the subtree of a node out. Sizes at `join` and above stay: the subtree comes back below
 * it. */
static void cut(struct simplex *s, uint32_t top, uint32_t join)
{
    uint32_t before = s->back[top], end = s->last[top];
    link_nodes(s, before, s->thread[end]);
    for (int32_t v = s->parent[top]; v != NO && s->last[v] == end; v = s->parent[v])
        s->last[v] = before;
    for (uint32_t v = (uint32_t)s->parent[top]; v != join; v = (uint32_t)s->parent[v])
        s->size[v] -= s->size[top];
}

/* Makes `node` the top of a subtree that was cut out, with `parent` and `arc` above
 * it. On the way from it to the old top every subtree is put behind the one that it
 * contained, which leaves a hole in it:
 *
 *     old top [ ... [ node ] ... ]   ->   [ node [ old top ... ... ] ]
 */
static void turn(struct simplex *s, uint32_t node, uint32_t parent, int32_t arc, uint32_t old_top)
{
    uint32_t total = s->size[old_top], above = total, before_hole = 0;
    uint32_t end = s->last[node], hole_end = end, after_hole = s->thread[end];
    for (uint32_t v = node;;) {
        uint32_t next = (uint32_t)s->parent[v], before = s->back[v], below = s->size[v];
        int32_t next_arc = s->pred[v];
        if (v != node) {
            link_nodes(s, end, v);
            end = before_hole;
            if (s->last[v] != hole_end) {
                link_nodes(s, before_hole, after_hole);
                end = hole_end = s->last[v];
                after_hole = s->thread[end];
            }
        }
        s->parent[v] = (int32_t)parent;
        s->pred[v] = arc;
        s->size[v] = above;
        if (v == old_top) break;
        above = total - below;
        before_hole = before;
        parent = v, arc = next_arc, v = next;
    }
    for (uint32_t v = old_top;; v = (uint32_t)s->parent[v]) {
        s->last[v] = end;
        if (v == node) break;
    }
}

/* Puts a subtree that was cut out behind its new parent. */
static void paste(struct simplex *s, uint32_t top, uint32_t join)
{
    uint32_t parent = (uint32_t)s->parent[top], end = s->last[top];
    link_nodes(s, end, s->thread[parent]);
    link_nodes(s, parent, top);
    for (int32_t v = (int32_t)parent; v != NO && s->last[v] == parent; v = s->parent[v])
        s->last[v] = end;
    for (uint32_t v = parent; v != join; v = (uint32_t)s->parent[v]) s->size[v] += s->size[top];
}

static void change_potentials(struct simplex *s, uint32_t top, int64_t change)
{
    uint32_t end = s->last[top];
    for (uint32_t v = top; s->potential[v] += change, v != end;) v = s->thread[v];
}

static void build_first_tree(struct simplex *s, int64_t prohibitive)
{
    s->parent[s->root] = s->pred[s->root] = NO;
    s->size[s->root] = s->root + 1;
    s->last[s->root] = s->root ? s->root - 1 : 0;
    link_nodes(s, s->last[s->root], s->root);
    for (uint32_t v = 0; v < s->root; v++) {
        size_t a = s->nreal + v;
        int64_t supply = s->net->supply[v];
        bool gives = supply >= 0;
        s->arcs[a] = (struct fp_arc){gives ? v : s->root, gives ? s->root : v, FP_UNBOUNDED,
                                     prohibitive, gives ? supply : -supply};
        s->state[a] = IN_TREE;
        s->potential[v] = gives ? -prohibitive : prohibitive;
        s->parent[v] = (int32_t)s->root;
        s->pred[v] = (int32_t)a;
        s->last[v] = v;
        s->size[v] = 1;
        link_nodes(s, v ? v - 1 : s->root, v);
    }
}

/* ---- pivots ---- */

static int64_t reduced_cost(const struct simplex *s, const struct fp_arc *arc)
{
    return arc->cost + s->potential[arc->from] - s->potential[arc->to];
}

/* The best arc of the first block of arcs that has an improving one. */
static int64_t find_entering(struct simplex *s)
{
    int64_t best = 0, found = NO;
    size_t left = s->block;
    for (size_t looked = 0; looked < s->nreal; looked++) {
        size_t a = s->at;
        s->at = s->at + 1 == s->nreal ? 0 : s->at + 1;
        int64_t gain = s->state[a] * reduced_cost(s, &s->arcs[a]);
        if (gain < best) best = gain, found = (int64_t)a;
        if (--left == 0) {
            if (found != NO) return found;
            left = s->block;
        }
    }
    return found;
}

static uint32_t find_join(const struct simplex *s, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (s->size[a] < s->size[b])
            a = (uint32_t)s->parent[a];
        else
            b = (uint32_t)s->parent[b];
    }
    return a;
}

/* How much more can flow between a node and its parent. */
static int64_t room_up(const struct simplex *s, uint32_t node)
{
    const struct fp_arc *arc = &s->arcs[s->pred[node]];
    if (arc->from != node) return arc->flow;
    return arc->capacity == FP_UNBOUNDED ? FP_UNBOUNDED : arc->capacity - arc->flow;
}

static int64_t room_down(const struct simplex *s, uint32_t node)
{
    const struct fp_arc *arc = &s->arcs[s->pred[node]];
    if (arc->from == node) return arc->flow;
    return arc->capacity == FP_UNBOUNDED ? FP_UNBOUNDED : arc->capacity - arc->flow;
}

struct pivot {
    uint32_t first, second, join; /* flow goes join -> first -> second -> join */
    uint32_t leaving;             /* the node whose arc to its parent leaves */
    bool on_first_side, itself;   /* where; the entering arc goes to its other bound */
    int64_t amount;
};

static void find_leaving(const struct simplex *s, size_t entering, struct pivot *p)
{
    const struct fp_arc *arc = &s->arcs[entering];
    bool forward = s->state[entering] == AT_LOWER;
    p->first = forward ? arc->from : arc->to;
    p->second = forward ? arc->to : arc->from;
    p->join = find_join(s, p->first, p->second);
    p->amount = arc->capacity;
    p->itself = true;
    for (uint32_t v = p->first; v != p->join; v = (uint32_t)s->parent[v]) {
        int64_t room = room_down(s, v);
        if (room < p->amount)
            p->amount = room, p->leaving = v, p->on_first_side = true, p->itself = false;
    }
    for (uint32_t v = p->second; v != p->join; v = (uint32_t)s->parent[v]) {
        int64_t room = room_up(s, v);
        if (room <= p->amount)
            p->amount = room, p->leaving = v, p->on_first_side = false, p->itself = false;
    }
}

static void send(struct simplex *s, size_t entering, const struct pivot *p)
{
    if (!p->amount) return;
    s->arcs[entering].flow += s->state[entering] * p->amount;
    for (uint32_t v = p->first; v != p->join; v = (uint32_t)s->parent[v])
        s->arcs[s->pred[v]].flow += s->arcs[s->pred[v]].from == v ? -p->amount : p->amount;
    for (uint32_t v = p->second; v != p->join; v = (uint32_t)s->parent[v])
        s->arcs[s->pred[v]].flow += s->arcs[s->pred[v]].from == v ? p->amount : -p->amount;
}

static void exchange(struct simplex *s, size_t entering, const struct pivot *p)
{
    int32_t out = s->pred[p->leaving];
    uint32_t inside = p->on_first_side ? p->first : p->second;
    uint32_t outside = p->on_first_side ? p->second : p->first;
    int64_t reduced = reduced_cost(s, &s->arcs[entering]);
    int64_t change = s->arcs[entering].from == inside ? -reduced : reduced;
    s->state[entering] = IN_TREE;
    s->state[out] = s->arcs[out].flow == 0 ? AT_LOWER : AT_UPPER;
    cut(s, p->leaving, p->join);
    turn(s, inside, outside, (int32_t)entering, p->leaving);
    paste(s, inside, p->join);
    change_potentials(s, inside, change);
}

static bool run(struct simplex *s)
{
    int64_t entering;
    while ((entering = find_entering(s)) != NO) {
        struct pivot p = {0};
        find_leaving(s, (size_t)entering, &p);
        if (p.amount == FP_UNBOUNDED) return false;
        send(s, (size_t)entering, &p);
        if (p.itself)
            s->state[entering] = (int8_t)-s->state[entering];
        else
            exchange(s, (size_t)entering, &p);
        s->net->pivots++;
    }
    for (size_t a = s->nreal; a < s->narcs; a++)
        if (s->arcs[a].flow) return false;
    return true;
}

/* More than any path of real arcs can cost. */
static int64_t prohibitive_cost(const struct fp_network *net)
{
    int64_t most = 0;
    for (size_t i = 0; i < net->arcs.len; i++)
        if (net->arcs.at[i].cost > most) most = net->arcs.at[i].cost;
    return (most + 1) * ((int64_t)net->nnodes + 1);
}

bool fp_network_solve(struct fp_network *net)
{
    struct fp_arena scratch = {0};
    size_t nodes = (size_t)net->nnodes + 1;
    struct simplex s = {.net = net,
                        .nreal = net->arcs.len,
                        .narcs = net->arcs.len + net->nnodes,
                        .root = net->nnodes,
                        .potential = net->potential};
    s.arcs = FP_NEW_ARRAY(&scratch, struct fp_arc, s.narcs);
    s.state = FP_NEW_ARRAY(&scratch, int8_t, s.narcs);
    s.parent = FP_NEW_ARRAY(&scratch, int32_t, nodes);
    s.pred = FP_NEW_ARRAY(&scratch, int32_t, nodes);
    s.thread = FP_NEW_ARRAY(&scratch, uint32_t, nodes);
    s.back = FP_NEW_ARRAY(&scratch, uint32_t, nodes);
    s.last = FP_NEW_ARRAY(&scratch, uint32_t, nodes);
    s.size = FP_NEW_ARRAY(&scratch, uint32_t, nodes);
    s.block = (size_t)(sqrt((double)s.nreal)) + 10;
    for (size_t i = 0; i < s.nreal; i++) {
        s.arcs[i] = net->arcs.at[i];
        s.arcs[i].flow = 0;
        s.state[i] = AT_LOWER;
    }
    build_first_tree(&s, prohibitive_cost(net));
    bool ok = run(&s);
    for (size_t i = 0; i < s.nreal; i++) net->arcs.at[i].flow = s.arcs[i].flow;
    fp_arena_free(&scratch);
    return ok;
}

int64_t fp_network_cost(const struct fp_network *net)
{
    int64_t cost = 0;
    for (size_t i = 0; i < net->arcs.len; i++) cost += net->arcs.at[i].cost * net->arcs.at[i].flow;
    return cost;
}

bool fp_network_check(const struct fp_network *net)
{
    struct fp_arena scratch = {0};
    int64_t *excess = FP_NEW_ARRAY(&scratch, int64_t, net->nnodes);
    bool ok = true;
    for (size_t i = 0; i < net->arcs.len; i++) {
        const struct fp_arc *arc = &net->arcs.at[i];
        int64_t reduced = arc->cost + net->potential[arc->from] - net->potential[arc->to];
        excess[arc->from] -= arc->flow;
        excess[arc->to] += arc->flow;
        ok &= arc->flow >= 0 && arc->flow <= arc->capacity;
        ok &= arc->flow == 0 || reduced <= 0;
        ok &= arc->flow == arc->capacity || reduced >= 0;
    }
    for (uint32_t v = 0; v < net->nnodes; v++) ok &= excess[v] + net->supply[v] == 0;
    fp_arena_free(&scratch);
    return ok;
}
