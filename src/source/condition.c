/* The text of a condition: see condition.h. */
#include "source/condition.h"

#include "base/plain.h"
#include "source/lex.h"

#include <ctype.h>
#include <string.h>

enum { FARTHEST = 1000 /* tokens behind the place */, NOWHERE = -1, UNSURE = -2 };

/* Tokens lo to hi - 1. */
struct token_range {
    int lo, hi;
};

struct condition_search {
    struct fp_arena *arena;
    struct fp_lexed *l;
    enum fp_condition what;
    int place;  /* the token that clang names */
    int behind; /* tokens that may still be read */
};

/* ---- tokens ---- */

static const struct fp_token *token(struct condition_search *f, int i)
{
    while ((size_t)i >= f->l->tokens.len) {
        size_t n = f->l->tokens.len;
        if (n && f->l->tokens.at[n - 1].kind == FP_TOKEN_END) return &f->l->tokens.at[n - 1];
        fp_lex_next(f->arena, f->l);
    }
    return &f->l->tokens.at[i];
}

static bool is(struct condition_search *f, int i, const char *text)
{
    return i >= 0 && fp_token_is(f->l, token(f, i), text);
}

static bool is_any(struct condition_search *f, int i, const char *const *texts)
{
    for (; *texts; texts++)
        if (is(f, i, *texts)) return true;
    return false;
}

static bool is_kind(struct condition_search *f, int i, enum fp_token_kind kind)
{
    return i >= 0 && token(f, i)->kind == kind;
}

