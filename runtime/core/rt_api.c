/* The functions of footpath/runtime.h: a program controls its own profile.
 *
 * Not handled: two threads that call footpath_pause and footpath_resume at the same time.
 */
#include "footpath/runtime.h"
#include "core/rt_unwind.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Instrumented objects refer to this symbol, so that the linker takes the runtime. The
 * symbol stands in this file because the functions below are weak: a program that calls
 * them would not make the linker take this file. */
const char footpath_runtime[] __asm__(FP_RUNTIME_SYMBOL) FP_HIDDEN =
    "footpath runtime " FOOTPATH_VERSION;

int footpath_dump(void)
{
    int saved = errno;
    struct rt_frame frame;
    rt_unwind_here(&frame);
    bool ok = true;
    struct rt_process *process = rt_this.process;
    if (!process) ok = rt_write_profile(RT_MEANWHILE, &frame);
    for (size_t i = 0; process && i < RT_MOST_MODULES; i++)
        if (process->core.modules[i]) ok &= process->core.modules[i]->write(RT_MEANWHILE, &frame);
    errno = saved;
    return ok ? 0 : -1;
}

/* ---- with all threads held ---- */

/* Counts the path in flight of each frame once less: all of the path will be counted when
 * it ends, also the part before this moment. */
static void begin_here(const struct rt_frame *frame, void *context)
{
    (void)context;
    rt_frames_left(frame, UINT64_MAX, -1);
}

static void clear_counters(void *context)
{
    struct rt_process *process = rt_this.process;
    if (!process) rt_clear_counters();
    for (size_t i = 0; process && i < RT_MOST_MODULES; i++)
        if (process->core.modules[i]) process->core.modules[i]->clear();
    begin_here(context, NULL);
}

/* Holds signals: one that ends the program would write counts of which a part is cleared.
 *
 * Clears the counts of frames that were left before it stops the threads: while they stop,
 * the threads note their paths in flight there. */
void footpath_reset(void)
{
    struct rt_frame frame;
    struct rt_held held;
    struct rt_process *process = rt_this.process;
    rt_unwind_here(&frame);
    rt_hold_signals(&held);
    for (size_t i = 0; process && i < RT_MOST_MODULES; i++)
        if (process->core.modules[i]) process->core.modules[i]->forget_left();
    rt_with_threads_stopped(begin_here, clear_counters, &frame);
    rt_release_signals(&held);
}

/* While paused, threads count in a copy that is never written. */
static void pause_here(const struct rt_frame *frame, void *context)
{
    (void)context;
    rt_frames_left(frame, UINT64_MAX, 1);
    rt_threads_set_base(rt_this.process->threads.nowhere);
}

static void resume_here(const struct rt_frame *frame, void *context)
{
    (void)context;
    rt_threads_set_base(rt_threads_own_bias());
    rt_frames_left(frame, UINT64_MAX, -1);
}

static void pause_work(void *context)
{
    pause_here(context, NULL);
}

static void resume_work(void *context)
{
    resume_here(context, NULL);
}

void footpath_pause(void)
{
    struct rt_frame frame;
    struct rt_held held;
    struct rt_process *process = rt_this.process;
    if (!process || process->core.paused || !rt_threads_make_nowhere()) return;
    rt_unwind_here(&frame);
    rt_hold_signals(&held);
    process->core.paused = 1;
    rt_with_threads_stopped(pause_here, pause_work, &frame);
    rt_release_signals(&held);
}

void footpath_resume(void)
{
    struct rt_frame frame;
    struct rt_held held;
    struct rt_process *process = rt_this.process;
    if (!process || !process->core.paused) return;
    rt_unwind_here(&frame);
    rt_hold_signals(&held);
    process->core.paused = 0;
    rt_with_threads_stopped(resume_here, resume_work, &frame);
    rt_release_signals(&held);
}

void footpath_set_output(const char *pattern)
{
    struct rt_process *process = rt_this.process;
    for (size_t i = 0; process && i < RT_MOST_MODULES; i++)
        if (process->core.modules[i]) process->core.modules[i]->set_output(pattern);
}
