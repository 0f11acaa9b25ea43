/* Paths as sentences about the source: see sentence.h. */
#include "model/sentence.h"

#include "base/plain.h"
#include "source/condition.h"

#include <inttypes.h>
#include <string.h>

enum { LONGEST_TEXT = 60, LONGEST_PERIOD = 8, MOST_BLOCKS = 30 };

static bool condition_of(struct footpath_meaning meaning, enum fp_condition *what)
{
    *what = FP_CONDITION_PART;
    if (meaning.sense == FOOTPATH_SENSE_NONE) return false;
    switch (meaning.construct) {
    case FOOTPATH_CONSTRUCT_IF: *what = FP_CONDITION_IF; break;
    case FOOTPATH_CONSTRUCT_LOOP: *what = FP_CONDITION_LOOP; break;
    case FOOTPATH_CONSTRUCT_CHOICE: *what = FP_CONDITION_CHOICE; break;
    case FOOTPATH_CONSTRUCT_SWITCH: *what = FP_CONDITION_SWITCH; break;
    case FOOTPATH_CONSTRUCT_VALUE: break; /* sides alone have a text */
    case FOOTPATH_CONSTRUCT_NONE: return false;
    }
    if (meaning.is_part) *what = FP_CONDITION_PART;
    return true;
}

const char *fp_edge_condition(struct fp_sources *sources, const struct fp_function *f,
                              uint32_t edge)
{
    const struct fp_block_info *info = &f->source.blocks[f->paths.cfg->edges[edge].src];
    enum fp_condition what;
    if (!sources || !info->npositions || !condition_of(fp_edge_meaning(f, edge), &what))
        return NULL;
    const struct fp_position *at =
        &f->source.positions[info->first_position + info->npositions - 1];
    const struct fp_scope *scope = &f->source.scopes[at->scope];
    if (!scope->file_sum || !at->column) return NULL;
    struct fp_source_version version = {.sum = scope->file_sum};
    const struct fp_source_text *source = fp_source_get(sources, scope->file, version);
    return fp_condition_text(sources, source, what, scope->line, at->line, at->column);
}

/* ---- pieces ---- */

struct telling {
    struct fp_arena *arena;
    struct fp_sources *sources;
    const struct fp_function *f;
    const struct footpath_route *route;
    const char *file, *function; /* of the piece before */
    FP_VEC(const char *) pieces;
    struct fp_arena scratch;
    const uint32_t *position; /* of blocks, backwards by the edges that close loops; or NULL */
};

static void add_piece(struct telling *t, const char *piece)
{
    fp_vec_push(t->arena, &t->pieces, piece);
}

static bool is_known(const struct footpath_place *place)
{
    return place->file || place->address;
}

/* "+0x6a": how far an instruction is behind the function's first one. */
static const char *offset_text(struct fp_arena *arena, const struct fp_function *f,
                               uint64_t address)
{
    uint64_t start = f->source.address;
    return address < start ? fp_arena_printf(arena, "-0x%" PRIx64, start - address)
                           : fp_arena_printf(arena, "+0x%" PRIx64, address - start);
}

/* "line 12", with the file's name where that is another one than before. */
static const char *place_text(struct telling *t, const struct footpath_place *place)
{
    bool same = place->file == t->file || (place->file && t->file && !strcmp(place->file, t->file));
    if (!place->file && place->address) return offset_text(t->arena, t->f, place->address);
    if (!place->file) return "somewhere";
    return same ? fp_arena_printf(t->arena, "line %u", place->line)
                : fp_arena_printf(t->arena, "%s:%u", fp_plain(t->arena, fp_base_name(place->file)),
                                  place->line);
}

/* Does a branch only choose between copies of a loop's body, which the compiler made? Such a branch
 * belongs to a loop, and no way of it has a label (docs/sense.md). */
static bool chooses_copy(const struct fp_function *f, uint32_t edge)
{
    const struct fp_cfg *cfg = f->paths.cfg;
    uint32_t block = cfg->edges[edge].src;
    if (f->source.blocks[block].construct != FP_CONSTRUCT_LOOP) return false;
    for (uint32_t i = cfg->first_out[block]; i < cfg->first_out[block + 1]; i++)
        if (f->source.edges[i].label != FP_LABEL_NONE) return false;
    return true;
}

