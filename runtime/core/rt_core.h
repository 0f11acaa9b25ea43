/* The core of the runtime: text, signals, buffers, this module, settings, hash tables,
 * and writing the profile. The other rooms build on it. What the core calls of them is
 * listed in tests/docs/layers.py (HOOKS).
 *
 * Every file includes rt.h, which includes this one first.
 */
#ifndef FP_RT_CORE_H
#define FP_RT_CORE_H

#include "footpath/abi.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/single_threaded.h>
#include <sys/types.h>
#include <ucontext.h>
#include <sys/syscall.h>
#include <unistd.h>

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

struct rt_frame;     /* core/rt_unwind.h */
struct rt_way;       /* core/rt_unwind.h */
struct rt_local;     /* rt.h */
struct rt_self;      /* rt.h */
struct rt_process;   /* rt.h */
struct rt_pep_local; /* pep/rt_pep.h */
struct rt_pagemap;

/* For functions that the program or libc calls. The caller's stack may not be aligned to
 * 16 bytes (interrupt handlers, hand-written code), and we call libc. */
#define RT_ENTRY __attribute__((force_align_arg_pointer))

/* What every process touches and most hardly fill lies on one page, apart from the rest: rt_near.c.
 * The struct of the process, where this module is the program; two rooms for small buffers;
 * the names of the folder, of the program and of the profile, one behind the other. */
enum { RT_NEAR_ROOM = 320, RT_NEAR_NAMES = 13312 };
extern struct rt_process rt_of_program FP_HIDDEN;
extern unsigned char rt_near_rooms[2][RT_NEAR_ROOM] FP_HIDDEN;
extern char rt_near_names[RT_NEAR_NAMES] FP_HIDDEN;

/* For functions that are seldom called and have large variables: in line they would make
 * the stack of their caller touch more pages. */
#define RT_SELDOM __attribute__((noinline, cold))

/* Defines an array of `size` bytes, all 0, of which most programs touch no page or few. It
 * lies apart from other variables: those are small and share pages. A page that is touched
 * costs a process as much as ten system calls. */
