/* Jumps that a moved function leaves behind: see moving.h.
 *
 * Bytes of the old body are free if they belong to an instruction of a block, or to padding,
 * also that between the function and the next one. Jumps are placed
 * from the lowest target to the highest; a target whose next one is too near gets a short jump.
 * Slots for these are looked for afterwards, in what is left. */
#include "binary/moving.h"

#include "base/bitset.h"

#include <stdlib.h>

enum { NEAR_JUMP = 5, SHORT_JUMP = 2, ENDBR = 4, REACH = 127, MOST_PADDING = 15 };

struct moving_work {
    struct fp_arena *arena;
    const struct fp_object *object;
    const struct fp_machine_function *f;
    const struct fp_machine *machine;
    struct fp_bitset *taken; /* per range: bytes that are not free, of it and of its padding */
    uint64_t *room;          /* per range: its size, and that of the padding behind it */
    FP_VEC(struct fp_moving_jump) jumps;
};

/* ---- targets ---- */

static void add_target(struct moving_work *w, uint32_t insn)
{
    struct fp_moving_jump jump = {
        .target = w->f->insns.at[insn].address, .insn = insn, .block = w->f->insns.at[insn].block};
    fp_vec_push(w->arena, &w->jumps, jump);
}

static int by_target(const void *a, const void *b)
{
    const struct fp_moving_jump *x = a, *y = b;
    return x->target < y->target ? -1 : x->target > y->target;
}

/* The entry, and what switch edges and hubs lead to. Landing pads are reached through tables that
 * are written anew. */
static void find_targets(struct moving_work *w)
{
    const struct fp_cfg *cfg = w->f->cfg;
    struct fp_bitset seen = fp_bitset_new(w->arena, cfg->nblocks);
    add_target(w, 0);
    fp_bitset_add(&seen, 0);
    for (uint32_t e = 0; e < cfg->nedges; e++) {
        const struct fp_edge *edge = &cfg->edges[e];
        bool pointer = edge->kind == FP_EDGE_SWITCH || cfg->flags[edge->src] & FP_BLOCK_HUB;
        if (!pointer || fp_bitset_has(&seen, edge->dst)) continue;
        fp_bitset_add(&seen, edge->dst);
        if (w->f->blocks[edge->dst].ninsns) add_target(w, w->f->blocks[edge->dst].first_insn);
    }
    qsort(w->jumps.at, w->jumps.len, sizeof *w->jumps.at, by_target);
}

/* ---- bytes ---- */

static size_t range_at(const struct moving_work *w, uint64_t address)
{
    size_t i = 0;
    while (address - w->f->ranges.at[i].address >= w->f->ranges.at[i].size) i++;
    return i;
}

/* Where the next function begins. */
static uint64_t next_code(const struct fp_machine *m, uint64_t end)
{
    size_t low = 0, high = m->spans.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->spans.at[middle].address < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < m->spans.len ? m->spans.at[low].address : UINT64_MAX;
}

/* Bytes behind a function that only align the next one. */
static uint64_t padding_behind(const struct moving_work *w, uint64_t end)
{
    size_t len;
    const unsigned char *bytes = fp_object_bytes(w->object, end, &len);
    uint64_t next = next_code(w->machine, end), at = 0;
    if (!bytes || next == UINT64_MAX || next % 16) return 0;
    if (len > next - end) len = next - end;
    if (len > MOST_PADDING) return 0;
    while (at < len) {
        struct fp_insn insn;
        unsigned size = fp_insn_decode(bytes + at, len - at, end + at, &insn);
        if (insn.kind != FP_INSN_NOP && bytes[at] != 0xcc) return 0;
        at += size;
    }
    return len;
}

