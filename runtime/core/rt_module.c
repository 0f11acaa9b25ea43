/* This module: where its counters are, its path and build-id, and what happens when it is
 * loaded and unloaded.
 *
 * Each instrumented executable and shared library has its own runtime. The runtimes find
 * each other by a note in their program headers. That works with every visibility of
 * symbols and however a library was loaded.
 *
 * Not handled: modules whose runtimes have other layouts (rt_module.version).
 */
#include "core/rt_call.h"
#include "core/rt_unwind.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#ifndef RT_IN_EXECUTABLE
RT_SECTION_BOUNDS(char, counters, FP_COUNTER_SECTION);
RT_SECTION_BOUNDS(char, tables, FP_HASH_SECTION);
RT_SECTION_BOUNDS(char, direct, FP_DIRECT_SECTION);
RT_SECTION_BOUNDS(char, gates, FP_GATE_SECTION);
#endif
RT_SECTION_BOUNDS(char, locals, "footpath_local");

extern const char hash_empty __asm__(FP_HASH_EMPTY_SYMBOL) FP_HIDDEN; /* rt_hash.c */

struct rt_local rt_local __attribute__((section("footpath_local"), used));

struct rt_module rt_this = {.version = 13};

/* A note of type 1 named "footpath". Its content is the distance from there to rt_this. */
__asm__(".pushsection .note.footpath,\"a\",@note\n"
        ".balign 4\n.long 9\n.long 8\n.long 1\n.asciz \"footpath\"\n.balign 4\n"
        "1: .quad rt_this - 1b\n.popsection\n");

struct module_search {
    void (*call)(struct rt_module *, void *);
    void *context;
};

/* Finds a note of a loaded object. A note is a header of three words, a name and a content,
 * each padded. */
static const unsigned char *find_note(const struct dl_phdr_info *info, const char *name,
                                      uint32_t type, size_t *len)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_NOTE) continue;
        const unsigned char *at = (const unsigned char *)(info->dlpi_addr + segment->p_vaddr);
        const unsigned char *end = at + segment->p_memsz;
        while (end - at >= 12) {
            uint32_t head[3];
            memcpy(head, at, sizeof head);
            const unsigned char *content = at + 12 + ((head[0] + 3u) & ~3u);
            if (content > end || head[1] > (size_t)(end - content)) break;
            if (head[2] == type && head[0] == strlen(name) + 1 && !memcmp(at + 12, name, head[0])) {
                *len = head[1];
                return content;
            }
            at = content + ((head[1] + 3u) & ~3u);
        }
    }
    return NULL;
}

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct module_search *search = context;
    size_t len;
    const unsigned char *note = find_note(info, "footpath", 1, &len);
    int64_t distance;
    if (!note || len != sizeof distance) return 0;
    memcpy(&distance, note, sizeof distance);
    search->call((struct rt_module *)(note + distance), search->context);
    return 0;
}

void rt_each_module(void (*call)(struct rt_module *, void *), void *context)
{
    struct module_search search = {call, context};
    dl_iterate_phdr(visit, &search);
}

/* ---- identity ---- */

struct rt_identity rt_program, *rt_identity = &rt_program;
static struct rt_identity library; /* in use where this module is not the program */
RT_APART(char, rt_library_path, 4096);

static void identify(const struct dl_phdr_info *info, struct rt_identity *id, char *room)
{
    size_t len;
    const unsigned char *build_id = find_note(info, "GNU", NT_GNU_BUILD_ID, &len);
    id->load_bias = info->dlpi_addr;
    id->build_id_len = build_id && len <= sizeof id->build_id ? len : 0;
    id->low = UINTPTR_MAX, id->high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
        if (segment->p_type != PT_LOAD) continue;
        if (start < id->low) id->low = start;
        if (end > id->high) id->high = end;
    }
    memcpy(id->build_id, build_id ? build_id : id->build_id, id->build_id_len);
    struct rt_text path = {room, 0, RT_LONGEST_PATH};
    id->path = room;
    if (info->dlpi_name && *info->dlpi_name) {
        if (info->dlpi_name[0] != '/' && strchr(info->dlpi_name, '/')) {
            rt_text_add(&path, rt_settings.folder);
            rt_text_add_char(&path, '/');
        }
        rt_text_add(&path, info->dlpi_name);
        return;
    }
    ssize_t got = rt_readlink("/proc/self/exe", room, RT_LONGEST_PATH - 1);
    if (got > 0) room[got] = 0;
}

