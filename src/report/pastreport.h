/* What `footpath show --pairs`, `--callers` and `--json` print of what came before samples. */
#ifndef FP_REPORT_PASTREPORT_H
#define FP_REPORT_PASTREPORT_H

#include "model/model.h"
#include "paths/past.h"
#include "report/json.h"

/* Where a call comes from, as far as the program's file tells. */
struct fp_call_place {
    const char *function; /* linkage name of the caller, or NULL */
    const char *file;     /* or NULL */
    uint32_t line;        /* or 0 */
    const char *inlined;  /* linkage name of the function that the called one was inlined into: the
                           * place is where that one was called; or NULL */
};

/* The tool hands it over: report/ does not read machine code. */
struct fp_place_reader {
    void (*look)(void *context, struct fp_arena *arena, const struct fp_past_caller *caller,
                 struct fp_call_place *place);
    void *context;
};

struct fp_past_view {
    uint64_t top; /* 0: all */
    bool colours;
    size_t width;
    struct fp_sources *sources;
    struct fp_place_reader places;
};

void fp_pairs_text(struct fp_writer *out, const struct fp_past *past,
                   const struct fp_past_view *view);
void fp_callers_text(struct fp_writer *out, const struct fp_past *past,
                     const struct fp_past_view *view);
/* The key "history" of the object that is being written. */
void fp_past_json(struct fp_json *j, const struct fp_past *past, const struct fp_past_view *view);

#endif
