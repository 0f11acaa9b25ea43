/* The flame graph's frames, for the report's page: see siteparts.h and docs/formats/report.md.
 *
 * A frame is a function as called along one chain of callers. Its cost is the part of the
 * function's inclusive cost that the call graph gives to this chain, so it is an estimate as those
 * are. Calls that close a circle of recursion cost nothing and have no frame: the chains end.
 *
 * A program has more chains than a page can hold. Frames below a share of the whole are folded into
 * one per caller; the share grows until the frames are few enough.
 */
#include "report/siteparts.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FRAMES = 4000, MOST_DEPTH = 250 };
static const double SMALLEST_SHARE = 0.0005;

enum { FRAME_ALL = -1, FRAME_FOLDED = -2, FRAME_ELSEWHERE = -3 };

struct flame_frame {
    uint32_t parent;
    uint32_t function; /* of the whole report; FP_NONE: `folded` functions */
    size_t folded;
    double cost, own;
};

struct flame {
    const struct fp_site_calls *calls;
    struct fp_arena arena;
    double least; /* frames below are folded */
    FP_VEC(struct flame_frame) frames;
};

/* A callee, or a function that is called from elsewhere, and its cost in a frame. */
struct flame_part {
    uint32_t function;
    double cost;
};

static int by_cost(const void *x, const void *y)
{
    const struct flame_part *a = x, *b = y;
    if (a->cost != b->cost) return a->cost < b->cost ? 1 : -1;
    return (a->function > b->function) - (a->function < b->function);
}

static void add_function(struct flame *fl, uint32_t parent, struct flame_part part, unsigned depth);

/* The frames above one frame: each large one, and one for all small ones. */
static void add_parts(struct flame *fl, uint32_t parent, struct flame_part *parts, size_t n,
                      unsigned depth)
{
    struct flame_frame rest = {.parent = parent, .function = FP_NONE};
    if (n) qsort(parts, n, sizeof *parts, by_cost);
    for (size_t i = 0; i < n && fl->frames.len <= MOST_FRAMES; i++) {
        if (parts[i].cost >= fl->least && depth < MOST_DEPTH) {
            add_function(fl, parent, parts[i], depth + 1);
        } else if (parts[i].cost > 0) {
            rest.cost += parts[i].cost;
            rest.folded++;
        }
    }
    if (rest.cost >= fl->least) fp_vec_push(&fl->arena, &fl->frames, rest);
}

static void add_function(struct flame *fl, uint32_t parent, struct flame_part part, unsigned depth)
{
    const struct fp_call_graph *g = &fl->calls->graph;
    uint32_t f = part.function, me = (uint32_t)fl->frames.len;
    size_t first = g->first_out[f], n = g->first_out[f + 1] - first, nparts = 0;
    double scale = g->inclusive[f] > 0 ? part.cost / g->inclusive[f] : 0, below = 0;
    struct flame_part *parts = FP_NEW_ARRAY(&fl->arena, struct flame_part, n);
    for (size_t i = 0; i < n; i++) {
        const struct fp_call_edge *edge = &g->edges[first + i];
        if (edge->callee == FP_NONE || edge->recursive) continue;
        parts[nparts++] = (struct flame_part){edge->callee, edge->cost * scale};
        below += edge->cost * scale;
    }
    /* Measured inclusive costs need not add up. */
    for (size_t i = 0; below > part.cost && i < nparts; i++) parts[i].cost *= part.cost / below;
    struct flame_frame frame = {parent, f, 0, part.cost, below < part.cost ? part.cost - below : 0};
    fp_vec_push(&fl->arena, &fl->frames, frame);
    add_parts(fl, me, parts, nparts, depth);
}

/* Where calls were measured, what is called through pointers is in its caller's frame, too, as cost
 * of no function above it. The roots then are more than the whole program: all but main() are made
 * smaller. */
static void scale_roots(const struct flame *fl, struct flame_part *roots, size_t n, double *sum)
{
    const struct fp_report *report = fl->calls->report;
    double main_cost = 0;
    if (report->inclusive || *sum <= report->cost * (1 + 1e-9)) return;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(report->functions[roots[i].function].function->name, "main"))
            main_cost += roots[i].cost;
    double room = report->cost > main_cost ? report->cost - main_cost : 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(report->functions[roots[i].function].function->name, "main"))
            roots[i].cost *= room / (*sum - main_cost);
    *sum = main_cost + room;
}

/* Functions that nobody in the graph calls, for the part of their cost that has no caller. */
static void add_roots(struct flame *fl)
{
    const struct fp_call_graph *g = &fl->calls->graph;
    size_t n = fl->calls->report->nfunctions, nroots = 0;
    struct flame_part *roots = FP_NEW_ARRAY(&fl->arena, struct flame_part, n);
    struct flame_frame all = {.parent = FP_NONE, .function = FP_NONE};
    for (uint32_t f = 0; f < n; f++) {
        double rest = g->inclusive[f];
        for (size_t k = g->first_in[f]; k < g->first_in[f + 1]; k++)
            rest -= g->edges[g->by_callee[k]].cost;
        if (rest <= 1e-9 * g->inclusive[f]) continue;
        roots[nroots++] = (struct flame_part){f, rest};
        all.cost += rest;
    }
    scale_roots(fl, roots, nroots, &all.cost);
    fp_vec_push(&fl->arena, &fl->frames, all);
    if (fl->least < all.cost * SMALLEST_SHARE) fl->least = all.cost * SMALLEST_SHARE;
    add_parts(fl, 0, roots, nroots, 0);
}

static void json_frame(struct fp_json *j, const struct fp_site_calls *c,
                       const struct flame_frame *frame)
{
    bool known = frame->function != FP_NONE;
    uint32_t shown = known ? c->shown[frame->function] : FP_NONE;
    fp_json_begin(j, '[');
    fp_json_int(j, frame->parent == FP_NONE ? -1 : (int64_t)frame->parent);
    fp_json_int(j, shown != FP_NONE           ? (int64_t)shown
                   : known                    ? FRAME_ELSEWHERE
                   : frame->parent == FP_NONE ? FRAME_ALL
                                              : FRAME_FOLDED);
    if (known && shown == FP_NONE)
        fp_json_string(j, c->report->functions[frame->function].name);
    else
        fp_json_uint(j, frame->folded);
    fp_json_double(j, frame->cost);
    fp_json_double(j, frame->own);
    fp_json_end(j, ']');
}

void fp_site_json_flame(struct fp_json *j, struct fp_pages *site)
{
    struct flame fl = {.calls = &site->calls};
    double least = 0;
    do {
        fp_arena_free(&fl.arena);
        fl = (struct flame){.calls = &site->calls, .least = least};
        add_roots(&fl);
        least = fl.least * 2;
    } while (fl.frames.len > MOST_FRAMES);
    fp_json_begin(j, '[');
    for (size_t i = 0; i < fl.frames.len; i++) json_frame(j, &site->calls, &fl.frames.at[i]);
    fp_json_end(j, ']');
    fp_arena_free(&fl.arena);
}
