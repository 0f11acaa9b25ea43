/* Jump tables: see jumptable.h. */
#include "binary/jumptable.h"

#include "binary/tablebound.h"

enum { MOST_ENTRIES = 65536, MOST_DEPTH = 5 };

struct table_search {
    const struct fp_jump_search *s;
    struct fp_jump_found *found;
    uint32_t jump;
};

static uint64_t address_of(const struct table_search *t, uint32_t insn)
{
    return t->s->f->insns.at[insn].address;
}

static bool decode(const struct table_search *t, uint32_t insn, struct fp_decoded_insn *d)
{
    return fp_insn_decode_full(t->s->object, address_of(t, insn), d);
}

/* ---- entries ---- */

static enum fp_jump_place place_of(const struct fp_jump_search *s, uint64_t target)
{
    if (s->place) return s->place(s->context, target);
    if (fp_machine_insn(s->f, target, true) != FP_NONE) return FP_PLACE_INSIDE;
    for (size_t i = 0; i < s->f->ranges.len; i++)
        if (target == s->f->ranges.at[i].address + s->f->ranges.at[i].size) return FP_PLACE_HOLE;
    return FP_PLACE_OUTSIDE;
}

static bool read_entry(const struct fp_jump_search *s, const struct fp_machine_table *table,
                       size_t index, uint64_t *target)
{
    uint64_t at = table->address + index * table->entry;
    if (table->entry == 8 && !table->base) {
        if (!s->object->fixed && !fp_table_find(&s->object->pointers, at)) return false;
        return fp_object_pointer(s->object, at, target);
    }
    size_t len;
    const unsigned char *bytes = fp_object_bytes(s->object, at, &len);
    int32_t distance;
    if (!bytes || len < table->entry) return false;
    if (table->entry == 8) {
        memcpy(target, bytes, 8);
    } else {
        memcpy(&distance, bytes, 4);
        *target = (uint64_t)(int64_t)distance;
    }
    *target += table->base;
    return true;
}

/* Whether code names an address of data for a use of its own. */
static bool named(const struct fp_jump_search *s, uint64_t address)
{
    size_t low = 0, high = s->nnamed;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->named[middle] < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->nnamed && s->named[low] == address;
}

/* The first entry, up to one, that has a name of its own; 0: none. */
static size_t first_named(const struct fp_jump_search *s, const struct fp_machine_table *table,
                          size_t up_to)
{
    for (size_t i = 1; i <= up_to; i++)
        if (named(s, table->address + i * table->entry)) return i;
    return 0;
}

static size_t last_good(const uint64_t *targets, size_t count)
{
    while (count && !targets[count - 1]) count--;
    return count;
}

/* Reads entries up to the bound, or else as far as they lead somewhere. False where none leads
 * into the function or its parts. */
static bool read_entries(const struct fp_jump_search *s, struct fp_machine_table *table,
                         struct fp_table_size size, bool *leads_out)
{
    FP_VEC(uint64_t) targets = {0};
    size_t most = size.entries ? size.entries : size.limit ? size.limit : MOST_ENTRIES;
    table->bounded = size.entries != 0;
    for (size_t i = 0; i < most; i++) {
        uint64_t target;
        if (!table->bounded && i > 0 && named(s, table->address + i * table->entry)) break;
        bool spent = s->entries_left && !*s->entries_left;
        if (spent || !read_entry(s, table, i, &target)) {
            *leads_out |= table->bounded;
            break;
        }
        if (s->entries_left) --*s->entries_left;
        enum fp_jump_place place = place_of(s, target);
        if (place == FP_PLACE_OUTSIDE && table->bounded) {
            /* the check may have been of another switch of the same value, with more cases */
            size_t cut = first_named(s, table, i);
            table->bounded = false;
            *leads_out = !cut;
            if (cut) targets.len = cut;
        }
        if (place == FP_PLACE_OUTSIDE) break;
        bool good = place == FP_PLACE_INSIDE || place == FP_PLACE_PART;
        fp_vec_push(s->arena, &targets, good ? target : 0);
    }
    table->targets = targets.at;
    size_t last = last_good(targets.at, targets.len);
    table->ntargets = table->bounded ? targets.len : last;
    return last > 0;
}

static bool add_table(struct table_search *t, struct fp_machine_table *table,
                      struct fp_table_size size)
{
    bool leads_out = false;
    for (size_t i = 0; i < t->found->tables.len; i++)
        if (t->found->tables.at[i].address == table->address &&
            t->found->tables.at[i].base == table->base)
            return true;
    table->jump = t->jump;
    if (!read_entries(t->s, table, size, &leads_out)) return false;
    t->found->leads_out |= leads_out;
    fp_vec_push(t->s->arena, &t->found->tables, *table);
    return true;
}

bool fp_jump_read_distances(const struct fp_jump_search *s, uint64_t address,
                            struct fp_machine_table *table)
{
    bool leads_out = false;
    *table = (struct fp_machine_table){.address = address, .base = address, .entry = 4};
    return read_entries(s, table, (struct fp_table_size){0}, &leads_out);
}

