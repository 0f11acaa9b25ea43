/* The predictor of bench/tage on traces whose mispredictions are known: what a history
 * predictor must see (a loop's count, a branch that repeats another, the order of targets, the
 * way back from a call) and what none can (random branches). */
#include "check.h"
#include "predictor.h"

enum { ROUNDS = 200000 };
static uint64_t state;

static uint32_t draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33);
}

/* Fails unless the mispredictions per `of` branches, in percent, lie within. */
static void check(const char *what, uint64_t wrong, uint64_t of, double least, double most)
{
    double percent = 100.0 * (double)wrong / (double)of;
    bool right = percent >= least && percent <= most;
    printf("%s: %.3f%% of %llu mispredicted, expected %.3f..%.3f%%\n", what, percent,
           (unsigned long long)of, least, most);
    CHECK(right);
}

static bool conditional(struct tage *t, uint64_t at, bool taken)
{
    return tage_branch(t, &(struct tage_branch){.kind = TAGE_CONDITIONAL,
                                                .taken = taken,
                                                .at = at,
                                                .target = taken ? at + 64 : at + 2});
}

static bool indirect(struct tage *t, uint64_t at, uint64_t target)
{
    return tage_branch(
        t, &(struct tage_branch){.kind = TAGE_INDIRECT, .taken = true, .at = at, .target = target});
}

/* A counter of two bits mispredicts one of `count`; the history shows the last iteration. */
static void loop_of(struct tage *t, unsigned count, double most)
{
    uint64_t wrong = 0;
    for (unsigned i = 0; i < ROUNDS; i++) wrong += conditional(t, 0x401000, i % count != count - 1);
    char what[64];
    snprintf(what, sizeof what, "a loop that goes round %u times", count);
    check(what, wrong, ROUNDS, 0, most);
}

static void correlated(struct tage *t)
{
    uint64_t first = 0, second = 0;
    for (int i = 0; i < ROUNDS; i++) {
        bool way = draw() & 1;
        first += conditional(t, 0x401100, way);
        conditional(t, 0x401140, true);
        second += conditional(t, 0x401180, way);
    }
    check("a random branch", first, ROUNDS, 48, 52);
    check("a branch that repeats it", second, ROUNDS, 0, 1);
}

static void biased(struct tage *t)
{
    uint64_t wrong = 0;
    for (int i = 0; i < ROUNDS; i++) wrong += conditional(t, 0x401200, draw() % 10 != 0);
    check("a branch taken at random 9 times of 10", wrong, ROUNDS, 9, 14);
}

/* The dispatch of an interpreter: one jump, or one for each operation. */
static void dispatch(struct tage *t, bool replicated, double most)
{
    static const uint8_t program[] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5,
                                      8, 9, 7, 9, 3, 2, 3, 8, 4, 6};
    uint64_t wrong = 0, last = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint64_t target = 0x402000 + 0x100u * program[i % sizeof program];
        wrong += indirect(t, replicated ? last + 0x20 : 0x401fff, target);
        last = target;
    }
    check(replicated ? "a jump behind each operation" : "one jump for all operations", wrong,
          ROUNDS, 0, most);
}

static void random_targets(struct tage *t)
{
    uint64_t wrong = 0;
    for (int i = 0; i < ROUNDS; i++)
        wrong += indirect(t, 0x403000, 0x404000 + 0x40 * (uint64_t)(draw() % 4));
    check("one of four targets at random", wrong, ROUNDS, 73, 77);
}

static void calls(struct tage *t, unsigned depth, double least, double most)
{
    uint64_t wrong = 0, all = 0;
    for (unsigned round = 0; round < 1000; round++) {
        unsigned deep = 1 + draw() % depth;
        for (unsigned i = 0; i < deep; i++)
            tage_branch(t, &(struct tage_branch){.kind = TAGE_DIRECT,
                                                 .taken = true,
                                                 .at = 0x405000 + i * 16,
                                                 .target = 0x406000,
                                                 .behind = 0x405005 + i * 16});
        for (unsigned i = deep; i-- > 0; all++)
            wrong += tage_branch(t, &(struct tage_branch){.kind = TAGE_RETURN,
                                                          .taken = true,
                                                          .at = 0x406010,
                                                          .target = 0x405005 + i * 16});
    }
    char what[64];
    snprintf(what, sizeof what, "returns from up to %u calls", depth);
    check(what, wrong, all, least, most);
}

static void with_new(void (*test)(struct tage *))
{
    struct tage *t = tage_new();
    if (!t) abort();
    state = 1;
    test(t);
    tage_free(t);
}

static void loops(struct tage *t)
{
    loop_of(t, 37, 0.1);
}
static void long_loops(struct tage *t)
{
    loop_of(t, 300, 0.1);
}
/* longer than all histories: one of 1,000 */
static void longest_loops(struct tage *t)
{
    loop_of(t, 1000, 0.25);
}
static void one_jump(struct tage *t)
{
    dispatch(t, false, 0.2);
}
static void many_jumps(struct tage *t)
{
    dispatch(t, true, 0.2);
}
static void shallow(struct tage *t)
{
    calls(t, 32, 0, 0);
}
static void deep(struct tage *t)
{
    calls(t, 64, 10, 40);
}

int main(void)
{
    void (*tests[])(struct tage *) = {loops,    long_loops, longest_loops,  correlated, biased,
                                      one_jump, many_jumps, random_targets, shallow,    deep};
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) with_new(tests[i]);
    return check_summary();
}
