/* Gives every thread but the first a private copy of all counters.
 *
 * Instrumented code adds the base of %gs to every counter address. The base is 0 in the
 * first thread. A new thread sets it to the bias, the distance between the counters and its
 * copy of them. One bias must serve the counters of all modules, so memory is mapped at the
 * same distance from each module. When a thread ends, its copy stays: the next thread goes
 * on counting in it, and the profile is the sum of all copies. Where many threads have ended,
 * the memory of their copies is given back (rt_fold.c).
 *
 * The runtime stands in for pthread_create and thrd_create, so it sees new threads.
 * rt_adopt.c finds those that were there before.
 *
 * Not handled: threads made by a bare clone share the copy of the thread that made them.
 */
#include "core/rt_call.h"
#include "rt.h"
#include "threads/rt_create.h"

#include <asm/prctl.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static const int64_t STEP = RT_BIAS_STEP; /* between biases: more than any module's counters */

/* The owner mostly is done within a microsecond. */
bool rt_threads_lock(struct rt_process *process, bool patient)
{
    enum { SPINS = 100 };
    for (int tries = 0; __atomic_exchange_n(&process->threads.lock, 1, __ATOMIC_ACQUIRE); tries++) {
        if (!patient && tries > 1000) return false;
        for (int i = 0; i < SPINS && __atomic_load_n(&process->threads.lock, __ATOMIC_RELAXED); i++)
            __builtin_ia32_pause();
        if (__atomic_load_n(&process->threads.lock, __ATOMIC_RELAXED)) sched_yield();
    }
    return true;
}

void rt_threads_unlock(struct rt_process *process)
{
    __atomic_store_n(&process->threads.lock, 0, __ATOMIC_RELEASE);
}

/* ---- memory of copies ---- */

static struct rt_range pages_of(const struct rt_range *range)
{
    uintptr_t page = 4096;
    return (struct rt_range){(char *)((uintptr_t)range->start & ~(page - 1)),
                             (char *)(((uintptr_t)range->end + page - 1) & ~(page - 1))};
}

/* The ranges of a module lie near each other and may share pages: one mapping
 * from the first to the last. */
struct rt_range rt_threads_span(const struct rt_module *module)
{
    struct rt_range span = {0};
    for (int i = 0; i < RT_NRANGES; i++) {
        if (module->ranges[i].start == module->ranges[i].end) continue;
        struct rt_range pages = pages_of(&module->ranges[i]);
        if (!span.start || pages.start < span.start) span.start = pages.start;
        if (pages.end > span.end) span.end = pages.end;
    }
    return span;
}

/* counted: what is counted there goes into the profile. */
static bool map_copy(const struct rt_module *module, int64_t bias, bool counted)
{
    struct rt_range span = rt_threads_span(module);
    size_t len = (size_t)(span.end - span.start);
    void *want = span.start + bias;
    void *got = mmap(want, len, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == want) {
        if (counted) rt_live_map_copy(module, got, len, bias);
        rt_hide_from_helgrind(got, len);
        *(int64_t *)((char *)&module->local->core.bias + bias) = bias;
        rt_hash_empty_copy(module, bias);
        return true;
    }
    if (got != MAP_FAILED) munmap(got, len);
    return false;
}

static void unmap_copy(const struct rt_module *module, int64_t bias)
{
    struct rt_range span = rt_threads_span(module);
    rt_live_forget_copy(span.start + bias, bias);
    munmap(span.start + bias, (size_t)(span.end - span.start));
}

/* ---- copies of libraries that were unloaded ---- */

struct look {
    const struct rt_module *module;
    bool loaded;
};

static void look_for(struct rt_module *module, void *context)
{
    struct look *look = context;
    if (module == look->module && module != &rt_this) look->loaded = true;
}

/* Did this module, while it was relocated, take the place of the orphan's copy? */
static bool is_taken(const struct rt_orphan *orphan, int64_t bias)
{
#ifdef RT_IN_EXECUTABLE
    struct rt_range own = rt_threads_span(&rt_this);
    return bias == rt_exe_early_bias() && own.start < orphan->span.end &&
           orphan->span.start < own.end;
#else
    (void)orphan, (void)bias;
    return false;
#endif
}

