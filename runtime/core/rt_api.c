/* footpath/runtime.h. */
#include "footpath/runtime.h"
#include "core/rt_unwind.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* What instrumented objects refer to, so that this archive is linked. It stands here
 * since the functions below are weak: a program that calls them would not bring them
 * in by itself. */
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

/* What a frame's path in flight did before is taken off it: it will be counted when
 * the path ends. */
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

/* What frames left behind is forgotten first: the threads note theirs before the
 * counters are cleared, when all of them wait. */
void footpath_reset(void)
{
    struct rt_frame frame;
    struct rt_process *process = rt_this.process;
    rt_unwind_here(&frame);
    for (size_t i = 0; process && i < RT_MOST_MODULES; i++)
        if (process->core.modules[i]) process->core.modules[i]->forget_left();
    rt_with_threads_stopped(begin_here, clear_counters, &frame);
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
    struct rt_process *process = rt_this.process;
    if (!process || process->core.paused || !rt_threads_make_nowhere()) return;
    rt_unwind_here(&frame);
    process->core.paused = 1;
    rt_with_threads_stopped(pause_here, pause_work, &frame);
}

void footpath_resume(void)
{
    struct rt_frame frame;
    struct rt_process *process = rt_this.process;
    if (!process || !process->core.paused) return;
    rt_unwind_here(&frame);
    process->core.paused = 0;
    rt_with_threads_stopped(resume_here, resume_work, &frame);
}

void footpath_set_output(const char *pattern)
{
    struct rt_process *process = rt_this.process;
    for (size_t i = 0; process && i < RT_MOST_MODULES; i++)
        if (process->core.modules[i]) process->core.modules[i]->set_output(pattern);
}
