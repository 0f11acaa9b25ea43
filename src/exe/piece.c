/* New code as a list of pieces: see piece.h. */
#include "exe/piece.h"

#include <Zydis/Zydis.h>

#include <assert.h>
#include <string.h>

enum {
    REX_W = 0x48,
    REX_R = 4,
    REX_B = 1,
    PREFIX_GS = 0x65,
    RSP = 4, /* and r12: a base that needs a SIB byte */
    JUMP_NEAR = 0xe9,
    JUMP_SHORT = 0xeb,
    BRANCH_SHORT = 0x70,
    JRCXZ_OPCODE = 0xe3,
};

/* ---- labels ---- */

uint32_t fp_pieces_label(struct fp_pieces *p)
{
    fp_vec_push(p->arena, &p->labels, FP_NONE);
    return (uint32_t)p->labels.len - 1;
}

void fp_pieces_put_label(struct fp_pieces *p, uint32_t label)
{
    p->labels.at[label] = (uint32_t)p->all.len;
}

uint32_t fp_pieces_offset(const struct fp_pieces *p, uint32_t label)
{
    uint32_t piece = p->labels.at[label];
    assert(piece != FP_NONE);
    return piece < p->all.len ? p->all.at[piece].offset : p->size;
}

static void push(struct fp_pieces *p, struct fp_piece piece)
{
    piece.left = p->left;
    piece.pushed = p->pushed;
    fp_vec_push(p->arena, &p->all, piece);
}

/* ---- old instructions ---- */

static bool decode(const struct fp_object *object, const struct fp_insn *insn,
                   const unsigned char **bytes, ZydisDecodedInstruction *i)
{
    static ZydisDecoder decoder;
    static bool ready;
    size_t len;
    if (!ready) ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ready = true;
    *bytes = fp_object_bytes(object, insn->address, &len);
    return *bytes && ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, *bytes, len, i)) &&
           i->length == insn->length;
}

static bool is_relative_to_rip(const ZydisDecodedInstruction *i)
{
    return i->attributes & ZYDIS_ATTRIB_HAS_MODRM && i->raw.modrm.mod == 0 && i->raw.modrm.rm == 5;
}

static bool has_relative_target(const ZydisDecodedInstruction *i)
{
    return i->raw.imm[0].size && i->raw.imm[0].is_relative;
}

const char *fp_pieces_add_old(struct fp_pieces *p, const struct fp_object *object,
                              const struct fp_insn *insn, uint32_t index)
{
    ZydisDecodedInstruction i;
    const unsigned char *bytes;
    if (!decode(object, insn, &bytes, &i)) return "has bytes that are no instruction";
    struct fp_piece piece = {
        .bytes = bytes, .insn = index, .kind = FP_PIECE_BYTES, .len = insn->length};
    if (has_relative_target(&i) && insn->kind != FP_INSN_SKIP) {
        if (insn->kind != FP_INSN_CALL || i.raw.imm[0].size != 32)
            return "has a relative jump of an unknown kind";
        piece.kind = FP_PIECE_CODE;
        piece.at = i.raw.imm[0].offset;
        piece.to = insn->target;
    } else if (is_relative_to_rip(&i)) {
        if (i.address_width != 64) return "has an address relative to eip";
        piece.kind = FP_PIECE_ADDRESS;
        piece.at = i.raw.disp.offset;
        piece.to = insn->address + insn->length + (uint64_t)i.raw.disp.value;
    }
    push(p, piece);
    return NULL;
}

