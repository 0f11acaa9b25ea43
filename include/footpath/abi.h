/* What instrumented code, the runtime and the tools agree on. Needs libc alone.
 *
 * Counters are 64-bit words in two sections of no size on disk. Instrumented
 * code reaches them relative to %gs, whose base is 0 in the first thread and the
 * distance to a private copy in every other (docs/threads.md).
 */
#ifndef FOOTPATH_ABI_H
#define FOOTPATH_ABI_H

#include <stdint.h>

#define FP_COUNTER_SECTION "footpath_cnt"
#define FP_HASH_SECTION "footpath_hash"
#define FP_COUNTER_PREFIX "__footpath_c_"
#define FP_EDGE_COUNTER_PREFIX "__footpath_e_"
#define FP_HASH_PREFIX "__footpath_h_"

/* With --fp-exits: marks in the code (docs/exits.md). A mark says: from here on the
 * program counter is in this block, or with FP_MARK_END: no longer. Addresses are
 * relative to the field. */
#define FP_MARK_SECTION "footpath_mark"
#define FP_SLOT_SECTION "footpath_slot"
/* A 32-bit word of the runtime: 1 where footpath-cc has seen, after the link, that marks and
 * slot marks are in the order of the code. */
#define FP_ORDER_SECTION "footpath_order"
#define FP_MARK_END 0x80000000u
#define FP_MARK_NO_REGISTER 0x40000000u /* in this block the slot holds nothing */

struct fp_mark {
    int32_t address;
    uint32_t block;
    uint64_t function; /* id */
};

/* Where a function keeps its path register, as assembler writes it: "8(%rsp)", for
 * the stack pointer as it is at `address`. */
struct fp_slot_mark {
    int32_t address;
    uint32_t unused;
    uint64_t function;
    char place[16];
};

/* With --fp-mode=pep: where paths end (docs/pep.md). With --fp-pep=trap a place in the
 * code at which no instruction is added: the runtime puts a trap there while it takes
 * samples. The path is `value`, plus a register where `place` names one ("%r10", not
 * terminated). Addresses are relative to their field.
 *
 * A path may end on one way out of a branch, where no code can stand without a block of
 * its own. Then the site is in front of the branch, and has ended only if the next site
 * is the arrival at `block` of the same function: all targets of the branch have one. */
#define FP_SITE_SECTION "footpath_sites"
enum {
    FP_SITE_HASHED = 1,  /* `counters` is a hash table */
    FP_SITE_BRANCH = 2,  /* in front of a branch, for the way to `block` */
    FP_SITE_ARRIVAL = 4, /* at the head of `block`; no path ends here */
    FP_SITE_RUNNING = 8, /* of a register that is never set: see below */
    FP_SITE_START = 16,  /* no path ends here, one begins */
    FP_SITE_KNOWN = 32,  /* running, but the id is `value` alone */
    FP_SITE_LEAVES = 64, /* running, and no path follows in this call */
    FP_SITE_LAP = 128,   /* a lap of a loop: the path goes on */
    FP_SITE_LAST = 256,  /* no path follows in this call, whatever the register is */
    FP_SITE_COST = 9,    /* the bits from here on: instructions of the paths that end here, on
                            average; 0: not known */
    FP_SITE_MOST_COST = (1 << 21) - 1,
    FP_SITE_VALUE = 1 << 30, /* no path ends here: see below */
};
/* At the end of a block. A note is no instruction, so it has the address of whatever follows: the
 * head of the next block, or code that the code generator shares among blocks. What jumps to that
 * address has not passed the site. */
#define FP_SITE_BEHIND 0x80000000u

/* With --fp-values there also is a site in front of each indirect call: FP_SITE_VALUE. The register
 * that `place` names holds the target, `counters` is the function's hash table, and `value` the key
 * of the call in it, where FP_VALUE_BITS are left for the target: its distance from the table
 * (count/values.h). */
enum { FP_VALUE_BITS = 40 };
#define FP_VALUE_MASK ((UINT64_C(1) << FP_VALUE_BITS) - 1)

