/* Gates: commands whose exit status says whether a profile is good enough. A gate names what it
 * measured, and fails where that is not what was asked for. */
#ifndef FP_TOOL_CLI_GATE_H
#define FP_TOOL_CLI_GATE_H

#include "cli.h"

/* "prog (build 4f2a91c0d3b7, 3 runs), libx.so (...)". */
char *cli_measured(struct fp_arena *arena, const struct fp_profile *profile);

/* Can a figure of the profile be held against a bar? Not where a part could not be measured, or
 * where the files have runs of other programs and nobody said which. Says why not. */
bool cli_gate_open(const struct cli_profiles *inputs, const struct fp_profile *profile);

#endif
