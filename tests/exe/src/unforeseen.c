/* Calls into the middle of a function, at a place that no rewriter can know: the argument says
 * where. */
#include <stdio.h>
#include <stdlib.h>

extern long victim(long x);
__asm__(".text\n.globl victim\n.type victim, @function\n"
        "victim: .cfi_startproc\n"
        "nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\n"
        "test %rdi, %rdi\n"
        "js 1f\n"
        "lea 1(%rdi), %rax\n"
        "ret\n"
        "1: mov %rdi, %rax\n"
        "ret\n"
        ".cfi_endproc\n.size victim, . - victim\n");

int main(int count, char **arguments)
{
    long (*into)(long) = (long (*)(long))((char *)victim + (count > 1 ? atol(arguments[1]) : 0));
    long sum = 0;
    for (long i = -5; i < 5; i++) sum += into(i);
    printf("%ld\n", sum);
    return 0;
}