/* A running register is a word of the stack that is never set, only moved. Where a path
 * begins, which is where another ends or at a start: base = register + next. Where it
 * ends: id = register + value - base. Who takes samples keeps the base of every active
 * call, known by its function and by where the word lies. In a short loop a part of it is in a
 * processor's register, `place`, and the running register is the sum of the two. */
struct fp_site {
    int32_t address;
    int32_t counters;
    int64_t value;
    uint32_t flags;
    char place[4];
    int64_t next;
    char word[16];            /* where a running register lies, as assembly: 24(%rsp) */
    uint32_t block, function; /* low half of its id */
};

/* Instructions that move a running register: add $value, word. An int32_t each, the distance from
 * here to the instruction. Only samples need them, so footpath-cc takes them out of the first body
 * where it makes a second one (exe/additions.h). */
#define FP_ADDITION_SECTION "footpath_adds"

/* With --fp-pep=flag instrumented code reads this byte of its thread, and when it is
 * not 0 calls one of these with the counters, the path and what such a path costs. */
#define FP_SAMPLE_LAP (UINT64_C(1) << 63)  /* in the path: as FP_SITE_LAP */
#define FP_SAMPLE_LAST (UINT64_C(1) << 62) /* as FP_SITE_LAST */
#define FP_FLAG_SECTION "footpath_flag"    /* not empty where code reads it */
#define FP_SAMPLING_SYMBOL "__footpath_sampling"
#define FP_SAMPLE_ARRAY_SYMBOL "__footpath_sample_array"
#define FP_SAMPLE_HASH_SYMBOL "__footpath_sample_hash"

/* An instrumented module refers to this symbol, which only the runtime has; who
 * links without it reads here what to do. */
#define FP_RUNTIME_SYMBOL "__footpath_runtime__link_with_footpath_cc"
/* The pattern of --fp-out, where the link had it: a string, hidden in the module. */
#define FP_OUT_SYMBOL "__footpath_out"
/* A thread's cycles that paths have been charged with: a word per thread, one for all modules of a
 * process (llvm/emit/ircycles.c). */
#define FP_CHARGED_SYMBOL "__footpath_charged"
/* With --fp-calls=inclusive: what a thread's blocks have cost so far, likewise
 * (llvm/emit/ircallcost.c). */
#define FP_SPENT_SYMBOL "__footpath_spent"
#define FP_HASH_MISS_SYMBOL "__footpath_hash_miss"
#define FP_HASH_SHARED_SYMBOL "__footpath_hash_shared"
#define FP_SPARSE_MISS_SYMBOL "__footpath_sparse_miss"
#define FP_PERSONALITY_SYMBOL "__footpath_personality_with"

/* The table of a function with too many paths for an array. The table as linked is small:
 * it points to a level of entries, which the runtime makes at the first count. A level that
 * is too small is replaced by a larger one and stays for what it has counted. Entries are
 * never moved or removed, so that the inline probe may be interrupted anywhere:
 *
 *     level = table->level
 *     entry = level->entries + ((key * FP_PROBE_FACTOR) >> FP_PROBE_SHIFT & level->mask)
 *     if (entry->key == key) entry->count++; else __footpath_hash_miss(table, key)
 *
 * key is the path's id + 1; 0 is an empty entry. shift and mask give a distance in bytes.
 * Only the table is relative to %gs: a thread's copy of it points to levels of its own.
 * (Levels could not be: an address less a negative bias is not one that a processor takes.)
 *
 * Keys that come late find their place taken and cost three times as much for ever, so a
 * level grows to many places: of gnugo's 23 million counts 1,024 missed 2.4 million, 4,096
 * miss 1.3 million. */
struct fp_hash_entry {
    uint64_t key, count;
};

struct fp_hash_level {
    uint64_t mask;  /* size of `entries` in bytes, less one entry */
    uint64_t used;  /* bit i: some entry of the i-th 64th has a key */
    uint64_t more;  /* of the largest: further levels */
    uint64_t older; /* smaller ones, which this one has replaced */
    struct fp_hash_entry entries[];
};

#define FP_HASH_BITS 12 /* of the largest that the inline probe sees */

