/* Live counters: with FOOTPATH_LIVE everything that counts lies in a file that is mapped from the
 * start (rt_livefile.c), so that what was counted outlives the process, whatever ends it. The code
 * of the program is the same: it adds the base of %gs to the address of a counter, and the base
 * may be anything.
 *
 * In a live process the first thread counts in a copy of the counters, as other threads always
 * do, and all copies, levels and arrays are memory of the file. The program's own data never is:
 * it is shared with no other process. What was counted before is moved into the first copy.
 *
 * The child of a fork has its parent's file mapped until rt_live_after_fork, which is called
 * before code of the program runs and with all signals held. It gives the child a file of its own.
 *
 * A module's part in the file ends when its record is in the profile. With the last one the file
 * is removed.
 *
 * Not handled, and refused with one line: modules whose threads share counters
 * (--fp-threads=shared, atomic), sampled paths, rewritten executables, privileged programs.
 * Children made by a bare clone or _Fork count in their parent's file.
 */
#include "core/rt_file.h"
#include "footpath/live_abi.h"
#include "rt.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* footpath-cc --fp-live links another definition (rt_livelink.c). */
extern char __footpath_live[];
char __footpath_live[1] __attribute__((weak)) FP_HIDDEN = "";

static bool is_wanted(void)
{
    const char *wish = rt_variable("FOOTPATH_LIVE");
    if (!wish || !*wish) wish = __footpath_live;
    return *wish && strcmp(wish, "0");
}

/* rt_share.c defines it too, and is linked where threads share counters, which are not relative to
 * %gs then. Not const: the compiler would take this definition for the only one. */
extern char rt_live_shared;
char rt_live_shared __attribute__((weak)) FP_HIDDEN = 0;

#ifdef RT_IN_EXECUTABLE

void rt_live_join(void)
{
}

void rt_live_start(void)
{
    if (is_wanted() && rt_output_wanted(&rt_program))
        rt_warn("FOOTPATH_LIVE is not for executables that footpath exe has rewritten", NULL);
}

void rt_live_after_fork(void)
{
}

void rt_live_before_fork(void)
{
}

void rt_live_forked(void)
{
}

void rt_live_map_copy(const struct rt_module *module, char *place, size_t len, int64_t bias)
{
    (void)module, (void)place, (void)len, (void)bias;
}

void rt_live_forget_copy(const char *place, int64_t bias)
{
    (void)place, (void)bias;
}

void rt_live_written(void)
{
}

void rt_live_map_left(char *place, size_t len)
{
    (void)place, (void)len;
}

void rt_live_renew_left(char *place, size_t len)
{
    (void)place, (void)len;
}

bool rt_is_live(void)
{
    return false;
}

void *rt_live_take(size_t size)
{
    (void)size;
    return NULL;
}

void *rt_live_take_array(size_t size)
{
    (void)size;
    return NULL;
}

char *rt_live_next_data(int *fd, char *at, char *end)
{
    (void)fd, (void)end;
    return at;
}

bool rt_live_holds(const void *place)
{
    (void)place;
    return false;
}

#else

static struct rt_live *live_of_process(void)
{
    struct rt_process *process = rt_this.process;
    return process && process->core.live.head ? &process->core.live : NULL;
}

bool rt_is_live(void)
{
    return live_of_process();
}

/* ---- modules ---- */

static bool counts(const struct rt_module *module)
{
    return module->ranges[RT_COUNTERS].start != module->ranges[RT_COUNTERS].end ||
           module->ranges[RT_TABLES].start != module->ranges[RT_TABLES].end;
}

/* Calls with every part that is valid or free. */
static void each_part(const struct rt_live *live, void (*call)(struct fp_live_part *, void *),
                      void *context)
{
    char *base = (char *)live->head;
    for (uint64_t at = live->head->parts; at; at = ((struct fp_live_list *)(base + at))->next) {
        struct fp_live_list *list = (struct fp_live_list *)(base + at);
        uint64_t taken = __atomic_load_n(&list->taken, __ATOMIC_ACQUIRE);
        for (uint64_t i = 0; i < taken; i++)
            if (__atomic_load_n(&list->parts[i].state, __ATOMIC_ACQUIRE) >= FP_LIVE_READY)
                call(&list->parts[i], context);
    }
}

