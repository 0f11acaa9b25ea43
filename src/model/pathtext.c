/* Paths as people read them: lines, with what the branches did. */
#include "base/plain.h"
#include "base/vec.h"
#include "model/model.h"

#include <inttypes.h>
#include <string.h>

_Static_assert((int)FOOTPATH_CONSTRUCT_SWITCH == (int)FP_CONSTRUCT_SWITCH &&
                   (int)FOOTPATH_CONSTRUCT_LOOP == (int)FP_CONSTRUCT_LOOP &&
                   (int)FOOTPATH_SENSE_TRUE == (int)FP_LABEL_TRUE &&
                   (int)FOOTPATH_SENSE_FALSE == (int)FP_LABEL_FALSE &&
                   (int)FOOTPATH_SENSE_CASE == (int)FP_LABEL_CASE &&
                   (int)FOOTPATH_SENSE_DEFAULT == (int)FP_LABEL_DEFAULT,
               "as footpath.h says");

struct footpath_meaning fp_edge_meaning(const struct fp_function *f, uint32_t edge)
{
    const struct fp_block_info *branch = &f->source.blocks[f->paths.cfg->edges[edge].src];
    const struct fp_edge_info *info = &f->source.edges[edge];
    bool known = info->label <= FP_LABEL_DEFAULT; /* the others are about machine code */
    return (struct footpath_meaning){(enum footpath_construct)branch->construct,
                                     known ? (enum footpath_sense)info->label : FOOTPATH_SENSE_NONE,
                                     branch->is_part, info->value};
}

/* Of the condition that decides a loop: does it go round once more? */
static bool is_of_loop(const struct fp_function *f, uint32_t edge)
{
    struct footpath_meaning meaning = fp_edge_meaning(f, edge);
    return meaning.construct == FOOTPATH_CONSTRUCT_LOOP && !meaning.is_part;
}

const char *fp_edge_label_text(struct fp_arena *arena, const struct fp_function *f, uint32_t edge)
{
    const struct fp_edge_info *info = &f->source.edges[edge];
    switch (info->label) {
    case FP_LABEL_TRUE: return is_of_loop(f, edge) ? "round" : "true";
    case FP_LABEL_FALSE: return is_of_loop(f, edge) ? "leaves" : "false";
    case FP_LABEL_DEFAULT: return "default";
    case FP_LABEL_CASE: return fp_arena_printf(arena, "case %" PRId64, info->value);
    case FP_LABEL_TAKEN: return "taken";
    case FP_LABEL_NOT_TAKEN: return "not taken";
    case FP_LABEL_ENTRY: return fp_arena_printf(arena, "entry %" PRId64, info->value);
    case FP_LABEL_NONE: break;
    }
    return f->paths.cfg->edges[edge].kind == FP_EDGE_UNWIND ? "exception" : "";
}

/* `position` may be NULL. */
static struct footpath_place place_of(const struct fp_function *f,
                                      const struct fp_position *position)
{
    if (!position) return (struct footpath_place){0};
    const struct fp_scope *scope = &f->source.scopes[position->scope];
    return (struct footpath_place){
        .file = scope->file, scope->function, position->line, position->column};
}

/* Of the first instruction of a block or of its last one; 0 where that is not known. */
static uint64_t address_of(const struct fp_function *f, uint32_t block, bool at_end)
{
    if (!f->source.code || !f->source.code[block].size) return 0;
    return f->source.code[block].address + (at_end ? f->source.code[block].last : 0);
}

struct footpath_place fp_block_place(const struct fp_function *f, uint32_t block, bool at_end)
{
    const struct fp_block_info *info = &f->source.blocks[block];
    uint32_t at = info->first_position + (at_end && info->npositions ? info->npositions - 1 : 0);
    struct footpath_place place = place_of(f, info->npositions ? &f->source.positions[at] : NULL);
    place.address = address_of(f, block, at_end);
    return place;
}

/* Landing pads and hubs have no code: the block behind them has. */
uint64_t fp_edge_target(const struct fp_function *f, uint32_t edge)
{
    const struct fp_cfg *cfg = f->paths.cfg;
    uint32_t block = cfg->edges[edge].dst;
    for (uint32_t i = 0; i < cfg->nblocks && f->source.code && !f->source.code[block].size; i++) {
        if (fp_cfg_out_degree(cfg, block) != 1) return 0;
        block = cfg->edges[cfg->first_out[block]].dst;
    }
    return address_of(f, block, false);
}

