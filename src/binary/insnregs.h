/* What one instruction does to general registers and flags. Sets are those of liveness.h. */
#ifndef FP_BINARY_INSNREGS_H
#define FP_BINARY_INSNREGS_H

#include "binary/machine.h"

#include <Zydis/Zydis.h>

struct fp_insn_regs {
    uint32_t reads;
    uint32_t writes; /* changes it, or may */
    uint32_t kills;  /* what it held before does not matter behind the instruction */
};

struct fp_decoded_insn {
    ZydisDecodedInstruction i;
    ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

/* An instruction with its operands; false where there is none. */
bool fp_insn_decode_full(const struct fp_object *object, uint64_t address,
                         struct fp_decoded_insn *decoded);

/* Calls do nothing here but what the instruction itself does: push. */
struct fp_insn_regs fp_insn_registers(const struct fp_decoded_insn *decoded);

/* The number of a general register, whichever part of it is named; -1 for all others. */
int fp_insn_gpr(ZydisRegister reg);

#endif
