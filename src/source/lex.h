/* C and C++ source as tokens, as far as finding the text of a condition needs: comments and blanks
 * are left out, a preprocessor line is one token, backslashes at ends of lines are blanks. Macros
 * stay as they are written.
 */
#ifndef FP_SOURCE_LEX_H
#define FP_SOURCE_LEX_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

enum fp_token_kind {
    FP_TOKEN_END, /* of the text */
    FP_TOKEN_WORD,
    FP_TOKEN_LITERAL, /* a number, a string, a character */
    FP_TOKEN_SIGN,
    FP_TOKEN_DIRECTIVE, /* a preprocessor line */
};

struct fp_token {
    enum fp_token_kind kind;
    uint32_t at, len; /* bytes of the text */
    bool apart;       /* something stands between the token before and this one */
};

/* The tokens from some place of a text on, as many as were asked for. */
struct fp_lexed {
    const char *text;
    size_t len, at; /* next byte */
    bool line_begins;
    FP_VEC(struct fp_token) tokens;
};

/* Adds one token. */
void fp_lex_next(struct fp_arena *arena, struct fp_lexed *lexed);

bool fp_token_is(const struct fp_lexed *lexed, const struct fp_token *token, const char *text);

#endif
