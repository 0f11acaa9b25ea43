/* Choosing copies: see blockcopies.h.
 *
 * A way into a block is a kept edge, or all truncated edges together, behind which a path starts.
 * A block is merged if more than one way leads to it from the start of a path. A copy is made for a
 * way that comes from a block that is not merged; the copy is then not merged either.
 *
 * Blocks of a lap are copied together: a lap's closing edge leads back to its own header. Such a
 * unit is entered at its head alone. Other blocks are units of their own. The pad of a block is
 * copied with the block. */
#include "graph/copying.h"
#include "graph/tree.h"

typedef FP_VEC(uint32_t) index_vec;

/* ---- candidates: a heap, the densest on top ---- */

static bool is_before(const struct fp_copy_candidate *a, const struct fp_copy_candidate *b)
{
    if (a->density != b->density) return a->density > b->density;
    return a->node != b->node ? a->node < b->node : a->edge < b->edge;
}

static void push_candidate(struct fp_copying *c, struct fp_copy_candidate one)
{
    fp_vec_push(c->scratch, &c->heap, one);
    size_t i = c->heap.len - 1;
    for (; i && is_before(&one, &c->heap.at[(i - 1) / 2]); i = (i - 1) / 2)
        c->heap.at[i] = c->heap.at[(i - 1) / 2];
    c->heap.at[i] = one;
}

static struct fp_copy_candidate pop_candidate(struct fp_copying *c)
{
    struct fp_copy_candidate top = c->heap.at[0], last = fp_vec_pop(&c->heap);
    size_t i = 0, n = c->heap.len;
    for (size_t child = 1; child < n; child = 2 * i + 1) {
        if (child + 1 < n && is_before(&c->heap.at[child + 1], &c->heap.at[child])) child++;
        if (!is_before(&c->heap.at[child], &last)) break;
        c->heap.at[i] = c->heap.at[child];
        i = child;
    }
    if (n) c->heap.at[i] = last;
    return top;
}

static double start_weight(const struct fp_copying *c, uint32_t node)
{
    const struct fp_copy_node *v = &c->nodes.at[node];
    double sum = 0;
    for (size_t i = 0; i < v->in.len; i++)
        if (c->edges.at[v->in.at[i]].dst == node &&
            fp_copying_fate(c, v->in.at[i]) == FP_FATE_TRUNCATED)
            sum += c->edges.at[v->in.at[i]].weight;
    return sum;
}

static bool can_copy(const struct fp_copying *c, uint32_t node)
{
    uint32_t b = c->nodes.at[node].origin;
    return c->head[b] == b && c->bytes[b] && !c->options->counted[b];
}

static void consider(struct fp_copying *c, uint32_t node, uint32_t edge, double weight,
                     double density)
{
    double here = weight / c->bytes[c->nodes.at[node].origin];
    if (here < density) density = here;
    if (density > 0 && density >= c->options->least_gain)
        push_candidate(c, (struct fp_copy_candidate){density, edge, node});
}

static void consider_edge(struct fp_copying *c, uint32_t edge)
{
    const struct fp_copy_edge *e = &c->edges.at[edge];
    bool kept =
        fp_copying_fate(c, edge) == FP_FATE_KEPT && fp_copying_kind(c, edge) <= FP_EDGE_SWITCH;
    if (kept && c->nodes.at[e->dst].merged && can_copy(c, e->dst))
        consider(c, e->dst, edge, e->weight, c->nodes.at[e->src].density);
}

static void consider_ways_out(struct fp_copying *c, uint32_t node)
{
    const struct fp_copy_node v = c->nodes.at[node];
    for (uint32_t e = v.first_edge; e < v.first_edge + v.nedges; e++) consider_edge(c, e);
}

/* ---- merged blocks ---- */

/* The one kept edge that leads to a node, or FP_NONE. */
static uint32_t only_edge(const struct fp_copying *c, uint32_t node)
{
    const struct fp_copy_node *v = &c->nodes.at[node];
    for (size_t i = 0; i < v->in.len; i++)
        if (c->edges.at[v->in.at[i]].dst == node &&
            fp_copying_fate(c, v->in.at[i]) == FP_FATE_KEPT &&
            !c->nodes.at[c->edges.at[v->in.at[i]].src].dead)
            return v->in.at[i];
    return FP_NONE;
}

