/* Indirect jumps of a recovered function: see jumpsof.h. */
#include "binary/jumpsof.h"

enum { MOST_ROUNDS = 8, MOST_ENTRIES = 1 << 20 };

/* ---- tables ---- */

static bool starts_insn(const struct fp_reference_code *code, uint64_t address)
{
    uint32_t low = 0, high = code->ninsns;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (code->insns[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < code->ninsns && code->insns[low].address == address;
}

static enum fp_jump_place place_of(const void *context, uint64_t target)
{
    const struct fp_jumps *j = context;
    const struct fp_machine_function *f = j->f;
    if (fp_machine_insn(f, target, true) != FP_NONE) return FP_PLACE_INSIDE;
    for (size_t i = 0; i < f->ranges.len; i++)
        if (target == f->ranges.at[i].address + f->ranges.at[i].size) return FP_PLACE_HOLE;
    const struct fp_fde *fde = fp_frames_find(j->parts->frames, target);
    if (!fde) return FP_PLACE_OUTSIDE;
    uint32_t index = (uint32_t)(fde - j->parts->frames->fdes.at);
    if (!starts_insn(&j->parts->references->code[index], target)) return FP_PLACE_OUTSIDE;
    struct fp_reference jump = {target, j->looking_at, FP_REFERENCE_JUMP};
    if (!fp_parts_agree(j->parts, &jump)) return FP_PLACE_HOLE; /* never taken */
    return fp_parts_joinable(j->parts, index, j->root) ? FP_PLACE_PART : FP_PLACE_OUTSIDE;
}

/* What the tables of a jump show: further parts, and further ways through the function. Gives
 * whether a way is new. */
static bool use_table(struct fp_jumps *j, struct fp_slice *slice, uint32_t jump,
                      const struct fp_machine_table *table)
{
    size_t before = slice->sources.len;
    for (size_t k = 0; k < table->ntargets; k++) {
        if (!table->targets[k]) continue;
        uint32_t to = fp_machine_insn(j->f, table->targets[k], true);
        if (to != FP_NONE) {
            fp_slice_add_jump(slice, jump, to);
            continue;
        }
        const struct fp_fde *fde = fp_frames_find(j->parts->frames, table->targets[k]);
        uint32_t index = (uint32_t)(fde - j->parts->frames->fdes.at);
        if (table->bounded || j->parts->kind[index] == FP_PART_PART)
            fp_vec_push(j->arena, &j->joins, index);
        else
            j->problem = "a jump table leads out of it";
    }
    return slice->sources.len > before;
}

void fp_jumps_find(struct fp_jumps *j)
{
    struct fp_slice slice;
    size_t entries_left = MOST_ENTRIES;
    struct fp_jump_search search = {.arena = j->arena,
                                    .entries_left = &entries_left,
                                    .object = j->parts->frames->object,
                                    .f = j->f,
                                    .slice = &slice,
                                    .named = j->parts->references->named.at,
                                    .nnamed = j->parts->references->named.len,
                                    .place = place_of,
                                    .context = j};
    for (uint32_t i = 0; i < j->f->insns.len; i++)
        if (j->f->insns.at[i].kind == FP_INSN_JUMP_INDIRECT) {
            fp_vec_push(j->arena, &j->insns, i);
            fp_vec_push(j->arena, &j->founds, (struct fp_jump_found){0});
        }
    if (!j->insns.len) return;
    fp_slice_init(&slice, j->arena, search.object, j->f);
    bool more = true;
    for (int round = 0; more && round < MOST_ROUNDS; round++) {
        more = false;
        for (size_t i = 0; i < j->insns.len; i++) {
            struct fp_jump_found *found = &j->founds.at[i];
            j->looking_at = j->f->insns.at[j->insns.at[i]].address;
            fp_jump_find(&search, j->insns.at[i], found);
            for (size_t t = 0; t < found->tables.len; t++)
                more |= use_table(j, &slice, j->insns.at[i], &found->tables.at[t]);
            for (size_t k = 0; k < found->labels.len; k++)
                fp_slice_add_jump(&slice, j->insns.at[i],
                                  fp_machine_insn(j->f, found->labels.at[k], true));
        }
    }
    if (!entries_left) j->problem = "its jump tables are too large";
    for (size_t i = 0; i < j->founds.len; i++)
        if (j->founds.at[i].leads_out) j->problem = "a jump table leads out of it";
}

/* ---- labels ---- */

/* An entry of a table that was found, a base of its entries, or a label that a jump was seen to
 * use. */
static bool explained(const struct fp_jumps *j, const struct fp_reference *reference)
{
    for (size_t i = 0; i < j->founds.len; i++) {
        const struct fp_jump_found *found = &j->founds.at[i];
        for (size_t t = 0; t < found->tables.len; t++) {
            const struct fp_machine_table *table = &found->tables.at[t];
            if (reference->kind == FP_REFERENCE_POINTER &&
                reference->from - table->address < table->ntargets * table->entry)
                return true;
        }
        if (reference->kind != FP_REFERENCE_NAMED) continue;
        for (size_t k = 0; k < found->bases.len; k++)
            if (found->bases.at[k] == reference->target) return true;
        for (size_t k = 0; k < found->labels.len; k++)
            if (found->labels.at[k] == reference->target) return true;
    }
    return false;
}

static bool is_label(const struct fp_jumps *j, uint64_t address)
{
    return address != j->f->ranges.at[0].address && fp_machine_insn(j->f, address, true) != FP_NONE;
}

/* In an object at a fixed address, text and numbers may look like pointers. A label is sure where
 * the function itself names it, or where it lies beside another one. */
static bool is_sure(const struct fp_jumps *j, const struct fp_reference *reference)
{
    const struct fp_object *o = j->parts->references->object;
    uint64_t value;
    if (!o->fixed) return true;
    if (reference->kind == FP_REFERENCE_NAMED)
        return fp_machine_insn(j->f, reference->from, true) != FP_NONE;
    return (fp_object_pointer(o, reference->from + 8, &value) && is_label(j, value)) ||
           (fp_object_pointer(o, reference->from - 8, &value) && is_label(j, value));
}

static void labels_of_range(struct fp_jumps *j, const struct fp_code_range *range,
                            struct fp_arena *arena)
{
    const struct fp_references *r = j->parts->references;
    for (size_t k = fp_references_from(r, range->address); k < r->all.len; k++) {
        const struct fp_reference *reference = &r->all.at[k];
        uint64_t target = reference->target;
        if (target - range->address >= range->size) break;
        if (target == j->f->ranges.at[0].address) continue;
        if (reference->kind != FP_REFERENCE_NAMED && reference->kind != FP_REFERENCE_POINTER)
            continue;
        if (explained(j, reference)) continue;
        if (!is_label(j, target)) {
            if (!r->object->fixed) j->problem = "a pointer leads into an instruction of it";
            continue;
        }
        j->sure_labels |= is_sure(j, reference);
        size_t n = j->f->labels.len;
        if (!n || j->f->labels.at[n - 1] != target) fp_vec_push(arena, &j->f->labels, target);
    }
}

void fp_jumps_labels(struct fp_jumps *j, struct fp_arena *arena)
{
    for (size_t i = 0; i < j->f->ranges.len; i++) labels_of_range(j, &j->f->ranges.at[i], arena);
}

/* ---- targets ---- */

struct target_list {
    struct fp_arena *arena;
    const struct fp_machine_function *f;
    struct fp_table seen;
    FP_VEC(uint32_t) targets;
    FP_VEC(size_t) entries;
};

static void add_target(struct target_list *list, uint64_t address, size_t entry)
{
    uint32_t insn = fp_machine_insn(list->f, address, true);
    if (insn == FP_NONE) return;
    uint64_t *seen = fp_table_add(&list->seen, insn);
    if (*seen) return;
    *seen = 1;
    fp_vec_push(list->arena, &list->targets, insn);
    fp_vec_push(list->arena, &list->entries, entry);
}

static void add_table_targets(struct target_list *list, const struct fp_machine_table *table)
{
    for (size_t k = 0; k < table->ntargets; k++)
        if (table->targets[k]) add_target(list, table->targets[k], k);
}

/* The stack is as a call left it: the jump can be a tail call. */
static bool may_leave(const struct fp_jumps *j, uint32_t jump)
{
    struct fp_frame_row row;
    uint64_t address = j->f->insns.at[jump].address;
    const struct fp_fde *fde = fp_frames_find(j->parts->frames, address);
    return !fde || !fp_frames_row(j->parts->frames, fde, address, &row) || row.cfa_is_expression ||
           (row.cfa_register == FP_FRAME_RSP && row.cfa_offset == 8);
}

/* All tables of distances that the function's code names: one of them may be the jump's. */
static void add_named_tables(struct fp_jumps *j, struct target_list *list)
{
    const struct fp_references *r = j->parts->references;
    size_t entries_left = MOST_ENTRIES;
    struct fp_jump_search search = {.arena = j->arena,
                                    .entries_left = &entries_left,
                                    .object = r->object,
                                    .f = j->f,
                                    .named = r->named.at,
                                    .nnamed = r->named.len,
                                    .place = place_of,
                                    .context = j};
    for (uint32_t i = 0; i < j->f->insns.len; i++) {
        struct fp_decoded_insn d;
        struct fp_machine_table table;
        const struct fp_insn *insn = &j->f->insns.at[i];
        if (insn->kind != FP_INSN_PLAIN || !fp_insn_decode_full(r->object, insn->address, &d))
            continue;
        if (d.i.mnemonic != ZYDIS_MNEMONIC_LEA || d.op[1].mem.base != ZYDIS_REGISTER_RIP) continue;
        uint64_t address = insn->address + d.i.length + (uint64_t)d.op[1].mem.disp.value;
        if (fp_jump_read_distances(&search, address, &table)) add_table_targets(list, &table);
    }
}

static void decide_jump(struct fp_jumps *j, size_t i, struct fp_exact_jump *jump, bool labels_left)
{
    const struct fp_jump_found *found = &j->founds.at[i];
    struct target_list list = {.arena = j->arena, .f = j->f};
    fp_table_init(&list.seen, j->arena);
    jump->insn = j->insns.at[i];
    j->looking_at = j->f->insns.at[jump->insn].address;
    for (size_t t = 0; t < found->tables.len; t++) add_table_targets(&list, &found->tables.at[t]);
    for (size_t k = 0; k < found->labels.len; k++) add_target(&list, found->labels.at[k], k);
    bool open = found->pointer || !list.targets.len, leaves = may_leave(j, jump->insn);
    if (open && !leaves) {
        for (size_t k = 0; k < j->f->labels.len; k++) add_target(&list, j->f->labels.at[k], k);
        if (found->indexed || !list.targets.len) add_named_tables(j, &list);
        if (!list.targets.len) j->problem = "an indirect jump leads to unknown places";
        j->f->unresolved++;
    } else if (open && (labels_left || list.targets.len)) {
        j->problem = "an indirect jump is either a tail call or not";
    }
    jump->targets = list.targets.at;
    jump->entries = list.entries.at;
    jump->ntargets = list.targets.len;
}

void fp_jumps_decide(struct fp_jumps *j, struct fp_exact_input *in)
{
    bool inner = false; /* a jump that cannot be a tail call: the labels are for it */
    for (size_t i = 0; i < j->insns.len; i++) {
        const struct fp_jump_found *found = &j->founds.at[i];
        bool open = found->pointer || !(found->tables.len || found->labels.len);
        inner |= open && !may_leave(j, j->insns.at[i]);
    }
    in->jumps = FP_NEW_ARRAY(j->arena, struct fp_exact_jump, j->insns.len);
    in->njumps = j->insns.len;
    for (size_t i = 0; i < j->insns.len; i++)
        decide_jump(j, i, &in->jumps[i], j->sure_labels && !inner);
    if (j->sure_labels && !inner && !j->problem) j->problem = "a pointer leads into its middle";
    if (!j->sure_labels && !inner) j->f->labels.len = 0;
}
