/* Operations of a plan as machine code: see exeops.h.
 *
 * A path register holds the address of a counter. A count is one instruction, incq, so that a
 * signal handler that counts the same path loses nothing. Where the program's flags are live they
 * are kept in rax:  seto %al; lahf; incq; add $127,%al; sahf.
 *
 * The program's registers are saved in the frame's shadow below its slot where none is free.
 * Nothing else uses that memory: no call is made meanwhile, and the frame of a signal handler is
 * more than 128 bytes below.
 */
#include "exe/exeops.h"

#include "exe/inflight.h"

enum {
    RAX = 0,
    RSP = 4,
    OP_LEA = 0x8d,
    OP_LOAD = 0x8b,
    OP_STORE = 0x89,
    OP_INC = 0xff,
    OP_ADD = 0x81,
    FIRST_SPILL = 16, /* below the slot */
    /* flags that inc changes */
    INC_FLAGS = FP_LIVE_ZF | FP_LIVE_SF | FP_LIVE_PF | FP_LIVE_AF | FP_LIVE_OF,
};

struct emitting {
    struct fp_pieces *p;
    struct fp_counting *c;
    const struct fp_op_place *at;
    struct fp_image_slot slot;
    bool has_cfa;
    uint8_t base;
    int64_t cfa;                   /* base + cfa is the CFA */
    uint32_t busy;                 /* registers that may not be taken as scratch */
    uint32_t spills;               /* registers that are saved */
    const struct fp_placed_op *op; /* the one that is being written */
    const char *why;
};

/* The operation was made by the last instruction: a frame from here on has passed it. */
static void made(struct emitting *x)
{
    x->p->left = fp_left_behind(x->c, x->op, x->p->left);
}

static void memory(struct emitting *x, uint8_t opcode, uint8_t reg, uint8_t base, int64_t disp,
                   bool gs)
{
    struct fp_new_insn n = {
        .opcode = opcode, .reg = reg, .base = base, .gs = gs, .disp = (int32_t)disp};
    if (n.disp != disp) x->why = "a distance does not fit into 32 bits";
    fp_pieces_add_memory(x->p, x->at->insn, &n);
}

/* An instruction on the frame's slot, or on a word below it. */
static void on_slot(struct emitting *x, uint8_t opcode, uint8_t reg, int64_t below)
{
    if (!x->has_cfa) {
        x->why = "its stack frame is not known where a path register is needed";
        return;
    }
    memory(x, opcode, reg, x->base, x->cfa + x->slot.distance - below, x->slot.gs);
}

static void spill(struct emitting *x, uint8_t reg)
{
    on_slot(x, OP_STORE, reg, FIRST_SPILL + 8 * (int64_t)reg);
    x->spills |= 1u << reg;
}

/* A register that may be changed here. rax may keep the flags. */
static uint8_t take_scratch(struct emitting *x)
{
    uint32_t never = x->busy | x->at->homes | 1u << RSP;
    if (x->has_cfa) never |= 1u << x->base;
    if (x->at->live & FP_LIVE_FLAGS) never |= 1u << RAX;
    uint32_t left = ~(never | x->at->live) & FP_LIVE_GPRS;
    uint8_t reg = (uint8_t)__builtin_ctz(left ? left : ~never & FP_LIVE_GPRS);
    x->busy |= 1u << reg;
    if (!left) spill(x, reg);
    return reg;
}

static void end_scratch(struct emitting *x)
{
    for (uint8_t reg = 0; reg < 16; reg++)
        if (x->spills >> reg & 1) on_slot(x, OP_LOAD, reg, FIRST_SPILL + 8 * (int64_t)reg);
    x->spills = x->busy = 0;
}

static void save_flags(struct emitting *x)
{
    static const uint8_t seto[] = {0x0f, 0x90, 0xc0}, lahf[] = {0x9f};
    if (!(x->at->live & INC_FLAGS)) return;
    if (x->at->live & 1u << RAX) spill(x, RAX);
    if (x->at->live & FP_LIVE_OF) fp_pieces_add_bytes(x->p, x->at->insn, seto, sizeof seto);
    fp_pieces_add_bytes(x->p, x->at->insn, lahf, sizeof lahf);
}