static bool is_merged(const struct fp_copying *c, uint32_t node)
{
    const struct fp_copy_node *v = &c->nodes.at[node];
    if (v->ways != 1) return v->ways > 1;
    uint32_t e = only_edge(c, node);
    return e != FP_NONE && c->nodes.at[c->edges.at[e].src].merged;
}

/* A node has lost a way: what is behind it may not be merged any more. */
static void unmerge(struct fp_copying *c, uint32_t node)
{
    index_vec work = {0};
    fp_vec_push(c->scratch, &work, node);
    while (work.len) {
        uint32_t v = fp_vec_pop(&work);
        if (!c->nodes.at[v].merged || is_merged(c, v)) continue;
        c->nodes.at[v].merged = false;
        consider_ways_out(c, v);
        const struct fp_copy_node *at = &c->nodes.at[v];
        for (uint32_t e = at->first_edge; e < at->first_edge + at->nedges; e++)
            if (fp_copying_fate(c, e) == FP_FATE_KEPT)
                fp_vec_push(c->scratch, &work, c->edges.at[e].dst);
    }
}

/* ---- copies ---- */

static void lead_to(struct fp_copying *c, uint32_t edge, uint32_t node)
{
    c->edges.at[edge].dst = node;
    fp_vec_push(c->scratch, &c->nodes.at[node].in, edge);
}

static uint32_t add_node(struct fp_copying *c, uint32_t from, double share)
{
    const struct fp_copy_node old = c->nodes.at[from];
    uint32_t node = (uint32_t)c->nodes.len;
    struct fp_copy_node new = {.origin = old.origin,
                               .first_edge = (uint32_t)c->edges.len,
                               .nedges = old.nedges,
                               .copied = from,
                               .start = node};
    fp_vec_push(c->scratch, &c->nodes, new);
    for (uint32_t e = old.first_edge; e < old.first_edge + old.nedges; e++) {
        struct fp_copy_edge edge = c->edges.at[e];
        /* where the old block leads to a copy, the new one leads to what was copied */
        uint32_t dst = edge.dst;
        while (c->nodes.at[dst].copied != FP_NONE) dst = c->nodes.at[dst].copied;
        if (fp_copying_fate(c, e) == FP_FATE_TRUNCATED) dst = c->nodes.at[dst].start;
        edge.src = node;
        edge.weight *= share;
        c->edges.at[e].weight -= edge.weight;
        fp_vec_push(c->scratch, &c->edges, edge);
        lead_to(c, (uint32_t)c->edges.len - 1, dst);
        if (fp_copying_fate(c, e) == FP_FATE_KEPT) c->nodes.at[dst].ways++;
    }
    c->bytes_used += c->options->bytes[old.origin];
    return node;
}

/* An edge that led to an old block leads to a copy in the same unit. */
static void lead_inside(struct fp_copying *c, uint32_t edge, uint32_t to)
{
    if (fp_copying_fate(c, edge) == FP_FATE_KEPT) {
        c->nodes.at[c->edges.at[edge].dst].ways--;
        c->nodes.at[to].ways++;
    }
    lead_to(c, edge, to);
}

/* The sum where an exception lands differs as well, so each copy has a pad of its own. */
static void join_unit(struct fp_copying *c, uint32_t head, double share)
{
    uint32_t end = (uint32_t)c->nodes.len, unit = c->head[c->nodes.at[head].origin];
    for (uint32_t v = head; v < end; v++) {
        const struct fp_copy_node node = c->nodes.at[v];
        for (uint32_t e = node.first_edge; e < node.first_edge + node.nedges; e++) {
            uint32_t dst = c->edges.at[e].dst;
            enum fp_fate fate = fp_copying_fate(c, e);
            if (fp_copying_kind(c, e) == FP_EDGE_UNWIND)
                lead_inside(c, e, add_node(c, dst, share));
            else if (fate == FP_FATE_LAP || (fate == FP_FATE_KEPT && c->head[dst] == unit))
                lead_inside(c, e, c->copy[dst]);
        }
    }
}

