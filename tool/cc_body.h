/* What footpath-cc does with a program that was just linked and samples its paths. */
#ifndef FP_TOOL_CC_BODY_H
#define FP_TOOL_CC_BODY_H

#include "base/error.h"

/* Gives it a second body (exe/secondbody.h). Where that cannot be done it stays as it is: its
 * runtime then takes samples by traps. With `program`, the name that footpath-cc was called by,
 * what was done is said on stderr. */
bool cc_add_second_body(const char *path, const char *program, struct fp_error *error);

#endif
