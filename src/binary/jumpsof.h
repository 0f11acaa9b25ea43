/* Where all indirect jumps of one recovered function lead (recovered.h): by tables, by labels,
 * or out of the function. */
#ifndef FP_BINARY_JUMPSOF_H
#define FP_BINARY_JUMPSOF_H

#include "binary/jumptable.h"
#include "binary/machinecfg.h"
#include "binary/parts.h"

struct fp_jumps {
    struct fp_arena *arena; /* for what is needed while recovering */
    struct fp_parts *parts;
    struct fp_machine_function *f;
    uint32_t root;                       /* its FDE */
    uint64_t looking_at;                 /* the address of the jump whose tables are read */
    FP_VEC(uint32_t) insns;              /* the indirect jumps */
    FP_VEC(struct fp_jump_found) founds; /* of each */
    FP_VEC(uint32_t) joins;              /* FDEs that tables show to be parts of it */
    bool sure_labels;    /* some labels are not just numbers that look like addresses */
    const char *problem; /* or NULL */
};

/* Finds tables. Where `joins` is not empty, the function has more parts: ask again with them. */
void fp_jumps_find(struct fp_jumps *jumps);

/* Labels of the function that nothing found so far explains. */
void fp_jumps_labels(struct fp_jumps *jumps, struct fp_arena *arena);

/* The targets of each jump, for the cfg. Jumps that may lead anywhere go to all labels, or leave
 * where the stack is as at a tail call; sets `problem` where that cannot be told. */
void fp_jumps_decide(struct fp_jumps *jumps, struct fp_exact_input *input);

#endif
