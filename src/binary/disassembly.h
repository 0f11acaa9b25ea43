/* Instructions as text, in the syntax of the GNU assembler and objdump, by Zydis. */
#ifndef FP_BINARY_DISASSEMBLY_H
#define FP_BINARY_DISASSEMBLY_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an instruction is called: "jne". "(bad)" where the bytes are none. */
const char *fp_insn_mnemonic(struct fp_arena *arena, const unsigned char *bytes, size_t len);

struct fp_insn_text {
    const char *text;
    uint8_t length;
    bool is_call;    /* else a jump, where there is a target */
    uint64_t target; /* of a direct call or jump, or 0 */
};

/* "mov 0x8(%rdi),%rax", "je 0x4300". One byte is used where the bytes are no instruction. */
struct fp_insn_text fp_insn_disassemble(struct fp_arena *arena, const unsigned char *bytes,
                                        size_t len, uint64_t address);

#endif
