/* Coverage, statistics, untaken paths and the Welch test against brute force, on
 * random graphs with random walks. */
#include "paths/coverage.h"
#include "paths/diff.h"
#include "paths/stats.h"
#include "paths/untaken.h"
#include "graph/measure.h"
#include "shapes.h"

#include "../check.h"
#include "../random.h"

#include <math.h>

static uint64_t rng = 11;

struct subject {
    struct fp_arena *arena;
    struct fp_function f;
    struct fp_table taken; /* id -> count */
    struct fp_counts counts;
    struct fp_edge_counts edges;
    struct fp_measured measured;
};

static void make_function(struct subject *s, uint32_t nblocks)
{
    struct fp_arena *arena = s->arena;
    struct fp_cfg *cfg = fp_shape_random(arena, nblocks, random_next(&rng));
    s->f = (struct fp_function){.name = "f", .file = "f.c", .paths.cfg = cfg, .flags = FP_FUNCTION_PATHS};
    s->f.source.blocks = FP_NEW_ARRAY(arena, struct fp_block_info, cfg->nblocks);
    for (uint32_t b = 0; b < cfg->nblocks; b++) s->f.source.blocks[b].instructions = 1 + random_below(&rng, 9);
    s->f.paths.truncation = FP_NEW(arena, struct fp_truncation);
    struct fp_limits limits = {.no_laps = random_chance(&rng, 50)};
    fp_truncate(arena, cfg, NULL, &limits, s->f.paths.truncation);
    s->f.paths.dag = fp_dag_make(arena, s->f.paths.truncation);
    s->f.paths.numbering = fp_number(arena, s->f.paths.dag, FP_NUMBER_LARGEST_LAST, NULL);
}

/* ---- walks, recorded without the code under test ---- */

struct walk {
    struct fp_path path;
    uint32_t edges[10000];
};

static void count_path(struct subject *s, struct walk *w, enum fp_path_end end, uint32_t end_edge)
{
    w->path.end = end, w->path.end_edge = end_edge, w->path.edges = w->edges;
    w->path.last_block = w->path.nedges ? s->f.paths.cfg->edges[w->edges[w->path.nedges - 1]].dst
                                        : w->path.first_block;
    uint64_t id = fp_path_encode(s->f.paths.numbering, &w->path);
    CHECK(id != FP_NO_ID);
    ++*fp_table_add(&s->taken, id);
}

static void take_lap(struct subject *s, struct walk *w, uint32_t closing, uint32_t header)
{
    const struct fp_laps *laps = &s->f.paths.truncation->laps;
    for (uint32_t k = 0; k < laps->len; k++)
        if (laps->at[k].closing == closing) ++*fp_table_add(&s->taken, s->f.paths.numbering->num_paths + k);
    while (w->path.nedges && s->f.paths.cfg->edges[w->edges[w->path.nedges - 1]].dst != header) w->path.nedges--;
}

static void walk_once(struct subject *s, struct walk *w, uint64_t seed)
{
    const struct fp_cfg *cfg = s->f.paths.cfg;
    uint32_t block = 0;
    w->path = (struct fp_path){.start = FP_STARTS_AT_ENTRY};
    while (fp_cfg_out_degree(cfg, block)) {
        uint32_t e = cfg->first_out[block] + random_below(&seed, fp_cfg_out_degree(cfg, block));
        uint8_t fate = s->f.paths.truncation->order.fate[e];
        block = cfg->edges[e].dst;
        if (fate == FP_FATE_KEPT) {
            w->edges[w->path.nedges++] = e;
        } else if (fate == FP_FATE_LAP) {
            take_lap(s, w, e, block);
        } else {
            count_path(s, w, FP_ENDS_AT_EDGE, e);
            w->path = (struct fp_path){.start = FP_STARTS_AT_EDGE, .first_block = block};
        }
    }
    count_path(s, w, FP_ENDS_AT_EXIT, FP_NONE);
}

/* Walks that get lost in a loop are not begun. */
static bool walk_ends(const struct subject *s, uint64_t seed)
{
    uint32_t block = 0;
    for (uint32_t steps = 0; fp_cfg_out_degree(s->f.paths.cfg, block); steps++) {
        if (steps == 9000) return false;
        uint32_t e = s->f.paths.cfg->first_out[block] + random_below(&seed, fp_cfg_out_degree(s->f.paths.cfg, block));
        block = s->f.paths.cfg->edges[e].dst;
    }
    return true;
}

