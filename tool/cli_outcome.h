/* What the copies of footpath p3 counted, and what that took. */
#ifndef FP_TOOL_CLI_OUTCOME_H
#define FP_TOOL_CLI_OUTCOME_H

#include "cli.h"
#include "p3/copies.h"

struct cli_outcome {
    uint32_t ncopies;
    struct fp_profile **copies, *sequential;
    double *seconds, sequential_seconds; /* from the start to the end of each process */
    uint64_t *hits, sequential_hits;
    bool have_hits;
};

/* Loads the profiles of the copies, and of the reference where it is to be checked. False
 * after saying what failed; the outcome is to be freed in any case. */
bool cli_load_outcome(struct fp_copies *p, struct cli_outcome *o);
void cli_free_outcome(struct cli_outcome *o);

/* Both on standard error: standard output is the program's. */
void cli_print_outcome(const struct cli_outcome *o);
void cli_print_outcome_json(const struct cli_outcome *o);

#endif
