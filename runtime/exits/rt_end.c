/* Ends of the process that run no destructors: _exit, exec, fatal signals. The runtime
 * writes the profile, and then the program ends as it would have.
 *
 * Only signals whose action is SIG_DFL get our handler. It restores SIG_DFL before the
 * program dies of the signal, so that the parent sees the same status. rt_default.c hides
 * our handlers from the program.
 *
 * Not handled: SIGKILL, and ends by bare system calls.
 */
#include "core/rt_call.h"
#include "core/rt_unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A child of vfork shares the memory of its parent. It must not write: the parent will.
 * When the child ends, the parent returns from vfork a second time, so the child's frames
 * below the call of vfork never return. */
static bool is_vfork_child(void)
{
    return rt_getpid() != rt_settings.pid;
}

void __footpath_before_vfork(void) FP_HIDDEN;
void __footpath_before_vfork(void)
{
    rt_local.exits.vfork_stack = (uint64_t)__builtin_frame_address(0);
}

static void vfork_child_ends(const struct rt_frame *frame, int64_t weight)
{
    if (rt_has_marks() && rt_local.exits.vfork_stack)
        rt_frames_left(frame, rt_local.exits.vfork_stack + 16, weight);
}

static void write_before(enum rt_why why, const struct rt_frame *frame)
{
    if (rt_is_confined()) return;
    int saved = errno;
    if (is_vfork_child())
        vfork_child_ends(frame, 1);
    else
        rt_write_all(why, frame);
    errno = saved;
}

#ifdef RT_IN_STATIC
void rt_end_write(enum rt_why why, const struct rt_frame *frame)
{
    write_before(why, frame);
}
#endif

/* Called by instrumented code in front of _exit. */
void __footpath_at_end(void) FP_HIDDEN RT_ENTRY;
void __footpath_at_end(void)
{
    struct rt_frame frame;
    rt_unwind_here(&frame);
    write_before(RT_AT_END, &frame);
}

/* Called in front of exec and daemon, which may also fail and return. */
void __footpath_before_end(void) FP_HIDDEN RT_ENTRY;
void __footpath_before_end(void)
{
    struct rt_frame frame;
    rt_unwind_here(&frame);
    write_before(RT_LEAVING, &frame);
}

/* Called when exec has failed and returned. */
void __footpath_after_exec(void) FP_HIDDEN RT_ENTRY;
void __footpath_after_exec(void)
{
    int saved = errno;
    struct rt_frame frame;
    rt_unwind_here(&frame);
    if (!rt_is_confined() && is_vfork_child()) vfork_child_ends(&frame, -1);
    errno = saved;
}

static RT_ENTRY void quick_exit_now(void *unused)
{
    struct rt_frame frame;
    (void)unused;
    rt_unwind_here(&frame);
    if (!rt_is_confined() && !is_vfork_child()) rt_write_profile(RT_AT_END, &frame);
}

#pragma weak dlsym
rt_at_quick_exit *rt_at_quick __attribute__((weak)) = NULL;
/* crtbeginS.o's, and ours where -nostartfiles leaves that out. */
char __dso_handle[1] __attribute__((weak)) FP_HIDDEN;

/* Handlers of quick_exit run in reverse order. Ours is registered early and runs last. */
void rt_end_at_quick_exit(void)
{
    rt_at_quick_exit *at = rt_at_quick;
    if (!at && dlsym) at = (rt_at_quick_exit *)dlsym(RTLD_DEFAULT, "__cxa_at_quick_exit");
    if (at) at(quick_exit_now, __dso_handle);
}

/* ---- fatal signals ---- */

/* First the signals that instructions raise. Each costs every process a system call, so there are
 * none of signals that a program gets only if it asked for them by number (SIGPOLL, and those for
 * real time), that go to the first process of the system (SIGPWR), or that nothing sends
 * (SIGSTKFLT). */
static const int fatal[] = {SIGSEGV, SIGBUS,    SIGFPE,  SIGILL,  SIGSYS,  SIGTRAP, SIGABRT,
                            SIGTERM, SIGINT,    SIGHUP,  SIGQUIT, SIGPIPE, SIGALRM, SIGXCPU,
                            SIGXFSZ, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2};
enum { RAISED_BY_INSTRUCTIONS = 6 };

/* By a system call: for the two signals of sampling, sigaction only remembers the action
 * (rt_mask.c). */
static void restore_default(int signal)
{
    static const struct rt_action action;
    rt_set_kernel_action(signal, &action, NULL);
}

/* Was the signal sent? Otherwise an instruction raised it, and raises it again when the
 * handler returns. */
static bool was_sent(int signal, const siginfo_t *info)
{
    bool by_instruction = false;
    for (size_t i = 0; i < RAISED_BY_INSTRUCTIONS; i++) by_instruction |= signal == fatal[i];
    return !by_instruction || info->si_code <= 0 || signal == SIGTRAP || signal == SIGSYS;
}

