/* Tasks: see partition.h. */
#include "p3/partition.h"

#include "graph/tree.h"

/* ---- the paper's partition ---- */

/* A prefix of paths: the edge it ends with and the prefix before. */
struct part_prefix {
    uint32_t edge;
    const struct part_prefix *before;
};

struct reduced {
    struct fp_arena *scratch;
    const struct fp_dag *dag;
    struct fp_union_find classes;                  /* vertices that were contracted into one */
    uint32_t *first, *next;                        /* vertices of a class, as lists */
    uint32_t *order, norder;                       /* roots of the classes, topologically */
    FP_VEC(const struct part_prefix *) * prefixes; /* per root */
};

static uint32_t out_degree(const struct fp_dag *dag, uint32_t v)
{
    return dag->first_out[v + 1] - dag->first_out[v];
}

static uint32_t in_degree(const struct fp_dag *dag, uint32_t v)
{
    return dag->first_in[v + 1] - dag->first_in[v];
}

/* The vertex behind an arm: one way in, one way out. */
static uint32_t end_of_arm(const struct fp_dag *dag, uint32_t v)
{
    if (v == dag->exit || in_degree(dag, v) != 1 || out_degree(dag, v) != 1) return FP_NONE;
    return dag->edges[dag->first_out[v]].dst;
}

/* a -> {b, c} -> d or a -> {b, d}, b -> d, with no other edge at its borders. */
static void contract_at(struct reduced *r, uint32_t a)
{
    const struct fp_dag *dag = r->dag;
    if (out_degree(dag, a) != 2) return;
    uint32_t b = dag->edges[dag->first_out[a]].dst, c = dag->edges[dag->first_out[a] + 1].dst;
    uint32_t behind_b = end_of_arm(dag, b), behind_c = end_of_arm(dag, c);
    uint32_t d = FP_NONE;
    if (behind_b != FP_NONE && (behind_b == behind_c || behind_b == c)) d = behind_b;
    if (behind_c != FP_NONE && behind_c == b) d = b;
    if (d == FP_NONE || d == dag->exit || in_degree(dag, d) != 2) return;
    fp_union_find_join(&r->classes, a, d);
    if (b != d) fp_union_find_join(&r->classes, a, b);
    if (c != d) fp_union_find_join(&r->classes, a, c);
}

/* Contracted parts have one way in and one way out, so the order of their first
 * vertices is an order of the classes. */
static void reduce(struct reduced *r)
{
    const struct fp_dag *dag = r->dag;
    bool *seen = FP_NEW_ARRAY(r->scratch, bool, dag->nverts);
    r->classes = fp_union_find_new(r->scratch, dag->nverts);
    r->first = FP_NEW_ARRAY(r->scratch, uint32_t, dag->nverts);
    r->next = FP_NEW_ARRAY(r->scratch, uint32_t, dag->nverts);
    r->order = FP_NEW_ARRAY(r->scratch, uint32_t, dag->norder);
    r->prefixes = fp_arena_array(r->scratch, dag->nverts, sizeof *r->prefixes);
    for (uint32_t i = 0; i < dag->norder; i++)
        if (dag->order[i] != dag->entry) contract_at(r, dag->order[i]);
    for (uint32_t v = 0; v < dag->nverts; v++) r->first[v] = FP_NONE;
    for (uint32_t i = dag->norder; i-- > 0;) {
        uint32_t v = dag->order[i], root = fp_union_find_root(&r->classes, v);
        r->next[v] = r->first[root];
        r->first[root] = v;
    }
    for (uint32_t i = 0; i < dag->norder; i++) {
        uint32_t root = fp_union_find_root(&r->classes, dag->order[i]);
        if (!seen[root]) r->order[r->norder++] = root;
        seen[root] = true;
    }
}

static bool is_inside(const struct reduced *r, uint32_t d)
{
    return fp_union_find_root(&r->classes, r->dag->edges[d].src) ==
           fp_union_find_root(&r->classes, r->dag->edges[d].dst);
}

/* Calls with each edge that leaves a class. */
static void each_way_out(const struct reduced *r, uint32_t root,
                         void (*call)(struct reduced *r, uint32_t d, void *context), void *context)
{
    for (uint32_t v = r->first[root]; v != FP_NONE; v = r->next[v])
        for (uint32_t d = r->dag->first_out[v]; d < r->dag->first_out[v + 1]; d++)
            if (!is_inside(r, d)) call((struct reduced *)r, d, context);
}

static void count_way(struct reduced *r, uint32_t d, void *context)
{
    (void)r, (void)d;
    ++*(uint32_t *)context;
}

static void extend_prefixes(struct reduced *r, uint32_t d, void *context)
{
    uint32_t from = *(uint32_t *)context;
    uint32_t to = fp_union_find_root(&r->classes, r->dag->edges[d].dst);
    for (size_t i = 0; i < r->prefixes[from].len; i++) {
        struct part_prefix *longer = FP_NEW(r->scratch, struct part_prefix);
        *longer = (struct part_prefix){d, r->prefixes[from].at[i]};
        fp_vec_push(r->scratch, &r->prefixes[to], longer);
    }
}

static void add_inside(const struct reduced *r, uint32_t root, struct fp_bitset *set)
{
    for (uint32_t v = r->first[root]; v != FP_NONE; v = r->next[v])
        for (uint32_t d = r->dag->first_out[v]; d < r->dag->first_out[v + 1]; d++)
            if (is_inside(r, d)) fp_bitset_add(set, d);
}

