/* Slots: where a frame of rewritten code keeps its path sum when no register is free. A slot lies
 * at a fixed distance from the frame's CFA (FP_EXE_SLOT), plus the base of %gs unless the file has
 * a fixed address. So every stack has a shadow of its size. The shadow is mapped for the first
 * thread at the start and for other threads when they begin. The shadows of signal stacks,
 * coroutines and threads that nobody announced are mapped when a slot in them is first used
 * and raises SIGSEGV.
 *
 * With a base of 16 TB or more nothing else lies where a shadow would be. Where the file has a
 * fixed address, the shadow lies 96 MB below the stack: below the first thread's stack there is
 * free space, and a new thread gets a guard area that is large enough for it.
 *
 * Not handled, in files with a fixed address: stacks of more than 24 MB, and coroutines on
 * stacks that the program has allocated with something else 96 MB below. Below the first 96 MB of
 * the heap there is room: rt_exe_early moves the start of the heap.
 */
#include "rt.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { ABOVE = 1 << 16, PIECE = 1 << 16 };
static const uint64_t DEFAULT_STACK = 8 << 20, MOST_STACK = (uint64_t)1 << 30,
                      MOST_STACK_FIXED = 24 << 20;

static uint64_t page_down(uint64_t address)
{
    return address & ~(uint64_t)(RT_PAGE - 1);
}

static bool map_at(uint64_t low, uint64_t high, long how)
{
    long want = (long)page_down(low), len = (long)(page_down(high + RT_PAGE - 1)) - want;
    long got = rt_exe_call(SYS_mmap, want, len, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | how, -1, 0);
    if (got == want) return true;
    if (got > 0) rt_exe_call(SYS_munmap, got, len, 0, 0, 0, 0);
    return false;
}

static struct rt_range shadow_of(uint64_t low, uint64_t high, int64_t bias)
{
    uint64_t distance = (uint64_t)(int64_t)FP_EXE_SLOT + (uint64_t)(rt_exe_is_fixed() ? 0 : bias);
    return (struct rt_range){(char *)page_down(low + distance),
                             (char *)page_down(high + distance + RT_PAGE - 1)};
}

/* A page that is mapped already makes the kernel refuse the whole: then page by page. */
bool rt_exe_shadow_map(uint64_t low, uint64_t high, int64_t bias)
{
    enum { MOST_PAGES = 64 };
    struct rt_range shadow = shadow_of(low, high, bias);
    if (map_at((uint64_t)shadow.start, (uint64_t)shadow.end, MAP_FIXED_NOREPLACE)) return true;
    if (shadow.end - shadow.start > MOST_PAGES * RT_PAGE) return false;
    for (char *at = shadow.start; at < shadow.end; at += RT_PAGE)
        map_at((uint64_t)at, (uint64_t)at + RT_PAGE, MAP_FIXED_NOREPLACE);
    return true;
}

/* How large a stack may grow. */
static uint64_t stack_limit(void)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    uint64_t most = rt_exe_is_fixed() ? MOST_STACK_FIXED : MOST_STACK;
    rt_exe_call(SYS_getrlimit, RLIMIT_STACK, (long)&limit, 0, 0, 0, 0);
    return limit.rlim_cur < most ? limit.rlim_cur : most;
}

/* Where less than that can be mapped, the rest is mapped when it is used. */
static struct rt_range first_stack;

bool rt_exe_shadow_first(int64_t bias)
{
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    for (uint64_t size = stack_limit(); size >= PIECE; size /= 2)
        if (rt_exe_shadow_map(here - size, here + ABOVE, bias)) {
            first_stack = (struct rt_range){(char *)(here - size), (char *)(here + ABOVE)};
            return true;
        }
    return false;
}

bool rt_exe_shadow_is_first(uint64_t address)
{
    return address > (uint64_t)first_stack.start && address <= (uint64_t)first_stack.end;
}

void rt_exe_shadow_thread(struct rt_range *kept, int64_t bias, size_t stack_size)
{
    if (rt_exe_is_fixed() && !stack_size) return; /* a stack of the program's: mapped already */
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    uint64_t size = stack_size ? stack_size : DEFAULT_STACK;
    enum { ABOVE_FIRST_FRAME = 1 << 12 };
    struct rt_range shadow = shadow_of(here - size, here + ABOVE_FIRST_FRAME, bias);
    if (kept->start && !rt_exe_is_fixed())
        rt_exe_call(SYS_munmap, (long)kept->start, kept->end - kept->start, 0, 0, 0, 0);
    /* in a file with a fixed address the guard area is mapped already, without any rights */
    long how = rt_exe_is_fixed() ? MAP_FIXED : MAP_FIXED_NOREPLACE;
    bool ok = map_at((uint64_t)shadow.start, (uint64_t)shadow.end, how);
    *kept = ok ? shadow : (struct rt_range){0};
}

/* ---- stacks that the program has allocated ---- */

/* Shadows that were mapped for them, the last ones: a stack is mostly used again and again. */
enum { MOST_OWN = 64 };
static struct rt_range own[MOST_OWN];
static uint32_t nown;

