/* Dot output: see dot.h. */
#include "report/dot.h"

#include "model/sentence.h"

#include <graphviz/gvc.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct dot_drawing {
    struct fp_writer *out;
    const struct fp_function *f;
    const struct fp_edge_counts *counts;
    const struct fp_dot_options *options;
    const struct fp_plan *plan;
    struct fp_arena arena;
    uint64_t most; /* largest count of an edge */
};

/* In a quoted string of dot: plain, with quotes and backslashes escaped. */
static void say_quoted(struct fp_writer *out, const char *text)
{
    struct fp_arena scratch = {0};
    for (const char *c = fp_plain(&scratch, text); *c; c++) {
        if (*c == '"' || *c == '\\') fp_write_u8(out, '\\');
        fp_write_u8(out, (uint8_t)*c);
    }
    fp_arena_free(&scratch);
}

static void say_lines(struct dot_drawing *d, uint32_t b)
{
    const struct fp_block_info *info = &d->f->source.blocks[b];
    uint64_t address = fp_block_place(d->f, b, false).address;
    if (!info->npositions && address) fp_say(d->out, "\\n0x%" PRIx64, address);
    if (!info->npositions) return;
    const struct fp_position *first = &d->f->source.positions[info->first_position];
    const struct fp_position *last = first + info->npositions - 1;
    const char *file = d->f->source.scopes[first->scope].file;
    fp_say(d->out, "\\n");
    if (strcmp(file, d->f->file)) {
        say_quoted(d->out, fp_base_name(file));
        fp_say(d->out, ":");
    }
    fp_say(d->out, "%u", first->line);
    if (last->line != first->line && last->scope == first->scope) fp_say(d->out, "-%u", last->line);
}

static void say_op(struct dot_drawing *d, struct fp_op op)
{
    switch (op.kind) {
    case FP_OP_NONE: return;
    case FP_OP_SET: fp_say(d->out, "\\nr=%" PRId64, op.value); return;
    case FP_OP_ADD: fp_say(d->out, "\\nr+=%" PRId64, op.value); return;
    case FP_OP_COUNT: fp_say(d->out, "\\ncount[%" PRId64 "]++", op.value); return;
    case FP_OP_COUNT_REG: fp_say(d->out, "\\ncount[r%+" PRId64 "]++", op.value); return;
    }
}

/* In the cfg: what happens on the edges from ENTRY and to EXIT, which it does not show. */
static void say_block_ops(struct dot_drawing *d, uint32_t b)
{
    const struct fp_dag *dag = d->f->paths.dag;
    if (!d->plan || d->options->dag) return;
    if (b == 0) say_op(d, d->plan->on[dag->entry_edge]);
    if (dag->exit_of[b] != FP_NONE) say_op(d, d->plan->on[dag->exit_of[b]]);
}

static void say_block(struct dot_drawing *d, uint32_t b)
{
    uint8_t flags = d->f->paths.cfg->flags[b];
    if (d->f->paths.truncation->order.position[b] == FP_NONE) return; /* never runs */
    fp_say(d->out, "  b%u [id=\"block%u\" label=\"%u%s%s", b, b, b,
           flags & FP_BLOCK_PAD ? " pad" : "", flags & FP_BLOCK_HUB ? " hub" : "");
    say_lines(d, b);
    if (d->counts) fp_say(d->out, "\\n%" PRIu64 "x", d->counts->blocks[b]);
    say_block_ops(d, b);
    bool idle = d->counts && !d->counts->blocks[b];
    fp_say(d->out, "\"%s%s];\n", flags & (FP_BLOCK_PAD | FP_BLOCK_HUB) ? " shape=ellipse" : "",
           idle ? " color=gray fontcolor=gray" : "");
}

static double pen_width(const struct dot_drawing *d, uint64_t count)
{
    if (!count || !d->most) return 0.5;
    return 0.8 + 4.2 * sqrt((double)count / (double)d->most);
}

/* The instruction that takes an edge of an executable without lines, or "". */
static const char *jump_of(const struct dot_drawing *d, uint32_t e)
{
    const struct fp_block_code *code = d->f->source.code;
    const char *jump = code ? code[d->f->paths.cfg->edges[e].src].jump : NULL;
    return jump && !d->f->source.npositions ? jump : "";
}

/* Label and style of the part of an edge's line in [ ] that cfg and dag share. */
static void say_edge_look(struct dot_drawing *d, uint32_t e)
{
    const char *label = fp_edge_label_text(&d->arena, d->f, e);
    const char *jump = jump_of(d, e);
    fp_say(d->out, "id=\"edge%u\" label=\"%s%s%s", e, jump, *jump ? " " : "", label);
    if (d->counts) fp_say(d->out, "%s%" PRIu64, *label ? " " : "", d->counts->edges[e]);
}

