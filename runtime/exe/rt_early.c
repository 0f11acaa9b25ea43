/* What must be done before any code of a rewritten module runs: the base of %gs is set, this
 * module's part of the thread's copy is mapped, and slots for the frames of its stack are.
 *
 * The loader calls rt_exe_early while it relocates the module, as the resolver of an indirect
 * function: before constructors, before other resolvers, and before the loader itself calls the
 * module (a program's malloc, say). Only system calls are made here: libc's functions may be
 * the program's own, and libc may not be ready.
 *
 * The first thread counts in a copy as all others do: its base is not 0 either. A slot lies at
 * its frame's address plus the base, and a large base puts it where nothing else is. Where the
 * file has a fixed address its counters are low and stacks are high, so that no base but 0
 * serves both: there slots do not depend on the base.
 *
 * Under a debugger the first thread's base stays 0, too: ptrace sets no registers of a thread whose
 * base is negative. A slot then lies 96 MB below its frame, where the stack of the first thread
 * has nothing; on other stacks there may be something.
 *
 * Not handled: kernels and processors without FSGSBASE, where the base cannot be negative: such
 * a program ends with a message. A handler of another instrumented module, compiled by
 * footpath-cc, that interrupts this thread between here and the constructor.
 */
#include "rt.h"

#include <asm/prctl.h>
#include <elf.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

void *rt_exe_early(void) FP_HIDDEN;
extern void rt_start(int count, char **arguments, char **environment) FP_HIDDEN;
extern void rt_finish(void) FP_HIDDEN;
extern void __cxa_finalize(void *module);

#ifdef RT_IN_STATIC
#define STATIC_ENTRIES                                                   \
    ".quad rt_entry - rt_exe_record\n.quad rt_watched - rt_exe_record\n" \
    ".quad rt_through - rt_exe_record\n"                                 \
    ".quad rt_leave_mixed - rt_exe_record\n.quad rt_leave_plain - rt_exe_record\n"
#else
#define STATIC_ENTRIES ".quad 0, 0, 0, 0, 0\n"
#endif

/* The record, for `footpath exe` to fill in. The linker fills in the last fields, and the
 * note by which the record is found. */
__asm__(".pushsection .data.footpath_exe,\"aw\"\n.balign 8\n"
        ".globl rt_exe_record\n.hidden rt_exe_record\n"
        "rt_exe_record: .long 3, 0\n"
        ".quad 0\n"
        ".rept 26\n.quad 0\n.endr\n"
        ".quad " FP_HASH_MISS_SYMBOL " - rt_exe_record\n"
        ".quad " FP_SPARSE_MISS_SYMBOL " - rt_exe_record\n"
        ".quad " FP_HASH_EMPTY_SYMBOL " - rt_exe_record\n"
        ".quad rt_exe_early - rt_exe_record\n"
        ".quad rt_exe_early_word - rt_exe_record\n"
        ".quad rt_start - rt_exe_record\n"
        ".quad rt_finish - rt_exe_record\n"
        ".quad " FP_PERSONALITY_SYMBOL " - rt_exe_record\n" STATIC_ENTRIES ".popsection\n"
        ".pushsection .note.footpath,\"a\",@note\n"
        ".balign 4\n.long 9\n.long 8\n.long 2\n.asciz \"footpath\"\n.balign 4\n"
        "1: .quad rt_exe_record - 1b\n.popsection\n");
_Static_assert(offsetof(struct fp_exe_record, entries) == 16 + 26 * 8, "as above");
_Static_assert(FP_EXE_VERSION == 3 && FP_NOTE_EXE == 2 && FP_EXE_NENTRIES == 13, "as above");

/* By which libc knows what this runtime has registered: startup files define it in other
 * modules, and the program's is not ours. */
void *__dso_handle FP_HIDDEN = &__dso_handle;

void rt_exe_unregister(void)
{
#ifndef RT_IN_STATIC
    __cxa_finalize(&__dso_handle);
#endif
}