static bool holds(const struct dl_phdr_info *info, const void *address)
{
    uintptr_t at = (uintptr_t)address - info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD &&
            at - info->dlpi_phdr[i].p_vaddr < info->dlpi_phdr[i].p_memsz)
            return true;
    return false;
}

static int visit_identity(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    bool *first = context, is_this = holds(info, &rt_this);
    if (*first) identify(info, &rt_program, rt_settings_names_left());
    if (!*first && is_this) identify(info, rt_identity = &library, rt_library_path);
    *first = false;
    return 0;
}

static void find_identities(void)
{
    bool first = true;
    dl_iterate_phdr(visit_identity, &first);
}

/* ---- life ---- */

static bool began_in_child; /* since the last fork, in a child */

/* The child's profile starts from 0. Each path in flight is counted once less, because it
 * began before the fork and will be counted when it ends. */
static void begin_in_child(void)
{
    struct rt_frame frame;
    began_in_child = true;
    rt_settings_new_run();
    rt_settings_share_run();
    rt_writer_after_fork();
    rt_threads_after_fork();
    rt_stop_after_fork();
    rt_self_after_fork();
    rt_sample_after_fork();
    rt_clear_counters();
    rt_in_flight_clear();
    rt_periodic_start(true);
    if (!rt_has_marks()) return;
    rt_unwind_here(&frame);
    for (; rt_unwind_look(&frame);)
        if (rt_frame_left(&frame, -1), !rt_unwind_step(&frame)) break;
}

static void before_fork(void)
{
    began_in_child = false;
    rt_sample_before_fork();
    rt_live_before_fork();
}

static void after_fork_in_parent(void)
{
    rt_sample_after_fork_in_parent();
    rt_live_forked();
}

/* The first module's handler does this for all modules, and holds signals meanwhile: a
 * signal that ends the child writes either nothing, because the run is still the parent's,
 * or counts that are all the child's. */
static void after_fork_in_child(void)
{
    struct rt_held held;
    struct rt_process *process = rt_this.process;
    if (began_in_child || rt_is_confined()) return;
    rt_hold_signals(&held);
    /* in a pid namespace of its own the child may have its parent's number */
    if (process) process->core.run_pid = 0;
    rt_live_after_fork();
    for (size_t i = 0; process && i < RT_MOST_MODULES; i++)
        if (process->core.modules[i]) process->core.modules[i]->begin_in_child();
    if (!began_in_child) begin_in_child();
    rt_release_signals(&held);
    rt_live_forked();
}

/* What pthread_atfork calls. That is in libc_nonshared.a, which stands in front of the runtime
 * where a library is linked by -nostdlib and -lc: nothing would define it. */
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);
extern char __dso_handle[] FP_HIDDEN; /* runtime/exits/rt_end.c */

/* libc may call a handler of a library that another thread is unloading. So where the program sees
 * forks, for all modules, a library that is loaded later does not ask for them. */
static void watch_forks(void)
{
    struct rt_process *process = rt_this.process;
    if (process && process->core.sees_forks) return;
    __register_atfork(before_fork, after_fork_in_parent, after_fork_in_child, __dso_handle);
    if (process && rt_is_program()) process->core.sees_forks = 1;
}

static void take_over(void)
{
    rt_end_watch();
    rt_periodic_start(false);
}

