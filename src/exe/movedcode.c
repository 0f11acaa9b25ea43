/* The new code of a function: see movedcode.h. */
#include "exe/movedcode.h"

#include "exe/copiedcode.h"
#include "exe/emitorder.h"
#include "exe/exeops.h"
#include "exe/inflight.h"

struct moving {
    struct fp_arena *arena;
    struct fp_counting *c;
    const struct fp_machine_function *m;
    struct fp_image_slot slot;
    const struct fp_kernel_calls *calls;
    struct fp_moved_code *code;
    struct fp_pieces *p;
    uint32_t *apart;     /* per edge: label of its code apart, or FP_NONE */
    uint32_t old_blocks; /* behind them come copies */
    const char *why;
};

static void keep(struct moving *x, const char *why)
{
    if (!x->why) x->why = why;
}

/* ---- operations ---- */

static uint32_t home_bit(const struct moving *x, uint32_t block)
{
    if (!x->c->live[block]) return 0;
    uint8_t home = x->c->home[x->c->region[block]];
    return home < FP_HOME_SLOT ? 1u << home : 0;
}

static uint32_t homes_of(const struct moving *x, const fp_placed_ops *ops)
{
    uint32_t homes = 0;
    for (size_t i = 0; i < ops->len; i++) {
        uint8_t home = ops->at[i].region == FP_NONE ? FP_HOME_NONE : x->c->home[ops->at[i].region];
        if (home < FP_HOME_SLOT) homes |= 1u << home;
    }
    return homes;
}

static void emit_ops(struct moving *x, const fp_placed_ops *ops, struct fp_op_place at)
{
    at.homes |= homes_of(x, ops);
    keep(x, fp_exe_emit_ops(x->p, x->c, ops, &at, x->slot));
}

/* The instruction that an edge leads to, for the frame there; of an edge to the tail the jump. */
static uint32_t frame_at(const struct moving *x, uint32_t e)
{
    const struct fp_cfg *cfg = x->m->cfg;
    uint32_t v = cfg->edges[e].dst;
    while (!fp_counting_has_code(x->m, v) && cfg->first_out[v] < cfg->first_out[v + 1])
        v = cfg->edges[cfg->first_out[v]].dst;
    return fp_counting_has_code(x->m, v) ? x->m->blocks[v].first_insn
                                         : fp_counting_last(x->m, cfg->edges[e].src);
}

static void emit_edge_ops(struct moving *x, uint32_t e, const fp_placed_ops *ops)
{
    const struct fp_edge *edge = &x->m->cfg->edges[e];
    struct fp_op_place at = {.insn = frame_at(x, e),
                             .live = fp_liveness_at_block(&x->c->liveness, edge->dst),
                             .homes = home_bit(x, edge->src) | home_bit(x, edge->dst)};
    emit_ops(x, ops, at);
}

static void emit_move(struct moving *x, uint32_t e, enum fp_op_stand place, uint32_t insn)
{
    const struct fp_edge *edge = &x->m->cfg->edges[e];
    struct fp_counting *c = x->c;
    uint8_t from = c->home[c->region[edge->src]], to = c->home[c->region[edge->dst]];
    if (c->move[e] != place || !fp_emit_moves(c, e)) return;
    keep(x, fp_exe_emit_move(x->p, c, from, to, insn, x->slot));
    if (x->p->left.home == from) x->p->left.home = to;
}

/* Homes that are in use somewhere in the block: those of operations in it hold from there on. */
static uint32_t homes_in(const struct moving *x, uint32_t b)
{
    uint32_t homes = home_bit(x, b), first = x->m->blocks[b].first_insn;
    for (uint32_t i = first; i < first + x->m->blocks[b].ninsns; i++)
        homes |= homes_of(x, &x->c->before[i]);
    return homes;
}

/* ---- ways out of a block ---- */

static bool is_bridge(const struct moving *x, uint32_t b)
{
    return !fp_counting_has_code(x->m, b) && b != x->m->tail &&
           !(x->m->cfg->flags[b] & (FP_BLOCK_HUB | FP_BLOCK_PAD));
}

/* Of the operations of an edge, how many stand in front of a call that returns twice? */
static size_t made_before(const struct moving *x, uint32_t e)
{
    bool twice = x->m->cfg->edges[e].kind == FP_EDGE_TWICE;
    if (!twice) return 0;
    return x->c->between[e].len ? x->c->between[e].at[0].index : SIZE_MAX;
}

/* What control meets that falls out of a block by an edge; `next` is the block that is emitted
 * next, or FP_NONE. */
