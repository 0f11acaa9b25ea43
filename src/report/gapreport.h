/* What `footpath gap` prints: text, JSON and SARIF. */
#ifndef FP_REPORT_GAPREPORT_H
#define FP_REPORT_GAPREPORT_H

#include "model/model.h"
#include "paths/gap.h"
#include "report/json.h"

struct fp_gap_view {
    uint64_t top;  /* gaps shown; 0: all */
    bool by_count; /* shares are of executions of paths, not of cost */
    bool paths;    /* each path of a gap, not the most costly one */
    bool colours;
    const char *production, *tests; /* what they are, in words */
    struct fp_sources *sources;     /* for the texts of conditions, or NULL */
    size_t width;                   /* of lines, in columns */
    const char *folder;             /* of the project: SARIF names files from there; or NULL */
};

void fp_gap_text(struct fp_writer *out, const struct fp_gaps *gaps, const struct fp_gap_view *view);
void fp_gap_json(struct fp_writer *out, const struct fp_gaps *gaps, const struct fp_gap_view *view);

/* Static Analysis Results Interchange Format 2.1.0, which services for code review read. */
void fp_gap_sarif(struct fp_writer *out, const struct fp_gaps *gaps,
                  const struct fp_gap_view *view);

/* ---- what the forms of output share ---- */

extern const char *const fp_gap_reason_names[FP_GAP_REASONS];

/* Where the paths leave what was tested. Of a function as a whole: where that is defined. */
struct footpath_place fp_gap_place(const struct fp_gap *gap);
/* "no test took this branch" */
const char *fp_gap_reason(const struct fp_gap *gap);
/* All of production, in instructions or in executions of paths. */
double fp_gaps_whole(const struct fp_gaps *gaps, bool by_count);

#endif
