/* Code of a static program that is not moved, and changes in it. Where the runtime has to see
 * something there, a few instructions become a jump to code of ours, which has them and what is
 * new.
 *
 * Not handled: a jump into the middle of such instructions whose target is computed. */
#ifndef FP_EXE_BARECODE_H
#define FP_EXE_BARECODE_H

#include "binary/references.h"
#include "exe/exework.h"

struct fp_bare_code {
    struct fp_exe_work *w;
    struct fp_references references;
    struct fp_table targets;      /* of jumps in it */
    FP_VEC(struct fp_insn) insns; /* by address, section by section */
    FP_VEC(struct fp_code_range) moved;
};

enum { FP_BARE_JUMP_SIZE = 5 };

/* needs: all functions prepared. */
void fp_bare_code_find(struct fp_bare_code *bare, struct fp_exe_work *work);

/* Does something lead to this address from elsewhere? */
bool fp_bare_is_entered(const struct fp_bare_code *bare, uint64_t address);
/* Does control come to the instruction from the one before, and from nowhere else? */
bool fp_bare_follows(const struct fp_bare_code *bare, size_t insn);
/* The address behind it. */
uint64_t fp_bare_end(const struct fp_bare_code *bare, size_t insn);

/* Puts the code of `pieces` into the file, and a jump to it in the place of instructions. */
bool fp_bare_replace(struct fp_bare_code *bare, struct fp_pieces *pieces, size_t first,
                     size_t count);

/* ---- what the runtime has to see ---- */

/* Calls of the kernel. Fails where one cannot be seen. */
bool fp_bare_calls(struct fp_bare_code *bare);
/* longjmp, which leaves frames. */
bool fp_bare_jumps(struct fp_bare_code *bare);

#endif
