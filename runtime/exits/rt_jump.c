/* Jumps out of functions: longjmp and its kin, and switches of context. Code built with
 * --fp-exits calls these functions right before the jump.
 *
 * Not handled: jumps in code that is not instrumented. A libc whose jmp_buf is not as
 * glibc's: its jumps are not counted. More than MOST_CONTEXTS contexts that wait. */
#include "core/rt_unwind.h"
#include "exits/rt_walk.h"

#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

/* ---- where a jmp_buf leads ---- */

/* glibc keeps the stack pointer in word 6, mixed with a secret of the process. */
static uint64_t unmixed(uint64_t word)
{
    uint64_t secret;
    __asm__("movq %%fs:0x30, %0" : "=r"(secret));
    return (word >> 17 | word << 47) ^ secret;
}

#ifdef RT_IN_STATIC
/* There static/ sees the jump itself. */
static inline bool know_jmp_buf(void)
{
    return false;
}
#else
/* Is the stack pointer of a jmp_buf where we expect it? Tried once on a jmp_buf of ours. */
__attribute__((noinline)) static bool try_jmp_buf(int *known)
{
    jmp_buf env;
    if (setjmp(env)) return false;
    uint64_t here = (uint64_t)__builtin_frame_address(0), words[8];
    __builtin_memcpy(words, env, sizeof words);
    uint64_t sp = unmixed(words[6]);
    *known = sp <= here && here - sp < 4096 ? 1 : -1;
    return *known > 0;
}

static inline bool know_jmp_buf(void)
{
    static int known; /* 0 not tried, 1 yes, -1 no */
    return known ? known > 0 : try_jmp_buf(&known);
}
#endif

/* Where this thread's signal stack ends; 0: the thread is not on it. A jump off the signal
 * stack leaves all frames on it. */
static uint64_t end_of_signal_stack(void)
{
    stack_t stack;
    if (sigaltstack(NULL, &stack) < 0 || !(stack.ss_flags & SS_ONSTACK)) return 0;
    return (uint64_t)stack.ss_sp + stack.ss_size;
}

/* Counts the frames on the signal stack and stops at the stack that was interrupted. */
static bool leave_signal_stack(struct rt_frame *frame)
{
    uint64_t end = end_of_signal_stack();
    if (!end) return true;
    struct rt_process *process = rt_this.process;
    while (rt_unwind_look(frame)) {
        if (frame->regs[RT_RSP] > end || frame->regs[RT_RSP] + (1 << 22) < end) return true;
        for (size_t i = 0; process && i < RT_MOST_MODULES; i++) {
            struct rt_module *module = process->core.modules[i];
            if (module && module->frame_left(frame, 1)) break;
        }
        if (!rt_unwind_step(frame)) return false;
    }
    return false;
}

#ifdef RT_IN_EXECUTABLE
/* Is the stack pointer that of a frame further out? Coroutines may switch stacks by longjmp: then
 * no frame is left. A frame may have had arguments on the stack when it called setjmp. */
static bool leads_outwards(const struct rt_frame *from, uint64_t sp)
{
    enum { ARGUMENTS = 1024 };
    struct rt_frame frame = *from;
    if (sp + ARGUMENTS < frame.regs[RT_RSP]) return false;
    while (rt_unwind_look(&frame) && frame.cfa <= sp)
        if (!rt_unwind_step(&frame)) return false;
    return frame.looked;
}
#else
static bool leads_outwards(const struct rt_frame *from, uint64_t sp)
{
    (void)from, (void)sp;
    return true;
}
#endif

__attribute__((noinline)) static RT_ENTRY void frames_up_to(uint64_t sp)
{
    struct rt_frame frame;
    rt_unwind_here(&frame);
    if (leave_signal_stack(&frame) && leads_outwards(&frame, sp)) rt_frames_left(&frame, sp, 1);
}

/* void NAME(const uint64_t *buffer): jumps to CALLED with the caller's pc, sp and rbp as
 * further arguments. A C function could have changed rbp before it reads it. */
#define WITH_REGISTERS(name, called)                                                      \
    __asm__(".pushsection .text\n.globl " name "\n.hidden " name "\n.type " name          \
            ", @function\n" name                                                          \
            ":\n.cfi_startproc\nmovq (%rsp), %rsi\nleaq 8(%rsp), %rdx\nmovq %rbp, %rcx\n" \
            "jmp " called "\n.cfi_endproc\n.size " name ", . - " name "\n.popsection")