static void unmap_orphan(const struct rt_process *process, const struct rt_orphan *orphan)
{
    size_t len = (size_t)(orphan->span.end - orphan->span.start);
    for (uint32_t i = orphan->first_region; i < orphan->nregions; i++)
        if (!is_taken(orphan, process->threads.regions[i].bias)) {
            char *copy = orphan->span.start + process->threads.regions[i].bias;
            rt_live_forget_copy(copy, process->threads.regions[i].bias);
            munmap(copy, len);
        }
    if (orphan->nowhere) munmap(orphan->span.start + orphan->nowhere, len);
    rt_sparse_unmap(orphan->arrays);
}

/* Unmaps the copies of libraries that are gone for good: no module, or another one, is
 * loaded at their place. */
static void unmap_orphans(struct rt_process *process)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < process->threads.norphans; i++) {
        struct look look = {.module = process->threads.orphans[i].module};
        rt_each_module(look_for, &look);
        if (look.loaded)
            process->threads.orphans[kept++] = process->threads.orphans[i];
        else
            unmap_orphan(process, &process->threads.orphans[i]);
    }
    process->threads.norphans = kept;
}

struct attempt {
    int64_t bias;
    bool ok, low, counted;
    struct rt_module *until; /* undoing: stop at this one */
};

/* A library that is being loaded is found before its runtime has started. It will make its
 * part of all copies itself. */
static bool has_started(const struct rt_module *module)
{
    return module->process != NULL;
}

static void look_where(struct rt_module *module, void *context)
{
    struct attempt *attempt = context;
    if (has_started(module) && (uintptr_t)rt_threads_span(module).start < (uintptr_t)1 << 40)
        attempt->low = true;
}

static void try_module(struct rt_module *module, void *context)
{
    struct attempt *attempt = context;
    if (!attempt->ok || !has_started(module)) return;
    if (map_copy(module, attempt->bias, attempt->counted)) return;
    attempt->ok = false;
    attempt->until = module;
}

static void undo_module(struct rt_module *module, void *context)
{
    struct attempt *attempt = context;
    if (module == attempt->until) attempt->ok = true;
    if (!attempt->ok && has_started(module)) unmap_copy(module, attempt->bias);
}

/* Can the base be any value? It can where the processor and the kernel have the instruction
 * that sets it. The system call takes only values that could be an address. */
bool rt_threads_any_base(void)
{
    return getauxval(AT_HWCAP2) & 2; /* FSGSBASE */
}

void rt_threads_set_base(int64_t bias)
{
    if (rt_threads_any_base())
        __asm__ volatile("wrgsbase %0" : : "r"(bias));
    else
        syscall(SYS_arch_prctl, ARCH_SET_GS, bias);
}

/* Calls with the modules of the process's list, or with the loader's where the list is full.
 * needs: the lock. */
static void each_started(struct rt_process *process, void (*call)(struct rt_module *, void *),
                         void *context)
{
    if (process->core.nmodules == RT_MOST_MODULES) {
        rt_each_module(call, context);
        return;
    }
    for (size_t i = 0; i < process->core.nmodules; i++)
        if (process->core.modules[i]) call(process->core.modules[i], context);
}

/* Looks for a bias that is free. The address space below programs and libraries is free, so
 * it goes downwards; for a program at a low fixed address upwards. */
static bool new_copy(struct rt_process *process, int64_t *bias, bool counted)
{
    struct attempt where = {.low = !rt_threads_any_base()};
    each_started(process, look_where, &where);
    for (int tries = 0; tries < 1024; tries++) {
        int64_t distance = (int64_t)++process->threads.next_step * STEP;
        struct attempt attempt = {
            .bias = where.low ? distance : -distance, .ok = true, .counted = counted};
        each_started(process, try_module, &attempt);
        if (attempt.ok) {
            *bias = attempt.bias;
            return true;
        }
        each_started(process, undo_module, &attempt);
    }
    return false;
}

/* ---- copies and their owners ---- */

static bool is_gone(uint32_t tid)
{
    return rt_call(SYS_tgkill, (uint64_t)rt_getpid(), tid, 0, 0) < 0 && errno == ESRCH;
}

/* A copy without an owner: free, or its thread has ended and the kernel does not know it any
 * more. warm: one whose pages are there. Begins at the copy that was taken last: where threads
 * come and go, the owner of the next one ended longest ago, and is gone. */
