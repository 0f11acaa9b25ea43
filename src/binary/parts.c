/* Functions and their parts: see parts.h. */
#include "binary/parts.h"

#include <string.h>

enum { NEAR_WORDS = 16 };

static bool ignored(const struct fp_parts *p, uint32_t i)
{
    const struct fp_fde *fde = &p->frames->fdes.at[i];
    const struct fp_object *o = p->frames->object;
    if (!p->references->code[i].ninsns) return true;
    if (i && p->frames->fdes.at[i - 1].start == fde->start &&
        p->frames->fdes.at[i - 1].size == fde->size)
        return true;
    for (size_t k = 0; k < o->sections.len; k++) {
        const struct fp_section *s = &o->sections.at[k];
        if (fde->start - s->address < s->size)
            return !strncmp(s->name, ".plt", 4) || fde->size > s->size - (fde->start - s->address);
    }
    return true;
}

/* The stack as a call leaves it. */
static bool starts_called(const struct fp_parts *p, uint32_t i)
{
    struct fp_frame_row row;
    const struct fp_fde *fde = &p->frames->fdes.at[i];
    return fp_frames_row(p->frames, fde, fde->start, &row) && !row.cfa_is_expression &&
           row.cfa_register == FP_FRAME_RSP && row.cfa_offset == 8;
}

static bool named_cold(const struct fp_object *o, uint64_t address)
{
    const struct fp_object_symbol *symbol = fp_object_function(o, address);
    const char *cold = symbol && symbol->address == address ? strstr(symbol->name, ".cold") : NULL;
    return cold && (!cold[5] || cold[5] == '.');
}

static enum fp_fde_kind kind_of(const struct fp_parts *p, uint32_t i)
{
    const struct fp_references *r = p->references;
    uint64_t start = p->frames->fdes.at[i].start;
    bool called = false, named = false, pointed = false, cold = named_cold(r->object, start);
    if (ignored(p, i)) return FP_PART_IGNORED;
    for (size_t k = fp_references_from(r, start); k < r->all.len; k++) {
        const struct fp_reference *reference = &r->all.at[k];
        if (reference->target != start) break;
        called |= reference->kind == FP_REFERENCE_CALL;
        called |= reference->kind == FP_REFERENCE_SYMBOL && !cold;
        named |= reference->kind == FP_REFERENCE_NAMED;
        pointed |= reference->kind == FP_REFERENCE_POINTER;
    }
    if (called) return FP_PART_FUNCTION;
    if (cold || !starts_called(p, i)) return FP_PART_PART;
    return named ? FP_PART_FUNCTION : pointed ? FP_PART_POINTED : FP_PART_UNDECIDED;
}

static void find_overlaps(struct fp_parts *p)
{
    uint64_t end = 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < p->frames->fdes.len; i++) {
        const struct fp_fde *fde = &p->frames->fdes.at[i];
        if (p->kind[i] == FP_PART_IGNORED) continue;
        if (fde->start < end) p->overlaps[i] = p->overlaps[last] = true;
        if (fde->start + fde->size > end) end = fde->start + fde->size, last = i;
    }
}

/* ---- sets ---- */

uint32_t fp_parts_root(const struct fp_parts *p, uint32_t i)
{
    while (p->set[i] != i) i = p->set[i] = p->set[p->set[i]];
    return i;
}

static int rank(enum fp_fde_kind kind)
{
    switch (kind) {
    case FP_PART_FUNCTION: return 3;
    case FP_PART_POINTED: return 2;
    case FP_PART_UNDECIDED: return 1;
    case FP_PART_PART:
    case FP_PART_IGNORED: break;
    }
    return 0;
}

/* The root of a set is its function, where it has one. */
bool fp_parts_join(struct fp_parts *p, uint32_t part, uint32_t function)
{
    uint32_t a = fp_parts_root(p, part), b = fp_parts_root(p, function);
    if (a == b) return false;
    if (rank(p->kind[a]) > rank(p->kind[b])) {
        uint32_t other = a;
        a = b, b = other;
    }
    p->set[a] = b;
    if (p->kind[a] != FP_PART_FUNCTION) p->kind[a] = FP_PART_PART;
    return true;
}

static uint32_t fde_at(const struct fp_parts *p, uint64_t address)
{
    const struct fp_fde *fde = fp_frames_find(p->frames, address);
    if (!fde) return FP_NONE;
    uint32_t i = (uint32_t)(fde - p->frames->fdes.at);
    while (i && p->frames->fdes.at[i - 1].start == fde->start) i--;
    return p->kind[i] == FP_PART_IGNORED ? FP_NONE : i;
}

static bool row_at(const struct fp_parts *p, uint64_t address, struct fp_frame_row *row)
{
    const struct fp_fde *fde = fp_frames_find(p->frames, address);
    return fde && fp_frames_row(p->frames, fde, address, row) && !row->cfa_is_expression;
}

