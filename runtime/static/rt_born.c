/* Threads and processes that a statically linked program makes: clone, clone3, fork and vfork.
 *
 * A thread gets a copy of the counters before any code of the program runs in it. A process that
 * is forked begins a run of its own. A child that shares memory and for which its parent waits
 * (vfork, posix_spawn) counts in the copy of the thread that waits.
 *
 * Signals are held from in front of the call until both sides have done their part: a handler
 * would count in the wrong copy.
 *
 * Not handled: a child that shares memory, is no thread, and does not make its parent wait is taken
 * for a thread; the process that made it writes its counts.
 */
#include "static/rt_static.h"

#include <errno.h>
#include <linux/sched.h>

enum kind { FORKED = 1, WAITED_FOR, THREAD };

enum { MOST_BIRTHS = 64, UNKNOWN_SIZE = 1 << 18 };
static struct rt_birth births[MOST_BIRTHS];
static uint32_t live = 1; /* threads */

static struct rt_birth *take_birth(void)
{
    for (;; rt_sleep_ms())
        for (int i = 0; i < MOST_BIRTHS; i++) {
            uint32_t nobody = 0;
            if (__atomic_compare_exchange_n(&births[i].users, &nobody, 1, false, __ATOMIC_ACQ_REL,
                                            __ATOMIC_RELAXED))
                return &births[i];
        }
}

static void release(struct rt_birth *birth)
{
    __atomic_fetch_sub(&birth->users, 1, __ATOMIC_ACQ_REL);
}

static void set_mask(const uint64_t *mask, uint64_t *old)
{
    rt_exe_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)mask, (long)old, sizeof *mask, 0, 0);
}

/* ---- what is asked for ---- */

static enum kind kind_of(uint64_t flags)
{
    if (!(flags & CLONE_VM)) return FORKED;
    return flags & CLONE_VFORK && !(flags & CLONE_THREAD) ? WAITED_FOR : THREAD;
}

/* False: the kernel will refuse the call. */
static bool read_request(const struct rt_call_regs *call, struct rt_birth *birth)
{
    struct clone_args args = {0};
    uint64_t flags = 0;
    birth->stack = birth->stack_size = 0;
    switch ((uint32_t)call->regs[RT_RAX]) {
    case SYS_vfork: flags = CLONE_VM | CLONE_VFORK; break;
    case SYS_clone:
        flags = rt_call_argument(call, 0);
        birth->stack = rt_call_argument(call, 1);
        break;
    case SYS_clone3:
        if (rt_call_argument(call, 1) < CLONE_ARGS_SIZE_VER0 ||
            !rt_copy_in(&args, rt_call_argument(call, 0), CLONE_ARGS_SIZE_VER0))
            return false;
        flags = args.flags;
        birth->stack = args.stack ? args.stack + args.stack_size : 0;
        birth->stack_size = args.stack_size;
        break;
    default: break;
    }
    birth->kind = kind_of(flags);
    return true;
}

/* ---- before ---- */

/* Where a child of vfork is, all frames below this are left when it ends. */
static void note_vfork(const struct rt_call_regs *call, const struct rt_birth *birth)
{
    rt_local.exits.vfork_stack = (birth->stack ? UINT64_MAX : call->regs[RT_RSP]) - 16;
}

static bool prepare_stack(const struct rt_birth *birth)
{
    uint64_t size = birth->stack_size ? birth->stack_size : UNKNOWN_SIZE;
    bool needed = birth->stack && (birth->kind == WAITED_FOR || rt_exe_is_fixed());
    return !needed || rt_stack_has_slots(birth->stack - size, birth->stack);
}

struct rt_birth *rt_birth_begin(struct rt_call_regs *call)
{
    static const uint64_t all = ~(uint64_t)0;
    struct rt_birth *birth = take_birth();
    if (!read_request(call, birth)) {
        call->regs[RT_RAX] = (uint64_t)rt_call_as_is(call);
        release(birth);
        return NULL;
    }
    if (!prepare_stack(birth)) {
        rt_warn("a new thread has a stack without room for what is counted; it is not made", NULL);
        call->regs[RT_RAX] = (uint64_t)-EAGAIN;
        release(birth);
        return NULL;
    }
    birth->call = *call;
    if (birth->kind == FORKED) rt_libc_before_fork();
    set_mask(&all, &birth->mask);
    if (birth->kind == WAITED_FOR) note_vfork(call, birth);
    if (birth->kind == THREAD) {
        birth->users = 2;
        __atomic_fetch_add(&live, 1, __ATOMIC_ACQ_REL);
        rt_libc_many_threads();
    }
    return birth;
}

/* ---- behind ---- */

/* The frame returns in the child and in its parent, so that what came before is counted twice. */
static void count_less(const struct rt_call_regs *call)
{
    struct rt_frame frame = rt_calling_frame(call);
    if (rt_has_marks() && !rt_is_confined() && rt_unwind_look(&frame)) rt_frame_left(&frame, -1);
}

static void in_child(const struct rt_call_regs *call, struct rt_birth *birth)
{
    uint64_t mask = birth->mask;
    switch ((enum kind)birth->kind) {
    case FORKED: /* what other threads were doing is of no interest here */
        live = 1;
        for (int i = 0; i < MOST_BIRTHS; i++) births[i].users = 0;
        rt_libc_after_fork(true);
        break;
    case WAITED_FOR:
        if (!birth->stack) count_less(call);
        break;
    case THREAD:
        rt_threads_begin(rt_exe_is_fixed() ? 0 : birth->stack_size);
        rt_provide_exit_stack();
        release(birth);
        break;
    }
    set_mask(&mask, NULL);
}

static void in_parent(struct rt_birth *birth, bool failed)
{
    uint64_t mask = birth->mask;
    if (birth->kind == FORKED) rt_libc_after_fork(false);
    if (birth->kind == THREAD && failed) {
        release(birth);
        __atomic_fetch_sub(&live, 1, __ATOMIC_ACQ_REL);
    }
    release(birth);
    set_mask(&mask, NULL);
}

void rt_birth_end(struct rt_call_regs *call, struct rt_birth *birth)
{
    long result = (long)call->regs[RT_RAX];
    if (result == 0)
        in_child(call, birth);
    else
        in_parent(birth, result < 0);
}

bool rt_thread_leaves(void)
{
    return __atomic_sub_fetch(&live, 1, __ATOMIC_ACQ_REL) == 0;
}