static struct rt_region *abandoned(struct rt_process *process, bool warm)
{
    uint32_t count = process->threads.nregions, first = process->threads.last_taken;
    for (uint32_t i = 0; i < count; i++) {
        struct rt_region *region = &process->threads.regions[(first + i) % count];
        if (warm && !region->warm) continue;
        if (!region->tid) return region;
        if (region->tid == RT_NOBODY || region->tid == RT_LEFT) continue;
        if (!__atomic_load_n(&region->ended, __ATOMIC_ACQUIRE)) continue;
        if (is_gone(region->tid)) return region;
    }
    return NULL;
}

/* The copy that rt_adopt.c gave to a thread which was just beginning. */
static struct rt_region *given_to(struct rt_process *process, uint32_t tid)
{
    for (uint32_t i = 0; i < process->threads.nregions; i++)
        if (process->threads.regions[i].tid == tid) return &process->threads.regions[i];
    return NULL;
}

static bool has_room(struct rt_process *process)
{
    struct rt_threads_process *threads = &process->threads;
    return threads->nregions < RT_MOST_REGIONS &&
           rt_map_once((void **)&threads->regions, RT_MOST_REGIONS * sizeof *threads->regions);
}

/* The thread's copy, a free one or a new one. needs: the lock. */
static struct rt_region *find_region(struct rt_process *process, uint32_t tid)
{
    struct rt_region *region = given_to(process, tid);
    if (!region) region = abandoned(process, true);
    if (!region) region = abandoned(process, false);
    int64_t bias;
    if (!region && has_room(process) && new_copy(process, &bias, true)) {
        region = &process->threads.regions[process->threads.nregions];
        region->bias = bias;
        __atomic_store_n(&process->threads.nregions, process->threads.nregions + 1,
                         __ATOMIC_RELEASE);
    }
    if (region) {
        rt_fold_taken(process, region);
        process->threads.last_taken = (uint32_t)(region - process->threads.regions);
        region->tid = tid;
        region->ended = 0;
    }
    return region;
}

bool rt_threads_make_first(struct rt_process *process, int64_t *bias)
{
    rt_threads_lock(process, true);
    struct rt_region *region = find_region(process, rt_thread_id());
    rt_threads_unlock(process);
    if (region) *bias = region->bias;
    return region;
}

static void complain_of_space(struct rt_process *process)
{
    if (!__atomic_exchange_n(&process->core.complained, 1, __ATOMIC_RELAXED))
        rt_warn("no address space for a thread's counters; its counts may be lost", NULL);
}

static struct rt_region *give_copy(struct rt_process *process, uint32_t tid)
{
    rt_threads_lock(process, true);
    struct rt_region *region = find_region(process, tid);
    if (region) region->ended = RT_UNTOLD;
    rt_threads_unlock(process);
    return region;
}

bool rt_threads_give_copy(struct rt_process *process, uint32_t tid)
{
    struct rt_region *region = give_copy(process, tid);
    if (!region) complain_of_space(process);
    return region;
}

struct rt_region *rt_threads_ownerless(struct rt_process *process)
{
    return give_copy(process, RT_NOBODY);
}

/* needs: the lock. */
static void find_shared(struct rt_process *process)
{
    const struct rt_region *region = find_region(process, RT_NOBODY);
    if (region) __atomic_store_n(&process->threads.shared, region->bias, __ATOMIC_RELEASE);
}

/* Another thread may have had the pointer by which rt_self.c knows this one. needs: the lock, so
 * that no module is unloaded meanwhile. */
static void forget_masks(const struct rt_process *process)
{
    for (uint32_t i = 0; i < process->core.nmodules; i++)
        if (process->core.modules[i]) process->core.modules[i]->forget_masks();
}

static struct rt_region *take_region(struct rt_process *process)
{
    rt_threads_lock(process, true);
    forget_masks(process);
    struct rt_region *region = find_region(process, rt_thread_id());
    if (region && rt_gate_needs_copy(process)) find_shared(process);
    bool held = process->threads.held;
    rt_threads_unlock(process);
    while (held) {
        /* another thread writes the profile: this one must not count meanwhile */
        struct timespec moment = {0, 100000};
        syscall(SYS_nanosleep, &moment, NULL);
        held = __atomic_load_n(&process->threads.held, __ATOMIC_ACQUIRE);
    }
    return region;
}

static pthread_key_t ending;
static bool have_key;

static void thread_ends(void *region)
{
    rt_sample_thread_ends(&((struct rt_region *)region)->timer);
    rt_sample_count_rest();
    rt_fold_ending(region);
    if (rt_this.process) {
        rt_threads_lock(rt_this.process, true);
        forget_masks(rt_this.process);
        rt_threads_unlock(rt_this.process);
    }
    __atomic_store_n(&((struct rt_region *)region)->ended, RT_ENDED, __ATOMIC_RELEASE);
}

