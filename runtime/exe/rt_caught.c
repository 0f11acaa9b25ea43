/* Old code that is executed nevertheless. Where a function was moved, its old instructions are
 * int3. A jump that the rewriter did not see ends at one of them: the handler of SIGTRAP
 * continues at the new place of that instruction, and the function is noted. Its counts
 * are not exact from then on, and the profile says so.
 *
 * Not handled: a thread that blocks SIGTRAP, or a program that has set it to SIG_IGN: the
 * kernel ends such a program at the int3.
 */
#include "rt.h"

#include <string.h>

static uint32_t *caught(void)
{
    return (uint32_t *)rt_exe_place(rt_exe_record.caught.at);
}

static const struct fp_exe_trap *find_trap(uint64_t address)
{
    const struct fp_exe_trap *traps =
        (const struct fp_exe_trap *)rt_exe_place(rt_exe_record.traps.at);
    uint64_t from = address - (uint64_t)rt_exe_place(rt_exe_record.base);
    size_t low = 0, high = rt_exe_record.traps.size / sizeof *traps;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (traps[mid].from == from) return &traps[mid];
        if (traps[mid].from < from)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* Gives the path register a value that it may have there. */
static void set_sum(greg_t *regs, uint32_t index)
{
    static const int greg_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                    REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                    REG_R12, REG_R13, REG_R14, REG_R15};
    const struct fp_exe_sum *sum =
        (const struct fp_exe_sum *)rt_exe_place(rt_exe_record.sums.at) + index;
    uint64_t value = (uint64_t)(rt_exe_place(rt_exe_record.base) + sum->to);
    if (sum->home != FP_EXE_IN_SLOT) {
        regs[greg_of[sum->home]] = (greg_t)value;
        return;
    }
    uint64_t at = (uint64_t)regs[greg_of[sum->base]] + (uint64_t)(int64_t)sum->disp;
    if (rt_exe_record.flags & FP_EXE_FIXED)
        *(volatile uint64_t *)at = value;
    else
        __asm__ volatile("movq %0, %%gs:(%1)" : : "r"(value), "r"(at) : "memory");
}

static bool catch_trap(const siginfo_t *info, ucontext_t *context)
{
    greg_t *regs = context->uc_mcontext.gregs;
    bool breakpoint = info->si_code == SI_KERNEL || info->si_code == TRAP_BRKPT;
    const struct fp_exe_trap *trap = breakpoint ? find_trap((uint64_t)regs[REG_RIP] - 1) : NULL;
    if (!trap) return false;
    __atomic_fetch_add(&caught()[trap->function], 1, __ATOMIC_RELAXED);
    if (trap->sum) set_sum(regs, trap->sum - 1);
    regs[REG_RIP] = (greg_t)(uint64_t)(rt_exe_place(rt_exe_record.base) + trap->to);
    return true;
}

bool rt_exe_fault(int signal, const siginfo_t *info, ucontext_t *context)
{
    if (signal == SIGTRAP) return catch_trap(info, context);
    return signal == SIGSEGV && rt_exe_shadow_fault(info, context);
}

bool rt_exe_has_caught(void)
{
    size_t count = rt_exe_record.caught.size / sizeof(uint32_t);
    for (size_t i = 0; i < count; i++)
        if (caught()[i]) return true;
    return false;
}

void rt_exe_put_caught(struct rt_buffer *out)
{
    size_t count = rt_exe_record.caught.size / sizeof(uint32_t);
    const char *ids = rt_exe_place(rt_exe_record.functions.at);
    uint64_t used = 0, id;
    for (size_t i = 0; i < count; i++) used += caught()[i] != 0;
    rt_put_uint(out, used);
    for (size_t i = 0; i < count && used; i++) {
        uint32_t times = __atomic_load_n(&caught()[i], __ATOMIC_RELAXED);
        if (!times) continue;
        used--;
        memcpy(&id, ids + i * sizeof id, sizeof id);
        rt_put_u64(out, id);
        rt_put_uint(out, times);
    }
}

void rt_exe_clear_caught(void)
{
    size_t count = rt_exe_record.caught.size / sizeof(uint32_t);
    for (size_t i = 0; i < count; i++)
        if (caught()[i]) caught()[i] = 0;
}