/* call, jmp and push have one opcode, and an extension of it in the byte behind. */
const char *fp_pieces_add_push(struct fp_pieces *p, const struct fp_object *object,
                               const struct fp_insn *insn, uint32_t index)
{
    enum { GROUP_5 = 0xff, CALL = 2, JUMP = 4, PUSH = 6, PREFIX_BND = 0xf2, PREFIX_SIZE = 0x66 };
    ZydisDecodedInstruction i;
    const unsigned char *bytes;
    if (!decode(object, insn, &bytes, &i)) return "has bytes that are no instruction";
    unsigned is = i.raw.modrm.reg;
    bool stack =
        i.raw.modrm.mod != 3 && i.raw.modrm.rm == RSP && i.raw.sib.base == RSP && !(i.raw.rex.B);
    if (i.opcode != GROUP_5 || (is != CALL && is != JUMP)) return "has a jump of an unknown kind";
    if (bytes[0] == PREFIX_BND || bytes[0] == PREFIX_SIZE) return "has a jump with a prefix";
    if (stack && p->pushed) return "jumps through its stack";
    const char *why = fp_pieces_add_old(p, object, insn, index);
    if (why) return why;
    uint8_t *copy = fp_arena_alloc(p->arena, insn->length);
    memcpy(copy, bytes, insn->length);
    copy[i.raw.modrm.offset] = (uint8_t)((copy[i.raw.modrm.offset] & ~0x38) | PUSH << 3);
    p->all.at[p->all.len - 1].bytes = copy;
    return NULL;
}

/* jrcxz and loop have short forms alone:   jrcxz .+2; jmp .+5; jmp target   */
static void add_counted_jump(struct fp_pieces *p, const unsigned char *bytes, uint8_t len,
                             uint32_t index, uint32_t label)
{
    uint8_t code[16];
    memcpy(code, bytes, len);
    code[len - 1] = 2;
    code[len] = JUMP_SHORT;
    code[len + 1] = 5;
    fp_pieces_add_bytes(p, index, code, (size_t)len + 2);
    push(p, (struct fp_piece){
                .kind = FP_PIECE_JUMP_LONG, .insn = index, .to = label, .len = 5, .at = 1});
}

const char *fp_pieces_add_jump(struct fp_pieces *p, const struct fp_object *object,
                               const struct fp_insn *insn, uint32_t index, uint32_t label)
{
    ZydisDecodedInstruction i;
    const unsigned char *bytes;
    bool out = label == FP_NONE;
    if (!decode(object, insn, &bytes, &i)) return "has bytes that are no instruction";
    if (!has_relative_target(&i)) return "has a jump of an unknown kind";
    if (insn->kind == FP_INSN_JUMP) {
        if (i.opcode != JUMP_NEAR && i.opcode != JUMP_SHORT) return "has a jump of an unknown kind";
        if (out)
            fp_pieces_jump_out(p, index, insn->target);
        else
            fp_pieces_jump(p, index, label);
        return NULL;
    }
    if (i.opcode >= 0xe0 && i.opcode <= JRCXZ_OPCODE && i.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT) {
        if (out) return "has jrcxz or loop out of the function";
        add_counted_jump(p, bytes, insn->length, index, label);
        return NULL;
    }
    bool near = i.opcode_map == ZYDIS_OPCODE_MAP_0F && (i.opcode & 0xf0) == 0x80;
    bool brief = i.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (i.opcode & 0xf0) == BRANCH_SHORT;
    if (!near && !brief) return "has a branch of an unknown kind";
    push(p, (struct fp_piece){.kind = out ? FP_PIECE_BRANCH_OUT : FP_PIECE_BRANCH,
                              .insn = index,
                              .to = out ? insn->target : label,
                              .condition = i.opcode & 15});
    return NULL;
}

/* jrcxz and loop have none. */
bool fp_pieces_can_turn(const struct fp_object *object, const struct fp_insn *insn)
{
    ZydisDecodedInstruction i;
    const unsigned char *bytes;
    return decode(object, insn, &bytes, &i) && !(i.opcode >= 0xe0 && i.opcode <= JRCXZ_OPCODE &&
                                                 i.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT);
}

void fp_pieces_turn(struct fp_pieces *p)
{
    struct fp_piece *last = &p->all.at[p->all.len - 1];
    assert(last->kind == FP_PIECE_BRANCH);
    last->condition ^= 1;
}

