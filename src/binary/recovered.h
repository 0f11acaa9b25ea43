/* Exact cfgs of all functions of an object, stripped or not: good enough to move the functions
 * and to count paths in them.
 *
 * Functions come from .eh_frame; names from symbols where there are any, else "fun." and the
 * address. An FDE that others jump into is a part of the function that does (foo.cold). What a
 * cfg of machine.h leaves open is decided here, or the function is refused:
 *
 *   - every block is reached by edges from the entry; code that nothing leads to is in no block;
 *   - a landing pad is a block without code with FP_BLOCK_PAD: unwind edges lead to it from the
 *     calls of its call sites, which end their blocks; its one out-edge leads to the code;
 *   - a call that returns twice ends its block with a twice edge (to a block without code, where
 *     other edges lead to the code behind it);
 *   - a jump table's jump has an edge FP_EDGE_SWITCH per target; where several jumps lead to one
 *     target, these jumps go through a hub of theirs. Hence the code that is reached by a pointer
 *     into the function's middle is exactly: targets of switch edges, targets of hubs, pads;
 *   - a jump through a pointer of no known table goes through a hub to every label whose address
 *     some pointer holds; in a function without such labels it is a tail call and leaves;
 *   - a conditional jump to another function has an edge to the tail, a block without code.
 *
 * What a graph may have too much is edges behind calls that do not return, and targets of tables
 * whose bound is not known; what it has too little is nothing, or an error that shows when moved
 * code is left: the old code is filled with traps. */
#ifndef FP_BINARY_RECOVERED_H
#define FP_BINARY_RECOVERED_H

#include "binary/frames.h"
#include "binary/machine.h"

/* Replaces the functions of an initialised machine by those of the frames, with cfgs. A function
 * that cannot be counted has `refused` set and may have no cfg. Fails where frames and sections
 * contradict each other. `frames` must live as long as the machine. */
bool fp_machine_recover(struct fp_machine *machine, const struct fp_frames *frames,
                        struct fp_error *error);

#endif
