/* Where a rewritten static program starts. The kernel has put the arguments, the environment and
 * its vector of facts on the stack. The runtime relocates itself, starts, and goes on at the entry
 * point of the program with the stack and the registers as the kernel left them: rdx, which would
 * hold a function for atexit, is 0.
 *
 * The vector tells the program where its entry point and its program headers are (AT_ENTRY,
 * AT_PHDR). Those that it had are put there.
 */
#include "static/rt_static.h"

#include <sys/auxv.h>

void rt_entry(void) FP_HIDDEN;
extern void *rt_exe_early(void) FP_HIDDEN;
extern void rt_start(int count, char **arguments, char **environment) FP_HIDDEN;

__asm__(".pushsection .text\n"
        ".globl rt_entry\n.hidden rt_entry\n.type rt_entry, @function\n"
        "rt_entry: .cfi_startproc\n.cfi_undefined rip\n"
        "xorl %ebp, %ebp\nmovq %rsp, %rdi\nmovq %rsp, %rbx\nandq $-16, %rsp\n"
        "call rt_begin\n"
        "movq %rbx, %rsp\nmovq %rax, %rcx\n"
        "xorl %eax, %eax\nxorl %ebx, %ebx\nxorl %edx, %edx\nxorl %esi, %esi\nxorl %edi, %edi\n"
        "xorl %r8d, %r8d\nxorl %r9d, %r9d\nxorl %r10d, %r10d\nxorl %r11d, %r11d\n"
        "jmp *%rcx\n"
        ".cfi_endproc\n.size rt_entry, . - rt_entry\n.popsection\n");

/* Nothing here may need a relocation. */
static void relocate(void)
{
    uint64_t bias = (uint64_t)&rt_exe_record - rt_exe_record.address;
    const Elf64_Rela *at = (const Elf64_Rela *)rt_exe_place(rt_exe_record.relocations.at);
    for (uint64_t i = 0; i < rt_exe_record.relocations.size / sizeof *at; i++)
        *(uint64_t *)(at[i].r_offset + bias) = (uint64_t)at[i].r_addend + bias;
}

/* What the program is told of itself: where it starts, and the headers that it had. */
static void tell(Elf64_auxv_t *fact, uint64_t entry)
{
    for (; fact->a_type != AT_NULL; fact++) {
        if (fact->a_type == AT_ENTRY) fact->a_un.a_val = entry;
        if (fact->a_type == AT_PHDR)
            fact->a_un.a_val = (uint64_t)rt_exe_place(rt_exe_record.headers.at);
        if (fact->a_type == AT_PHNUM)
            fact->a_un.a_val = rt_exe_record.headers.size / sizeof(Elf64_Phdr);
    }
}

/* Returns the entry point of the program. */
uint64_t rt_begin(uint64_t *stack) FP_HIDDEN;
uint64_t rt_begin(uint64_t *stack)
{
    uint64_t entry = (uint64_t)rt_exe_place(rt_exe_record.program_entry);
    char **arguments = (char **)(stack + 1), **environment = arguments + stack[0] + 1;
    char **end = environment;
    while (*end) end++;
    Elf64_auxv_t *facts = (Elf64_auxv_t *)(end + 1);
    relocate();
    rt_libc_start(environment, facts);
    rt_exe_early();
    rt_through_start();
    rt_start((int)stack[0], arguments, environment);
    tell(facts, entry);
    return entry;
}