static void emit_fall(struct moving *x, uint32_t e, uint32_t next)
{
    const struct fp_cfg *cfg = x->m->cfg;
    for (;;) {
        x->p->left = fp_left_on_edge(x->c, e, made_before(x, e));
        emit_edge_ops(x, e, &x->c->between[e]);
        emit_move(x, e, FP_STAND_BETWEEN, frame_at(x, e));
        if (!is_bridge(x, cfg->edges[e].dst)) break;
        if (fp_cfg_out_degree(cfg, cfg->edges[e].dst) != 1) {
            keep(x, "a call that returns twice leads nowhere");
            return;
        }
        e = cfg->first_out[cfg->edges[e].dst];
    }
    uint32_t v = cfg->edges[e].dst;
    if (!fp_counting_has_code(x->m, v))
        keep(x, "control falls out of the function");
    else if (v != next)
        fp_pieces_jump(x->p, x->m->blocks[v].first_insn, x->code->block[v]);
}

static uint32_t label_of_jump(struct moving *x, uint32_t b)
{
    uint32_t e = fp_counting_jumps(x->m, b);
    if (e == FP_NONE) return FP_NONE;
    if (x->apart[e] != FP_NONE) return x->apart[e];
    uint32_t v = x->m->cfg->edges[e].dst;
    return v == x->m->tail ? FP_NONE : x->code->block[v];
}

/* Control is not known to go on behind some instructions (a call that does not return). If it
 * does, it meets the old code there, which is a trap. */
static void emit_nowhere(struct moving *x, uint32_t insn)
{
    const struct fp_insn *last = &x->m->insns.at[insn];
    bool goes_on =
        last->kind == FP_INSN_CALL || last->kind == FP_INSN_PLAIN || last->kind == FP_INSN_NOP;
    if (goes_on) fp_pieces_jump_out(x->p, insn, last->address + last->length);
}

/* At the top of a block, or in front of the jump at its end. */
static void emit_moves(struct moving *x, uint32_t b, bool top)
{
    const struct fp_cfg *cfg = x->m->cfg;
    if (top && fp_cfg_in_degree(cfg, b) == 1)
        emit_move(x, cfg->in_edges[cfg->first_in[b]], FP_STAND_TOP, x->m->blocks[b].first_insn);
    if (!top && fp_cfg_out_degree(cfg, b) == 1)
        emit_move(x, cfg->first_out[b], FP_STAND_END, fp_counting_last(x->m, b));
}

/* Does the branch at the end of a block lead to the next one? Then it is turned round. */
static bool is_turned(const struct moving *x, uint32_t b, uint32_t next)
{
    const struct fp_edge *edges = x->m->cfg->edges;
    return fp_emit_can_turn(x->c, b) && edges[fp_counting_jumps(x->m, b)].dst == next &&
           edges[fp_counting_falls(x->m, b)].dst != next;
}

/* Does the jump at the end of a block lead to the next one? */
static bool is_idle(const struct moving *x, uint32_t b, uint32_t next)
{
    uint32_t e = fp_counting_jumps(x->m, b);
    return x->c->copied && e != FP_NONE && x->m->cfg->edges[e].dst == next &&
           x->apart[e] == FP_NONE;
}

static void emit_jump(struct moving *x, uint32_t i, uint32_t next)
{
    const struct fp_insn *insn = &x->m->insns.at[i];
    uint32_t b = insn->block;
    if (insn->kind == FP_INSN_JUMP && is_idle(x, b, next)) return;
    bool turned = is_turned(x, b, next);
    uint32_t fall = fp_counting_falls(x->m, b);
    uint32_t label = turned ? x->code->block[x->m->cfg->edges[fall].dst] : label_of_jump(x, b);
    const char *why = fp_pieces_add_jump(x->p, x->c->machine->object, insn, i, label);
    if (!why && turned) fp_pieces_turn(x->p);
    keep(x, why);
}

/* A call of the kernel: may the runtime want it? Not where its number is another constant. */
static bool is_wanted(const struct moving *x, uint32_t i)
{
    const struct fp_object *object = x->c->machine->object;
    uint32_t number;
    if (i == x->m->blocks[x->m->insns.at[i].block].first_insn) return true;
    return !fp_kernel_call_number(object, &x->m->insns.at[i - 1], &number) ||
           fp_kernel_call_is_watched(number, object->fixed);
}