WITH_REGISTERS("__footpath_before_longjmp", "rt_before_longjmp");
WITH_REGISTERS("__footpath_before_builtin_longjmp", "rt_before_builtin_longjmp");

/* pc, sp, rbp: of the caller, behind its call. */
void rt_before_longjmp(const uint64_t *env, uint64_t pc, uint64_t sp, uint64_t rbp) FP_HIDDEN;
void rt_before_longjmp(const uint64_t *env, uint64_t pc, uint64_t sp, uint64_t rbp)
{
    if (!know_jmp_buf()) return;
    uint64_t until = unmixed(env[6]);
    if (!rt_walk_quickly(until, pc, sp, rbp)) frames_up_to(until);
}

#ifdef RT_IN_STATIC
void rt_before_jump(uint64_t until, uint64_t pc, uint64_t sp, uint64_t rbp)
{
    if (!rt_walk_quickly(until, pc, sp, rbp)) frames_up_to(until);
}
#endif

/* __builtin_longjmp, which is no function: its buffer holds the frame, the address to go
 * on at, and the stack pointer, as they are. */
void rt_before_builtin_longjmp(const uint64_t *buffer, uint64_t pc, uint64_t sp,
                               uint64_t rbp) FP_HIDDEN;
void rt_before_builtin_longjmp(const uint64_t *buffer, uint64_t pc, uint64_t sp, uint64_t rbp)
{
    if (!rt_walk_quickly(buffer[2], pc, sp, rbp)) frames_up_to(buffer[2]);
}

/* ---- contexts ---- */

void __footpath_before_setcontext(const ucontext_t *to) FP_HIDDEN;
void __footpath_before_setcontext(const ucontext_t *to)
{
    /* A context on another stack: all frames of this stack are left. */
    uint64_t sp = (uint64_t)to->uc_mcontext.gregs[REG_RSP];
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    frames_up_to(sp > here ? sp : UINT64_MAX);
}

/* Contexts that wait to be switched back to. When the program ends, their frames are left. */
enum { MOST_CONTEXTS = 4096 };
RT_APART(const ucontext_t *, rt_waiting, 4096 * 8);
static size_t nwaiting; /* no place from here on was ever used */

static void note_used(size_t place)
{
    size_t used = __atomic_load_n(&nwaiting, __ATOMIC_RELAXED);
    while (used <= place && !__atomic_compare_exchange_n(&nwaiting, &used, place + 1, false,
                                                         __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        continue;
}

void __footpath_before_swapcontext(const ucontext_t *from) FP_HIDDEN;
void __footpath_before_swapcontext(const ucontext_t *from)
{
    for (size_t i = 0; i < MOST_CONTEXTS; i++) {
        const ucontext_t *free_place = NULL;
        note_used(i);
        if (__atomic_compare_exchange_n(&rt_waiting[i], &free_place, from, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED) ||
            free_place == from)
            return;
    }
}

void __footpath_after_swapcontext(const ucontext_t *from) FP_HIDDEN;
void __footpath_after_swapcontext(const ucontext_t *from)
{
    for (size_t i = 0; i < __atomic_load_n(&nwaiting, __ATOMIC_ACQUIRE); i++)
        if (__atomic_load_n(&rt_waiting[i], __ATOMIC_ACQUIRE) == from)
            __atomic_store_n(&rt_waiting[i], NULL, __ATOMIC_RELEASE);
}

/* Reads with care: the memory of a context may have been unmapped. */
uint64_t rt_in_flight_waiting(struct rt_buffer *out)
{
    uint64_t count = 0;
    for (size_t i = 0; i < __atomic_load_n(&nwaiting, __ATOMIC_ACQUIRE); i++) {
        const ucontext_t *from = __atomic_load_n(&rt_waiting[i], __ATOMIC_ACQUIRE);
        if (!from) continue;
        ucontext_t copy;
        struct rt_frame frame, reading = {.careful = true};
        bool whole = true;
        for (size_t at = 0; at < sizeof copy; at += 8)
            whole &= rt_read_word(&reading, (uint64_t)from + at, (uint64_t *)((char *)&copy + at));
        if (!whole) continue;
        rt_unwind_from_signal(&frame, &copy);
        frame.interrupted = false; /* it is behind its call of swapcontext */
        frame.careful = true;
        count += rt_in_flight_now(out, &frame);
    }
    return count;
}
