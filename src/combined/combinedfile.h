/* Writing combined profiles: docs/formats/combined.md. Reading them: combined/load.h. */
#ifndef FP_COMBINED_COMBINEDFILE_H
#define FP_COMBINED_COMBINEDFILE_H

#include "combined/combine.h"

/* A file with one summary, and behind it runs that may be written again; `going` may be
 * NULL. */
bool fp_combined_write(const char *path, uint64_t program, uint64_t id,
                       struct fp_combined *combined, const struct fp_unfinished *going,
                       struct fp_error *error);

#endif