static struct fp_live_module *module_at(uint64_t at)
{
    return (struct fp_live_module *)((char *)live_of_process()->head + at);
}

/* Of the library that is loaded now: what the file has of earlier times. */
struct earlier {
    const struct rt_buffer *about;
    uint64_t times;
    struct fp_live_module *last;
    bool in_use; /* the last one has parts that are valid */
};

static void look_for_earlier(struct fp_live_part *part, void *context)
{
    struct earlier *earlier = context;
    struct fp_live_module *m = module_at(part->module);
    if (part->kind != FP_LIVE_MODULE && part->state == FP_LIVE_READY && m == earlier->last)
        earlier->in_use = true;
    if (part->kind != FP_LIVE_MODULE || m->run != FP_LIVE_WRITTEN ||
        m->about_len != earlier->about->len || m->earlier + 1 < earlier->times ||
        memcmp((char *)(m + 1) + m->begin_len, earlier->about->bytes, m->about_len))
        return;
    *earlier = (struct earlier){earlier->about, m->earlier + 1, m, false};
}

/* Nothing of it is valid for tools before the last store. */
static void describe(struct fp_live_module *m, uint64_t earlier, const struct rt_buffer *begin,
                     const struct rt_buffer *about)
{
    const struct rt_range *ranges = rt_this.ranges;
    *m = (struct fp_live_module){
        .run = FP_LIVE_WRITTEN,
        .earlier = earlier,
        .span = (uint64_t)rt_threads_span(&rt_this).start,
        .counters = (uint64_t)ranges[RT_COUNTERS].start,
        .counters_end = (uint64_t)ranges[RT_COUNTERS].end,
        .tables = (uint64_t)ranges[RT_TABLES].start,
        .tables_end = (uint64_t)ranges[RT_TABLES].end,
        .direct = (uint64_t)ranges[RT_DIRECT].start,
        .direct_end = (uint64_t)ranges[RT_DIRECT].end,
        .begin_len = begin->len,
        .about_len = about->len,
    };
    memcpy(m + 1, begin->bytes, begin->len);
    memcpy((char *)(m + 1) + begin->len, about->bytes, about->len);
    __atomic_store_n(&m->run, FP_LIVE_COUNTS, __ATOMIC_RELEASE);
}

static struct fp_live_module *new_module(struct rt_live *live, size_t len)
{
    struct fp_live_module *m = rt_live_take(len);
    struct fp_live_part *part = m ? rt_livefile_part(live) : NULL;
    if (!part) return NULL;
    m->run = FP_LIVE_WRITTEN;
    part->kind = FP_LIVE_MODULE;
    part->at = part->module = (uint64_t)((char *)m - (char *)live->head);
    part->len = len;
    __atomic_store_n(&part->state, FP_LIVE_READY, __ATOMIC_RELEASE);
    return m;
}

static void enter_module(struct rt_live *live)
{
    struct rt_buffer begin = {0}, about = {0};
    rt_put_begin(&begin, FP_RUN_SIGNALLED | FP_RUN_KILLED);
    rt_put_about(&about, rt_identity, &rt_program);
    struct earlier earlier = {.about = &about};
    if (!begin.failed && !about.failed) {
        each_part(live, look_for_earlier, &earlier);
        if (earlier.last) each_part(live, look_for_earlier, &earlier); /* copies in front of it */
        struct fp_live_module *m =
            earlier.last && !earlier.in_use
                ? earlier.last
                : new_module(live, sizeof(struct fp_live_module) + begin.len + about.len);
        if (m) describe(m, earlier.times, &begin, &about);
        rt_this.live = m ? (uint64_t)((char *)m - (char *)live->head) : 0;
    }
    rt_buffer_free(&begin);
    rt_buffer_free(&about);
}

/* In the child of a fork this module's run is still the parent's. That of a library which is being
 * loaded is not the process's yet. */
static void take_names(void)
{
    if (rt_this.process->core.run_pid != rt_settings.pid) rt_settings_new_run();
    rt_settings_share_run();
}

