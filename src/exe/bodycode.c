/* The second body of one function: see bodycode.h. */
#include "exe/bodycode.h"

#include "binary/lsda.h"

enum { PUSHED_TARGET = 8, NUMBER_BYTE = 1 };

struct copying {
    struct fp_arena *arena;
    const struct fp_frames *frames;
    const struct fp_object *object;
    const struct fp_body_entries *entries;
    struct fp_body_code *body;
    struct fp_pieces *p;
    uint32_t *label; /* per instruction */
    const char *why;
};

static void keep(struct copying *x, const char *why)
{
    if (!x->why) x->why = why;
}

/* ---- instructions ---- */

static void decode_all(struct copying *x, const struct fp_fde *fde, uint32_t index)
{
    struct fp_machine_function *m = &x->body->m;
    size_t len;
    const unsigned char *bytes = fp_object_bytes(x->object, fde->start, &len);
    *m = (struct fp_machine_function){.hub = FP_NONE, .tail = FP_NONE};
    if (!bytes || len < fde->size) {
        keep(x, "its code is not in the file");
        return;
    }
    for (uint64_t at = 0; at < fde->size;) {
        struct fp_insn insn = {0};
        struct fp_insn_names names = {0};
        at += fp_insn_decode_names(bytes + at, fde->size - at, fde->start + at, &insn, &names);
        if (insn.kind == FP_INSN_CALL && !names.direct) insn.target = 0;
        if (names.broken) keep(x, "has bytes that are no instruction");
        fp_vec_push(x->arena, &m->insns, insn);
    }
    struct fp_code_range range = {fde->start, fde->size, 0, (uint32_t)m->insns.len, index};
    fp_vec_push(x->arena, &m->ranges, range);
}

/* The slot that a stub for an imported function jumps through: [endbr64] [bnd] jmp *slot(%rip). */
static bool find_slot(const struct copying *x, uint64_t target, uint64_t *slot)
{
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa}, jump[] = {0xff, 0x25};
    enum { JUMP = 6 };
    size_t len, at = 0;
    int32_t distance;
    const unsigned char *bytes = fp_object_bytes(x->object, target, &len);
    if (bytes && len >= sizeof endbr64 && !memcmp(bytes, endbr64, sizeof endbr64)) at += 4;
    if (bytes && len > at && bytes[at] == 0xf2) at++;
    if (!bytes || len < at + JUMP || memcmp(bytes + at, jump, sizeof jump)) return false;
    memcpy(&distance, bytes + at + sizeof jump, sizeof distance);
    *slot = target + at + JUMP + (uint64_t)(int64_t)distance;
    return true;
}

/* ---- new code ---- */

static void call_runtime(struct copying *x, uint32_t i, enum fp_body_entry entry)
{
    static const uint8_t call[5] = {0xe8};
    fp_pieces_add_distance(x->p, i, call, sizeof call, 1, x->entries->at[entry]);
}

/* lea -128(%rsp), %rsp */
static void spare_red_zone(struct copying *x, uint32_t i)
{
    static const uint8_t lea[] = {0x48, 0x8d, 0x64, 0x24, 0x80};
    fp_pieces_add_bytes(x->p, i, lea, sizeof lea);
    x->p->pushed = FP_BODY_RED_ZONE;
}

/* The number is filled in later: `which` is added to it. */
static void add_sites(struct copying *x, uint32_t i, uint32_t which)
{
    uint8_t push[5] = {0x68};
    memcpy(push + NUMBER_BYTE, &which, sizeof which);
    spare_red_zone(x, i);
    fp_pieces_add_bytes(x->p, i, push, sizeof push);
    x->p->pushed = FP_BODY_RED_ZONE + 8;
    call_runtime(x, i, FP_BODY_SITE);
    x->p->pushed = 0;
}

/* Pushes what an indirect call or jump, or a stub, reads its target from. */
static void push_target(struct copying *x, uint32_t i, const uint64_t *slot)
{
    static const uint8_t push[6] = {0xff, 0x35};
    if (slot)
        fp_pieces_add_distance(x->p, i, push, sizeof push, 2, *slot);
    else
        keep(x, fp_pieces_add_push(x->p, x->object, &x->body->m.insns.at[i], i));
    x->p->pushed += PUSHED_TARGET;
}

