/* The runtime: linked into the program that is measured, once per executable or
 * shared library. It depends on libc and on footpath/abi.h alone.
 *
 * It never aborts the program, never changes its exit status, uses no malloc and
 * no stdio, and has no symbol that a program could collide with: all are hidden
 * or begin with __footpath.
 */
#ifndef FP_RT_H
#define FP_RT_H

#include "footpath/abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <sys/types.h>
#include <ucontext.h>

#define FP_HIDDEN __attribute__((visibility("hidden")))

/* NAME_start and NAME_end: the bounds of this module's section, made by the linker. Both
 * are NULL where the module has no such section.
 *
 * The symbols must be hidden: otherwise a module without the section is bound to the
 * section of another module. gcc drops the attribute of a declaration that has an asm
 * name, so the assembler is told as well. */
#define RT_SECTION_BOUNDS(type, name, section)                                              \
    extern type name##_start[] __asm__("__start_" section) __attribute__((weak)) FP_HIDDEN; \
    extern type name##_end[] __asm__("__stop_" section) __attribute__((weak)) FP_HIDDEN;    \
    __asm__(".hidden __start_" section "\n.hidden __stop_" section "\n")

/* Of functions that the program or libc calls: it may do so on a stack that is not
 * aligned to 16 bytes (interrupt handlers, hand-written code), and we call libc. */
#define RT_ENTRY __attribute__((force_align_arg_pointer))

/* ---- text without stdio: rt_text.c ---- */

struct rt_text {
    char *at;
    size_t len, size;
};

void rt_text_add(struct rt_text *text, const char *string) FP_HIDDEN;
void rt_text_add_char(struct rt_text *text, char c) FP_HIDDEN;
void rt_text_add_number(struct rt_text *text, uint64_t value) FP_HIDDEN;
void rt_text_add_hex(struct rt_text *text, uint64_t value, unsigned digits) FP_HIDDEN;

/* One line on stderr: "footpath: A B C"; parts up to a NULL. */
void rt_warn(const char *part, ...) FP_HIDDEN;

/* Is stderr read by a person? */
bool rt_somebody_reads(void) FP_HIDDEN;

/* ---- signals while we write: rt_signals.c ---- */

struct rt_held {
    uint64_t mask, pending; /* as they were before */
    uint64_t raised;        /* by our own writes */
};

/* Between the two this thread takes no signal. */
void rt_hold_signals(struct rt_held *held) FP_HIDDEN;
void rt_release_signals(const struct rt_held *held) FP_HIDDEN;
/* A write failed with that error. */
void rt_note_raised(struct rt_held *held, int error) FP_HIDDEN;
uint64_t rt_signals_pending(void) FP_HIDDEN;

/* ---- a growing buffer of packed integers: rt_buffer.c ---- */

struct rt_buffer {
    unsigned char *bytes; /* from mmap */
    size_t len, cap;
    bool failed; /* no memory: what follows is dropped */
};

void rt_put_bytes(struct rt_buffer *buffer, const void *bytes, size_t len) FP_HIDDEN;
void rt_put_uint(struct rt_buffer *buffer, uint64_t value) FP_HIDDEN;
void rt_put_int(struct rt_buffer *buffer, int64_t value) FP_HIDDEN;
void rt_put_u32(struct rt_buffer *buffer, uint32_t value) FP_HIDDEN;
void rt_put_u64(struct rt_buffer *buffer, uint64_t value) FP_HIDDEN;
void rt_put_string(struct rt_buffer *buffer, const char *string) FP_HIDDEN;
void rt_buffer_free(struct rt_buffer *buffer) FP_HIDDEN;

/* Memory that threads share without locks: see rt_valgrind.c. */
void rt_hide_from_helgrind(const void *start, size_t len) FP_HIDDEN;

/* XXH64, as the tools compute it. */
uint64_t rt_checksum(const void *bytes, size_t len, uint64_t seed) FP_HIDDEN;

/* ---- this module: rt_module.c ---- */

struct rt_range {
    char *start, *end;
};

enum { RT_COUNTERS, RT_TABLES, RT_LOCALS, RT_DIRECT, RT_NRANGES };

