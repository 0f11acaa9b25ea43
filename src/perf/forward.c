/* Following perf samples forward: see forward.h. */
#include "perf/forward.h"

#include "base/table.h"
#include "binary/machinestate.h"

/* Longer walks were tried: they say little more. */
enum { MOST_STEPS = 400, RSP = 4 };

struct code_place {
    struct fp_machine_function *f;
    uint32_t insn;
};

struct sample_walk {
    struct fp_arena *arena;
    struct fp_machine *machine;
    struct fp_forward *out;  /* or NULL: nothing is counted */
    struct fp_table decoded; /* address -> struct fp_decoded_insn * */
    struct fp_table index;   /* hash of a way -> 1 + its index */
    FP_VEC(uint64_t) seen;   /* per way: the last walk that went it */
    struct fp_machine_state state;
    struct code_place from, now;
};

static const struct fp_decoded_insn *decode(struct sample_walk *w, uint64_t address)
{
    uint64_t *known = fp_table_add(&w->decoded, address);
    if (*known) return (const struct fp_decoded_insn *)(uintptr_t)*known;
    struct fp_decoded_insn *d = FP_NEW(w->arena, struct fp_decoded_insn);
    if (!fp_insn_decode_full(w->machine->object, address, d)) return NULL;
    *known = (uintptr_t)d;
    return d;
}

static bool find_place(struct sample_walk *w, uint64_t address, struct code_place *place)
{
    struct fp_machine_function *f = fp_machine_find(w->machine, address);
    if (!f) return false;
    fp_machine_build(w->machine, f);
    if (!f->cfg) return false;
    *place = (struct code_place){f, fp_machine_insn(f, address, true)};
    return place->insn != FP_NONE && f->insns.at[place->insn].block != FP_NONE;
}

static uint32_t block_of(const struct code_place *place)
{
    return place->f->insns.at[place->insn].block;
}

static uint32_t number_of(const struct sample_walk *w, const struct fp_machine_function *f)
{
    return (uint32_t)(f - w->machine->functions);
}

/* ---- what is counted ---- */

static uint32_t edge_between(const struct fp_cfg *cfg, uint32_t src, uint32_t dst)
{
    for (uint32_t e = cfg->first_out[src]; e < cfg->first_out[src + 1]; e++)
        if (cfg->edges[e].dst == dst) return e;
    return FP_NONE;
}

static void count_way(struct sample_walk *w, uint32_t edge)
{
    struct fp_way way = {.from_function = number_of(w, w->from.f),
                         .from_block = block_of(&w->from),
                         .function = number_of(w, w->now.f),
                         .edge = edge};
    uint64_t key = fp_hash64((uint64_t)way.from_function << 32 | way.from_block) * 31 +
                   fp_hash64((uint64_t)way.function << 32 | way.edge);
    uint64_t *index = fp_table_add(&w->index, key);
    if (!*index) {
        fp_vec_push(w->arena, &w->out->ways, way);
        fp_vec_push(w->arena, &w->seen, 0);
        *index = w->out->ways.len;
    }
    struct fp_way *known = &w->out->ways.at[*index - 1];
    uint64_t *last = &w->seen.at[*index - 1];
    known->count++;
    known->walks += *last != w->out->walks;
    *last = w->out->walks;
}

/* Leaves the block for another one of the same function, or for FP_NONE: another function. */
static void leave_block(struct sample_walk *w, uint32_t to)
{
    const struct fp_cfg *cfg = w->now.f->cfg;
    uint32_t block = block_of(&w->now);
    if (!w->out || to == FP_NONE || fp_cfg_out_degree(cfg, block) < 2) return;
    uint32_t edge = edge_between(cfg, block, to);
    if (edge != FP_NONE) count_way(w, edge);
}

/* ---- one step; false: what comes next is not known ---- */

static bool jump_to(struct sample_walk *w, uint64_t target)
{
    struct code_place next;
    if (!find_place(w, target, &next)) return false;
    leave_block(w, next.f == w->now.f ? block_of(&next) : w->now.f->tail);
    w->now = next;
    return true;
}

static bool go_on(struct sample_walk *w)
{
    const struct fp_machine_function *f = w->now.f;
    const struct fp_insn *insn = &f->insns.at[w->now.insn];
    struct code_place next = {w->now.f, w->now.insn + 1};
    if (next.insn >= f->insns.len ||
        f->insns.at[next.insn].address != insn->address + insn->length ||
        block_of(&next) == FP_NONE)
        return false;
    if (block_of(&next) != block_of(&w->now)) leave_block(w, block_of(&next));
    w->now = next;
    return true;
}