static uint32_t add_unit(struct fp_copying *c, uint32_t from, double share)
{
    uint32_t head = (uint32_t)c->nodes.len;
    for (uint32_t b = c->nodes.at[from].origin; b != FP_NONE; b = c->next[b])
        c->copy[b] = add_node(c, b, share);
    join_unit(c, head, share);
    c->nodes.at[head].nmembers = (uint32_t)c->nodes.len - head;
    for (uint32_t v = head; v < c->nodes.len; v++) c->nodes.at[v].head = head;
    return head;
}

static void take_starts(struct fp_copying *c, uint32_t from, uint32_t to)
{
    const struct fp_copy_node v = c->nodes.at[from];
    for (size_t i = 0; i < v.in.len; i++)
        if (c->edges.at[v.in.at[i]].dst == from &&
            fp_copying_fate(c, v.in.at[i]) == FP_FATE_TRUNCATED)
            lead_to(c, v.in.at[i], to);
    c->nodes.at[from].starts = false;
    c->nodes.at[from].start = to;
    c->nodes.at[to].starts = true;
}

/* How often control comes to a node other than by a lap. */
static double weight_into(const struct fp_copying *c, uint32_t node)
{
    const struct fp_copy_node *v = &c->nodes.at[node];
    double sum = node == 0;
    for (size_t i = 0; i < v->in.len; i++)
        if (c->edges.at[v->in.at[i]].dst == node && fp_copying_fate(c, v->in.at[i]) != FP_FATE_LAP)
            sum += c->edges.at[v->in.at[i]].weight;
    return sum;
}

static void copy_for(struct fp_copying *c, const struct fp_copy_candidate *way)
{
    uint32_t from = way->node;
    double weight = way->edge == FP_NONE ? start_weight(c, from) : c->edges.at[way->edge].weight;
    double whole = weight_into(c, from);
    uint32_t node = add_unit(c, from, whole > weight ? weight / whole : 1);
    struct fp_copy_node *head = &c->nodes.at[node];
    head->ways = 1;
    head->way = weight;
    head->parent = way->edge;
    for (uint32_t v = node; v < c->nodes.len; v++) c->nodes.at[v].density = way->density;
    c->nodes.at[from].ways--;
    if (way->edge == FP_NONE)
        take_starts(c, from, node);
    else
        lead_to(c, way->edge, node);
    for (uint32_t v = node; v < node + head->nmembers; v++) consider_ways_out(c, v);
    unmerge(c, from);
}

static bool is_valid(const struct fp_copying *c, const struct fp_copy_candidate *way)
{
    const struct fp_copy_node *v = &c->nodes.at[way->node];
    if (!v->merged || v->ways < 2) return false;
    if (way->edge == FP_NONE) return v->starts;
    const struct fp_copy_edge *e = &c->edges.at[way->edge];
    return e->dst == way->node && !c->nodes.at[e->src].merged;
}

static bool may_start_elsewhere(const struct fp_copying *c, uint32_t node)
{
    const struct fp_copy_node *v = &c->nodes.at[node];
    for (size_t i = 0; i < v->in.len; i++)
        if (fp_copying_kind(c, v->in.at[i]) > FP_EDGE_SWITCH) return false;
    return true;
}

static void make_copies(struct fp_copying *c)
{
    for (uint32_t b = 0; b < c->cfg->nblocks; b++) {
        const struct fp_copy_node *v = &c->nodes.at[b];
        if (v->starts && v->merged && can_copy(c, b) && may_start_elsewhere(c, b))
            consider(c, b, FP_NONE, start_weight(c, b), 1e300);
        if (!v->merged) consider_ways_out(c, b);
    }
    while (c->heap.len) {
        struct fp_copy_candidate way = pop_candidate(c);
        uint32_t bytes = c->bytes[c->nodes.at[way.node].origin];
        if (is_valid(c, &way) && c->bytes_used + bytes <= c->options->most_bytes) copy_for(c, &way);
    }
}