enum { RT_MOST_STEPPING = 8, RT_MOST_CALLS = 32 };

/* A call in which paths are sampled by a running register (footpath/abi.h). */
struct rt_call {
    uint64_t frame; /* where its running register lies */
    uint64_t base;
    uint32_t function;
};

/* What the runtime itself keeps per thread, beside the counters. */
struct rt_local {
    int64_t bias;         /* how far this thread's copy is from the first thread's */
    uint64_t vfork_stack; /* where the stack was when vfork was last called */
    /* sampling, in the copies of the module that began it: */
    uint32_t samples_left; /* until the next tick */
    uint32_t skip;         /* path ends before the next sample */
    uint32_t rotation;     /* of the first stride */
    uint32_t wants_traps, trap_epoch;
    uint64_t branch, branch_register; /* address of the site in front of it, or 0 */
    uint64_t branch_frame;
    uint32_t ncalls; /* calls that were seen since the tick, the innermost last */
    uint32_t blind;  /* another thread passes a trap: this one may miss it */
    struct rt_call calls[RT_MOST_CALLS];
    uint32_t windows;   /* windows_opened when this thread last looked, its own included */
    uint32_t nstepping; /* traps that are being passed, the innermost last */
    uint64_t stepping[RT_MOST_STEPPING];
    uint64_t stack;                  /* nothing of it that is in use lies below */
    uint64_t readable, readable_end; /* pages of it that were looked at since the tick */
    uint32_t calls_epoch;            /* in which `calls` and `branch` were seen */
};
extern struct rt_local rt_local FP_HIDDEN;
/* This thread's; rt_local itself is the first thread's. */
#define RT_LOCAL ((__seg_gs struct rt_local *)(uintptr_t)&rt_local)

struct rt_frame;

/* Why a profile is written. */
enum rt_why {
    RT_AT_END,    /* of the program or of a library */
    RT_MEANWHILE, /* the program goes on: a later one of this run replaces it */
    RT_LEAVING,   /* as RT_MEANWHILE, but the program goes on only if exec fails */
    RT_BY_SIGNAL, /* the program is about to die */
};

/* What other runtimes in the process may know of a module, found through a note
 * in its program headers. Only ever extended at the end. */
struct rt_module {
    uint32_t version;
    uint32_t unused;
    struct rt_range ranges[RT_NRANGES];
    struct rt_local *local;     /* the first thread's */
    struct rt_process *process; /* shared by all modules */
    /* Is the frame of this module? Then count its path in flight, weight times. */
    bool (*frame_left)(const struct rt_frame *frame, int64_t weight);
    /* frame: where this thread is, NULL if not known */
    bool (*write)(enum rt_why why, const struct rt_frame *frame);
    void (*clear)(void);
    void (*forget_left)(void);
    bool (*place_is_certain)(const struct rt_frame *frame);
    void (*set_output)(const char *pattern);
    unsigned char *sampling;    /* the first thread's flag; NULL: has no sampled paths */
    void (*set_traps)(bool on); /* or NULL */
    bool (*trap_hit)(struct rt_local *self, uint64_t address, ucontext_t *context, bool *armed);
    void (*trap_again)(uint64_t address);
    void (*arm_active)(uint64_t pc, uint64_t sp);
    /* Another module that handled signals for all is about to go: this one takes over. */
    void (*take_over)(void);
    void (*confine)(void); /* the program confines itself: rt_confine.c */
    const void *empty;     /* the level of a hash table in which nothing was counted */
};

extern struct rt_module rt_this FP_HIDDEN;

/* Calls with every instrumented module that is loaded, this one included. Takes the
 * loader's lock: only where a module starts. A child that was forked while another thread
 * had that lock would wait for it for ever. All else uses the process's list. */
void rt_each_module(void (*call)(struct rt_module *module, void *context), void *context) FP_HIDDEN;

struct rt_identity {
    char path[4096];
    unsigned char build_id[64];
    size_t build_id_len;
    uintptr_t load_bias; /* run-time address less link-time address */
};

