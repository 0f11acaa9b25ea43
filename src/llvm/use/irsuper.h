/* Path-guided duplication: copies of the code behind a merge for one way into it. */
#ifndef FP_LLVM_IRSUPER_H
#define FP_LLVM_IRSUPER_H

#include "llvm/read/irguide.h"

/* Says what was done, or why not: one line per decision. */
typedef void fp_ir_remark(void *context, const char *function, const char *text);

struct fp_ir_super {
    uint64_t hot; /* the least count of a block that is worth anything */
    bool eager; /* copy wherever a path has a branch behind another, if it pays or not: for tests */
    bool predict; /* also copies that save no branch but make one easier to predict */
    fp_ir_remark *remark;
    void *context;
};

/* Duplicates code in the function where the paths show that a branch depends on the way
 * to it. needs: branch weights set by fp_ir_set_branch_weights. breaks: ir. Returns the
 * number of copies made. */
uint32_t fp_ir_duplicate(struct fp_ir *ir, const struct fp_guide_function *counts,
                         const struct fp_ir_super *how);

#endif