static void add_call(struct copying *x, uint32_t i, const uint64_t *slot)
{
    push_target(x, i, slot);
    call_runtime(x, i, FP_BODY_CALL);
    x->p->all.at[x->p->all.len - 1].taken = true;
    x->p->pushed = 0;
}

static void add_jump(struct copying *x, uint32_t i, const uint64_t *slot)
{
    spare_red_zone(x, i);
    push_target(x, i, slot);
    call_runtime(x, i, FP_BODY_JUMP);
    x->p->pushed = 0;
}

static void add_direct_jump(struct copying *x, uint32_t i)
{
    const struct fp_insn *insn = &x->body->m.insns.at[i];
    const struct fp_code_range *range = &x->body->m.ranges.at[0];
    uint32_t label = FP_NONE;
    uint64_t slot;
    if (insn->target - range->address < range->size) {
        uint32_t to = fp_machine_insn(&x->body->m, insn->target, true);
        if (to == FP_NONE) keep(x, "jumps into the middle of an instruction");
        if (to == FP_NONE) return;
        label = x->label[to];
    } else if (insn->kind == FP_INSN_JUMP && find_slot(x, insn->target, &slot)) {
        add_jump(x, i, &slot);
        return;
    }
    keep(x, fp_pieces_add_jump(x->p, x->object, insn, i, label));
}

/* call 1f; 1: pop %reg: what is popped may be compared with what the linker knows. */
static bool calls_its_middle(const struct copying *x, const struct fp_insn *insn)
{
    const struct fp_code_range *range = &x->body->m.ranges.at[0];
    return insn->target != range->address && insn->target - range->address < range->size;
}

static void add_own(struct copying *x, uint32_t i)
{
    const struct fp_insn *insn = &x->body->m.insns.at[i];
    uint64_t slot;
    switch ((enum fp_insn_kind)insn->kind) {
    case FP_INSN_JUMP:
    case FP_INSN_BRANCH: add_direct_jump(x, i); return;
    case FP_INSN_JUMP_INDIRECT: add_jump(x, i, NULL); return;
    case FP_INSN_CALL:
        if (!insn->target)
            add_call(x, i, NULL);
        else if (find_slot(x, insn->target, &slot))
            add_call(x, i, &slot);
        else if (calls_its_middle(x, insn))
            keep(x, "calls into its own middle");
        else
            break;
        return;
    case FP_INSN_RETURN: call_runtime(x, i, FP_BODY_RETURN); break;
    case FP_INSN_PLAIN:
    case FP_INSN_NOP:
    case FP_INSN_STOP: break;
    case FP_INSN_SKIP: keep(x, "jumps over a prefix"); break;
    }
    keep(x, fp_pieces_add_old(x->p, x->object, insn, i));
}

/* ---- the whole ---- */

static bool goes_on(const struct fp_insn *insn)
{
    return insn->kind == FP_INSN_PLAIN || insn->kind == FP_INSN_BRANCH ||
           insn->kind == FP_INSN_NOP || insn->kind == FP_INSN_CALL;
}

/* Does the code in front of the instruction run into it? Padding may lie between. */
static bool is_fallen_into(const struct fp_machine_function *m, uint32_t i)
{
    while (i && m->insns.at[i - 1].kind == FP_INSN_NOP) i--;
    return i && goes_on(&m->insns.at[i - 1]);
}

/* The sites of an instruction, from `site` on; gives the next one. Where a jump to the instruction
 * passes over some of them, its label is behind these. */
static size_t add_sites_of(struct copying *x, uint32_t i, size_t site)
{
    const struct fp_body_code *body = x->body;
    uint64_t address = body->m.insns.at[i].address;
    size_t others = site, end;
    while (others < body->nsites && body->sites[others].address == address &&
           body->sites[others].behind)
        others++;
    for (end = others; end < body->nsites && body->sites[end].address == address;) end++;
    bool apart = others > site && is_fallen_into(&body->m, i);
    if (apart) add_sites(x, i, end > others ? FP_BODY_FIRST_PLACES : 0);
    fp_pieces_put_label(x->p, x->label[i]);
    if (apart && end > others)
        add_sites(x, i, FP_BODY_OTHER_PLACES);
    else if (!apart && end > site)
        add_sites(x, i, 0);
    return end;
}