/* A condition as it is written, or the switch that looks at a value. */
static const char *condition_said(struct fp_arena *arena, const char *text,
                                  struct footpath_meaning meaning)
{
    text = fp_text_cut(arena, fp_plain(arena, text), LONGEST_TEXT);
    bool is_switch = meaning.construct == FOOTPATH_CONSTRUCT_SWITCH;
    return is_switch ? fp_arena_printf(arena, "switch (%s)", text) : text;
}

/* The condition as it is written, or where it stands. */
static const char *subject_of(struct telling *t, const struct footpath_step *step)
{
    const char *text = fp_edge_condition(t->sources, t->f, step->edge);
    if (text) return condition_said(t->arena, text, step->meaning);
    const char *place = place_text(t, &step->place);
    if (chooses_copy(t->f, step->edge))
        return fp_arena_printf(t->arena, "unrolled loop at %s", place);
    bool needs_column = step->meaning.sense != FOOTPATH_SENSE_NONE && step->place.column;
    return needs_column ? fp_arena_printf(t->arena, "%s:%u", place, step->place.column) : place;
}

/* `label`: of what is neither true nor false. */
static const char *outcome_of(struct footpath_meaning meaning, const char *label)
{
    bool loop = meaning.construct == FOOTPATH_CONSTRUCT_LOOP && !meaning.is_part;
    switch (meaning.sense) {
    case FOOTPATH_SENSE_TRUE: return "yes";
    case FOOTPATH_SENSE_FALSE: return loop ? "no, leaves the loop" : "no";
    case FOOTPATH_SENSE_CASE:
    case FOOTPATH_SENSE_DEFAULT:
    case FOOTPATH_SENSE_NONE: break;
    }
    return label;
}

const char *fp_edge_outcome(struct fp_arena *arena, const struct fp_function *f, uint32_t edge)
{
    return outcome_of(fp_edge_meaning(f, edge), fp_edge_label_text(arena, f, edge));
}

/* "+0x6a jne" */
static const char *jump_text(struct fp_arena *arena, const struct fp_function *f, uint64_t address,
                             const char *jump)
{
    const char *offset = offset_text(arena, f, address);
    return jump ? fp_arena_printf(arena, "%s %s", offset, jump) : offset;
}

static const char *block_text(struct fp_arena *arena, const struct fp_function *f, uint32_t block,
                              bool last)
{
    struct footpath_place place = fp_block_place(f, block, last);
    if (place.line) return fp_arena_printf(arena, "line %u", place.line);
    if (!place.address) return fp_arena_printf(arena, "block %u", block);
    return jump_text(arena, f, place.address, last ? f->source.code[block].jump : NULL);
}

struct fp_decision fp_edge_decision(struct fp_arena *arena, struct fp_sources *sources,
                                    const struct fp_function *f, uint32_t edge)
{
    return (struct fp_decision){.condition = fp_edge_condition(sources, f, edge),
                                .label = fp_edge_label_text(arena, f, edge),
                                .meaning = fp_edge_meaning(f, edge),
                                .column =
                                    fp_block_place(f, f->paths.cfg->edges[edge].src, true).column};
}

const char *fp_decision_text(struct fp_arena *arena, const char *place, const struct fp_decision *d)
{
    const char *outcome = outcome_of(d->meaning, d->label);
    if (!*outcome) return place;
    if (d->condition)
        return fp_arena_printf(arena, "%s: %s %s", place,
                               condition_said(arena, d->condition, d->meaning), outcome);
    if (d->meaning.sense != FOOTPATH_SENSE_NONE && d->column)
        return fp_arena_printf(arena, "%s:%u %s", place, d->column, outcome);
    return fp_arena_printf(arena, "%s %s", place, outcome);
}

const char *fp_edge_sentence(struct fp_arena *arena, struct fp_sources *sources,
                             const struct fp_function *f, uint32_t e)
{
    const struct fp_edge *edge = &f->paths.cfg->edges[e];
    struct fp_decision decision = fp_edge_decision(arena, sources, f, e);
    return fp_arena_printf(
        arena, "%s -> %s",
        fp_decision_text(arena, block_text(arena, f, edge->src, true), &decision),
        block_text(arena, f, edge->dst, false));
}