void *rt_exe_early_word FP_HIDDEN __attribute__((used));
static int64_t early_bias;

int64_t rt_exe_early_bias(void)
{
    return early_bias;
}

static struct rt_range range_of(const struct fp_exe_part *part)
{
    char *start = part->size ? rt_exe_place(part->at) : NULL;
    return (struct rt_range){start, start + part->size};
}

void rt_exe_find_ranges(void)
{
    rt_this.ranges[RT_COUNTERS] = range_of(&rt_exe_record.counters);
    rt_this.ranges[RT_TABLES] = range_of(&rt_exe_record.tables);
    rt_this.ranges[RT_DIRECT] = range_of(&rt_exe_record.direct);
}

/* ---- the base ---- */

static int64_t base_now(void)
{
    int64_t base = 0;
    if (rt_threads_any_base())
        __asm__ volatile("rdgsbase %0" : "=r"(base));
    else
        rt_exe_call(SYS_arch_prctl, ARCH_GET_GS, (long)&base, 0, 0, 0, 0);
    return base;
}

static void set_base(int64_t base)
{
    if (rt_threads_any_base())
        __asm__ volatile("wrgsbase %0" : : "r"(base));
    else
        rt_exe_call(SYS_arch_prctl, ARCH_SET_GS, base, 0, 0, 0, 0);
}

/* ---- the copy ---- */

/* The pages from the first to the last of the module's ranges. */
static struct rt_range span(void)
{
    struct rt_range span = {0};
    for (int i = 0; i < RT_NRANGES; i++) {
        const struct rt_range *range = &rt_this.ranges[i];
        if (range->start == range->end) continue;
        if (!span.start || range->start < span.start) span.start = range->start;
        if (range->end > span.end) span.end = range->end;
    }
    uintptr_t last = ((uintptr_t)span.end + RT_PAGE - 1) & ~(uintptr_t)(RT_PAGE - 1);
    return (struct rt_range){(char *)((uintptr_t)span.start & ~(uintptr_t)(RT_PAGE - 1)),
                             (char *)last};
}

static bool map_copy(int64_t bias, int how)
{
    struct rt_range own = span();
    long want = (long)own.start + bias, len = own.end - own.start;
    long got = rt_exe_call(SYS_mmap, want, len, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | how, -1, 0);
    if (got != want) {
        if (got > 0) rt_exe_call(SYS_munmap, got, len, 0, 0, 0, 0);
        return false;
    }
    *(int64_t *)((char *)&rt_local.core.bias + bias) = bias;
    rt_hash_empty_copy(&rt_this, bias);
    return true;
}

/* Is everything low, as in simulators? Then copies lie above. */
static bool is_low(void)
{
    uint64_t stack = (uint64_t)__builtin_frame_address(0);
    return (uint64_t)&rt_exe_record < (uint64_t)1 << 40 || stack < (uint64_t)1 << 44;
}

/* Does the program count with base 0, at a fixed low address? Then the base stays 0. */
static bool program_is_fixed(void)
{
    uint64_t at = getauxval(AT_PHDR), count = getauxval(AT_PHNUM);
    const Elf64_Phdr *headers = (const Elf64_Phdr *)at;
    if (!at || at >= (uint64_t)1 << 40 || is_low()) return false;
    for (uint64_t i = 0; i < count; i++) {
        const char *note = (const char *)headers[i].p_vaddr;
        if (headers[i].p_type != PT_NOTE || headers[i].p_memsz < 24) continue;
        for (uint64_t k = 0; k + 8 < headers[i].p_memsz; k += 4)
            if (!__builtin_memcmp(note + k, "footpath", 9)) return true;
    }
    return false;
}

/* Slots that do not depend on the base need none. */
uint32_t rt_exe_far_steps(void)
{
    if (rt_exe_record.flags & FP_EXE_FIXED || program_is_fixed()) return 0;
    return is_low() ? RT_FAR_STEPS_LOW : RT_FAR_STEPS;
}