static void mark_taken(struct moving_work *w)
{
    w->taken = FP_NEW_ARRAY(w->arena, struct fp_bitset, w->f->ranges.len);
    w->room = FP_NEW_ARRAY(w->arena, uint64_t, w->f->ranges.len);
    for (size_t r = 0; r < w->f->ranges.len; r++) {
        const struct fp_code_range *range = &w->f->ranges.at[r];
        w->room[r] = range->size + padding_behind(w, range->address + range->size);
        w->taken[r] = fp_bitset_new(w->arena, w->room[r]);
        for (size_t i = 0; i < range->size; i++) fp_bitset_add(&w->taken[r], i);
        for (uint32_t i = range->first_insn; i < range->first_insn + range->ninsns; i++) {
            const struct fp_insn *insn = &w->f->insns.at[i];
            bool unused = insn->block != FP_NONE || insn->kind == FP_INSN_NOP;
            for (unsigned k = 0; unused && k < insn->length; k++)
                fp_bitset_remove(&w->taken[r], insn->address + k - range->address);
        }
    }
}

static bool free_at(const struct moving_work *w, size_t range, uint64_t offset, unsigned size)
{
    if (offset + size > w->room[range]) return false;
    for (unsigned i = 0; i < size; i++)
        if (fp_bitset_has(&w->taken[range], offset + i)) return false;
    return true;
}

static void take(struct moving_work *w, size_t range, uint64_t offset, unsigned size)
{
    for (unsigned i = 0; i < size; i++) fp_bitset_add(&w->taken[range], offset + i);
}

static bool is_endbr(const struct moving_work *w, uint64_t address)
{
    static const unsigned char endbr64[ENDBR] = {0xf3, 0x0f, 0x1e, 0xfa};
    size_t len;
    const unsigned char *bytes = fp_object_bytes(w->object, address, &len);
    return bytes && len >= ENDBR && !memcmp(bytes, endbr64, ENDBR);
}

/* ---- placing ---- */

/* The endbr64s first: no jump or slot may lie on them or on another target. */
static bool reserve_targets(struct moving_work *w)
{
    for (size_t i = 0; i < w->jumps.len; i++) {
        struct fp_moving_jump *jump = &w->jumps.at[i];
        size_t range = range_at(w, jump->target);
        uint64_t offset = jump->target - w->f->ranges.at[range].address;
        bool endbr = is_endbr(w, jump->target);
        unsigned size = SHORT_JUMP + (endbr ? ENDBR : 0);
        jump->at = jump->target + (endbr ? ENDBR : 0);
        if (!free_at(w, range, offset, size)) return false;
        take(w, range, offset, size);
    }
    return true;
}

/* Widens a short jump to a near one where the bytes behind it are free. */
static bool widen(struct moving_work *w, const struct fp_moving_jump *jump)
{
    size_t range = range_at(w, jump->target);
    uint64_t behind = jump->at + SHORT_JUMP - w->f->ranges.at[range].address;
    if (!free_at(w, range, behind, NEAR_JUMP - SHORT_JUMP)) return false;
    take(w, range, behind, NEAR_JUMP - SHORT_JUMP);
    return true;
}

static bool find_slot(struct moving_work *w, struct fp_moving_jump *jump)
{
    size_t range = range_at(w, jump->target);
    uint64_t start = w->f->ranges.at[range].address, from = jump->at + SHORT_JUMP;
    uint64_t low = from - start > REACH + 1 ? from - REACH - 1 : start;
    for (uint64_t at = low; at <= from + REACH; at++) {
        if (!free_at(w, range, at - start, NEAR_JUMP)) continue;
        take(w, range, at - start, NEAR_JUMP);
        jump->slot = at;
        return true;
    }
    return false;
}

const char *fp_moving_check(struct fp_arena *arena, const struct fp_machine *machine,
                            const struct fp_machine_function *f, struct fp_moving *moving)
{
    struct moving_work w = {.arena = arena, .object = machine->object, .machine = machine, .f = f};
    FP_VEC(size_t) crowded = {0};
    *moving = (struct fp_moving){0};
    if (f->refused) return f->refused;
    find_targets(&w);
    mark_taken(&w);
    if (!reserve_targets(&w)) return "no room for a jump in front of its new place";
    for (size_t i = 0; i < w.jumps.len; i++)
        if (!widen(&w, &w.jumps.at[i])) fp_vec_push(arena, &crowded, i);
    for (size_t i = 0; i < crowded.len; i++)
        if (!find_slot(&w, &w.jumps.at[crowded.at[i]]))
            return "no room for a jump to its new place";
    moving->jumps = w.jumps.at;
    moving->njumps = w.jumps.len;
    return NULL;
}
