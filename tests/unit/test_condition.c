/* The text of a condition at a place of C or C++ source (source/condition.h).
 *
 * In each source the place is marked by @, in front of the token that clang would name. What is
 * found is the text as written, or NULL where it must not be guessed.
 */
#include "source/condition.h"

#include "check.h"

#include <string.h>

struct example {
    char what; /* p: part, i: if, l: loop, c: choice, s: switch */
    const char *source, *text;
};

/* ---- the statements ---- */

static const struct example plain[] = {
    {'i', "if (n @== 4) f();", "n == 4"},
    {'i', "if (!@n) f();", "!n"},
    {'i', "if (!(n @< 4)) f();", "!(n < 4)"},
    {'i', "if (!!@ask(n)) f();", "!!ask(n)"},
    {'i', "if (@ask(n, 3)) f();", "ask(n, 3)"},
    {'i', "if (p->@next) f();", "p->next"},
    {'i', "if (@*p) f();", "*p"},
    {'i', "if (@a[i]) f();", "a[i]"},
    {'i', "if (a[i]@.b) f();", "a[i].b"},
    {'i', "if (n@++) f();", "n++"},
    {'i', "if (x @& 1) f();", "x & 1"},
    {'i', "if (((x @& 1))) f();", "((x & 1))"},
    {'i', "if ((c = getc(in)) @!= EOF) f();", "(c = getc(in)) != EOF"},
    {'i', "if ((c @= getc(in))) f();", "(c = getc(in))"},
    {'l', "while (*p++ @= *q++) ;", "*p++ = *q++"},
    {'l', "while (x @= y = f()) ;", "x = y = f()"},
    {'i', "else if (n @== 3) f();", "n == 3"},
    {'l', "do { k++; } while (k @< n);", "k < n"},
    {'l', "while (k-- @> 0) f();", "k-- > 0"},
    {'i', "if ((unsigned)x @< 5u) f();", "(unsigned)x < 5u"},
    {'i', "if ((unsigned char)*p @== 'x') f();", "(unsigned char)*p == 'x'"},
    {'i', "if (sizeof x @== 4) f();", "sizeof x == 4"},
    {'i', "if (sizeof(struct point) @== n) f();", "sizeof(struct point) == n"},
    {'i', "if (a + b @> c * 2) f();", "a + b > c * 2"},
    {'i', "if (a << 2 @& b) f();", "a << 2 & b"},
    {'i', "if (a @| b & c) f();", "a | b & c"},
    {'s', "@switch (n) { case 1: f(); }", "n"},
    {'s', "@switch (kind_of(p)->type) { }", "kind_of(p)->type"},
    {'i', "if (c) if (n @> 3) f();", "n > 3"},
    {'i', "if (c) { f(); } if (n @> 3) f();", "n > 3"},
    {'i', "if (strcmp(a, \"x\" \"y\") @== 0) f();", "strcmp(a, \"x\" \"y\") == 0"},
    {'i', "if (fmt @== \"a\" PRIu64 \"b\") f();", "fmt == \"a\" PRIu64 \"b\""},
};

static const struct example loops[] = {
    {'l', "for (int i = 0; i @< n; i++) f();", "i < n"},
    {'l', "for (;@p;) f();", "p"},
    {'p', "for (i = 0, j = 1; i @< n && j; i++) f();", "i < n"},
    {'p', "for (i = 0; a[i] && @b[i]; i++) f();", "b[i]"},
    {'c', "for (i = a @> b ? a : b; i; i--) f();", "a > b"},
    {'c', "for (i = 0; i < n; i += a @> b ? 1 : 2) f();", "a > b"},
    {'l', "for (i = n @< 3; i; i--) f();", NULL},
    {'l', "for (i = 0; i < n; i @+= 2) f();", NULL},
    {'l', "for (auto x @: all) f();", "auto x : all"},
    {'l', "for (const auto &[k, v] @: table) f();", "const auto &[k, v] : table"},
};

/* clang names the keyword where the condition has no operator. */
static const struct example keywords[] = {
    {'l', "@while (x) f();", "x"},
    {'l', "do f(); @while (*p);", "*p"},
    {'l', "@for (i = 0; a[i]; i++) f();", "a[i]"},
    {'l', "@for (;;) f();", NULL},
    {'l', "@for (T x : all) f();", NULL},
    {'i', "@if (x) f();", "x"},
    {'i', "@while (x) f();", NULL},
    {'p', "@while (x && y) f();", NULL},
    {'i', "@if (int n = f(); n) f();", "n"},
    {'l', "@while (x\n#if A\n && y\n#endif\n) f();", NULL},
    {'l', "@while;", NULL},
};

