/* Which general registers and flags are dead where in a recovered function.
 *
 * Trusts no calling convention: gcc -fipa-ra keeps values in caller-saved registers across calls
 * of functions it knows. A call uses all registers and defines none (of flags: uses none, kills
 * all). At a return all registers are live but caller-saved ones that this function itself writes
 * and does not save, of which no caller can expect anything, other than results. Where control
 * leaves otherwise, all registers are live. */
#ifndef FP_BINARY_LIVENESS_H
#define FP_BINARY_LIVENESS_H

#include "binary/machine.h"

/* Sets of registers: bit r for the register that machine code numbers r (rax 0, rcx 1, rdx 2,
 * rbx 3, rsp 4, rbp 5, rsi 6, rdi 7, r8 8 ...), and flags above. */
enum {
    FP_LIVE_GPRS = 0xffff,
    FP_LIVE_CF = 1 << 16,
    FP_LIVE_PF = 1 << 17,
    FP_LIVE_AF = 1 << 18,
    FP_LIVE_ZF = 1 << 19,
    FP_LIVE_SF = 1 << 20,
    FP_LIVE_OF = 1 << 21,
    FP_LIVE_FLAGS = 0x3f << 16,
};

struct fp_liveness {
    const struct fp_machine_function *function;
    uint32_t *before, *after; /* live, per instruction; everything where it is in no block */
    uint32_t *reads, *writes; /* per instruction, what it itself uses and changes */
    uint32_t *in;             /* live at a block's start, also of blocks without code */
    struct fp_arena scratch;  /* holds the above */
};

/* For a function with a cfg. */
void fp_liveness_make(struct fp_liveness *liveness, const struct fp_machine *machine,
                      const struct fp_machine_function *function);
void fp_liveness_free(struct fp_liveness *liveness);

/* Live at the start of a block. */
uint32_t fp_liveness_at_block(const struct fp_liveness *liveness, uint32_t block);

/* The registers (never rsp) that no instruction of these blocks reads or writes and that are dead
 * at every point of them: something else can live there from block to block. No register is free
 * across a call. */
uint32_t fp_liveness_unused(const struct fp_liveness *liveness, const uint32_t *blocks,
                            size_t nblocks);

#endif
