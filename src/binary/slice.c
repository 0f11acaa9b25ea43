/* Backward search for values: see slice.h. */
#include "binary/slice.h"

enum {
    MOST_STEPS = 100000, /* instructions that one question visits */
    MOST_DEPTH = 6,      /* copies and slots between a constant and its use */
    CALLER_SAVED = 0x0fc7,
};

void fp_slice_restart(struct fp_slice *s)
{
    s->steps = 0;
}

static void add_source(struct fp_slice *s, uint32_t from, uint32_t to)
{
    struct fp_slice_source source = {from, s->first_source[to]};
    fp_vec_push(s->arena, &s->sources, source);
    s->first_source[to] = (uint32_t)s->sources.len - 1;
}

void fp_slice_add_jump(struct fp_slice *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = s->first_source[to]; i != FP_NONE; i = s->sources.at[i].next)
        if (s->sources.at[i].from == from) return;
    add_source(s, from, to);
}

static bool goes_on(const struct fp_insn *insn)
{
    return insn->kind == FP_INSN_PLAIN || insn->kind == FP_INSN_NOP || insn->kind == FP_INSN_CALL ||
           insn->kind == FP_INSN_BRANCH;
}

void fp_slice_init(struct fp_slice *s, struct fp_arena *arena, const struct fp_object *object,
                   const struct fp_machine_function *f)
{
    uint32_t n = (uint32_t)f->insns.len;
    *s = (struct fp_slice){.arena = arena, .object = object, .f = f};
    s->writes = FP_NEW_ARRAY(arena, uint16_t, n);
    s->falls = fp_bitset_new(arena, n);
    s->first_source = FP_NEW_ARRAY(arena, uint32_t, n);
    s->seen = FP_NEW_ARRAY(arena, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) s->first_source[i] = FP_NONE;
    for (uint32_t i = 0; i < n; i++) {
        const struct fp_insn *insn = &f->insns.at[i];
        struct fp_decoded_insn d;
        if (insn->kind == FP_INSN_CALL)
            s->writes[i] = CALLER_SAVED;
        else if (insn->kind == FP_INSN_PLAIN && fp_insn_decode_full(object, insn->address, &d))
            s->writes[i] = (uint16_t)fp_insn_registers(&d).writes;
        bool adjacent = i + 1 < n && f->insns.at[i + 1].address == insn->address + insn->length;
        if (adjacent && goes_on(insn)) fp_bitset_add(&s->falls, i);
        if (insn->kind != FP_INSN_JUMP && insn->kind != FP_INSN_BRANCH) continue;
        uint32_t to = fp_machine_insn(f, insn->target, true);
        if (to != FP_NONE) add_source(s, i, to);
    }
}

uint32_t fp_slice_before(const struct fp_slice *s, uint32_t at)
{
    bool falls = at > 0 && fp_bitset_has(&s->falls, at - 1);
    uint32_t first = s->first_source[at];
    if (first == FP_NONE) return falls ? at - 1 : FP_NONE;
    return falls || s->sources.at[first].next != FP_NONE ? FP_NONE : s->sources.at[first].from;
}

static void visit(struct fp_slice *s, uint32_t i, fp_slice_insns *work)
{
    if (s->seen[i] == s->search) return;
    s->seen[i] = s->search;
    fp_vec_push(s->arena, work, i);
}

static bool visit_before(struct fp_slice *s, uint32_t at, fp_slice_insns *work)
{
    if (at > 0 && fp_bitset_has(&s->falls, at - 1)) visit(s, at - 1, work);
    for (uint32_t i = s->first_source[at]; i != FP_NONE; i = s->sources.at[i].next)
        visit(s, s->sources.at[i].from, work);
    return at != 0;
}

bool fp_slice_writers(struct fp_slice *s, uint32_t at, int gpr, fp_slice_insns *writers)
{
    fp_slice_insns work = {0};
    s->search++;
    bool inside = visit_before(s, at, &work);
    for (; work.len && s->steps < MOST_STEPS; s->steps++) {
        uint32_t i = fp_vec_pop(&work);
        if (s->writes[i] >> gpr & 1) {
            if (s->f->insns.at[i].kind != FP_INSN_CALL) fp_vec_push(s->arena, writers, i);
            continue;
        }
        inside &= visit_before(s, i, &work);
    }
    return inside;
}

static bool is_slot(const ZydisDecodedOperand *op)
{
    return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.index == ZYDIS_REGISTER_NONE &&
           (op->mem.base == ZYDIS_REGISTER_RSP || op->mem.base == ZYDIS_REGISTER_RBP);
}