static bool find_bias(int64_t *bias)
{
    bool low = is_low();
    enum { MOST_TRIES = 1024 };
    if (!low && !rt_threads_any_base()) return false;
    for (int64_t i = 1; i < MOST_TRIES; i++) {
        int64_t distance = ((low ? RT_FAR_STEPS_LOW : RT_FAR_STEPS) + i) * RT_BIAS_STEP;
        *bias = low ? distance : -distance;
        if (map_copy(*bias, MAP_FIXED_NOREPLACE)) return true;
    }
    return false;
}

/* The thread has a base already. A library that was unloaded may have left its copy at this place;
 * far from everything else nothing but such a copy can be there. */
static bool take_base(int64_t bias)
{
    bool is_far = bias >= RT_FAR_STEPS_LOW * RT_BIAS_STEP || bias <= -RT_FAR_STEPS * RT_BIAS_STEP;
    return map_copy(bias, MAP_FIXED_NOREPLACE) || (is_far && map_copy(bias, MAP_FIXED));
}

/* "TracerPid:" of /proc/self/status has a number other than 0. */
static bool is_traced(void)
{
    static const char name[] = "/proc/self/status", wanted[] = "TracerPid:\t";
    char text[1024];
    long fd = rt_exe_call(SYS_open, (long)name, 0, 0, 0, 0, 0);
    if (fd < 0) return false;
    long len = rt_exe_call(SYS_read, fd, (long)text, sizeof text, 0, 0, 0);
    rt_exe_call(SYS_close, fd, 0, 0, 0, 0, 0);
    for (long i = 0; i + (long)sizeof wanted < len; i++)
        if (!__builtin_memcmp(text + i, wanted, sizeof wanted - 1))
            return text[i + (long)sizeof wanted - 1] != '0';
    return false;
}

/* Where slots do not depend on the base: the heap of a program at a low address begins so far
 * above the program that slots of stacks in the heap have room below it. Whole pages: what lies in
 * the heap is to be aligned as before. Nobody has asked for the break yet. */
static struct rt_range below_heap;

static void move_heap(void)
{
    enum { DISTANCE = ((-FP_EXE_SLOT + RT_PAGE - 1) & -RT_PAGE) + RT_PAGE };
    long end = rt_exe_call(SYS_brk, 0, 0, 0, 0, 0, 0), wanted = end + DISTANCE;
    if (end > 0 && rt_exe_call(SYS_brk, wanted, 0, 0, 0, 0, 0) == wanted)
        below_heap = (struct rt_range){(char *)end, (char *)wanted};
}

bool rt_exe_is_below_heap(struct rt_range range)
{
    return range.start >= below_heap.start && range.end <= below_heap.end;
}

static void end_with(const char *why, long len)
{
    rt_exe_call(SYS_write, 2, (long)why, len, 0, 0, 0);
    rt_exe_call(SYS_exit_group, 127, 0, 0, 0, 0, 0);
}

RT_ENTRY void *rt_exe_early(void)
{
    static const char why[] =
        "footpath: no place for counters; this program needs a processor and a kernel with "
        "FSGSBASE, or was left no address space\n";
    rt_module_find_ranges();
    bool fixed = rt_exe_record.flags & FP_EXE_FIXED || program_is_fixed();
    int64_t bias = fixed ? 0 : base_now();
    bool has_base = bias;
    if (has_base && !take_base(bias)) end_with(why, sizeof why - 1);
    if (!fixed && !has_base && !is_traced() && !find_bias(&bias)) end_with(why, sizeof why - 1);
    if (rt_exe_is_fixed()) move_heap();
    rt_exe_shadow_first(bias);
    if (bias && !has_base) set_base(bias);
    early_bias = bias;
    return &rt_exe_early_word;
}