/* Is this module the executable? Its end is that of the process. */
bool rt_is_program(void) FP_HIDDEN;
/* This module, and the program: found at the start. Later the loader's lock, which the list
 * of modules is under, may have been held by a thread that the child of a fork has not got. */
extern struct rt_identity rt_identity FP_HIDDEN, rt_program FP_HIDDEN;

/* ---- settings from the environment: rt_settings.c ---- */

struct rt_settings {
    char out[4096]; /* pattern, by the environment or the program; empty: by default */
    char folder[4096];
    bool log;
    char map;        /* FOOTPATH_MAP: '0', '1', or 0 where it is not set */
    bool privileged; /* runs with other rights than those of the user who started it */
    uint64_t run_id, start_ns;
    pid_t pid;
    bool paused;
    uint32_t samples, stride; /* sampled paths: per tick; first stride */
    bool full_stride;         /* between all samples, not only before the first */
    uint64_t tick_ns;
    uint64_t dump_ns; /* between profiles of a program that goes on, or 0 */
};

extern struct rt_settings rt_settings FP_HIDDEN;

void rt_settings_read(void) FP_HIDDEN;
/* A variable of the environment, or NULL; a privileged program has none. */
const char *rt_variable(const char *name) FP_HIDDEN;
/* NULL or empty: the default, which is that of --fp-out. */
void rt_settings_set_output(const char *pattern) FP_HIDDEN;
bool rt_output_wanted(const struct rt_identity *program) FP_HIDDEN;
/* A new run begins: at the start, and in the child of a fork. */
void rt_settings_new_run(void) FP_HIDDEN;
/* The run is one for all modules of the process: the first one's. */
void rt_settings_share_run(void) FP_HIDDEN;
/* Libraries that were linked without --fp-out write where the program does. */
void rt_settings_share_output(void) FP_HIDDEN;
/* The output's name with %p %h %b %t replaced. */
void rt_output_name(struct rt_text *name, const struct rt_identity *program) FP_HIDDEN;
/* Is the map to go into the profile? By FOOTPATH_MAP, else where runs share a file. */
bool rt_map_wanted(void) FP_HIDDEN;

/* ---- threads: rt_threads.c ---- */

/* A thread's private copy of all counters lies `bias` bytes away from them. */
struct rt_region {
    int64_t bias;
    uint32_t tid;       /* who has it, 0 if free for the next */
    uint32_t ended;     /* its owner is ending, or will not say so */
    int32_t timer;      /* 1 + the timer of its ticks, or 0 */
    void *signal_stack; /* of its owners, one after the other */
};

enum { RT_ENDED = 1, RT_UNTOLD = 2 };
enum { RT_MOST_REGIONS = 16384, RT_MOST_ORPHANS = 64, RT_MOST_MODULES = 256 };

/* Whose turn it is to write: rt_writer.c. */
struct rt_writing {
    uint32_t writer;         /* the thread that writes now, or 0 */
    uint32_t wish;           /* somebody wants a profile of the program as it goes on */
    uint32_t honouring;      /* such wishes, now */
    uint32_t lock_waited_ms; /* for the lock of the file, since it was last had */
    uint32_t dying;          /* a fatal signal is being dealt with */
    uint32_t dead;           /* and has been: the process ends by it */
    uint32_t confined;       /* by a seccomp filter: no system call any more (rt_confine.c) */
};

/* What a library that was unloaded has left mapped: its part of the first copies. */
struct rt_orphan {
    struct rt_range span;
    const struct rt_module *module; /* where it was */
    uint32_t nregions;
    int64_t nowhere;
};

