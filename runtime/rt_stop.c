/* Holding the other threads while the profile is written, so that what is written of
 * them is of one moment: each tells the paths it has in flight and waits.
 *
 * A signal is sent to every thread that counts. One that it finds in the middle of
 * counting is made to go on instruction by instruction (by the processor's trace
 * flag) until it is between two counts.
 */
#include "rt_unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { TRACE_FLAG = 0x100, MOST_STEPS = 200000, WAIT_MS = 2000 };

static struct {
    void (*visit)(const struct rt_frame *, void *);
    void *context;
    uint32_t visiting; /* one thread at a time */
    uint32_t arrived, released, active;
    int signal;
} stop;

static void wait_here(const struct rt_frame *frame)
{
    while (__atomic_exchange_n(&stop.visiting, 1, __ATOMIC_ACQUIRE)) sched_yield();
    stop.visit(frame, stop.context);
    __atomic_store_n(&stop.visiting, 0, __ATOMIC_RELEASE);
    __atomic_fetch_add(&stop.arrived, 1, __ATOMIC_ACQ_REL);
    while (!__atomic_load_n(&stop.released, __ATOMIC_ACQUIRE)) {
        struct timespec moment = {0, 100000};
        syscall(SYS_nanosleep, &moment, NULL);
    }
}

static _Thread_local uint32_t steps __attribute__((tls_model("initial-exec")));

static void stopped(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info;
    int saved = errno;
    ucontext_t *where = context;
    struct rt_frame frame;
    rt_unwind_from_signal(&frame, where);
    where->uc_mcontext.gregs[REG_EFL] &= ~TRACE_FLAG;
    if (__atomic_load_n(&stop.active, __ATOMIC_ACQUIRE)) {
        if (!rt_place_is_certain(&frame) && steps++ < MOST_STEPS) {
            where->uc_mcontext.gregs[REG_EFL] |= TRACE_FLAG;
        } else {
            steps = 0;
            wait_here(&frame);
        }
    }
    errno = saved;
}

/* A signal that the program does not use. */
static int free_signal(void)
{
    struct sigaction action;
    for (int signal = SIGRTMAX; signal >= SIGRTMIN; signal--)
        if (sigaction(signal, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) &&
            action.sa_handler == SIG_DFL)
            return signal;
    return 0;
}

/* Does a thread block the signal? Then it would keep us waiting for nothing. */
static bool blocks(uint32_t tid)
{
    char path[64], text[2048];
    struct rt_text name = {path, 0, sizeof path};
    rt_text_add(&name, "/proc/self/task/");
    rt_text_add_number(&name, tid);
    rt_text_add(&name, "/status");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t len = read(fd, text, sizeof text - 1);
    close(fd);
    text[len > 0 ? len : 0] = 0;
    const char *mask = strstr(text, "SigBlk:");
    if (!mask) return false;
    return strtoull(mask + 7, NULL, 16) >> (stop.signal - 1) & 1;
}

static bool ask(uint32_t tid)
{
    return !blocks(tid) && syscall(SYS_tgkill, getpid(), tid, stop.signal) == 0;
}

static uint32_t signal_threads(void)
{
    uint32_t sent = 0, self = (uint32_t)syscall(SYS_gettid);
    struct rt_process *process = rt_this.process;
    for (uint32_t i = 0; i < process->nregions; i++) {
        uint32_t tid = process->regions[i].tid;
        if (!tid || tid == self) continue;
        sent += ask(tid);
    }
    /* the first thread, when another one writes */
    uint32_t first = (uint32_t)getpid();
    if (first != self) sent += ask(first);
    return sent;
}

static void wait_for(uint32_t count)
{
    for (int ms = 0; ms < WAIT_MS && __atomic_load_n(&stop.arrived, __ATOMIC_ACQUIRE) < count; ms++) {
        struct timespec moment = {0, 1000000};
        syscall(SYS_nanosleep, &moment, NULL);
    }
}

void rt_with_threads_stopped(void (*visit)(const struct rt_frame *, void *), void (*work)(void *),
                             void *context)
{
    struct rt_process *process = rt_this.process;
    bool others = process && process->nregions;
    int signal = others ? free_signal() : 0;
    if (!signal || __atomic_exchange_n(&stop.active, 1, __ATOMIC_ACQ_REL)) {
        work(context);
        return;
    }
    struct sigaction action = {.sa_sigaction = stopped, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction old, old_trap;
    sigfillset(&action.sa_mask);
    stop.visit = visit;
    stop.context = context;
    stop.signal = signal;
    stop.arrived = stop.released = 0;
    sigaction(signal, &action, &old);
    sigaction(SIGTRAP, &action, &old_trap);
    uint32_t count = signal_threads();
    wait_for(count);
    work(context);
    __atomic_store_n(&stop.active, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&stop.released, 1, __ATOMIC_RELEASE);
    sigaction(SIGTRAP, &old_trap, NULL);
    /* a thread that was slow to get the signal must not die of it */
    if (__atomic_load_n(&stop.arrived, __ATOMIC_ACQUIRE) == count) sigaction(signal, &old, NULL);
}
