/* Questions in front of calls of the kernel: see kernelcalls.h. */
#include "exe/kernelcalls.h"

#include "footpath/abi.h"

#include <string.h>

static const uint8_t syscall_insn[] = {0x0f, 0x05};

bool fp_is_kernel_call(const struct fp_object *object, const struct fp_insn *insn)
{
    size_t len;
    if (insn->length != sizeof syscall_insn) return false;
    const unsigned char *bytes = fp_object_bytes(object, insn->address, &len);
    return bytes && len >= sizeof syscall_insn && !memcmp(bytes, syscall_insn, sizeof syscall_insn);
}

bool fp_kernel_call_number(const struct fp_object *object, const struct fp_insn *before,
                           uint32_t *number)
{
    static const uint8_t set_eax[] = {0xb8}, set_rax[] = {0x48, 0xc7, 0xc0}, clear[] = {0x31, 0xc0};
    size_t len;
    const unsigned char *bytes = fp_object_bytes(object, before->address, &len);
    if (!bytes || len < before->length) return false;
    if (before->length == 2 && !memcmp(bytes, clear, sizeof clear)) {
        *number = 0;
        return true;
    }
    bool sets = (before->length == 5 && !memcmp(bytes, set_eax, sizeof set_eax)) ||
                (before->length == 7 && !memcmp(bytes, set_rax, sizeof set_rax));
    if (sets) memcpy(number, bytes + before->length - 4, sizeof *number);
    return sets;
}

bool fp_kernel_call_is_watched(uint32_t number, bool fixed)
{
    static const uint16_t always[] = {FP_EXE_CALLS}, if_fixed[] = {FP_EXE_CALLS_FIXED};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (always[i] == (uint16_t)number) return true;
    for (size_t i = 0; fixed && i < sizeof if_fixed / sizeof *if_fixed; i++)
        if (if_fixed[i] == (uint16_t)number) return true;
    return false;
}

/* ---- questions ---- */

static void look_up(struct fp_pieces *pieces, const struct fp_kernel_calls *calls, uint32_t insn)
{
    static const uint8_t watched[] = {0x4c, 0x8d, 0x1d, 0, 0, 0, 0}; /* lea watched(%rip), %r11 */
    static const uint8_t look[] = {
        0x0f, 0xb7, 0xc8,             /* movzwl %ax, %ecx */
        0x41, 0x0f, 0xb6, 0x0c, 0x0b, /* movzbl (%r11,%rcx), %ecx */
        0xe3, 12,                     /* jrcxz: over the next two instructions */
    };
    fp_pieces_add_distance(pieces, insn, watched, sizeof watched, 3, calls->watched);
    fp_pieces_add_bytes(pieces, insn, look, sizeof look);
}

static void go_through(struct fp_pieces *pieces, const struct fp_kernel_calls *calls, uint32_t insn)
{
    static const uint8_t jump[] = {0xe9, 0, 0, 0, 0};
    fp_pieces_add_distance(pieces, insn, jump, sizeof jump, 1, calls->through);
}

static const uint8_t lea_rcx[] = {0x48, 0x8d, 0x0d, 0, 0, 0, 0};

void fp_kernel_call_ask(struct fp_pieces *pieces, const struct fp_kernel_calls *calls,
                        uint32_t insn)
{
    uint8_t behind[sizeof lea_rcx];
    memcpy(behind, lea_rcx, sizeof lea_rcx);
    behind[3] = 5 + sizeof syscall_insn; /* over the jump and the call */
    look_up(pieces, calls, insn);
    fp_pieces_add_bytes(pieces, insn, behind, sizeof behind);
    go_through(pieces, calls, insn);
}

void fp_kernel_call_ask_apart(struct fp_pieces *pieces, const struct fp_kernel_calls *calls,
                              uint64_t call)
{
    look_up(pieces, calls, 0);
    fp_pieces_add_distance(pieces, 0, lea_rcx, sizeof lea_rcx, 3, call + sizeof syscall_insn);
    go_through(pieces, calls, 0);
    fp_pieces_jump_out(pieces, 0, call);
}
