/* What the second body calls (rt_body.c), and the record by which footpath-cc finds it. All
 * registers and flags are as before when the second body goes on. The unwind tables hold at every
 * instruction: a signal may come here, and its handler may throw.
 */
#include "rt.h"

#include <stddef.h>

unsigned char rt_body_plain_flags FP_HIDDEN __attribute__((used));

/* clang-format off */
#define PUSH(reg) "push %" reg "\n.cfi_adjust_cfa_offset 8\n"
#define POP(reg) "pop %" reg "\n.cfi_adjust_cfa_offset -8\n"
#define PUSH_RBP PUSH("rbp") ".cfi_rel_offset %rbp, 0\n"
#define POP_RBP POP("rbp") ".cfi_restore %rbp\n"
#define PUSH_FLAGS "pushfq\n.cfi_adjust_cfa_offset 8\n"
#define POP_FLAGS "popfq\n.cfi_adjust_cfa_offset -8\n"

#define DROP(bytes) "lea " bytes "(%rsp), %rsp\n.cfi_adjust_cfa_offset -(" bytes ")\n"

/* The flags lie so far up, behind what `pops` takes and so many bytes more. popf takes 20 cycles
 * and more: the flags that C changes are set without it, where the processor can
 * (rt_body_plain_flags) and the direction flag is clear as it should be. */
#define RESTORE_FLAGS(at, pops, more, end)                \
    "mov " at "(%rsp), %eax\n"                            \
    "test $0x400, %eax\n"                                 \
    "jne 1f\n"                                            \
    "cmpb $0, rt_body_plain_flags(%rip)\n"                \
    "je 1f\n"                                             \
    "bt $11, %eax\n"                                      \
    "mov %al, %ah\n"                                      \
    "setc %al\n"                                          \
    "add $127, %al\n" /* overflows if al was 1 */         \
    "sahf\n"                                              \
    ".cfi_remember_state\n"                               \
    pops DROP("8+" more) end                              \
    "1:\n.cfi_restore_state\n"                            \
    pops DROP(more) POP_FLAGS end

/* In the order of gregs from below; rsp as it is behind the flags. */
#define SAVE_ALL                                          \
    PUSH_FLAGS PUSH("rsp") PUSH("rcx") PUSH("rax")        \
    PUSH("rdx") PUSH("rbx") PUSH_RBP PUSH("rsi")          \
    PUSH("rdi") PUSH("r15") PUSH("r14") PUSH("r13")       \
    PUSH("r12") PUSH("r11") PUSH("r10") PUSH("r9") PUSH("r8")
/* What C keeps need not be read again. */
#define RESTORE_ALL(end)                                  \
    POP("r8") POP("r9") POP("r10") POP("r11") DROP("32")  \
    POP("rdi") POP("rsi") POP_RBP DROP("8") POP("rdx")    \
    RESTORE_FLAGS("24", POP("rax") POP("rcx"), "8", end)

/* What C may change, and rbp, which holds the stack pointer meanwhile. */
#define SAVE_SOME                                         \
    PUSH_FLAGS PUSH("rax") PUSH("rcx") PUSH("rdx")        \
    PUSH("rsi") PUSH("rdi") PUSH("r8") PUSH("r9")         \
    PUSH("r10") PUSH("r11") PUSH_RBP
#define RESTORE_SOME(end)                                 \
    POP_RBP POP("r11") POP("r10") POP("r9") POP("r8")     \
    POP("rdi") POP("rsi") POP("rdx") POP("rcx")           \
    RESTORE_FLAGS("8", POP("rax"), "0", end)
#define SAVED "88" /* bytes */

#define CALL(name)                                        \
    "cld\n"                                               \
    "mov %rsp, %rbp\n.cfi_def_cfa_register %rbp\n"        \
    "and $-16, %rsp\n"                                    \
    "call " name "\n"                                     \
    "mov %rbp, %rsp\n.cfi_def_cfa_register %rsp\n"

#define FUNCTION(name)                                    \
    ".globl " name "\n.hidden " name "\n"                 \
    ".type " name ", @function\n.balign 16\n"             \
    name ":\n.cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " name ", . - " name "\n"

__asm__(
    ".pushsection .text\n"

    /* where to go on, the number of the place, the red zone */
    FUNCTION("__footpath_body_site")
    SAVE_ALL
    "mov %rsp, %rdi\n"
    CALL("rt_body_site")
    RESTORE_ALL("ret $136\n")
    END("__footpath_body_site")

    /* where to go on, the callee: becomes the callee, where to go on */
    FUNCTION("__footpath_body_call")
    ".cfi_def_cfa_offset 16\n.cfi_offset %rip, -16\n"
    SAVE_SOME
    "mov 8+" SAVED "(%rsp), %rdi\n"
    CALL("rt_body_resolve")
    "mov " SAVED "(%rsp), %rcx\n"
    "mov %rcx, 8+" SAVED "(%rsp)\n.cfi_offset %rip, -8\n"
    "mov %rax, " SAVED "(%rsp)\n"
    RESTORE_SOME("ret\n")
    END("__footpath_body_call")

    /* where it was called, the target, the red zone */
    FUNCTION("__footpath_body_jump")
    SAVE_SOME
    "mov 8+" SAVED "(%rsp), %rdi\n"
    CALL("rt_body_resolve")
    "mov %rax, 8+" SAVED "(%rsp)\n"
    RESTORE_SOME("lea 8(%rsp), %rsp\n.cfi_def_cfa_offset 136\n.cfi_offset %rip, -136\n"
                 "ret $128\n")
    END("__footpath_body_jump")

    /* where to go on, the address to return to */
    FUNCTION("__footpath_body_return")
    SAVE_SOME
    "mov 8+" SAVED "(%rsp), %rdi\n"
    CALL("rt_body_resolve")
    "mov %rax, 8+" SAVED "(%rsp)\n"
    RESTORE_SOME("ret\n")
    END("__footpath_body_return")

    ".popsection\n");

_Static_assert(offsetof(struct fp_body_record, entries) == 8, "as below");
_Static_assert(sizeof(struct fp_body_record) == 96, "as below");

__asm__(
    ".pushsection " FP_BODY_SECTION ", \"a\", @progbits\n"
    ".balign 8\n"
    ".globl rt_body_record\n.hidden rt_body_record\n"
    "rt_body_record:\n"
    ".zero 8\n"
    ".quad __footpath_body_site - rt_body_record\n"
    ".quad __footpath_body_call - rt_body_record\n"
    ".quad __footpath_body_jump - rt_body_record\n"
    ".quad __footpath_body_return - rt_body_record\n"
    ".zero 96 - (. - rt_body_record)\n"
    ".popsection\n");
/* clang-format on */
