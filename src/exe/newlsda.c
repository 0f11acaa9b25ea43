/* LSDAs of moved functions: see newframes.h. The landing pads of all ranges are given relative to
 * the function's new start (an explicit LPStart), so that cold parts can land in hot ones. */
#include "exe/newframes.h"

#include "binary/ehpointer.h"
#include "binary/lsda.h"

enum { POINTER = FP_EH_PCREL | FP_EH_SDATA4, LENGTH_BYTES = 4, TYPE_BASE_ALIGN = 4 };

struct lsda_writing {
    struct fp_new_frames *n;
    const struct fp_machine_function *m;
    const struct fp_moved_code *code;
    const struct fp_lsda *old;
    uint64_t start;
    const char *why;
};

/* A uleb that always has LENGTH_BYTES bytes. */
static void put_length(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < LENGTH_BYTES; i++)
        at[i] = (uint8_t)((value >> 7 * i & 0x7f) | (i < LENGTH_BYTES - 1 ? 0x80 : 0));
}

static size_t leave_length(struct fp_writer *w)
{
    size_t at = w->len;
    for (int i = 0; i < LENGTH_BYTES; i++) fp_write_u8(w, 0);
    return at;
}

/* ---- call sites ---- */

/* Where an exception lands now: an offset from the function's start, or 0. */
static uint32_t new_pad(struct lsda_writing *x, uint64_t pad)
{
    if (!pad) return 0;
    for (size_t i = 0; i < x->m->pads.len; i++) {
        const struct fp_machine_pad *p = &x->m->pads.at[i];
        if (x->m->insns.at[p->insn].address != pad) continue;
        uint32_t label = x->code->arrival[p->block];
        if (label == FP_NONE) break;
        return fp_pieces_offset(&x->code->pieces, label);
    }
    x->why = "an exception lands at an unknown place";
    return 0;
}

/* A site covers the same instructions as before. */
static void write_site(struct lsda_writing *x, const struct fp_call_site *site, uint32_t range)
{
    struct fp_writer *w = &x->n->lsdas.bytes;
    const struct fp_code_range *r = &x->m->ranges.at[range];
    const struct fp_moved_range *moved = &x->code->ranges[range];
    uint32_t from = FP_NONE, end = 0, base = x->code->pieces.all.at[moved->first].offset;
    for (uint32_t i = r->first_insn; i < r->first_insn + r->ninsns; i++) {
        uint64_t address = x->m->insns.at[i].address;
        if (address - site->start >= site->size || x->code->own_piece[i] == FP_NONE) continue;
        if (from == FP_NONE) from = x->code->pieces.all.at[x->code->first_piece[i]].offset;
        end = fp_moved_end(x->code, x->code->own_piece[i]);
    }
    if (from == FP_NONE) return;
    fp_write_u32(w, from - base);
    fp_write_u32(w, end - from);
    fp_write_u32(w, new_pad(x, site->pad));
    fp_write_uint(w, site->action);
}

static const struct fp_call_site *site_of_piece(const struct lsda_writing *x, uint32_t piece)
{
    return fp_lsda_site(x->old, x->m->insns.at[x->code->pieces.all.at[piece].insn].address);
}

/* An exception that passes a copy of a block lands at a pad of its own. */
static uint32_t copied_pad(struct lsda_writing *x, const struct fp_call_site *site, uint32_t pad)
{
    if (!site->pad || pad == FP_NONE) return new_pad(x, site->pad);
    return fp_pieces_offset(&x->code->pieces, x->code->arrival[pad]);
}

/* With copies of blocks: a site for each run of instructions that one old site covered. */
static void write_copied_sites(struct lsda_writing *x, uint32_t range)
{
    struct fp_writer *w = &x->n->lsdas.bytes;
    const struct fp_moved_code *code = x->code;
    const struct fp_moved_range *r = &code->ranges[range];
    uint32_t base = code->pieces.all.at[r->first].offset;
    for (uint32_t i = r->first, end; i < r->end && !x->why; i = end) {
        uint32_t pad = code->pad[i];
        const struct fp_call_site *site = site_of_piece(x, i);
        for (end = i + 1; end < r->end && code->pad[end] == pad; end++)
            if (site_of_piece(x, end) != site) break;
        if (!site) continue;
        uint32_t from = code->pieces.all.at[i].offset;
        fp_write_u32(w, from - base);
        fp_write_u32(w, fp_moved_end(code, end - 1) - from);
        fp_write_u32(w, copied_pad(x, site, pad));
        fp_write_uint(w, site->action);
    }
}

