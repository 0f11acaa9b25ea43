/* Looking at clang's arguments: see cc_look.h. Knows which options take the next word,
 * so that a file name behind them is not taken for an input; an option that is missing
 * there makes us see an input more, which matters only where there is no other. */
#include "cc_look.h"

#include "base/io.h"
#include "base/vec.h"

#include <ctype.h>
#include <string.h>

static bool in_list(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (!strcmp(word, *list)) return true;
    return false;
}

bool cc_starts(const char *word, const char *prefix)
{
    return !strncmp(word, prefix, strlen(prefix));
}

static bool ends(const char *word, const char *ending)
{
    size_t len = strlen(word), end = strlen(ending);
    return len >= end && !strcmp(word + len - end, ending);
}

/* ---- response files ---- */

enum { MOST_NESTING = 8 };

static void expand(struct fp_arena *arena, struct cc_words *words, const char *word, int depth);

/* Words between blanks, with quotes and backslashes. */
static void split(struct fp_arena *arena, struct cc_words *words, const char *bytes, size_t size,
                  int depth)
{
    char *text = fp_arena_alloc(arena, size + 1);
    size_t len = 0;
    bool some = false;
    char quote = 0;
    for (size_t i = 0; i <= size; i++) {
        char c = i < size ? bytes[i] : ' ';
        if (!quote && isspace((unsigned char)c)) {
            text[len] = 0;
            if (some) expand(arena, words, text, depth + 1);
            len = 0;
            some = false;
        } else if (c == quote) {
            quote = 0;
        } else if (!quote && (c == '"' || c == '\'')) {
            quote = c;
            some = true;
        } else {
            if (c == '\\' && i + 1 < size) c = bytes[++i];
            text[len++] = c;
            some = true;
        }
    }
}

static void expand(struct fp_arena *arena, struct cc_words *words, const char *word, int depth)
{
    struct fp_file file;
    struct fp_error error = {0};
    if (word[0] != '@' || depth > MOST_NESTING || !fp_file_open(&file, word + 1, &error)) {
        fp_vec_push(arena, words, fp_arena_strdup(arena, word));
        return;
    }
    split(arena, words, (const char *)file.bytes, file.len, depth);
    fp_file_close(&file);
}

void cc_split(struct fp_arena *arena, struct cc_words *words, const char *text)
{
    split(arena, words, text, strlen(text), MOST_NESTING);
}

void cc_expand(struct fp_arena *arena, struct cc_words *words, const char *word)
{
    expand(arena, words, word, 0);
}

/* ---- words ---- */

/* options whose next word belongs to them */
static const char *const with_argument[] = {"-o",
                                            "-x",
                                            "-I",
                                            "-L",
                                            "-D",
                                            "-U",
                                            "-l",
                                            "-F",
                                            "-B",
                                            "-J",
                                            "-T",
                                            "-u",
                                            "-z",
                                            "-e",
                                            "-h",
                                            "-include",
                                            "-include-pch",
                                            "-imacros",
                                            "-isystem",
                                            "-isystem-after",
                                            "-cxx-isystem",
                                            "-c-isystem",
                                            "-stdlib++-isystem",
                                            "-idirafter",
                                            "-iquote",
                                            "-isysroot",
                                            "-iprefix",
                                            "-iwithprefix",
                                            "-iwithprefixbefore",
                                            "-iwithsysroot",
                                            "-imultilib",
                                            "-iframework",
                                            "-ivfsoverlay",
                                            "-MF",
                                            "-MT",
                                            "-MQ",
                                            "-MJ",
                                            "-Xclang",
                                            "-Xlinker",
                                            "-Xassembler",
                                            "-Xpreprocessor",
                                            "-Xanalyzer",
                                            "-Xopenmp-target",
                                            "-mllvm",
                                            "-target",
                                            "-arch",
                                            "-Tbss",
                                            "-Tdata",
                                            "-Ttext",
                                            "--param",
                                            "--sysroot",
                                            "--output",
                                            "--language",
                                            "--include-directory",
                                            "--define-macro",
                                            "-framework",
                                            "-gcc-toolchain",
                                            "-resource-dir",
                                            "-rpath",
                                            "-soname",
                                            "-dependency-file",
                                            "-working-directory",
                                            "-serialize-diagnostics",
                                            "--serialize-diagnostics",
                                            "-main-file-name",
                                            "-fdebug-compilation-dir",
                                            "-aux-info",
                                            NULL};

static bool takes_argument(const char *word)
{
    return in_list(word, with_argument) || cc_starts(word, "-Xarch_");
}

/* Answers, preprocesses, checks: no code comes of it. */
static bool is_question(const char *word)
{
    static const char *const list[] = {
        "-E",           "--preprocess",  "-M",        "-MM",          "-fsyntax-only",
        "--version",    "-###",          "--help",    "-help",        "-dumpversion",
        "-dumpmachine", "--analyze",     "-emit-ast", "--precompile", "-extract-api",
        "-verify-pch",  "-rewrite-objc", "-cc1",      "-cc1as",       NULL};
    return in_list(word, list) || cc_starts(word, "-print-") || cc_starts(word, "--print-") ||
           cc_starts(word, "-ccc-print-") || cc_starts(word, "--help-") ||
           cc_starts(word, "--autocomplete=") || cc_starts(word, "-fmodule-header");
}

