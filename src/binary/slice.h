/* Where a value of a function's machine code comes from: backwards over the known part of its
 * cfg, from an instruction to those that wrote a register or a slot of the stack.
 *
 * Made for jump tables, which are few; all is found on demand. The cfg is what direct jumps say
 * and what has been told of indirect ones. A call is taken to change caller-saved registers. */
#ifndef FP_BINARY_SLICE_H
#define FP_BINARY_SLICE_H

#include "base/bitset.h"
#include "binary/insnregs.h"

struct fp_slice_source {
    uint32_t from, next;
};

/* An instruction that stores a general register to a slot of the stack. */
struct fp_slice_store {
    uint32_t insn;
    ZydisRegister base;
    int64_t offset;
};

/* Constants that a slot may hold, as of the ways that were known then. */
struct fp_slice_slot {
    ZydisRegister base;
    int64_t offset;
    size_t known; /* sources.len then */
    struct {
        uint64_t *at;
        size_t len, cap;
    } values;
};

struct fp_slice {
    struct fp_arena *arena;
    const struct fp_object *object;
    const struct fp_machine_function *f;
    uint16_t *writes;       /* per instruction: general registers */
    struct fp_bitset falls; /* per instruction: control goes on to the next */
    uint32_t *first_source; /* per instruction: index into `sources`, a linked list */
    FP_VEC(struct fp_slice_source) sources;
    FP_VEC(struct fp_slice_store) stores; /* all, once one was asked for */
    bool stores_known;
    FP_VEC(struct fp_slice_slot) slots; /* whose constants are known */
    uint32_t *seen;                     /* per instruction: the last search that saw it */
    uint32_t search;
    size_t steps; /* instructions visited; a search ends where there are too many */
};

typedef FP_VEC(uint32_t) fp_slice_insns;
typedef FP_VEC(uint64_t) fp_slice_values;

/* For a function whose instructions are decoded. */
void fp_slice_init(struct fp_slice *slice, struct fp_arena *arena, const struct fp_object *object,
                   const struct fp_machine_function *function);

/* Before a new question: forgets how much was searched for the last one. */
void fp_slice_restart(struct fp_slice *slice);

/* An indirect jump may lead there. */
void fp_slice_add_jump(struct fp_slice *slice, uint32_t from, uint32_t to);

/* Appends the instructions that may have written the register's value in front of `at`. False
 * where the function's entry was reached too. */
bool fp_slice_writers(struct fp_slice *slice, uint32_t at, int gpr, fp_slice_insns *writers);

/* Appends the constants that the register may hold in front of `at`: addresses (lea), immediates,
 * also by way of other registers and of slots. What else it may hold is ignored. */
void fp_slice_constants(struct fp_slice *slice, uint32_t at, int gpr, fp_slice_values *values);

/* The one instruction that control comes from, or FP_NONE. */
uint32_t fp_slice_before(const struct fp_slice *slice, uint32_t at);

/* Appends the instructions that store a general register to the slot that `load` reads: a place
 * relative to rsp or rbp, named by the same operand. */
void fp_slice_stores(struct fp_slice *slice, const ZydisDecodedOperand *load,
                     fp_slice_insns *stores);

#endif
