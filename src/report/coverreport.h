/* What `footpath coverage` prints: text, JSON, lcov and Cobertura. */
#ifndef FP_REPORT_COVERREPORT_H
#define FP_REPORT_COVERREPORT_H

#include "paths/coverage.h"
#include "paths/linecounts.h"
#include "report/json.h"

struct fp_cover_function {
    const struct fp_function *function;
    const char *name;
    struct fp_coverage coverage;
    const char *problem;
};

struct fp_cover_report {
    struct fp_cover_function *functions; /* measured ones, by file and line */
    size_t nfunctions;
    const struct fp_function **skipped;
    size_t nskipped;
    struct fp_coverage total;
    size_t redefined; /* functions in two builds with other paths: the total has no paths then */
    struct fp_line_counts lines;
};

/* only: functions whose name contains this, or NULL for all. */
struct fp_cover_report *fp_cover_make(struct fp_arena *arena, const struct fp_profile *profile,
                                      const char *only);

void fp_cover_text(struct fp_writer *out, const struct fp_cover_report *report, bool functions,
                   bool colours);
void fp_cover_json(struct fp_writer *out, const struct fp_cover_report *report);
void fp_write_lcov(struct fp_writer *out, const struct fp_line_counts *lines);
void fp_write_cobertura(struct fp_writer *out, const struct fp_line_counts *lines);
/* What `gcov --json-format` writes, with what gcovr wants besides. */
void fp_write_gcov_json(struct fp_writer *out, const struct fp_line_counts *lines);

/* "functions", "lines", "blocks", "edges", "paths", "basis"; false: no such name. */
bool fp_cover_figure(const struct fp_cover_report *report, const char *name,
                     struct fp_covered *out);

#endif