static void emit_insn(struct moving *x, uint32_t i, uint32_t next)
{
    const struct fp_insn *insn = &x->m->insns.at[i];
    const struct fp_object *object = x->c->machine->object;
    struct fp_op_place at = {
        .insn = i, .live = x->c->liveness.before[i], .homes = homes_in(x, insn->block)};
    if (i == x->m->blocks[insn->block].first_insn) emit_moves(x, insn->block, true);
    /* control that is caught goes on behind the move: the runtime has set the block's own home */
    x->code->first_piece[i] = (uint32_t)x->p->all.len;
    if (x->c->before[i].len) emit_ops(x, &x->c->before[i], at);
    if (i == fp_counting_last(x->m, insn->block)) emit_moves(x, insn->block, false);
    if (x->calls->through && fp_is_kernel_call(object, insn) && is_wanted(x, i))
        fp_kernel_call_ask(x->p, x->calls, i);
    if (insn->kind == FP_INSN_JUMP || insn->kind == FP_INSN_BRANCH)
        emit_jump(x, i, next);
    else
        keep(x, fp_pieces_add_old(x->p, object, insn, i));
    x->code->own_piece[i] = (uint32_t)x->p->all.len - 1;
}

static void emit_block(struct moving *x, uint32_t b, uint32_t next)
{
    uint32_t first = x->m->blocks[b].first_insn, last = fp_counting_last(x->m, b);
    fp_pieces_put_label(x->p, x->code->block[b]);
    x->p->left = fp_left_in_block(x->c, b);
    for (uint32_t i = first; i <= last && !x->why; i++) emit_insn(x, i, next);
    uint32_t e = fp_counting_falls(x->m, b);
    if (is_turned(x, b, next)) return;
    if (e != FP_NONE)
        emit_fall(x, e, next);
    else
        emit_nowhere(x, last);
}

/* ---- code apart ---- */

static bool arrives_by_pointer(const struct moving *x, uint32_t e)
{
    const struct fp_edge *edge = &x->m->cfg->edges[e];
    return edge->kind == FP_EDGE_SWITCH ||
           x->m->cfg->flags[edge->src] & (FP_BLOCK_HUB | FP_BLOCK_PAD);
}

/* The block whose arrivals take the code of an edge: behind a pad the pad. A copy of a block is
 * reached by the block's old address. */
static uint32_t arrival_block(const struct moving *x, uint32_t e)
{
    const struct fp_edge *edge = &x->m->cfg->edges[e];
    return x->m->cfg->flags[edge->src] & FP_BLOCK_PAD ? edge->src
                                                      : fp_copied_block(x->c, edge->dst);
}

/* Each code arrives through pointers by one edge at most. */
static void find_arrivals(struct moving *x)
{
    const struct fp_cfg *cfg = x->m->cfg;
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        if (!arrives_by_pointer(x, e)) continue;
        uint32_t b = arrival_block(x, e), v = cfg->edges[e].dst;
        if (v == x->m->tail) continue;
        if (!fp_counting_has_code(x->m, v)) {
            keep(x, "a pointer leads to a place without code");
            return;
        }
        if (x->code->arrival[b] != FP_NONE) {
            keep(x, "several jumps through pointers lead to one place");
            return;
        }
        x->code->arrival[b] = x->apart[e] != FP_NONE ? x->apart[e] : x->code->block[v];
    }
}

/* The range that an edge's code is put behind: that of the code which it leads to. */
static void emit_apart(struct moving *x, uint32_t range)
{
    const struct fp_cfg *cfg = x->m->cfg;
    for (uint32_t e = 0; e < cfg->nedges && !x->why; e++) {
        if (x->apart[e] == FP_NONE || !fp_emit_is_in_range(x->c, frame_at(x, e), range)) continue;
        uint32_t v = cfg->edges[e].dst;
        fp_pieces_put_label(x->p, x->apart[e]);
        x->p->left = fp_left_on_edge(x->c, e, 0);
        emit_edge_ops(x, e, &x->c->apart[e]);
        emit_move(x, e, FP_STAND_APART, frame_at(x, e));
        if (v == x->m->tail) {
            uint32_t jump = fp_counting_last(x->m, cfg->edges[e].src);
            fp_pieces_jump_out(x->p, jump, x->m->insns.at[jump].target);
        } else {
            fp_pieces_jump(x->p, x->m->blocks[v].first_insn, x->code->block[v]);
        }
    }
}

/* ---- the whole ---- */

static void emit_range(struct moving *x, uint32_t range)
{
    const struct fp_code_range *r = &x->m->ranges.at[range];
    uint32_t *order, n = fp_emit_order(x->arena, x->c, range, &order);
    x->code->ranges[range].first = (uint32_t)x->p->all.len;
    if (range == 0) {
        struct fp_op_place at = {.insn = r->first_insn,
                                 .live = fp_liveness_at_block(&x->c->liveness, 0),
                                 .homes = home_bit(x, 0)};
        x->p->left = fp_left_at_entry(x->c);
        emit_ops(x, &x->c->entry, at);
    }
    for (uint32_t i = 0; i < n && !x->why; i++)
        emit_block(x, order[i], i + 1 < n ? order[i + 1] : FP_NONE);
    emit_apart(x, range);
    x->code->ranges[range].end = (uint32_t)x->p->all.len;
}

