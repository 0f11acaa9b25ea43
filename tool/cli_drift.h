/* Drift of a program that runs from the profile that it was built with: for footpath watch. */
#ifndef FP_TOOL_CLI_DRIFT_H
#define FP_TOOL_CLI_DRIFT_H

#include "cli.h"
#include "guide/guidedrift.h"
#include "report/driftreport.h"

struct cli_drift {
    struct fp_drift_view view; /* without `other`, nothing is compared */
    bool by_given;
    bool judged;     /* the last look was at enough counts */
    uint64_t judges; /* how many looks were */
    struct fp_arena arena;
    struct fp_profile *profile; /* one of the two */
    struct fp_guide guide;
    struct fp_drift_other other;
};

#define CLI_DRIFT_DEFAULTS {.view = {.evidence = 20000, .least_matched = 0.5, .threshold = -1}}

/* Reads what `view.other` names. False after saying what failed. */
bool cli_drift_open(struct cli_drift *drift);
void cli_drift_close(struct cli_drift *drift);

/* Compares and writes it out. EXIT_THRESHOLD where it is past the threshold. */
int cli_drift_look(struct cli_drift *drift, const struct fp_profile *now, bool json,
                   struct fp_writer *out);

/* At the end: with a threshold, and nothing ever judged, that is a failure. */
int cli_drift_outcome(const struct cli_drift *drift);

#endif
