/* Showing combined profiles, for cmd_show.c and cmd_run.c. */
#ifndef FP_TOOL_SHOW_COMBINED_H
#define FP_TOOL_SHOW_COMBINED_H

#include "analysis/combine.h"
#include "analysis/rank.h"
#include "cli.h"
#include "report/show.h"

struct cli_show_combined {
    enum fp_show_view view;
    bool every_kind; /* no view was asked for: JSON has all */
    enum fp_rank_by by;
    uint64_t top;
    const char *function;
    double above; /* -1: not asked */
    bool unseen, json;
};

/* By its name (.cp) or by what is in it. */
bool cli_is_combined(const char *path);
int cli_show_combined(const struct cli_profiles *inputs, const struct cli_show_combined *how);

/* All of them in one. NULL after saying what failed. */
struct fp_combined *cli_read_combined(const char *const *names, size_t count, struct fp_combiner *combiner,
                                      uint32_t bins);
/* The most bins that one of them has; the default where none is combined yet. */
uint32_t cli_combined_bins(const char *const *names, size_t count);

/* "variation", "deviation", "mean", "count", "unseen". */
bool cli_rank_named(const char *name, enum fp_rank_by *by);

#endif
