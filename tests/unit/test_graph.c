/* The graph core on shapes that need a test of their own: huge numbers of paths,
 * wide switches, a million blocks, the example of paper 004, bad text. */
#include "graph/cfgtext.h"
#include "graph/flow.h"
#include "graph/plan.h"
#include "graph/pspp.h"
#include "graph/sampleflow.h"
#include "shapes.h"

#include "../check.h"

#include <inttypes.h>
#include <string.h>

static struct fp_numbering *number(struct fp_arena *arena, const struct fp_cfg *cfg,
                                   struct fp_limits limits, struct fp_truncation *t)
{
    fp_truncate(arena, cfg, NULL, &limits, t);
    return fp_number(arena, fp_dag_make(arena, t), FP_NUMBER_LARGEST_LAST, NULL);
}

static void check_round_trip(struct fp_arena *arena, const struct fp_numbering *n, uint64_t id)
{
    struct fp_path path;
    CHECK(fp_path_decode(arena, n, id, &path));
    CHECK_EQUAL(fp_path_encode(n, &path), id);
}

static void test_diamonds(void)
{
    struct fp_arena arena = {0};
    struct fp_truncation t;
    struct fp_numbering *n =
        number(&arena, fp_shape_diamonds(&arena, 61), (struct fp_limits){0}, &t);
    CHECK(n->num_paths == (uint64_t)1 << 61 && t.ncuts == 0);
    check_round_trip(&arena, n, n->num_paths - 1);

    n = number(&arena, fp_shape_diamonds(&arena, 200), (struct fp_limits){0}, &t);
    printf("200 diamonds (2^200 paths): %u edges cut, %" PRIu64 " paths\n", t.ncuts, n->num_paths);
    CHECK(t.ncuts > 0 && t.ncuts <= 12);
    CHECK(n->num_paths <= FP_MAX_PATHS);
    for (uint64_t k = 0; k < 64; k++) check_round_trip(&arena, n, n->num_paths / 64 * k);

    n = number(&arena, fp_shape_diamonds(&arena, 32), (struct fp_limits){.good_paths = 4096}, &t);
    CHECK(n->num_paths == (uint64_t)1 << 32 && t.ncuts == 0); /* no cold edge: no cut */
    fp_arena_free(&arena);
}

/* Diamonds in a row of which one side is cold, and a block that goes round by itself: a lap. */
static struct fp_cfg *cold_diamonds(struct fp_arena *arena, uint32_t n, double **weights)
{
    uint32_t nblocks = 3 * n + 2, nedges = 0;
    struct fp_edge *edges = FP_NEW_ARRAY(arena, struct fp_edge, 4 * (size_t)n + 2);
    *weights = FP_NEW_ARRAY(arena, double, 4 * (size_t)n + 2);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = 3 * i;
        for (uint32_t side = 1; side <= 2; side++)
            edges[nedges++] = (struct fp_edge){at, at + side, FP_EDGE_SWITCH};
        for (uint32_t side = 1; side <= 2; side++)
            edges[nedges++] = (struct fp_edge){at + side, at + 3, FP_EDGE_SWITCH};
    }
    edges[nedges++] = (struct fp_edge){3 * n, 3 * n, FP_EDGE_SWITCH};
    edges[nedges++] = (struct fp_edge){3 * n, 3 * n + 1, FP_EDGE_SWITCH};
    struct fp_cfg *cfg = fp_cfg_new(arena, nblocks, edges, nedges, NULL);
    for (uint32_t e = 0; e < nedges; e++) {
        const struct fp_edge *edge = &cfg->edges[e];
        bool cold = edge->src < 3 * n && (edge->src % 3 == 2 || edge->dst % 3 == 2);
        (*weights)[e] = cold ? 0.001 : 1;
    }
    return cfg;
}