static void restore_flags(struct emitting *x)
{
    static const uint8_t add[] = {0x04, 0x7f}, sahf[] = {0x9e};
    if (!(x->at->live & INC_FLAGS)) return;
    if (x->at->live & FP_LIVE_OF) fp_pieces_add_bytes(x->p, x->at->insn, add, sizeof add);
    fp_pieces_add_bytes(x->p, x->at->insn, sahf, sizeof sahf);
}

static void counter(struct emitting *x, uint8_t opcode, uint8_t reg, int64_t value, bool gs)
{
    struct fp_new_insn n = {.opcode = opcode, .reg = reg, .gs = gs};
    fp_pieces_add_counter(x->p, x->at->insn, &n, 8 * value);
}

static void count_in_register(struct emitting *x, uint8_t home, int64_t value)
{
    uint8_t reg = home;
    if (home == FP_HOME_SLOT) {
        reg = take_scratch(x);
        on_slot(x, OP_LOAD, reg, 0);
    }
    save_flags(x);
    memory(x, OP_INC, 0, reg, 8 * value, true);
    made(x);
    restore_flags(x);
}

static void set(struct emitting *x, uint8_t home, int64_t value)
{
    uint8_t reg = home == FP_HOME_SLOT ? take_scratch(x) : home;
    counter(x, OP_LEA, reg, value, false);
    if (home == FP_HOME_SLOT) on_slot(x, OP_STORE, reg, 0);
    made(x);
}

static void add_to_slot(struct emitting *x, int64_t value)
{
    struct fp_new_insn n = {.opcode = OP_ADD,
                            .base = x->base,
                            .gs = x->slot.gs,
                            .disp = (int32_t)(x->cfa + x->slot.distance),
                            .has_immediate = true,
                            .immediate = (int32_t)(8 * value)};
    if (n.immediate != 8 * value) x->why = "a distance does not fit into 32 bits";
    if (!x->has_cfa) x->why = "its stack frame is not known where a path register is needed";
    fp_pieces_add_memory(x->p, x->at->insn, &n);
}

static void add(struct emitting *x, uint8_t home, int64_t value)
{
    if (home != FP_HOME_SLOT) {
        memory(x, OP_LEA, home, home, 8 * value, false);
    } else if (!(x->at->live & FP_LIVE_FLAGS)) {
        add_to_slot(x, value);
    } else {
        uint8_t reg = take_scratch(x);
        on_slot(x, OP_LOAD, reg, 0);
        memory(x, OP_LEA, reg, reg, 8 * value, false);
        on_slot(x, OP_STORE, reg, 0);
    }
    made(x);
}

static void emit_op(struct emitting *x, const struct fp_placed_op *op)
{
    uint8_t home = op->region == FP_NONE ? FP_HOME_NONE : x->c->home[op->region];
    x->op = op;
    switch (op->op.kind) {
    case FP_OP_NONE: break;
    case FP_OP_SET: set(x, home, op->op.value); break;
    case FP_OP_ADD: add(x, home, op->op.value); break;
    case FP_OP_COUNT:
        save_flags(x);
        counter(x, OP_INC, 0, op->op.value, true);
        made(x);
        restore_flags(x);
        break;
    case FP_OP_COUNT_REG: count_in_register(x, home, op->op.value); break;
    }
    end_scratch(x);
}

const char *fp_exe_emit_ops(struct fp_pieces *pieces, struct fp_counting *c,
                            const fp_placed_ops *ops, const struct fp_op_place *at,
                            struct fp_image_slot slot)
{
    struct emitting x = {.p = pieces, .c = c, .at = at, .slot = slot};
    if (!ops->len) return NULL;
    x.has_cfa = fp_stack_cfa(&c->stack, at->insn, &x.base, &x.cfa);
    for (size_t i = 0; i < ops->len && !x.why; i++) emit_op(&x, &ops->at[i]);
    return x.why;
}

const char *fp_exe_emit_move(struct fp_pieces *pieces, struct fp_counting *c, uint8_t from,
                             uint8_t to, uint32_t insn, struct fp_image_slot slot)
{
    struct fp_op_place at = {.insn = insn};
    struct emitting x = {.p = pieces, .c = c, .at = &at, .slot = slot};
    x.has_cfa = fp_stack_cfa(&c->stack, insn, &x.base, &x.cfa);
    if (from == FP_HOME_SLOT)
        on_slot(&x, OP_LOAD, to, 0);
    else if (to == FP_HOME_SLOT)
        on_slot(&x, OP_STORE, from, 0);
    else
        memory(&x, OP_LEA, to, from, 0, false);
    return x.why;
}
