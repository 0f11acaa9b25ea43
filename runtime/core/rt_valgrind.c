/* Hides memory from helgrind. Threads share counters and the runtime's own tables by atomic
 * instructions and by the order in which threads begin and end. Helgrind does not follow
 * that and would report races. Valgrind takes requests as instructions that do nothing
 * otherwise (Valgrind manual, "The Client Request mechanism"): four rotations that add up to
 * 128 bits, and an exchange of a register with itself.
 *
 * Not handled: DRD, which has requests of its own.
 */
#include "rt.h"

enum { HELGRIND_MAKE_UNTRACKED = 0x48470127 };

void rt_hide_from_helgrind(const void *start, size_t len)
{
    volatile uint64_t request[6] = {HELGRIND_MAKE_UNTRACKED, (uintptr_t)start, len, 0, 0, 0};
    uint64_t result = 0;
    if (!len) return;
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(result)
                     : "a"(&request[0])
                     : "cc", "memory");
}