/* "yes -> +0x90", "no", "entry 3 -> +0x120". */
static const char *jump_outcome(struct telling *t, uint32_t edge, const char *label)
{
    if (t->f->source.edges[edge].label == FP_LABEL_NOT_TAKEN) return "no";
    if (t->f->source.edges[edge].label == FP_LABEL_TAKEN) label = "yes";
    uint64_t to = fp_edge_target(t->f, edge);
    const char *blank = *label ? " " : "";
    if (!to) return *label ? fp_arena_printf(t->arena, "%s, leaves", label) : "leaves";
    return fp_arena_printf(t->arena, "%s%s-> %s", label, blank, offset_text(t->arena, t->f, to));
}

/* A branch that has no line. */
static void tell_jump(struct telling *t, const struct footpath_step *step)
{
    add_piece(t, fp_arena_printf(t->arena, "%s %s",
                                 jump_text(t->arena, t->f, step->place.address, step->jump),
                                 jump_outcome(t, step->edge, step->branch)));
}

static void tell_step(struct telling *t, uint32_t i)
{
    const struct footpath_step *step = &t->route->steps[i];
    if (!step->branch) return;
    if (!step->place.file) {
        tell_jump(t, step);
        return;
    }
    const char *in = "", *piece;
    const char *name = step->place.function;
    if (name && *name && strcmp(name, t->function)) {
        in = fp_arena_printf(t->arena, "%s: ", fp_plain(t->arena, name));
        t->function = name;
    }
    const char *subject = subject_of(t, step);
    if (step->place.file) t->file = step->place.file;
    if (*step->branch)
        piece = fp_arena_printf(t->arena, "%s%s %s", in, subject,
                                outcome_of(step->meaning, step->branch));
    else if (i + 1 < t->route->nsteps)
        piece = fp_arena_printf(t->arena, "%s%s -> %s", in, subject,
                                place_text(t, &t->route->steps[i + 1].place));
    else
        piece = fp_arena_printf(t->arena, "%s%s", in, subject);
    add_piece(t, piece);
}

/* ---- beginning and end ---- */

/* Does an edge close a loop? The order that the map gives is of kept edges alone: where paths also
 * end at cuts and at ways into loops, it may place the target of such an edge first. */
static bool goes_back(struct telling *t, uint32_t edge)
{
    const struct fp_truncation *truncation = t->f->paths.truncation;
    const struct fp_edge *e = &t->f->paths.cfg->edges[edge];
    if (!t->position) {
        struct fp_order order = truncation->order;
        if (truncation->ncuts || truncation->ndoors)
            fp_order_make(&t->scratch, t->f->paths.cfg, &order);
        t->position = order.position;
    }
    return t->position[e->dst] <= t->position[e->src];
}

static bool is_loop_head(struct telling *t, uint32_t block)
{
    const struct fp_function *f = t->f;
    for (uint32_t e = 0; e < f->paths.cfg->nedges; e++)
        if (f->paths.cfg->edges[e].dst == block &&
            f->paths.truncation->order.fate[e] != FP_FATE_DEAD && goes_back(t, e))
            return true;
    return false;
}

static void tell_start(struct telling *t)
{
    if (t->route->start != FOOTPATH_STARTS_AT_EDGE) return;
    struct footpath_place place = fp_block_place(t->f, t->route->blocks[0], false);
    bool loop = is_loop_head(t, t->route->blocks[0]);
    if (!is_known(&place) && t->route->nsteps) place = t->route->steps[0].place;
    add_piece(t, fp_arena_printf(t->arena, "%s %s", loop ? "from the loop at" : "from",
                                 place_text(t, &place)));
}

static void tell_end(struct telling *t)
{
    const struct footpath_route *r = t->route;
    uint32_t last = r->blocks[r->nblocks - 1];
    struct footpath_place place = fp_block_place(t->f, last, true);
    if (!is_known(&place) && r->nsteps) place = r->steps[r->nsteps - 1].place;
    bool stops = t->f->paths.cfg->flags[last] & (FP_BLOCK_COLD | FP_BLOCK_PAD);
    switch (r->end) {
    case FOOTPATH_ENDS_AS_LAP: add_piece(t, "loop again"); return;
    case FOOTPATH_ENDS_AT_EXIT:
        add_piece(t, fp_arena_printf(t->arena, "%s at %s", stops ? "ends" : "returns",
                                     place_text(t, &place)));
        return;
    case FOOTPATH_ENDS_INSIDE:
        add_piece(t, fp_arena_printf(t->arena, "left at %s", place_text(t, &place)));
        return;
    case FOOTPATH_ENDS_AT_EDGE: break;
    }
    if (goes_back(t, r->end_edge)) {
        add_piece(t, "loop again");
        return;
    }
    place = fp_block_place(t->f, t->f->paths.cfg->edges[r->end_edge].dst, false);
    add_piece(t, is_known(&place) ? fp_arena_printf(t->arena, "on to %s", place_text(t, &place))
                                  : "goes on");
}