/* Both sides of && at once. */
static const struct example wholes[] = {
    {'i', "if (a @> 2 && b < 6) f();", "a > 2 && b < 6"},
    {'i', "if (!(a > 2 && b @< 6)) f();", "!(a > 2 && b < 6)"},
    {'i', "if (a || (b && (c @== 1))) f();", "a || (b && (c == 1))"},
    {'l', "while (@a && b || c) f();", "a && b || c"},
    {'l', "for (i = 0; a[i] && @b[i]; i++) f();", "a[i] && b[i]"},
    {'c', "x = @a && b ? c : d;", "a && b"},
    {'i', "x = @a && b ? c : d;", NULL},
    {'i', "while (@a && b) f();", NULL},
    {'c', "if (@MAX(a, b) && c) f();", "MAX(a, b)"},
    {'i', "if (@BOTH(a, b)) f();", "BOTH(a, b)"},
    {'p', "if (@BOTH(a, b)) f();", NULL},
};

/* ---- parts of && and ||, and ?: ---- */

static const struct example parts[] = {
    {'p', "if (a @> 2 && b < 6) f();", "a > 2"},
    {'p', "if (a > 2 && b @< 6) f();", "b < 6"},
    {'p', "if (a && !@b) f();", "!b"},
    {'p', "if (!(@a && b)) f();", "a"},
    {'p', "if (!(a && @b)) f();", "b"},
    {'p', "if (!(a && !(b @== 2))) f();", "!(b == 2)"},
    {'p', "if (a || (b @< 2 && c)) f();", "b < 2"},
    {'p', "if (a || (b && (c @== 1))) f();", "(c == 1)"},
    {'p', "if (a && (x @= f())) f();", "(x = f())"},
    {'i', "if ((a && b) @== c) f();", "(a && b) == c"},
    {'p', "if ((@a && b) == c) f();", "a"},
    {'c', "int x = n @> 3 ? 1 : 2;", "n > 3"},
    {'c', "return n @> 3 ? 1 : 2;", "n > 3"},
    {'p', "return @a && b;", "a"},
    {'p', "x = @a || b;", "a"},
    {'p', "x += y && @z(1) ? 1 : 0;", "z(1)"},
    {'c', "f(a, b @> c ? b : c, d);", "b > c"},
    {'c', "x = a ? b : c @> 1 ? d : e;", "c > 1"},
    {'c', "x = a ? b @> 1 ? d : e : c;", "b > 1"},
    {'p', "x = a ? b && @c : d;", "c"},
    {'c', "x = a @?: b;", NULL},
    {'c', "x = @a ?: b;", "a"},
    {'p', "p && @q && r;", "q"},
    {'p', "if (x) @a && b();", "a"},
    {'p', "{ f(); } @a && b();", "a"},
    {'c', "case 3: @a ? b() : c();", "a"},
    {'p', "if (a and not @b) f();", "not b"},
    {'p', "if (a @&& b) f();", NULL},
    {'c', "if (a @? b : c) f();", NULL},
    {'c', "if (a ? @b : c) f();", NULL},
    {'c', "x[a @> b ? 1 : 2] = 3;", "a > b"},
};

/* ---- layout, comments, literals, lines of the preprocessor ---- */

static const struct example layout[] = {
    {'i', "if (a /* ) && */ @== // ( ;\n    b)\n f();", "a == b"},
    {'i', "if (a\n\t\t@==\n\n   b) f();", "a == b"},
    {'i', "if (a\r\n  @== b)\r\n f();", "a == b"},
    {'i', "if (a \\\n  @== b) f();", "a == b"},
    {'i', "\tif (\ta\t@== b ) f();", "a == b"},
    {'p', "if (s[0] @== ')' && c) f();", "s[0] == ')'"},
    {'p', "if (s[0] @== '\\'' && c) f();", "s[0] == '\\''"},
    {'p', "if (same(s, \"\\\") && (\") @> 0 && c) f();", "same(s, \"\\\") && (\") > 0"},
    {'p', "if (@same(s, R\"x()\" && ()x\") && c) f();", "same(s, R\"x()\" && ()x\")"},
    {'p', "if (c @== L'\"' && d) f();", "c == L'\"'"},
    {'p', "if (n @> 1'000'000 && c) f();", "n > 1'000'000"},
    {'p', "if (x @< 1.5e-3 && c) f();", "x < 1.5e-3"},
    {'i', "if (größe @> 3) f();", "größe > 3"},
    {'p', "if (f(\"ä\") && größe @> 3) f();", "größe > 3"},
    {'p', "if (a\n#ifdef X\n && b\n#endif\n && @c) f();", "c"},
    {'p', "if (@a\n#ifdef X\n && b\n#endif\n && c) f();", NULL},
    {'p', "if (a\n#ifdef X\n && @b\n#endif\n && c) f();", NULL},
    {'i', "if (a @>\n#ifdef X\n b\n#else\n c\n#endif\n ) f();", NULL},
    {'i', "#if 1\nif (a) {\n#else\nif (b) {\n#endif\nif (c @> 1) f();", "c > 1"},
    {'i', "#define X \\\n if (\nif (c @> 1) f();", "c > 1"},
    {'i', "if (a @==", NULL},
    {'i', "if (a == b) f(); @", NULL},
    {'i', "if (lo@ng == b) f();", NULL},
    {'i', "if (a /* @ */ == b) f();", NULL},
    {'i', "if (\"a@b\") f();", NULL},
};