static bool is_known(struct rt_range shadow)
{
    for (size_t i = 0; i < MOST_OWN; i++)
        if (own[i].start == shadow.start && own[i].end == shadow.end) return true;
    return false;
}

/* With a far base nothing else can be there. */
bool rt_exe_shadow_own(uint64_t low, uint64_t high, int64_t bias)
{
    struct rt_range shadow = shadow_of(low, high, bias);
    if (!rt_exe_is_fixed()) return rt_exe_shadow_map(low, high, bias), true;
    if (rt_exe_is_below_heap(shadow) || is_known(shadow)) return true;
    if (!map_at((uint64_t)shadow.start, (uint64_t)shadow.end, MAP_FIXED_NOREPLACE)) return false;
    own[__atomic_fetch_add(&nown, 1, __ATOMIC_RELAXED) % MOST_OWN] = shadow;
    return true;
}

/* One mapping that reaches down to the slots; what is between has no rights. */
void *rt_exe_shadow_new(size_t size)
{
    uint64_t below = (uint64_t)-FP_EXE_SLOT + 2 * (uint64_t)RT_PAGE;
    size = (size + RT_PAGE - 1) & ~(size_t)(RT_PAGE - 1);
    long made = rt_exe_call(SYS_mmap, 0, (long)(below + size), PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made < 0) return NULL;
    uint64_t low = (uint64_t)made + below;
    struct rt_range shadow = shadow_of(low, low + size, 0);
    if (!map_at(low, low + size, MAP_FIXED) ||
        !map_at((uint64_t)shadow.start, (uint64_t)shadow.end, MAP_FIXED))
        return NULL;
    return (void *)low;
}

#ifndef RT_IN_STATIC
/* ---- new threads ---- */

static bool widen_guard(pthread_attr_t *wider, size_t guard, size_t *stack_size)
{
    if (guard < (size_t)RT_PAGE) guard = RT_PAGE;
    guard += (size_t)-FP_EXE_SLOT + 2 * (size_t)RT_PAGE;
    if (pthread_attr_setguardsize(wider, guard) == 0) return true;
    *stack_size = 0;
    return false;
}

/* The size is that of the attributes, or libc's default. Where slots do not depend on the base,
 * the guard area of the stack has to hold the shadow. A stack that the program has allocated
 * has no guard area. */
bool rt_exe_widen(pthread_attr_t *wider, const pthread_attr_t *given, size_t *stack_size)
{
    void *stack = NULL;
    size_t size = 0, guard = 0;
    pthread_attr_t usual;
    if (!given && pthread_getattr_default_np(&usual) == 0) {
        pthread_attr_getstacksize(&usual, &size);
        pthread_attr_destroy(&usual);
    }
    if (given) pthread_attr_getstacksize(given, &size);
    *stack_size = size;
    if (!rt_exe_is_fixed()) return false;
    if (given && pthread_attr_getstack(given, &stack, &size) == 0 && stack &&
        rt_exe_shadow_own((uint64_t)stack, (uint64_t)stack + size, 0)) {
        *stack_size = 0;
        return false;
    }
    /* libc's own stack takes the place of one that has no room for slots */
    if (given && stack)
        return pthread_attr_init(wider) == 0 && pthread_attr_setstacksize(wider, size) == 0 &&
               widen_guard(wider, 0, stack_size);
    if (given)
        *wider = *given;
    else if (pthread_attr_init(wider))
        return false;
    if (given) pthread_attr_getguardsize(given, &guard);
    return widen_guard(wider, guard, stack_size);
}
#endif

/* Is this where the slot of the frame would be that raised the signal, or the words below it where
 * registers are saved (src/exe/exeops.c)? Its CFA is above the stack pointer. */
static bool is_slot(uint64_t address, uint64_t stack)
{
    enum { SAVED = 256 };
    uint64_t bias = rt_exe_is_fixed() ? 0 : (uint64_t)RT_LOCAL->core.bias;
    uint64_t cfa = address - bias - (uint64_t)(int64_t)FP_EXE_SLOT;
    return cfa + SAVED - stack <= MOST_STACK_FIXED + SAVED;
}

bool rt_exe_shadow_fault(const siginfo_t *info, const ucontext_t *context)
{
    uint64_t address = (uint64_t)info->si_addr;
    const greg_t *regs = context->uc_mcontext.gregs;
    const struct fp_exe_part *code = &rt_exe_record.code;
    uint64_t into = (uint64_t)regs[REG_RIP] - (uint64_t)rt_exe_place(code->at);
    if (info->si_code != SEGV_MAPERR || into >= code->size) return false;
    if (!is_slot(address, (uint64_t)regs[REG_RSP])) return false;
    uint64_t piece = address & ~(uint64_t)(PIECE - 1);
    return map_at(piece, piece + PIECE, MAP_FIXED_NOREPLACE) ||
           map_at(address, address + 8, MAP_FIXED_NOREPLACE);
}