struct rt_process {
    uint32_t lock;
    uint32_t nregions;
    uint32_t next_step;
    uint32_t complained;
    uint32_t held;    /* threads that begin wait: the profile is being written */
    uint32_t exiting; /* the process, not only a library, is at its end */
    uint32_t norphans;
    uint32_t watched; /* fatal signals have a handler */
    uint32_t paused;
    int64_t nowhere; /* bias of the copy to count in while paused, or 0 */
    struct rt_module *modules[RT_MOST_MODULES]; /* loaded ones, with gaps */
    struct rt_orphan orphans[RT_MOST_ORPHANS];
    struct rt_region regions[RT_MOST_REGIONS];
    struct rt_local *sampler;      /* of the module that began sampling, or NULL */
    int32_t sampling_signal;       /* of ticks */
    int32_t first_timer;           /* of the first thread: as in a region */
    uint64_t run_id, run_start_ns; /* of the run, in all its records */
    pid_t run_pid;                 /* whose these are; another: the child of a fork */
    uint32_t trap_lock, traps_wanted, trap_epoch, trap_hits;
    uint32_t forking;                        /* threads that are in fork: no traps meanwhile */
    uint32_t windows_opened, windows_closed; /* times that a trap was away for one step */
    uint32_t has_sites;                      /* some module has traps */
    uint32_t masks_kept;                     /* nobody blocks the two signals that sampling needs */
    uint32_t sampling;                       /* now */
    struct rt_module *dumper;                /* whose thread writes now and then, or NULL */
    struct sigaction trap_before, tick_before; /* what they did, or the program wants of them */
    uint32_t nmodules;                         /* `modules` has no more */
    struct rt_writing writing;
    uint32_t stopping; /* some module holds the other threads (rt_stop.c) */
    /* Of fatal signals whose action is the default one: that of the module that set it. */
    void (*fatal_handler)(int signal, siginfo_t *info, void *context);
    const char *program_out; /* --fp-out of the program's own link, or NULL */
};

/* The table that all modules share; NULL: no memory. rt_process.c */
struct rt_process *rt_process_get(void) FP_HIDDEN;

void rt_threads_start(void) FP_HIDDEN;
uint32_t rt_thread_id(void) FP_HIDDEN; /* the kernel's */
/* Of the table of copies. Fails after a while where `patient` is false: a signal
 * handler may have interrupted the owner. */
bool rt_threads_lock(struct rt_process *process, bool patient) FP_HIDDEN;
void rt_threads_unlock(struct rt_process *process) FP_HIDDEN;
void rt_threads_set_base(int64_t bias) FP_HIDDEN; /* of %gs */
/* A copy for a thread that does not ask for it itself. */
bool rt_threads_give_copy(struct rt_process *process, uint32_t tid) FP_HIDDEN;
/* For all threads that were there before the runtime: rt_adopt.c. */
void rt_adopt_threads(void) FP_HIDDEN;
/* Calls with every thread of the process; gives the number of calls that returned true. */
uint32_t rt_each_thread(bool (*call)(uint32_t tid, void *context), void *context) FP_HIDDEN;
/* The bias of this thread's copy, also while it counts elsewhere. */
int64_t rt_threads_own_bias(void) FP_HIDDEN;
/* Makes the copy to count in while paused. */
bool rt_threads_make_nowhere(void) FP_HIDDEN;
/* The module is about to go. */
void rt_threads_forget_module(bool process_ends) FP_HIDDEN;
/* In the child of a fork: only this thread is left. */
void rt_threads_after_fork(void) FP_HIDDEN;

/* ---- sampled paths: rt_sample.c ---- */

void rt_sample_start(void) FP_HIDDEN;
/* A timer for the thread, if samples are taken. */
void rt_sample_thread_begins(int32_t *timer, uint32_t tid) FP_HIDDEN;
void rt_sample_thread_ends(int32_t *timer) FP_HIDDEN;
/* This thread is the runtime's own: no ticks. */
void rt_sample_not_here(void) FP_HIDDEN;
/* Around a fork in the parent, and in the child: only this thread is left there, and timers
 * are not inherited. */
void rt_sample_before_fork(void) FP_HIDDEN;
void rt_sample_after_fork_in_parent(void) FP_HIDDEN;
void rt_sample_after_fork(void) FP_HIDDEN;
/* The module is about to go, or with it the process. */
void rt_sample_forget_module(bool process_ends) FP_HIDDEN;
/* Where a path ends: takes a sample, or not. */
void rt_sample_point(uint64_t counters, uint64_t id, bool hashed) FP_HIDDEN;

/* ---- signals that are not the program's: rt_mask.c ---- */

