/* Allow and deny lists: see filter.h. */
#include "llvm/read/filter.h"

#include "base/io.h"
#include "base/vec.h"
#include "llvm/shim.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct patterns {
    FP_VEC(char *) functions;
    FP_VEC(char *) files;
};

/* The line without its comment and the blanks around it. */
static char *trimmed(char *line)
{
    line[strcspn(line, "#")] = 0;
    line += strspn(line, " \t\r");
    size_t len = strlen(line);
    while (len && strchr(" \t\r", line[len - 1])) line[--len] = 0;
    return line;
}

static void add_pattern(struct fp_arena *arena, struct patterns *patterns, char *pattern)
{
    if (!strncmp(pattern, "src:", 4))
        fp_vec_push(arena, &patterns->files, trimmed(pattern + 4));
    else if (!strncmp(pattern, "fun:", 4))
        fp_vec_push(arena, &patterns->functions, trimmed(pattern + 4));
    else if (*pattern)
        fp_vec_push(arena, &patterns->functions, pattern);
}

/* The full name of a file with a pattern on each line, or patterns with commas between:
 * footpath-cc tells them apart. */
static bool read_list(struct fp_arena *arena, const char *given, struct fp_filter_list *list,
                      struct fp_error *error)
{
    struct fp_file file;
    struct patterns patterns = {0};
    char *text, *save = NULL;
    const char *between = "\n";
    if (!given) return true;
    if (*given != '/') {
        text = fp_arena_strndup(arena, given, strlen(given));
        between = ",";
    } else if (fp_file_open(&file, given, error)) {
        text = fp_arena_strndup(arena, (const char *)file.bytes, file.len);
        fp_file_close(&file);
    } else {
        return false;
    }
    for (char *one = strtok_r(text, between, &save); one; one = strtok_r(NULL, between, &save))
        add_pattern(arena, &patterns, trimmed(one));
    *list = (struct fp_filter_list){true, patterns.functions.at, patterns.files.at,
                                    patterns.functions.len, patterns.files.len};
    return true;
}

bool fp_filter_read(struct fp_arena *arena, const struct fp_flags *flags, struct fp_filter *filter,
                    struct fp_error *error)
{
    *filter = (struct fp_filter){0};
    return read_list(arena, flags->allow, &filter->allow, error) &&
           read_list(arena, flags->deny, &filter->deny, error) &&
           read_list(arena, flags->dump, &filter->dump, error);
}

/* From "int ns::g<int>(int)" its "ns::g<int>": without result and parameters. */
static char *bare_name(const char *readable)
{
    const char *start = readable, *at = readable;
    for (int depth = 0; *at && (depth || *at != '('); at++) {
        if (*at == '<') depth++;
        if (*at == '>' && depth) depth--;
        if (*at == ' ' && !depth) start = at + 1;
    }
    return strndup(start, (size_t)(at - start));
}

static bool fits(const char *pattern, const char *name)
{
    return name && fnmatch(pattern, name, 0) == 0;
}

static bool holds(const struct fp_filter_list *list, const struct fp_function *f)
{
    for (size_t i = 0; i < list->nfiles; i++)
        if (fits(list->files[i], f->file)) return true;
    if (!list->nfunctions) return false;
    char *readable = fp_shim_demangle(f->name), *bare = readable ? bare_name(readable) : NULL;
    bool found = false;
    for (size_t i = 0; i < list->nfunctions && !found; i++)
        found = fits(list->functions[i], f->name) || fits(list->functions[i], readable) ||
                fits(list->functions[i], bare);
    free(bare);
    free(readable);
    return found;
}

const char *fp_filter_reason(const struct fp_filter *filter, const struct fp_function *function)
{
    if (filter->deny.given && holds(&filter->deny, function)) return "on the list of --fp-deny";
    if (filter->allow.given && !holds(&filter->allow, function))
        return "not on the list of --fp-allow";
    return NULL;
}

bool fp_filter_dumps(const struct fp_filter *filter, const struct fp_function *function)
{
    return filter->dump.given && holds(&filter->dump, function);
}
