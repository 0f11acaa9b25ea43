/* What a later optimisation would ask: which branches follow from earlier ones?
 *
 *     cc correlation.c $(pkg-config --cflags --libs footpath) -o correlation
 *     ./correlation footpath.prof
 *
 * For each branch of the hottest functions and each earlier branch on the same paths:
 * how many executions go the rarer way, and how many still do when it is known which
 * way the earlier branch went. A profile of edges cannot tell the two apart.
 */
#include <footpath/footpath.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FUNCTIONS = 5, LEAST_SHARE = 100 };

static int is_branch(struct footpath *fp, const struct footpath_function *f, uint32_t block)
{
    const struct footpath_edge *edges = footpath_edges(fp, f);
    int ways = 0;
    for (uint32_t e = 0; e < f->nedges; e++) ways += edges[e].from == block;
    return ways == 2;
}

/* counts[earlier][later] for the first way of each: both, earlier only, later only, none */
struct table {
    uint64_t cell[2][2];
};

static uint64_t rarer(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Which of the two ways out of its block is an edge? */
static int way(const struct footpath_edge *edges, uint32_t edge)
{
    return edge > 0 && edges[edge - 1].from == edges[edge].from;
}

static void fill(struct footpath *fp, const struct footpath_function *f, uint32_t earlier,
                 uint32_t later, struct table *t)
{
    const struct footpath_edge *edges = footpath_edges(fp, f);
    size_t npaths;
    const struct footpath_path *const *paths = footpath_paths(fp, f, &npaths);
    for (size_t k = 0; k < npaths; k++) {
        struct footpath_route route;
        int first = -1, second = -1;
        if (!footpath_decode(fp, paths[k], &route)) continue;
        for (uint32_t i = 0; i < route.nblocks; i++) {
            uint32_t edge = i + 1 < route.nblocks ? route.edges[i] : route.end_edge;
            if (edge == FOOTPATH_NONE) continue;
            if (route.blocks[i] == earlier) first = way(edges, edge);
            if (route.blocks[i] == later && first >= 0) second = way(edges, edge);
        }
        if (first >= 0 && second >= 0) t->cell[first][second] += paths[k]->count;
    }
}

static void show_pair(struct footpath *fp, const struct footpath_function *f, uint32_t earlier,
                      uint32_t later)
{
    const struct footpath_block *blocks = footpath_blocks(fp, f);
    struct table t = {{{0}}};
    fill(fp, f, earlier, later, &t);
    uint64_t alone = rarer(t.cell[0][0] + t.cell[1][0], t.cell[0][1] + t.cell[1][1]);
    uint64_t knowing = rarer(t.cell[0][0], t.cell[0][1]) + rarer(t.cell[1][0], t.cell[1][1]);
    if (alone - knowing <= blocks[later].count / LEAST_SHARE) return;
    printf("%s: line %u follows line %u: %" PRIu64 " of %" PRIu64 " go the rarer way, %" PRIu64
           " when it is known\n",
           footpath_name(fp, f), blocks[later].last.line, blocks[earlier].last.line, alone,
           blocks[later].count, knowing);
}

static void show_function(struct footpath *fp, const struct footpath_function *f)
{
    if (!footpath_edges(fp, f)) return; /* not measured */
    for (uint32_t later = 0; later < f->nblocks; later++)
        for (uint32_t earlier = 0; is_branch(fp, f, later) && earlier < later; earlier++)
            if (is_branch(fp, f, earlier)) show_pair(fp, f, earlier, later);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: correlation PROFILE...\n");
        return 2;
    }
    struct footpath_options options = {.profiles = (const char *const *)argv + 1};
    struct footpath *fp = footpath_open(&options);
    size_t count, nwarnings;
    const struct footpath_warning *warnings = footpath_warnings(fp, &nwarnings);
    for (size_t i = 0; i < nwarnings; i++)
        fprintf(stderr, "correlation: %s\n", warnings[i].message);
    if (footpath_status(fp) != FOOTPATH_OPENED)
        fprintf(stderr, "correlation: %s\n", footpath_error(fp));
    const struct footpath_function *functions = footpath_functions(fp, &count);
    for (size_t i = 0; i < count && i < FUNCTIONS; i++) show_function(fp, &functions[i]);
    int failed = footpath_status(fp) != FOOTPATH_OPENED;
    footpath_close(fp);
    return failed;
}