static void add_all(struct copying *x)
{
    struct fp_body_code *body = x->body;
    const struct fp_machine_function *m = &body->m;
    size_t site = 0;
    for (uint32_t i = 0; i < m->insns.len && !x->why; i++) {
        body->code.first_piece[i] = (uint32_t)x->p->all.len;
        site = add_sites_of(x, i, site);
        body->own[i] = (uint32_t)x->p->all.len;
        add_own(x, i);
        body->code.own_piece[i] = (uint32_t)x->p->all.len - 1;
    }
    if (site < body->nsites) keep(x, "has a site inside of an instruction");
    const struct fp_insn *last = &m->insns.at[m->insns.len - 1];
    if (goes_on(last))
        fp_pieces_jump_out(x->p, (uint32_t)m->insns.len - 1, last->address + last->length);
}

/* Landing pads, for newlsda.c: blocks of their own. */
static void find_pads(struct copying *x, const struct fp_fde *fde)
{
    struct fp_machine_function *m = &x->body->m;
    struct fp_lsda lsda;
    struct fp_error ignored = {0};
    if (!fde->lsda) return;
    if (!fp_lsda_read(x->arena, x->object, fde->lsda, fde->start, &lsda, &ignored)) {
        keep(x, "its exception table is not understood");
        return;
    }
    x->body->code.arrival = FP_NEW_ARRAY(x->arena, uint32_t, lsda.nsites + 1);
    for (size_t i = 0; i < lsda.nsites; i++) {
        if (!lsda.sites[i].pad) continue;
        uint32_t insn = fp_machine_insn(m, lsda.sites[i].pad, true);
        if (insn == FP_NONE) {
            keep(x, "an exception lands at an unknown place");
            return;
        }
        struct fp_machine_pad pad = {(uint32_t)m->pads.len, insn};
        x->body->code.arrival[pad.block] = x->label[insn];
        fp_vec_push(x->arena, &m->pads, pad);
    }
}

static void prepare(struct copying *x)
{
    struct fp_moved_code *code = &x->body->code;
    size_t n = x->body->m.insns.len;
    x->label = FP_NEW_ARRAY(x->arena, uint32_t, n);
    x->body->own = FP_NEW_ARRAY(x->arena, uint32_t, n);
    code->first_piece = FP_NEW_ARRAY(x->arena, uint32_t, n);
    code->own_piece = FP_NEW_ARRAY(x->arena, uint32_t, n);
    code->ranges = FP_NEW_ARRAY(x->arena, struct fp_moved_range, 1);
    for (size_t i = 0; i < n; i++) x->label[i] = fp_pieces_label(x->p);
}

void fp_body_code_make(struct fp_arena *arena, const struct fp_frames *frames, uint32_t fde,
                       const struct fp_body_entries *entries, struct fp_body_code *body)
{
    const struct fp_fde *old = &frames->fdes.at[fde];
    body->code = (struct fp_moved_code){.pieces = {.arena = arena}};
    struct copying x = {.arena = arena,
                        .frames = frames,
                        .object = frames->object,
                        .entries = entries,
                        .body = body,
                        .p = &body->code.pieces};
    decode_all(&x, old, fde);
    if (!x.why && !body->m.insns.len) keep(&x, "has no code");
    if (!x.why) prepare(&x);
    if (!x.why) find_pads(&x, old);
    if (!x.why) add_all(&x);
    body->left_out = x.why;
    if (x.why) return;
    body->code.ranges[0] = (struct fp_moved_range){0, (uint32_t)x.p->all.len};
    fp_pieces_lay_out(x.p);
}

uint64_t fp_body_code_at(const struct fp_body_code *body, uint64_t old_address)
{
    uint32_t i = body->left_out ? FP_NONE : fp_machine_insn(&body->m, old_address, true);
    if (i == FP_NONE) return 0;
    return body->start + body->code.pieces.all.at[body->code.first_piece[i]].offset;
}

void fp_body_code_set_number(const struct fp_body_code *body, uint32_t insn, uint32_t number,
                             unsigned char *code)
{
    enum { PIECES = 3 }; /* of add_sites; the second is the push */
    for (uint32_t k = body->code.first_piece[insn]; k < body->own[insn]; k += PIECES) {
        unsigned char *at = code + body->code.pieces.all.at[k + 1].offset + NUMBER_BYTE;
        uint32_t which;
        memcpy(&which, at, sizeof which);
        which |= number;
        memcpy(at, &which, sizeof which);
    }
}
