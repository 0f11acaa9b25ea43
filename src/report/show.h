/* What `footpath show` prints. Written on footpath/footpath.h alone. */
#ifndef FP_REPORT_SHOW_H
#define FP_REPORT_SHOW_H

#include "footpath/footpath.h"
#include "report/json.h"

enum fp_show_view { FP_SHOW_PATHS, FP_SHOW_FUNCTIONS, FP_SHOW_EDGES, FP_SHOW_BLOCKS };

struct fp_show_options {
    enum fp_show_view view;
    uint64_t top; /* 0: all */
    bool colours;
    bool inclusive;       /* of functions: with what they called, and in that order */
    size_t width;         /* of the terminal, in columns */
    const uint64_t *path; /* of paths: only those with this id; or NULL */
};

void fp_show_text(struct fp_writer *out, struct footpath *fp,
                  const struct fp_show_options *options);
/* Lines with a tab between the fields, for scripts: docs/formats/show-plain.md. */
void fp_show_plain(struct fp_writer *out, struct footpath *fp,
                   const struct fp_show_options *options);
void fp_show_json(struct fp_writer *out, struct footpath *fp);
/* The same; `more` writes further keys of the object. */
void fp_show_json_with(struct fp_writer *out, struct footpath *fp,
                       void (*more)(struct fp_json *j, void *context), void *context);

#endif
