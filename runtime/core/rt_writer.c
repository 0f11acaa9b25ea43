/* Decides which thread writes: one of the process at a time, whichever module's runtime it
 * runs.
 *
 * The thread that writes takes no signals, so no handler writes in the same thread
 * meanwhile. Another thread that wants a profile of the running program leaves a wish, and
 * the writer writes once more. A thread that ends the run waits for its turn and writes
 * itself: the process would be gone before its wish is honoured. The writer waits for no
 * other thread, so this wait is short; it ends after MOST_WAIT_MS in any case.
 *
 * Not handled: a writer that does not finish in that time; the last record is then missing,
 * with a warning.
 */
#include "rt.h"

#include <pthread.h>

enum { MOST_WAIT_MS = 10000, MOST_LOCK_WAIT_MS = 1000, MOST_AGAIN = 8 };

static struct rt_writing alone; /* in use where there is no memory for struct rt_process */

struct rt_writing *rt_writing(void)
{
    return rt_this.process ? &rt_this.process->core.writing : &alone;
}

static bool take(struct rt_writing *writing)
{
    uint64_t nobody = 0;
    return __atomic_compare_exchange_n(&writing->writer, &nobody, (uint64_t)pthread_self(), false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* The writer looks for wishes after it has given up its turn. So a thread that has left a
 * wish tries for the turn once more: either it gets it, or the writer sees the wish. */
static bool leave_wish(struct rt_writing *writing)
{
    __atomic_store_n(&writing->wish, 1, __ATOMIC_SEQ_CST);
    return take(writing);
}

bool rt_writer_begin(struct rt_held *held, bool only_wish)
{
    struct rt_writing *writing = rt_writing();
    uint64_t until = 0;
    for (;;) {
        rt_hold_for_write(held);
        if (take(writing) || (only_wish && leave_wish(writing))) return true;
        /* the writer is this thread: a fault interrupted its write */
        bool hopeless = only_wish || __atomic_load_n(&writing->writer, __ATOMIC_RELAXED) ==
                                         (uint64_t)pthread_self();
        rt_release_signals(held);
        if (!until) until = rt_now_ms() + MOST_WAIT_MS;
        if (hopeless || rt_now_ms() >= until) return false;
        rt_sleep_ms();
    }
}

void rt_writer_end(const struct rt_held *held)
{
    __atomic_store_n(&rt_writing()->writer, 0, __ATOMIC_SEQ_CST);
    rt_release_signals(held);
}

/* In a handler signals are blocked. There the wait ends when a new signal is pending. */
bool rt_writer_wait(uint64_t *pending)
{
    struct rt_writing *writing = rt_writing();
    uint64_t from = rt_now_ms(), now = rt_signals_pending();
    if (!*pending) *pending = now | (uint64_t)1 << 63; /* bit 63: *pending is known */
    if (writing->lock_waited_ms >= MOST_LOCK_WAIT_MS || now & ~*pending) return false;
    rt_sleep_ms();
    uint64_t waited = rt_now_ms() - from;
    writing->lock_waited_ms += waited ? (uint32_t)waited : 1;
    return true;
}

void rt_write_all(enum rt_why why, const struct rt_frame *frame)
{
    struct rt_process *process = rt_this.process;
    if (!process) rt_write_profile(why, frame);
    for (size_t i = 0; process && i < RT_MOST_MODULES; i++) {
        struct rt_module *module = __atomic_load_n(&process->core.modules[i], __ATOMIC_ACQUIRE);
        if (module) module->write(why, frame);
    }
}

void rt_writer_honour(const struct rt_frame *frame)
{
    struct rt_writing *writing = rt_writing();
    for (int i = 0; i < MOST_AGAIN && __atomic_load_n(&writing->wish, __ATOMIC_SEQ_CST); i++) {
        if (__atomic_exchange_n(&writing->honouring, 1, __ATOMIC_ACQUIRE))
            return; /* an outer call of this function, or another thread, does it */
        __atomic_store_n(&writing->wish, 0, __ATOMIC_SEQ_CST);
        rt_write_all(RT_MEANWHILE, frame);
        __atomic_store_n(&writing->honouring, 0, __ATOMIC_RELEASE);
    }
}

void rt_writer_after_fork(void)
{
    *rt_writing() = (struct rt_writing){0};
    rt_file_after_fork();
}