/* The prefix's edges, with all inside the classes it touches, and everything behind. */
static void add_task(struct fp_arena *arena, struct reduced *r, uint32_t root,
                     const struct part_prefix *prefix, struct fp_tasks *tasks)
{
    const struct fp_dag *dag = r->dag;
    struct fp_bitset set = fp_bitset_new(arena, dag->nedges);
    bool *reached = FP_NEW_ARRAY(r->scratch, bool, dag->nverts);
    for (; prefix; prefix = prefix->before) {
        fp_bitset_add(&set, prefix->edge);
        add_inside(r, fp_union_find_root(&r->classes, dag->edges[prefix->edge].src), &set);
    }
    for (uint32_t v = r->first[root]; v != FP_NONE; v = r->next[v]) reached[v] = true;
    for (uint32_t i = 0; i < dag->norder; i++) {
        uint32_t v = dag->order[i];
        for (uint32_t d = dag->first_out[v]; reached[v] && d < dag->first_out[v + 1]; d++) {
            fp_bitset_add(&set, d);
            reached[dag->edges[d].dst] = true;
        }
    }
    fp_vec_push(arena, &tasks->sets, set);
}

void fp_partition_reduced(struct fp_arena *arena, const struct fp_dag *dag, uint32_t limit,
                          struct fp_tasks *tasks)
{
    struct fp_arena scratch = {0};
    struct reduced r = {.scratch = &scratch, .dag = dag};
    reduce(&r);
    fp_vec_push(&scratch, &r.prefixes[r.order[0]], NULL);
    if (out_degree(dag, dag->entry) > limit) limit = out_degree(dag, dag->entry);
    size_t total = 1;
    uint32_t expanded = 0;
    for (; expanded + 1 < r.norder; expanded++) { /* the exit, which is last, stays */
        uint32_t v = r.order[expanded], ways = 0;
        each_way_out(&r, v, count_way, &ways);
        size_t after = total - r.prefixes[v].len + r.prefixes[v].len * ways;
        if (expanded && after > limit) break;
        each_way_out(&r, v, extend_prefixes, &v);
        total = after;
    }
    for (uint32_t i = expanded; i < r.norder; i++)
        for (size_t k = 0; k < r.prefixes[r.order[i]].len; k++)
            add_task(arena, &r, r.order[i], r.prefixes[r.order[i]].at[k], tasks);
    fp_arena_free(&scratch);
}

/* ---- edge cuts ---- */

static uint32_t *positions(struct fp_arena *arena, const struct fp_dag *dag)
{
    uint32_t *position = FP_NEW_ARRAY(arena, uint32_t, dag->nverts);
    for (uint32_t v = 0; v < dag->nverts; v++) position[v] = FP_NONE;
    for (uint32_t i = 0; i < dag->norder; i++) position[dag->order[i]] = i;
    return position;
}

uint32_t fp_crossing_edges(struct fp_arena *arena, const struct fp_dag *dag, uint32_t count,
                           uint32_t **edges)
{
    uint32_t *position = positions(arena, dag), n = 0;
    *edges = FP_NEW_ARRAY(arena, uint32_t, dag->nedges);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = dag->order[i];
        for (uint32_t d = dag->first_out[v]; d < dag->first_out[v + 1]; d++)
            if (position[dag->edges[d].dst] >= count) (*edges)[n++] = d;
    }
    return n;
}

/* Adds to the set what leads to the group's edges, those, and what they lead to. */
static void unite_group(struct fp_arena *scratch, const struct fp_dag *dag, uint32_t count,
                        const uint32_t *edges, const uint32_t *groups, uint32_t nedges,
                        uint32_t group, struct fp_bitset *set)
{
    bool *before = FP_NEW_ARRAY(scratch, bool, dag->nverts);
    bool *behind = FP_NEW_ARRAY(scratch, bool, dag->nverts);
    for (uint32_t i = 0; i < nedges; i++) {
        if (groups[i] != group) continue;
        fp_bitset_add(set, edges[i]);
        before[dag->edges[edges[i]].src] = behind[dag->edges[edges[i]].dst] = true;
    }
    for (uint32_t i = count; i < dag->norder; i++) {
        uint32_t v = dag->order[i];
        for (uint32_t d = dag->first_out[v]; behind[v] && d < dag->first_out[v + 1]; d++) {
            fp_bitset_add(set, d);
            behind[dag->edges[d].dst] = true;
        }
    }
    for (uint32_t i = count; i-- > 0;) {
        uint32_t v = dag->order[i];
        for (uint32_t k = dag->first_in[v]; before[v] && k < dag->first_in[v + 1]; k++) {
            fp_bitset_add(set, dag->in_edges[k]);
            before[dag->edges[dag->in_edges[k]].src] = true;
        }
    }
}

void fp_partition_cut(struct fp_arena *arena, const struct fp_dag *dag, uint32_t count,
                      const uint32_t *edges, const uint32_t *groups, uint32_t nedges,
                      struct fp_bitset *sets, uint32_t nsets)
{
    struct fp_arena scratch = {0};
    for (uint32_t g = 0; g < nsets; g++) {
        sets[g] = fp_bitset_new(arena, dag->nedges);
        unite_group(&scratch, dag, count, edges, groups, nedges, g, &sets[g]);
    }
    fp_arena_free(&scratch);
}