/* The factor of the inline probe is one that an instruction can hold: 32 bits, with their sign. The
 * shift leaves bits that depend on the lower 42 of the key, and tells small keys apart. Keys that
 * are alike in these 42 bits share a place. All but one of them are found in the further levels,
 * which have a factor of 64 bits. */
#define FP_PROBE_FACTOR ((uint64_t)INT64_C(-0x61c8864f)) /* 2^32 / golden ratio, less 2^32 */
#define FP_PROBE_SHIFT 26

/* Paths with small ids are counted directly where the code can have no others: a path's
 * count is what is found in both. A function has as many of these words as it needs. One that has
 * its table for values (count/values.h), and few paths, counts all its paths there. */
enum { FP_HASH_DIRECT = 1024 };
#define FP_DIRECT_SECTION "footpath_direct"
#define FP_DIRECT_PREFIX "__footpath_d_"

/* Where a function has not too many paths, its table is a sparse array: one word for each path,
 * of which only the pages that are counted in are in memory. The runtime makes it when the
 * function has shown to be hot. `level` is its address then:
 *
 *     array = table->level
 *     if (array > 0) array[key - 1]++; else __footpath_sparse_miss(table, key)
 *
 * Before that `level` is 0, or a small level with FP_SPARSE_LEVELS set. It is the sign, so that
 * the code above misses. Where address space is scarce there is no array, but levels, with
 * FP_SPARSE_LASTING, too. */
enum { FP_SPARSE_MOST = 16 << 20 }; /* paths; gawk's r_interpret has 9 million */
#define FP_SPARSE_LEVELS (UINT64_C(1) << 63)
#define FP_SPARSE_LASTING (UINT64_C(1) << 62)

struct fp_hash_table {
    uint64_t level;  /* as linked FP_HASH_EMPTY_SYMBOL, or 0 with nsparse */
    uint64_t direct; /* address of the first thread's direct counts, by id; or 0 */
    uint32_t ndirect;
    uint32_t nsparse; /* words of the sparse array; 0 where there is none */
};

/* A level of one entry that no key is in. */
#define FP_HASH_EMPTY_SYMBOL "__footpath_hash_empty"

#define FP_HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio */
enum { FP_HASH_TABLE_SIZE = sizeof(struct fp_hash_table) };

/* A function with a large array that looks seldom called has a gate, of 16 bits, which is
 * relative to %gs as the counters are:
 *
 *     if (gate < 0) counters[id]++; else __footpath_gate_miss(gate, counters + id)
 *
 * In the first thread the gate is open as linked. In a thread's copy it is 0: the runtime counts in
 * words that all threads share, and opens the gate when the thread has counted there a few times.
 * So a thread that calls a function seldom takes no page for the function's array. */
#define FP_GATE_SECTION "footpath_gate"
#define FP_GATE_PREFIX "__footpath_gate_"
#define FP_GATE_MISS_SYMBOL "__footpath_gate_miss"
enum { FP_GATE_OPEN = 0x8000 };

/* With --fp-query: where the counts of a function are, for a program that asks for its own paths
 * (footpath/runtime.h). A record goes where the code of its function goes. */
#define FP_QUERY_SECTION "footpath_query"
enum {
    FP_QUERY_TABLE = 1, /* `counters` is a hash table; else an array of words */
    FP_QUERY_PAIRS = 2, /* each id has two words in the array, of which the first is its count */
    FP_QUERY_TWICE = 4, /* the array is there twice: a count is the sum */
};

struct fp_query {
    uint64_t function; /* its address, as the program sees it */
    uint64_t counters; /* the first thread's */
    uint64_t laps;     /* of a table: the words of the laps */
    uint64_t npaths;   /* ids of paths; those of laps follow */
    uint32_t nlaps;
    uint32_t flags;
};

/* Objects with such records refer to this symbol, so that the linker takes what reads them. */
#define FP_QUERY_SYMBOL "__footpath_query"

/* ---- a second body of functions with sites (--fp-pep=body, docs/pep.md) ---- */

/* footpath-cc appends it after the link, in one more segment: unwind tables, the tables below,
 * code. Its program header is that of a note without content, which is only there for that. */