/* Where the counters are: the linker knows, or the record of a rewritten file. */
void rt_module_find_ranges(void)
{
#ifdef RT_IN_EXECUTABLE
    rt_exe_find_ranges();
#else
    rt_this.ranges[RT_COUNTERS] = (struct rt_range){counters_start, counters_end};
    rt_this.ranges[RT_TABLES] = (struct rt_range){tables_start, tables_end};
    rt_this.ranges[RT_DIRECT] = (struct rt_range){direct_start, direct_end};
    rt_this.ranges[RT_GATES] = (struct rt_range){gates_start, gates_end};
#endif
    rt_this.ranges[RT_LOCALS] = (struct rt_range){locals_start, locals_end};
    rt_this.local = &rt_local;
    rt_this.empty = &hash_empty;
}

/* Early among constructors: exit handlers run in reverse order, so ours run after the
 * program's. In a rewritten file `footpath exe` makes them the first. */
#ifdef RT_IN_EXECUTABLE
#define STARTS RT_ENTRY
#define FINISHES RT_ENTRY
void rt_start(int count, char **arguments, char **environment) FP_HIDDEN;
void rt_finish(void) FP_HIDDEN;
#else
#define STARTS __attribute__((constructor(101))) RT_ENTRY static
#define FINISHES __attribute__((destructor(101))) RT_ENTRY static
#endif

STARTS void rt_start(int count, char **arguments, char **environment)
{
    int saved = errno;
    rt_arguments_note(count, arguments, environment);
    rt_settings_environment(environment);
    rt_module_find_ranges();
    for (int i = 0; i < RT_NRANGES; i++)
        rt_hide_from_helgrind(rt_this.ranges[i].start,
                              (size_t)(rt_this.ranges[i].end - rt_this.ranges[i].start));
    rt_self_start();
    rt_this.frame_left = rt_frame_left;
    rt_this.write = rt_write_profile;
    rt_this.clear = rt_clear_counters;
    rt_this.begin_in_child = begin_in_child;
    rt_this.forget_left = rt_in_flight_clear;
    rt_this.place_is_certain = rt_place_is_certain;
    rt_this.set_output = rt_settings_set_output;
    rt_this.take_over = take_over;
    rt_this.confine = rt_confine_module;
    rt_this.fold_arrays = rt_sparse_fold;
    rt_this.forget_masks = rt_mask_forget;
#ifdef RT_IN_EXECUTABLE
    rt_this.exe_fault = rt_exe_fault;
#endif
    rt_settings_read();
    find_identities();
    rt_threads_start();
    rt_settings_share_run();
    rt_settings_share_output();
    rt_live_start();
    if (rt_this.process) rt_adopt_threads();
    rt_end_at_quick_exit();
    rt_end_watch();
    rt_sample_start();
    rt_periodic_start(false);
    watch_forks();
    errno = saved;
}

bool rt_is_program(void)
{
    return rt_identity == &rt_program;
}

/* Does some module count the paths in flight? Another one may write its profile here too. */
static bool frames_matter(void)
{
    return rt_has_marks() || !rt_this.process || rt_this.process->core.nmodules > 1;
}

/* Late among destructors: runs at exit and when a library is unloaded. */
FINISHES void rt_finish(void)
{
    if (rt_is_confined()) return;
    int saved = errno;
    struct rt_frame frame, *here = frames_matter() ? &frame : NULL;
    if (here) rt_unwind_here(here);
    bool process_ends = rt_is_program();
    bool goes = !process_ends && !(rt_this.process && rt_this.process->core.exiting);
    rt_sample_forget_module(process_ends);
    if (goes) rt_periodic_forget_module();
    rt_write_profile(RT_AT_END, here);
    if (goes) rt_end_forget_module();
    if (goes) rt_stop_forget_module();
    rt_threads_forget_module(process_ends);
#ifdef RT_IN_EXECUTABLE
    if (goes) rt_exe_unregister();
#endif
    errno = saved;
}