static void find_stores(struct fp_slice *s)
{
    s->stores_known = true;
    for (uint32_t i = 0; i < s->f->insns.len; i++) {
        struct fp_decoded_insn d;
        const struct fp_insn *insn = &s->f->insns.at[i];
        if (!(insn->flags & FP_INSN_STORES) || !fp_insn_decode_full(s->object, insn->address, &d))
            continue;
        if (d.i.mnemonic != ZYDIS_MNEMONIC_MOV || !is_slot(&d.op[0]) ||
            d.op[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
            continue;
        struct fp_slice_store store = {i, d.op[0].mem.base, d.op[0].mem.disp.value};
        fp_vec_push(s->arena, &s->stores, store);
    }
}

void fp_slice_stores(struct fp_slice *s, const ZydisDecodedOperand *load, fp_slice_insns *stores)
{
    if (!is_slot(load)) return;
    if (!s->stores_known) find_stores(s);
    for (size_t i = 0; i < s->stores.len; i++)
        if (s->stores.at[i].base == load->mem.base &&
            s->stores.at[i].offset == load->mem.disp.value)
            fp_vec_push(s->arena, stores, s->stores.at[i].insn);
}

static void add_value(struct fp_slice *s, fp_slice_values *values, uint64_t value)
{
    for (size_t i = 0; i < values->len; i++)
        if (values->at[i] == value) return;
    fp_vec_push(s->arena, values, value);
}

static void constants(struct fp_slice *s, uint32_t at, int gpr, fp_slice_values *values,
                      unsigned depth);

/* The slot of an operand, remembered from the last question as long as no new ways are known. One
 * that is being looked at gives what is known so far. */
static struct fp_slice_slot *slot_of(struct fp_slice *s, const ZydisDecodedOperand *op, bool *fresh)
{
    size_t i = 0;
    while (i < s->slots.len &&
           (s->slots.at[i].base != op->mem.base || s->slots.at[i].offset != op->mem.disp.value))
        i++;
    *fresh = i == s->slots.len || s->slots.at[i].known != s->sources.len;
    struct fp_slice_slot slot = {op->mem.base, op->mem.disp.value, s->sources.len, {0}};
    if (i == s->slots.len)
        fp_vec_push(s->arena, &s->slots, slot);
    else if (*fresh)
        s->slots.at[i] = slot;
    return &s->slots.at[i];
}

static void constants_of_slot(struct fp_slice *s, const ZydisDecodedOperand *op,
                              fp_slice_values *values, unsigned depth)
{
    fp_slice_insns stores = {0};
    fp_slice_values found = {0};
    bool fresh;
    size_t slot = (size_t)(slot_of(s, op, &fresh) - s->slots.at);
    if (fresh) {
        fp_slice_stores(s, op, &stores);
        for (size_t i = 0; i < stores.len; i++) {
            struct fp_decoded_insn store;
            uint64_t address = s->f->insns.at[stores.at[i]].address;
            if (!fp_insn_decode_full(s->object, address, &store)) continue;
            int gpr = fp_insn_gpr(store.op[1].reg.value);
            if (gpr >= 0) constants(s, stores.at[i], gpr, &found, depth + 1);
        }
        s->slots.at[slot].values.at = found.at;
        s->slots.at[slot].values.len = found.len;
    }
    for (size_t i = 0; i < s->slots.at[slot].values.len; i++)
        add_value(s, values, s->slots.at[slot].values.at[i]);
}

static void constants_of_writer(struct fp_slice *s, uint32_t at, fp_slice_values *values,
                                unsigned depth)
{
    struct fp_decoded_insn d;
    if (!fp_insn_decode_full(s->object, s->f->insns.at[at].address, &d)) return;
    const ZydisDecodedOperand *from = &d.op[1];
    if (d.i.mnemonic == ZYDIS_MNEMONIC_LEA && from->mem.base == ZYDIS_REGISTER_RIP)
        add_value(s, values,
                  s->f->insns.at[at].address + d.i.length + (uint64_t)from->mem.disp.value);
    if (d.i.mnemonic != ZYDIS_MNEMONIC_MOV && d.i.meta.category != ZYDIS_CATEGORY_CMOV) return;
    if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) add_value(s, values, from->imm.value.u);
    if (from->type == ZYDIS_OPERAND_TYPE_REGISTER && fp_insn_gpr(from->reg.value) >= 0)
        constants(s, at, fp_insn_gpr(from->reg.value), values, depth + 1);
    if (d.i.meta.category == ZYDIS_CATEGORY_CMOV)
        constants(s, at, fp_insn_gpr(d.op[0].reg.value), values, depth + 1);
    if (is_slot(from)) constants_of_slot(s, from, values, depth);
}

static void constants(struct fp_slice *s, uint32_t at, int gpr, fp_slice_values *values,
                      unsigned depth)
{
    fp_slice_insns writers = {0};
    if (depth > MOST_DEPTH) return;
    fp_slice_writers(s, at, gpr, &writers);
    for (size_t i = 0; i < writers.len; i++) constants_of_writer(s, writers.at[i], values, depth);
}

void fp_slice_constants(struct fp_slice *s, uint32_t at, int gpr, fp_slice_values *values)
{
    constants(s, at, gpr, values, 0);
}
