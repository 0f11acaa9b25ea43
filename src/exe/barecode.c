/* Code that is not moved: see barecode.h. */
#include "exe/barecode.h"

#include <stdlib.h>

enum { JUMP = 0xe9, TRAP = 0xcc, MOST_BYTES = 64 };

/* ---- which code is not moved ---- */

static int by_address(const void *a, const void *b)
{
    const struct fp_code_range *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static void find_moved(struct fp_bare_code *b)
{
    for (size_t i = 0; i < b->w->nfunctions; i++) {
        const struct fp_exe_function *x = &b->w->functions[i];
        for (size_t k = 0; !x->left_alone && k < x->m->ranges.len; k++)
            fp_vec_push(b->w->arena, &b->moved, x->m->ranges.at[k]);
    }
    if (b->moved.len) qsort(b->moved.at, b->moved.len, sizeof *b->moved.at, by_address);
}

/* The next address from which code is known to be instructions: an FDE, a symbol. */
static uint64_t next_start(const struct fp_bare_code *b, uint64_t address, uint64_t end)
{
    for (size_t i = fp_references_from(&b->references, address); i < b->references.all.len; i++) {
        const struct fp_reference *r = &b->references.all.at[i];
        if (r->target >= end) break;
        if (r->kind == FP_REFERENCE_SYMBOL || r->kind == FP_REFERENCE_CALL) return r->target;
    }
    return end;
}

static void decode_stretch(struct fp_bare_code *b, uint64_t at, uint64_t end)
{
    uint64_t start = next_start(b, at + 1, end);
    while (at < end) {
        size_t len;
        struct fp_insn insn;
        const unsigned char *bytes = fp_object_bytes(&b->w->object, at, &len);
        if (!bytes) return;
        if (len > end - at) len = end - at;
        insn.length = fp_insn_decode(bytes, len, at, &insn);
        if (at < start && at + insn.length > start) { /* these were no instructions */
            at = start;
        } else {
            insn.address = at;
            fp_vec_push(b->w->arena, &b->insns, insn);
            at += insn.length;
        }
        if (at >= start) start = next_start(b, at + 1, end);
    }
}

static void note_targets(struct fp_bare_code *b, size_t from)
{
    for (size_t i = from; i < b->insns.len; i++) {
        const struct fp_insn *insn = &b->insns.at[i];
        bool jumps = insn->kind == FP_INSN_JUMP || insn->kind == FP_INSN_BRANCH;
        if (jumps && insn->target) *fp_table_add(&b->targets, insn->target) = 1;
    }
}

static void decode_section(struct fp_bare_code *b, const struct fp_section *section)
{
    uint64_t at = section->address, end = section->address + section->size;
    for (size_t i = 0; i <= b->moved.len && at < end; i++) {
        uint64_t stop = i < b->moved.len ? b->moved.at[i].address : end;
        if (stop > end) stop = end;
        size_t from = b->insns.len;
        if (at < stop) decode_stretch(b, at, stop);
        note_targets(b, from);
        if (i < b->moved.len && b->moved.at[i].address + b->moved.at[i].size > at)
            at = b->moved.at[i].address + b->moved.at[i].size;
    }
}

/* A walk over the stack ends in such code. */
static void sum_up(struct fp_bare_code *b)
{
    struct fp_exe_summary *summary = b->w->summary;
    summary->text = fp_image_text(b->w->image);
    for (size_t i = 0; i < b->insns.len; i++) {
        const struct fp_insn *insn = &b->insns.at[i];
        if (insn->kind != FP_INSN_NOP && !fp_frames_find(&b->w->old_frames, insn->address))
            summary->bare += insn->length;
    }
}

bool fp_exe_see_bare(struct fp_exe_work *w)
{
    struct fp_bare_code bare;
    if (!w->calls.through) return true;
    fp_bare_code_find(&bare, w);
    sum_up(&bare);
    return fp_bare_calls(&bare) && fp_bare_jumps(&bare);
}

void fp_bare_code_find(struct fp_bare_code *b, struct fp_exe_work *w)
{
    *b = (struct fp_bare_code){.w = w};
    fp_references_find(&b->references, w->arena, &w->object, &w->old_frames);
    fp_table_init(&b->targets, w->arena);
    find_moved(b);
    for (size_t i = 0; i < w->object.sections.len; i++)
        if (w->object.sections.at[i].code) decode_section(b, &w->object.sections.at[i]);
}

/* ---- asking ---- */

bool fp_bare_is_entered(const struct fp_bare_code *b, uint64_t address)
{
    size_t i = fp_references_from(&b->references, address);
    return fp_table_find(&b->targets, address) ||
           (i < b->references.all.len && b->references.all.at[i].target == address);
}

bool fp_bare_follows(const struct fp_bare_code *b, size_t i)
{
    const struct fp_insn *before = i ? &b->insns.at[i - 1] : NULL;
    bool falls = before && (before->kind == FP_INSN_PLAIN || before->kind == FP_INSN_NOP ||
                            before->kind == FP_INSN_BRANCH);
    return falls && before->address + before->length == b->insns.at[i].address &&
           !fp_bare_is_entered(b, b->insns.at[i].address);
}

uint64_t fp_bare_end(const struct fp_bare_code *b, size_t insn)
{
    return b->insns.at[insn].address + b->insns.at[insn].length;
}

/* ---- changing ---- */

static uint64_t same_place(const void *context, uint64_t address)
{
    (void)context;
    return address;
}

static bool write_code(struct fp_bare_code *b, const struct fp_pieces *p, uint64_t *start)
{
    struct fp_exe_work *w = b->w;
    uint8_t *bytes = fp_arena_alloc(w->arena, p->size);
    if (!fp_image_reserve(w->image, FP_IMAGE_CODE, p->size, 16, start, w->error)) return false;
    struct fp_piece_places places = {.start = *start, .code_at = same_place};
    return fp_pieces_write(p, &places, bytes) && fp_image_patch(w->image, *start, bytes, p->size);
}

static bool put_jump(struct fp_bare_code *b, size_t first, size_t last, uint64_t to)
{
    uint8_t bytes[MOST_BYTES];
    uint64_t at = b->insns.at[first].address;
    size_t size = fp_bare_end(b, last) - at;
    int32_t distance = (int32_t)(to - (at + FP_BARE_JUMP_SIZE));
    if (size > sizeof bytes) return false;
    memset(bytes, TRAP, size);
    bytes[0] = JUMP;
    memcpy(bytes + 1, &distance, sizeof distance);
    return fp_image_patch(b->w->image, at, bytes, size);
}

bool fp_bare_replace(struct fp_bare_code *b, struct fp_pieces *p, size_t first, size_t count)
{
    uint64_t start;
    fp_pieces_lay_out(p);
    return write_code(b, p, &start) && put_jump(b, first, first + count - 1, start);
}
