/* Instructions of executables, for the forms of output that show them (report/codelines.h). */
#ifndef FP_TOOL_CLI_CODE_H
#define FP_TOOL_CLI_CODE_H

#include "report/codelines.h"

struct cli_code {
    struct fp_arena arena;
    const char *binary;     /* --binary, or NULL */
    struct fp_table opened; /* module (a pointer) -> struct cli_module_code (a pointer) */
    struct fp_code_reader reader;
};

void cli_code_init(struct cli_code *code, const char *binary);
void cli_code_free(struct cli_code *code);

#endif
