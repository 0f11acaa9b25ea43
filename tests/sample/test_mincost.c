/* Network simplex against successive shortest paths, on random networks. */
#include "check.h"
#include "graph/mincost.h"
#include "random.h"

#include <string.h>

/* Bellman-Ford on the residual network, one augmentation at a time: slow, simple. */
struct oracle {
    uint32_t nnodes;
    struct fp_arc *arcs;
    size_t narcs;
};

static bool shortest(const struct oracle *o, uint32_t source, int64_t *distance, int64_t *via)
{
    for (uint32_t v = 0; v < o->nnodes; v++) distance[v] = INT64_MAX / 4, via[v] = -1;
    distance[source] = 0;
    bool changed = true;
    for (uint32_t round = 0; changed && round <= o->nnodes; round++) {
        changed = false;
        for (size_t i = 0; i < o->narcs; i++) {
            const struct fp_arc *a = &o->arcs[i];
            bool forward = a->flow < a->capacity, backward = a->flow > 0;
            if (forward && distance[a->from] < INT64_MAX / 4 && distance[a->from] + a->cost < distance[a->to])
                distance[a->to] = distance[a->from] + a->cost, via[a->to] = (int64_t)i * 2, changed = true;
            if (backward && distance[a->to] < INT64_MAX / 4 && distance[a->to] - a->cost < distance[a->from])
                distance[a->from] = distance[a->to] - a->cost, via[a->from] = (int64_t)i * 2 + 1, changed = true;
        }
    }
    return true;
}

/* -1 when the supplies cannot be met. */
static int64_t oracle_cost(const struct fp_network *net)
{
    static struct fp_arc arcs[4096];
    static int64_t distance[512], via[512];
    struct oracle o = {net->nnodes + 2, arcs, 0};
    uint32_t source = net->nnodes, sink = net->nnodes + 1;
    int64_t wanted = 0, sent = 0, cost = 0;
    for (size_t i = 0; i < net->arcs.len; i++) arcs[o.narcs] = net->arcs.at[i], arcs[o.narcs++].flow = 0;
    for (uint32_t v = 0; v < net->nnodes; v++) {
        int64_t supply = net->supply[v];
        if (supply > 0) arcs[o.narcs++] = (struct fp_arc){source, v, supply, 0, 0}, wanted += supply;
        if (supply < 0) arcs[o.narcs++] = (struct fp_arc){v, sink, -supply, 0, 0};
    }
    while (sent < wanted && shortest(&o, source, distance, via) && via[sink] >= 0) {
        int64_t amount = INT64_MAX;
        for (uint32_t v = sink; v != source;) {
            struct fp_arc *a = &arcs[via[v] / 2];
            int64_t room = via[v] % 2 ? a->flow : a->capacity - a->flow;
            if (room < amount) amount = room;
            v = via[v] % 2 ? a->to : a->from;
        }
        for (uint32_t v = sink; v != source;) {
            struct fp_arc *a = &arcs[via[v] / 2];
            a->flow += via[v] % 2 ? -amount : amount;
            v = via[v] % 2 ? a->to : a->from;
        }
        sent += amount;
        cost += amount * distance[sink];
    }
    return sent == wanted ? cost : -1;
}

static void random_network(struct fp_network *net, struct fp_arena *arena, uint64_t *random)
{
    uint32_t nodes = 2 + random_below(random, 14), arcs = 1 + random_below(random, 40);
    fp_network_init(net, arena, nodes);
    for (uint32_t i = 0; i < arcs; i++) {
        bool unbounded = random_chance(random, 20);
        fp_network_arc(net, random_below(random, nodes), random_below(random, nodes),
                       unbounded ? FP_UNBOUNDED : random_below(random, 12), random_below(random, 10));
    }
    for (uint32_t i = random_below(random, 5); i > 0; i--) {
        int64_t amount = 1 + random_below(random, 8);
        net->supply[random_below(random, nodes)] += amount;
        net->supply[random_below(random, nodes)] -= amount;
    }
}

/* Large ones, whose tree is deep; the potentials prove the solution optimal. */
static void check_large(uint64_t seed)
{
    struct fp_arena arena = {0};
    struct fp_network net;
    uint64_t random = seed;
    uint32_t nodes = 500 + random_below(&random, 2500);
    fp_network_init(&net, &arena, nodes);
    for (uint32_t v = 0; v < nodes; v++) {
        uint32_t near = v + random_below(&random, 30);
        fp_network_arc(&net, v, (v + 1) % nodes, FP_UNBOUNDED, random_below(&random, 20));
        fp_network_arc(&net, v, near % nodes, random_below(&random, 1000), random_below(&random, 10));
        fp_network_arc(&net, near % nodes, v, random_below(&random, 1000), random_below(&random, 10));
        int64_t amount = random_below(&random, 500);
        net.supply[v] += amount;
        net.supply[random_below(&random, nodes)] -= amount;
    }
    CHECK(fp_network_solve(&net));
    CHECK(fp_network_check(&net));
    fp_arena_free(&arena);
}

int main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000, feasible = 0;
    for (uint64_t seed = 1; seed <= count; seed++) {
        struct fp_arena arena = {0};
        struct fp_network net;
        uint64_t random = seed;
        random_network(&net, &arena, &random);
        int64_t expected = oracle_cost(&net);
        bool solved = fp_network_solve(&net);
        if (solved != (expected >= 0) || (solved && fp_network_cost(&net) != expected))
            fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        CHECK(solved == (expected >= 0));
        if (solved) {
            feasible++;
            CHECK_EQUAL(fp_network_cost(&net), expected);
            CHECK(fp_network_check(&net));
        }
        fp_arena_free(&arena);
    }
    CHECK(feasible > count / 4);
    for (uint64_t seed = 1; seed <= 40; seed++) check_large(seed);
    return check_summary();
}