static const char *const ors[] = {"&&", "||", "and", "or", NULL};
static const char *const assigns[] = {
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", NULL};
static const char *const heads[] = {"if", "while", "for", "switch", "constexpr", "catch", NULL};
static const char *const statements[] = {"return", "case",      "throw",    "else",
                                         "do",     "co_return", "co_yield", NULL};
/* Words that another word may follow. */
static const char *const qualifiers[] = {
    "sizeof",   "const",  "unsigned", "signed",        "long",     "short", "struct",
    "union",    "enum",   "class",    "new",           "typename", "int",   "not",
    "volatile", "delete", "alignof",  "__extension__", NULL};

static bool is_or(struct condition_search *f, int i)
{
    return is_any(f, i, ors);
}

static bool opens(struct condition_search *f, int i)
{
    return is(f, i, "(") || is(f, i, "[") || is(f, i, "{");
}

static bool closes(struct condition_search *f, int i)
{
    return is(f, i, ")") || is(f, i, "]") || is(f, i, "}");
}

/* May the token be the end of a value? */
static bool ends_value(struct condition_search *f, int i)
{
    if (is_kind(f, i, FP_TOKEN_LITERAL) || closes(f, i)) return true;
    return is_kind(f, i, FP_TOKEN_WORD) && !is_any(f, i, statements) && !is_any(f, i, qualifiers) &&
           !is_or(f, i);
}

/* ---- brackets ---- */

/* The bracket that closes the one at i, or that opens it; NOWHERE if there is none, or a
 * preprocessor line between. */
static int closing(struct condition_search *f, int i)
{
    int depth = 0;
    for (; i < f->place + f->behind; i++) {
        if (is_kind(f, i, FP_TOKEN_END) || is_kind(f, i, FP_TOKEN_DIRECTIVE)) return NOWHERE;
        depth += opens(f, i) - closes(f, i);
        if (!depth) return i;
    }
    return NOWHERE;
}

static int opening(struct condition_search *f, int i)
{
    int depth = 0;
    for (; i >= 0; i--) {
        if (is_kind(f, i, FP_TOKEN_DIRECTIVE)) return NOWHERE;
        depth += closes(f, i) - opens(f, i);
        if (!depth) return i;
    }
    return NOWHERE;
}

/* Is the group that opens at i the head of a statement, or of a block? */
static bool heads_statement(struct condition_search *f, int i)
{
    return is(f, i, "(") && is_any(f, i - 1, heads);
}

/* ---- the range around a place ---- */

static bool bounds(struct condition_search *f, int i)
{
    bool side = f->what == FP_CONDITION_PART && is_or(f, i);
    return side || is(f, i, "?") || is(f, i, ":") || is(f, i, ",") || is(f, i, ";") ||
           is_any(f, i, assigns) || is_any(f, i, statements) || is_kind(f, i, FP_TOKEN_DIRECTIVE) ||
           is_kind(f, i, FP_TOKEN_END);
}

/* Behind a `}`: not what goes on with a value, as of `T{1} == x` or a lambda. */
static bool begins_statement(struct condition_search *f, int i)
{
    return is_kind(f, i, FP_TOKEN_WORD) || is(f, i, "!");
}

/* The token that ends the operand to the left of i, or to the right. */
static int left_bound(struct condition_search *f, int i)
{
    for (i--; i >= 0; i--) {
        if (bounds(f, i) || opens(f, i)) return i;
        if (!closes(f, i)) continue;
        if (is(f, i, "}")) return begins_statement(f, i + 1) ? i : UNSURE;
        int open = opening(f, i);
        if (open == NOWHERE) return UNSURE;
        if (heads_statement(f, open)) return i;
        i = open;
    }
    return NOWHERE;
}

static int right_bound(struct condition_search *f, int i)
{
    for (i++; i < f->place + f->behind; i++) {
        if (bounds(f, i) || closes(f, i)) return i;
        if (!opens(f, i)) continue;
        if ((i = closing(f, i)) == NOWHERE) return NOWHERE;
    }
    return NOWHERE;
}

/* The bracket around i, as far as it may be the head of a statement: that has no blocks inside, and
 * not more than two semicolons. */
static int around(struct condition_search *f, int i)
{
    int semicolons = 0;
    for (i--; i >= 0 && semicolons < 3; i--) {
        if (is_kind(f, i, FP_TOKEN_DIRECTIVE) || is(f, i, "}")) return NOWHERE;
        if (opens(f, i)) return i;
        semicolons += is(f, i, ";");
        if (closes(f, i) && (i = opening(f, i)) == NOWHERE) return NOWHERE;
    }
    return NOWHERE;
}

/* `f<a, b>(x)`: is the comma at i perhaps one of template arguments? */
static bool may_be_template(struct condition_search *f, int i)
{
    int lo = around(f, i);
    bool before = false, after = false;
    for (int k = lo + 1; k < i; k++) before |= is(f, k, "<");
    for (int k = i + 1; k < f->place + f->behind && !is(f, k, ";") && !is_kind(f, k, FP_TOKEN_END);
         k++)
        after |= is(f, k, ">") || is(f, k, ">>");
    return before && after;
}

/* ---- is the place that of the whole? ---- */

static int precedence(struct condition_search *f, int i)
{
    static const char *const levels[][8] = {{"=", "+=", "-=", "*=", "/=", NULL},
                                            {"%=", "&=", "|=", "^=", "<<=", ">>=", NULL},
                                            {"?", ":", NULL},
                                            {"||", "or", NULL},
                                            {"&&", "and", NULL},
                                            {"|", NULL},
                                            {"^", NULL},
                                            {"&", NULL},
                                            {"==", "!=", NULL},
                                            {"<", ">", "<=", ">=", NULL},
                                            {"<=>", NULL},
                                            {"<<", ">>", NULL},
                                            {"+", "-", NULL},
                                            {"*", "/", "%", NULL},
                                            {".*", "->*", NULL}};
    for (int k = 0; k < (int)(sizeof levels / sizeof *levels); k++)
        if (is_any(f, i, levels[k])) return k < 2 ? 1 : k + 1;
    return 0;
}

/* Without the brackets around all of it and the `!` in front. */
static struct token_range peeled(struct condition_search *f, struct token_range r)
{
    while (r.lo < r.hi) {
        if (is(f, r.lo, "!") || is(f, r.lo, "not"))
            r.lo++;
        else if (is(f, r.lo, "(") && closing(f, r.lo) == r.hi - 1)
            r.lo++, r.hi--;
        else
            break;
    }
    return r;
}

/* Is the place the operator that is applied last, or of a value without one? */
static bool is_whole(struct condition_search *f, struct token_range r)
{
    int last = NOWHERE, least = 100;
    bool here = false;
    r = peeled(f, r);
    for (int i = r.lo; i < r.hi; i++) {
        here |= i == f->place;
        int level = precedence(f, i);
        if (level && i > r.lo && ends_value(f, i - 1) && level <= least) {
            if (level > 1 || level < least) last = i; /* the first of assignments */
            least = level;
        }
        if (opens(f, i) && (i = closing(f, i)) == NOWHERE) return false;
    }
    if (last == NOWHERE) return here;
    /* `if (T *p = f())` has the place of p */
    return last == f->place || (least == 1 && last == f->place + 1);
}

/* Two values side by side: an operator is hidden in a macro. */
static bool is_sound(struct condition_search *f, struct token_range r)
{
    bool declares = is(f, f->place + 1, "=");
    if (r.lo >= r.hi) return false;
    for (int i = r.lo; i < r.hi; i++) {
        if (is_kind(f, i, FP_TOKEN_DIRECTIVE)) return false;
        if (i == r.lo || declares) continue;
        bool value = is_kind(f, i, FP_TOKEN_WORD) || is_kind(f, i, FP_TOKEN_LITERAL);
        bool strings = is_kind(f, i, FP_TOKEN_LITERAL) || is_kind(f, i - 1, FP_TOKEN_LITERAL);
        if (!value || is_or(f, i) || is(f, i, "not")) continue;
        if (is_kind(f, i - 1, FP_TOKEN_WORD) && ends_value(f, i - 1) && !strings) return false;
        if (is(f, i - 1, ")")) {
            int open = opening(f, i - 1);
            if (open != NOWHERE && ends_value(f, open - 1)) return false; /* f(x) AND y */
        }
    }
    return !bounds(f, r.lo) &&
           (ends_value(f, r.hi - 1) || is(f, r.hi - 1, "++") || is(f, r.hi - 1, "--"));
}

/* ---- conditions ---- */

/* The last part between brackets that semicolons divide, or of a `for` the middle one; empty where
 * a `for` has no semicolons. */
static struct token_range part_of(struct condition_search *f, int open, bool loop)
{
    struct token_range none = {0, 0}, part = {open + 1, 0};
    int close = closing(f, open), semicolons = 0;
    for (int i = open + 1; i <= close; i++) {
        part.hi = i;
        if (i == close) return loop ? none : part;
        if (is(f, i, ";")) {
            if (loop && semicolons == 1) return part;
            part.lo = i + 1, semicolons++;
        } else if (opens(f, i) && (i = closing(f, i)) == NOWHERE) {
            return none;
        }
    }
    return none;
}

/* The whole between the brackets of if or while; of `for` what is between the semicolons; behind
 * that of `if (int n = f(); n > 0)`. The place is in there, or at the keyword. */
static struct token_range of_statement(struct condition_search *f, int open)
{
    static const char *const ifs[] = {"if", "constexpr", NULL};
    struct token_range none = {0, 0};
    bool loop = is(f, open - 1, "for"), each = is(f, f->place, ":"); /* `for (T x : all)` */
    bool asked = f->what == FP_CONDITION_IF ? is_any(f, open - 1, ifs)
                                            : f->what == FP_CONDITION_LOOP &&
                                                  (loop || (is(f, open - 1, "while") && !each));
    if (!asked || !is(f, open, "(")) return none;
    struct token_range r = part_of(f, open, loop && !each);
    bool inside = f->place >= r.lo && f->place < r.hi, keyword = f->place == open - 1;
    return (inside && (!each || r.lo == open + 1)) || keyword ? r : none;
}

/* What follows a bracket that opens at `open`: is it only there to group? */
static bool groups(struct condition_search *f, int open)
{
    return is(f, open, "(") && !ends_value(f, open - 1) && !is_any(f, open - 1, qualifiers);
}

static struct token_range operand(struct condition_search *f, int left, int right)
{
    struct token_range none = {0, 0};
    if ((is(f, left, ",") && may_be_template(f, left)) ||
        (is(f, right, ",") && may_be_template(f, right)))
        return none;
    return (struct token_range){left + 1, right};
}

/* The condition around the place, going out of brackets that group. */
static struct token_range find(struct condition_search *f)
{
    struct token_range none = {0, 0};
    /* the place of `(x)` is the bracket */
    while (is(f, f->place, "(") && groups(f, f->place)) f->place++;
    struct token_range at = {f->place, f->place + 1};
    for (int rounds = 0; rounds < 100; rounds++) {
        int left = left_bound(f, at.lo), right = right_bound(f, at.hi - 1);
        if (right == NOWHERE || left == UNSURE || is_kind(f, left, FP_TOKEN_DIRECTIVE) ||
            is_kind(f, right, FP_TOKEN_DIRECTIVE))
            return none;
        if (f->what == FP_CONDITION_PART && (is_or(f, left) || is_or(f, right)))
            return is_any(f, right, assigns) ? none : operand(f, left, right);
        if (is(f, right, "?"))
            return f->what == FP_CONDITION_CHOICE ? operand(f, left, right) : none;
        int open = around(f, at.lo);
        if (open == NOWHERE || !is(f, open, "(")) return none;
        if (heads_statement(f, open)) {
            struct token_range whole = of_statement(f, open);
            bool commas = is(f, left, ",") || is(f, right, ",");
            bool arms = is(f, left, "?") || is(f, left, ":") || is(f, right, ":");
            return commas || (arms && !is(f, f->place, ":")) ? none : whole;
        }
        if (left != open || !groups(f, open)) return none;
        at = (struct token_range){open, right + 1};
    }
    return none;
}

/* A macro as it is used: NAME, or name(...). */
static struct token_range macro_use(struct condition_search *f)
{
    struct token_range none = {0, 0};
    if (!is_kind(f, f->place, FP_TOKEN_WORD) || is_any(f, f->place, heads) ||
        is_any(f, f->place, statements))
        return none;
    const struct fp_token *name = token(f, f->place);
    if (is(f, f->place + 1, "(")) {
        int close = closing(f, f->place + 1);
        return close == NOWHERE ? none : (struct token_range){f->place, close + 1};
    }
    for (uint32_t i = 0; i < name->len; i++)
        if (islower((unsigned char)f->l->text[name->at + i])) return none;
    return (struct token_range){f->place, f->place + 1};
}

/* The value of a switch: what stands between its brackets. */
static struct token_range of_switch(struct condition_search *f)
{
    struct token_range none = {0, 0};
    int close = is(f, f->place + 1, "(") ? closing(f, f->place + 1) : NOWHERE;
    for (int i = f->place + 2; i < close; i++)
        if (is(f, i, ";")) return none;
    return close == NOWHERE ? none : (struct token_range){f->place + 2, close};
}

/* `a && b` that is tested at once: then the place is that of either. */
static bool has_sides(struct condition_search *f, struct token_range r)
{
    r = peeled(f, r);
    for (int i = r.lo; i < r.hi; i++) {
        if (is_or(f, i)) return true;
        if (opens(f, i) && (i = closing(f, i)) == NOWHERE) return false;
    }
    return false;
}

/* Where the tokens do not fit, an operator, a `?` or an if is hidden in the macro at the place. One
 * side of && there has no text: the other side may be hidden in it too. */
static struct token_range condition(struct condition_search *f)
{
    struct token_range none = {0, 0};
    if (f->what == FP_CONDITION_SWITCH) return is(f, f->place, "switch") ? of_switch(f) : none;
    bool keyword = is_any(f, f->place, heads);
    struct token_range r = keyword ? of_statement(f, f->place + 1) : find(f);
    if (keyword || is(f, f->place, ":")) return keyword && !is_sound(f, r) ? none : r;
    if (r.lo < r.hi && !is_sound(f, r)) return none;
    if (r.lo < r.hi && (is_whole(f, r) || has_sides(f, r))) return r;
    return f->what == FP_CONDITION_PART ? none : macro_use(f);
}

/* ---- text ---- */

static const char *text_of(struct condition_search *f, struct token_range r)
{
    struct fp_writer out = {0};
    for (int i = r.lo; i < r.hi; i++) {
        const struct fp_token *t = token(f, i);
        if (i > r.lo && t->apart) fp_write_u8(&out, ' ');
        fp_write_bytes(&out, f->l->text + t->at, t->len);
    }
    for (size_t i = 0; i < out.len; i++) /* a line end inside of a raw string */
        if (out.bytes[i] == '\n' || out.bytes[i] == '\t' || out.bytes[i] == '\r')
            out.bytes[i] = ' ';
    const char *text = fp_arena_strndup(f->arena, (char *)out.bytes, out.len);
    fp_writer_free(&out);
    return text;
}

/* The token that begins at an offset, or NOWHERE. */
static int token_at(struct condition_search *f, size_t offset)
{
    int lo = 0;
    while (token(f, lo)->kind != FP_TOKEN_END &&
           f->l->tokens.at[f->l->tokens.len - 1].at < offset &&
           f->l->tokens.at[f->l->tokens.len - 1].kind != FP_TOKEN_END)
        fp_lex_next(f->arena, f->l);
    int hi = (int)f->l->tokens.len;
    while (lo < hi) {
        int middle = lo + (hi - lo) / 2;
        if (f->l->tokens.at[middle].at < offset)
            lo = middle + 1;
        else
            hi = middle;
    }
    bool there = (size_t)lo < f->l->tokens.len && f->l->tokens.at[lo].at == offset;
    return there && f->l->tokens.at[lo].kind != FP_TOKEN_END ? lo : NOWHERE;
}

/* Does some line say `#line` or `# 12`? */
static bool is_renumbered(const struct fp_source_text *source)
{
    const char *at = source->text, *end = source->text + source->len;
    while ((at = memchr(at, '#', (size_t)(end - at)))) {
        const char *back = at++;
        while (back > source->text && (back[-1] == ' ' || back[-1] == '\t')) back--;
        if (back > source->text && back[-1] != '\n') continue;
        while (at < end && (*at == ' ' || *at == '\t')) at++;
        if (at < end && (isdigit((unsigned char)*at) || (end - at > 4 && !memcmp(at, "line", 4))))
            return true;
    }
    return false;
}

struct fp_lines_lexed {
    bool renumbered;
    struct fp_table from;  /* line -> struct fp_lexed * */
    struct fp_table found; /* line, column and what -> 1 + index in texts */
    FP_VEC(const char *) texts;
};

static struct fp_lines_lexed *lines_of(struct fp_arena *arena, struct fp_source_text *source)
{
    if (source->lexed) return source->lexed;
    source->lexed = FP_NEW(arena, struct fp_lines_lexed);
    source->lexed->renumbered = is_renumbered(source);
    fp_table_init(&source->lexed->from, arena);
    fp_table_init(&source->lexed->found, arena);
    return source->lexed;
}

static struct fp_lexed *lexed_from(struct fp_arena *arena, const struct fp_source_text *source,
                                   uint32_t line)
{
    uint64_t *known = fp_table_add(&source->lexed->from, line);
    if (!*known) {
        struct fp_lexed *l = FP_NEW(arena, struct fp_lexed);
        *l = (struct fp_lexed){.text = source->text,
                               .len = source->len,
                               .at = source->line_at[line - 1],
                               .line_begins = true};
        *known = (uintptr_t)l;
    }
    return (struct fp_lexed *)(uintptr_t)*known;
}

static const char *look_up(struct fp_sources *s, const struct fp_source_text *source,
                           enum fp_condition what, uint32_t from, uint32_t line, uint32_t column)
{
    size_t offset = source->line_at[line - 1] + column - 1;
    if (offset >= source->line_at[line]) return NULL;
    struct condition_search f = {
        .arena = &s->arena, .l = lexed_from(&s->arena, source, from), .what = what};
    f.place = token_at(&f, offset), f.behind = FARTHEST;
    if (f.place == NOWHERE) return NULL;
    struct token_range r = condition(&f);
    return r.lo < r.hi ? text_of(&f, r) : NULL;
}

const char *fp_condition_text(struct fp_sources *s, const struct fp_source_text *source,
                              enum fp_condition what, uint32_t from, uint32_t line, uint32_t column)
{
    if (!source->certain || source->len > UINT32_MAX || !line || line > source->nlines || !column ||
        column >= 1 << 29)
        return NULL;
    struct fp_lines_lexed *lines = lines_of(&s->arena, (struct fp_source_text *)source);
    if (lines->renumbered) return NULL;
    if (!from || from > line) from = 1;
    uint64_t *known =
        fp_table_add(&lines->found, (uint64_t)line << 32 | (uint64_t)column << 3 | what);
    if (*known) return lines->texts.at[*known - 1];
    const char *text = look_up(s, source, what, from, line, column);
    fp_vec_push(&s->arena, &lines->texts, text);
    *known = lines->texts.len;
    return text;
}

/* ---- widths ---- */

size_t fp_text_columns(const char *text, size_t len)
{
    size_t columns = 0;
    for (size_t i = 0; i < len; i++) columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

const char *fp_text_cut(struct fp_arena *arena, const char *text, size_t most)
{
    size_t len = strlen(text), keep = 0, columns = 0;
    if (fp_text_columns(text, len) <= most) return text;
    while (keep < len && columns < most) {
        keep++;
        while (((unsigned char)text[keep] & 0xc0) == 0x80) keep++;
        columns++;
    }
    /* one back, for the dots; and no blank before them */
    do keep--;
    while (keep && (((unsigned char)text[keep] & 0xc0) == 0x80 || text[keep - 1] == ' '));
    return fp_arena_printf(arena, "%.*s…", (int)keep, text);
}