/* An array must hold the lap, too. What takes more than a few cuts gets a larger array. */
static void test_fit(void)
{
    struct fp_arena arena = {0};
    struct fp_limits limits = {.good_paths = 4096};
    struct fp_truncation t;
    double *weights;
    struct fp_cfg *cfg = cold_diamonds(&arena, 11, &weights);
    fp_truncate(&arena, cfg, weights, &limits, &t);
    CHECK(t.laps.len == 1 && t.num_paths == 2048 && t.ncuts == 0);
    cfg = cold_diamonds(&arena, 12, &weights);
    fp_truncate(&arena, cfg, weights, &limits, &t);
    CHECK(t.num_paths + t.laps.len <= 4096 && t.ncuts == 1);

    cfg = cold_diamonds(&arena, 120, &weights);
    fp_truncate(&arena, cfg, weights, &limits, &t);
    CHECK(t.num_paths > 16384);
    uint32_t needed = t.ncuts; /* for ids to fit a word */
    limits.large_paths = 16384;
    fp_truncate(&arena, cfg, weights, &limits, &t);
    printf("120 diamonds with a cold side: %u cuts for 2^62 paths, %u for an array\n", needed,
           t.ncuts);
    CHECK(t.num_paths + t.laps.len <= 16384 && t.ncuts > 64);
    fp_arena_free(&arena);
}

static void test_wide_switch(void)
{
    struct fp_arena arena = {0};
    struct fp_truncation t;
    struct fp_numbering *n =
        number(&arena, fp_shape_switch_in_loop(&arena, 10000), (struct fp_limits){0}, &t);
    printf("10,000-way switch in a loop: %u edges cut, %" PRIu64 " paths\n", t.ncuts, n->num_paths);
    CHECK(t.ncuts == 0 && n->num_paths == 4 * 10000); /* from entry or loop, to loop or exit */
    for (uint64_t id = 0; id < n->num_paths; id += 37) check_round_trip(&arena, n, id);

    /* 40 such switches one after another: 10,000^40 paths */
    n = number(&arena, fp_shape_switches(&arena, 40, 10000), (struct fp_limits){0}, &t);
    printf("40 10,000-way switches in a row: %u edges cut, %" PRIu64 " paths\n", t.ncuts,
           n->num_paths);
    CHECK(t.ncuts > 0 && n->num_paths <= FP_MAX_PATHS);
    check_round_trip(&arena, n, n->num_paths - 1);
    fp_arena_free(&arena);
}

static void test_million_blocks(void)
{
    struct fp_arena arena = {0};
    struct fp_cfg *cfg = fp_shape_random(&arena, 1000000, 1);
    struct fp_truncation t;
    struct fp_numbering *n = number(&arena, cfg, (struct fp_limits){0}, &t);
    struct fp_plan *plan = fp_plan_make(&arena, n, NULL, &(struct fp_plan_options){0});
    struct fp_flow *flow = fp_flow_make(&arena, cfg, &t.order, NULL);
    CHECK(plan->on && n->num_paths <= FP_MAX_PATHS && flow->nchords > 0);
    check_round_trip(&arena, n, n->num_paths / 3);
    fp_arena_free(&arena);
}

/* Paper 004, Figures 1, 3 and 4, as far as the text tells: entry goes to v0 and
 * v1; v1 to v2 and v12; v2 to v3 and v4; from v4 two diamonds to v10, from v12
 * three to v21. */
static const char p3_example[] = "entry: v0 v1\n"
                                 "v0: exit\n"
                                 "v1: v2 v12\n"
                                 "v2: v3 v4\n"
                                 "v3: v11\n"
                                 "v4: v5 v6\nv5: v7\nv6: v7\n"
                                 "v7: v8 v9\nv8: v10\nv9: v10\n"
                                 "v10: v11\n"
                                 "v11: exit\n"
                                 "v12: v13 v14\nv13: v15\nv14: v15\n"
                                 "v15: v16 v17\nv16: v18\nv17: v18\n"
                                 "v18: v19 v20\nv19: v21\nv20: v21\n"
                                 "v21: exit\n"
                                 "exit:\n";

