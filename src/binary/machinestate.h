/* What is known of registers and memory at one moment of a program's run, and what one instruction
 * does to that. A register or a byte that is not known stays so until something known is written.
 *
 * Made for following a perf sample forward from its registers (perf/forward.h): most code that
 * decides a branch computes with registers, constants and the stack.
 *
 * Not handled: vector registers, which are never known, and memory that is not on the stack, unless
 * the object has it read-only or the instructions themselves wrote it. */
#ifndef FP_BINARY_MACHINESTATE_H
#define FP_BINARY_MACHINESTATE_H

#include "binary/insnregs.h"

enum {
    FP_STATE_BELOW = 1024, /* bytes below the stack pointer that calls and pushes may fill */
    FP_STATE_ABOVE = 1024, /* bytes of the stack that are taken from a sample, at most */
    FP_STATE_STORES = 16,  /* other memory: the last stores */
};

struct fp_known_store {
    uint64_t address, value;
    uint8_t size;
};

struct fp_machine_state {
    const struct fp_object *object;
    uint64_t bias; /* where the object is loaded, less where it is linked */
    uint64_t gpr[16];
    uint16_t known;              /* registers, a bit each */
    uint32_t flags, flags_known; /* as the processor numbers them: ZYDIS_CPUFLAG_CF ... */
    uint64_t stack_start;        /* the address of stack[0] */
    unsigned char stack[FP_STATE_BELOW + FP_STATE_ABOVE];
    unsigned char stack_known[FP_STATE_BELOW + FP_STATE_ABOVE];
    /* Somebody else may have written to variables on the stack. What a function saves there itself
     * is still known: registers and return addresses. */
    bool stack_shared;
    struct fp_known_store stores[FP_STATE_STORES];
    unsigned nstores;
};

/* Nothing is known. */
void fp_state_init(struct fp_machine_state *state, const struct fp_object *object, uint64_t bias);

void fp_state_set(struct fp_machine_state *state, int gpr, uint64_t value);

/* All of them, as the processor numbers them. */
void fp_state_set_flags(struct fp_machine_state *state, uint64_t flags);

/* The stack from the stack pointer on, which must be known. */
void fp_state_set_stack(struct fp_machine_state *state, const unsigned char *bytes, size_t len);

/* What an instruction does that does not change where control goes. `address` is as linked. */
void fp_state_step(struct fp_machine_state *state, uint64_t address,
                   const struct fp_decoded_insn *insn);

/* Is the condition of a conditional jump known? */
bool fp_state_branches(const struct fp_machine_state *state, const struct fp_decoded_insn *insn,
                       bool *taken);

/* Where an indirect jump or call leads, or a return, which is taken from the stack: as linked. */
bool fp_state_target(struct fp_machine_state *state, uint64_t address,
                     const struct fp_decoded_insn *insn, uint64_t *target);

/* A call that is followed: puts the return address on the stack. */
void fp_state_push_return(struct fp_machine_state *state, uint64_t address,
                          const struct fp_decoded_insn *insn);

/* A call of code that is not followed, after it has returned. */
void fp_state_forget_call(struct fp_machine_state *state);

#endif
