/* Inference: what comes out is a flow, whatever goes in; exact weights come out as
 * they are; learning finds the weights that made its data. And how long it takes. */
#include "perf/infer.h"
#include "perf/learn.h"
#include "check.h"
#include "graph/cfg.h"
#include "random.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* A random graph in which every block is reached and reaches the exit. */
static struct fp_cfg *random_cfg(struct fp_arena *arena, uint32_t nblocks, uint64_t *random)
{
    FP_VEC(struct fp_edge) edges = {0};
    for (uint32_t b = 0; b + 1 < nblocks; b++) {
        struct fp_edge on = {b, b + 1, FP_EDGE_NORMAL};
        fp_vec_push(arena, &edges, on);
        if (random_chance(random, 60)) {
            uint32_t span = nblocks < 40 ? nblocks : 40;
            uint32_t low = b > span ? b - span : 0, high = b + span < nblocks ? b + span : nblocks;
            struct fp_edge away = {b, low + random_below(random, high - low), FP_EDGE_NORMAL};
            if (away.dst != b + 1) fp_vec_push(arena, &edges, away);
        }
    }
    return fp_cfg_new(arena, nblocks, edges.at, (uint32_t)edges.len, NULL);
}

/* Blocks visited and edges taken by walks from the entry to the exit. */
static void walk(const struct fp_cfg *cfg, uint64_t *random, unsigned walks, double *blocks, uint64_t *edges)
{
    for (unsigned i = 0; i < walks; i++)
        for (uint32_t b = 0;;) {
            blocks[b]++;
            uint32_t degree = fp_cfg_out_degree(cfg, b);
            if (!degree) break;
            uint32_t e = cfg->first_out[b] + (random_chance(random, 70) ? 0 : random_below(random, degree));
            edges[e]++;
            b = cfg->edges[e].dst;
        }
}

static bool is_flow(const struct fp_cfg *cfg, const struct fp_edge_counts *c)
{
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        uint64_t in = b ? 0 : c->entries, out = 0;
        for (uint32_t i = cfg->first_in[b]; i < cfg->first_in[b + 1]; i++) in += c->edges[cfg->in_edges[i]];
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++) out += c->edges[e];
        if (fp_cfg_out_degree(cfg, b) && in != out) return false;
        if (in != c->blocks[b]) return false;
    }
    return true;
}

static void check_random(uint64_t seed)
{
    struct fp_arena arena = {0};
    uint64_t random = seed;
    struct fp_cfg *cfg = random_cfg(&arena, 2 + random_below(&random, 30), &random);
    double *weights = FP_NEW_ARRAY(&arena, double, cfg->nblocks), *sizes = FP_NEW_ARRAY(&arena, double, cfg->nblocks);
    double *noisy = FP_NEW_ARRAY(&arena, double, cfg->nblocks);
    uint64_t *edges = FP_NEW_ARRAY(&arena, uint64_t, cfg->nedges);
    uint8_t *classes = FP_NEW_ARRAY(&arena, uint8_t, cfg->nblocks);
    walk(cfg, &random, 50, weights, edges);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        sizes[b] = 1 + random_below(&random, 20);
        classes[b] = (uint8_t)random_below(&random, 4);
        noisy[b] = weights[b] * random_below(&random, 300) / 100;
    }
    for (int model = FP_COSTS_LEVIN; model <= FP_COSTS_FOOTPATH; model++) {
        struct fp_inference in = {.cfg = cfg, .weights = weights, .sizes = sizes, .model = (enum fp_cost_model)model};
        struct fp_edge_counts out;
        fp_infer(&arena, &in, &out);
        CHECK(is_flow(cfg, &out));
        /* of several flows with these counts one may have to be connected to the entry */
        for (uint32_t b = 0; b < cfg->nblocks; b++)
            CHECK((double)out.blocks[b] >= weights[b] && (double)out.blocks[b] <= weights[b] + 3);
        in.weights = noisy;
        in.classes = random_chance(&random, 50) ? classes : NULL;
        fp_infer(&arena, &in, &out);
        CHECK(is_flow(cfg, &out));
    }
    fp_arena_free(&arena);
}