static void end_edge_look(struct dot_drawing *d, uint32_t e, bool dashed)
{
    const char *text = fp_edge_condition(d->options->sources, d->f, e);
    fp_say(d->out, "\"");
    if (text) {
        fp_say(d->out, " tooltip=\"");
        say_quoted(d->out, text);
        fp_say(d->out, ": %s\"", fp_edge_label_text(&d->arena, d->f, e));
    }
    if (d->counts) {
        uint64_t count = d->counts->edges[e];
        fp_say(d->out, " penwidth=%.2f%s", pen_width(d, count),
               count ? "" : " color=gray fontcolor=gray");
    }
    if (dashed) fp_say(d->out, " style=dashed");
    fp_say(d->out, "];\n");
}

static void say_cfg_edge(struct dot_drawing *d, uint32_t e)
{
    const struct fp_edge *edge = &d->f->paths.cfg->edges[e];
    enum fp_fate fate = d->f->paths.truncation->order.fate[e];
    if (fate == FP_FATE_DEAD) return;
    fp_say(d->out, "  b%u -> b%u [", edge->src, edge->dst);
    say_edge_look(d, e);
    if (d->options->values && d->f->paths.numbering && d->f->paths.dag->of_edge[e] != FP_NONE)
        fp_say(d->out, " [%" PRIu64 "]", d->f->paths.numbering->value[d->f->paths.dag->of_edge[e]]);
    if (d->plan) {
        struct fp_edge_ops ops = fp_plan_on_edge(d->plan, e);
        say_op(d, ops.first);
        say_op(d, ops.then);
    }
    end_edge_look(d, e, fate == FP_FATE_TRUNCATED || edge->kind == FP_EDGE_UNWIND);
}

static void say_vertex(struct dot_drawing *d, uint32_t v)
{
    if (v == d->f->paths.dag->entry)
        fp_say(d->out, "ENTRY");
    else if (v == d->f->paths.dag->exit)
        fp_say(d->out, "EXIT");
    else
        fp_say(d->out, "b%u", v);
}

static void say_dag_edge(struct dot_drawing *d, uint32_t i)
{
    const struct fp_dag_edge *edge = &d->f->paths.dag->edges[i];
    bool dummy = edge->kind == FP_DAG_START || edge->kind == FP_DAG_END;
    fp_say(d->out, "  ");
    say_vertex(d, edge->src);
    fp_say(d->out, " -> ");
    say_vertex(d, edge->dst);
    fp_say(d->out, " [label=\"");
    if (d->options->values && d->f->paths.numbering)
        fp_say(d->out, "%" PRIu64, d->f->paths.numbering->value[i]);
    if (d->plan) say_op(d, d->plan->on[i]);
    fp_say(d->out, "\"%s];\n", dummy ? " style=dashed" : "");
}

static void say_laps(struct dot_drawing *d)
{
    const struct fp_laps *laps = &d->f->paths.truncation->laps;
    for (uint32_t k = 0; k < laps->len; k++) {
        const struct fp_edge *edge = &d->f->paths.cfg->edges[laps->at[k].closing];
        fp_say(d->out, "  b%u -> b%u [label=\"lap %u\" style=dotted constraint=false];\n",
               edge->src, edge->dst, k);
    }
}

void fp_dot_function(struct fp_writer *out, const struct fp_function *f,
                     const struct fp_edge_counts *counts, const struct fp_dot_options *options)
{
    struct dot_drawing d = {.out = out, .f = f, .counts = counts, .options = options};
    if (options->plan && f->paths.numbering)
        d.plan = fp_plan_make(&d.arena, f->paths.numbering, NULL, &(struct fp_plan_options){0});
    for (uint32_t e = 0; counts && e < f->paths.cfg->nedges; e++)
        if (counts->edges[e] > d.most) d.most = counts->edges[e];
    fp_say(out, "digraph \"");
    say_quoted(out, fp_demangle(&d.arena, f->name));
    fp_say(out, "\" {\n  node [shape=box fontname=\"sans-serif\" fontsize=11];\n"
                "  edge [fontname=\"sans-serif\" fontsize=9];\n");
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) say_block(&d, b);
    if (options->dag && f->paths.dag) {
        fp_say(out, "  ENTRY [shape=ellipse];\n  EXIT [shape=ellipse];\n");
        for (uint32_t i = 0; i < f->paths.dag->nedges; i++) say_dag_edge(&d, i);
        say_laps(&d);
    } else {
        for (uint32_t e = 0; e < f->paths.cfg->nedges; e++) say_cfg_edge(&d, e);
    }
    fp_say(out, "}\n");
    fp_arena_free(&d.arena);
}

bool fp_dot_to_svg(struct fp_writer *out, const char *dot, struct fp_error *error)
{
    static GVC_t *context; /* costly to set up, and not meant to be torn down often */
    if (!context) context = gvContext();
    Agraph_t *graph = agmemread(dot);
    if (!graph) return fp_fail(error, NULL, "Graphviz could not read the graph");
    char *text = NULL;
    unsigned len = 0;
    bool ok = gvLayout(context, graph, "dot") == 0 &&
              gvRenderData(context, graph, "svg", &text, &len) == 0;
    if (ok) fp_write_bytes(out, text, len);
    if (text) gvFreeRenderData(text);
    gvFreeLayout(context, graph);
    agclose(graph);
    return ok || fp_fail(error, NULL, "Graphviz could not draw the graph");
}