static int by_id(const void *a, const void *b)
{
    const struct fp_path_count *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static void make_subject(struct subject *s, struct fp_arena *arena, uint32_t nblocks)
{
    static struct walk w;
    struct fp_error error = {0};
    *s = (struct subject){.arena = arena};
    make_function(s, nblocks);
    fp_table_init(&s->taken, arena);
    for (uint32_t n = random_below(&rng, 12); n; n--) {
        uint64_t seed = random_next(&rng);
        if (walk_ends(s, seed)) walk_once(s, &w, seed);
    }
    s->counts = (struct fp_counts){.function = &s->f};
    s->counts.paths = FP_NEW_ARRAY(arena, struct fp_path_count, s->taken.len);
    uint64_t id, count;
    for (size_t i = 0; fp_table_next(&s->taken, &i, &id, &count);)
        s->counts.paths[s->counts.npaths++] = (struct fp_path_count){id, count, 0};
    if (s->counts.npaths) qsort(s->counts.paths, s->counts.npaths, sizeof *s->counts.paths, by_id);
    CHECK(fp_edges_from_paths(arena, &s->counts, &s->edges, &error));
    s->measured = (struct fp_measured){.function = &s->f, .counts = &s->counts, .edges = &s->edges};
}

/* ---- coverage ---- */

static bool edges_ran(const struct subject *s, const struct fp_path *path)
{
    const struct fp_cfg *cfg = s->f.paths.cfg;
    bool started = path->start == FP_STARTS_AT_ENTRY && s->edges.entries;
    for (uint32_t i = cfg->first_in[path->first_block];
         path->start == FP_STARTS_AT_EDGE && i < cfg->first_in[path->first_block + 1]; i++) {
        uint32_t e = cfg->in_edges[i];
        started |= s->f.paths.truncation->order.fate[e] == FP_FATE_TRUNCATED && s->edges.edges[e];
    }
    if (path->end == FP_ENDS_AS_LAP) return s->edges.edges[path->end_edge];
    for (uint32_t i = 0; i < path->nedges; i++) started &= s->edges.edges[path->edges[i]] != 0;
    if (path->end_edge != FP_NONE) started &= s->edges.edges[path->end_edge] != 0;
    return started && s->edges.blocks[path->last_block];
}

/* Rank over the numbers modulo 2, dense and in the plainest way: a column at a
 * time. all: of every path, else of those taken; laps count 1 each. */
static uint64_t brute_rank(const struct subject *s, bool all)
{
    static uint8_t rows[512][512];
    uint64_t nrows = 0, rank = 0, columns = s->f.paths.dag->nedges;
    for (uint64_t id = 0; id < s->f.paths.numbering->num_ids; id++) {
        struct fp_path path;
        if (!all && !fp_table_find(&s->taken, id)) continue;
        if (id >= s->f.paths.numbering->num_paths) {
            rank++;
            continue;
        }
        CHECK(fp_path_decode(s->arena, s->f.paths.numbering, id, &path));
        uint8_t *row = rows[nrows++];
        for (uint64_t d = 0; d < columns; d++) row[d] = 0;
        row[path.start == FP_STARTS_AT_ENTRY ? s->f.paths.dag->entry_edge : s->f.paths.dag->start_of[path.first_block]] = 1;
        for (uint32_t i = 0; i < path.nedges; i++) row[s->f.paths.dag->of_edge[path.edges[i]]] = 1;
        row[path.end == FP_ENDS_AT_EXIT ? s->f.paths.dag->exit_of[path.last_block]
                                        : s->f.paths.dag->of_edge[path.end_edge]] = 1;
    }
    for (uint64_t column = 0, done = 0; column < columns; column++) {
        uint64_t pivot = done;
        while (pivot < nrows && !rows[pivot][column]) pivot++;
        if (pivot == nrows) continue;
        for (uint64_t d = 0; d < columns; d++) {
            uint8_t keep = rows[pivot][d];
            rows[pivot][d] = rows[done][d];
            rows[done][d] = keep;
        }
        for (uint64_t r = done + 1; r < nrows; r++)
            for (uint64_t d = 0; rows[r][column] && d < columns; d++)
                if (d != column) rows[r][d] ^= rows[done][d];
        for (uint64_t r = done + 1; r < nrows; r++) rows[r][column] = 0;
        done++, rank++;
    }
    return rank;
}

static void check_coverage(const struct subject *s)
{
    struct fp_coverage c;
    fp_coverage_of(&s->measured, &c);
    uint64_t within = 0;
    for (uint64_t id = 0; id < s->f.paths.numbering->num_ids; id++) {
        struct fp_path path;
        CHECK(fp_path_decode(s->arena, s->f.paths.numbering, id, &path));
        within += edges_ran(s, &path);
    }
    CHECK_EQUAL(c.within, within);
    CHECK_EQUAL(c.paths.done, s->taken.len);
    CHECK_EQUAL(c.paths.all, s->f.paths.numbering->num_ids);
    CHECK_EQUAL(c.basis.all, brute_rank(s, true));
    CHECK_EQUAL(c.basis.done, brute_rank(s, false));
    CHECK(c.paths.done <= c.within && c.basis.done <= c.paths.done);
    CHECK(!c.at_least);
}

/* ---- paths never taken ---- */

/* Counts of edges by paths alone: laps are paths apart. */
static double *net_counts(const struct subject *s)
{
    double *net = FP_NEW_ARRAY(s->arena, double, s->f.paths.cfg->nedges);
    for (size_t i = 0; i < s->counts.npaths; i++) {
        struct fp_path path;
        CHECK(fp_path_decode(s->arena, s->f.paths.numbering, s->counts.paths[i].id, &path));
        if (path.end == FP_ENDS_AS_LAP) continue;
        for (uint32_t k = 0; k < path.nedges; k++) net[path.edges[k]] += (double)s->counts.paths[i].count;
        if (path.end_edge != FP_NONE) net[path.end_edge] += (double)s->counts.paths[i].count;
    }
    return net;
}

static double brute_chance(const struct subject *s, const double *net, uint64_t id, uint32_t *idle)
{
    const struct fp_cfg *cfg = s->f.paths.cfg;
    struct fp_path path;
    CHECK(fp_path_decode(s->arena, s->f.paths.numbering, id, &path));
    double chance = 1, flow = (double)s->edges.entries, start = flow;
    if (path.start == FP_STARTS_AT_EDGE) start = 0;
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        if (s->f.paths.truncation->order.fate[e] != FP_FATE_TRUNCATED) continue;
        flow += (double)s->edges.edges[e];
        if (path.start == FP_STARTS_AT_EDGE && cfg->edges[e].dst == path.first_block)
            start += (double)s->edges.edges[e];
    }
    *idle = flow > 0 && start <= 0;
    chance = start;
    for (uint32_t i = 0; i <= path.nedges; i++) {
        uint32_t e = i < path.nedges ? path.edges[i] : path.end_edge;
        if (e == FP_NONE) continue;
        double out = 0;
        for (uint32_t o = cfg->first_out[cfg->edges[e].src]; o < cfg->first_out[cfg->edges[e].src + 1]; o++) {
            uint32_t d = s->f.paths.dag->of_edge[o];
            bool lap_only = d == FP_NONE || (s->f.paths.dag->edges[d].dst != s->f.paths.dag->exit &&
                                             !s->f.paths.numbering->npaths[s->f.paths.dag->edges[d].dst]);
            if (!lap_only) out += net[o];
        }
        if (out > 0 && net[e] <= 0) ++*idle;
        chance *= out > 0 ? net[e] / out : 0;
    }
    return chance;
}

