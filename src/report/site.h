/* The report as a static web site: docs/report.md.
 *
 * DIR/index.html, a few assets, and DIR/data/: index.js holds a row per function;
 * f/N.js the graphs and paths of some functions; s/F-K.js lines of source file F.
 * Pages opened from a folder may not fetch files, so data are scripts that the page
 * loads when it needs them. All text reaches the page as JSON strings and is shown
 * as text; nothing of the program's is ever markup.
 */
#ifndef FP_REPORT_SITE_H
#define FP_REPORT_SITE_H

#include "combined/combinedview.h"
#include "report/codelines.h"
#include "report/json.h"
#include "model/model.h"
#include "paths/gap.h"
#include "profile/timeline.h"
#include "source/source.h"

/* One of several profiles of the same program, shown side by side. */
struct fp_site_column {
    const char *label;
    struct fp_profile *profile;
};

/* What production did and tests did not, and what both are, in words. */
struct fp_site_gap {
    struct fp_gaps gaps; /* of the site's profile */
    const char *production, *tests;
};

struct fp_site_options {
    const char *folder, *title;
    const struct fp_report *whole; /* of all functions, where the site shows some; or NULL */
    size_t paths;                  /* listed per function */
    size_t untaken;                /* likewise, of those never taken */
    size_t graphs; /* functions laid out by Graphviz; the page lays out the others */
    const struct fp_site_column *columns;
    size_t ncolumns;                     /* 0 or at least 2 */
    const struct fp_combined_view *view; /* distributions over runs, or NULL */
    const struct fp_site_gap *gap;       /* or NULL */
    const struct fp_timeline *history;   /* the profile by time, or NULL */
    const struct fp_code_reader *code;   /* for instructions where there are no lines, or NULL */
    void (*progress)(const char *what, size_t done, size_t all);
};

/* needs: a report with edges. */
bool fp_site_write(const struct fp_report *report, struct fp_sources *sources,
                   const struct fp_site_options *options, struct fp_error *error);

#endif