/* ---- copies that do not pay ---- */

/* What the ways out of a node gain: the register is not read at path ends. But it is set where a
 * block is reached that is no copy, and a jump leads there. */
static double gain_behind(const struct fp_copying *c, uint32_t node, const double *gains)
{
    const struct fp_copy_node *v = &c->nodes.at[node];
    const double *cost = c->options->register_cost;
    double gain = 0;
    for (uint32_t e = v->first_edge; e < v->first_edge + v->nedges; e++) {
        const struct fp_copy_edge *edge = &c->edges.at[e];
        const struct fp_copy_node *to = &c->nodes.at[edge->dst];
        bool copy = edge->dst >= c->cfg->nblocks, ends = fp_copying_fate(c, e) == FP_FATE_TRUNCATED;
        if (copy && to->head == v->head && !ends) continue;
        if (ends || c->options->counted[to->origin])
            gain += edge->weight * (cost[v->origin] - 1);
        else if (copy && gains[edge->dst] > 0)
            gain += gains[edge->dst] - edge->weight * cost[to->origin];
        else if (to->merged || copy)
            gain -= edge->weight * (cost[to->origin] + 0.5);
    }
    return gain;
}

/* What a unit gains, in executed instructions: the register need not be set in front of it. */
static double gain_of(const struct fp_copying *c, uint32_t head, const double *gains)
{
    const struct fp_copy_node *v = &c->nodes.at[head];
    const double *cost = c->options->register_cost;
    double gain = v->way * cost[v->origin];
    for (uint32_t k = head; k < head + v->nmembers; k++) gain += gain_behind(c, k, gains);
    if (!v->nedges) gain += v->way * (cost[v->origin] - 1);
    return gain;
}

static void bring_back(struct fp_copying *c, uint32_t node)
{
    struct fp_copy_node *v = &c->nodes.at[node];
    uint32_t to = v->copied;
    v->dead = true;
    c->bytes_used -= c->options->bytes[v->origin];
    for (size_t i = 0; i < v->in.len; i++) {
        uint32_t e = v->in.at[i];
        if (c->edges.at[e].dst == node) lead_to(c, e, to);
    }
    for (uint32_t e = v->first_edge; e < v->first_edge + v->nedges; e++) {
        uint32_t old = c->nodes.at[to].first_edge + (e - v->first_edge);
        c->edges.at[old].weight += c->edges.at[e].weight;
    }
}

/* What a unit leads to was copied later than the unit. */
static void take_back(struct fp_copying *c)
{
    double *gains = FP_NEW_ARRAY(c->scratch, double, c->nodes.len);
    for (uint32_t v = (uint32_t)c->nodes.len; v-- > c->cfg->nblocks;)
        if (c->nodes.at[v].head == v) gains[v] = gain_of(c, v, gains);
    for (uint32_t v = c->cfg->nblocks; v < c->nodes.len; v++) {
        uint32_t parent = c->nodes.at[v].parent, n = c->nodes.at[v].nmembers;
        if (c->nodes.at[v].head != v) continue;
        bool lost = parent != FP_NONE && c->nodes.at[c->edges.at[parent].src].dead;
        for (uint32_t k = v; (lost || gains[v] <= 0) && k < v + n; k++) bring_back(c, k);
    }
}

/* ---- the graph as it is ---- */

