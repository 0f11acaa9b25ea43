/* --fp-out: where a program or library writes its profile, baked in at the link. */
#ifndef FP_CC_OUT_H
#define FP_CC_OUT_H

#include "base/arena.h"

/* An object file that holds `pattern` as the string FP_OUT_SYMBOL. The file lies in
 * memory, under the name that is returned, for as long as this process and those it
 * executes run: nothing is left behind, however the link ends. NULL with errno set where
 * that fails. */
char *cc_out_object(struct fp_arena *arena, const char *pattern);

#endif