#define FP_BODY_SECTION "footpath_body"
#define FP_BODY_CODE_SECTION ".text.footpath_body"
#define FP_BODY_ROOM_SECTION ".note.footpath.room"

/* From the address `first` on of the first body, up to the next step, the second body has the same
 * code at `second` and what follows; second is 0 where there is none. Distances from `origin`; by
 * rising `first`. */
struct fp_body_step {
    uint32_t first, second;
    uint32_t before; /* bytes of code that report the sites of `first`, in front of `second` */
};

/* All that the runtime wants to know of a site, in a line of the cache or two: what struct fp_site
 * says, and where its register or its running register is: a register of gregs (ucontext.h), or -1;
 * the running register lies at that of `frame_reg` plus `frame_offset`. */
struct fp_body_place {
    uint32_t first; /* its address in the first body: distance from `origin` */
    uint32_t flags;
    int64_t value, next;
    int64_t counters; /* distance from the record */
    uint32_t block, function;
    int32_t frame_offset;
    int8_t reg, frame_reg;
    uint8_t more;  /* the next one is at the same address */
    uint8_t alike; /* so many behind this one are of the same branch, with the same registers, for
                      other blocks: by rising block */
};

/* What the second body calls in the runtime. */
enum fp_body_entry {
    FP_BODY_SITE,   /* at sites: with the place on the stack, above 128 bytes of the function's */
    FP_BODY_CALL,   /* instead of a call: with the callee on the stack */
    FP_BODY_JUMP,   /* instead of a jump: with the target there, above 128 bytes, too */
    FP_BODY_RETURN, /* in front of a return */
    FP_BODY_NENTRIES
};

enum { FP_BODY_VERSION = 3, FP_BODY_RED_ZONE = 128 };

/* In the place that FP_BODY_SITE gets, the first one of its address: only the first places, which
 * are FP_SITE_BEHIND; only the others. */
enum { FP_BODY_FIRST_PLACES = 1 << 30, FP_BODY_OTHER_PLACES = 1 << 29 };

/* Of the runtime; footpath-cc fills in all but `entries`. Distances are from the record. */
struct fp_body_record {
    uint32_t version; /* 0: there is no second body */
    uint32_t nsteps;
    int64_t entries[FP_BODY_NENTRIES];
    int64_t origin, steps, places, code;
    uint64_t code_size;
    uint32_t nplaces;
    uint32_t functions; /* that have a second body, */
    uint32_t left_out;  /* and that have sites but none */
    uint32_t unused;
};

/* ---- executables that were rewritten (footpath exe, docs/executables.md) ---- */

/* The runtime in a rewritten file is told by this record where things are: `footpath exe` fills
 * it in. Distances are from the start of the record. */
struct fp_exe_part {
    int64_t at;
    uint64_t size; /* in bytes */
};

enum fp_exe_flag {
    FP_EXE_PROGRAM = 1, /* not a shared library */
    FP_EXE_FIXED = 2,   /* linked at a fixed address: slots are not relative to %gs */
    FP_EXE_STATIC = 4,  /* has no loader */
};

/* An old instruction, which is int3 now, and where to go on. Distances from `base`; by rising
 * `from`. */
struct fp_exe_trap {
    uint32_t from, to;
    uint32_t function; /* its place among the functions below */
    uint32_t sum;      /* 1 + its place among the sums below; 0: the code needs none */
};

/* What a path register is to hold where control comes to an old instruction. It is the address of
 * a counter that some path has there, so that the code that goes on counts within its counters. */
struct fp_exe_sum {
    uint32_t to;  /* the counter; distance from `base` */
    int32_t disp; /* of a slot: where it is, from the register `base` */
    uint8_t home; /* the register, as machine code numbers them; FP_EXE_IN_SLOT: a slot */
    uint8_t base;
    uint16_t unused;
};
enum { FP_EXE_IN_SLOT = 16 };

/* The path in flight of a frame in new code, from `at` to the next mark: as struct fp_mark for
 * compiled code. By rising `at`, which is a distance from the start of `code`. */