static bool call(struct sample_walk *w, const struct fp_insn *insn, const struct fp_decoded_insn *d)
{
    struct code_place callee;
    uint64_t target = insn->target;
    if (fp_machine_never_returns(w->machine->object, insn)) return false;
    bool direct = d->op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    bool known = direct || fp_state_target(&w->state, insn->address, d, &target);
    if (known && find_place(w, target, &callee) && callee.f->symbol->address == target) {
        fp_state_push_return(&w->state, insn->address, d);
        w->now = callee;
        return true;
    }
    fp_state_forget_call(&w->state);
    return go_on(w);
}

static bool return_from(struct sample_walk *w, const struct fp_insn *insn,
                        const struct fp_decoded_insn *d)
{
    uint64_t target;
    struct code_place caller;
    if (!fp_state_target(&w->state, insn->address, d, &target)) return false;
    if (!find_place(w, target, &caller)) return false;
    w->now = caller;
    return true;
}

static bool step(struct sample_walk *w)
{
    const struct fp_insn *insn = &w->now.f->insns.at[w->now.insn];
    const struct fp_decoded_insn *d = decode(w, insn->address);
    bool taken;
    uint64_t target;
    if (!d) return false;
    switch ((enum fp_insn_kind)insn->kind) {
    case FP_INSN_PLAIN: fp_state_step(&w->state, insn->address, d); return go_on(w);
    case FP_INSN_SKIP:
    case FP_INSN_NOP: return go_on(w);
    case FP_INSN_JUMP: return jump_to(w, insn->target);
    case FP_INSN_BRANCH:
        if (!fp_state_branches(&w->state, d, &taken)) return false;
        return taken ? jump_to(w, insn->target) : go_on(w);
    case FP_INSN_JUMP_INDIRECT:
        return fp_state_target(&w->state, insn->address, d, &target) && jump_to(w, target);
    case FP_INSN_CALL: return call(w, insn, d);
    case FP_INSN_RETURN: return return_from(w, insn, d);
    case FP_INSN_STOP: break;
    }
    return false;
}

/* ---- */

static struct sample_walk *new_walk(struct fp_arena *arena, struct fp_machine *machine,
                                    struct fp_forward *out)
{
    struct sample_walk *w = FP_NEW(arena, struct sample_walk);
    w->arena = arena, w->machine = machine, w->out = out;
    fp_table_init(&w->decoded, arena);
    fp_table_init(&w->index, arena);
    return w;
}

static bool start(struct sample_walk *w, const struct fp_register_hit *hit)
{
    const struct fp_perf_registers *regs = hit->registers;
    if (!find_place(w, hit->address, &w->from)) return false;
    w->now = w->from;
    fp_state_init(&w->state, w->machine->object, hit->bias);
    for (int k = 0; k < 16; k++)
        if (regs->known >> k & 1) fp_state_set(&w->state, k, regs->gpr[k]);
    if (regs->flags_known) fp_state_set_flags(&w->state, regs->flags);
    if (regs->known >> RSP & 1) fp_state_set_stack(&w->state, regs->stack, regs->stack_len);
    return true;
}

void fp_forward_follow(struct fp_arena *arena, struct fp_machine *machine,
                       const struct fp_perf_object *object, uint32_t event, struct fp_forward *out)
{
    struct sample_walk *w = new_walk(arena, machine, out);
    fp_table_init(&out->starts, arena);
    for (size_t i = 0; i < object->register_hits.len; i++) {
        const struct fp_register_hit *hit = &object->register_hits.at[i];
        if (hit->event != event || !start(w, hit)) continue;
        uint64_t key = (uint64_t)number_of(w, w->from.f) << 32 | block_of(&w->from);
        (*fp_table_add(&out->starts, key))++;
        out->walks++;
        for (int steps = 0; steps < MOST_STEPS && step(w); steps++) continue;
    }
}

size_t fp_forward_trace(struct fp_arena *arena, struct fp_machine *machine,
                        const struct fp_register_hit *hit, uint64_t *addresses, size_t most)
{
    struct sample_walk *w = new_walk(arena, machine, NULL);
    size_t len = 0;
    if (!most || !start(w, hit)) return 0;
    do addresses[len++] = w->now.f->insns.at[w->now.insn].address;
    while (len < most && step(w));
    return len;
}
