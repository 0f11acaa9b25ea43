/* What `footpath stats` and `footpath diff` print. */
#ifndef FP_REPORT_STATSREPORT_H
#define FP_REPORT_STATSREPORT_H

#include "paths/diff.h"
#include "paths/stats.h"
#include "report/json.h"

/* common may be NULL. */
void fp_stats_text(struct fp_writer *out, const struct fp_stats *stats,
                   const struct fp_common *common);
void fp_stats_json(struct fp_writer *out, const struct fp_stats *stats,
                   const struct fp_common *common);

struct fp_diff_view {
    uint64_t top; /* 0: all */
    bool colours, relative;
    double confidence; /* leave out what is known and below this */
};
void fp_diff_text(struct fp_writer *out, const struct fp_diff *diff, const struct fp_diff_side *a,
                  const struct fp_diff_side *b, const struct fp_diff_view *view);
void fp_diff_json(struct fp_writer *out, const struct fp_diff *diff, const struct fp_diff_side *a,
                  const struct fp_diff_side *b);

#endif
