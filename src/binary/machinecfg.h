/* The cfg of a recovered function (recovered.h), once it is known where its indirect jumps lead
 * and where its exceptions land. */
#ifndef FP_BINARY_MACHINECFG_H
#define FP_BINARY_MACHINECFG_H

#include "base/bitset.h"
#include "binary/lsda.h"
#include "binary/machine.h"

/* Where an indirect jump leads: instructions, each once; none where it leaves. */
struct fp_exact_jump {
    uint32_t insn;
    uint32_t *targets;
    size_t *entries; /* per target: the first entry of the table that leads to it */
    size_t ntargets;
};

struct fp_exact_input {
    struct fp_arena *arena; /* for what is needed while building */
    const struct fp_object *object;
    struct fp_machine_function *f;
    const struct fp_lsda **lsdas; /* per range, or NULL */
    struct fp_exact_jump *jumps;  /* by instruction */
    size_t njumps;
};

/* What control reaches from the entry. */
struct fp_exact_reach {
    struct fp_bitset reached, leader; /* per instruction */
    const char *problem;              /* why the cfg cannot be made, or NULL */
};

void fp_exact_follow(const struct fp_exact_input *input, struct fp_exact_reach *reach);

/* Blocks, edges and pads of the function, in `arena`. */
void fp_exact_build(const struct fp_exact_input *input, const struct fp_exact_reach *reach,
                    struct fp_arena *arena);

/* Where an exception of a call lands: an instruction, or FP_NONE. */
uint32_t fp_exact_pad(const struct fp_exact_input *input, uint32_t call);

#endif