/* Has the runtime of another module, which stands in too, begun this thread already? */
static bool has_begun(const struct rt_process *process)
{
    int64_t bias = RT_LOCAL->core.bias;
    uint32_t count = __atomic_load_n(&process->threads.nregions, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; bias && i < count; i++)
        if (process->threads.regions[i].bias == bias)
            return process->threads.regions[i].tid == rt_thread_id();
    return false;
}

static void begin_thread(size_t stack_size)
{
    int saved = errno;
    (void)stack_size;
    if (has_begun(rt_this.process)) return;
    struct rt_region *region = take_region(rt_this.process);
    int64_t bias = region ? region->bias : 0;
    if (!region) complain_of_space(rt_this.process);
    if (rt_this.process->core.paused) bias = rt_this.process->threads.nowhere;
#ifdef RT_IN_EXECUTABLE
    if (region) rt_exe_shadow_thread(&region->shadow, bias, stack_size);
    if (!region) bias = RT_LOCAL->core.bias; /* goes on counting where its creator counts */
#endif
    rt_threads_set_base(bias);
    if (region && have_key) pthread_setspecific(ending, region);
    if (region) rt_sample_thread_begins(&region->timer, region->tid);
    if (region && !rt_is_confined()) rt_provide_signal_stack(&region->signal_stack);
    errno = saved;
}

int64_t rt_threads_own_bias(void)
{
    struct rt_process *process = rt_this.process;
    uint32_t self = rt_thread_id(),
             count = __atomic_load_n(&process->threads.nregions, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++)
        if (process->threads.regions[i].tid == self) return process->threads.regions[i].bias;
    return 0;
}

bool rt_threads_make_nowhere(void)
{
    struct rt_process *process = rt_this.process;
    rt_threads_lock(process, true);
    bool ok = process->threads.nowhere || new_copy(process, &process->threads.nowhere, false);
    rt_threads_unlock(process);
    return ok;
}

/* rt_share.c sets it where threads share counters. Then threads begin without us, and %gs
 * is left alone. */
const char rt_threads_share __attribute__((weak)) = 0;

#ifdef RT_IN_STATIC
/* ---- threads that static/ has seen ---- */

void rt_threads_begin(size_t stack_size)
{
    begin_thread(stack_size);
}

void rt_threads_end(void)
{
    struct rt_process *process = rt_this.process;
    struct rt_region *region = process ? given_to(process, rt_thread_id()) : NULL;
    if (region) thread_ends(region);
}

static void forget_starts(void)
{
}
#else
/* ---- standing in for pthread_create ---- */

struct start {
    union {
        void *(*pthread)(void *);
        int (*c11)(void *);
    };
    void *arg;
    size_t stack_size;
    uint32_t mask; /* of rt_mask.c */
    uint32_t used;
};

enum { MOST_STARTS = 256 };
RT_APART(struct start, rt_starts, 256 * 32); /* of threads not begun yet */

static bool take_slot(struct start *start)
{
    return !__atomic_load_n(&start->used, __ATOMIC_RELAXED) &&
           !__atomic_exchange_n(&start->used, 1, __ATOMIC_ACQUIRE);
}

/* The slot behind the last one that was taken mostly is free. */
static struct start *free_start(void)
{
    static uint32_t last;
    for (;;) {
        for (uint32_t i = 0; i < MOST_STARTS; i++) {
            uint32_t next = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED) % MOST_STARTS;
            if (take_slot(&rt_starts[next])) return &rt_starts[next];
        }
        sched_yield();
    }
}

static struct start *take_start(void *arg)
{
    struct start *start = free_start();
    start->arg = arg;
    start->stack_size = 0;
    start->mask = rt_mask_believed();
    return start;
}

static void give_start_back(struct start *start)
{
    __atomic_store_n(&start->used, 0, __ATOMIC_RELEASE);
}

static struct start begin(void *context)
{
    struct start *slot = context, start = *slot;
    give_start_back(slot);
    begin_thread(start.stack_size);
    rt_mask_believe(start.mask);
    return start;
}

static void *begin_pthread(void *context)
{
    struct start start = begin(context);
    return start.pthread(start.arg);
}

static int begin_c11(void *context)
{
    struct start start = begin(context);
    return start.c11(start.arg);
}

