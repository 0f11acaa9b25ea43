/* Profiles as those of LLVM 2.8 to 3.3: docs/formats/legacy.md. */
#ifndef FP_PATHS_LEGACYEXPORT_H
#define FP_PATHS_LEGACYEXPORT_H

#include "profile/profile.h"

/* For each run its arguments and a packet of edges, or of paths. Runs that were summed up by a
 * merge are one packet without arguments. A legacy file holds one module. */
bool fp_legacy_export(const struct fp_profile *profile, bool paths, struct fp_writer *out,
                      struct fp_error *error);

#endif
