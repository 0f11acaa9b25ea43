/* --fp-dump: one function as text on stderr, while it is compiled. docs/footpath-cc.md
 * explains the text. */
#ifndef FP_LLVM_DUMP_H
#define FP_LLVM_DUMP_H

#include "llvm/work.h"

/* Prints what was decided about the function. Needs: everything but the code; or
 * f->skipped. */
void fp_job_dump(const struct fp_job *job);

#endif
