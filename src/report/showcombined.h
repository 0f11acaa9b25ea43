/* What `footpath show` prints of a combined profile: events with their distribution
 * over runs, a small histogram each, as text or as JSON. Written on footpath/footpath.h. */
#ifndef FP_REPORT_SHOWCOMBINED_H
#define FP_REPORT_SHOWCOMBINED_H

#include "footpath/footpath.h"
#include "report/json.h"

struct fp_show_combined {
    struct footpath_event_filter filter;
    uint64_t top; /* 0: all */
    double above; /* tell the share of runs above this; -1: not asked */
    size_t width; /* of the terminal, in columns */
    bool colours, utf8;
};

void fp_show_combined_text(struct fp_writer *out, struct footpath *fp,
                           const struct fp_show_combined *options);
void fp_show_combined_json(struct fp_writer *out, struct footpath *fp,
                           const struct fp_show_combined *options);

#endif
