/* From a recovered function to its new code: see exework.h. */
#include "exe/copiedcode.h"
#include "exe/counting.h"
#include "exe/exework.h"
#include "exe/inflight.h"
#include "graph/blockcopies.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- what tests ask for ---- */

static bool is_named(const char *text, const char *name, size_t *number)
{
    size_t len = strlen(name);
    if (!text || strncmp(text, name, len) || text[len] != ':') return false;
    *number = strtoul(text + len + 1, NULL, 10);
    return true;
}

/* Takes one edge of a jump table out of the graph, as if it had not been found. Other ways lead to
 * its target: code that nothing leads to would not be moved. */
static void drop_edge(struct fp_exe_work *w, struct fp_machine_function *m)
{
    size_t wanted, n = 0, kept = 0;
    const struct fp_cfg *cfg = m->cfg;
    if (!is_named(w->options->drop_edge, m->symbol->name, &wanted)) return;
    struct fp_edge *edges = FP_NEW_ARRAY(w->arena, struct fp_edge, cfg->nedges);
    struct fp_edge_info *infos = FP_NEW_ARRAY(w->arena, struct fp_edge_info, cfg->nedges);
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        bool droppable =
            cfg->edges[e].kind == FP_EDGE_SWITCH && fp_cfg_in_degree(cfg, cfg->edges[e].dst) > 1;
        if (droppable && n++ == wanted) continue;
        edges[kept] = cfg->edges[e];
        infos[kept++] = m->edges[e];
    }
    m->cfg = fp_cfg_new(w->arena, cfg->nblocks, edges, (uint32_t)kept, cfg->flags);
    m->edges = infos;
}

/* ---- traps ---- */

/* The sum of values along some way to a block. */
static uint64_t some_sum(const struct fp_numbering *n, uint32_t block)
{
    const struct fp_dag *dag = n->dag;
    uint64_t sum = 0;
    for (uint32_t v = block; v != dag->entry && dag->first_in[v] < dag->first_in[v + 1];) {
        uint32_t d = dag->in_edges[dag->first_in[v]];
        sum += n->value[d];
        v = dag->edges[d].src;
    }
    return sum;
}

static void set_trap_sum(const struct fp_counting *c, struct fp_image_slot slot, uint32_t insn,
                         uint32_t region, int64_t value, struct fp_trap_sum *sum)
{
    int64_t offset = 0;
    sum->home = region == FP_NONE ? FP_HOME_NONE : c->home[region];
    sum->value = value;
    if (sum->home != FP_HOME_SLOT) return;
    if (fp_stack_cfa(&c->stack, insn, &sum->base, &offset))
        sum->disp = (int32_t)(offset + slot.distance);
    else
        sum->home = FP_HOME_NONE; /* the frame is not known: nothing can be set */
}

/* What the path register would be in front of each instruction. */
static struct fp_trap_sum *find_trap_sums(struct fp_arena *arena, const struct fp_counting *c,
                                          struct fp_image_slot slot)
{
    const struct fp_machine_function *m = c->m;
    struct fp_trap_sum *sums = FP_NEW_ARRAY(arena, struct fp_trap_sum, m->insns.len);
    for (size_t i = 0; i < m->insns.len; i++) sums[i].home = FP_HOME_NONE;
    for (uint32_t b = 0; b < m->cfg->nblocks; b++) {
        if (!fp_counting_has_code(m, b)) continue;
        uint32_t region = c->live[b] ? c->region[b] : FP_NONE, last = fp_counting_last(m, b);
        int64_t value = (int64_t)some_sum(c->paths.numbering, b) - c->plan->offset[b];
        for (uint32_t i = m->blocks[b].first_insn; i <= last; i++) {
            set_trap_sum(c, slot, i, region, value, &sums[i]);
            for (size_t k = 0; k < c->before[i].len; k++) {
                const struct fp_placed_op *op = &c->before[i].at[k];
                if (op->op.kind == FP_OP_SET) region = op->region, value = op->op.value;
                if (op->op.kind == FP_OP_ADD) value += op->op.value;
            }
        }
    }
    return sums;
}

/* ---- steps ---- */

static void copy_pieces(struct fp_arena *arena, struct fp_moved_code *code)
{
    struct fp_pieces *p = &code->pieces;
    struct fp_piece *all = FP_NEW_ARRAY(arena, struct fp_piece, p->all.len);
    for (size_t i = 0; i < p->all.len; i++) all[i] = p->all.at[i];
    p->all.at = all;
    p->all.cap = p->all.len;
}

