/* The text of a condition of C or C++ source.
 *
 * A branch of the map has the place where clang puts its condition: the operator of `a < b`, the
 * name of `f(x)`, the member of `p->x`, the keyword of a switch, the macro where one is used.
 * The text is that of which the map says true or false: one side of && or ||, what stands
 * before a `?`, the whole condition of an if or a loop; with the `!` in front of it. The map also
 * says which of these it is, and what is found must be that.
 *
 * A wrong text would be a lie. Where the tokens around the place are not understood (a comma of
 * template arguments or of a comma operator, two names without an operator between them, a
 * preprocessor line inside, a place that is not that of the whole condition) there is none.
 */
#ifndef FP_SOURCE_CONDITION_H
#define FP_SOURCE_CONDITION_H

#include "source/source.h"

/* What a branch is about. */
enum fp_condition {
    FP_CONDITION_PART, /* one side of && or || */
    FP_CONDITION_IF,   /* the whole condition of an if, and so on */
    FP_CONDITION_LOOP,
    FP_CONDITION_CHOICE, /* of c ? a : b */
    FP_CONDITION_SWITCH, /* the value that is looked at */
};

/* The condition at a line and column (in bytes, from 1); `from` is a line at or before it that
 * begins outside of comments and strings, as that of its function. Each run of blanks and
 * comments is one blank. NULL where it cannot be told; also where the text may not be the
 * compiled one, or #line changes numbers. Lives as long as the source. */
const char *fp_condition_text(struct fp_sources *sources, const struct fp_source_text *source,
                              enum fp_condition what, uint32_t from, uint32_t line,
                              uint32_t column);

/* At most `most` columns of a text, the last of them … where it was cut. */
const char *fp_text_cut(struct fp_arena *arena, const char *text, size_t most);

/* How many columns a plain text takes. */
size_t fp_text_columns(const char *text, size_t len);

#endif
