/* What cuts and doors take away: of the paths taken, how many ended at an edge that a path could
 * have gone on by. Such a path and the one that began there would be one path with
 * --fp-cuts=few. */
#ifndef FP_PATHS_PATHENDS_H
#define FP_PATHS_PATHENDS_H

#include "profile/profile.h"

struct fp_path_ends {
    uint64_t taken; /* paths, as often as they were taken; those that never ended are left out */
    uint64_t at_cuts, at_doors;
};

void fp_path_ends_of(const struct fp_module *module, struct fp_path_ends *ends);

#endif