/* ---- new instructions ---- */

void fp_pieces_jump(struct fp_pieces *p, uint32_t insn, uint32_t label)
{
    push(p, (struct fp_piece){.kind = FP_PIECE_JUMP, .insn = insn, .to = label});
}

void fp_pieces_jump_out(struct fp_pieces *p, uint32_t insn, uint64_t old_address)
{
    push(p, (struct fp_piece){.kind = FP_PIECE_JUMP_OUT, .insn = insn, .to = old_address});
}

static void add(struct fp_pieces *p, struct fp_piece piece, const uint8_t *bytes, size_t len)
{
    uint8_t *copy = fp_arena_alloc(p->arena, len);
    memcpy(copy, bytes, len);
    piece.bytes = copy;
    piece.len = (uint8_t)len;
    push(p, piece);
}

void fp_pieces_add_bytes(struct fp_pieces *p, uint32_t insn, const uint8_t *bytes, size_t len)
{
    add(p, (struct fp_piece){.kind = FP_PIECE_BYTES, .insn = insn}, bytes, len);
}

void fp_pieces_add_distance(struct fp_pieces *p, uint32_t insn, const uint8_t *bytes, size_t len,
                            uint8_t at, uint64_t to)
{
    add(p, (struct fp_piece){.kind = FP_PIECE_ADDRESS, .insn = insn, .to = to, .at = at}, bytes,
        len);
}

static size_t put_32(uint8_t *out, size_t at, int32_t value)
{
    memcpy(out + at, &value, 4);
    return at + 4;
}

static size_t put_front(uint8_t *out, const struct fp_new_insn *n, bool has_base)
{
    size_t at = 0;
    if (n->gs) out[at++] = PREFIX_GS;
    out[at++] =
        (uint8_t)(REX_W | (n->reg >= 8 ? REX_R : 0) | (has_base && n->base >= 8 ? REX_B : 0));
    out[at++] = n->opcode;
    return at;
}

void fp_pieces_add_memory(struct fp_pieces *p, uint32_t insn, const struct fp_new_insn *n)
{
    uint8_t out[20];
    size_t at = put_front(out, n, true);
    bool brief = n->disp >= -128 && n->disp <= 127;
    out[at++] = (uint8_t)((brief ? 0x40 : 0x80) | (n->reg & 7) << 3 | (n->base & 7));
    if ((n->base & 7) == RSP) out[at++] = 0x24;
    if (brief)
        out[at++] = (uint8_t)n->disp;
    else
        at = put_32(out, at, n->disp);
    if (n->has_immediate) at = put_32(out, at, n->immediate);
    fp_pieces_add_bytes(p, insn, out, at);
}

void fp_pieces_add_counter(struct fp_pieces *p, uint32_t insn, const struct fp_new_insn *n,
                           int64_t byte)
{
    uint8_t out[20];
    size_t at = put_front(out, n, false);
    assert(!n->has_immediate);
    out[at++] = (uint8_t)(5 | (n->reg & 7) << 3);
    struct fp_piece piece = {
        .kind = FP_PIECE_COUNTER, .insn = insn, .at = (uint8_t)at, .to = (uint64_t)byte};
    at = put_32(out, at, 0);
    add(p, piece, out, at);
}

/* ---- the whole ---- */

static uint8_t near_length(const struct fp_piece *piece)
{
    switch ((enum fp_piece_kind)piece->kind) {
    case FP_PIECE_JUMP:
    case FP_PIECE_JUMP_LONG:
    case FP_PIECE_JUMP_OUT: return 5;
    case FP_PIECE_BRANCH:
    case FP_PIECE_BRANCH_OUT: return 6;
    case FP_PIECE_BYTES:
    case FP_PIECE_ADDRESS:
    case FP_PIECE_COUNTER:
    case FP_PIECE_CODE: break;
    }
    return piece->len;
}