static void check_untaken(const struct subject *s)
{
    size_t found;
    uint64_t total;
    bool gave_up;
    size_t all = s->f.paths.numbering->num_ids;
    struct fp_untaken *list = fp_untaken_find(s->arena, &s->measured, all, 1000000, &found, &total, &gave_up);
    CHECK(!gave_up);
    CHECK_EQUAL(found, total);
    CHECK_EQUAL(found, all - s->taken.len);
    struct fp_table seen;
    const double *net = net_counts(s);
    fp_table_init(&seen, s->arena);
    for (size_t i = 0; i < found; i++) {
        uint32_t idle;
        CHECK(!fp_table_find(&s->taken, list[i].id));
        CHECK(++*fp_table_add(&seen, list[i].id) == 1);
        if (list[i].id >= s->f.paths.numbering->num_paths) continue;
        double expected = brute_chance(s, net, list[i].id, &idle);
        CHECK_EQUAL(list[i].idle, idle);
        CHECK(fabs(list[i].expected - (idle ? 0 : expected)) <= 1e-9 * (1 + expected));
        if (i) CHECK(list[i - 1].expected >= list[i].expected - 1e-9);
    }
}

/* ---- predictions ---- */

static void check_predictions(const struct subject *s)
{
    for (size_t i = 0; i < s->counts.npaths; i++) {
        struct fp_path path;
        struct fp_prediction p;
        uint64_t steps = 0, instructions;
        CHECK(fp_path_decode(s->arena, s->f.paths.numbering, s->counts.paths[i].id, &path));
        fp_predict(&s->f, &s->edges, &path, &p);
        instructions = s->f.source.blocks[path.first_block].instructions;
        bool right = true;
        for (uint32_t k = 0; right && k < path.nedges + (path.end_edge != FP_NONE); k++) {
            uint32_t e = k < path.nedges ? path.edges[k] : path.end_edge;
            uint64_t most = 0;
            for (uint32_t o = 0; o < s->f.paths.cfg->nedges; o++)
                if (s->f.paths.cfg->edges[o].src == s->f.paths.cfg->edges[e].src && s->edges.edges[o] > most)
                    most = s->edges.edges[o];
            right = s->edges.edges[e] == most;
            steps += right;
            if (right && k < path.nedges) instructions += s->f.source.blocks[s->f.paths.cfg->edges[e].dst].instructions;
        }
        CHECK_EQUAL(p.correct, right);
        CHECK_EQUAL(p.edges, steps);
        CHECK_EQUAL(p.instructions, instructions);
    }
}

