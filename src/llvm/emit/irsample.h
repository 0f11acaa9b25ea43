/* Where a sampled path ends (paper 002, section 3.2): the id is at hand, and stored
 * only when the runtime asks for it. */
#ifndef FP_LLVM_IRSAMPLE_H
#define FP_LLVM_IRSAMPLE_H

#include "base/vec.h"
#include "llvm/emit/iredit.h"

struct fp_sample_point {
    LLVMValueRef counters;
    bool hashed;      /* they are a hash table */
    LLVMValueRef reg; /* the id is reg + value; or NULL: value. Running: its address */
    int64_t value;
    uint32_t target;    /* in front of a branch: only if it goes to this block */
    unsigned flags;     /* FP_SITE_RUNNING and what comes with it */
    int64_t next;       /* running: what the register stands for behind this, less itself */
    uint32_t cost;      /* instructions of the paths that end here, on average */
    LLVMValueRef moved; /* running: how far the loop around has moved it, in a register; or NULL */
};

struct fp_flag_test {
    LLVMValueRef marker; /* stands where the test goes until branches can be made */
    struct fp_sample_point end;
};

struct fp_sampling {
    struct fp_editor *ed;
    struct fp_arena *arena;
    enum fp_pep how;
    FP_VEC(struct fp_flag_test) tests;
};

/* At the builder's place. */
void fp_ir_emit_end(struct fp_sampling *sampling, const struct fp_sample_point *end);
/* Traps only. In front of a branch, for several of its ways at once; all use the same
 * registers. Every target of the branch must be marked as an arrival, before any other
 * code is put at its head. */
void fp_ir_emit_branch_ends(struct fp_sampling *sampling, const struct fp_sample_point *points,
                            size_t count, LLVMValueRef reg, LLVMValueRef moved);
void fp_ir_emit_arrival(struct fp_sampling *sampling, uint32_t block);
/* A path begins here, and the running register stands for something new. At the entry
 * it becomes a word of the frame, whatever happens to be in it. */
void fp_ir_emit_start(struct fp_sampling *sampling, LLVMValueRef word, int64_t next);
/* In front of an indirect call: its target, for the key of its site. Not with a flag. needs: the
 * function has a hash table. */
void fp_ir_emit_target(struct fp_editor *ed, LLVMValueRef table, uint64_t key, LLVMValueRef target);
/* Moves the running register, by an instruction that footpath-cc can take away (footpath/abi.h).
 * needs: value fits 32 bits with their sign. */
void fp_ir_emit_addition(struct fp_sampling *sampling, LLVMValueRef word, int64_t value);
/* When no more blocks are looked at: makes the branches of flag tests. */
void fp_ir_finish_ends(struct fp_sampling *sampling);

#endif
