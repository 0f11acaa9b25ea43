/* What came before samples, for footpath show: --pairs, --callers, --json. */
#ifndef FP_TOOL_CLI_PAST_H
#define FP_TOOL_CLI_PAST_H

#include "cli.h"
#include "report/pastreport.h"

enum cli_past { CLI_PAST_NONE, CLI_PAST_PAIRS, CLI_PAST_CALLERS };

struct cli_past_request {
    const struct fp_profile *profile;
    const char *filter;       /* --function, or NULL */
    const char *binary;       /* --binary, or NULL */
    struct fp_past_view view; /* without places */
};

/* As text. A status of the tool. */
int cli_show_past(const struct cli_past_request *request, enum cli_past what);

/* Adds to an object what there is: nothing where there is nothing. context: a struct
 * cli_past_request. */
void cli_json_past(struct fp_json *j, void *context);

#endif
