/* The notes of gcc (.gcno, written by -ftest-coverage): what gcc's own profiles count.
 *
 * One record per function: its identity, the blocks and arcs of its graph at the point where gcc
 * counts, the lines of each block. Block 0 is the entry, block 1 the exit. gcc counts the arcs
 * that are not on its spanning tree, in the order of the file (docs/formats/gcov.md).
 */
#ifndef FP_GCOV_NOTES_H
#define FP_GCOV_NOTES_H

#include "base/error.h"
#include "base/table.h"
#include "base/vec.h"

enum fp_gcc_arc_flag {
    FP_GCC_ARC_ON_TREE = 1, /* not counted: it follows from the others */
    FP_GCC_ARC_FAKE = 2,    /* from a call that may not return to the exit */
};

struct fp_gcc_arc {
    uint32_t src, dst, flags;
};

struct fp_gcc_line {
    uint32_t block, line;
    const char *file;
};

/* Of a statement; of the dump alone (gccdump.h). */
struct fp_gcc_place {
    uint32_t block, line, column;
    const char *file;
    bool decides; /* is it the condition of the branch at the end of the block? */
};

/* A direct call; of the dump alone. */
struct fp_gcc_call {
    uint32_t block;
    const char *callee;
};

struct fp_gcc_function {
    uint32_t ident, lineno_checksum, cfg_checksum; /* gcc takes no counts where one differs */
    const char *name, *file;
    uint32_t line, last_line; /* of its source */
    uint32_t nblocks;
    FP_VEC(struct fp_gcc_arc) arcs;
    FP_VEC(struct fp_gcc_line) lines;   /* by block */
    FP_VEC(struct fp_gcc_place) places; /* by block; none where there is no dump */
    FP_VEC(struct fp_gcc_call) calls;   /* by block */
    double *shares; /* per arc: how likely gcc takes it to be, negative: not said; or NULL */
};

struct fp_gcc_notes {
    uint32_t version, stamp;
    const char *folder; /* where gcc ran: names of files are relative to it */
    FP_VEC(struct fp_gcc_function) functions;
};

/* Of gcc 12 and newer. Strings are copied into the arena. */
bool fp_gcc_notes_read(struct fp_arena *arena, const void *bytes, size_t len, const char *name,
                       struct fp_gcc_notes *out, struct fp_error *error);

#endif