/* ---- repeated pieces ---- */

static bool repeats(const struct telling *t, size_t at, size_t period)
{
    if (at + 2 * period > t->pieces.len) return false;
    for (size_t i = 0; i < period; i++)
        if (strcmp(t->pieces.at[at + i], t->pieces.at[at + period + i])) return false;
    return true;
}

/* "(a yes; b no) 3 times", at a place; how many pieces that takes. */
static size_t fold(struct telling *t, size_t at, size_t period, const char **piece)
{
    size_t times = 1;
    const char *text = t->pieces.at[at];
    while (repeats(t, at + (times - 1) * period, period)) times++;
    for (size_t i = 1; i < period; i++)
        text = fp_arena_printf(t->arena, "%s; %s", text, t->pieces.at[at + i]);
    *piece = fp_arena_printf(t->arena, period > 1 ? "(%s) %zu times" : "%s %zu times", text, times);
    return times * period;
}

static void fold_pieces(struct telling *t)
{
    FP_VEC(const char *) folded = {0};
    for (size_t i = 0; i < t->pieces.len;) {
        const char *piece = t->pieces.at[i];
        size_t taken = 1, period = 1;
        while (period <= LONGEST_PERIOD && !repeats(t, i, period)) period++;
        if (period <= LONGEST_PERIOD) taken = fold(t, i, period, &piece);
        fp_vec_push(t->arena, &folded, piece);
        i += taken;
    }
    t->pieces.at = folded.at, t->pieces.len = folded.len;
}

static const char *joined(struct telling *t)
{
    struct fp_writer text = {0};
    for (size_t i = 0; i < t->pieces.len; i++)
        fp_say(&text, "%s%s", i ? "; " : "", t->pieces.at[i]);
    const char *result = fp_arena_strndup(t->arena, (char *)text.bytes, text.len);
    fp_writer_free(&text);
    return result;
}

/* "blocks 6 3 4 5": of a function that has neither lines nor addresses. */
static const char *blocks_text(struct fp_arena *arena, const struct footpath_route *route)
{
    struct fp_writer text = {0};
    fp_say(&text, route->nblocks > 1 ? "blocks" : "block");
    for (uint32_t i = 0; i < route->nblocks && i < MOST_BLOCKS; i++)
        fp_say(&text, " %u", route->blocks[i]);
    if (route->nblocks > MOST_BLOCKS) fp_say(&text, " and %u more", route->nblocks - MOST_BLOCKS);
    const char *result = fp_arena_strndup(arena, (char *)text.bytes, text.len);
    fp_writer_free(&text);
    return result;
}

const char *fp_route_sentence(struct fp_arena *arena, struct fp_sources *sources,
                              const struct fp_function *f, const struct footpath_route *route)
{
    struct telling t = {.arena = arena, .sources = sources, .f = f, .route = route};
    if (!fp_function_has_places(f)) return blocks_text(arena, route);
    t.file = f->file;
    t.function = "";
    for (uint32_t i = 0; i < f->source.nscopes && !*t.function; i++)
        if (f->source.scopes[i].parent == FP_NONE) t.function = f->source.scopes[i].function;
    tell_start(&t);
    for (uint32_t i = 0; i < route->nsteps; i++) tell_step(&t, i);
    tell_end(&t);
    fold_pieces(&t);
    fp_arena_free(&t.scratch);
    return joined(&t);
}

const char *fp_path_sentence(struct fp_arena *arena, struct fp_sources *sources,
                             const struct fp_function *f, const struct fp_path *path)
{
    struct footpath_route route;
    fp_path_route(arena, f, path, &route);
    return fp_route_sentence(arena, sources, f, &route);
}