/* Is the program in the middle of counting? Then sets the processor's trace flag, by which
 * it executes one more instruction and comes back here by SIGTRAP. */
static bool go_on_a_little(ucontext_t *where)
{
    enum { TRACE_FLAG = 0x100, MOST_STEPS = 100000 };
    static int steps;
    struct rt_frame frame;
    struct rt_process *process = rt_this.process;
    rt_unwind_from_signal(&frame, where);
    frame.careful = true;
    where->uc_mcontext.gregs[REG_EFL] &= ~TRACE_FLAG;
    bool certain = true;
    for (size_t i = 0; process && i < RT_MOST_MODULES; i++)
        if (process->core.modules[i]) certain &= process->core.modules[i]->place_is_certain(&frame);
    if (certain || steps++ > MOST_STEPS) return false;
    sigdelset(&where->uc_sigmask, SIGTRAP); /* a trap that is blocked would kill us here */
    where->uc_mcontext.gregs[REG_EFL] |= TRACE_FLAG;
    return true;
}

static int dying_of; /* the signal to die of when the program is between two counts; or 0 */

/* Does another thread handle a fatal signal already? It writes the run, and the process
 * ends by its signal. Waits for that thread, but not for ever. */
static bool dies_already(void)
{
    enum { MOST_WAIT_MS = 10000 };
    struct rt_writing *writing = rt_writing();
    if (!__atomic_exchange_n(&writing->dying, 1, __ATOMIC_ACQ_REL)) return false;
    for (uint64_t until = rt_now_ms() + MOST_WAIT_MS; rt_now_ms() < until; rt_sleep_ms())
        if (__atomic_load_n(&writing->dead, __ATOMIC_ACQUIRE)) return true;
    return false;
}

/* A signal that comes before it is known whether our handler of it stays. */
static struct {
    int signal; /* whose handler is being set, or 0 */
    bool struck;
    siginfo_t info;
} early;

static bool came_early(int signal, const siginfo_t *info)
{
    if (signal != __atomic_load_n(&early.signal, __ATOMIC_SEQ_CST) || !was_sent(signal, info))
        return false;
    early.info = *info;
    __atomic_store_n(&early.struck, true, __ATOMIC_SEQ_CST);
    return true;
}

static void die(int signal, siginfo_t *info, void *context)
{
    if (rt_is_for_us(signal, info, context)) return;
    if (came_early(signal, info)) return;
    if (was_sent(signal, info) && rt_note_signal(signal, info)) return;
    bool step = dying_of && signal == SIGTRAP;
    if (step) signal = dying_of;
    if ((step || was_sent(signal, info)) && go_on_a_little(context)) {
        dying_of = signal;
        return;
    }
    bool is_child = is_vfork_child();
    bool sent = step || was_sent(signal, info);
    if (!is_child && dies_already() && sent) return;
    if (!is_child) {
        struct rt_frame frame;
        rt_unwind_from_signal(&frame, context);
        frame.careful = true;
        rt_write_all(RT_BY_SIGNAL, &frame);
    }
    restore_default(signal); /* only now: a second signal would end the process at once */
    /* The signal is blocked in this handler, so the one we send arrives when we return. An
     * instruction that raised it raises it again. */
    if (sent) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
    if (!is_child) __atomic_store_n(&rt_writing()->dead, 1, __ATOMIC_RELEASE);
}

void rt_die(int signal, siginfo_t *info, void *context)
{
    die(signal, info, context);
}

/* The kernel ignores signals sent to the first process of a container (pid 1) whose action
 * is SIG_DFL: only those that an instruction raises kill it. */
bool rt_is_fatal(int signal)
{
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (fatal[i] == signal) return rt_settings.pid != 1 || i < RAISED_BY_INSTRUCTIONS;
    return false;
}

/* ---- a signal that asks for the profile of a running program ---- */

static void write_meanwhile(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    int saved = errno;
    struct rt_frame frame;
    rt_handler_begins();
    rt_unwind_from_signal(&frame, context);
    rt_write_all(RT_MEANWHILE, &frame);
    rt_handler_ends();
    errno = saved;
}

/* A number, or a name with or without SIG. */
static int signal_named(const char *text)
{
    static const struct {
        const char *name;
        int signal;
    } names[] = {{"USR1", SIGUSR1},   {"USR2", SIGUSR2}, {"HUP", SIGHUP},
                 {"QUIT", SIGQUIT},   {"ALRM", SIGALRM}, {"PROF", SIGPROF},
                 {"WINCH", SIGWINCH}, {"URG", SIGURG},   {"CONT", SIGCONT}};
    int number = atoi(text);
    if (number > 0 && number < NSIG) return number;
    if (!strncmp(text, "SIG", 3)) text += 3;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(text, names[i].name)) return names[i].signal;
    return 0;
}

static int dump_signal; /* or 0 */
static struct sigaction before_dump;

