/* Inference: what comes out is a flow, whatever goes in; exact weights come out as
 * they are; stalls do not count; calls are weighed; instructions take their times;
 * learning finds the weights that made its data.
 * And how long it takes. */
#include "perf/classify.h"
#include "perf/infer.h"
#include "perf/learn.h"
#include "perf/robustsamples.h"
#include "perf/sampledobject.h"
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

/* A function of blocks in a row, each of `size` plain instructions; the last one returns. */
static struct fp_machine_function row_of_blocks(struct fp_arena *arena, uint32_t nblocks, uint32_t size)
{
    struct fp_machine_function f = {.hub = FP_NONE, .tail = FP_NONE};
    FP_VEC(struct fp_edge) edges = {0};
    f.blocks = FP_NEW_ARRAY(arena, struct fp_machine_block, nblocks);
    for (uint32_t b = 0; b < nblocks; b++) {
        f.blocks[b] = (struct fp_machine_block){b * size, size};
        for (uint32_t i = 0; i < size; i++) {
            struct fp_insn insn = {.address = 0x1000 + b * size + i, .block = b, .length = 1};
            fp_vec_push(arena, &f.insns, insn);
        }
        struct fp_edge on = {b, b + 1, FP_EDGE_NORMAL};
        if (b + 1 < nblocks) fp_vec_push(arena, &edges, on);
    }
    f.cfg = fp_cfg_new(arena, nblocks, edges.at, (uint32_t)edges.len, NULL);
    return f;
}

/* One instruction that waited has no more than its neighbours let expect. */
static void check_stall(void)
{
    struct fp_arena arena = {0};
    struct fp_machine_function f = row_of_blocks(&arena, 1, 20);
    double even[20], stalled[20];
    for (int i = 0; i < 20; i++) even[i] = stalled[i] = 100;
    stalled[7] = 50000;
    CHECK(fabs(fp_capped_samples(fp_fitted(false), &f, 0, even) - 2000) < 1e-6);
    double capped = fp_capped_samples(fp_fitted(false), &f, 0, stalled);
    CHECK(capped >= 2000 && capped < 4000);
    CHECK(fabs(fp_clipped_samples(fp_fitted(false), &f, 0, even, 100, 1) - 2000) < 1e-6);
    CHECK(fp_clipped_samples(fp_fitted(false), &f, 0, stalled, 100, 1) < 4000);
    CHECK(fp_sample_trust(fp_fitted(false), 1000, 1000, 1) > 0.999);
    CHECK(fp_sample_trust(fp_fitted(false), 8000, 1000, 1) < fp_sample_trust(fp_fitted(false), 125, 1000, 1));
    CHECK(fp_sample_trust(fp_fitted(false), 8000, 1000, 1) > 0);
    fp_arena_free(&arena);
}

/* Two functions, of which one calls the other: samples that a stall adds to the callee alone are
 * weighed against those of the caller. */
static void check_calls(void)
{
    struct fp_arena arena = {0};
    static struct fp_object_symbol symbols[] = {{.address = 0x1000, .size = 60, .name = "caller"},
                                                {.address = 0x2000, .size = 60, .name = "callee"}};
    struct fp_machine_function functions[2];
    struct fp_machine machine = {.arena = &arena, .functions = functions, .nfunctions = 2};
    struct fp_sampled_object o = {.machine = &machine, .model = FP_COSTS_FOOTPATH, .by = FP_BY_TIME, .period = 1};
    uint64_t entries[2][2]; /* with calls, by function */
    for (int with = 0; with < 2; with++) {
        machine.spans.len = o.functions.len = 0;
        for (uint32_t i = 0; i < 2; i++) {
            functions[i] = row_of_blocks(&arena, 3, 20);
            functions[i].symbol = &symbols[i];
            struct fp_machine_span span = {symbols[i].address, symbols[i].size, i};
            fp_vec_push(&arena, &machine.spans, span);
            struct fp_sampled_function s = {.f = &functions[i]};
            double *blocks = FP_NEW_ARRAY(&arena, double, 3), *insns = FP_NEW_ARRAY(&arena, double, 60);
            for (uint32_t k = 0; k < 60; k++) insns[k] = i ? 9000 : 1000, blocks[k / 20] += insns[k];
            s.samples = blocks;
            s.insns = insns;
            s.waits = FP_NEW_ARRAY(&arena, double, 60);
            fp_vec_push(&arena, &o.functions, s);
        }
        functions[0].insns.at[30].kind = FP_INSN_CALL;
        functions[0].insns.at[30].target = with ? 0x2000 : 0;
        fp_sampled_infer(&arena, &o);
        for (uint32_t i = 0; i < 2; i++) {
            CHECK(is_flow(functions[i].cfg, &o.functions.at[i].counts));
            entries[with][i] = o.functions.at[i].counts.entries;
        }
    }
    CHECK(entries[0][1] > 7 * entries[0][0]);
    CHECK(entries[1][1] < 4 * entries[1][0]);
    CHECK(entries[1][1] >= entries[1][0]);
    fp_arena_free(&arena);
}