/* What a thread believes to block, for the threads it starts. */
uint32_t rt_mask_believed(void) FP_HIDDEN;
void rt_mask_believe(uint32_t which) FP_HIDDEN;

/* ---- traps: rt_trap.c, rt_places.c ---- */

bool rt_trap_has_sites(void) FP_HIDDEN;
/* In this module: */
void rt_trap_set(bool on) FP_HIDDEN;
void rt_trap_arm_active(uint64_t pc, uint64_t sp) FP_HIDDEN;
bool rt_trap_hit(struct rt_local *self, uint64_t address, ucontext_t *context,
                 bool *armed) FP_HIDDEN;
void rt_trap_again(uint64_t address) FP_HIDDEN;
/* In all: a thread wants samples, has enough; nobody gets any. */
void rt_traps_want(struct rt_process *process, struct rt_local *self,
                   const ucontext_t *context) FP_HIDDEN;
void rt_traps_enough(struct rt_process *process, struct rt_local *self) FP_HIDDEN;
void rt_traps_none(struct rt_process *process) FP_HIDDEN;
/* Nor does anybody until rt_traps_after_fork. */
void rt_traps_before_fork(struct rt_process *process) FP_HIDDEN;
void rt_traps_after_fork(struct rt_process *process) FP_HIDDEN;
bool rt_traps_handle(struct rt_process *process, struct rt_local *self, siginfo_t *info,
                     ucontext_t *context) FP_HIDDEN;

/* ---- what lies under a trap: rt_slot.c ---- */

enum { RT_SLOT_SIZE = 24 };
/* Code that does what the instruction does and goes on behind it. False where that is
 * not possible. */
bool rt_slot_make(const unsigned char *at, unsigned char *slot) FP_HIDDEN;
/* 0: not understood. */
size_t rt_insn_length(const unsigned char *at) FP_HIDDEN;

/* ---- hash tables: rt_hash.c ---- */

/* Counts a key in this thread's copy. table: as linked. */
void rt_hash_count(uint64_t table, uint64_t key) FP_HIDDEN;

/* All entries of a thread's copy of a table, in all its levels. A key may come more than once. */
void rt_hash_each(struct fp_hash_table *table,
                  void (*call)(uint64_t key, uint64_t count, void *context),
                  void *context) FP_HIDDEN;
void rt_hash_clear(struct fp_hash_table *table) FP_HIDDEN;
/* A new copy of a module's tables. */
void rt_hash_empty_copy(const struct rt_module *module, int64_t bias) FP_HIDDEN;

/* ---- frames that do not return: rt_inflight.c ---- */

/* Frames of this module from `frame` outwards, each with its path in flight, into
 * the buffer: function, block, register, 1. Gives their number. */
uint64_t rt_in_flight_now(struct rt_buffer *out, const struct rt_frame *frame) FP_HIDDEN;
/* Those that were left before. */
uint64_t rt_in_flight_left(struct rt_buffer *out) FP_HIDDEN;
/* Those of contexts that wait for swapcontext. */
uint64_t rt_in_flight_waiting(struct rt_buffer *out) FP_HIDDEN;
/* This thread's frames up to the one whose cfa is above `until`, in all modules. */
void rt_frames_left(const struct rt_frame *frame, uint64_t until, int64_t weight) FP_HIDDEN;
/* For the module's entry points. */
bool rt_frame_left(const struct rt_frame *frame, int64_t weight) FP_HIDDEN;
void rt_in_flight_clear(void) FP_HIDDEN;
/* Is the place of an interrupted frame certain, or in the middle of counting? */
bool rt_place_is_certain(const struct rt_frame *frame) FP_HIDDEN;
bool rt_has_marks(void) FP_HIDDEN;

/* ---- the end: rt_end.c ---- */