static const char *check_shape(const struct fp_machine_function *m)
{
    if (!m->ranges.len || !m->cfg || !fp_counting_has_code(m, 0)) return "it has no code";
    if (m->blocks[0].first_insn != m->ranges.at[0].first_insn)
        return "it does not begin with its entry";
    return NULL;
}

static void prepare(struct moving *x)
{
    const struct fp_cfg *cfg = x->m->cfg;
    struct fp_moved_code *code = x->code;
    size_t n = x->m->insns.len;
    code->block = FP_NEW_ARRAY(x->arena, uint32_t, cfg->nblocks);
    code->arrival = FP_NEW_ARRAY(x->arena, uint32_t, cfg->nblocks);
    code->first_piece = FP_NEW_ARRAY(x->arena, uint32_t, n);
    code->own_piece = FP_NEW_ARRAY(x->arena, uint32_t, n);
    code->ranges = FP_NEW_ARRAY(x->arena, struct fp_moved_range, x->m->ranges.len);
    x->apart = FP_NEW_ARRAY(x->arena, uint32_t, cfg->nedges);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        code->block[b] = fp_pieces_label(x->p);
        code->arrival[b] = FP_NONE;
    }
    for (size_t i = 0; i < n; i++) code->first_piece[i] = code->own_piece[i] = FP_NONE;
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        x->apart[e] = fp_emit_is_apart(x->c, e) ? fp_pieces_label(x->p) : FP_NONE;
    }
}

/* Sums in marks are those of the old blocks (fp_copied_facts). */
static void settle_left(const struct moving *x, struct fp_left *left)
{
    const struct fp_plan *plan = x->c->plan;
    uint32_t b = left->block;
    if (b == FP_NONE) return;
    if (!plan->has_register[b]) *left = (struct fp_left){b, 0, FP_HOME_NONE, left->behind};
    left->adjust += (int32_t)plan->offset[b];
    left->block = fp_copied_block(x->c, b);
}

/* Where exceptions land that pass an instruction of a copy: its block has a pad of its own. */
static uint32_t pad_of(const struct moving *x, uint32_t insn)
{
    const struct fp_cfg *cfg = x->m->cfg;
    uint32_t b = x->m->insns.at[insn].block;
    for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++)
        if (cfg->edges[e].kind == FP_EDGE_UNWIND) return cfg->edges[e].dst;
    return FP_NONE;
}

/* Pieces are known by old instructions from here on. */
static void finish_copies(struct moving *x)
{
    struct fp_moved_code *code = x->code;
    code->pad = FP_NEW_ARRAY(x->arena, uint32_t, x->p->all.len);
    for (size_t i = 0; i < x->p->all.len; i++) {
        struct fp_piece *piece = &x->p->all.at[i];
        settle_left(x, &piece->left);
        code->pad[i] =
            x->m->insns.at[piece->insn].block < x->old_blocks ? FP_NONE : pad_of(x, piece->insn);
        piece->insn = fp_copied_insn(x->c, piece->insn);
    }
}

const char *fp_moved_emit(struct fp_arena *arena, struct fp_counting *c, struct fp_image_slot slot,
                          const struct fp_kernel_calls *calls, struct fp_moved_code *code)
{
    *code = (struct fp_moved_code){.pieces = {.arena = arena}};
    const struct fp_machine_function *old = c->copied ? c->copied->old : c->m;
    struct moving x = {.arena = arena,
                       .c = c,
                       .m = c->m,
                       .slot = slot,
                       .calls = calls,
                       .code = code,
                       .p = &code->pieces,
                       .old_blocks = old->cfg->nblocks};
    x.why = check_shape(c->m);
    if (x.why) return x.why;
    prepare(&x);
    find_arrivals(&x);
    for (uint32_t r = 0; r < c->m->ranges.len && !x.why; r++) emit_range(&x, r);
    if (!x.why) fp_pieces_lay_out(&code->pieces);
    if (c->copied) finish_copies(&x);
    return x.why;
}

uint32_t fp_moved_end(const struct fp_moved_code *code, uint32_t piece)
{
    const struct fp_piece *p = &code->pieces.all.at[piece];
    return p->offset + p->len;
}
