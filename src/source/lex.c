/* Tokens of C and C++: see lex.h. */
#include "source/lex.h"

#include <ctype.h>
#include <string.h>

/* Longer ones first. */
static const char *const signs[] = {
    "<<=", ">>=", "...", "->*", "<=>", "&&", "||", "==", "!=", "<=", ">=", "->", "++", "--",
    "<<",  ">>",  "::",  "+=",  "-=",  "*=", "/=", "%=", "&=", "|=", "^=", ".*", "##"};

static char at(const struct fp_lexed *l, size_t i)
{
    return i < l->len ? l->text[i] : '\0';
}

/* A byte of UTF-8 may be of a name. */
static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* The length of a backslash with the end of its line, or 0. */
static size_t splice(const struct fp_lexed *l, size_t i)
{
    if (at(l, i) != '\\') return 0;
    if (at(l, i + 1) == '\n') return 2;
    return at(l, i + 1) == '\r' && at(l, i + 2) == '\n' ? 3 : 0;
}

/* Behind the end of the line, over spliced ones. */
static size_t line_end(const struct fp_lexed *l, size_t i)
{
    while (i < l->len && l->text[i] != '\n') i += splice(l, i) ? splice(l, i) : 1;
    return i;
}

static size_t comment_end(const struct fp_lexed *l, size_t i)
{
    for (i += 2; i < l->len; i++)
        if (l->text[i] == '*' && at(l, i + 1) == '/') return i + 2;
    return l->len;
}

static void skip_blanks(struct fp_lexed *l)
{
    for (;;) {
        char c = at(l, l->at);
        if (l->at >= l->len) return;
        if (c == '\n') l->line_begins = true;
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v')
            l->at++;
        else if (splice(l, l->at))
            l->at += splice(l, l->at);
        else if (c == '/' && at(l, l->at + 1) == '/')
            l->at = line_end(l, l->at);
        else if (c == '/' && at(l, l->at + 1) == '*')
            l->at = comment_end(l, l->at);
        else
            return;
    }
}

/* Behind a string or character that begins with its quote at i. One that is not closed ends with
 * its line. */
static size_t quoted_end(const struct fp_lexed *l, size_t i)
{
    char quote = l->text[i++];
    while (i < l->len && l->text[i] != quote && l->text[i] != '\n') {
        size_t spliced = splice(l, i);
        i += spliced ? spliced : l->text[i] == '\\' ? 2 : 1;
    }
    return i < l->len && l->text[i] == quote ? i + 1 : i < l->len ? i : l->len;
}

/* R"mark( ... )mark": behind it; i is at the quote. */
static size_t raw_end(const struct fp_lexed *l, size_t i)
{
    size_t open = i + 1;
    while (open < l->len && l->text[open] != '(' && open - i < 18) open++;
    size_t mark = open - i - 1;
    for (size_t k = open + 1; k + mark + 1 < l->len; k++)
        if (l->text[k] == ')' && !memcmp(l->text + k + 1, l->text + i + 1, mark) &&
            l->text[k + 1 + mark] == '"')
            return k + mark + 2;
    return l->len;
}

/* A number may have signs (1e+5) and separators (1'000). */
static size_t number_end(const struct fp_lexed *l, size_t i)
{
    for (;; i++) {
        char c = at(l, i), next = at(l, i + 1);
        if (is_word(c) && strchr("eEpP", c) && (next == '+' || next == '-'))
            i++;
        else if (!is_word(c) && c != '.' && !(c == '\'' && is_word(next)))
            return i;
    }
}

/* A name, or a literal with a prefix: L'x', u8"..", R"(..)". */
static size_t word_end(const struct fp_lexed *l, size_t i, enum fp_token_kind *kind)
{
    size_t end = i;
    while (is_word(at(l, end))) end++;
    char quote = at(l, end);
    if ((quote != '"' && quote != '\'') || end - i > 3) return end;
    *kind = FP_TOKEN_LITERAL;
    return quote == '"' && l->text[end - 1] == 'R' ? raw_end(l, end) : quoted_end(l, end);
}

static size_t sign_end(const struct fp_lexed *l, size_t i)
{
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++) {
        size_t len = strlen(signs[k]);
        if (l->len - i >= len && !memcmp(l->text + i, signs[k], len)) return i + len;
    }
    return i + 1;
}

static size_t token_end(const struct fp_lexed *l, enum fp_token_kind *kind)
{
    size_t i = l->at;
    char c = at(l, i);
    *kind = FP_TOKEN_SIGN;
    if (c == '#' && l->line_begins) return *kind = FP_TOKEN_DIRECTIVE, line_end(l, i);
    if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)at(l, i + 1))))
        return *kind = FP_TOKEN_LITERAL, number_end(l, i);
    if (is_word(c)) return *kind = FP_TOKEN_WORD, word_end(l, i, kind);
    if (c == '"' || c == '\'') return *kind = FP_TOKEN_LITERAL, quoted_end(l, i);
    return sign_end(l, i);
}

void fp_lex_next(struct fp_arena *arena, struct fp_lexed *l)
{
    size_t before = l->at;
    skip_blanks(l);
    struct fp_token token = {FP_TOKEN_END, (uint32_t)l->at, 0, l->at != before};
    if (l->at < l->len) {
        size_t end = token_end(l, &token.kind);
        token.len = (uint32_t)(end - l->at);
        l->at = end;
    }
    l->line_begins = false;
    fp_vec_push(arena, &l->tokens, token);
}

bool fp_token_is(const struct fp_lexed *l, const struct fp_token *token, const char *text)
{
    return token->len == strlen(text) && !memcmp(l->text + token->at, text, token->len);
}
