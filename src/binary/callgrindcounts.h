/* Exact counts from valgrind's callgrind, to judge inferred counts by:
 *
 *     valgrind --tool=callgrind --dump-instr=yes --collect-jumps=yes --skip-plt=no PROG
 *
 * gives how often each instruction ran and each jump was taken. A `rep`
 * instruction is counted per iteration there; such counts are replaced by those
 * of the neighbours in its block.
 */
#ifndef FP_BINARY_CALLGRINDCOUNTS_H
#define FP_BINARY_CALLGRINDCOUNTS_H

#include "binary/machine.h"

struct fp_taken_jump {
    uint64_t from, to, count;
};

struct fp_callgrind {
    struct fp_arena *arena;
    struct fp_table executed; /* address -> count */
    FP_VEC(struct fp_taken_jump) jumps;
    struct fp_table jumps_from; /* address -> 1 + first jump; they are ordered by from */
    struct fp_table called;     /* address -> calls */
    struct fp_table calls_from; /* address of the instruction -> calls */
};

/* What a file says about one object, named by its path. */
bool fp_callgrind_read(struct fp_arena *arena, const char *path, const char *object,
                       struct fp_callgrind *out, struct fp_error *error);

/* Exact edge counts of a function whose cfg was made; false if it did not run. */
bool fp_callgrind_edges(const struct fp_callgrind *callgrind,
                        const struct fp_machine_function *function, uint64_t *entries,
                        uint64_t *edges);

/* Executions of a block. All its instructions have the same count, except for `rep` and behind
 * calls that did not return. */
uint64_t fp_callgrind_block(const struct fp_callgrind *callgrind,
                            const struct fp_machine_function *function, uint32_t block);

/* Writes an edge profile of the program `binary`, by its counts in the file `input`. */
bool fp_callgrind_import(const char *input, const char *binary, const char *output,
                         struct fp_error *error);

#endif