static bool threads_are_ours(void)
{
    return rt_this.process && !rt_threads_share;
}

int rt_create_thread(create_function *real, pthread_t *thread, const pthread_attr_t *attributes,
                     void *(*routine)(void *), void *arg)
{
    if (!threads_are_ours()) return real(thread, attributes, routine, arg);
    struct start *start = take_start(arg);
    start->pthread = routine;
#ifdef RT_IN_EXECUTABLE
    pthread_attr_t wider;
    bool widened = rt_exe_widen(&wider, attributes, &start->stack_size);
    int result = real(thread, widened ? &wider : attributes, begin_pthread, start);
    if (widened && !attributes) pthread_attr_destroy(&wider); /* a copy shares what it points to */
#else
    int result = real(thread, attributes, begin_pthread, start);
#endif
    if (result) give_start_back(start);
    return result;
}

#ifdef RT_IN_EXECUTABLE
static void *begin_c11_by_pthread(void *context)
{
    struct start *slot = context, start = *slot;
    give_start_back(slot);
    return (void *)(intptr_t)start.c11(start.arg);
}

/* As libc does: by pthread_create. Only there can the stack have a guard area of another size. */
static int create_c11_by_pthread(thrd_t *thread, thrd_start_t routine, void *arg)
{
    struct start *start = take_start(arg);
    start->c11 = routine;
    int result = pthread_create(thread, NULL, begin_c11_by_pthread, start);
    if (result) give_start_back(start);
    return result == 0 ? thrd_success : result == ENOMEM ? thrd_nomem : thrd_error;
}
#endif

int rt_create_c11_thread(c11_function *real, thrd_t *thread, thrd_start_t routine, void *arg)
{
    if (!threads_are_ours()) return real(thread, routine, arg);
#ifdef RT_IN_EXECUTABLE
    if (rt_exe_is_fixed()) return create_c11_by_pthread(thread, routine, arg);
#endif
    struct start *start = take_start(arg);
    start->c11 = routine;
    int result = real(thread, begin_c11, start);
    if (result != thrd_success) give_start_back(start);
    return result;
}

static void forget_starts(void)
{
    for (size_t i = 0; i < MOST_STARTS; i++) rt_starts[i].used = 0;
}
#endif

/* ---- modules ---- */

#ifdef RT_IN_EXECUTABLE
/* The copy that was made while the loader relocated this module. */
static bool has_early_copy(int64_t bias)
{
    return bias == rt_exe_early_bias();
}

static void map_early_copy(struct rt_module *module, void *context)
{
    struct rt_process *process = rt_this.process;
    if (module != &rt_this && has_started(module) && !map_copy(module, rt_exe_early_bias(), true))
        process->threads.incomplete = 1;
    (void)context;
}

/* The first thread of a process with a rewritten module counts in a copy, too. Makes that copy,
 * which this thread uses already, one of the process's. */
static void take_early_copy(struct rt_process *process)
{
    int64_t bias = rt_exe_early_bias();
    uint32_t step = (uint32_t)((bias < 0 ? -bias : bias) / STEP);
    uint32_t far = rt_exe_far_steps();
    rt_threads_lock(process, true);
    if (process->threads.next_step < far) process->threads.next_step = far;
    if (process->threads.next_step < step) process->threads.next_step = step;
    bool known = !bias;
    for (uint32_t i = 0; i < process->threads.nregions; i++)
        known |= process->threads.regions[i].bias == bias;
    if (!known && has_room(process)) {
        each_started(process, map_early_copy, NULL);
        process->threads.regions[process->threads.nregions] =
            (struct rt_region){.bias = bias, .tid = rt_thread_id()};
        __atomic_store_n(&process->threads.nregions, process->threads.nregions + 1,
                         __ATOMIC_RELEASE);
    }
    rt_threads_unlock(process);
}
#else
static bool has_early_copy(int64_t bias)
{
    (void)bias;
    return false;
}
#endif

/* The place of this module's part of some copy is taken, by memory of the program. To count there
 * would change it. So all copies are left as they are, and threads get others, where there is room
 * for all modules: rt_adopt.c. needs: the lock. */
