/* Functions that never return to their caller, because every way through them ends in a call of
 * one that does not (exit, abort), in a trap, or nowhere. Compilers know this of functions in the
 * same file and put nothing, or something else, behind calls of them. */
#ifndef FP_BINARY_RETURNS_H
#define FP_BINARY_RETURNS_H

#include "binary/machine.h"

/* Adds the entries of such functions to the object's `endless`; whether there are any. needs: cfgs
 * of recovered functions. A function that was refused may return. */
bool fp_returns_find(struct fp_machine *machine);

#endif