/* Not -gz, -gcolumn-info, -gsplit-dwarf and the like, which only say how. */
static bool asks_for_debug(const char *word)
{
    static const char *const list[] = {"-g",
                                       "--debug",
                                       "-g1",
                                       "-g2",
                                       "-g3",
                                       "-gfull",
                                       "-gused",
                                       "-gmlt",
                                       "-gsce",
                                       "-gdbx",
                                       "-gmodules",
                                       "-gline-tables-only",
                                       "-gline-directives-only",
                                       "-gcodeview",
                                       NULL};
    bool tuned =
        cc_starts(word, "-ggdb") || cc_starts(word, "-glldb") || cc_starts(word, "-gdwarf");
    return in_list(word, list) ||
           (tuned && !ends(word, "db0") && strcmp(word, "-gdwarf32") && strcmp(word, "-gdwarf64"));
}

enum input { SOURCE, HEADER, OTHER };

static bool has_ending(const char *name, const char *const *endings)
{
    const char *dot = strrchr(name, '.');
    return dot && !strchr(dot, '/') && in_list(dot, endings);
}

/* language: what -x said, or NULL. */
static enum input kind_of(const char *name, const char *language)
{
    static const char *const sources[] = {".c",    ".C",   ".cc",  ".cp", ".cpp",  ".cxx", ".c++",
                                          ".CPP",  ".CC",  ".i",   ".ii", ".m",    ".M",   ".mm",
                                          ".mi",   ".mii", ".ll",  ".bc", ".cppm", ".ccm", ".cxxm",
                                          ".c++m", ".ixx", ".pcm", NULL};
    static const char *const headers[] = {".h", ".H", ".hh", ".hpp", ".hxx", ".h++", ".hp", NULL};
    if (language && cc_starts(language, "assembler")) return OTHER;
    if (language) return strstr(language, "header") ? HEADER : SOURCE;
    if (!strcmp(name, "-") || has_ending(name, sources)) return SOURCE;
    return has_ending(name, headers) ? HEADER : OTHER;
}

struct seen {
    struct fp_arena *arena;
    bool question, stops, relocatable;
    size_t headers, libraries;
    const char *language;
};

static void see_linker_word(struct cc_look *look, struct seen *seen, const char *word)
{
    if (cc_starts(word, "-Wl,")) word += strlen("-Wl,");
    if (strstr(word, "--build-id")) look->has_build_id = true;
    if (!strcmp(word, "-r") || !strcmp(word, "--relocatable")) seen->relocatable = true;
    if (!strcmp(word, "-static")) look->is_static = true;
}

static void see_input(struct cc_look *look, struct seen *seen, char *name)
{
    switch (kind_of(name, seen->language)) {
    case SOURCE: fp_vec_push(seen->arena, &look->sources, name); break;
    case HEADER: seen->headers++; break;
    case OTHER: fp_vec_push(seen->arena, &look->linked, name); break;
    }
}

static bool is_foreign(const char *target)
{
    bool ours = cc_starts(target, "x86_64") || cc_starts(target, "amd64");
    return !ours || !strstr(target, "linux") || strstr(target, "x32");
}

static void see_word(struct cc_look *look, struct seen *seen, char *word)
{
    static const char *const stops[] = {"-c", "-S", "--compile", "--assemble", NULL};
    static const char *const fixed[] = {"-static", "--static", "-static-pie", NULL};
    static const char *const machines[] = {"-m32", "-m16", "-mx32", NULL};
    static const char *const bare[] = {"-nostdlib", "-nodefaultlibs", "-nolibc", "-ffreestanding",
                                       NULL};
    if (word[0] != '-' || !word[1])
        see_input(look, seen, word);
    else if (is_question(word))
        seen->question = true;
    else if (in_list(word, stops))
        seen->stops = true;
    else if (in_list(word, fixed))
        look->is_static = true;
    else if (in_list(word, bare))
        look->own_libraries = true;
    else if (in_list(word, machines) ||
             (cc_starts(word, "--target=") && is_foreign(word + strlen("--target="))))
        look->foreign = word;
    else if (!strcmp(word, "-shared"))
        look->shared = true;
    else if (!strcmp(word, "-r") || cc_starts(word, "-Wl,"))
        see_linker_word(look, seen, word);
    else if (!strcmp(word, "-g0") || !strcmp(word, "-ggdb0"))
        look->debug = false;
    else if (asks_for_debug(word))
        look->debug = true;
    else if (cc_starts(word, "-l"))
        seen->libraries++;
    else if (cc_starts(word, "--output="))
        look->output = word + strlen("--output=");
    else if (cc_starts(word, "-o"))
        look->output = word + 2;
    else if (cc_starts(word, "-x"))
        seen->language = strcmp(word + 2, "none") ? word + 2 : NULL;
}

struct cc_look cc_look_at(struct fp_arena *arena, const struct cc_words *words)
{
    struct cc_look look = {.output = "a.out"};
    struct seen seen = {.arena = arena};
    for (size_t i = 0; i < words->len; i++) {
        char *word = words->at[i];
        const char *next = i + 1 < words->len ? words->at[i + 1] : "";
        if (!takes_argument(word)) {
            see_word(&look, &seen, word);
            continue;
        }
        if (!strcmp(word, "-x")) seen.language = strcmp(next, "none") ? next : NULL;
        if (!strcmp(word, "-Xlinker")) see_linker_word(&look, &seen, next);
        if (!strcmp(word, "-l")) seen.libraries++;
        if (!strcmp(word, "-o") || !strcmp(word, "--output")) look.output = next;
        if (!strcmp(word, "-target") && is_foreign(next)) look.foreign = next;
        i++;
    }
    bool inputs = look.sources.len || look.linked.len || seen.libraries;
    look.has_source = look.sources.len || seen.headers;
    look.compiles = look.sources.len && !seen.question;
    look.links = inputs && !seen.question && !seen.stops && !seen.relocatable;
    return look;
}
