/* What `footpath show` prints. */
#ifndef FP_REPORT_SHOW_H
#define FP_REPORT_SHOW_H

#include "report/json.h"
#include "model/model.h"

enum fp_show_view { FP_SHOW_PATHS, FP_SHOW_FUNCTIONS, FP_SHOW_EDGES, FP_SHOW_BLOCKS };

struct fp_show_options {
    enum fp_show_view view;
    uint64_t top; /* 0: all */
    bool colours;
};

void fp_show_text(struct fp_writer *out, const struct fp_report *report,
                  const struct fp_show_options *options);
void fp_show_json(struct fp_writer *out, const struct fp_report *report);

#endif
