/* What the text forms of `footpath show` share. */
#ifndef FP_REPORT_SHOWPARTS_H
#define FP_REPORT_SHOWPARTS_H

#include "footpath/footpath.h"
#include "report/json.h"
#include "report/show.h"

#define FP_BOLD "\033[1m"
#define FP_DIM "\033[2m"
#define FP_PLAIN "\033[0m"

struct fp_show_out {
    struct fp_writer *out;
    struct footpath *fp;
    bool colours;
    struct fp_arena scratch;
};

/* The code, or "" without colours. */
const char *fp_show_colour(const struct fp_show_out *v, const char *code);

/* The last part of a file name, plain. */
const char *fp_show_file(struct fp_show_out *v, const char *file);

/* "file.c:12"; of an executable without lines "gzip:0x4290"; else the function's file. `place` may
 * be NULL. */
const char *fp_show_place(struct fp_show_out *v, const struct footpath_function *function,
                          const struct footpath_place *place);
/* The same of where the function begins. */
const char *fp_show_function(struct fp_show_out *v, const struct footpath_function *function);

/* "file.c:12: n > 3 yes -> file.c:13  edge 3->4", "gzip:0x42fa jne taken -> gzip:0x4300 ..." */
void fp_show_edge(struct fp_show_out *v, const struct footpath_function *function, uint32_t edge);

/* A sentence in lines that are no wider than `width`, behind `indent` blanks; broken at blanks,
 * behind a semicolon where there is one. */
void fp_show_wrapped(struct fp_show_out *v, const char *sentence, size_t indent, size_t width);

/* "... 17 more; --top 0 shows all", where there are more. */
void fp_show_more(struct fp_show_out *v, size_t more);

/* The paths to show: the hottest ones, or with options->path those with that id. */
const struct footpath_path *const *fp_show_chosen(struct fp_arena *arena, struct footpath *fp,
                                                  const struct fp_show_options *options,
                                                  size_t *count);

#endif