/* ---- lengths of many paths at once ---- */

static void check_measures(const struct subject *s)
{
    uint64_t n = s->f.paths.numbering->num_ids, count = 0;
    uint64_t *ids = FP_NEW_ARRAY(s->arena, uint64_t, n);
    uint32_t *weights = FP_NEW_ARRAY(s->arena, uint32_t, s->f.paths.cfg->nblocks);
    struct fp_path_measure *out = FP_NEW_ARRAY(s->arena, struct fp_path_measure, n);
    for (uint32_t b = 0; b < s->f.paths.cfg->nblocks; b++) weights[b] = s->f.source.blocks[b].instructions;
    for (uint64_t id = 0; id < n; id++)
        if (random_chance(&rng, 60)) ids[count++] = id;
    fp_measure_paths(s->f.paths.numbering, weights, ids, count, out);
    for (uint64_t i = 0; i < count; i++) {
        struct fp_path path;
        CHECK(fp_path_decode(s->arena, s->f.paths.numbering, ids[i], &path));
        uint32_t weight = weights[path.first_block], branches = 0;
        for (uint32_t k = 0; k < path.nedges; k++) {
            weight += weights[s->f.paths.cfg->edges[path.edges[k]].dst];
            branches += fp_cfg_out_degree(s->f.paths.cfg, s->f.paths.cfg->edges[path.edges[k]].src) > 1;
        }
        if (path.end_edge != FP_NONE)
            branches += fp_cfg_out_degree(s->f.paths.cfg, s->f.paths.cfg->edges[path.end_edge].src) > 1;
        CHECK(out[i].known);
        CHECK_EQUAL(out[i].weight, weight);
        CHECK_EQUAL(out[i].branches, branches);
        CHECK_EQUAL(out[i].at_entry, path.start == FP_STARTS_AT_ENTRY && path.end != FP_ENDS_AS_LAP);
    }
}

/* ---- Welch: the figure by numerical integration of Student's density ---- */

static struct fp_spread sample(const double *values, size_t n)
{
    struct fp_spread s = {.n = (double)n};
    for (size_t i = 0; i < n; i++) {
        s.sum += values[i];
        s.squares += values[i] * values[i];
    }
    return s;
}

static void check_welch(void)
{
    const double a[] = {27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4};
    const double b[] = {27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.5, 32.1};
    const double same[] = {5, 5, 5}, other[] = {6, 6, 6};
    CHECK(fabs(fp_welch(sample(a, 15), sample(b, 15)) - (1 - 0.0068202)) < 1e-6);
    CHECK(fp_welch(sample(same, 3), sample(same, 3)) <= 0);
    CHECK(fp_welch(sample(same, 3), sample(other, 3)) >= 1);
    CHECK(fp_welch(sample(a, 1), sample(b, 15)) < 0);
}

int main(int argc, char **argv)
{
    int graphs = argc > 1 ? atoi(argv[1]) : 3000, used = 0;
    for (int i = 0; i < graphs; i++) {
        struct fp_arena arena = {0};
        struct subject s;
        make_subject(&s, &arena, 3 + random_below(&rng, 18));
        if (s.f.paths.numbering->num_ids <= 400 && s.f.paths.dag->nedges < 500) {
            used++;
            check_coverage(&s);
            check_untaken(&s);
            check_predictions(&s);
            check_measures(&s);
        }
        fp_arena_free(&arena);
    }
    CHECK(used > graphs / 2);
    check_welch();
    return check_summary();
}
