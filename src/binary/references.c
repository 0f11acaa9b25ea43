/* References of an object: see references.h. */
#include "binary/references.h"

#include <stdlib.h>

static const struct fp_section *code_section(const struct fp_object *o, uint64_t address)
{
    for (size_t i = 0; i < o->sections.len; i++) {
        const struct fp_section *s = &o->sections.at[i];
        if (s->code && address - s->address < s->size) return s;
    }
    return NULL;
}

static void add_reference(struct fp_references *r, uint64_t target, uint64_t from,
                          enum fp_reference_kind kind)
{
    struct fp_reference reference = {target, from, kind};
    if (code_section(r->object, target)) fp_vec_push(r->arena, &r->all, reference);
}

/* An address that code names is one of code or of data. */
static void add_name(struct fp_references *r, uint64_t target, uint64_t from, bool taken)
{
    size_t len;
    if (code_section(r->object, target)) {
        add_reference(r, target, from, taken ? FP_REFERENCE_NAMED : FP_REFERENCE_READ);
    } else if (fp_object_bytes(r->object, target, &len)) {
        fp_vec_push(r->arena, &r->named, target);
    }
}

/* ---- code ---- */

static void add_insn(struct fp_references *r, const struct fp_insn *insn,
                     const struct fp_insn_names *names, uint64_t start, uint64_t size)
{
    bool away = insn->target - start >= size;
    if (names->direct && insn->kind == FP_INSN_CALL)
        add_reference(r, insn->target, insn->address, FP_REFERENCE_CALL);
    else if (names->direct && away)
        add_reference(r, insn->target, insn->address, FP_REFERENCE_JUMP);
    if (names->has_place) add_name(r, names->place, insn->address, names->taken);
    if (!r->object->fixed) return;
    if (names->fixed_place) add_name(r, names->fixed_place, insn->address, true);
    if (names->fixed_value) add_name(r, names->fixed_value, insn->address, true);
}

/* Decodes what lies at an address. An `own` range is an FDE: jumps inside of it are no
 * references, and its instructions are kept. */
static void decode_code(struct fp_references *r, uint64_t start, uint64_t size,
                        struct fp_reference_code *own)
{
    size_t len, at = 0;
    const unsigned char *bytes = fp_object_bytes(r->object, start, &len);
    FP_VEC(struct fp_insn) insns = {0};
    if (!bytes) return;
    if (len > size) len = size;
    if (own) fp_vec_reserve(r->arena, &insns, len / 4 + 8);
    while (at < len) {
        struct fp_insn insn;
        struct fp_insn_names names;
        at += fp_insn_decode_names(bytes + at, len - at, start + at, &insn, &names);
        add_insn(r, &insn, &names, start, own ? size : 0);
        if (!own) continue;
        own->broken |= names.broken;
        own->transaction |= names.transaction;
        fp_vec_push(r->arena, &insns, insn);
    }
    if (!own) return;
    own->insns = insns.at;
    own->ninsns = (uint32_t)insns.len;
}

/* The FDEs of a code section, and the gaps between them. */
static void decode_section(struct fp_references *r, const struct fp_section *section)
{
    const struct fp_frames *frames = r->frames;
    uint64_t at = section->address, end = section->address + section->size;
    for (size_t i = 0; i < frames->fdes.len; i++) {
        const struct fp_fde *fde = &frames->fdes.at[i];
        if (fde->start < section->address || fde->start >= end) continue;
        if (fde->start > at) decode_code(r, at, fde->start - at, NULL);
        decode_code(r, fde->start, fde->size, &r->code[i]);
        if (fde->start + fde->size > at) at = fde->start + fde->size;
    }
    if (at < end) decode_code(r, at, end - at, NULL);
}

/* ---- data ---- */

static void scan_words(struct fp_references *r, const struct fp_section *section)
{
    uint64_t value;
    for (size_t at = -section->address & 7; at + 8 <= section->size; at += 8) {
        memcpy(&value, section->bytes + at, 8);
        if (value) add_reference(r, value, section->address + at, FP_REFERENCE_POINTER);
    }
}

static void find_pointers(struct fp_references *r)
{
    const struct fp_object *o = r->object;
    uint64_t at, value;
    for (size_t i = 0; fp_table_next(&o->pointers, &i, &at, &value);)
        add_reference(r, value, at, FP_REFERENCE_POINTER);
    for (size_t i = 0; o->fixed && i < o->sections.len; i++)
        if (!o->sections.at[i].code) scan_words(r, &o->sections.at[i]);
}

static void find_symbols(struct fp_references *r)
{
    const struct fp_object *o = r->object;
    for (size_t i = 0; i < o->functions.len; i++)
        add_reference(r, o->functions.at[i].address, 0, FP_REFERENCE_SYMBOL);
    for (size_t i = 0; i < o->inner.len; i++)
        add_reference(r, o->inner.at[i], 0, FP_REFERENCE_SYMBOL);
    if (o->entry) add_reference(r, o->entry, 0, FP_REFERENCE_SYMBOL);
}

/* ---- all ---- */

static int by_target(const void *a, const void *b)
{
    const struct fp_reference *x = a, *y = b;
    if (x->target != y->target) return x->target < y->target ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

void fp_references_find(struct fp_references *r, struct fp_arena *arena,
                        const struct fp_object *object, const struct fp_frames *frames)
{
    *r = (struct fp_references){.arena = arena, .object = object, .frames = frames};
    r->code = FP_NEW_ARRAY(arena, struct fp_reference_code, frames->fdes.len);
    for (size_t i = 0; i < object->sections.len; i++)
        if (object->sections.at[i].code) decode_section(r, &object->sections.at[i]);
    find_pointers(r);
    find_symbols(r);
    if (r->all.len) qsort(r->all.at, r->all.len, sizeof *r->all.at, by_target);
    if (r->named.len) qsort(r->named.at, r->named.len, sizeof *r->named.at, by_value);
}

size_t fp_references_from(const struct fp_references *r, uint64_t address)
{
    size_t low = 0, high = r->all.len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->all.at[middle].target < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
