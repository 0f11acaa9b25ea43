/* Handlers of the program that run on an alternate signal stack. Such a stack may have room for the
 * frame of one signal and little more. A trap or a tick in the handler would need a second frame,
 * and the kernel ends a program whose stack has no room for it.
 *
 * So the runtime calls these handlers itself. The signal of ticks is blocked in them. Where the
 * stack is small, there are no traps in any thread until the handler returns. A handler that is
 * left by siglongjmp does not return: the next tick of the thread notices.
 *
 * Not handled: handlers that leave by longjmp, which keeps the signal of ticks blocked: there are
 * no more samples of the thread.
 */
#include "core/rt_call.h"
#include "rt.h"

#include <sys/auxv.h>

/* What the program has set, per signal. */
RT_APART(struct sigaction, rt_on_stack, 65 * 152);
_Static_assert(sizeof rt_on_stack / sizeof *rt_on_stack == NSIG, "one per signal");

/* Has the stack that this runs on room for a trap? */
static bool is_small(void)
{
    enum { OLD_FRAME = 2048, HANDLERS = 2048 };
    stack_t stack;
    uint64_t here = (uint64_t)__builtin_frame_address(0);
    if (rt_sigaltstack(NULL, &stack) || !(stack.ss_flags & SS_ONSTACK)) return false;
    uint64_t frame = getauxval(AT_MINSIGSTKSZ), left = here - (uint64_t)stack.ss_sp;
    return left < (frame ? frame : OLD_FRAME) + HANDLERS;
}

static void call(int signal, siginfo_t *info, void *context)
{
    struct rt_process *process = rt_this.process;
    struct rt_pep_local *self = rt_sample_state();
    const struct sigaction *program = &rt_on_stack[signal];
    bool small = self && is_small();
    if (small && !self->on_stack++) rt_traps_before_fork(process);
    if (program->sa_flags & SA_SIGINFO)
        program->sa_sigaction(signal, info, context);
    else
        program->sa_handler(signal);
    if (small && self->on_stack && !--self->on_stack) rt_traps_after_fork(process);
}

static bool is_call(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == call;
}

void rt_on_stack_tick(struct rt_process *process, struct rt_pep_local *self)
{
    if (!self->on_stack) return;
    self->on_stack = 0;
    rt_traps_after_fork(process);
}

bool rt_on_stack_wanted(const struct sigaction *action)
{
    bool handler = action->sa_flags & SA_SIGINFO ||
                   (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
    return handler && action->sa_flags & SA_ONSTACK && !is_call(action);
}

void rt_on_stack_instead(int signal, struct sigaction *action)
{
    rt_on_stack[signal] = *action;
    action->sa_sigaction = call;
    action->sa_flags |= SA_SIGINFO;
    sigaddset(&action->sa_mask, rt_this.process->pep.sampling_signal);
}

void rt_on_stack_tell(const struct sigaction *before, struct sigaction *old)
{
    if (!is_call(old)) return;
    old->sa_sigaction = before->sa_sigaction;
    if (!(before->sa_flags & SA_SIGINFO)) old->sa_flags &= ~SA_SIGINFO;
    sigdelset(&old->sa_mask, rt_this.process->pep.sampling_signal);
}
