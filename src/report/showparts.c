/* What the text forms of show share: see showparts.h. */
#include "report/showparts.h"

#include "base/names.h"

const char *fp_show_colour(const struct fp_show_out *v, const char *code)
{
    return v->colours ? code : "";
}

const char *fp_show_file(struct fp_show_out *v, const char *file)
{
    return fp_plain(&v->scratch, fp_base_name(file));
}

void fp_show_place(struct fp_show_out *v, const struct footpath_function *f,
                   const struct footpath_place *place)
{
    fp_say(v->out, "%s", fp_show_file(v, place->file ? place->file : f->file));
    if (place->file) fp_say(v->out, ":%u", place->line);
}

void fp_show_edge(struct fp_show_out *v, const struct footpath_function *f, uint32_t e)
{
    const struct footpath_edge *edge = &footpath_edges(v->fp, f)[e];
    const struct footpath_block *blocks = footpath_blocks(v->fp, f);
    const char *label = footpath_branch(v->fp, f, e);
    fp_show_place(v, f, &blocks[edge->from].last);
    if (*label) fp_say(v->out, "(%s)", label);
    fp_say(v->out, " -> ");
    fp_show_place(v, f, &blocks[edge->to].first);
    fp_say(v->out, "  edge %u->%u", edge->from, edge->to);
}

void fp_show_more(struct fp_show_out *v, size_t more)
{
    if (more)
        fp_say(v->out, "%s... %zu more; --top 0 shows all%s\n", fp_show_colour(v, FP_DIM), more,
               fp_show_colour(v, FP_PLAIN));
}
