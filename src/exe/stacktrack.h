/* How far the stack pointer and the frame pointer are from the CFA in front of every instruction,
 * by following what the instructions do. The unwind tables say the same; a path slot is used only
 * where both agree (fp_stack_cfa). */
#ifndef FP_EXE_STACKTRACK_H
#define FP_EXE_STACKTRACK_H

#include "binary/frames.h"
#include "binary/liveness.h"
#include "binary/machine.h"

struct fp_stack_place {
    bool rsp_known, rbp_known;
    int64_t rsp, rbp; /* the CFA is rsp (rbp) plus this */
};

struct fp_stack {
    const struct fp_machine_function *function;
    const struct fp_frames *frames;
    struct fp_stack_place *before; /* per instruction */
    bool *seen;                    /* per instruction: control comes here */
};

/* In the arena. */
void fp_stack_track(struct fp_arena *arena, const struct fp_machine *machine,
                    const struct fp_machine_function *function, const struct fp_frames *frames,
                    const struct fp_liveness *liveness, struct fp_stack *stack);

/* Where the CFA is in front of an instruction: base (as machine code numbers registers) plus
 * offset. False where it is not known, or where code and tables differ. */
bool fp_stack_cfa(const struct fp_stack *stack, uint32_t insn, uint8_t *base, int64_t *offset);

#endif
