/* footpath show --plain: lines for scripts, see show.h and docs/formats/show-plain.md. Nothing is
 * folded, cut or coloured. */
#include "report/show.h"

#include "report/showparts.h"

#include <inttypes.h>

struct plain_view {
    struct fp_show_out o;
    const struct fp_show_options *options;
    const struct footpath_function *functions;
    size_t nfunctions;
    struct footpath_summary summary;
    uint64_t shown;
};

static bool is_full(const struct plain_view *v)
{
    return v->options->top && v->shown >= v->options->top;
}

static double percent_of(const struct plain_view *v, double cost)
{
    return v->summary.cost > 0 ? 100 * cost / v->summary.cost : 0;
}

/* Name, file and line, which every row has. */
static void plain_function(struct plain_view *v, const struct footpath_function *f)
{
    fp_say(v->o.out, "\t%s\t%s\t%u", fp_plain(&v->o.scratch, footpath_name(v->o.fp, f)),
           fp_plain(&v->o.scratch, f->file), f->line);
}

static void plain_address(struct plain_view *v, uint64_t address)
{
    fp_say(v->o.out, "\t");
    if (address) fp_say(v->o.out, "0x%" PRIx64, address);
}

static void plain_path(struct plain_view *v, const struct footpath_path *path)
{
    const struct footpath_function *f = &v->functions[path->function];
    struct footpath_route route;
    if (!footpath_decode(v->o.fp, path, &route)) return;
    fp_say(v->o.out, "%.4f\t%" PRIu64 "\t", percent_of(v, path->cost), path->count);
    if (v->summary.cycles) fp_say(v->o.out, "%" PRIu64, path->cycles);
    fp_say(v->o.out, "\t");
    if (path->id != FOOTPATH_NO_ID) fp_say(v->o.out, "%" PRIu64, path->id);
    plain_function(v, f);
    bool places = f->has_lines || f->address;
    fp_say(v->o.out, "\t%s", places ? footpath_route_text(v->o.fp, &route) : "");
    fp_say(v->o.out, "\t%s", places ? footpath_sentence(v->o.fp, &route) : "");
    plain_address(v, f->address);
    fp_say(v->o.out, "\n");
}

static void plain_paths(struct plain_view *v)
{
    size_t count;
    struct fp_arena arena = {0};
    const struct footpath_path *const *paths = fp_show_chosen(&arena, v->o.fp, v->options, &count);
    for (size_t i = 0; i < count; i++) {
        plain_path(v, paths[i]);
        if (v->o.scratch.total > 1 << 20) fp_arena_free(&v->o.scratch);
    }
    fp_arena_free(&arena);
}

static void plain_functions(struct plain_view *v)
{
    for (size_t i = 0; i < v->nfunctions && !is_full(v); i++) {
        const struct footpath_function *f = &v->functions[i];
        if (f->not_measured) continue;
        fp_say(v->o.out, "%.4f\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, percent_of(v, f->cost),
               f->calls, f->executed_paths, f->possible_paths);
        plain_function(v, f);
        plain_address(v, f->address);
        fp_say(v->o.out, "\n");
        v->shown++;
    }
}

static void plain_place(struct plain_view *v, const struct footpath_place *place)
{
    fp_say(v->o.out, "\t%s\t", place->file ? fp_plain(&v->o.scratch, place->file) : "");
    if (place->file) fp_say(v->o.out, "%u", place->line);
}

/* Function by function, in the order of blocks: what is most frequent, sort knows. */
static void plain_edges(struct plain_view *v, const struct footpath_function *f)
{
    const struct footpath_edge *edges = footpath_edges(v->o.fp, f);
    const struct footpath_block *blocks = footpath_blocks(v->o.fp, f);
    for (uint32_t e = 0; edges && e < f->nedges && !is_full(v); e++) {
        const char *text = footpath_condition(v->o.fp, f, e);
        if (!edges[e].count) continue;
        fp_say(v->o.out, "%" PRIu64 "\t%u\t%u", edges[e].count, edges[e].from, edges[e].to);
        plain_function(v, f);
        plain_place(v, &blocks[edges[e].from].last);
        fp_say(v->o.out, "\t%s\t%s", text ? fp_plain(&v->o.scratch, text) : "",
               footpath_branch(v->o.fp, f, e));
        plain_address(v, blocks[edges[e].from].last.address);
        fp_say(v->o.out, "\n");
        v->shown++;
    }
}

static void plain_blocks(struct plain_view *v, const struct footpath_function *f)
{
    const struct footpath_block *blocks = footpath_blocks(v->o.fp, f);
    for (uint32_t b = 0; blocks && b < f->nblocks && !is_full(v); b++) {
        if (!blocks[b].count) continue;
        fp_say(v->o.out, "%" PRIu64 "\t%u\t%u", blocks[b].count, b, blocks[b].instructions);
        plain_function(v, f);
        plain_place(v, &blocks[b].first);
        plain_address(v, blocks[b].first.address);
        fp_say(v->o.out, "\n");
        v->shown++;
    }
}

void fp_show_plain(struct fp_writer *out, struct footpath *fp,
                   const struct fp_show_options *options)
{
    struct plain_view v = {.o = {.out = out, .fp = fp}, .options = options};
    v.functions = footpath_functions(fp, &v.nfunctions);
    footpath_summarize(fp, &v.summary);
    switch (options->view) {
    case FP_SHOW_PATHS: plain_paths(&v); break;
    case FP_SHOW_FUNCTIONS: plain_functions(&v); break;
    case FP_SHOW_EDGES:
        for (size_t i = 0; i < v.nfunctions; i++) plain_edges(&v, &v.functions[i]);
        break;
    case FP_SHOW_BLOCKS:
        for (size_t i = 0; i < v.nfunctions; i++) plain_blocks(&v, &v.functions[i]);
        break;
    }
    fp_arena_free(&v.o.scratch);
}
