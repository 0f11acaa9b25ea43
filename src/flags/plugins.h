/* The plugins that lie beside the tools: BIN/../lib/footpath/footpath-llvm-N.so. */
#ifndef FP_FLAGS_PLUGINS_H
#define FP_FLAGS_PLUGINS_H

#include "base/arena.h"
#include "base/error.h"

/* The file, or NULL and an error that lists the versions that are there. choose: the
 * option of the tool by which the user chooses a version. */
char *fp_plugin_find(struct fp_arena *arena, const char *llvm, const char *choose,
                     struct fp_error *error);

/* The lowest version above `version` whose plugin is there, or 0. */
int fp_plugin_after(int version);

#endif