const char *fp_place_text(struct fp_arena *arena, const char *file, uint32_t line, uint64_t address)
{
    const char *name = fp_plain(arena, fp_base_name(file));
    if (line) return fp_arena_printf(arena, "%s:%u", name, line);
    return address ? fp_arena_printf(arena, "%s:0x%" PRIx64, name, address) : name;
}

const char *fp_function_place(struct fp_arena *arena, const struct fp_function *f)
{
    return fp_place_text(arena, f->file, f->line, f->source.address);
}

void fp_place_or_function(struct footpath_place *place, const struct fp_function *f)
{
    if (place->line) return;
    uint64_t address = place->address ? place->address : f->source.address;
    *place = (struct footpath_place){f->file, f->name, f->line, 0, address};
}

bool fp_function_has_places(const struct fp_function *f)
{
    return f->source.npositions || f->source.code;
}

/* ---- steps ---- */

struct steps {
    struct fp_arena *arena;
    const struct fp_function *f;
    FP_VEC(struct footpath_step) all;
    const struct fp_position *last; /* of the last step */
};

static bool is_choice(const struct fp_function *f, uint32_t edge)
{
    return edge != FP_NONE && fp_cfg_out_degree(f->paths.cfg, f->paths.cfg->edges[edge].src) > 1;
}

/* Not the way on behind a call that may throw. */
static bool is_branch(const struct fp_function *f, uint32_t edge)
{
    uint32_t src = f->paths.cfg->edges[edge].src, ways = 0;
    for (uint32_t e = f->paths.cfg->first_out[src]; e < f->paths.cfg->first_out[src + 1]; e++)
        ways += f->paths.cfg->edges[e].kind != FP_EDGE_UNWIND;
    return ways > 1 || f->paths.cfg->edges[edge].kind == FP_EDGE_UNWIND;
}

static void add_step(struct steps *s, struct footpath_place place, uint32_t block, uint32_t edge)
{
    struct footpath_step step = {.place = place, .block = block, .edge = edge};
    if (edge != FP_NONE && s->f->source.code) step.jump = s->f->source.code[block].jump;
    if (edge != FP_NONE && is_branch(s->f, edge)) {
        step.branch = fp_edge_label_text(s->arena, s->f, edge);
        step.meaning = fp_edge_meaning(s->f, edge);
    }
    fp_vec_push(s->arena, &s->all, step);
}

static void add_line(struct steps *s, const struct fp_position *position, uint32_t block,
                     uint32_t edge)
{
    add_step(s, fp_block_place(s->f, block, edge != FP_NONE), block, edge);
    s->last = position;
}

/* Of a function without lines: where the path begins, its branches, and where it ends. */
static void add_code(struct steps *s, uint32_t block, uint32_t out_edge, bool ends)
{
    struct footpath_place first = fp_block_place(s->f, block, false),
                          last = fp_block_place(s->f, block, true);
    bool choice = is_choice(s->f, out_edge), begins = !s->all.len;
    if (!first.address) return;
    if (begins && !((choice || ends) && first.address == last.address))
        add_step(s, first, block, FP_NONE);
    if (choice || ends) add_step(s, last, block, choice ? out_edge : FP_NONE);
}

/* A block's first line, and the line of its branch with the way it went. */
static void add_block(struct steps *s, uint32_t block, uint32_t out_edge, bool ends)
{
    const struct fp_block_info *info = &s->f->source.blocks[block];
    if (!s->f->source.npositions && s->f->source.code) add_code(s, block, out_edge, ends);
    if (!info->npositions) return;
    const struct fp_position *positions = s->f->source.positions + info->first_position;
    const struct fp_position *first = &positions[0], *last = &positions[info->npositions - 1];
    bool choice = is_choice(s->f, out_edge);
    bool repeats = s->last && s->last->line == first->line && s->last->scope == first->scope;
    bool same_line = first->line == last->line && first->scope == last->scope;
    if (!(repeats && s->all.at[s->all.len - 1].edge == FP_NONE) && !(choice && same_line))
        add_line(s, first, block, FP_NONE);
    if (choice) add_line(s, last, block, out_edge);
}

