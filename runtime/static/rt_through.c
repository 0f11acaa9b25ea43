/* Calls of the kernel that the runtime has to know of, in statically linked programs.
 *
 * `footpath exe` puts a question in front of each `syscall` instruction of the program
 * (src/exe/kernelcalls.h). It looks the number up in rt_watched. Where the entry is not 0, control
 * comes to rt_through (rt_calls.S), with the address behind the instruction in rcx. The `syscall`
 * instruction changes rcx and r11 anyway, so that the program holds nothing in them. All other
 * registers, the flags and the 128 bytes below the stack pointer are left as they were.
 *
 * Then either the runtime makes the call itself, or it goes back to the instruction. Calls that
 * return in two places (clone) are made in rt_calls.S: see rt_born.c. A thread that ends may have
 * unmapped its stack, so exit is dealt with on a stack of ours.
 *
 * Not handled: numbers above 65,535, of which the lower 16 bits are looked up. The kernel has no
 * such calls but those of the x32 ABI.
 */
#include "static/rt_static.h"

#include <asm/prctl.h>
#include <errno.h>
#include <linux/prctl.h>
#include <sys/mman.h>

RT_APART(unsigned char, rt_watched, 65536);

/* As RT_PER_THREAD, but that rt_calls.S knows it: the upper end of the stack to end on. */
uint64_t rt_exit_stack_word FP_HIDDEN __attribute__((section("footpath_local"), used));

static uint64_t *exit_stack(void)
{
    return (uint64_t *)((char *)&rt_exit_stack_word + RT_LOCAL->core.bias);
}

/* rt_calls.S has the numbers. */
_Static_assert(sizeof(struct rt_call_regs) == 144 && SYS_exit == 60, "as there");
_Static_assert(offsetof(struct rt_call_regs, flags) == 136 && 8 * RT_RIP == 128, "as there");

/* ---- what the calls mean ---- */

struct rt_frame rt_calling_frame(const struct rt_call_regs *call)
{
    struct rt_frame frame = {0};
    for (int i = 0; i < RT_NREGS; i++) frame.regs[i] = call->regs[i];
    return frame;
}

long rt_call_as_is(const struct rt_call_regs *call)
{
    return rt_exe_call((long)call->regs[RT_RAX], (long)rt_call_argument(call, 0),
                       (long)rt_call_argument(call, 1), (long)rt_call_argument(call, 2),
                       (long)rt_call_argument(call, 3), (long)rt_call_argument(call, 4),
                       (long)rt_call_argument(call, 5));
}

/* The program makes the call by its own instruction. */
static void go_back(struct rt_call_regs *call)
{
    enum { SYSCALL_SIZE = 2 };
    call->regs[RT_RIP] -= SYSCALL_SIZE;
}

extern void __footpath_at_end(void) FP_HIDDEN;
extern void __footpath_before_end(void) FP_HIDDEN;
extern void __footpath_after_exec(void) FP_HIDDEN;
extern void __footpath_before_seccomp(void) FP_HIDDEN;
extern void __footpath_after_seccomp(bool done) FP_HIDDEN;

static long execute(const struct rt_call_regs *call)
{
    __footpath_before_end();
    long result = rt_call_as_is(call);
    __footpath_after_exec();
    return result;
}

static bool sets_filter(const struct rt_call_regs *call)
{
    enum { MOST_MODES = 1 /* of seccomp: strict, filter */ };
    if (call->regs[RT_RAX] == SYS_prctl) return rt_call_argument(call, 0) == PR_SET_SECCOMP;
    uint64_t mode = rt_call_argument(call, 0);
    return mode == 0 || (mode <= MOST_MODES && rt_call_argument(call, 2));
}

static long confine(const struct rt_call_regs *call)
{
    __footpath_before_seccomp();
    long result = rt_call_as_is(call);
    __footpath_after_seccomp(result >= 0);
    return result;
}

/* Counters are found by the base of %gs: the program cannot have it. */
static long refuse_base(void)
{
    rt_warn("the program sets the base of %gs, which its counters need; the call fails", NULL);
    return -EINVAL;
}

static bool is_base_of_gs(const struct rt_call_regs *call)
{
    uint64_t what = rt_call_argument(call, 0);
    return what == ARCH_SET_GS || what == ARCH_GET_GS;
}

/* Returns the birth to go on with, or NULL: back to the program with what is in `call`. */
struct rt_birth *rt_on_call(struct rt_call_regs *call) FP_HIDDEN;
struct rt_birth *rt_on_call(struct rt_call_regs *call)
{
    uint64_t *result = &call->regs[RT_RAX];
    switch ((uint32_t)*result) {
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork: return rt_birth_begin(call);
    case SYS_execve:
    case SYS_execveat: *result = (uint64_t)execute(call); return NULL;
    case SYS_rt_sigaction: *result = (uint64_t)rt_action_set(call); return NULL;
    case SYS_sigaltstack: *result = (uint64_t)rt_stack_for_signals(call); return NULL;
    case SYS_mmap: *result = (uint64_t)rt_stack_map(call); return NULL;
    case SYS_munmap: rt_stack_unmap(rt_call_argument(call, 0), rt_call_argument(call, 1)); break;
    case SYS_prctl:
    case SYS_seccomp:
        if (!sets_filter(call)) break;
        *result = (uint64_t)confine(call);
        return NULL;
    case SYS_arch_prctl:
        if (!is_base_of_gs(call)) break;
        *result = (uint64_t)refuse_base();
        return NULL;
    case SYS_exit_group: __footpath_at_end(); break;
    }
    go_back(call);
    return NULL;
}

static void end_thread(const struct rt_frame *frame)
{
    if (rt_has_marks()) rt_frames_left(frame, UINT64_MAX, 1);
    rt_threads_end();
}

/* A thread ends: its frames are left, and so is the process if this thread was the last. A child
 * of vfork ends as a process does. */
_Noreturn void rt_on_exit(const struct rt_call_regs *call) FP_HIDDEN;
_Noreturn void rt_on_exit(const struct rt_call_regs *call)
{
    struct rt_held held;
    struct rt_frame frame = rt_calling_frame(call);
    rt_hold_signals(&held);
    if (!rt_is_confined()) {
        bool child = getpid() != rt_settings.pid;
        if (child || rt_thread_leaves())
            rt_end_write(RT_AT_END, &frame);
        else
            end_thread(&frame);
    }
    for (;;) rt_exe_call(SYS_exit, (long)rt_call_argument(call, 0), 0, 0, 0, 0, 0);
}

void rt_through_start(void)
{
    static const unsigned short watched[] = {FP_EXE_CALLS}, if_fixed[] = {FP_EXE_CALLS_FIXED};
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++) rt_watched[watched[i]] = 1;
    for (size_t i = 0; rt_exe_is_fixed() && i < sizeof if_fixed / sizeof *if_fixed; i++)
        rt_watched[if_fixed[i]] = 1;
    rt_provide_exit_stack();
}

enum { EXIT_STACK = 1 << 15 };

/* The word is beside the counters: the next thread that gets this copy has the stack too. */
void rt_provide_exit_stack(void)
{
    if (*exit_stack()) return;
    long made = rt_exe_call(SYS_mmap, 0, EXIT_STACK, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made > 0) *exit_stack() = (uint64_t)made + EXIT_STACK;
}
