/* What `footpath stats` and `footpath diff` print. */
#ifndef FP_REPORT_STATSREPORT_H
#define FP_REPORT_STATSREPORT_H

#include "model/model.h"
#include "paths/diff.h"
#include "paths/stats.h"
#include "report/json.h"

/* common may be NULL. */
void fp_stats_text(struct fp_writer *out, const struct fp_stats *stats,
                   const struct fp_common *common);
void fp_stats_json(struct fp_writer *out, const struct fp_stats *stats,
                   const struct fp_common *common);

struct fp_diff_view {
    uint64_t top; /* 0: all */
    size_t width; /* of the terminal, in columns */
    bool colours, relative;
    double confidence;          /* leave out what is known and below this */
    struct fp_sources *sources; /* for the texts of conditions, or NULL */
};
void fp_diff_text(struct fp_writer *out, const struct fp_diff *diff, const struct fp_diff_side *a,
                  const struct fp_diff_side *b, const struct fp_diff_view *view);
void fp_diff_json(struct fp_writer *out, const struct fp_diff *diff, const struct fp_diff_side *a,
                  const struct fp_diff_side *b, const struct fp_diff_view *view);

/* ---- what the forms of output share ---- */

/* The path of an item, in whichever numbering has it. */
bool fp_diff_decode(struct fp_arena *arena, const struct fp_diff_item *item,
                    const struct fp_function **function, struct fp_path *path);

/* A path as lines, an edge, or what is the matter with the function. */
const char *fp_diff_item_text(struct fp_arena *arena, const struct fp_diff_item *item);

/* The same in the words of the source (model/sentence.h). */
const char *fp_diff_item_sentence(struct fp_arena *arena, struct fp_sources *sources,
                                  const struct fp_diff_item *item);

/* Where a path parts from the nearest one of the other side, in words. */
struct fp_parting_words {
    struct footpath_place place;
    const char *condition;              /* as it is written; NULL: not known */
    const char *mine, *other;           /* "true", "-> 12", "returns"; NULL: no such path */
    const char *mine_said, *other_said; /* the same as in sentences: "yes" */
};
/* False where the item is no path, or where the other side takes it and no other one like it. */
bool fp_parting_words(struct fp_arena *arena, struct fp_sources *sources,
                      const struct fp_diff_item *item, struct fp_parting_words *words);

#endif