#define RT_APART(type, name, size)                                                    \
    extern type name[(size) / sizeof(type)] FP_HIDDEN;                                \
    _Static_assert((size) % sizeof(type) == 0, "whole elements");                     \
    __asm__(".pushsection footpath_apart,\"aw\",@nobits\n.balign 4096\n.globl " #name \
            "\n.hidden " #name "\n" #name ": .skip " #size "\n.popsection\n")

/* Defines a variable of each thread of a rewritten executable, and a function of that name that
 * returns its address. The variable lies beside the counters: the file's own storage for threads
 * cannot grow. */
#ifdef RT_IN_EXECUTABLE
#define RT_PER_THREAD(type, name)                                             \
    static type name##_word __attribute__((section("footpath_local"), used)); \
    static inline type *name(void)                                            \
    {                                                                         \
        return (type *)((char *)&name##_word + RT_LOCAL->core.bias);          \
    }
#endif

/* ---- text without stdio: rt_text.c ---- */

struct rt_text {
    char *at;
    size_t len, size;
};

void rt_text_add(struct rt_text *text, const char *string) FP_HIDDEN;
void rt_text_add_char(struct rt_text *text, char c) FP_HIDDEN;
void rt_text_add_number(struct rt_text *text, uint64_t value) FP_HIDDEN;
void rt_text_add_hex(struct rt_text *text, uint64_t value, unsigned digits) FP_HIDDEN;

/* Writes one line to stderr: "footpath: A B C". The last argument is NULL. */
void rt_warn(const char *part, ...) FP_HIDDEN;

/* Does a person read stderr? True for a terminal and with FOOTPATH_LOG. */
bool rt_somebody_reads(void) FP_HIDDEN;

/* ---- signals while we write: rt_signals.c ---- */

/* Sets of signals: bit number - 1. 32 and 33 are libc's; rt_stop.c uses 33 to hold threads. */
static const uint64_t rt_all_signals = ~((uint64_t)1 << 31 | (uint64_t)1 << 32);

struct rt_held {
    uint64_t mask;    /* before rt_hold_signals */
    uint64_t pending; /* before it, of the signals that our writes may raise */
    uint64_t raised;  /* by our own writes */
    bool noting;      /* signals come, and are noted */
};

/* From rt_hold_signals to rt_release_signals this thread takes no signal. */
void rt_hold_signals(struct rt_held *held) FP_HIDDEN;
/* The same for the thread that writes: no handler of the program runs meanwhile. */
void rt_hold_for_write(struct rt_held *held) FP_HIDDEN;
/* Called by our handler of fatal signals. True: the signal strikes again when it is released. */
bool rt_note_signal(int signal, const siginfo_t *info) FP_HIDDEN;
void rt_release_signals(const struct rt_held *held) FP_HIDDEN;
/* Notes the signal that a write which failed with `error` has raised. */
void rt_note_raised(struct rt_held *held, int error) FP_HIDDEN;
uint64_t rt_signals_pending(void) FP_HIDDEN;

/* The kernel's own form of an action. libc's refuses some signals, and looks for symbols. */
struct rt_action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags; /* with RT_RESTORER where there is a handler */
    void (*restorer)(void);
    uint64_t mask;
};

enum { RT_RESTORER = 0x04000000 };

void __footpath_return_from_signal(void) FP_HIDDEN; /* the restorer of our handlers */
/* Either may be NULL. */
bool rt_set_kernel_action(int signal, const struct rt_action *action,
                          struct rt_action *old) FP_HIDDEN;

/* ---- a growing buffer of packed integers: rt_buffer.c ---- */

struct rt_buffer {
    unsigned char *bytes; /* from mmap, or a room of rt_buffer.c */
    size_t len, cap;
    bool failed; /* out of memory: everything put from then on is dropped */
};

void rt_put_bytes(struct rt_buffer *buffer, const void *bytes, size_t len) FP_HIDDEN;
void rt_put_uint(struct rt_buffer *buffer, uint64_t value) FP_HIDDEN;
void rt_put_int(struct rt_buffer *buffer, int64_t value) FP_HIDDEN;
void rt_put_u32(struct rt_buffer *buffer, uint32_t value) FP_HIDDEN;
void rt_put_u64(struct rt_buffer *buffer, uint64_t value) FP_HIDDEN;
void rt_put_string(struct rt_buffer *buffer, const char *string) FP_HIDDEN;
void rt_buffer_free(struct rt_buffer *buffer) FP_HIDDEN;

/* For memory that threads share without locks: see rt_valgrind.c. */
void rt_hide_from_helgrind(const void *start, size_t len) FP_HIDDEN;
bool rt_under_valgrind(void) FP_HIDDEN;

/* XXH64, as the tools compute it. */
uint64_t rt_checksum(const void *bytes, size_t len, uint64_t seed) FP_HIDDEN;

/* ---- this module: rt_module.c ---- */

struct rt_range {
    char *start, *end;
};

/* The sections of a module of which every thread has a copy. */
enum { RT_COUNTERS, RT_TABLES, RT_LOCALS, RT_DIRECT, RT_GATES, RT_NRANGES };

/* Why a profile is written. */
enum rt_why {
    RT_AT_END,    /* the program ends, or the library is unloaded */
    RT_MEANWHILE, /* the program goes on: a later record of this run replaces this one */
    RT_LEAVING,   /* as RT_MEANWHILE, but the program goes on only if exec fails */
    RT_BY_SIGNAL, /* the program is about to die */
};

/* What the runtimes of other modules in the process may use of this one. They find it by a
 * note in the program headers (rt_module.c). `version` counts the layouts of this struct
 * and of struct rt_process. */
struct rt_module {
    uint32_t version;
    uint32_t first_region; /* it has no part of the copies before this one: rt_threads.c */
    struct rt_range ranges[RT_NRANGES];
    struct rt_local *local;     /* the first thread's */
    struct rt_process *process; /* shared by all modules; NULL before the runtime has started */
    /* Is the frame this module's? Then counts its path in flight, weight times. */
    bool (*frame_left)(const struct rt_frame *frame, int64_t weight);
    /* frame: where this thread is; NULL: not known */
    bool (*write)(enum rt_why why, const struct rt_frame *frame);
    void (*clear)(void);
    void (*begin_in_child)(void); /* the process was forked: this is the child */
    void (*forget_left)(void);
    bool (*place_is_certain)(const struct rt_frame *frame);
    void (*set_output)(const char *pattern);
    unsigned char *sampling;              /* the first thread's flag; NULL: has no sampled paths */
    void (*set_traps)(bool on);           /* NULL: has no traps; the next four as well */
    bool (*trap_place)(uint64_t address); /* may a trap of ours have been there? */
    void (*trap_hit)(struct rt_pep_local *self, uint64_t address, ucontext_t *context);
    uint64_t (*moved_from)(uint64_t address); /* the instruction whose copy is there, or 0 */
    void (*arm_active)(uint64_t pc, uint64_t sp);
    /* Where an instruction of this module is in the second body; 0: nowhere. NULL: has none. */
    uint64_t (*second_body)(uint64_t address);
    bool (*is_second_body)(uint64_t address);
    /* Counts a sampled path of this module, so many times. NULL: has no sampled paths. */
    void (*count_sample)(uint64_t counters, uint64_t id, uint64_t times);
    bool (*way_at)(uint64_t pc, struct rt_way *way); /* from a place in the module; or NULL */
    /* The module that handled signals for all modules is unloaded: this one takes over. */
    void (*take_over)(void);
    void (*confine)(void); /* the program confines itself: rt_confine.c */
    const void *empty;     /* the level of a hash table in which nothing was counted */
    /* Adds what sparse arrays of the copy `from` have to those of `into`, and gives the pages
     * back. */
    void (*fold_arrays)(struct rt_pagemap *map, int64_t into, int64_t from);
    /* Enters the module in the live file (rt_live.c), or takes it out of none: a new one begins. */
    void (*live_begin)(void);
    uint64_t live; /* struct fp_live_module: its offset in the live file; 0: not live */
    /* Of a rewritten module: deals with a SIGTRAP or SIGSEGV that its code raised for us. NULL
     * in others. */
    bool (*exe_fault)(int signal, const siginfo_t *info, ucontext_t *context);
    struct rt_range queries; /* its struct fp_query, where the module has some (rt_query.c) */
    struct rt_range image;   /* with queries: the module lies between these */
    /* Drops what the module's runtime knows of this thread's masks: the thread begins or ends. */
    void (*forget_masks)(void);
};

extern struct rt_module rt_this FP_HIDDEN;

/* Calls with every instrumented module that is loaded, this one included. Takes the
 * loader's lock, so only the start of a module may call it: a child that was forked while
 * another thread had that lock would wait for ever. Everybody else uses process->core.modules. */
void rt_each_module(void (*call)(struct rt_module *module, void *context), void *context) FP_HIDDEN;

/* Fills in where the parts of this module are that threads have copies of. */
void rt_module_find_ranges(void) FP_HIDDEN;

enum { RT_LONGEST_PATH = 4096 };

struct rt_identity {
    uintptr_t load_bias; /* run-time address less link-time address */
    uintptr_t low, high; /* it lies between these at run time */
    size_t build_id_len;
    unsigned char build_id[64];
    char *path;
};

/* Is this module the executable? The executable ends when the process ends. */
bool rt_is_program(void) FP_HIDDEN;
/* The program, and this module, which may be the program. Found once, at the start: finding
 * them takes the loader's lock (see rt_each_module). */
extern struct rt_identity rt_program FP_HIDDEN, *rt_identity FP_HIDDEN;

/* ---- what all modules of the process share: rt_process.c ---- */

/* Finds the struct of this process, or makes it. NULL: no memory. */
struct rt_process *rt_process_get(void) FP_HIDDEN;

/* ---- settings from the environment: rt_settings.c ---- */

struct rt_settings {
    bool log;
    char map;        /* FOOTPATH_MAP: '0', '1', or 0 where it is not set */
    bool privileged; /* the program has other rights than the user who started it */
    uint64_t run_id, start_ns;
    pid_t pid;
    uid_t user;               /* that the program was started as; nobody where it is privileged */
    uint32_t samples, stride; /* sampled paths: samples per tick; first stride */
    bool full_stride;         /* a stride between all samples, not only before the first */
    bool simple_stride;       /* only before the first; neither: as costs suggest (rt_sample.c) */
    bool history;             /* what came before samples is kept */
    uint64_t tick_ns;
    uint64_t dump_ns;   /* between two profiles of a program that goes on, or 0 */
    const char *out;    /* pattern from the environment or the program; NULL: the default */
    const char *folder; /* that the program was started in; empty where it is not known */
};

extern struct rt_settings rt_settings FP_HIDDEN;

void rt_settings_read(void) FP_HIDDEN;
/* The environment that the loader passes: in a rewritten program we start before libc has set
 * `environ`, and getenv may be the program's own. NULL: libc's. */
void rt_settings_environment(char **environment) FP_HIDDEN;
/* Room for RT_LONGEST_PATH bytes behind the folder's name. */
char *rt_settings_names_left(void) FP_HIDDEN;
/* A variable of the environment, or NULL. In a privileged program always NULL. */
const char *rt_variable(const char *name) FP_HIDDEN;
/* NULL or empty: the default, which is that of --fp-out. */
void rt_settings_set_output(const char *pattern) FP_HIDDEN;
bool rt_output_wanted(const struct rt_identity *program) FP_HIDDEN;
/* Begins a new run: at the start, and in the child of a fork. */
void rt_settings_new_run(void) FP_HIDDEN;
/* Makes the run of the first module the run of all modules of the process. */
void rt_settings_share_run(void) FP_HIDDEN;
/* Libraries that were linked without --fp-out write where the program does. */
void rt_settings_share_output(void) FP_HIDDEN;
/* The output's name with %p %h %b %t replaced. */
void rt_output_name(struct rt_text *name, const struct rt_identity *program) FP_HIDDEN;
/* store:PATH: runs go to files of their own in PATH.spool, and footpath collect takes them from
 * there; rt_output_name gives PATH. */
bool rt_output_is_store(void) FP_HIDDEN;
/* Is the map to go into the profile? By FOOTPATH_MAP, else where runs share a file. */
bool rt_map_wanted(void) FP_HIDDEN;

/* ---- hash tables: rt_hash.c ---- */

/* Counts a key in this thread's copy, so many times. table: address as linked. */
void rt_hash_count(uint64_t table, uint64_t key, uint64_t times) FP_HIDDEN;

/* Is this the start of a function by which instrumented code counts a key? */
bool rt_hash_is_entry(uint64_t function) FP_HIDDEN;

/* Of the level of a table that is to be a sparse array: counts go to the array, which others do
 * not see yet, and nothing is counted in the level from here on. */
void rt_hash_close(uint64_t level, uint64_t *array) FP_HIDDEN;
/* Calls with all entries of a thread's copy of a table, in all levels. A key may come more
 * than once. */
void rt_hash_each(struct fp_hash_table *table,
                  void (*call)(uint64_t key, uint64_t count, void *context),
                  void *context) FP_HIDDEN;
void rt_hash_clear(struct fp_hash_table *table) FP_HIDDEN;
/* Levels that are made from here on are in the live file, if there is one. */
void rt_hash_begin_live(void) FP_HIDDEN;
/* Empties the tables in a new copy of a module's sections. */
void rt_hash_empty_copy(const struct rt_module *module, int64_t bias) FP_HIDDEN;

/* ---- sparse arrays: rt_sparse.c ---- */

/* The array of a table with nsparse, made if there is none; NULL where levels take its place. */
uint64_t *rt_sparse_make(struct fp_hash_table *table) FP_HIDDEN;
/* The array of a table; empty where there is none. */
struct rt_range rt_sparse_array(const struct fp_hash_table *table) FP_HIDDEN;

/* Of all arrays in a copy. */
size_t rt_sparse_bytes(const struct rt_module *module, int64_t bias) FP_HIDDEN;
/* As rt_module.fold_arrays. */
void rt_sparse_fold(struct rt_pagemap *map, int64_t into, int64_t from) FP_HIDDEN;

/* Address space that arrays lie in, with all older ones. */
struct rt_space;
/* The module is unloaded: gives the memory back, but not the address space. */
struct rt_space *rt_sparse_leave(void) FP_HIDDEN;
void rt_sparse_unmap(struct rt_space *space) FP_HIDDEN;

/* ---- what the runtime asks the kernel: rt_kernel.c ---- */

static inline uint32_t rt_thread_id(void)
{
    return (uint32_t)syscall(SYS_gettid);
}
/* Does libc know of no other thread? Threads made by a bare clone are not seen. */
#pragma weak __libc_single_threaded
static inline bool rt_has_one_thread(void)
{
    return &__libc_single_threaded && __libc_single_threaded;
}
uint64_t rt_now_ms(void) FP_HIDDEN;
void rt_sleep_ms(void) FP_HIDDEN; /* 1 ms */
/* Calls with the name of every entry of a folder. Returns how many calls returned true. */
uint32_t rt_each_entry(const char *folder, bool (*call)(const char *name, void *context),
                       void *context) FP_HIDDEN;
/* Maps the memory of a table at the first need, and keeps its address in *link. Several
 * threads and handlers may do so at once: all get the same memory. NULL: no memory. */
void *rt_map_once(void **link, size_t size) FP_HIDDEN;

/* ---- which pages were ever written to: rt_pages.c ---- */

enum { RT_PAGE = 4096 };

struct rt_pagemap {
    int fd, live_fd;
    bool live;
    uint64_t first, count; /* the pages that `entries` describes */
    uint64_t entries[128];
};

void rt_pagemap_open(struct rt_pagemap *map) FP_HIDDEN;
void rt_pagemap_close(struct rt_pagemap *map) FP_HIDDEN;
/* Was the page of this place written to? */
bool rt_touched(struct rt_pagemap *map, const char *place) FP_HIDDEN;
/* The first place from here on of which the page was written to; or the end. */
char *rt_next_touched(struct rt_pagemap *map, char *at, char *end) FP_HIDDEN;
/* Adds the words of a page to another page, in which others may count meanwhile. */
void rt_add_page(uint64_t *into, const uint64_t *from) FP_HIDDEN;

/* ---- the arguments of the program: rt_arguments.c ---- */

/* Notes where they are. As constructors get them; not used where they are something else. */
void rt_arguments_note(int count, char **arguments, char **environment) FP_HIDDEN;
/* Puts their number, then each. */
void rt_put_arguments(struct rt_buffer *out) FP_HIDDEN;

/* ---- the record of a run: rt_write.c ---- */

/* The record of a run begins with rt_put_begin, the time of its end and rt_put_about. Behind
 * them come counts. */
void rt_put_begin(struct rt_buffer *out, uint64_t flags) FP_HIDDEN;
void rt_put_about(struct rt_buffer *out, const struct rt_identity *id,
                  const struct rt_identity *program) FP_HIDDEN;
/* Puts the module: path, build-id, where its counters are. */
void rt_put_module(struct rt_buffer *out, const struct rt_identity *id) FP_HIDDEN;
/* Puts the record of this module in this run. */
void rt_put_run(struct rt_buffer *out, enum rt_why why, const struct rt_frame *frame,
                const struct rt_identity *id, const struct rt_identity *program) FP_HIDDEN;
void rt_clear_counters(void) FP_HIDDEN;

/* Copies of all counters: the first thread's, then the others'. rt_copy_of gives the i-th copy of a
 * place. */
uint32_t rt_ncopies(void) FP_HIDDEN;
char *rt_copy_of(char *place, uint32_t i) FP_HIDDEN;
/* key: the id of a path, plus 1. */
typedef void rt_count_call(uint64_t key, uint64_t count, void *context);
/* Calls with the words that are not 0. The key is 1 + the place of the word. */
void rt_words_each(struct rt_pagemap *map, const struct rt_range *words, rt_count_call *call,
                   void *context) FP_HIDDEN;
/* Calls with all counts of a thread's copy of a table, which is named by the first thread's. A key
 * may come more than once. */
void rt_table_each(struct rt_pagemap *map, struct fp_hash_table *table, int64_t bias,
                   rt_count_call *call, void *context) FP_HIDDEN;

/* ---- which thread writes: rt_writer.c ---- */

struct rt_writing {
    uint64_t writer;         /* the thread that writes now (pthread_self), or 0 */
    uint32_t wish;           /* a thread wants a profile of the program as it goes on */
    uint32_t honouring;      /* a thread writes for such a wish now */
    uint32_t lock_waited_ms; /* for the lock of the file, since we last had it */
    uint32_t dying;          /* a fatal signal is being handled */
    uint32_t dead;           /* it was handled: the process ends by it */
    uint32_t confined;       /* by a seccomp filter: no more system calls (rt_confine.c) */
};

struct rt_writing *rt_writing(void) FP_HIDDEN;
/* Waits for the turn to write, and holds signals. With only_wish the caller does not wait:
 * where another thread has the turn, the wish is left with that thread. False: no turn. */
bool rt_writer_begin(struct rt_held *held, bool only_wish) FP_HIDDEN;
void rt_writer_end(const struct rt_held *held) FP_HIDDEN;
/* Waits a moment while another process has the file locked. False: waited long enough.
 * *pending is 0 at the first call. */
bool rt_writer_wait(uint64_t *pending) FP_HIDDEN;
/* Writes for the wishes that were left meanwhile. */
void rt_writer_honour(const struct rt_frame *frame) FP_HIDDEN;
void rt_writer_after_fork(void) FP_HIDDEN;
/* Writes the profiles of all modules. */
void rt_write_all(enum rt_why why, const struct rt_frame *frame) FP_HIDDEN;

/* ---- the file: rt_file.c ---- */

/* Writes what was counted so far. A later call of the same run replaces it. */
bool rt_write_profile(enum rt_why why, const struct rt_frame *frame) FP_HIDDEN;
void rt_file_after_fork(void) FP_HIDDEN;

/* ---- seccomp: rt_confine.c ---- */

bool rt_is_confined(void) FP_HIDDEN;
/* This module will make no system call any more. */
void rt_confine_module(void) FP_HIDDEN;

/* ---- counters in a file: rt_live.c, rt_livefile.c ---- */

struct fp_live_header; /* footpath/live_abi.h */
struct fp_live_part;

struct rt_live {
    struct fp_live_header *head; /* the file as it is mapped; NULL: counters are not live */
    uint64_t size;               /* of the mapping: how large the file may become */
    uint32_t tried;              /* whether they are to be live was decided */
    uint32_t complained;
    uint32_t removed; /* the last module has gone, and the file with it */
};

/* At the start of a module: makes counters live, if that was asked for and this is the time. */
void rt_live_start(void) FP_HIDDEN;
/* A module that is loaded into a live process enters itself in the file. */
void rt_live_join(void) FP_HIDDEN;
/* The process has forked, and this is the child: counts in a file of its own. */
void rt_live_after_fork(void) FP_HIDDEN;
/* Between these two of a fork no handler of the program counts. */
void rt_live_before_fork(void) FP_HIDDEN;
void rt_live_forked(void) FP_HIDDEN;
/* Puts memory of the file in the place of a new copy of the module, which is all 0. */
void rt_live_map_copy(const struct rt_module *module, char *place, size_t len,
                      int64_t bias) FP_HIDDEN;
/* The same for a table of paths that were left (exits/rt_inflight.c); and again, where the table is
 * in a file already, or in none, and there is a new file. */
void rt_live_map_left(char *place, size_t len) FP_HIDDEN;
void rt_live_renew_left(char *place, size_t len) FP_HIDDEN;
/* The copy is unmapped. */
void rt_live_forget_copy(const char *place, int64_t bias) FP_HIDDEN;
/* This module's record is in the profile. leaving: what follows will not be live. */
void rt_live_written(void) FP_HIDDEN;
bool rt_is_live(void) FP_HIDDEN;

/* Whole pages of the file, all 0; NULL: not live, or no room. */
void *rt_live_take(size_t size) FP_HIDDEN;
/* The same for arrays, which are large: NULL where the file has enough of them already. */
void *rt_live_take_array(size_t size) FP_HIDDEN;
/* Of memory of the file: the first place from here on that may have been written to, or the end.
 * *fd is -1 at first, or the file. */
char *rt_live_next_data(int *fd, char *at, char *end) FP_HIDDEN;
/* Is this memory of the file, which cannot be given back? */
bool rt_live_holds(const void *place) FP_HIDDEN;

/* rt_livefile.c: makes the file and maps it. False: a line was written that says why. */
bool rt_livefile_make(struct rt_live *live) FP_HIDDEN;
void rt_livefile_remove(const struct rt_live *live) FP_HIDDEN;
/* An entry in the lists of parts that is BUSY, or NULL. */
struct fp_live_part *rt_livefile_part(const struct rt_live *live) FP_HIDDEN;
/* Puts the file under its name: from here on tools see it. */
bool rt_livefile_publish(struct rt_live *live) FP_HIDDEN;

/* ---- FOOTPATH_DUMP_SECONDS: rt_periodic.c ---- */

void rt_periodic_start(bool after_fork) FP_HIDDEN;
/* Ends the thread that writes, if it is this module's. */
void rt_periodic_forget_module(void) FP_HIDDEN;

/* ---- words of a thread that do not lie in its copy: rt_self.c ---- */

/* Which words of a struct rt_self are in use. The first are two bits of rt_mask.c, which has no
 * words for them. */
enum { RT_BELIEVES = 3, RT_HOLDS = 4, RT_STEPS = 8, RT_FORKS = 16, RT_SELF_BITS = 31 };

void rt_self_start(void) FP_HIDDEN;
/* This thread's bits that are set. */
uint32_t rt_self_bits(void) FP_HIDDEN;
/* The words in use by this bit; NULL: the bit is not set. */
struct rt_self *rt_self_with(uint32_t bit) FP_HIDDEN;
/* Sets bits. The words may have any values. NULL: no bit was set, as there is no room. */
struct rt_self *rt_self_take(uint32_t bits) FP_HIDDEN;
/* Clears bits; from here on the words may be another thread's. Returns which were set. */
uint32_t rt_self_drop(uint32_t bits) FP_HIDDEN;
/* In the child of a fork: only this thread's are left. */
void rt_self_after_fork(void) FP_HIDDEN;

/* ---- state ---- */

struct rt_core_self {
    uint64_t mask_before_fork;
};

struct rt_core_local {
    int64_t bias; /* how far this thread's copies lie from the first thread's; set by threads/ */
};

enum { RT_MOST_MODULES = 256 };

struct rt_core_process {
    struct rt_module *modules[RT_MOST_MODULES]; /* that are loaded, with gaps */
    uint32_t nmodules;                          /* no entry of `modules` from here on is used */
    uint32_t complained;                        /* a warning that is given once was given */
    uint32_t exiting;                           /* the process, not only a library, ends */
    uint32_t paused;                            /* by footpath_pause */
    uint32_t sees_forks;                        /* the program does, for all modules */
    uint64_t run_id, run_start_ns;              /* of the run, in all its records */
    pid_t run_pid;            /* whose run it is; in the child of a fork still the parent */
    struct rt_module *dumper; /* whose thread writes every FOOTPATH_DUMP_SECONDS, or NULL */
    struct rt_writing writing;
    const char *program_out; /* --fp-out of the program's own link, or NULL */
    uint64_t clearings;      /* how often counters were cleared */
    struct rt_live live;
};

#endif
