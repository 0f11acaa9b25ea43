/* footpath export --format gcda: counts for gcc, beside its notes. */
#ifndef FP_TOOL_CLI_GCDA_H
#define FP_TOOL_CLI_GCDA_H

#include "profile/profile.h"

/* `notes` is a .gcno file or a folder with such files at any depth. The status of the command. */
int cli_export_gcda(const struct fp_profile *profile, const char *notes);

#endif
