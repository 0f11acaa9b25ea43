/* Paths as sentences about the source.
 *
 *     from the loop at line 64; isalpha(c) yes; n < 63 no; loop again
 *
 * A condition stands there as it is written, where its text can be taken from the source
 * (source/condition.h), and otherwise as its place: "line 66:12 yes". A branch that does not say
 * what it means tells where it went: "line 31 -> line 40". The name of a function before a
 * condition says that what follows is of that function, which is inlined. What repeats itself
 * is told once: "(a yes; b no) 3 times".
 *
 * Of an executable without lines, places are distances from the function's beginning, and branches
 * are told by their instructions: "yes" where the jump was taken.
 *
 *     from the loop at +0x58; +0x6a jne no; +0x80 jbe yes -> +0x40; loop again
 */
#ifndef FP_MODEL_SENTENCE_H
#define FP_MODEL_SENTENCE_H

#include "model/model.h"

/* The text of the condition that decides an edge, or of the value that a switch looks at; NULL
 * where it is not known. Lives as long as the sources, which may be NULL. */
const char *fp_edge_condition(struct fp_sources *sources, const struct fp_function *function,
                              uint32_t edge);

/* What an edge says of the condition that decides it: "yes", "no, leaves the loop", "case 3"; ""
 * where that is not known. */
const char *fp_edge_outcome(struct fp_arena *arena, const struct fp_function *function,
                            uint32_t edge);

/* What decides a step: the condition as it is written or NULL, what the step means, its label, and
 * the column of its place or 0. */
struct fp_decision {
    const char *condition, *label;
    struct footpath_meaning meaning;
    uint32_t column;
};

struct fp_decision fp_edge_decision(struct fp_arena *arena, struct fp_sources *sources,
                                    const struct fp_function *function, uint32_t edge);

/* A place and what was decided there: "walk.c:66: n < 63 no", "walk.c:66: switch (c) case 3",
 * "walk.c:66:12 no" where the text of the condition is not known; the place alone where the label
 * is "". */
const char *fp_decision_text(struct fp_arena *arena, const char *place,
                             const struct fp_decision *decision);

/* "line 66: n < 63 no -> line 70"; "+0x6a jne taken -> +0x90" of an executable without lines; else
 * blocks. */
const char *fp_edge_sentence(struct fp_arena *arena, struct fp_sources *sources,
                             const struct fp_function *function, uint32_t edge);

/* "blocks 6 3 4 5" where a function has neither lines nor addresses. */
const char *fp_route_sentence(struct fp_arena *arena, struct fp_sources *sources,
                              const struct fp_function *function,
                              const struct footpath_route *route);
const char *fp_path_sentence(struct fp_arena *arena, struct fp_sources *sources,
                             const struct fp_function *function, const struct fp_path *path);

#endif
