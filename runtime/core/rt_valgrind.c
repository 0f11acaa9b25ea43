/* Requests to Valgrind. Hides memory from helgrind: threads share counters and the runtime's own
 * tables by atomic instructions and by the order in which threads begin and end. Helgrind does
 * not follow that and would report races. Valgrind takes requests as instructions that do nothing
 * otherwise (Valgrind manual, "The Client Request mechanism"): four rotations that add up to 128
 * bits, and an exchange of a register with itself. Not handled: DRD, which has requests of its
 * own. */
#include "rt.h"

enum { HELGRIND_MAKE_UNTRACKED = 0x48470127, RUNNING_ON_VALGRIND = 0x1001 };

static uint64_t ask(uint64_t what, uint64_t a, uint64_t b)
{
    volatile uint64_t request[6] = {what, a, b, 0, 0, 0};
    uint64_t result = 0;
    __asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
                     "xchgq %%rbx, %%rbx"
                     : "+d"(result)
                     : "a"(&request[0])
                     : "cc", "memory");
    return result;
}

void rt_hide_from_helgrind(const void *start, size_t len)
{
    if (len) ask(HELGRIND_MAKE_UNTRACKED, (uintptr_t)start, len);
}

bool rt_under_valgrind(void)
{
    return ask(RUNNING_ON_VALGRIND, 0, 0);
}
