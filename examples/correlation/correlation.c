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

static int is_branch(const struct footpath_function *f, uint32_t block)
{
    int ways = 0;
    for (uint32_t e = 0; e < f->nedges; e++) ways += f->edges[e].from == block;
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
static int way(const struct footpath_function *f, uint32_t edge)
{
    return edge > 0 && f->edges[edge - 1].from == f->edges[edge].from;
}

static void fill(struct footpath *fp, size_t index, uint32_t earlier, uint32_t later,
                 struct table *t)
{
    const struct footpath_function *f = footpath_function(fp, index);
    for (size_t k = 0; k < f->npaths; k++) {
        struct footpath_path p;
        int first = -1, second = -1;
        if (footpath_path(fp, index, k, &p) < 0) continue;
        for (uint32_t i = 0; i < p.nblocks; i++) {
            uint32_t edge = i + 1 < p.nblocks ? p.edges[i] : p.end_edge;
            if (edge == FOOTPATH_NONE) continue;
            if (p.blocks[i] == earlier) first = way(f, edge);
            if (p.blocks[i] == later && first >= 0) second = way(f, edge);
        }
        if (first >= 0 && second >= 0) t->cell[first][second] += p.count;
    }
}

static void show_pair(struct footpath *fp, size_t index, uint32_t earlier, uint32_t later)
{
    const struct footpath_function *f = footpath_function(fp, index);
    struct table t = {{{0}}};
    fill(fp, index, earlier, later, &t);
    uint64_t alone = rarer(t.cell[0][0] + t.cell[1][0], t.cell[0][1] + t.cell[1][1]);
    uint64_t knowing = rarer(t.cell[0][0], t.cell[0][1]) + rarer(t.cell[1][0], t.cell[1][1]);
    if (alone - knowing <= f->blocks[later].count / LEAST_SHARE) return;
    printf("%s: line %u follows line %u: %" PRIu64 " of %" PRIu64 " go the rarer way, %" PRIu64
           " when it is known\n",
           f->name, f->blocks[later].line, f->blocks[earlier].line, alone, f->blocks[later].count,
           knowing);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: correlation PROFILE...\n");
        return 2;
    }
    struct footpath_options options = {.profiles = (const char *const *)argv + 1};
    struct footpath *fp = footpath_open(&options);
    if (footpath_error(fp)) {
        fprintf(stderr, "correlation: %s\n", footpath_error(fp));
        return 1;
    }
    for (size_t i = 0; i < footpath_functions(fp) && i < FUNCTIONS; i++) {
        const struct footpath_function *f = footpath_function(fp, i);
        for (uint32_t later = 0; later < f->nblocks; later++)
            for (uint32_t earlier = 0; is_branch(f, later) && earlier < later; earlier++)
                if (is_branch(f, earlier)) show_pair(fp, i, earlier, later);
    }
    footpath_close(fp);
    return 0;
}