static void load_nodes(struct fp_copying *c)
{
    const struct fp_dag *dag = c->n->dag;
    for (uint32_t b = 0; b < c->cfg->nblocks; b++) {
        struct fp_copy_node node = {.origin = b,
                                    .first_edge = c->cfg->first_out[b],
                                    .nedges = fp_cfg_out_degree(c->cfg, b),
                                    .ways = dag->first_in[b + 1] - dag->first_in[b],
                                    .density = 1e300,
                                    .copied = FP_NONE,
                                    .start = b,
                                    .starts = dag->start_of[b] != FP_NONE};
        fp_vec_push(c->scratch, &c->nodes, node);
    }
    for (uint32_t e = 0; e < c->cfg->nedges; e++) {
        const struct fp_edge *edge = &c->cfg->edges[e];
        struct fp_copy_edge one = {edge->src, edge->dst, e, c->options->weights[e]};
        fp_vec_push(c->scratch, &c->edges, one);
        if (c->fate[e] != FP_FATE_DEAD) lead_to(c, e, edge->dst);
    }
    const struct fp_order *order = &dag->truncation->order;
    for (uint32_t i = 0; i < order->nblocks; i++) {
        uint32_t b = order->blocks[i];
        c->nodes.at[b].merged = is_merged(c, b);
    }
}

/* Joins the blocks of laps. A lap inside another one is in its unit. */
static void join_laps(struct fp_copying *c, struct fp_union_find *units)
{
    const struct fp_laps *laps = &c->n->dag->truncation->laps;
    for (uint32_t i = 0; i < laps->len; i++) {
        uint32_t header = c->cfg->edges[laps->at[i].closing].dst;
        for (uint32_t k = 0; k < laps->at[i].nedges; k++)
            fp_union_find_join(units, header, c->cfg->edges[laps->at[i].edges[k]].dst);
    }
}

/* The head is the block that comes first. */
static void find_units(struct fp_copying *c)
{
    uint32_t n = c->cfg->nblocks, *head = FP_NEW_ARRAY(c->scratch, uint32_t, n);
    uint32_t *last = FP_NEW_ARRAY(c->scratch, uint32_t, n);
    const struct fp_order *order = &c->n->dag->truncation->order;
    struct fp_union_find units = fp_union_find_new(c->scratch, n);
    c->head = FP_NEW_ARRAY(c->scratch, uint32_t, n);
    c->next = FP_NEW_ARRAY(c->scratch, uint32_t, n);
    c->bytes = FP_NEW_ARRAY(c->scratch, uint32_t, n);
    c->copy = FP_NEW_ARRAY(c->scratch, uint32_t, n);
    join_laps(c, &units);
    for (uint32_t b = 0; b < n; b++) {
        head[b] = c->next[b] = FP_NONE;
        c->head[b] = b;
        c->bytes[b] = c->options->bytes[b];
    }
    for (uint32_t i = 0; i < order->nblocks; i++) {
        uint32_t b = order->blocks[i], root = fp_union_find_root(&units, b);
        if (head[root] == FP_NONE) {
            head[root] = last[root] = b;
            continue;
        }
        uint32_t first = c->head[b] = head[root];
        last[root] = c->next[last[root]] = b;
        bool pad = c->cfg->flags[b] & FP_BLOCK_PAD;
        bool all = c->bytes[first] && c->options->bytes[b] && !pad;
        c->bytes[first] = all ? c->bytes[first] + c->options->bytes[b] : 0;
    }
    const struct fp_laps *laps = &c->n->dag->truncation->laps;
    for (uint32_t i = 0; i < laps->len && !c->options->laps; i++)
        c->bytes[c->head[c->cfg->edges[laps->at[i].closing].dst]] = 0;
}

struct fp_copied_graph *fp_copy_blocks(struct fp_arena *arena, const struct fp_numbering *n,
                                       const struct fp_copy_options *options)
{
    struct fp_arena scratch = {0};
    struct fp_copying c = {.scratch = &scratch,
                           .n = n,
                           .cfg = n->dag->cfg,
                           .fate = n->dag->truncation->order.fate,
                           .options = options};
    struct fp_copied_graph *g = NULL;
    find_units(&c);
    load_nodes(&c);
    make_copies(&c);
    take_back(&c);
    bool any = false;
    for (size_t v = c.cfg->nblocks; v < c.nodes.len; v++) {
        const struct fp_copy_node *node = &c.nodes.at[v];
        if (node->dead) continue;
        any = true;
        if (options->tell)
            options->tell(options->context, options->bytes[node->origin], node->density);
    }
    if (any) g = fp_copied_graph_make(arena, &c);
    fp_arena_free(&scratch);
    return g;
}