bool fp_parts_agree(const struct fp_parts *p, const struct fp_reference *jump)
{
    struct fp_frame_row from, to;
    uint32_t part = fde_at(p, jump->target);
    if (part == FP_NONE || p->kind[part] != FP_PART_PART) return true;
    if (!row_at(p, jump->from, &from) || !row_at(p, jump->target, &to)) return true;
    return from.cfa_register == to.cfa_register && from.cfa_offset == to.cfa_offset;
}

/* Whether a word of data that points to an FDE lies among pointers into the middle of a function:
 * both are entries of one jump table. */
static bool among_labels(const struct fp_parts *p, uint64_t word, uint32_t function)
{
    uint64_t entry = p->frames->fdes.at[function].start;
    for (int64_t k = -NEAR_WORDS; k <= NEAR_WORDS; k++) {
        uint64_t value;
        if (!fp_object_pointer(p->frames->object, word + (uint64_t)(8 * k), &value)) continue;
        uint32_t to = fde_at(p, value);
        if (to != FP_NONE && value != entry && fp_parts_root(p, to) == function) return true;
    }
    return false;
}

bool fp_parts_joinable(const struct fp_parts *p, uint32_t i, uint32_t function)
{
    const struct fp_references *r = p->references;
    const struct fp_fde *fde = &p->frames->fdes.at[i];
    uint32_t root = fp_parts_root(p, i);
    if (root == fp_parts_root(p, function)) return false;
    if (p->kind[root] == FP_PART_PART || p->kind[root] == FP_PART_UNDECIDED) return true;
    if (p->kind[root] != FP_PART_POINTED) return false;
    for (size_t k = fp_references_from(r, fde->start); k < r->all.len; k++) {
        if (r->all.at[k].target - fde->start >= fde->size) break;
        if (r->all.at[k].kind == FP_REFERENCE_POINTER &&
            !among_labels(p, r->all.at[k].from, fp_parts_root(p, function)))
            return false;
    }
    return true;
}

/* Two functions never become one: what jumps into the middle of another is refused later. */
static void join_jump(struct fp_parts *p, const struct fp_reference *jump)
{
    uint32_t from = fde_at(p, jump->from), to = fde_at(p, jump->target);
    if (from == FP_NONE || to == FP_NONE || from == to || !fp_parts_agree(p, jump)) return;
    bool middle = p->frames->fdes.at[to].start != jump->target;
    bool into_part = p->kind[to] == FP_PART_PART;
    bool back = p->kind[from] == FP_PART_PART && middle;
    uint32_t a = fp_parts_root(p, from), b = fp_parts_root(p, to);
    if (rank(p->kind[a]) > 1 && rank(p->kind[b]) > 1) return;
    if (into_part)
        fp_parts_join(p, to, from);
    else if (back)
        fp_parts_join(p, from, to);
}

/* The one set that all jumps to an FDE come from; FP_NONE where there are none or several. */
static uint32_t only_source(const struct fp_parts *p, uint32_t i)
{
    const struct fp_references *r = p->references;
    const struct fp_fde *fde = &p->frames->fdes.at[i];
    uint32_t source = FP_NONE, own = fp_parts_root(p, i);
    for (size_t k = fp_references_from(r, fde->start); k < r->all.len; k++) {
        const struct fp_reference *reference = &r->all.at[k];
        if (reference->target - fde->start >= fde->size) break;
        if (reference->kind != FP_REFERENCE_JUMP) continue;
        uint32_t from = fde_at(p, reference->from);
        uint32_t root = from == FP_NONE ? FP_NONE : fp_parts_root(p, from);
        if (root == own) continue;
        if (root == FP_NONE || (source != FP_NONE && source != root)) return FP_NONE;
        source = root;
    }
    return source;
}

static bool join_undecided(struct fp_parts *p)
{
    bool joined = false;
    for (uint32_t i = 0; i < p->frames->fdes.len; i++) {
        if (p->kind[i] != FP_PART_UNDECIDED) continue;
        uint32_t source = only_source(p, i);
        if (source == FP_NONE || p->kind[source] == FP_PART_PART) continue;
        joined |= fp_parts_join(p, i, source);
    }
    return joined;
}

void fp_parts_find(struct fp_parts *p, struct fp_arena *arena, const struct fp_references *r)
{
    size_t n = r->frames->fdes.len;
    *p = (struct fp_parts){.references = r, .frames = r->frames};
    p->kind = FP_NEW_ARRAY(arena, enum fp_fde_kind, n);
    p->set = FP_NEW_ARRAY(arena, uint32_t, n);
    p->overlaps = FP_NEW_ARRAY(arena, bool, n);
    for (uint32_t i = 0; i < n; i++) p->set[i] = i, p->kind[i] = kind_of(p, i);
    find_overlaps(p);
    do {
        for (size_t k = 0; k < r->all.len; k++)
            if (r->all.at[k].kind == FP_REFERENCE_JUMP) join_jump(p, &r->all.at[k]);
    } while (join_undecided(p));
}