/* Only arithmetic of floats takes the time of floats, and every form of division that of a division. */
static void check_vectors(void)
{
    enum { NONE = 0, FLOATS = FP_INSN_FLOATS, SLOW = FP_INSN_FLOATS | FP_INSN_FLOAT_DIVIDES };
    static const struct {
        const char *name;
        unsigned char bytes[6];
        unsigned flags;
    } known[] = {
        {"paddd", {0x66, 0x0f, 0xfe, 0xc1}, NONE},         {"pabsd", {0x66, 0x0f, 0x38, 0x1e, 0xc1}, NONE},
        {"shufps", {0x0f, 0xc6, 0xc1, 0x01}, NONE},        {"movaps", {0x0f, 0x28, 0xc1}, NONE},
        {"vpaddd", {0xc5, 0xed, 0xfe, 0xc1}, NONE},        {"mulps", {0x0f, 0x59, 0xc1}, FLOATS},
        {"ucomisd", {0x66, 0x0f, 0x2e, 0xc1}, FLOATS},     {"vaddps", {0xc5, 0xec, 0x58, 0xc1}, FLOATS},
        {"fadd", {0xd8, 0xc1}, FLOATS},                    {"divss", {0xf3, 0x0f, 0x5e, 0xc1}, SLOW},
        {"divsd", {0xf2, 0x0f, 0x5e, 0xc1}, SLOW},         {"sqrtps", {0x0f, 0x51, 0xc1}, SLOW},
        {"fdiv", {0xd8, 0xf1}, SLOW},
    };
    struct fp_arena arena = {0};
    struct fp_machine_function row = row_of_blocks(&arena, 1, 8);
    double *waits = FP_NEW_ARRAY(&arena, double, 8);
    double plain = fp_block_size(&row, 0, FP_BY_TIME, fp_fitted(false), waits);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct fp_insn insn;
        CHECK(fp_insn_decode(known[i].bytes, sizeof known[i].bytes, 0x1000, &insn) > 1);
        CHECK_EQUAL(insn.flags & SLOW, known[i].flags);
        for (uint32_t k = 0; k < 8; k++) row.insns.at[k].flags = insn.flags;
        double size = fp_block_size(&row, 0, FP_BY_TIME, fp_fitted(false), waits);
        if (known[i].flags == NONE)
            CHECK(size == plain);
        else
            CHECK(known[i].flags == SLOW ? size > 8 * 10 : size > plain && size < plain + 8);
    }
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
        double scale = i < 1000 ? 1 : 50; /* another program, which ran for longer */
        if (i == 1000) fp_training_scale(&training);
        fp_training_add(&training, &arena, events, scale * (0.9 * events[0] + 0.1 * events[1]));
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

/* The rules of paper 003, section 4.2, on the lines of its Figure 2, and where they decide nothing. */
static void check_classes(void)
{
    struct fp_block_events stalls = {1, 68551, 340252, 300.0 * 1047, 100, 100};
    struct fp_block_events shadowed = {5, 38 + 105 + 13 + 7 + 3, 29000, 0, 100, 100};
    struct fp_block_events plain = {3, 6124, 17695, 0, 100, 100}, few = {5, 166, 29000, 0, 3, 3};
    struct fp_block_events slow = {4, 4000, 9000, 5200, 100, 100};
    CHECK_EQUAL(fp_classify(&stalls), FP_CLASS_OVER);
    CHECK_EQUAL(fp_classify(&shadowed), FP_CLASS_UNDER);
    CHECK_EQUAL(fp_classify(&few), FP_CLASS_TRUSTED);
    CHECK_EQUAL(fp_classify(&slow), FP_CLASS_OVER);
    slow.stalled = 4000; /* accounts for most of the difference, but not for half of the cycles */
    CHECK_EQUAL(fp_classify(&slow), FP_CLASS_TRUSTED);
    /* what a block's count is: 2 cycles more per execution than instructions are too many */
    CHECK_EQUAL(fp_classify(&plain), FP_CLASS_UNDER);
    plain.cycles = 6124 + 2 * 6124.0 / 3;
    CHECK_EQUAL(fp_classify(&plain), FP_CLASS_TRUSTED);
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
    check_classes();
    check_sharing();
    check_stall();
    check_calls();
    check_vectors();
    check_learning();
    return check_summary();
}
