/* Perf samples followed forward, from the registers and the stack that were recorded with them.
 *
 * A sample says where the program was. What it had in its registers often says where it went from
 * there: a branch that compares registers, a jump through a table of constants, a return to an
 * address on the stack. So the instructions behind each sample are followed (machinestate.h) until
 * something decides that is not known, which is mostly memory. Such a walk says how often a branch
 * goes where, whatever time its sides take. Samples by themselves do not say that: they tell time,
 * and time is not executions.
 *
 * Not handled: registers of precise samples (IBS, PEBS) may be of a later moment than their
 * address.
 *
 * Ways are counted by the block where the walk started: a block that takes long has many samples
 * for each execution, and whoever adds up walks from several blocks has to divide by that. */
#ifndef FP_PERF_FORWARD_H
#define FP_PERF_FORWARD_H

#include "binary/machine.h"
#include "perf/attribute.h"

/* What walks from one block saw of one edge whose block has other ways to go on. */
struct fp_way {
    uint32_t from_function, from_block; /* where the samples were; functions of the machine */
    uint32_t function, edge;
    uint64_t count; /* executions */
    uint64_t walks; /* that saw any */
};

struct fp_forward {
    FP_VEC(struct fp_way) ways;
    struct fp_table starts; /* function << 32 | block: walks from there */
    uint64_t walks;
};

/* Follows the samples of an event. Functions that a walk leads to are built. */
void fp_forward_follow(struct fp_arena *arena, struct fp_machine *machine,
                       const struct fp_perf_object *object, uint32_t event, struct fp_forward *out);

/* The instructions that run from a sample on, as linked, that one included: at most `most`. A call
 * that is not followed is followed by the instruction behind it. */
size_t fp_forward_trace(struct fp_arena *arena, struct fp_machine *machine,
                        const struct fp_register_hit *hit, uint64_t *addresses, size_t most);

#endif