struct fp_exe_mark {
    uint32_t at;
    uint32_t function; /* its place among the functions below */
    uint32_t block;    /* with FP_LEFT_BEHIND; FP_EXE_NO_PATH: none is in flight */
    int32_t where;     /* where the path register is, see below */
};
#define FP_EXE_NO_PATH UINT32_MAX
/* `where`: the low 5 bits are a register by its DWARF number, FP_EXE_IN_SLOT or
 * FP_EXE_NO_HOME. What is above is added to the sum there, or is the sum itself. */
enum { FP_EXE_NO_HOME = 17, FP_EXE_HOME_BITS = 5 };

enum { FP_EXE_VERSION = 3 };

/* What the new code calls, and what the loader calls. */
enum fp_exe_entry {
    FP_EXE_HASH_MISS,
    FP_EXE_SPARSE_MISS,
    FP_EXE_HASH_EMPTY,
    FP_EXE_EARLY, /* as the resolver of an indirect function, while relocations are processed */
    FP_EXE_EARLY_WORD,  /* which that relocation sets */
    FP_EXE_START,       /* as a constructor */
    FP_EXE_FINISH,      /* as a destructor */
    FP_EXE_PERSONALITY, /* as a personality function, with the one before as a sixth argument */
    FP_EXE_ENTRY,       /* of static programs, with the next four: where the kernel starts them */
    FP_EXE_WATCHED,     /* a byte per number of a system call: is it to go through the runtime? */
    FP_EXE_THROUGH,     /* there, with the address behind the `syscall` instruction in rcx */
    FP_EXE_LEAVE_MIXED, /* at the entry of a longjmp, with where to go on in r11; as glibc's */
    FP_EXE_LEAVE_PLAIN, /* the same as musl's: the stack pointer is in the jmp_buf as it is */
    FP_EXE_NENTRIES
};

/* The numbers of system calls of static programs that go through the runtime: clone, fork, vfork,
 * execve, exit, exit_group, rt_sigaction, sigaltstack, prctl, arch_prctl, seccomp, execveat,
 * clone3. In files with a fixed address mmap and munmap, too. */
#define FP_EXE_CALLS 56, 57, 58, 59, 60, 231, 13, 131, 157, 158, 317, 322, 435
#define FP_EXE_CALLS_FIXED 9, 11

struct fp_exe_record {
    uint32_t version, flags;
    int64_t base; /* the lowest address of the file as it is loaded */
    struct fp_exe_part counters, tables, direct, code;
    struct fp_exe_part traps;         /* of struct fp_exe_trap */
    struct fp_exe_part functions;     /* that have traps: ids of the map */
    struct fp_exe_part sums;          /* of struct fp_exe_sum */
    struct fp_exe_part caught;        /* one 32-bit number per function: traps hit */
    struct fp_exe_part marks;         /* of struct fp_exe_mark; none: not asked for */
    struct fp_exe_part sums_at;       /* per function: its first counter, 32 bits from `base` */
    struct fp_exe_part relocations;   /* Elf64_Rela: words that are to be relative; static files */
    struct fp_exe_part headers;       /* Elf64_Phdr: what the program is told of itself; likewise */
    uint64_t address;                 /* of the record, as it is linked */
    int64_t program_entry;            /* where the program itself starts */
    int64_t entries[FP_EXE_NENTRIES]; /* filled in by the linker */
};

/* Notes named "footpath": their contents are the distances from there to the module's state
 * and to the record. */
enum { FP_NOTE_MODULE = 1, FP_NOTE_EXE = 2, FP_NOTE_ROOM = 3 /* empty: see rt_room.S */ };

/* The runtime's functions that take the place of libc's in the rewritten file alone have this
 * prefix and the name of the function. */
#define FP_EXE_INSTEAD_PREFIX "__footpath_instead_"

/* Where no register is free, a frame keeps its path sum in a slot: 8 bytes at CFA + FP_EXE_SLOT
 * relative to %gs, or in a file with a fixed address at CFA + FP_EXE_SLOT. The odd part keeps
 * a slot from having the lower 12 bits of what lies in its frame: processors take such
 * addresses for the same. */
enum { FP_EXE_SLOT = -(96 << 20) - 1096 };

#endif
