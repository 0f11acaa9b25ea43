/* What several subcommands do with combined profiles. */
#ifndef FP_TOOL_CLI_COMBINED_H
#define FP_TOOL_CLI_COMBINED_H

#include "combined/load.h"
#include "cli.h"
#include "report/show.h"

struct cli_show_combined {
    enum fp_show_view view;
    bool every_kind; /* no view was asked for: JSON has all */
    enum footpath_order by;
    uint64_t top;
    double above; /* -1: not asked */
    bool unseen, json;
    FILE *to; /* NULL: standard output */
};

int cli_show_combined(struct footpath *fp, const struct cli_show_combined *how);

/* All of them in one. NULL after saying what failed. */
struct fp_combined *cli_read_combined(const char *const *names, size_t count,
                                      struct fp_combiner *combiner);

/* Folds the runs in a combined profile into its summary: footpath combine -o X X. */
int cli_compact(const char *path);

/* Packets of types 8 and 9 of legacy files. */
int cli_export_legacy_combined(const struct cli_profiles *inputs, bool paths, const char *output);

/* "variation", "deviation", "mean", "count", "unseen". */
bool cli_rank_named(const char *name, enum footpath_order *by);

#endif
