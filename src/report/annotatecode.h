/* Instructions with counts, in the place of source: the part of `footpath annotate` for executables
 * without lines. */
#ifndef FP_REPORT_ANNOTATECODE_H
#define FP_REPORT_ANNOTATECODE_H

#include "model/model.h"
#include "report/codelines.h"

struct fp_annotate_code {
    struct fp_writer *out;
    struct fp_arena *arena;
    const struct fp_code_reader *reader; /* or NULL */
    const struct fp_report_function *rf;
    const uint32_t *marks; /* per block: bit k is set where path k passes */
    size_t npaths;
    bool colours;
};

/* Per instruction: the count of its block in front of the first one, the shares of the ways out at
 * the last one, and a letter for each path. Code that never ran is one line. */
void fp_annotate_code(const struct fp_annotate_code *code);

/* "instructions": address, count and text of each. */
void fp_annotate_code_json(struct fp_json *j, struct fp_arena *arena,
                           const struct fp_code_reader *reader,
                           const struct fp_report_function *rf);

#endif