/* ---- macros and C++ ---- */

static const struct example macros[] = {
    {'i', "if (@IS_SMALL(n)) f();", "IS_SMALL(n)"},
    {'p', "if (!@IS_SMALL(n) && b) f();", "!IS_SMALL(n)"},
    {'i', "@IF_SMALL(n - 1, act(2));", "IF_SMALL(n - 1, act(2))"},
    {'i', "if (c) @CHECK(n);", "CHECK(n)"},
    {'i', "x = @MAX(a, b);", "MAX(a, b)"},
    {'i', "if (@MAX(a, b) > 5) f();", "MAX(a, b)"},
    {'i', "if (MAX(a, b) @> 5) f();", "MAX(a, b) > 5"},
    {'i', "f(@MAX(a, b));", "MAX(a, b)"},
    {'i', "@NEXT;", "NEXT"},
    {'i', "@next;", NULL},
    {'i', "if (@a AND b) f();", NULL},
    {'i', "if (a AND @b(1)) f();", NULL},
    {'i', "if (f(x) AND @b) f();", NULL},
    {'i', "if (f(@x)) f();", NULL},
    {'i', "if (f(a @< b)) f();", NULL},
    {'i', "if ((a @< b) + c) f();", NULL},
    {'i', "if (a @< b > c) f();", NULL},
    {'i', "if (a < b @> c) f();", "a < b > c"},
    {'i', "if (a @< b == c) f();", NULL},
    {'i', "if (is<int>(@x)) f();", NULL},
    {'p', "if (f<a, b>(x) && @y) f();", "y"},
    {'p', "if (y && @f<a, b>(x)) f();", NULL},
    {'p', "if (y && f<a, @b>(x)) f();", NULL},
    {'c', "g(f<a, b @>(x) ? 1 : 2);", NULL},
    {'c', "g(h, b @> x ? 1 : 2);", "b > x"},
    {'i', "if (a, b @> c) f();", NULL},
    {'i', "if (T *@p = find(x)) f();", "T *p = find(x)"},
    {'i', "if (int n = f(); n @> 0) f();", "n > 0"},
    {'i', "if (int n = f(@a); n > 0) f();", NULL},
    {'i', "if (std::string(a) @== b) f();", "std::string(a) == b"},
    {'i', "if (all.@empty()) f();", "all.empty()"},
    {'p', "if (any(v, [&](int x) { return x @> 0 && x < 9; })) f();", "x > 0"},
    {'i', "if (any(v, [&](int x) { if (x @> 0) return 1; return 0; }) && y) f();", "x > 0"},
    {'p', "if (any(v, [&](int x) { return x; }) && @y) f();", "y"},
    {'p', "if (@any(v, [&](int x) { return x; }) && y) f();", "any(v, [&](int x) { return x; })"},
    {'p', "if (T{1} @== x && y) f();", NULL},
    {'p', "if (x @== T{1} && y) f();", "x == T{1}"},
    {'i', "if constexpr (n @> 2) f();", "n > 2"},
    {'i', "if (p @== nullptr) f();", "p == nullptr"},
    {'c', "auto &&x = @a ? b : c;", "a"},
};

/* ---- */

static struct fp_source_text source_of(struct fp_arena *arena, const char *text, size_t len)
{
    struct fp_source_text source = {.name = "x.c", .text = text, .len = len, .certain = true};
    for (size_t i = 0; i < len; i++) source.nlines += text[i] == '\n';
    source.nlines += len && text[len - 1] != '\n';
    source.line_at = FP_NEW_ARRAY(arena, size_t, (size_t)source.nlines + 1);
    for (size_t i = 0, line = 0; i < len; i++)
        if (text[i] == '\n') source.line_at[++line] = i + 1;
    source.line_at[source.nlines] = len;
    return source;
}