struct p3 {
    struct fp_arena arena;
    struct fp_named_cfg g;
    struct fp_truncation t;
    struct fp_dag *dag;
};

static uint32_t edge_between(const struct p3 *p, const char *from, const char *to)
{
    const struct fp_cfg *cfg = p->g.cfg;
    for (uint32_t e = 0; e < cfg->nedges; e++)
        if (!strcmp(p->g.names[cfg->edges[e].src], from) &&
            !strcmp(p->g.names[cfg->edges[e].dst], to))
            return p->dag->of_edge[e];
    return FP_NONE;
}

static uint64_t sum_along(const struct p3 *p, const struct fp_pspp *pspp, const char *names)
{
    char copy[256], *save = NULL;
    snprintf(copy, sizeof copy, "%s", names);
    char *from = strtok_r(copy, " ", &save), *to;
    uint64_t sum = pspp->value[p->dag->entry_edge];
    for (; (to = strtok_r(NULL, " ", &save)); from = to)
        sum += pspp->value[edge_between(p, from, to)];
    return sum + pspp->value[p->dag->exit_of[fp_cfg_block_named(&p->g, "exit")]];
}

/* Probes for the paths through one of the four vertices that divide the tasks. */
static uint32_t probes_through(struct p3 *p, const char *vertex, uint64_t expected_paths)
{
    struct fp_bitset wanted = fp_bitset_new(&p->arena, p->dag->nedges);
    struct fp_numbering *n = fp_number(&p->arena, p->dag, FP_NUMBER_LARGEST_LAST, NULL);
    uint32_t block = fp_cfg_block_named(&p->g, vertex);
    uint64_t found = 0;
    for (uint64_t id = 0; id < n->num_paths; id++) {
        struct fp_path path;
        CHECK(fp_path_decode(&p->arena, n, id, &path));
        bool through = false;
        for (uint32_t i = 0; i < path.nedges; i++)
            through |= p->g.cfg->edges[path.edges[i]].dst == block;
        if (!through) continue;
        found++;
        fp_bitset_add(&wanted, p->dag->entry_edge);
        fp_bitset_add(&wanted, p->dag->exit_of[path.last_block]);
        for (uint32_t i = 0; i < path.nedges; i++)
            fp_bitset_add(&wanted, p->dag->of_edge[path.edges[i]]);
    }
    CHECK_EQUAL(found, expected_paths);
    return fp_pspp_number(&p->arena, p->dag, &wanted, NULL)->nprobes;
}

static void test_paper_004(void)
{
    struct p3 p = {0};
    struct fp_error error = {0};
    CHECK(fp_cfg_parse(&p.arena, p3_example, &p.g, &error));
    fp_truncate(&p.arena, p.g.cfg, NULL, &(struct fp_limits){0}, &p.t);
    p.dag = fp_dag_make(&p.arena, &p.t);
    CHECK_EQUAL(p.t.num_paths, 14);

    /* Example 5: tasks of cost 1, 1, 3 and 7; the corrected algorithm needs no
     * more. */
    CHECK_EQUAL(probes_through(&p, "v0", 1), 1);
    CHECK_EQUAL(probes_through(&p, "v3", 1), 1);
    CHECK(probes_through(&p, "v4", 4) <= 3);
    CHECK(probes_through(&p, "v12", 8) <= 7);

    /* Example 2: SPP gives these two paths one id; p is interesting, q is not.
     * v2-v3, v7-v9 and v14-v15 are uninteresting edges in Figure 4. */
    static const char *uninteresting[][2] = {{"entry", "v0"}, {"v0", "exit"}, {"v2", "v3"},
                                             {"v3", "v11"},   {"v7", "v9"},   {"v9", "v10"},
                                             {"v14", "v15"}};
    struct fp_bitset wanted = fp_bitset_new(&p.arena, p.dag->nedges);
    for (uint32_t d = 0; d < p.dag->nedges; d++) fp_bitset_add(&wanted, d);
    for (size_t i = 0; i < sizeof uninteresting / sizeof *uninteresting; i++)
        fp_bitset_remove(&wanted, edge_between(&p, uninteresting[i][0], uninteresting[i][1]));
    struct fp_pspp *pspp = fp_pspp_number(&p.arena, p.dag, &wanted, NULL);
    uint64_t one = sum_along(&p, pspp, "entry v1 v2 v4 v6 v7 v8 v10 v11 exit");
    uint64_t other = sum_along(&p, pspp, "entry v1 v12 v14 v15 v16 v18 v19 v21 exit");
    CHECK(one != other);
    uint32_t *edges, nedges;
    CHECK(fp_pspp_decode(&p.arena, pspp, one, &edges, &nedges));
    CHECK(!fp_pspp_decode(&p.arena, pspp, other, &edges, &nedges));
    fp_arena_free(&p.arena);
}

