/* Where a call of the kernel that the runtime wants comes from the program: see rt_through.c.
 *
 * rcx is the address behind the `syscall` instruction. Of the other registers, the flags and the
 * 128 bytes below the stack pointer nothing may change. struct rt_call_regs is below those bytes;
 * of a thread that ends it is on the exit stack.
 */

/* Offsets in struct rt_call_regs: registers by their DWARF numbers, then the flags. */
#define RAX 0
#define RSP 56
#define R9 72
#define RIP 128
#define FLAGS 136
#define SIZE 144
#define ROOM (128 + SIZE)
#define SYS_EXIT 60

/* All but rax, rcx, rsp and r11. */
.macro each_register what
        \what rdx, 8
        \what rbx, 24
        \what rsi, 32
        \what rdi, 40
        \what rbp, 48
        \what r8, 64
        \what r9, R9
        \what r10, 80
        \what r12, 96
        \what r13, 104
        \what r14, 112
        \what r15, 120
.endm

.macro save reg, at
        movq    %\reg, \at(%rsp)
.endm

.macro load reg, at
        movq    \at(%rsp), %\reg
.endm

.macro describe reg, at
        .cfi_rel_offset \reg, \at
.endm

/* From the struct of a birth. */
.macro copy reg, at
        movq    \at(%r9), %rcx
        movq    %rcx, \at(%rsp)
.endm

/* Calls a function of C with the struct as its first argument. */
.macro ask function
        cld
        movq    %rsp, %rdi
        movq    %rsp, %rbp
        .cfi_def_cfa_register rbp
        andq    $-16, %rsp
        call    \function
        movq    %rbp, %rsp
        .cfi_def_cfa_register rsp
.endm

        .text
        .globl  rt_through
        .hidden rt_through
        .type   rt_through, @function
rt_through:
        .cfi_startproc
        .cfi_def_cfa rsp, 0
        .cfi_register rip, rcx
        movq    %rcx, %r11
        movl    %eax, %ecx
        leal    -SYS_EXIT(%rcx), %ecx   /* no comparison: the flags are the program's */
        jrcxz   .Lis_exit
        jmp     .Lis_other
.Lis_exit:
        jmp     .Lexit

.Lis_other:
        leaq    -ROOM(%rsp), %rsp
        .cfi_def_cfa_offset ROOM
        movq    %rax, RAX(%rsp)
        movq    %r11, RIP(%rsp)
        each_register save
        each_register describe
        .cfi_rel_offset rip, RIP
        leaq    ROOM(%rsp), %rax
        movq    %rax, RSP(%rsp)
        pushfq
        popq    FLAGS(%rsp)
        ask     rt_on_call
        testq   %rax, %rax
        jz      .Lback

        /* A birth: r9, which the kernel does not look at, is its struct for parent and child. */
        movq    %rax, R9(%rsp)
        movq    RAX(%rsp), %rax
        each_register load
        movq    RSP(%rsp), %rsp
        .cfi_def_cfa_offset 0
        syscall
        leaq    -ROOM(%rsp), %rsp
        .cfi_def_cfa_offset ROOM
        each_register copy
        copy    rip, RIP
        copy    flags, FLAGS
        movq    %rax, RAX(%rsp)
        leaq    ROOM(%rsp), %rcx
        movq    %rcx, RSP(%rsp)
        movq    %r9, %rsi
        ask     rt_birth_end

.Lback: /* to the program, at the address in the struct */
        pushq   FLAGS(%rsp)
        popfq
        movq    RAX(%rsp), %rax
        movq    RIP(%rsp), %rcx
        movq    FLAGS(%rsp), %r11
        each_register load
        movq    RSP(%rsp), %rsp
        .cfi_def_cfa_offset 0
        .cfi_register rip, rcx
        jmp     *%rcx

.Lexit: /* on the thread's exit stack, if it has one */
        movq    %gs:rt_exit_stack_word(%rip), %rcx
        jrcxz   .Lno_stack
        jmp     .Lhas_stack
.Lno_stack:
        leaq    -128(%rsp), %rcx
.Lhas_stack:
        leaq    -SIZE(%rcx), %rcx
        movq    %rsp, RSP(%rcx)
        movq    %rcx, %rsp
        movq    %rax, RAX(%rsp)
        movq    %r11, RIP(%rsp)
        each_register save
        cld
        movq    %rsp, %rdi
        andq    $-16, %rsp
        .cfi_undefined rip
        call    rt_on_exit
        ud2
        .cfi_endproc
        .size   rt_through, . - rt_through

        .section .note.GNU-stack, "", @progbits
