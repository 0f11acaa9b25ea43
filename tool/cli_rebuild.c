/* Times of sources, and how builds are cleaned: see cli_rebuild.h. */
#include "cli_rebuild.h"

#include "base/names.h"
#include "profile/profile.h"

#include <fcntl.h>
#include <string.h>

void cli_touch(struct fp_arena *arena, const struct fp_build_log *log, struct cli_touched *touched)
{
    for (size_t i = 0; i < log->sources.len; i++) {
        const char *name = log->sources.at[i];
        struct stat about;
        if (stat(name, &about) < 0 || utimensat(AT_FDCWD, name, NULL, 0) < 0) continue;
        fp_vec_push(arena, &touched->sources,
                    (struct cli_source){name, {about.st_atim, about.st_mtim}});
    }
}

void cli_untouch(const struct cli_touched *touched)
{
    for (size_t i = 0; i < touched->sources.len; i++)
        utimensat(AT_FDCWD, touched->sources.at[i].name, touched->sources.at[i].times, 0);
}

/* ---- what the second build made ---- */

static bool counts(const struct fp_module *module, bool may_count)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_program program;
    bool has_map = fp_program_read(&arena, module->id.path, &program, &error);
    bool found = has_map && (!may_count || fp_program_fits(&program, &module->id));
    fp_arena_free(&arena);
    return found;
}

const char *cli_still_counts(struct fp_arena *arena, const char *profile, struct timespec begin,
                             bool may_count, struct fp_error *error)
{
    struct fp_profile *trained = fp_profile_new();
    const char *found = NULL;
    trained->all_builds = true;
    fp_profile_add(trained, profile, error);
    for (size_t i = 0; !found && i < trained->modules.len; i++) {
        const struct fp_module *module = trained->modules.at[i];
        if (!fp_older(module->id.path, begin) && counts(module, may_count))
            found = fp_arena_strdup(arena, module->id.path);
    }
    fp_profile_free(trained);
    return found;
}

/* ---- cleaning ---- */

struct builder {
    const char *name, *second; /* the first word, and the next where it must be this one */
    const char *with_value;    /* options that say what is built, and take a value */
    const char *clean;
};

static const struct builder builders[] = {
    {"make", NULL, " -C -f -I --directory --file --makefile ", "clean"},
    {"gmake", NULL, " -C -f -I --directory --file --makefile ", "clean"},
    {"ninja", NULL, " -C -f ", "-t clean"},
    {"cmake", "--build", " --build --config --preset ", "--target clean"},
    {"meson", "compile", " -C ", "--clean"},
};

/* The length of the word at `text`, with its quotes; 0 where the shell would see more in it
 * than a word. `$CC` is fine. */
static size_t word_length(const char *text)
{
    char quote = 0;
    size_t len = 0;
    for (; text[len] && (quote || (text[len] != ' ' && text[len] != '\t')); len++) {
        char c = text[len];
        if (c == '`' || (!quote && strchr(";&|<>()\n#", c))) return 0;
        if (quote ? c == quote : c == '"' || c == '\'') quote = quote ? 0 : c;
    }
    return quote ? 0 : len;
}

static bool split(struct fp_arena *arena, const char *text, char **words, size_t room, size_t *n)
{
    for (*n = 0; *(text += strspn(text, " \t"));) {
        size_t len = word_length(text);
        if (!len || *n == room) return false;
        words[(*n)++] = fp_arena_strndup(arena, text, len);
        text += len;
    }
    return true;
}

static const struct builder *find_builder(char **words, size_t n)
{
    for (size_t i = 0; n && i < sizeof builders / sizeof *builders; i++) {
        const struct builder *b = &builders[i];
        if (strcmp(fp_base_name(words[0]), b->name)) continue;
        if (!b->second || (n > 1 && !strcmp(words[1], b->second))) return b;
    }
    return NULL;
}

char *cli_clean_of(struct fp_arena *arena, const char *build)
{
    char *words[64];
    size_t n;
    if (!split(arena, build, words, 64, &n)) return NULL;
    const struct builder *b = find_builder(words, n);
    if (!b) return NULL;
    bool subcommand = b->second && b->second[0] != '-';
    char *text = fp_arena_printf(arena, "%s%s%s", words[0], subcommand ? " " : "",
                                 subcommand ? b->second : "");
    for (size_t i = 1; i < n; i++) {
        bool takes = strstr(b->with_value, fp_arena_printf(arena, " %s ", words[i])) && i + 1 < n;
        bool joined = words[i][0] == '-' && words[i][1] == 'C' && words[i][2];
        if (takes || joined || strchr(words[i], '='))
            text = fp_arena_printf(arena, "%s %s", text, words[i]);
        if (takes) text = fp_arena_printf(arena, "%s %s", text, words[++i]);
    }
    return fp_arena_printf(arena, "%s %s", text, b->clean);
}
