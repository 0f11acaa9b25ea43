/* Calls of the kernel in statically linked programs. There the runtime can take the place of no
 * function of libc, so it has to see the calls themselves: in front of each `syscall` instruction
 * comes a question whether the runtime wants this one.
 *
 *     lea watched(%rip), %r11; movzwl %ax, %ecx; movzbl (%r11,%rcx), %ecx; jrcxz call
 *     lea behind(%rip), %rcx; jmp through
 *     call: syscall
 *     behind:
 *
 * The instruction changes rcx and r11, so that the program holds nothing in them there. The
 * question changes neither flags nor memory. runtime/static/rt_through.c is the other side.
 */
#ifndef FP_EXE_KERNELCALLS_H
#define FP_EXE_KERNELCALLS_H

#include "exe/piece.h"

/* Where the runtime has its parts. All 0: no calls are looked at. */
struct fp_kernel_calls {
    uint64_t watched, through;
    uint64_t leave_mixed, leave_plain; /* by longjmp: FP_EXE_LEAVE_MIXED, FP_EXE_LEAVE_PLAIN */
};

bool fp_is_kernel_call(const struct fp_object *object, const struct fp_insn *insn);

/* The number of the call, where the instruction in front of it sets a constant. */
bool fp_kernel_call_number(const struct fp_object *object, const struct fp_insn *before,
                           uint32_t *number);
/* Does the runtime want calls of this number? fixed: of a file with a fixed address. */
bool fp_kernel_call_is_watched(uint32_t number, bool fixed);

/* The question. The `syscall` instruction has to be the next piece. */
void fp_kernel_call_ask(struct fp_pieces *pieces, const struct fp_kernel_calls *calls,
                        uint32_t insn);
/* The same for a call that stays where it is; then control goes there. */
void fp_kernel_call_ask_apart(struct fp_pieces *pieces, const struct fp_kernel_calls *calls,
                              uint64_t call);

#endif
