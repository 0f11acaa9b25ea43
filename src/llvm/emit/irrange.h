/* Which values a path register can have somewhere: the least and the greatest.
 *
 * In a function with too many paths for an array, most of what is hot has small ids
 * (loops have few paths, and hot edges carry 0). Where a count can only be of such, it
 * needs no hash table (footpath/abi.h).
 *
 * Reads the code that irpath.c has made of constants, sums with constants, and phis; of
 * anything else nothing is known.
 */
#ifndef FP_LLVM_IRRANGE_H
#define FP_LLVM_IRRANGE_H

#include "base/table.h"
#include "base/vec.h"

#include <llvm-c/Core.h>

struct fp_ir_range {
    int64_t low, high; /* none when low > high */
    bool known;
};

struct fp_ir_ranges {
    struct fp_arena *arena;
    struct fp_table index; /* of a value: 1 + where its range is */
    FP_VEC(struct fp_ir_range) found;
    uint32_t depth; /* of what is being found now */
};

void fp_ir_ranges_init(struct fp_ir_ranges *ranges, struct fp_arena *arena);

struct fp_ir_range fp_ir_range_of(struct fp_ir_ranges *ranges, LLVMValueRef value);

#endif
