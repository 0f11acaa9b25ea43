/* longjmp in code that is not moved: see barecode.h. The first instructions of such a function
 * become a jump to code that tells the runtime, and then has them:
 *
 *     old:  mov 48(%rdi), %r8    ->   old:  jmp new         new:  lea go_on(%rip), %r11
 *           mov 8(%rdi), %r9                int3 ...              jmp FP_EXE_LEAVE_...
 *           ...                             ...              go_on: mov 48(%rdi), %r8 ...
 *                                                                 jmp old + 8
 *
 * The function is known by its loads: registers that functions keep, from the places where
 * setjmp put them (binary/twice.c). glibc's mixes the stack pointer with a secret, musl's does
 * not. The indirect jump at their ends leads anywhere, so that such functions are never moved.
 *
 * Not handled: other libcs; their jumps are not seen, and paths in flight are lost. */
#include "exe/barecode.h"

#include <string.h>

enum { LOOK_AT = 160, MOST_BEFORE = 128 };

static bool holds(const unsigned char *bytes, size_t len, const char *wanted, size_t wanted_len)
{
    return memmem(bytes, len, wanted, wanted_len) != NULL;
}

/* mov (%rdi),%rbx   mov 16(%rdi),%r12   mov 40(%rdi),%r15, and the stack pointer. */
static bool is_jump(const unsigned char *bytes, size_t len)
{
    return holds(bytes, len, "\x48\x8b\x1f", 3) && holds(bytes, len, "\x4c\x8b\x67\x10", 4) &&
           holds(bytes, len, "\x4c\x8b\x7f\x28", 4);
}

/* mov 48(%rdi),%r8 ... xor %fs:0x30,%r8 */
static bool is_mixed(const unsigned char *bytes, size_t len)
{
    return holds(bytes, len, "\x4c\x8b\x47\x30", 4) &&
           holds(bytes, len, "\x64\x4c\x33\x04\x25\x30\0\0\0", 9);
}

/* mov 48(%rdi),%rsp, or by way of rdx */
static bool is_plain(const unsigned char *bytes, size_t len)
{
    return holds(bytes, len, "\x48\x8b\x67\x30", 4) ||
           (holds(bytes, len, "\x48\x8b\x57\x30", 4) && holds(bytes, len, "\x48\x89\xd4", 3));
}

static bool is_entry(const struct fp_bare_code *b, uint64_t address)
{
    const struct fp_fde *fde = fp_frames_find(&b->w->old_frames, address);
    if (fde) return fde->start == address;
    size_t i = fp_references_from(&b->references, address);
    for (; i < b->references.all.len && b->references.all.at[i].target == address; i++) {
        enum fp_reference_kind kind = b->references.all.at[i].kind;
        if (kind != FP_REFERENCE_READ && kind != FP_REFERENCE_JUMP) return true;
    }
    return false;
}

/* The instructions that the function begins with, five bytes or more; 0: there are too few. */
static size_t taken(const struct fp_bare_code *b, size_t first)
{
    size_t last = first;
    for (; fp_bare_end(b, last) - b->insns.at[first].address < FP_BARE_JUMP_SIZE; last++) {
        uint8_t kind = b->insns.at[last].kind;
        if (kind != FP_INSN_PLAIN || last + 1 == b->insns.len || !fp_bare_follows(b, last + 1))
            return 0;
    }
    return b->insns.at[last].kind == FP_INSN_PLAIN ? last - first + 1 : 0;
}

static bool tell(struct fp_bare_code *b, size_t first, uint64_t leave)
{
    static const uint8_t go_on[] = {0x4c, 0x8d, 0x1d, 5, 0, 0, 0}; /* lea 5(%rip), %r11 */
    static const uint8_t jump[] = {0xe9, 0, 0, 0, 0};
    struct fp_pieces p = {.arena = b->w->arena};
    size_t count = taken(b, first);
    const char *why = count ? NULL : "no room";
    fp_pieces_add_bytes(&p, 0, go_on, sizeof go_on);
    fp_pieces_add_distance(&p, 0, jump, sizeof jump, 1, leave);
    for (size_t i = first; !why && i < first + count; i++)
        why = fp_pieces_add_old(&p, &b->w->object, &b->insns.at[i], 0);
    if (why) return true; /* such a jump is not seen */
    fp_pieces_jump_out(&p, 0, fp_bare_end(b, first + count - 1));
    return fp_bare_replace(b, &p, first, count);
}

static bool look_at(struct fp_bare_code *b, size_t first)
{
    size_t len;
    const unsigned char *bytes = fp_object_bytes(&b->w->object, b->insns.at[first].address, &len);
    if (!bytes) return true;
    if (len > LOOK_AT) len = LOOK_AT;
    if (!is_jump(bytes, len)) return true;
    if (is_mixed(bytes, len)) return tell(b, first, b->w->calls.leave_mixed);
    if (is_plain(bytes, len)) return tell(b, first, b->w->calls.leave_plain);
    return true;
}

/* The entry that is nearest in front of the loads. */
bool fp_bare_jumps(struct fp_bare_code *b)
{
    for (size_t i = 0; i < b->insns.len; i++) {
        size_t len;
        const unsigned char *bytes = fp_object_bytes(&b->w->object, b->insns.at[i].address, &len);
        if (!bytes || len < 3 || memcmp(bytes, "\x48\x8b\x1f", 3) != 0) continue;
        size_t first = i;
        while (first && !is_entry(b, b->insns.at[first].address) &&
               b->insns.at[i].address - b->insns.at[first].address < MOST_BEFORE)
            first--;
        if (is_entry(b, b->insns.at[first].address) && !look_at(b, first))
            return fp_fail(b->w->error, b->w->object.path, "its longjmp is too far from new code");
    }
    return true;
}