void rt_end_watch(void) FP_HIDDEN;
/* Takes the handlers back, if they are this module's. */
void rt_end_unwatch(void) FP_HIDDEN;
void rt_end_at_quick_exit(void) FP_HIDDEN;
/* The module is about to go: its handlers must not stay. */
void rt_end_forget_module(void) FP_HIDDEN;
/* libc's __cxa_at_quick_exit in static programs (rt_quick.c), NULL in others. */
typedef int rt_at_quick_exit(void (*call)(void *), void *module);
extern rt_at_quick_exit *rt_at_quick FP_HIDDEN;
/* Does its default action end the process, in a way that we see? */
bool rt_is_fatal(int signal) FP_HIDDEN;
/* The handler of fatal signals. */
void rt_die(int signal, siginfo_t *info, void *context) FP_HIDDEN;
/* Gives this thread a stack for handlers, so that a stack that overflowed can be
 * reported; only where it has none. *memory is made at the first need, and kept. */
void rt_provide_signal_stack(void **memory) FP_HIDDEN;
/* Writes the profiles of all modules. */
void rt_write_all(enum rt_why why, const struct rt_frame *frame) FP_HIDDEN;

/* ---- the default action: rt_default.c ---- */

typedef int rt_sigaction(int signal, const struct sigaction *action, struct sigaction *old);
/* sigaction as the program means it; real: libc's. */
int rt_set_action(rt_sigaction *real, int signal, const struct sigaction *action,
                  struct sigaction *old) FP_HIDDEN;
/* The action that stands for the default one. */
void rt_default_action(struct sigaction *action) FP_HIDDEN;

/* ---- seccomp: rt_confine.c ---- */

bool rt_is_confined(void) FP_HIDDEN;
/* This module is about to make no system call any more. */
void rt_confine_module(void) FP_HIDDEN;

/* ---- now and then: rt_periodic.c ---- */

void rt_periodic_start(bool after_fork) FP_HIDDEN;
/* Ends the thread, if it is this module's. */
void rt_periodic_forget_module(void) FP_HIDDEN;

/* ---- other threads: rt_stop.c ---- */

/* Holds all other threads that count while `work` runs; each gives its frames to
 * `visit` first. */
void rt_with_threads_stopped(void (*visit)(const struct rt_frame *frame, void *context),
                             void (*work)(void *context), void *context) FP_HIDDEN;
void rt_stop_after_fork(void) FP_HIDDEN;
/* Returns when no thread is in a signal handler of this module, and none will be. */
void rt_stop_forget_module(void) FP_HIDDEN;
/* Handlers of signals that any thread may get call these first and last. */
void rt_handler_begins(void) FP_HIDDEN;
void rt_handler_ends(void) FP_HIDDEN;

/* ---- what was counted: rt_write.c ---- */

/* The module: path, build-id, where its counters are. */
void rt_put_module(struct rt_buffer *out, const struct rt_identity *id) FP_HIDDEN;
/* The record of this module in this run. */
void rt_put_run(struct rt_buffer *out, enum rt_why why, const struct rt_frame *frame,
                const struct rt_identity *id, const struct rt_identity *program) FP_HIDDEN;
void rt_clear_counters(void) FP_HIDDEN;

/* ---- whose turn it is to write: rt_writer.c ---- */

struct rt_writing *rt_writing(void) FP_HIDDEN;
/* Waits for the turn, and holds signals. Where there is only a wish and another thread
 * has the turn, the wish is left with that one. False: no turn. */
bool rt_writer_begin(struct rt_held *held, bool only_wish) FP_HIDDEN;
void rt_writer_end(const struct rt_held *held) FP_HIDDEN;
/* A moment, while another process has the file locked; false when that has lasted long
 * enough. *pending is 0 at the first call. */
bool rt_writer_wait(uint64_t *pending) FP_HIDDEN;
/* Wishes that were left meanwhile. */
void rt_writer_honour(const struct rt_frame *frame) FP_HIDDEN;
void rt_writer_after_fork(void) FP_HIDDEN;
void rt_file_after_fork(void) FP_HIDDEN;
uint64_t rt_now_ms(void) FP_HIDDEN;
void rt_sleep_ms(void) FP_HIDDEN;

/* ---- the file: rt_file.c ---- */

/* Writes what was counted so far; a later call of the same run replaces it. */
bool rt_write_profile(enum rt_why why, const struct rt_frame *frame) FP_HIDDEN;

#endif
