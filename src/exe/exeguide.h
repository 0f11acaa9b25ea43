/* A first profile of a program, so that the next copy of it counts with fewer instructions:
 * `footpath exe --guide`. It decides where operations stand and which blocks are copied, never what
 * is counted. */
#ifndef FP_EXE_EXEGUIDE_H
#define FP_EXE_EXEGUIDE_H

#include "base/error.h"
#include "binary/machine.h"

struct fp_exe_guide;

/* NULL, with the error, where the profile cannot be read or has no function of machine code. Close
 * what is opened. */
struct fp_exe_guide *fp_exe_guide_open(struct fp_arena *arena, const char *path,
                                       struct fp_error *error);
void fp_exe_guide_close(struct fp_exe_guide *guide);

/* How often each edge of a function was taken, per cfg edge, in the arena; `calls` is how often the
 * function was entered. NULL: it did not run, or its graph was another one. */
uint64_t *fp_exe_guide_edges(struct fp_arena *arena, const struct fp_exe_guide *guide,
                             const struct fp_machine_function *function, uint64_t *calls);

#endif