static RT_SELDOM void leave_copies(struct rt_process *process, uint32_t mapped)
{
    struct rt_threads_process *threads = &process->threads;
    for (uint32_t i = 0; i < mapped; i++) unmap_copy(&rt_this, threads->regions[i].bias);
    for (uint32_t i = 0; i < threads->nregions; i++) {
        rt_fold_taken(process, &threads->regions[i]);
        threads->regions[i].warm = 0;
        threads->regions[i].tid = RT_LEFT;
    }
    rt_this.first_region = threads->nregions;
    __atomic_store_n(&threads->shared, 0, __ATOMIC_RELEASE);
}

#ifdef RT_IN_EXECUTABLE
static bool may_leave_copies(void)
{
    return false;
}
#else
static bool may_leave_copies(void)
{
    return true;
}
#endif

/* Maps this module's part of every copy that exists, and enters the module in the list. */
void rt_threads_start(void)
{
    struct rt_process *process = rt_process_get();
#ifndef RT_IN_STATIC
    rt_hide_from_helgrind(rt_starts, sizeof rt_starts);
#endif
    if (!process) {
        rt_warn("no memory to tell threads apart; counts of threads may be lost", NULL);
        return;
    }
    have_key = pthread_key_create(&ending, thread_ends) == 0;
    rt_threads_lock(process, true);
    unmap_orphans(process);
    rt_this.process = process;
    rt_live_join();
    if (process->threads.nowhere) map_copy(&rt_this, process->threads.nowhere, false);
    for (uint32_t i = 0; i < process->threads.nregions; i++)
        if (!has_early_copy(process->threads.regions[i].bias) &&
            !map_copy(&rt_this, process->threads.regions[i].bias, true)) {
            if (may_leave_copies()) {
                leave_copies(process, i);
                break;
            }
            process->threads.incomplete = 1;
            if (!process->core.complained++)
                rt_warn("no address space for counters of a loaded library in a running thread",
                        NULL);
        }
    for (size_t i = 0; i < RT_MOST_MODULES; i++)
        if (!process->core.modules[i]) {
            process->core.modules[i] = &rt_this;
            if (i >= process->core.nmodules) process->core.nmodules = (uint32_t)i + 1;
            break;
        }
    rt_threads_unlock(process);
#ifdef RT_IN_EXECUTABLE
    take_early_copy(process);
    process->exits.guarded = 1;
#endif
}

/* When the process ends, threads may still run and count: all copies stay. A library's part
 * of the copies stays too, until a later module sees that the library is gone: at the end of
 * a program that is not instrumented, destructors run as if the library were unloaded. */
void rt_threads_forget_module(bool process_ends)
{
    struct rt_process *process = rt_this.process;
    if (!process) return;
    if (process_ends) __atomic_store_n(&process->core.exiting, 1, __ATOMIC_RELEASE);
    if (process->core.exiting) return;
    bool no_folds = rt_fold_lock(process);
    rt_threads_lock(process, true);
    if (process->threads.norphans < RT_MOST_ORPHANS &&
        rt_map_once((void **)&process->threads.orphans,
                    RT_MOST_ORPHANS * sizeof *process->threads.orphans))
        process->threads.orphans[process->threads.norphans++] =
            (struct rt_orphan){rt_threads_span(&rt_this), &rt_this,
                               rt_this.first_region,      process->threads.nregions,
                               process->threads.nowhere,  rt_sparse_leave()};
    for (size_t i = 0; i < RT_MOST_MODULES; i++)
        if (process->core.modules[i] == &rt_this) process->core.modules[i] = NULL;
    rt_this.process = NULL;
    rt_threads_unlock(process);
    if (no_folds) rt_fold_unlock(process);
    if (have_key) pthread_key_delete(ending);
    have_key = false;
}

/* Frees the copies of threads that are not in the child. The thread that forked keeps its
 * own. While paused it is in none of them, and takes any, where counters are live: the sections
 * themselves are not in the file. */
void rt_threads_after_fork(void)
{
    struct rt_process *process = rt_this.process;
    if (!process) return;
    process->threads.lock = 0;
    process->threads.held = process->threads.stopping = process->threads.folding = 0;
    bool paused = process->core.paused && rt_is_live();
    for (uint32_t i = 0; i < process->threads.nregions; i++) {
        bool mine = paused || process->threads.regions[i].bias == RT_LOCAL->core.bias;
        if (process->threads.regions[i].tid == RT_NOBODY ||
            process->threads.regions[i].tid == RT_LEFT)
            continue;
        process->threads.regions[i].tid = mine ? rt_thread_id() : 0;
        paused = false;
        rt_fold_taken(process, &process->threads.regions[i]);
    }
    forget_starts();
}
