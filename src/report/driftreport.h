/* What `footpath watch --against` prints at each look. */
#ifndef FP_REPORT_DRIFTREPORT_H
#define FP_REPORT_DRIFTREPORT_H

#include "model/model.h"
#include "paths/drift.h"
#include "report/json.h"

/* Which figure a threshold is for. */
enum fp_drift_by {
    FP_DRIFT_BY_PATHS,
    FP_DRIFT_BY_BRANCHES,
    FP_DRIFT_BY_FLIPPED,
    FP_DRIFT_BY_UNSEEN
};

/* "paths", "branches", "flipped", "unseen"; the last one is NULL. */
extern const char *const fp_drift_by_names[];

/* The figure: 0 where nothing has changed. For paths, what chance explains is taken off. */
double fp_drift_figure(const struct fp_drift_measures *m, enum fp_drift_by by);

enum fp_drift_verdict {
    FP_DRIFT_TOO_FEW,   /* too few paths were counted yet */
    FP_DRIFT_STRANGERS, /* too little of what runs is in functions that both builds have */
    FP_DRIFT_NEAR,      /* within the threshold, or there is none */
    FP_DRIFT_FAR,       /* past it */
};

struct fp_drift_view {
    const char *other;
    uint64_t evidence; /* how many counts a verdict needs */
    double least_matched;
    enum fp_drift_by by;
    double threshold; /* below 0: none */
    uint64_t top;     /* functions shown; 0: all */
    bool colours;
};

enum fp_drift_verdict fp_drift_judge(const struct fp_drift *drift,
                                     const struct fp_drift_view *view);

void fp_drift_text(struct fp_writer *out, const struct fp_drift *drift,
                   const struct fp_drift_view *view);
/* One object on one line: docs/formats/drift.schema.json. */
void fp_drift_json(struct fp_writer *out, const struct fp_drift *drift,
                   const struct fp_drift_view *view);

#endif
