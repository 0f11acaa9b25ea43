/* Additions to running registers are taken out of the first body: see additions.h.
 *
 * An addition takes 5 bytes or more: add $value, word with an operand of 64 bits is a prefix, the
 * opcode, the operand, at least a byte of displacement, and the value. (A word at 0(%rsp) has the
 * byte of the index instead.) So a jump of 5 bytes has room in its place.
 *
 * A thread may be interrupted at any instruction, and what the second body has at that place is
 * found by its distance from the last step. So an addition becomes exactly one instruction: behind
 * a jump, the bytes that are left are never executed.
 */
#include "exe/additions.h"

#include "base/varint.h"
#include "footpath/abi.h"

#include <stdlib.h>
#include <string.h>

enum { JUMP = 5, SHORT_JUMP = 2, BRANCH = 6, LONGEST = 15, FURTHEST = 16 };

/* ---- what is there ---- */

/* The length of add $value, memory of 64 bits; 0: it is something else. */
static uint8_t length_of(const struct fp_elfview *view, uint64_t address)
{
    struct fp_insn insn = {0};
    uint64_t room = fp_elfview_room(view, address);
    const unsigned char *at = fp_elfview_at(view, address, JUMP);
    if (!at || (at[0] & 0xf8) != 0x48 || (at[1] != 0x83 && at[1] != 0x81)) return 0;
    if (at[2] & 0x38 || at[2] >= 0xc0) return 0;
    uint8_t length = fp_insn_decode(at, room < LONGEST ? room : LONGEST, address, &insn);
    return insn.kind == FP_INSN_PLAIN && length >= JUMP ? length : 0;
}

/* The target of a jump without a condition; 0: there is none at the address. */
static uint64_t jump_at(const struct fp_elfview *view, uint64_t address)
{
    const unsigned char *at = fp_elfview_at(view, address, 1);
    if (at && *at == 0xeb && fp_elfview_at(view, address, SHORT_JUMP))
        return address + SHORT_JUMP + (uint64_t)(int64_t)(int8_t)at[1];
    if (!at || *at != 0xe9 || !fp_elfview_at(view, address, JUMP)) return 0;
    int32_t distance;
    memcpy(&distance, at + 1, sizeof distance);
    return address + JUMP + (uint64_t)(int64_t)distance;
}

static int by_address(const void *a, const void *b)
{
    const struct fp_addition *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static const struct fp_addition *addition_at(const struct fp_additions *a, uint64_t address)
{
    struct fp_addition key = {.address = address};
    return a->len ? bsearch(&key, a->at, a->len, sizeof key, by_address) : NULL;
}

/* Loops of nothing but jumps and additions have no end. */
static void find_behind(const struct fp_additions *a, struct fp_addition *one)
{
    one->behind = one->address + one->length;
    one->jumps = jump_at(a->view, one->behind);
    for (int i = 0; i < FURTHEST; i++) {
        const struct fp_addition *next = addition_at(a, one->behind);
        uint64_t target = next ? 0 : jump_at(a->view, one->behind);
        if (!next && !target) return;
        one->behind = next ? next->address + next->length : target;
    }
}

void fp_additions_find(struct fp_arena *arena, const struct fp_elfview *view,
                       struct fp_additions *additions)
{
    const Elf64_Shdr *section = fp_elfview_section(view, FP_ADDITION_SECTION);
    *additions = (struct fp_additions){.view = view};
    if (!section || section->sh_type == SHT_NOBITS) return;
    const unsigned char *bytes = view->bytes + section->sh_offset;
    size_t n = section->sh_size / sizeof(int32_t), found = 0;
    additions->at = FP_NEW_ARRAY(arena, struct fp_addition, n);
    for (size_t i = 0; i < n; i++) {
        int32_t distance;
        memcpy(&distance, bytes + i * sizeof distance, sizeof distance);
        uint64_t at = section->sh_addr + i * sizeof distance + (uint64_t)(int64_t)distance;
        uint8_t length = length_of(view, at);
        if (length) additions->at[found++] = (struct fp_addition){.address = at, .length = length};
    }
    qsort(additions->at, found, sizeof *additions->at, by_address);
    additions->len = found;
    for (size_t i = 0; i < found; i++) find_behind(additions, &additions->at[i]);
}

/* ---- jumps ---- */

/* Writes the distance to the target at the end of a jump. False where it has no room. */
static bool lead_to(unsigned char *at, const struct fp_insn *jump, uint64_t target)
{
    int64_t distance = (int64_t)(target - jump->address - jump->length);
    int32_t wide = (int32_t)distance;
    if (jump->length == SHORT_JUMP) {
        if (distance != (int8_t)distance) return false;
        at[1] = (unsigned char)distance;
        return true;
    }
    if (distance != wide) return false;
    memcpy(at + jump->length - sizeof wide, &wide, sizeof wide);
    return true;
}

/* jmp and jcc without a prefix. */
static bool is_jump(const unsigned char *at, const struct fp_insn *insn)
{
    switch (insn->length) {
    case SHORT_JUMP: return *at == 0xeb || (*at & 0xf0) == 0x70;
    case JUMP: return *at == 0xe9;
    case BRANCH: return *at == 0x0f && (at[1] & 0xf0) == 0x80;
    }
    return false;
}

void fp_additions_pass_over(const struct fp_additions *additions,
                            const struct fp_machine_function *function)
{
    for (size_t i = 0; additions->len && i < function->insns.len; i++) {
        const struct fp_insn *insn = &function->insns.at[i];
        if (insn->kind != FP_INSN_JUMP && insn->kind != FP_INSN_BRANCH) continue;
        const struct fp_addition *addition = addition_at(additions, insn->target);
        unsigned char *at = fp_elfview_at(additions->view, insn->address, insn->length);
        if (!addition || !at || !is_jump(at, insn)) continue;
        if (!lead_to(at, insn, addition->behind))
            lead_to(at, insn, addition->address + addition->length);
    }
}

/* ---- the instructions themselves ---- */

/* One instruction of `length` bytes that does nothing: nopw 0(%rax,%rax,1), or a shorter one; with
 * prefixes where that is not long enough. */
static void write_nop(unsigned char *at, uint8_t length)
{
    enum { LONG = 9 };
    static const unsigned char nops[LONG - JUMP + 1][LONG] = {
        {0x0f, 0x1f, 0x44, 0x00, 0x00},
        {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00},
        {0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00},
        {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
        {0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00},
    };
    for (; length > LONG; length--) *at++ = 0x66;
    memcpy(at, nops[length - JUMP], length);
}

static void remove_one(const struct fp_additions *a, const struct fp_addition *one)
{
    unsigned char *at = fp_elfview_at(a->view, one->address, one->length);
    const struct fp_insn jump = {.address = one->address, .length = JUMP};
    write_nop(at, one->length);
    if (!one->jumps || !lead_to(at, &jump, one->behind)) return;
    *at = 0xe9;
    memset(at + JUMP, 0x90, one->length - JUMP);
}

void fp_additions_remove(const struct fp_additions *additions)
{
    for (size_t i = 0; i < additions->len; i++) remove_one(additions, &additions->at[i]);
}