/* ---- types ---- */

static void copy_old(struct lsda_writing *x, uint64_t address, uint64_t size)
{
    size_t len;
    const unsigned char *bytes = fp_object_bytes(x->n->old->object, address, &len);
    if (!size) return;
    if (!bytes || len < size) {
        x->why = "its exception table is cut off";
        return;
    }
    fp_write_bytes(&x->n->lsdas.bytes, bytes, size);
}

static void write_types(struct lsda_writing *x)
{
    const struct fp_lsda *old = x->old;
    struct fp_new_table *t = &x->n->lsdas;
    bool relative = (old->type_encoding & 0x70) == FP_EH_PCREL;
    if (relative && old->type_size != 4) x->why = "its exception table has types of an odd size";
    if (!relative && (!x->n->fixed || old->type_encoding & 0x70))
        x->why = "its exception table has types of an unknown kind";
    for (uint64_t k = old->ntypes; k > 0 && !x->why; k--) {
        if (!relative) {
            copy_old(x, old->type_base - k * old->type_size, old->type_size);
            continue;
        }
        uint64_t to = fp_lsda_type(x->n->old->object, old, k);
        fp_write_u32(&t->bytes, to ? (uint32_t)(to - fp_new_table_here(t)) : 0);
    }
}

/* ---- the whole ---- */

static void write_lsda(struct lsda_writing *x, uint32_t range)
{
    struct fp_new_table *t = &x->n->lsdas;
    struct fp_writer *w = &t->bytes;
    size_t types_length = 0;
    bool types = x->old->type_base != 0;
    while (w->len % TYPE_BASE_ALIGN) fp_write_u8(w, 0);
    fp_write_u8(w, POINTER);
    fp_write_u32(w, (uint32_t)(x->start - fp_new_table_here(t)));
    fp_write_u8(w, types ? x->old->type_encoding : FP_EH_OMIT);
    if (types) types_length = leave_length(w);
    fp_write_u8(w, FP_EH_UDATA4);
    size_t length = leave_length(w), first = w->len;
    if (x->code->pad)
        write_copied_sites(x, range);
    else
        for (size_t i = 0; i < x->old->nsites && !x->why; i++)
            write_site(x, &x->old->sites[i], range);
    put_length(w->bytes + length, w->len - first);
    copy_old(x, x->old->actions, x->old->actions_size);
    if (!types || x->why) return;
    while (w->len % TYPE_BASE_ALIGN) fp_write_u8(w, 0);
    write_types(x);
    put_length(w->bytes + types_length, w->len - types_length - LENGTH_BYTES);
    copy_old(x, x->old->type_base, x->old->specs_size);
}

const char *fp_new_lsdas_add(struct fp_new_frames *n, const struct fp_machine_function *m,
                             const struct fp_moved_code *code, uint64_t start, uint64_t *lsdas)
{
    struct lsda_writing x = {.n = n, .m = m, .code = code, .start = start};
    struct fp_arena scratch = {0};
    size_t before = n->lsdas.bytes.len;
    for (uint32_t r = 0; r < m->ranges.len && !x.why; r++) {
        const struct fp_fde *fde = &n->old->fdes.at[m->ranges.at[r].fde];
        struct fp_lsda old;
        struct fp_error error = {0};
        lsdas[r] = 0;
        if (!fde->lsda || code->ranges[r].first == code->ranges[r].end) continue;
        if (!fp_lsda_read(&scratch, n->old->object, fde->lsda, fde->start, &old, &error)) {
            x.why = "its exception table is broken";
            break;
        }
        x.old = &old;
        while (n->lsdas.bytes.len % TYPE_BASE_ALIGN) fp_write_u8(&n->lsdas.bytes, 0);
        lsdas[r] = fp_new_table_here(&n->lsdas);
        write_lsda(&x, r);
    }
    if (x.why) n->lsdas.bytes.len = before;
    fp_arena_free(&scratch);
    return x.why;
}
