/* The cfg of a function of machine code (x86-64).
 *
 * A function is the code of its symbol and of the parts that the compiler put
 * apart (foo.cold). It is decoded from front to end; blocks start at the entry,
 * at targets of jumps and behind jumps. A call does not end a block, unless it is
 * to a function that is known not to return.
 *
 * Where control goes that the code does not say:
 *   - a jump through a table leads to what the table holds (jumptable.h);
 *   - a jump to another function is a tail call and leaves;
 *   - an exception goes from the calls that can throw it, through a hub, to where it lands
 *     (lsda.h);
 *   - code that nothing leads to is reached through the hub as well, from the indirect jumps that
 *     were not resolved. Where there are none it is dead; in a function without frame information,
 *     where nothing is known of exceptions, it is reached from blocks with calls.
 */
#ifndef FP_BINARY_MACHINE_H
#define FP_BINARY_MACHINE_H

#include "graph/cfg.h"
#include "count/function.h"
#include "binary/object.h"

enum fp_insn_kind {
    FP_INSN_PLAIN,
    FP_INSN_NOP,
    FP_INSN_CALL, /* target is 0 where it is not known */
    FP_INSN_JUMP,
    FP_INSN_BRANCH, /* a conditional jump */
    FP_INSN_JUMP_INDIRECT,
    FP_INSN_RETURN,
    FP_INSN_STOP, /* control does not continue: ud2, hlt, or not code at all */
    /* A conditional jump over the lock prefix of the next instruction, with which it is one:
     * nothing may come between. glibc has it where one thread needs no lock. In recovered
     * functions only. */
    FP_INSN_SKIP,
};

enum fp_insn_flag {
    FP_INSN_LOADS = 1,
    FP_INSN_STORES = 2,
    FP_INSN_DIVIDES = 4,
    FP_INSN_MULTIPLIES = 8,
    FP_INSN_FLOATS = 16,  /* floating-point arithmetic */
    FP_INSN_REPEATS = 32, /* rep: executed once, counted per iteration by some tools */
    FP_INSN_LOCKED = 64,
    FP_INSN_TWICE = 128, /* a call that returns twice (setjmp); in recovered functions only */
    FP_INSN_FLOAT_DIVIDES = 256, /* division or square root of floats, also of several at once */
};

struct fp_insn {
    uint64_t address;
    uint64_t target; /* of direct calls and jumps */
    uint32_t block;  /* or FP_NONE: padding */
    uint8_t length, kind;
    uint16_t flags;
};

struct fp_code_range {
    uint64_t address, size;
    uint32_t first_insn, ninsns; /* once it is built */
    uint32_t fde;                /* its index, in recovered functions; else FP_NONE */
};

struct fp_machine_block {
    uint32_t first_insn, ninsns; /* 0 for those without code: hubs, tail, pads */
};

/* Where an exception lands: a block without code, and the instruction behind it. */
struct fp_machine_pad {
    uint32_t block;
    uint32_t insn;
};

/* A table that an indirect jump reads its target from. */
struct fp_machine_table {
    uint32_t jump;     /* the instruction */
    uint64_t address;  /* of entry 0 */
    uint64_t base;     /* what is added to an entry; 0 where entries are addresses */
    uint8_t entry;     /* bytes: 4 or 8 */
    bool bounded;      /* the number of entries was found in the code */
    uint64_t *targets; /* per entry; 0: a hole, which leads nowhere */
    size_t ntargets;
};

struct fp_machine_function {
    const struct fp_object_symbol *symbol;
    FP_VEC(struct fp_code_range) ranges; /* the first has the entry */
    FP_VEC(struct fp_insn) insns;        /* range by range, by address */
    struct fp_cfg *cfg;
    struct fp_edge_info *edges; /* per cfg edge */
    struct fp_machine_block *blocks;
    uint32_t hub, tail;  /* blocks without code, or FP_NONE; recovered functions have no such hub */
    uint32_t unresolved; /* indirect jumps whose targets are not known */

    /* The rest is for recovered functions alone (recovered.h). */
    const char *refused;                    /* why it cannot be counted, or NULL */
    FP_VEC(struct fp_machine_pad) pads;     /* by instruction */
    FP_VEC(struct fp_machine_table) tables; /* by jump */
    FP_VEC(uint64_t) labels; /* addresses in its middle that pointers in data or code hold */
};

struct fp_frames;

struct fp_machine_span {
    uint64_t address, size;
    uint32_t function;
};

/* All functions of an object, sorted by address; separate parts are joined. */
struct fp_machine {
    struct fp_arena *arena;
    struct fp_object *object;
    const struct fp_frames
        *frames; /* where they were read, else NULL: they say what exceptions do */
    struct fp_machine_function *functions;
    size_t nfunctions;
    FP_VEC(struct fp_machine_span) spans; /* by address: which function the code is of */
};
void fp_machine_init(struct fp_machine *machine, struct fp_arena *arena, struct fp_object *object);

/* Decodes a function and makes its cfg, the first time it is called for it. */
void fp_machine_build(struct fp_machine *machine, struct fp_machine_function *function);

/* The function that covers an address, or NULL; its cfg may not be made yet. */
struct fp_machine_function *fp_machine_find(const struct fp_machine *machine, uint64_t address);

/* The instruction that starts at, or covers, an address: an index, or FP_NONE. */
uint32_t fp_machine_insn(const struct fp_machine_function *function, uint64_t address, bool exact);

/* Decodes up to the end of `bytes`; gives the number of bytes used, at least 1. */
uint8_t fp_insn_decode(const unsigned char *bytes, size_t len, uint64_t address,
                       struct fp_insn *insn);

/* What else an instruction says. */
struct fp_insn_names {
    uint64_t place;       /* memory relative to rip */
    uint64_t fixed_place; /* displacement of memory that is not relative to rip, or 0 */
    uint64_t fixed_value; /* immediate, or 0 */
    bool has_place;
    bool taken;       /* `place` is not accessed: lea takes its address */
    bool broken;      /* not an instruction */
    bool transaction; /* xbegin */
    bool direct;      /* a call or jump to `target`, not to what is stored there */
};

uint8_t fp_insn_decode_names(const unsigned char *bytes, size_t len, uint64_t address,
                             struct fp_insn *insn, struct fp_insn_names *names);

/* Functions of libc and libstdc++ that do not return. The call's target is known by its name. */
bool fp_machine_never_returns(const struct fp_object *object, const struct fp_insn *call);

#endif