/* Enters this module in the file, which is new where the process was forked. */
static void begin_module(void)
{
    struct rt_live *live = live_of_process();
    rt_this.live = 0;
    take_names();
    rt_hash_begin_live();
    if (live && counts(&rt_this) && !rt_live_shared) enter_module(live);
    rt_in_flight_renew();
    if (live && counts(&rt_this) && rt_live_shared &&
        !__atomic_exchange_n(&live->complained, 1, __ATOMIC_RELAXED))
        rt_warn(rt_identity->path,
                " is built with --fp-threads=shared or atomic; its counts are "
                "lost if the program is killed",
                NULL);
}

static void look_for_counting(struct fp_live_part *part, void *context)
{
    if (part->kind == FP_LIVE_MODULE && module_at(part->at)->run == FP_LIVE_COUNTS)
        *(bool *)context = true;
}

void rt_live_written(void)
{
    struct rt_live *live = live_of_process();
    bool counting = false;
    if (!live || !rt_this.live) return;
    __atomic_store_n(&module_at(rt_this.live)->run, FP_LIVE_WRITTEN, __ATOMIC_RELEASE);
    each_part(live, look_for_counting, &counting);
    if (counting) return;
    live->complained = 1; /* a file that is gone does not grow, and need not */
    live->removed = 1;
    rt_livefile_remove(live);
}

/* ---- copies ---- */

struct wanted_part {
    uint32_t kind;
    uint64_t len;
    struct fp_live_part *found;
};

