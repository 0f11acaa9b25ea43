/* Which FDEs are functions, and which are parts of others (foo.cold).
 *
 * A function is what is called, what has a symbol (unless its name says .cold), and what has its
 * address taken (other than by a jump table of addresses). A part is what starts with the frame of
 * another function: its first CFA is not rsp+8. What is neither is a part if all jumps to it come
 * from one function. A part belongs to the function that jumps into it or that it jumps into the
 * middle of. */
#ifndef FP_BINARY_PARTS_H
#define FP_BINARY_PARTS_H

#include "binary/references.h"

enum fp_fde_kind {
    FP_PART_IGNORED,  /* not code that is looked at: the PLT, data, an FDE given twice */
    FP_PART_FUNCTION, /* starts a function */
    FP_PART_PART,
    FP_PART_POINTED,   /* a function, unless all pointers to it are in jump tables of another */
    FP_PART_UNDECIDED, /* a function unless it turns out that one function alone leads to it */
};

struct fp_parts {
    const struct fp_references *references;
    const struct fp_frames *frames;
    enum fp_fde_kind *kind; /* per FDE */
    uint32_t *set;          /* per FDE: union-find */
    bool *overlaps;         /* per FDE: with another */
};

void fp_parts_find(struct fp_parts *parts, struct fp_arena *arena,
                   const struct fp_references *references);

/* Whether a jump can be meant for the code at its target: both have the same frame. Compilers jump
 * to the end of what they put apart where they know that control never comes there, and what lies
 * there may be a part of any function. */
bool fp_parts_agree(const struct fp_parts *parts, const struct fp_reference *jump);

/* The FDE that stands for all of a function. */
uint32_t fp_parts_root(const struct fp_parts *parts, uint32_t fde);

/* Whether a jump table of another function may make this FDE a part of that function: nothing
 * says that it is a function, and it is not yet part of one. A pointer to it says so, unless it
 * lies among pointers into the middle of the other function. */
bool fp_parts_joinable(const struct fp_parts *parts, uint32_t fde, uint32_t function);
/* False where they were one already. */
bool fp_parts_join(struct fp_parts *parts, uint32_t part, uint32_t function);

#endif