static bool may_be_short(const struct fp_piece *piece)
{
    return piece->kind == FP_PIECE_JUMP || piece->kind == FP_PIECE_BRANCH;
}

static void set_offsets(struct fp_pieces *p)
{
    uint32_t offset = 0;
    for (size_t i = 0; i < p->all.len; i++) {
        p->all.at[i].offset = offset;
        offset += p->all.at[i].len;
    }
    p->size = offset;
}

static int64_t distance_to(const struct fp_pieces *p, const struct fp_piece *piece)
{
    return (int64_t)fp_pieces_offset(p, (uint32_t)piece->to) -
           (int64_t)(piece->offset + piece->len);
}

/* Terminates: a jump that has become long stays long. */
void fp_pieces_lay_out(struct fp_pieces *p)
{
    for (size_t i = 0; i < p->all.len; i++)
        p->all.at[i].len = may_be_short(&p->all.at[i]) ? 2 : near_length(&p->all.at[i]);
    for (bool again = true; again;) {
        again = false;
        set_offsets(p);
        for (size_t i = 0; i < p->all.len; i++) {
            struct fp_piece *piece = &p->all.at[i];
            if (!may_be_short(piece) || piece->len != 2) continue;
            int64_t distance = distance_to(p, piece);
            if (distance >= -128 && distance <= 127) continue;
            piece->len = near_length(piece);
            again = true;
        }
    }
}

static bool put_distance(uint8_t *out, uint64_t from, uint64_t to)
{
    int64_t distance = (int64_t)(to - from);
    int32_t narrow = (int32_t)distance;
    memcpy(out, &narrow, 4);
    return narrow == distance;
}

static void put_opcode(const struct fp_piece *piece, uint8_t *out)
{
    bool branch = piece->kind == FP_PIECE_BRANCH || piece->kind == FP_PIECE_BRANCH_OUT;
    if (piece->len == 2) {
        out[0] = branch ? (uint8_t)(BRANCH_SHORT | piece->condition) : JUMP_SHORT;
    } else if (branch) {
        out[0] = 0x0f;
        out[1] = (uint8_t)(0x80 | piece->condition);
    } else {
        out[0] = JUMP_NEAR;
    }
}

static bool write_piece(const struct fp_pieces *p, const struct fp_piece *piece,
                        const struct fp_piece_places *places, uint8_t *out)
{
    uint64_t end = places->start + piece->offset + piece->len;
    if (piece->bytes)
        memcpy(out, piece->bytes, piece->len);
    else
        put_opcode(piece, out);
    uint8_t *last_four = out + piece->len - 4;
    switch ((enum fp_piece_kind)piece->kind) {
    case FP_PIECE_BYTES: return true;
    case FP_PIECE_ADDRESS: return put_distance(out + piece->at, end, piece->to);
    case FP_PIECE_COUNTER: return put_distance(out + piece->at, end, places->counters + piece->to);
    case FP_PIECE_CODE:
        return put_distance(out + piece->at, end, places->code_at(places->context, piece->to));
    case FP_PIECE_JUMP:
    case FP_PIECE_JUMP_LONG:
    case FP_PIECE_BRANCH: {
        uint64_t to = places->start + fp_pieces_offset(p, (uint32_t)piece->to);
        if (piece->len != 2) return put_distance(last_four, end, to);
        out[1] = (uint8_t)(to - end);
        return true;
    }
    case FP_PIECE_JUMP_OUT:
    case FP_PIECE_BRANCH_OUT:
        return put_distance(last_four, end, places->code_at(places->context, piece->to));
    }
    return false;
}

bool fp_pieces_write(const struct fp_pieces *p, const struct fp_piece_places *places, uint8_t *out)
{
    for (size_t i = 0; i < p->all.len; i++)
        if (!write_piece(p, &p->all.at[i], places, out + p->all.at[i].offset)) return false;
    return true;
}