static void add_to(uint64_t id, uint64_t count, void *context)
{
    ((uint64_t *)context)[id] += count;
}

/* Two laps, one around the other, and a way into them, all counted in front of their
 * branches: the paths must be right before the laps are, the outer lap before the inner. */
static void test_recovery_of_nested_laps(void)
{
    static const char text[] = "A: C C\nC: F A\nF: H\nH: H E\nE: F A\n";
    enum { MOST = 16 };
    struct fp_arena arena = {0};
    struct fp_named_cfg g;
    struct fp_error error = {0};
    struct fp_truncation t;
    CHECK(fp_cfg_parse(&arena, text, &g, &error));
    struct fp_numbering *n = number(&arena, g.cfg, (struct fp_limits){0}, &t);
    CHECK_EQUAL(t.laps.len, 2);
    uint32_t at_end[5] = {FP_NONE, FP_NONE, FP_NONE, FP_NONE, FP_NONE};
    static const char *const moved[] = {"C", "H", "E"}; /* by their first out-edge each */
    for (size_t i = 0; i < 3; i++) {
        uint32_t block = fp_cfg_block_named(&g, moved[i]);
        at_end[block] = g.cfg->first_out[block];
    }
    uint64_t ids[MOST], counted[MOST] = {0};
    CHECK(n->num_ids <= MOST);
    for (uint64_t id = 0; id < n->num_ids; id++) {
        ids[id] = id;
        counted[id] += 100 + 7 * id;
        fp_unrecover(n, at_end, id, 100 + 7 * id, add_to, counted);
    }
    fp_recover(n, at_end, ids, counted, n->num_ids, NULL, 0);
    for (uint64_t id = 0; id < n->num_ids; id++) CHECK_EQUAL(counted[id], 100 + 7 * id);
    fp_arena_free(&arena);
}

static void test_bad_text(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"A B\n", "expected 'NAME: TARGET...'"},
        {"A: B\n", "no line for block 'B'"},
        {"A: A\nA:\n", "second line for block 'A'"},
        {"A round: A\n", "unknown block flag 'round'"},
        {"A: B@x\nB:\n", "bad weight"},
        {"A: B!\nB:\n", "unwind edges, and only they, lead to pads"},
        {"A: B\nB hub: A\n", "indirect edges, and only they, lead to hubs"},
        {"A: B~ C\nB:\nC:\n", "a twice edge stands alone"},
        {"A: P!\nP pad:\n", "a pad has one out-edge"},
        {"A pad: A\n", "the entry block is neither pad nor hub"},
        {": A\n", "expected a block name"},
        {"", "at least one block"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fp_arena arena = {0};
        struct fp_named_cfg g;
        struct fp_error error = {0};
        CHECK(!fp_cfg_parse(&arena, cases[i].text, &g, &error));
        CHECK(strstr(error.what, cases[i].message));
        fp_arena_free(&arena);
    }
}