static void watch_dump_signal(void)
{
    const char *text = rt_variable("FOOTPATH_DUMP_SIGNAL");
    if (!text || !*text) return;
    int signal = signal_named(text);
    if (!signal) {
        rt_warn("FOOTPATH_DUMP_SIGNAL=", text, " is not a signal", NULL);
        return;
    }
    struct sigaction action = {.sa_sigaction = write_meanwhile,
                               .sa_flags = SA_SIGINFO | SA_RESTART};
    sigfillset(&action.sa_mask);
    if (sigaction(signal, &action, &before_dump) == 0) dump_signal = signal;
}

enum { STACK_SIZE = 1 << 16 };
RT_APART(char, rt_signal_stack, 1 << 16);

/* Sets the stack and puts one that was there back: mostly there is none, so that is one
 * system call. */
void rt_provide_signal_stack(void **memory)
{
    stack_t before;
    if (!*memory) {
        void *made = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (made == MAP_FAILED) return;
        *memory = made;
    }
    stack_t stack = {.ss_sp = *memory, .ss_size = STACK_SIZE};
    if (rt_sigaltstack(&stack, &before) == 0 && !(before.ss_flags & SS_DISABLE))
        rt_sigaltstack(&before, NULL);
}

/* As sigaction, which would cost every process the search for libc's. While paths are sampled
 * sigaction only remembers the action of two signals (rt_mask.c). */
static bool exchange(int signal, const struct sigaction *action, struct sigaction *old)
{
    struct rt_action set = {action->sa_sigaction, (unsigned)action->sa_flags | RT_RESTORER,
                            action->sa_restorer, 0},
                     before;
    if (rt_sample_signal()) return sigaction(signal, action, old) == 0;
    if (!set.restorer) set.restorer = __footpath_return_from_signal;
    memcpy(&set.mask, &action->sa_mask, sizeof set.mask);
    if (!rt_set_kernel_action(signal, &set, &before)) return false;
    *old = (struct sigaction){.sa_sigaction = before.handler,
                              .sa_flags = (int)before.flags,
                              .sa_restorer = before.restorer};
    memcpy(&old->sa_mask, &before.mask, sizeof before.mask);
    return true;
}

/* Sets our handler and puts an action that was not SIG_DFL back: for most signals that is
 * one system call. A signal that comes in between is sent again. */
static void watch_fatal(int signal)
{
    struct sigaction old, action;
    rt_default_action(&action);
    early.struck = false;
    __atomic_store_n(&early.signal, signal, __ATOMIC_SEQ_CST);
    if (exchange(signal, &action, &old) &&
        (old.sa_flags & SA_SIGINFO || old.sa_handler != SIG_DFL)) {
        exchange(signal, &old, &action);
        if (old.sa_handler != SIG_IGN) rt_note_handler();
    }
    __atomic_store_n(&early.signal, 0, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&early.struck, __ATOMIC_SEQ_CST))
        syscall(SYS_rt_tgsigqueueinfo, getpid(), rt_thread_id(), signal, &early.info);
}

static void watch_fatal_signals(void)
{
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        if (rt_is_fatal(fatal[i])) watch_fatal(fatal[i]);
}

static bool watches; /* this module's handlers serve all modules */

void rt_end_watch(void)
{
    if (rt_this.process &&
        __atomic_exchange_n(&rt_this.process->exits.watched, 1, __ATOMIC_ACQ_REL))
        return;
    watches = true;
    static void *signal_stack;
    if (rt_is_program()) signal_stack = rt_signal_stack; /* a library may be unloaded */
    rt_provide_signal_stack(&signal_stack);
    if (rt_this.process) rt_this.process->exits.fatal_handler = die;
    watch_fatal_signals();
    watch_dump_signal();
}

static void restore(int signal, const struct sigaction *before,
                    void (*ours)(int, siginfo_t *, void *))
{
    struct sigaction now;
    if (sigaction(signal, NULL, &now) == 0 && now.sa_flags & SA_SIGINFO && now.sa_sigaction == ours)
        sigaction(signal, before, NULL);
}

void rt_end_unwatch(void)
{
    struct rt_process *process = rt_this.process;
    if (!watches) return;
    watches = false;
    struct sigaction by_default = {.sa_handler = SIG_DFL};
    if (process)
        process->exits.fatal_handler = NULL; /* rt_default.c no longer hides our handlers */
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) restore(fatal[i], &by_default, die);
    if (dump_signal) restore(dump_signal, &before_dump, write_meanwhile);
    if (process) __atomic_store_n(&process->exits.watched, 0, __ATOMIC_RELEASE);
}

/* Another module, if there is one, takes over. */
void rt_end_forget_module(void)
{
    struct rt_process *process = rt_this.process;
    if (!watches) return;
    rt_end_unwatch();
    if (!process) return;
    for (size_t i = 0; i < RT_MOST_MODULES; i++) {
        struct rt_module *module = process->core.modules[i];
        if (!module || module == &rt_this) continue;
        module->take_over();
        return;
    }
}