/* A loop without samples in front of it is entered all the same. */
static void check_island(void)
{
    struct fp_arena arena = {0};
    struct fp_edge edges[] = {{0, 1, FP_EDGE_NORMAL}, {1, 2, FP_EDGE_NORMAL}, {2, 1, FP_EDGE_NORMAL},
                              {2, 3, FP_EDGE_NORMAL}};
    double weights[] = {0, 1000, 1000, 0}, sizes[] = {3, 3, 3, 3};
    struct fp_cfg *cfg = fp_cfg_new(&arena, 4, edges, 4, NULL);
    struct fp_inference in = {.cfg = cfg, .weights = weights, .sizes = sizes, .model = FP_COSTS_PROFI};
    struct fp_edge_counts out;
    fp_infer(&arena, &in, &out);
    CHECK(is_flow(cfg, &out));
    CHECK_EQUAL(out.entries, 1);
    CHECK(out.blocks[1] >= 1000);
    fp_arena_free(&arena);
}

/* Samples that piled up in one block of a loop are shared out by size. */
static void check_sharing(void)
{
    struct fp_arena arena = {0};
    struct fp_edge edges[] = {{0, 1, FP_EDGE_NORMAL}, {1, 2, FP_EDGE_NORMAL}, {2, 1, FP_EDGE_NORMAL},
                              {2, 3, FP_EDGE_NORMAL}};
    double weights[] = {100, 9000, 1000, 100}, sizes[] = {4, 4, 4, 4};
    struct fp_cfg *cfg = fp_cfg_new(&arena, 4, edges, 4, NULL);
    struct fp_inference in = {.cfg = cfg, .weights = weights, .sizes = sizes, .model = FP_COSTS_FOOTPATH};
    struct fp_edge_counts out;
    fp_infer(&arena, &in, &out);
    CHECK(out.blocks[1] > 4000 && out.blocks[1] < 6000); /* the mean, 5000, up to the steps of the curve */
    fp_arena_free(&arena);
}

static void check_learning(void)
{
    struct fp_arena arena = {0};
    struct fp_training training = {.nevents = 2};
    struct fp_model model;
    struct fp_error error = {0};
    uint64_t random = 7;
    for (int i = 0; i < 2000; i++) {
        double events[2] = {random_below(&random, 1000), random_below(&random, 1000)};
        fp_training_add(&training, &arena, events, 0.9 * events[0] + 0.1 * events[1]);
    }
    if (!fp_learn(&arena, &training, &model, &error)) {
        CHECK(strstr(error.what, "liblinear") != NULL); /* built without it: it says so */
        return;
    }
    CHECK(fabs(model.weights[0] - 0.9) < 0.05);
    CHECK(fabs(model.weights[1] - 0.1) < 0.05);
    CHECK(fabs(model.constant) < 0.05);
    fp_arena_free(&arena);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void measure(uint32_t nblocks)
{
    struct fp_arena arena = {0};
    uint64_t random = 11;
    struct fp_cfg *cfg = random_cfg(&arena, nblocks, &random);
    double *weights = FP_NEW_ARRAY(&arena, double, nblocks), *sizes = FP_NEW_ARRAY(&arena, double, nblocks);
    for (uint32_t b = 0; b < nblocks; b++) {
        sizes[b] = 1 + random_below(&random, 12);
        weights[b] = random_chance(&random, 30) ? 0 : (double)random_below(&random, 1000000);
    }
    for (int model = FP_COSTS_LEVIN; model <= FP_COSTS_FOOTPATH; model++) {
        struct fp_inference in = {.cfg = cfg, .weights = weights, .sizes = sizes, .model = (enum fp_cost_model)model};
        struct fp_edge_counts out;
        double start = now();
        fp_infer(&arena, &in, &out);
        printf("%u blocks, model %d: %.2f s\n", nblocks, model, now() - start);
        CHECK(is_flow(cfg, &out));
    }
    fp_arena_free(&arena);
}

int main(int argc, char **argv)
{
    if (argc > 2 && !strcmp(argv[1], "--measure")) {
        measure((uint32_t)strtoul(argv[2], NULL, 10));
        return check_summary();
    }
    for (uint64_t seed = 1; seed <= 2000; seed++) check_random(seed);
    check_island();
    check_sharing();
    check_learning();
    return check_summary();
}