static void look_for_free(struct fp_live_part *part, void *context)
{
    struct wanted_part *wanted = context;
    uint32_t is_free = FP_LIVE_FREE;
    if (!wanted->found && part->kind == wanted->kind && part->len == wanted->len &&
        __atomic_compare_exchange_n(&part->state, &is_free, FP_LIVE_BUSY, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
        wanted->found = part;
}

/* A part of the file, all 0, that is not valid yet. */
static struct fp_live_part *take_part(const struct rt_live *live, uint32_t kind, size_t len)
{
    struct wanted_part wanted = {.kind = kind, .len = len};
    char *base = (char *)live->head;
    each_part(live, look_for_free, &wanted);
    if (wanted.found) {
        memset(base + wanted.found->at, 0, len);
        return wanted.found;
    }
    char *taken = rt_live_take(len);
    struct fp_live_part *part = taken ? rt_livefile_part(live) : NULL;
    if (!part) return NULL;
    part->kind = kind;
    part->at = (uint64_t)(taken - base);
    part->len = len;
    return part;
}

/* Maps a part of the file, which is mapped as a whole, a second time: no descriptor is needed. */
static bool map_again(char *from, size_t len, char *place)
{
    return syscall(SYS_mremap, from, 0L, len, MREMAP_MAYMOVE | MREMAP_FIXED, place) ==
           (long)(uintptr_t)place;
}

/* Copies the pages that have something in them: one that is written to takes memory. */
static void copy_pages(char *to, const char *from, size_t len)
{
    static const char zeros[RT_PAGE];
    for (size_t at = 0; at < len; at += RT_PAGE)
        if (memcmp(from + at, zeros, RT_PAGE)) memcpy(to + at, from + at, RT_PAGE);
}

/* Puts a part of the file in the place of memory, with what is there; `fresh` memory is all 0, and
 * to look would cost. False: the memory is what it was, and a line was written. */
static bool put_part(char *place, size_t len, uint32_t kind, uint64_t module, int64_t bias,
                     bool fresh)
{
    struct rt_live *live = live_of_process();
    struct fp_live_part *part = live && module ? take_part(live, kind, len) : NULL;
    if (!part) return false;
    char *made = (char *)live->head + part->at;
    part->module = module;
    part->bias = bias;
    if (!fresh) copy_pages(made, place, len);
    bool ok = map_again(made, len, place);
    __atomic_store_n(&part->state, ok ? FP_LIVE_READY : FP_LIVE_FREE, __ATOMIC_RELEASE);
    if (!ok) __atomic_fetch_add(&live->head->outside, 1, __ATOMIC_RELAXED);
    return ok;
}

static bool put_in_place(char *place, size_t len, uint32_t kind, uint64_t module, int64_t bias)
{
    return put_part(place, len, kind, module, bias, false);
}

void rt_live_map_copy(const struct rt_module *module, char *place, size_t len, int64_t bias)
{
    put_part(place, len, FP_LIVE_COPY, module->live, bias, true);
}

void rt_live_map_left(char *place, size_t len)
{
    put_in_place(place, len, FP_LIVE_LEFT, rt_this.live, 0);
}

struct forgotten {
    uint64_t span;
    int64_t bias;
};

static void forget_part(struct fp_live_part *part, void *context)
{
    const struct forgotten *gone = context;
    const struct fp_live_module *m = module_at(part->module);
    if (part->kind == FP_LIVE_COPY && part->state == FP_LIVE_READY && part->bias == gone->bias &&
        m->span == gone->span && m->run == FP_LIVE_WRITTEN)
        __atomic_store_n(&part->state, FP_LIVE_FREE, __ATOMIC_RELEASE);
}

void rt_live_forget_copy(const char *place, int64_t bias)
{
    struct rt_live *live = live_of_process();
    struct forgotten gone = {(uint64_t)(place - bias), bias};
    if (live) each_part(live, forget_part, &gone);
}

/* ---- the start ---- */

struct moved_words {
    uint64_t *first;
    int64_t bias;
};

static void move_word(uint64_t number, uint64_t count, void *context)
{
    const struct moved_words *words = context;
    uint64_t *word = words->first + number - 1;
    *(uint64_t *)((char *)word + words->bias) += count;
    *word = 0;
}

/* Pages that nobody has written to stay as they are: most of them, before the program begins. */
static void add_words(struct rt_pagemap *map, const struct rt_range *range, int64_t bias)
{
    struct moved_words words = {(uint64_t *)range->start, bias};
    rt_words_each(map, range, move_word, &words);
}

static void count_again(uint64_t key, uint64_t count, void *table)
{
    rt_hash_count((uint64_t)table, key, count);
}

static void move_table(struct fp_hash_table *table)
{
    struct rt_range array = rt_sparse_array(table);
    rt_hash_each(table, count_again, table);
    rt_hash_clear(table);
    for (uint64_t *word = (uint64_t *)array.start; word < (uint64_t *)array.end; word++)
        if (*word) {
            count_again((uint64_t)(word - (uint64_t *)array.start) + 1, *word, table);
            *word = 0;
        }
}

/* Moves what the first thread has counted in the module's own sections into its copy. */
static void move_counts(const struct rt_module *module, int64_t bias)
{
    const struct rt_range *tables = &module->ranges[RT_TABLES];
    struct rt_pagemap map;
    if (!module->live) return;
    rt_pagemap_open(&map);
    add_words(&map, &module->ranges[RT_COUNTERS], bias);
    for (char *at = tables->start; at < tables->end; at += FP_HASH_TABLE_SIZE)
        move_table((struct fp_hash_table *)at);
    add_words(&map, &module->ranges[RT_DIRECT], bias);
    rt_pagemap_close(&map);
}

static void each_module(void (*call)(struct rt_module *module, int64_t bias), int64_t bias)
{
    struct rt_process *process = rt_this.process;
    for (size_t i = 0; i < process->core.nmodules; i++)
        if (process->core.modules[i]) call(process->core.modules[i], bias);
}

static void begin_one(struct rt_module *module, int64_t bias)
{
    (void)bias;
    module->live_begin();
}

/* What the thread has in its own sections beside counts. */
static void copy_state(struct rt_module *module, int64_t bias)
{
    const int kept[] = {RT_LOCALS, RT_GATES};
    for (int i = 0; i < 2; i++) {
        const struct rt_range *range = &module->ranges[kept[i]];
        if (range->start != range->end)
            memcpy(range->start + bias, range->start, (size_t)(range->end - range->start));
    }
    *(int64_t *)((char *)&module->local->core.bias + bias) = bias;
}

static void move_one(struct rt_module *module, int64_t bias)
{
    move_counts(module, bias);
}

static void move_copy(struct rt_module *module, int64_t bias)
{
    struct rt_range span = rt_threads_span(module);
    put_in_place(span.start + bias, (size_t)(span.end - span.start), FP_LIVE_COPY, module->live,
                 bias);
}

/* Constructors of libraries may have made threads. Copies of those that are gone come into the
 * file; what the others count stays in memory, and levels, too. */
static void move_older_copies(struct rt_process *process)
{
    struct rt_live *live = &process->core.live;
    for (uint32_t i = 0; i < process->threads.nregions; i++) {
        const struct rt_region *region = &process->threads.regions[i];
        if (region->tid != RT_LEFT && (region->ended == RT_ENDED || !region->tid))
            each_module(move_copy, region->bias);
        else if (live->head->outside++ == 0)
            rt_warn("threads were there before the program began; their counts are lost if it is "
                    "killed",
                    NULL);
    }
}

/* Gives this thread a copy in the file. Signals are held: nothing is counted meanwhile. */
static bool begin_first_copy(struct rt_process *process)
{
    int64_t bias;
    each_module(begin_one, 0);
    move_older_copies(process);
    if (!rt_threads_make_first(process, &bias)) return false;
    each_module(copy_state, bias);
    rt_threads_set_base(bias);
    each_module(move_one, bias);
    return true;
}

static const char *why_refused(const struct rt_process *process)
{
    if (rt_settings.privileged) return "the program has other rights than its user";
    if (rt_live_shared) return "the program is built with --fp-threads=shared or atomic";
    bool samples = rt_sample_has();
    for (size_t i = 0; i < process->core.nmodules; i++)
        samples |= process->core.modules[i] && process->core.modules[i]->sampling;
    return samples ? "the program has sampled paths" : NULL;
}

static void look_for_unstarted(struct rt_module *module, void *context)
{
    if (!module->process) *(bool *)context = true;
}

/* Code of a module must not run before the module's part of this thread's copy is there. So
 * everything that is loaded together becomes live at once, when the last of the modules starts.
 * With a program that is the program. */
static bool is_time(void)
{
    bool waits = false;
    rt_each_module(look_for_unstarted, &waits);
    return !waits;
}

/* Such as the name of a folder. */
static void warn_of_other_wish(void)
{
    const char *wish = rt_variable("FOOTPATH_LIVE");
    if (wish && *wish && strcmp(wish, "1"))
        rt_warn("FOOTPATH_LIVE=", wish,
                " is neither 0 nor 1; counters are live, in a file beside the profile", NULL);
}

static void start(struct rt_process *process)
{
    struct rt_live *live = &process->core.live;
    struct rt_held held;
    const char *why = why_refused(process);
    live->tried = 1;
    if (!why) warn_of_other_wish();
    if (why) rt_warn("counters are not live: ", why, NULL);
    if (why || !rt_livefile_make(live)) return;
    rt_hold_signals(&held);
    bool ok = begin_first_copy(process);
    rt_release_signals(&held);
    if (ok && rt_livefile_publish(live)) return;
    rt_warn("cannot count in ", live->head->path, "; counts are lost if the program is killed",
            NULL);
    rt_livefile_remove(live);
}

static void keep_module(struct fp_live_part *part, void *context)
{
    const struct rt_live *old = context;
    if (part->kind != FP_LIVE_MODULE) return;
    struct fp_live_module *m = new_module(live_of_process(), part->len);
    if (m) memcpy(m, (const char *)old->head + part->at, part->len);
}

/* A program that is not instrumented has unloaded its last library, and now loads one: the file
 * is gone, so there is another. It keeps what was known of the modules: how many records of this
 * run the profile has of each. Copies of libraries that may still be there lead to the old one. */
static void begin_again(struct rt_process *process)
{
    struct rt_live *live = &process->core.live, old = *live;
    take_names();
    *live = (struct rt_live){.tried = 1};
    if (rt_livefile_make(live)) {
        each_part(&old, keep_module, &old);
        if (!rt_livefile_publish(live)) live->removed = 1;
    }
    if (!process->threads.norphans) munmap(old.head, old.size);
}

void rt_live_join(void)
{
    rt_this.live_begin = begin_module;
    if (rt_is_live() && live_of_process()->removed) begin_again(rt_this.process);
    if (rt_is_live()) begin_module();
}

void rt_live_start(void)
{
    struct rt_process *process = rt_this.process;
    int saved = errno;
    if (process && !process->core.live.tried && is_wanted() && rt_output_wanted(&rt_program) &&
        is_time())
        start(process);
    errno = saved;
}

/* ---- fork ---- */

/* The mask of the thread that forks is not in rt_local, which is memory of the file: the parent
 * changes it there before the child has read it. */
void rt_live_before_fork(void)
{
    struct rt_held held;
    if (!rt_is_live() || rt_is_confined() || rt_self_with(RT_FORKS)) return;
    rt_hold_signals(&held);
    struct rt_self *self = rt_self_take(RT_FORKS);
    if (self)
        self->core.mask_before_fork = held.mask;
    else
        rt_release_signals(&held);
}

void rt_live_forked(void)
{
    const struct rt_self *self = rt_self_with(RT_FORKS);
    if (!self) return;
    struct rt_held held = {.mask = self->core.mask_before_fork};
    rt_self_drop(RT_FORKS);
    rt_release_signals(&held);
}

/* Memory of this process alone, all 0, in the place of memory that is the parent's file. Where
 * there is none, the child counts on in the parent's. */
static char *new_memory(size_t len)
{
    char *made =
        mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return made == MAP_FAILED ? NULL : made;
}

static bool move_to(char *made, size_t len, char *place)
{
    return syscall(SYS_mremap, made, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, place) ==
           (long)(uintptr_t)place;
}

static void each_copy(void (*call)(struct rt_module *module, int64_t bias))
{
    const struct rt_process *process = rt_this.process;
    for (uint32_t i = 0; i < process->threads.nregions; i++)
        for (size_t k = 0; k < process->core.nmodules; k++) {
            struct rt_module *module = process->core.modules[k];
            if (module && i >= module->first_region) call(module, process->threads.regions[i].bias);
        }
}

/* No address space is left beside the new file: the child counts in memory. */
static void give_up(struct rt_live *live)
{
    struct rt_live made = *live;
    if (!made.head) return;
    rt_warn("cannot count in ", made.head->path,
            ": no address space; counts are lost if the program is killed", NULL);
    rt_livefile_remove(&made);
    *live = (struct rt_live){.tried = 1};
    each_module(begin_one, 0);
    munmap(made.head, made.size);
}

/* Puts new memory in the place of a copy, with what the thread has there beside counts. */
static void renew_copy(struct rt_module *module, int64_t bias)
{
    const int kept[] = {RT_LOCALS, RT_GATES};
    struct rt_range span = rt_threads_span(module);
    size_t len = (size_t)(span.end - span.start);
    char *place = span.start + bias, *made = new_memory(len);
    if (!made) {
        give_up(&rt_this.process->core.live);
        made = new_memory(len);
    }
    for (int i = 0; made && i < 2; i++) {
        const struct rt_range *range = &module->ranges[kept[i]];
        if (range->start != range->end)
            memcpy(made + (range->start - span.start), range->start + bias,
                   (size_t)(range->end - range->start));
    }
    if (!made || !move_to(made, len, place)) return;
    put_in_place(place, len, FP_LIVE_COPY, module->live, bias);
    rt_hash_empty_copy(module, bias);
}

void rt_live_renew_left(char *place, size_t len)
{
    char *made = new_memory(len);
    if (!made) return;
    memcpy(made, place, len);
    if (move_to(made, len, place)) rt_live_map_left(place, len);
}

/* What libraries that were unloaded have left is memory of the parent's file, too, and would keep
 * its lock as long as the child runs. */
static void renew_orphans(const struct rt_threads_process *threads)
{
    for (uint32_t i = 0; !threads->incomplete && i < threads->norphans; i++) {
        const struct rt_orphan *orphan = &threads->orphans[i];
        size_t len = (size_t)(orphan->span.end - orphan->span.start);
        for (uint32_t k = orphan->first_region; k < orphan->nregions; k++) {
            char *place = orphan->span.start + threads->regions[k].bias, *made = new_memory(len);
            if (!made) return;
            copy_pages(made, place, len);
            move_to(made, len, place);
        }
    }
}

/* The names of the run are new first: the file is named by them, and all modules take them. The
 * parent's file goes before a new one comes, so that the child needs no more address space than the
 * parent. Copies are mappings of their own. */
void rt_live_after_fork(void)
{
    struct rt_live *live = live_of_process(), parents;
    if (!live) return;
    parents = *live;
    rt_settings_new_run();
    rt_settings_share_run();
    *live = (struct rt_live){.tried = 1};
    munmap(parents.head, parents.size);
    rt_livefile_make(live);
    each_module(begin_one, 0);
    each_copy(renew_copy);
    renew_orphans(&rt_this.process->threads);
    if (live->head) rt_livefile_publish(live);
}

#endif