/* ---- the load of an entry ---- */

/* The addresses that the array of a memory operand may have, and its index register if it has one
 * of the right scale. */
static void array_of(struct table_search *t, uint32_t at, const ZydisDecodedOperandMem *mem,
                     unsigned scale, fp_slice_values *arrays, ZydisRegister *index)
{
    *index = mem->scale == scale ? mem->index : ZYDIS_REGISTER_NONE;
    size_t before = arrays->len;
    if (mem->base == ZYDIS_REGISTER_NONE && mem->index != ZYDIS_REGISTER_NONE)
        fp_vec_push(t->s->arena, arrays, 0);
    else if (fp_insn_gpr(mem->base) >= 0 && mem->index != ZYDIS_REGISTER_NONE)
        fp_slice_constants(t->s->slice, at, fp_insn_gpr(mem->base), arrays);
    if (mem->scale == 1 && fp_insn_gpr(mem->index) >= 0) /* the index is scaled already */
        fp_slice_constants(t->s->slice, at, fp_insn_gpr(mem->index), arrays);
    for (size_t i = before; i < arrays->len; i++) arrays->at[i] += (uint64_t)mem->disp.value;
}

static void tables_of_addresses(struct table_search *t, uint32_t at,
                                const ZydisDecodedOperandMem *mem)
{
    fp_slice_values arrays = {0};
    ZydisRegister index;
    bool any = false;
    array_of(t, at, mem, 8, &arrays, &index);
    struct fp_table_size size = fp_table_bound(t->s->slice, at, index);
    for (size_t i = 0; i < arrays.len; i++) {
        struct fp_machine_table table = {.address = arrays.at[i], .entry = 8};
        any |= add_table(t, &table, size);
    }
    if (any) return;
    t->found->pointer = true;
    /* an array of pointers to functions has no entry that leads into this one */
    if (mem->index != ZYDIS_REGISTER_NONE && !arrays.len) t->found->indexed = true;
}

struct distance_load {
    uint32_t at;
    uint8_t entry;
    ZydisDecodedOperandMem mem;
};
typedef FP_VEC(struct distance_load) distance_loads;

/* The loads from memory that give a register its value, by way of copies and sign extension. */
static void loads_of(struct table_search *t, uint32_t at, int gpr, distance_loads *loads,
                     unsigned depth)
{
    fp_slice_insns writers = {0};
    if (depth > MOST_DEPTH || gpr < 0) return;
    fp_slice_writers(t->s->slice, at, gpr, &writers);
    for (size_t i = 0; i < writers.len; i++) {
        struct fp_decoded_insn d;
        if (!decode(t, writers.at[i], &d)) continue;
        if (d.i.mnemonic == ZYDIS_MNEMONIC_CDQE) {
            loads_of(t, writers.at[i], 0, loads, depth + 1);
            continue;
        }
        if (d.i.mnemonic != ZYDIS_MNEMONIC_MOV && d.i.mnemonic != ZYDIS_MNEMONIC_MOVSXD) continue;
        if (d.op[1].type == ZYDIS_OPERAND_TYPE_REGISTER)
            loads_of(t, writers.at[i], fp_insn_gpr(d.op[1].reg.value), loads, depth + 1);
        if (d.op[1].type != ZYDIS_OPERAND_TYPE_MEMORY) continue;
        struct distance_load load = {writers.at[i], (uint8_t)(d.op[1].size / 8), d.op[1].mem};
        if (load.entry == 4 || load.entry == 8) fp_vec_push(t->s->arena, loads, load);
    }
}

/* Distances that `load` reads, added to one of `bases`. */
static bool tables_of_distances(struct table_search *t, const struct distance_load *load,
                                const fp_slice_values *bases)
{
    fp_slice_values arrays = {0};
    ZydisRegister index;
    bool any = false;
    array_of(t, load->at, &load->mem, load->entry, &arrays, &index);
    struct fp_table_size size = fp_table_bound(t->s->slice, load->at, index);
    for (size_t i = 0; i < arrays.len; i++) {
        bool own = false;
        for (size_t k = 0; k < bases->len; k++) own |= bases->at[k] == arrays.at[i];
        for (size_t k = 0; k < bases->len; k++) {
            if (own && bases->at[k] != arrays.at[i]) continue;
            struct fp_machine_table table = {
                .address = arrays.at[i], .base = bases->at[k], .entry = load->entry};
            bool added = add_table(t, &table, size);
            any |= added;
            if (added && !own) fp_vec_push(t->s->arena, &t->found->bases, bases->at[k]);
        }
    }
    return any;
}

