/* Source with counts, in the terminal: what `footpath annotate` prints. An executable that has no
 * lines is shown by its instructions. */
#ifndef FP_REPORT_ANNOTATE_H
#define FP_REPORT_ANNOTATE_H

#include "report/codelines.h"
#include "report/json.h"
#include "model/model.h"
#include "source/source.h"

struct fp_annotate_options {
    uint64_t top;   /* functions; 0: all that ran */
    uint64_t paths; /* hot paths marked in the margin, at most 26 */
    bool colours;
    const struct fp_code_reader *code; /* for instructions where there are no lines, or NULL */
};

/* needs: a report with edges. */
void fp_annotate_text(struct fp_writer *out, const struct fp_report *report,
                      struct fp_sources *sources, const struct fp_annotate_options *options);
void fp_annotate_json(struct fp_writer *out, const struct fp_report *report,
                      struct fp_sources *sources, const struct fp_annotate_options *options);

/* The lines of its own file that a function's code comes from, the line of its
 * head included; 0, 0 without debug information. */
void fp_function_lines(const struct fp_function *function, uint32_t *first, uint32_t *last);

#endif
