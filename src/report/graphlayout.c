/* Layout by Graphviz's dot: see layout.h. */
#include "report/graphlayout.h"

#include <graphviz/gvc.h>
#include <math.h>
#include <stdio.h>

struct svg_drawing {
    struct fp_arena *arena;
    const struct fp_function *f;
    struct fp_drawing *layout;
    Agraph_t *graph;
    Agnode_t **nodes;
    Agedge_t **edges;
};

static void set(void *object, const char *name, const char *value)
{
    agsafeset(object, (char *)name, (char *)value, (char *)"");
}

static void set_up(struct svg_drawing *d)
{
    char size[32];
    d->graph = agopen((char *)"g", Agdirected, NULL);
    set(d->graph, "nodesep", "0.22");
    set(d->graph, "ranksep", "0.34");
    set(d->graph, "nslimit", "4"); /* bounds the two slow phases; good enough from there on */
    set(d->graph, "nslimit1", "4");
    agattr(d->graph, AGNODE, (char *)"shape", (char *)"box");
    agattr(d->graph, AGNODE, (char *)"label", (char *)"");
    agattr(d->graph, AGNODE, (char *)"fixedsize", (char *)"true");
    snprintf(size, sizeof size, "%.3f", FP_LAYOUT_NODE_WIDTH / 72.0);
    agattr(d->graph, AGNODE, (char *)"width", size);
    snprintf(size, sizeof size, "%.3f", FP_LAYOUT_NODE_HEIGHT / 72.0);
    agattr(d->graph, AGNODE, (char *)"height", size);
}

static void add_all(struct svg_drawing *d)
{
    const struct fp_cfg *cfg = d->f->paths.cfg;
    char name[16];
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        if (d->f->paths.truncation->order.position[b] == FP_NONE) continue;
        snprintf(name, sizeof name, "%u", b);
        d->nodes[b] = agnode(d->graph, name, 1);
    }
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        Agnode_t *from = d->nodes[cfg->edges[e].src], *to = d->nodes[cfg->edges[e].dst];
        if (!from || !to || d->f->paths.truncation->order.fate[e] == FP_FATE_DEAD) continue;
        snprintf(name, sizeof name, "e%u", e);
        d->edges[e] = agedge(d->graph, from, to, name, 1);
    }
}

static struct fp_layout_point place(const struct svg_drawing *d, pointf p)
{
    return (struct fp_layout_point){(int)lround(p.x), d->layout->height - (int)lround(p.y)};
}

/* A curve, and its arrow head's end as one more point; an edge that Graphviz draws
 * backwards comes from the other end. */
static void take_edge(struct svg_drawing *d, uint32_t e)
{
    const splines *spline = d->edges[e] ? ED_spl(d->edges[e]) : NULL;
    if (!spline || !spline->size) return;
    const bezier *curve = &spline->list[0];
    bool tip = curve->eflag;
    d->layout->npoints[e] = (uint32_t)curve->size + tip;
    d->layout->edges[e] = FP_NEW_ARRAY(d->arena, struct fp_layout_point, d->layout->npoints[e]);
    for (size_t i = 0; i < (size_t)curve->size; i++)
        d->layout->edges[e][i] = place(d, curve->list[i]);
    if (tip) d->layout->edges[e][curve->size] = place(d, curve->ep);
}

static void take_all(struct svg_drawing *d)
{
    const struct fp_cfg *cfg = d->f->paths.cfg;
    d->layout->width = (int)ceil(GD_bb(d->graph).UR.x);
    d->layout->height = (int)ceil(GD_bb(d->graph).UR.y);
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        d->layout->blocks[b] =
            d->nodes[b] ? place(d, ND_coord(d->nodes[b])) : (struct fp_layout_point){-1, -1};
    for (uint32_t e = 0; e < cfg->nedges; e++) take_edge(d, e);
}

bool fp_layout_function(struct fp_arena *arena, const struct fp_function *f,
                        struct fp_drawing *layout, struct fp_error *error)
{
    static GVC_t *context; /* costly to set up, and not meant to be torn down often */
    struct fp_arena scratch = {0};
    struct svg_drawing d = {.arena = arena, .f = f, .layout = layout};
    if (!context) {
        context = gvContext();
        agseterr(AGMAX);
    }
    layout->blocks = FP_NEW_ARRAY(arena, struct fp_layout_point, f->paths.cfg->nblocks);
    layout->edges = FP_NEW_ARRAY(arena, struct fp_layout_point *, f->paths.cfg->nedges);
    layout->npoints = FP_NEW_ARRAY(arena, uint32_t, f->paths.cfg->nedges);
    d.nodes = FP_NEW_ARRAY(&scratch, Agnode_t *, f->paths.cfg->nblocks);
    d.edges = FP_NEW_ARRAY(&scratch, Agedge_t *, f->paths.cfg->nedges);
    set_up(&d);
    add_all(&d);
    bool ok = gvLayout(context, d.graph, "dot") == 0;
    if (ok) take_all(&d);
    gvFreeLayout(context, d.graph);
    agclose(d.graph);
    fp_arena_free(&scratch);
    return ok || fp_fail(error, f->name, "Graphviz could not lay out the graph");
}
