/* Paths as people read them: lines, with what the branches did. */
#include "base/plain.h"
#include "base/vec.h"
#include "model/model.h"

#include <inttypes.h>
#include <string.h>

char *fp_edge_label_text(struct fp_arena *arena, const struct fp_function *f, uint32_t edge)
{
    const struct fp_edge_info *info = &f->source.edges[edge];
    switch (info->label) {
    case FP_LABEL_TRUE: return fp_arena_strdup(arena, "true");
    case FP_LABEL_FALSE: return fp_arena_strdup(arena, "false");
    case FP_LABEL_DEFAULT: return fp_arena_strdup(arena, "default");
    case FP_LABEL_CASE: return fp_arena_printf(arena, "case %" PRId64, info->value);
    case FP_LABEL_NONE: break;
    }
    if (f->paths.cfg->edges[edge].kind == FP_EDGE_UNWIND)
        return fp_arena_strdup(arena, "exception");
    return fp_arena_strdup(arena, "");
}

struct steps {
    struct fp_arena *arena;
    const struct fp_function *f;
    FP_VEC(struct fp_path_step) all;
};

static bool is_choice(const struct fp_function *f, uint32_t edge)
{
    return edge != FP_NONE && fp_cfg_out_degree(f->paths.cfg, f->paths.cfg->edges[edge].src) > 1;
}

/* A block's first line, and the line of its branch with the way it went. */
static void add_block(struct steps *s, uint32_t block, uint32_t out_edge)
{
    const struct fp_block_info *info = &s->f->source.blocks[block];
    if (!info->npositions) return;
    const struct fp_position *positions = s->f->source.positions + info->first_position;
    const struct fp_position *first = &positions[0], *last = &positions[info->npositions - 1];
    bool choice = is_choice(s->f, out_edge);
    const struct fp_path_step *before = s->all.len ? &s->all.at[s->all.len - 1] : NULL;
    bool repeats =
        before && before->position->line == first->line && before->position->scope == first->scope;
    bool same_line = first->line == last->line && first->scope == last->scope;
    if (!(repeats && before->edge == FP_NONE) && !(choice && same_line)) {
        struct fp_path_step step = {first, block, FP_NONE};
        fp_vec_push(s->arena, &s->all, step);
    }
    if (choice) {
        struct fp_path_step step = {last, block, out_edge};
        fp_vec_push(s->arena, &s->all, step);
    }
}

struct fp_path_step *fp_path_steps(struct fp_arena *arena, const struct fp_function *f,
                                   const struct fp_path *path, size_t *nsteps)
{
    struct steps s = {.arena = arena, .f = f};
    uint32_t block = path->first_block;
    for (uint32_t i = 0; i < path->nedges; i++) {
        add_block(&s, block, path->edges[i]);
        block = f->paths.cfg->edges[path->edges[i]].dst;
    }
    add_block(&s, block, path->end == FP_ENDS_INSIDE ? FP_NONE : path->end_edge);
    *nsteps = s.all.len;
    return s.all.at;
}

char *fp_path_text(struct fp_arena *arena, const struct fp_function *f, const struct fp_path *path)
{
    struct fp_writer text = {0};
    size_t nsteps;
    struct fp_path_step *steps = fp_path_steps(arena, f, path, &nsteps);
    const char *file = f->file;
    if (path->start == FP_STARTS_AT_EDGE) fp_say(&text, "...");
    for (size_t i = 0; i < nsteps; i++) {
        const struct fp_position *position = steps[i].position;
        const char *here = f->source.scopes[position->scope].file;
        if (text.len) fp_say(&text, " ");
        if (strcmp(here, file)) fp_say(&text, "%s:", fp_plain(arena, fp_base_name(here)));
        file = here;
        fp_say(&text, "%u", position->line);
        if (steps[i].edge == FP_NONE) continue;
        const char *label = fp_edge_label_text(arena, f, steps[i].edge);
        if (*label) fp_say(&text, "(%s)", label);
    }
    const char *space = text.len ? " " : "";
    switch (path->end) {
    case FP_ENDS_AT_EXIT: break;
    case FP_ENDS_AT_EDGE: fp_say(&text, "%s...", space); break;
    case FP_ENDS_AS_LAP: fp_say(&text, "%s(loop)", space); break;
    case FP_ENDS_INSIDE: fp_say(&text, "%s(left)", space); break;
    }
    char *result = fp_arena_strndup(arena, (char *)text.bytes, text.len);
    fp_writer_free(&text);
    return result;
}