/* The sum of two registers: one was loaded, the other is the base. */
static void sum_of(struct table_search *t, uint32_t at, ZydisRegister a, ZydisRegister b)
{
    int regs[2] = {fp_insn_gpr(a), fp_insn_gpr(b)};
    bool any = false;
    for (int k = 0; k < 2; k++) {
        distance_loads loads = {0};
        fp_slice_values bases = {0};
        if (regs[k] < 0 || regs[1 - k] < 0) continue;
        loads_of(t, at, regs[k], &loads, 0);
        if (loads.len) fp_slice_constants(t->s->slice, at, regs[1 - k], &bases);
        for (size_t i = 0; i < loads.len; i++) any |= tables_of_distances(t, &loads.at[i], &bases);
    }
    t->found->indexed |= !any;
    t->found->pointer |= !any;
}

/* The sum of a register that was loaded and a constant: labels at fixed addresses. */
static void sum_with(struct table_search *t, uint32_t at, ZydisRegister reg, uint64_t base)
{
    distance_loads loads = {0};
    fp_slice_values bases = {0};
    bool any = false;
    fp_vec_push(t->s->arena, &bases, base);
    loads_of(t, at, fp_insn_gpr(reg), &loads, 0);
    for (size_t i = 0; i < loads.len; i++) any |= tables_of_distances(t, &loads.at[i], &bases);
    t->found->indexed |= !any;
    t->found->pointer |= !any;
}

/* ---- the value that is jumped to ---- */

static void values_of(struct table_search *t, uint32_t at, int gpr, unsigned depth);

static void value_from_memory(struct table_search *t, uint32_t at, const ZydisDecodedOperand *op,
                              unsigned depth)
{
    fp_slice_insns stores = {0};
    fp_slice_stores(t->s->slice, op, &stores);
    for (size_t i = 0; i < stores.len; i++) {
        struct fp_decoded_insn d;
        if (decode(t, stores.at[i], &d) && fp_insn_gpr(d.op[1].reg.value) >= 0)
            values_of(t, stores.at[i], fp_insn_gpr(d.op[1].reg.value), depth + 1);
    }
    if (!stores.len) tables_of_addresses(t, at, &op->mem);
}

static void value_of_writer(struct table_search *t, uint32_t at, unsigned depth)
{
    struct fp_decoded_insn d;
    if (!decode(t, at, &d)) return;
    const ZydisDecodedOperand *to = &d.op[0], *from = &d.op[1];
    bool cmov = d.i.meta.category == ZYDIS_CATEGORY_CMOV;
    if (d.i.mnemonic == ZYDIS_MNEMONIC_LEA) {
        uint64_t label = address_of(t, at) + d.i.length + (uint64_t)from->mem.disp.value;
        if (from->mem.base != ZYDIS_REGISTER_RIP && from->mem.index == ZYDIS_REGISTER_NONE)
            sum_with(t, at, from->mem.base, (uint64_t)from->mem.disp.value);
        else if (from->mem.base != ZYDIS_REGISTER_RIP)
            sum_of(t, at, from->mem.base, from->mem.index);
        else if (place_of(t->s, label) == FP_PLACE_INSIDE)
            fp_vec_push(t->s->arena, &t->found->labels, label);
        else
            t->found->pointer = true;
    } else if (d.i.mnemonic == ZYDIS_MNEMONIC_ADD && from->type == ZYDIS_OPERAND_TYPE_REGISTER) {
        sum_of(t, at, to->reg.value, from->reg.value);
    } else if (d.i.mnemonic == ZYDIS_MNEMONIC_ADD && from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
        sum_with(t, at, to->reg.value, from->imm.value.u);
    } else if (d.i.mnemonic == ZYDIS_MNEMONIC_MOV || cmov) {
        if (cmov) values_of(t, at, fp_insn_gpr(to->reg.value), depth + 1);
        if (from->type == ZYDIS_OPERAND_TYPE_MEMORY) value_from_memory(t, at, from, depth);
        if (from->type == ZYDIS_OPERAND_TYPE_REGISTER)
            values_of(t, at, fp_insn_gpr(from->reg.value), depth + 1);
        if (from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
            place_of(t->s, from->imm.value.u) == FP_PLACE_INSIDE)
            fp_vec_push(t->s->arena, &t->found->labels, from->imm.value.u);
    } else {
        t->found->pointer = true;
    }
}

static void values_of(struct table_search *t, uint32_t at, int gpr, unsigned depth)
{
    fp_slice_insns writers = {0};
    if (gpr < 0 || depth > MOST_DEPTH || !fp_slice_writers(t->s->slice, at, gpr, &writers) ||
        !writers.len)
        t->found->pointer = true;
    for (size_t i = 0; i < writers.len; i++) value_of_writer(t, writers.at[i], depth);
}

void fp_jump_find(const struct fp_jump_search *s, uint32_t jump, struct fp_jump_found *found)
{
    struct table_search t = {.s = s, .found = found, .jump = jump};
    struct fp_decoded_insn d;
    *found = (struct fp_jump_found){0};
    fp_slice_restart(s->slice);
    if (!decode(&t, jump, &d)) return;
    if (d.op[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
        value_from_memory(&t, jump, &d.op[0], 0);
    else if (d.op[0].type == ZYDIS_OPERAND_TYPE_REGISTER)
        values_of(&t, jump, fp_insn_gpr(d.op[0].reg.value), 0);
}