_Static_assert((int)FOOTPATH_STARTS_AT_EDGE == (int)FP_STARTS_AT_EDGE &&
                   (int)FOOTPATH_ENDS_AT_EDGE == (int)FP_ENDS_AT_EDGE &&
                   (int)FOOTPATH_ENDS_AS_LAP == (int)FP_ENDS_AS_LAP &&
                   (int)FOOTPATH_ENDS_INSIDE == (int)FP_ENDS_INSIDE,
               "as footpath.h says");

void fp_path_route(struct fp_arena *arena, const struct fp_function *f, const struct fp_path *path,
                   struct footpath_route *route)
{
    struct steps s = {.arena = arena, .f = f};
    uint32_t *blocks = FP_NEW_ARRAY(arena, uint32_t, (size_t)path->nedges + 1);
    uint32_t block = path->first_block;
    for (uint32_t i = 0; i < path->nedges; i++) {
        blocks[i] = block;
        add_block(&s, block, path->edges[i], false);
        block = f->paths.cfg->edges[path->edges[i]].dst;
    }
    blocks[path->nedges] = block;
    add_block(&s, block, path->end == FP_ENDS_INSIDE ? FP_NONE : path->end_edge, true);
    *route = (struct footpath_route){.start = (enum footpath_start)path->start,
                                     .end = (enum footpath_end)path->end,
                                     .end_edge = path->end_edge,
                                     .nblocks = path->nedges + 1,
                                     .blocks = blocks,
                                     .edges = path->edges,
                                     .nsteps = (uint32_t)s.all.len,
                                     .steps = s.all.at};
}

/* ---- text ---- */

/* A line may have several sides of && and ||, and several `?:`. */
static bool needs_column(const struct footpath_step *step)
{
    return step->meaning.sense != FOOTPATH_SENSE_NONE && step->place.column &&
           (step->meaning.is_part || step->meaning.construct == FOOTPATH_CONSTRUCT_CHOICE);
}

/* The place of a step. `file`: that of the step before. */
static void say_place(struct fp_writer *text, struct fp_arena *arena,
                      const struct footpath_step *step, const char **file)
{
    const struct footpath_place *place = &step->place;
    if (!place->file) {
        fp_say(text, "0x%" PRIx64, place->address);
        return;
    }
    if (place->file != *file && strcmp(place->file, *file))
        fp_say(text, "%s:", fp_plain(arena, fp_base_name(place->file)));
    *file = place->file;
    fp_say(text, "%u", place->line);
    if (needs_column(step)) fp_say(text, ":%u", place->column);
}

char *fp_route_text(struct fp_arena *arena, const char *file, const struct footpath_route *route)
{
    struct fp_writer text = {0};
    if (route->start == FOOTPATH_STARTS_AT_EDGE) fp_say(&text, "...");
    for (uint32_t i = 0; i < route->nsteps; i++) {
        const struct footpath_step *step = &route->steps[i];
        if (text.len) fp_write_u8(&text, ' ');
        say_place(&text, arena, step, &file);
        if (!step->branch) continue;
        if (!*step->branch) {
            fp_say(&text, " ->"); /* what follows says where it went */
            continue;
        }
        fp_write_u8(&text, '(');
        fp_write_bytes(&text, step->branch, strlen(step->branch));
        fp_write_u8(&text, ')');
    }
    const char *space = text.len ? " " : "";
    switch (route->end) {
    case FOOTPATH_ENDS_AT_EXIT: break;
    case FOOTPATH_ENDS_AT_EDGE: fp_say(&text, "%s...", space); break;
    case FOOTPATH_ENDS_AS_LAP: fp_say(&text, "%s(loop)", space); break;
    case FOOTPATH_ENDS_INSIDE: fp_say(&text, "%s(left)", space); break;
    }
    char *result = fp_arena_strndup(arena, (char *)text.bytes, text.len);
    fp_writer_free(&text);
    return result;
}

char *fp_path_text(struct fp_arena *arena, const struct fp_function *f, const struct fp_path *path)
{
    struct footpath_route route;
    fp_path_route(arena, f, path, &route);
    return fp_route_text(arena, f->file, &route);
}