static bool same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* The example inside of a function, with what may mislead before it. */
static void check_example(const struct example *example)
{
    struct fp_sources sources = {0};
    const char *mark = strchr(example->source, '@');
    char *text =
        fp_arena_printf(&sources.arena, "/* if ( */ void f(int n)\n{ g(\"{\");\n%.*s%s\n}\n",
                        (int)(mark - example->source), example->source, mark + 1);
    size_t at = (size_t)(strstr(text, "\");\n") - text) + 4 + (size_t)(mark - example->source);
    struct fp_source_text source = source_of(&sources.arena, text, strlen(text));
    uint32_t line = 1;
    while (line < source.nlines && source.line_at[line] <= at) line++;
    enum fp_condition what = (enum fp_condition)(strchr("pilcs", example->what) - (char *)"pilcs");
    uint32_t column = (uint32_t)(at - source.line_at[line - 1]) + 1;
    const char *found = fp_condition_text(&sources, &source, what, 1, line, column);
    CHECK(same(found, example->text));
    if (!same(found, example->text))
        printf("%s\n    expected %s\n    got %s\n", example->source,
               example->text ? example->text : "nothing", found ? found : "nothing");
    CHECK(same(fp_condition_text(&sources, &source, what, 1, line, column),
               found)); /* as it was kept */
    fp_sources_free(&sources);
}

#define CHECK_ALL(examples) \
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) check_example(&examples[i])

/* Sources that must give nothing whatever is asked. */
static void test_without_text(void)
{
    static const char renumbered[] = "# line 7\nif (a == b) f();\n#define x\n";
    struct fp_sources sources = {0};
    struct fp_source_text source = source_of(&sources.arena, renumbered, sizeof renumbered - 1);
    CHECK(!fp_condition_text(&sources, &source, FP_CONDITION_IF, 1, 2, 7));
    static const char text[] = "if (a == b) f();\n";
    source = source_of(&sources.arena, text, sizeof text - 1);
    CHECK(same(fp_condition_text(&sources, &source, FP_CONDITION_IF, 0, 1, 7), "a == b"));
    CHECK(!fp_condition_text(&sources, &source, FP_CONDITION_IF, 1, 2, 7));
    CHECK(!fp_condition_text(&sources, &source, FP_CONDITION_IF, 1, 1, 99));
    CHECK(!fp_condition_text(&sources, &source, FP_CONDITION_IF, 1, 0, 7));
    CHECK(!fp_condition_text(&sources, &source, FP_CONDITION_IF, 1, 1, 0));
    source = source_of(&sources.arena, text, sizeof text - 1);
    source.certain = false;
    CHECK(!fp_condition_text(&sources, &source, FP_CONDITION_IF, 1, 1, 7));
    source = source_of(&sources.arena, "", 0);
    CHECK(!fp_condition_text(&sources, &source, FP_CONDITION_IF, 1, 1, 1));
    fp_sources_free(&sources);
}

/* Every place of every source that was cut anywhere: no crash, no endless loop. */
static void test_every_place(void)
{
    static const char text[] = "if (a && (b[1] ? c : d<e, f>(g)) || !{ for (;;x) \"s' R\"( /* \\\n";
    for (size_t len = 0; len < sizeof text; len++) {
        struct fp_sources sources = {0};
        struct fp_source_text source = source_of(&sources.arena, text, len);
        for (uint32_t column = 1; column <= 5 * len; column++)
            CHECK(!fp_condition_text(&sources, &source, column % 5, 1, 1, column / 5 + 1) || len);
        fp_sources_free(&sources);
    }
}

static void test_cut(void)
{
    struct fp_arena arena = {0};
    CHECK(same(fp_text_cut(&arena, "a == b", 6), "a == b"));
    CHECK(same(fp_text_cut(&arena, "a == bc", 6), "a ==…"));
    CHECK(same(fp_text_cut(&arena, "größer", 4), "grö…"));
    CHECK(same(fp_text_cut(&arena, "größer", 6), "größer"));
    CHECK(fp_text_columns("größer", 8) == 6);
    fp_arena_free(&arena);
}

int main(void)
{
    CHECK_ALL(plain);
    CHECK_ALL(loops);
    CHECK_ALL(keywords);
    CHECK_ALL(wholes);
    CHECK_ALL(parts);
    CHECK_ALL(layout);
    CHECK_ALL(macros);
    test_without_text();
    test_every_place();
    test_cut();
    return check_summary();
}
