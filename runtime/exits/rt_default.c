/* Hides our handlers of fatal signals (rt_end.c) from the program: where the program sets
 * SIG_DFL, our handler is set instead, and where it asks for the action, it gets the action
 * that it set last. The stand-ins that the program calls are in rt_interpose.c and
 * rt_wrap_signal.c.
 *
 * The kernel sets a handler with SA_RESETHAND back to SIG_DFL when it runs. We call such a
 * handler from a handler of ours, which sets our handler of fatal signals instead.
 *
 * In a process with a rewritten module (footpath exe) its code may raise SIGTRAP and SIGSEGV for
 * the runtime. A handler of the program for one of these is called from a handler of ours, too.
 *
 * Not handled: actions that the program sets by bare system calls.
 */
#include "rt.h"

#include <string.h>
#include <unistd.h>

typedef void handler(int signal, siginfo_t *info, void *context);

/* Per signal: the action that the program set last, and its handler with SA_RESETHAND. */
RT_APART(struct sigaction, rt_told, 65 * 152);
_Static_assert(sizeof rt_told / sizeof *rt_told == NSIG, "one per signal");
static handler *once[NSIG];

static bool is(const struct sigaction *action, handler *which)
{
    return which && action->sa_flags & SA_SIGINFO && action->sa_sigaction == which;
}

static handler *fatal_handler(void)
{
    return rt_this.process ? rt_this.process->exits.fatal_handler : NULL;
}

/* ---- are there handlers of others? ---- */

static bool others; /* some signal has had a handler that is not rt_end.c's */

void rt_note_handler(void)
{
    others = true;
}

static bool is_handler(const struct sigaction *action)
{
    return action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN;
}

extern char __footpath_interposed FP_HIDDEN; /* rt_sample.c */

/* Only where the stand-ins of rt_interpose.c see what all code of the process sets. */
bool rt_handlers_are_ours(void)
{
    return __footpath_interposed && !others && fatal_handler() && rt_is_program() &&
           rt_this.process->core.nmodules == 1 && rt_has_one_thread();
}

/* SA_RESTART: the handler returns where it only notes the signal. */
void rt_default_action(struct sigaction *action)
{
    *action = (struct sigaction){.sa_sigaction = fatal_handler(),
                                 .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    memcpy(&action->sa_mask, &rt_all_signals, sizeof rt_all_signals); /* the kernel has 64 */
}

static void call_once(int signal, siginfo_t *info, void *context)
{
    handler *program = once[signal];
    struct sigaction action;
    rt_default_action(&action);
    rt_told[signal].sa_handler = SIG_DFL;
    sigaction(signal, &action, NULL);
    program(signal, info, context);
}

/* ---- signals that may be for us ---- */

bool rt_is_for_us(int signal, const siginfo_t *info, void *context)
{
    struct rt_process *process = rt_this.process;
    if (!process || !process->exits.guarded || (signal != SIGTRAP && signal != SIGSEGV))
        return false;
    for (size_t i = 0; i < process->core.nmodules; i++) {
        struct rt_module *module = __atomic_load_n(&process->core.modules[i], __ATOMIC_ACQUIRE);
        if (module && module->exe_fault && module->exe_fault(signal, info, context)) return true;
    }
    return false;
}

/* The program's handlers of the two signals; set before the kernel knows of ours. */
static handler *guarded_handler[2];

static handler **guarded(int signal)
{
    return &guarded_handler[signal == SIGSEGV];
}

static void guard(int signal, siginfo_t *info, void *context)
{
    if (!rt_is_for_us(signal, info, context)) (*guarded(signal))(signal, info, context);
}

static bool is_guarded(int signal)
{
    return rt_this.process && rt_this.process->exits.guarded &&
           (signal == SIGTRAP || signal == SIGSEGV);
}

enum { ONCE = (int)SA_RESETHAND, SET_BY_LIBC = 0x04000000 /* SA_RESTORER */ };

/* The action to give the kernel instead of the program's. */
static struct sigaction instead_of(int signal, const struct sigaction *action)
{
    struct sigaction set = *action;
    if (action->sa_handler == SIG_DFL) rt_default_action(&set);
    if (is_handler(action) && action->sa_flags & ONCE) {
        once[signal] = action->sa_sigaction;
        set.sa_sigaction = call_once;
        set.sa_flags = (action->sa_flags & ~ONCE) | SA_SIGINFO;
    }
    if (is_handler(action) && is_guarded(signal)) {
        *guarded(signal) = set.sa_sigaction;
        set.sa_sigaction = guard;
        set.sa_flags |= SA_SIGINFO;
    }
    return set;
}

int rt_set_action(rt_sigaction *real, int signal, const struct sigaction *action,
                  struct sigaction *old)
{
    if (action && is_handler(action) && !is(action, fatal_handler())) rt_note_handler();
    if (!fatal_handler() || !rt_is_fatal(signal)) return real(signal, action, old);
    if (action && is(action, fatal_handler()))
        return real(signal, action, old); /* from rt_end.c, or above */
    struct sigaction before, set, told_before = rt_told[signal];
    if (action) {
        set = instead_of(signal, action);
        rt_told[signal] = *action;
        rt_told[signal].sa_flags |= SET_BY_LIBC;
    }
    int result = real(signal, action ? &set : NULL, &before);
    if (result < 0) {
        rt_told[signal] = told_before;
        return result;
    }
    bool ours = is(&before, fatal_handler()) || is(&before, call_once) || is(&before, guard);
    if (old) *old = ours ? told_before : before;
    return result;
}
