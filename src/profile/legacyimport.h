/* Profiles of LLVM 2.8 to 3.3 (docs/formats/legacy.md), as profiles of ours. */
#ifndef FP_PROFILE_LEGACYIMPORT_H
#define FP_PROFILE_LEGACYIMPORT_H

#include "base/error.h"

/* Reads a legacy file of counts of one run. `binary` is the program, built by footpath-cc
 * from the same bitcode. Writes a profile. */
bool fp_legacy_import(const char *input, const char *binary, const char *output,
                      struct fp_error *error);

#endif
