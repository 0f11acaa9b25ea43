/* What the text forms of show share: see showparts.h. */
#include "report/showparts.h"

#include "base/names.h"
#include "model/sentence.h"

const char *fp_show_colour(const struct fp_show_out *v, const char *code)
{
    return v->colours ? code : "";
}

const char *fp_show_file(struct fp_show_out *v, const char *file)
{
    return fp_plain(&v->scratch, fp_base_name(file));
}

const char *fp_show_place(struct fp_show_out *v, const struct footpath_function *f,
                          const struct footpath_place *place)
{
    if (!place) return fp_show_file(v, f->file);
    return fp_place_text(&v->scratch, place->file ? place->file : f->file, place->line,
                         place->address);
}

const char *fp_show_function(struct fp_show_out *v, const struct footpath_function *f)
{
    return fp_place_text(&v->scratch, f->file, f->line, f->address);
}

void fp_show_edge(struct fp_show_out *v, const struct footpath_function *f, uint32_t e)
{
    const struct footpath_edge *edge = &footpath_edges(v->fp, f)[e];
    const struct footpath_block *blocks = footpath_blocks(v->fp, f);
    const struct footpath_place *from = &blocks[edge->from].last;
    struct fp_decision decision = {footpath_condition(v->fp, f, e), footpath_branch(v->fp, f, e),
                                   footpath_meaning(v->fp, f, e), from->column};
    const char *place = fp_show_place(v, f, from), *jump = blocks[edge->from].jump;
    if (!from->line && jump) place = fp_arena_printf(&v->scratch, "%s %s", place, jump);
    fp_say(v->out, "%s -> %s  edge %u->%u", fp_decision_text(&v->scratch, place, &decision),
           fp_show_place(v, f, &blocks[edge->to].first), edge->from, edge->to);
}

/* How many bytes of the text go on a line: up to the last semicolon that fits or, where a clause is
 * too long, the last blank. */
static size_t line_length(const char *text, size_t columns)
{
    size_t clause = 0, word = 0, used = 0, i = 0;
    for (; text[i]; i++) {
        used += ((unsigned char)text[i] & 0xc0) != 0x80;
        if (used > columns && (clause || word)) return clause ? clause : word;
        if (text[i] == ' ') word = i;
        if (text[i] == ' ' && i && text[i - 1] == ';') clause = i;
    }
    return i;
}

void fp_show_wrapped(struct fp_show_out *v, const char *sentence, size_t indent, size_t width)
{
    size_t columns = width > indent + 20 ? width - indent : 20;
    while (*sentence) {
        size_t len = line_length(sentence, columns);
        fp_say(v->out, "%*s%.*s\n", (int)indent, "", (int)len, sentence);
        sentence += len;
        while (*sentence == ' ') sentence++;
    }
}

void fp_show_more(struct fp_show_out *v, size_t more)
{
    if (more)
        fp_say(v->out, "%s... %zu more; --top 0 shows all%s\n", fp_show_colour(v, FP_DIM), more,
               fp_show_colour(v, FP_PLAIN));
}

const struct footpath_path *const *fp_show_chosen(struct fp_arena *arena, struct footpath *fp,
                                                  const struct fp_show_options *options,
                                                  size_t *count)
{
    size_t n, kept = 0;
    const struct footpath_path *const *paths =
        footpath_hottest(fp, options->path ? 0 : options->top, &n);
    *count = n;
    if (!options->path) return paths;
    const struct footpath_path **chosen = FP_NEW_ARRAY(arena, const struct footpath_path *, n);
    for (size_t i = 0; i < n; i++)
        if (paths[i]->id == *options->path) chosen[kept++] = paths[i];
    *count = kept;
    return chosen;
}
