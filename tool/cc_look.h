/* What clang is asked to do, as far as footpath-cc must know. */
#ifndef FP_TOOL_CC_LOOK_H
#define FP_TOOL_CC_LOOK_H

#include "base/arena.h"

#include <stdbool.h>

struct cc_words {
    char **at;
    size_t len, cap;
};

struct cc_look {
    bool has_source; /* preprocesses something: -E too */
    bool compiles;   /* makes code of it */
    bool links;      /* an executable or a shared library */
    bool shared, is_static;
    bool own_libraries; /* -nostdlib: what libc offers may be missing */
    bool debug;         /* debug information is asked for */
    bool has_build_id;
    const char *output;              /* of -o, or a.out */
    const char *foreign;             /* the word that asks for another machine than ours, or NULL */
    struct cc_words sources, linked; /* inputs: to compile, and the rest */
};

/* A word as clang will see it: a response file (@FILE, nested, with quotes and
 * backslashes) becomes the words in it. */
void cc_expand(struct fp_arena *arena, struct cc_words *words, const char *word);

/* The words of a text, with the same quotes and backslashes; none is a response file. */
void cc_split(struct fp_arena *arena, struct cc_words *words, const char *text);

struct cc_look cc_look_at(struct fp_arena *arena, const struct cc_words *words);

bool cc_starts(const char *word, const char *prefix);

#endif