/* With copies of blocks, or without. */
static const char *count(struct fp_exe_work *w, struct fp_exe_function *x, struct fp_counting *c,
                         bool copies)
{
    uint64_t calls;
    struct fp_error error = {0};
    struct fp_image_slot slot = fp_image_slot(w->image);
    if (!fp_cfg_check(x->m->cfg, &error)) return fp_arena_strdup(w->arena, error.what);
    const char *why = fp_exe_plan(w, c, &calls);
    if (why) return why;
    struct fp_copy_budget budget = fp_exe_budget(w, x->m, calls);
    if (copies) fp_counting_copy(c, &budget);
    fp_liveness_make(&c->liveness, &w->machine, c->m);
    fp_stack_track(w->arena, &w->machine, c->m, &w->old_frames, &c->liveness, &c->stack);
    why = fp_counting_place(c);
    if (!why && c->exits) why = fp_left_check(c);
    if (!why) why = fp_moved_emit(w->arena, c, slot, &w->calls, &x->code);
    if (!why) x->trap_sums = find_trap_sums(w->arena, c, slot);
    fp_liveness_free(&c->liveness);
    return why;
}

/* A function that cannot be counted with copies may be one that can be without. */
static const char *count_somehow(struct fp_exe_work *w, struct fp_exe_function *x,
                                 struct fp_counting *c)
{
    const struct fp_counting blank = *c;
    const char *why = count(w, x, c, true);
    if (!why || !c->copied) return why;
    *c = blank;
    return count(w, x, c, false);
}

/* Whether its exception tables can be written, by writing them. */
static const char *check_lsdas(struct fp_exe_work *w, struct fp_exe_function *x)
{
    struct fp_new_frames trial = w->frames;
    trial.lsdas = (struct fp_new_table){0};
    const char *why = fp_new_lsdas_add(&trial, x->m, &x->code, 0, x->lsdas);
    fp_writer_free(&trial.lsdas.bytes);
    return why;
}

/* An int3 that the program executes: a debugger or a handler goes on behind it, but the
 * cfg ends there. */
static bool has_breakpoint(const struct fp_exe_work *w, const struct fp_machine_function *m)
{
    enum { INT3 = 0xcc };
    for (size_t i = 0; i < m->insns.len; i++) {
        const struct fp_insn *insn = &m->insns.at[i];
        size_t len;
        if (insn->kind != FP_INSN_STOP || insn->block == FP_NONE) continue;
        const unsigned char *byte = fp_object_bytes(&w->object, insn->address, &len);
        if (byte && len && *byte == INT3) return true;
    }
    return false;
}

static const char *prepare(struct fp_exe_work *w, struct fp_exe_function *x)
{
    struct fp_machine_function *m = x->m;
    if (m->refused) return m->refused;
    if (w->options->only && strcmp(w->options->only, m->symbol->name)) return "not asked for";
    if (has_breakpoint(w, m)) return "it has an int3, behind which it may go on";
    drop_edge(w, m);
    const char *why = fp_new_frames_check(&w->frames, m);
    if (!why) why = fp_moving_check(w->arena, &w->machine, m, &x->moving);
    if (why) return why;
    x->f.flags = FP_FUNCTION_PATHS | FP_FUNCTION_MACHINE;
    if (!w->options->no_exits) x->f.flags |= FP_FUNCTION_EXITS;
    struct fp_counting c = {.arena = w->arena,
                            .machine = &w->machine,
                            .m = m,
                            .f = &x->f,
                            .exits = !w->options->no_exits};
    why = count_somehow(w, x, &c);
    if (why) return why;
    x->f.layout.counted = c.plan->counted;
    x->f.layout.has_register = c.plan->has_register;
    x->f.layout.offset = c.plan->offset;
    if (c.copied) {
        fp_copied_facts(&c, &x->f.layout);
        w->summary->copies += c.copied->graph->bytes;
    }
    x->lsdas = FP_NEW_ARRAY(w->arena, uint64_t, m->ranges.len);
    return check_lsdas(w, x);
}

void fp_exe_prepare(struct fp_exe_work *w, struct fp_exe_function *x)
{
    x->left_alone = prepare(w, x);
    if (x->left_alone) return;
    copy_pieces(w->arena, &x->code);
    *fp_table_add(&w->entries, x->m->insns.at[0].address) = (uint64_t)(x - w->functions) + 1;
}
