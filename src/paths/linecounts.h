/* Counts of source lines, from counts of blocks.
 *
 * A line's count in one function is that of the block that ran most often among
 * those with code of the line: a `for` counts its tests, as in llvm-cov. Copies of
 * a line (functions inlined in several places, templates) are added up. For code
 * compiled without optimisation this is exact; an optimiser may spread a line over
 * blocks (unrolled or split loops), and then the count is a lower bound.
 *
 * A line may also have run where its code is folded into other code (source.unseen of a function),
 * and the line of a call where the called function was inlined. If all its code has 0 and such a
 * place ran, its count is not known: it is not among the lines, but among the `unknown` ones.
 */
#ifndef FP_PATHS_LINECOUNTS_H
#define FP_PATHS_LINECOUNTS_H

#include "paths/edges.h"

struct fp_line {
    uint32_t line;
    uint64_t count;
};

/* A way out of a branch that ends on this line. */
struct fp_line_branch {
    uint32_t line;
    uint32_t branch; /* which branch of the file: counted from 0 */
    uint32_t way;    /* which way out of it */
    uint64_t reached, taken;
};

struct fp_line_function {
    const char *name; /* linkage name */
    uint32_t line;
    uint64_t calls;
};

struct fp_line_run {
    uint32_t first, n;
};

struct fp_source_file {
    const char *name;
    uint64_t sum;                              /* of the file that was compiled, or 0 */
    FP_VEC(struct fp_line) lines;              /* by line */
    FP_VEC(struct fp_line_branch) branches;    /* by line, branch, way */
    FP_VEC(struct fp_line_function) functions; /* by line, name */
    FP_VEC(struct fp_line) unknown;            /* by line: may have run, or not */
    struct fp_table by_line;                   /* line -> 1 + count; until finished */
    FP_VEC(struct fp_line_run) unseen;         /* lines that may have run unseen; likewise */
    uint32_t nbranches;
};

struct fp_line_counts {
    struct fp_arena *arena;
    struct fp_strtable by_name;          /* 1 + index in files */
    FP_VEC(struct fp_source_file) files; /* by name, once finished */
};

void fp_line_counts_init(struct fp_line_counts *lines, struct fp_arena *arena);
void fp_line_counts_add(struct fp_line_counts *lines, const struct fp_function *function,
                        const struct fp_edge_counts *edges);
/* Everything of a profile, then finished. */
void fp_line_counts_of_profile(struct fp_line_counts *lines, struct fp_arena *arena,
                               const struct fp_profile *profile);
/* Sorts; afterwards nothing may be added. */
void fp_line_counts_finish(struct fp_line_counts *lines);

/* The line's count in a finished file, or NULL where it has no code or the count is not known. */
const struct fp_line *fp_line_find(const struct fp_source_file *file, uint32_t line);
/* Has the line code, and a count that is not known? */
bool fp_line_is_unknown(const struct fp_source_file *file, uint32_t line);

#endif
