/* Stacks of a statically linked program: room for the slots of their frames (exe/rt_shadow.c).
 *
 * In a file with a fixed address slots lie 96 MB below their frames. libcs get the stacks of
 * threads by mmap, glibc with MAP_STACK, musl without any rights at first. Such memory gets 96 MB
 * of address space below it, in which its slots are mapped; the space is given back with the stack.
 *
 * Not handled: stacks of threads of more than 95 MB, and stacks that the program has allocated
 * otherwise with something else 96 MB below. Such threads are not made.
 */
#include "static/rt_static.h"

#include <errno.h>
#include <sys/mman.h>

/* ---- mappings for stacks ---- */

enum { MOST_STACKS = 16384 };
static const uint64_t LEAST = 1 << 14, MOST = (uint64_t)95 << 20;

/* Memory with slots; the space of the slots begins at `space`. */
struct stack {
    uint64_t start, len, space; /* start 0: free */
};

static struct stack *stacks;
static uint32_t nstacks; /* none from here on was ever used */

static bool is_for_stack(const struct rt_call_regs *call)
{
    uint64_t len = rt_call_argument(call, 1), rights = rt_call_argument(call, 2),
             how = rt_call_argument(call, 3);
    bool plain = (how & (MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED)) == (MAP_PRIVATE | MAP_ANONYMOUS);
    bool meant = how & MAP_STACK || (rights == PROT_NONE && !(how & MAP_NORESERVE));
    return plain && meant && !rt_call_argument(call, 0) && len >= LEAST && len <= MOST;
}

static bool keep(uint64_t start, uint64_t len, uint64_t space)
{
    if (!rt_map_once((void **)&stacks, MOST_STACKS * sizeof *stacks)) return false;
    for (uint32_t i = 0; i < MOST_STACKS; i++) {
        uint64_t nothing = 0;
        if (!__atomic_compare_exchange_n(&stacks[i].start, &nothing, start, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        stacks[i].space = space;
        __atomic_store_n(&stacks[i].len, len, __ATOMIC_RELEASE);
        uint32_t used = __atomic_load_n(&nstacks, __ATOMIC_RELAXED);
        while (used <= i && !__atomic_compare_exchange_n(&nstacks, &used, i + 1, false,
                                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        return true;
    }
    return false;
}

static uint64_t page_up(uint64_t size)
{
    return (size + RT_PAGE - 1) & ~(uint64_t)(RT_PAGE - 1);
}

static bool map(uint64_t at, uint64_t len, uint64_t rights, uint64_t how)
{
    return rt_exe_call(SYS_mmap, (long)at, (long)len, (long)rights, (long)(how | MAP_FIXED), -1,
                       0) == (long)at;
}

/* Address space from `space` on, with the memory that is asked for at its end. */
static bool fill(const struct rt_call_regs *call, uint64_t space, uint64_t start, uint64_t len)
{
    uint64_t slots = (start + (uint64_t)(int64_t)FP_EXE_SLOT) & ~(uint64_t)(RT_PAGE - 1);
    return map(start, len, rt_call_argument(call, 2), rt_call_argument(call, 3)) &&
           map(slots, len + RT_PAGE, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE) &&
           keep(start, len, space);
}

long rt_stack_map(const struct rt_call_regs *call)
{
    uint64_t len = page_up(rt_call_argument(call, 1)), below = page_up(-FP_EXE_SLOT) + RT_PAGE;
    long space = -1;
    if (is_for_stack(call))
        space = rt_exe_call(SYS_mmap, 0, (long)(below + len), PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space > 0 && fill(call, (uint64_t)space, (uint64_t)space + below, len))
        return (long)((uint64_t)space + below);
    if (space > 0) rt_exe_call(SYS_munmap, space, (long)(below + len), 0, 0, 0, 0);
    return rt_call_as_is(call);
}

/* The stack itself is unmapped by the program's own call. */
void rt_stack_unmap(uint64_t start, uint64_t len)
{
    uint32_t count = __atomic_load_n(&nstacks, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        struct stack stack = {__atomic_load_n(&stacks[i].start, __ATOMIC_ACQUIRE), stacks[i].len,
                              stacks[i].space};
        if (!stack.start || stack.start < start || stack.start + stack.len > start + len) continue;
        rt_exe_call(SYS_munmap, (long)stack.space, (long)(stack.start - stack.space), 0, 0, 0, 0);
        stacks[i].len = 0;
        __atomic_store_n(&stacks[i].start, 0, __ATOMIC_RELEASE);
    }
}

/* ---- stacks that are used ---- */

static bool is_kept(uint64_t high)
{
    uint32_t count = __atomic_load_n(&nstacks, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t start = __atomic_load_n(&stacks[i].start, __ATOMIC_ACQUIRE);
        if (start && high > start && high - start <= stacks[i].len) return true;
    }
    return false;
}

bool rt_stack_has_slots(uint64_t low, uint64_t high)
{
    return is_kept(high) || rt_exe_shadow_is_first(high) ||
           rt_exe_shadow_own(low, high, RT_LOCAL->core.bias);
}

/* A handler that runs on the stack may have SIGSEGV blocked, so its slots must be there before. */
long rt_stack_for_signals(const struct rt_call_regs *call)
{
    stack_t stack;
    uint64_t given = rt_call_argument(call, 0);
    if (!given || rt_is_confined() || !rt_copy_in(&stack, given, sizeof stack) ||
        stack.ss_flags & SS_DISABLE)
        return rt_call_as_is(call);
    if (!rt_stack_has_slots((uint64_t)stack.ss_sp, (uint64_t)stack.ss_sp + stack.ss_size)) {
        void *another = rt_exe_shadow_new(stack.ss_size);
        if (another) stack.ss_sp = another;
    }
    return rt_exe_call(SYS_sigaltstack, (long)&stack, (long)rt_call_argument(call, 1), 0, 0, 0, 0);
}