/* What enters a block leaves it, but for the entry and the exits. */
static void check_flow(const struct fp_cfg *cfg, uint64_t entries, const uint64_t *edges)
{
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        uint64_t in = b ? 0 : entries, out = 0;
        for (uint32_t i = cfg->first_in[b]; i < cfg->first_in[b + 1]; i++)
            in += edges[cfg->in_edges[i]];
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++) out += edges[e];
        if (fp_cfg_out_degree(cfg, b)) CHECK_EQUAL(in, out);
    }
}

/*  0 -> 1 -> 2 -> 3 -> 2     two loops, one in the other, of a function that was called long
 *       ^         |          before the first sample. Edges are in the order of their sources.
 *       +-- 4 <---+
 *            4 -> 5 */
static void test_sample_flow(void)
{
    static const struct fp_edge edges[] = {{0, 1, FP_EDGE_NORMAL}, {1, 2, FP_EDGE_NORMAL},
                                           {2, 3, FP_EDGE_NORMAL}, {3, 2, FP_EDGE_NORMAL},
                                           {3, 4, FP_EDGE_NORMAL}, {4, 1, FP_EDGE_NORMAL},
                                           {4, 5, FP_EDGE_NORMAL}};
    struct fp_arena arena = {0};
    struct fp_cfg *cfg = fp_cfg_new(&arena, 6, edges, 7, NULL);
    uint64_t entries = 0, inner[7] = {0, 0, 5000, 5000, 0, 0, 0};
    CHECK(fp_sample_flow(cfg, &entries, inner));
    check_flow(cfg, entries, inner);
    /* the loop keeps its count, and is entered and left once */
    CHECK(entries == 1 && inner[0] == 1 && inner[1] == 1 && inner[4] == 1 && inner[6] == 1);
    CHECK(inner[2] == 5001 && inner[3] == 5000 && inner[5] == 0);

    /* entered in samples, never left: entries and exits must not say that a call goes round 5,000
     * times 700 times */
    uint64_t entered[7] = {700, 1000, 5000, 4000, 300, 300, 0};
    entries = 700;
    CHECK(fp_sample_flow(cfg, &entries, entered));
    check_flow(cfg, entries, entered);
    CHECK(entries == entered[6] && entries >= 1 && entered[2] >= 4000 && entered[2] <= 6000);

    /* a flow stays as it is; what never ran stays so */
    uint64_t flow[7] = {2, 6, 60, 54, 6, 4, 2}, never[7] = {0};
    entries = 2;
    CHECK(fp_sample_flow(cfg, &entries, flow));
    CHECK(entries == 2 && flow[0] == 2 && flow[2] == 60 && flow[5] == 4);
    entries = 0;
    CHECK(fp_sample_flow(cfg, &entries, never) && !entries && !never[0] && !never[6]);
    fp_arena_free(&arena);
}

/* A loop without an exit, and a part of the graph that nothing leads to. */
static void test_sample_flow_without_exit(void)
{
    static const struct fp_edge edges[] = {
        {0, 1, FP_EDGE_NORMAL}, {1, 1, FP_EDGE_NORMAL}, {2, 2, FP_EDGE_NORMAL}};
    struct fp_arena arena = {0};
    struct fp_cfg *cfg = fp_cfg_new(&arena, 3, edges, 3, NULL);
    uint64_t entries = 0, counts[3] = {0, 100, 7};
    CHECK(fp_sample_flow(cfg, &entries, counts));
    CHECK(entries == 1 && counts[0] == 1 && counts[1] == 100 && counts[2] == 7);
    fp_arena_free(&arena);
}

int main(void)
{
    test_sample_flow();
    test_sample_flow_without_exit();
    test_diamonds();
    test_fit();
    test_wide_switch();
    test_million_blocks();
    test_paper_004();
    test_recovery_of_nested_laps();
    test_bad_text();
    return check_summary();
}
