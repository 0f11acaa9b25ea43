/* Source files: see source.h. */
#include "report/source.h"

#include "base/io.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define LARGEST ((size_t)256 << 20)

bool fp_sources_map(struct fp_sources *sources, const char *map)
{
    const char *equals = strchr(map, '=');
    if (!equals) return false;
    struct fp_source_map one = {fp_arena_strndup(&sources->arena, map, (size_t)(equals - map)),
                                fp_arena_strdup(&sources->arena, equals + 1)};
    fp_vec_push(&sources->arena, &sources->maps, one);
    return true;
}

static bool is_file(const char *path)
{
    struct stat st;
    return *path && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static const char *mapped(struct fp_sources *s, const char *name)
{
    for (size_t i = 0; i < s->maps.len; i++) {
        size_t len = strlen(s->maps.at[i].before);
        if (strncmp(name, s->maps.at[i].before, len)) continue;
        char *path = fp_arena_printf(&s->arena, "%s%s", s->maps.at[i].after, name + len);
        if (is_file(path)) return path;
    }
    return NULL;
}

/* Longer tails of the name first: root/src/a/b.c before root/b.c. */
static const char *below_roots(struct fp_sources *s, const char *name)
{
    for (size_t i = 0; i < s->roots.len; i++)
        for (const char *tail = name; tail; tail = strchr(tail, '/')) {
            while (*tail == '/') tail++;
            char *path = fp_arena_printf(&s->arena, "%s/%s", s->roots.at[i], tail);
            if (*tail && is_file(path)) return path;
        }
    return NULL;
}

static void find_lines(struct fp_arena *arena, struct fp_source_text *source)
{
    uint32_t lines = 0;
    for (size_t i = 0; i < source->len; i++) lines += source->text[i] == '\n';
    bool open = source->len && source->text[source->len - 1] != '\n';
    source->nlines = lines + open;
    source->line_at = FP_NEW_ARRAY(arena, size_t, (size_t)source->nlines + 1);
    uint32_t line = 0;
    for (size_t i = 0; i < source->len; i++)
        if (source->text[i] == '\n') source->line_at[++line] = i + 1;
    source->line_at[source->nlines] = source->len;
}

static void read_text(struct fp_arena *arena, struct fp_source_text *source)
{
    struct fp_file file;
    struct fp_error error = {0};
    if (!fp_file_open(&file, source->found, &error)) {
        source->missing = fp_arena_strdup(arena, error.what);
        source->found = NULL;
        return;
    }
    if (file.len > LARGEST) {
        source->missing = "is larger than 256 MB";
        source->found = NULL;
    } else {
        source->text = fp_arena_strndup(arena, (const char *)file.bytes, file.len);
        source->len = file.len;
        find_lines(arena, source);
    }
    fp_file_close(&file);
}

static struct fp_source_text *load(struct fp_sources *s, const char *name)
{
    struct fp_source_text *source = FP_NEW(&s->arena, struct fp_source_text);
    source->name = fp_arena_strdup(&s->arena, name);
    source->found = mapped(s, name);
    if (!source->found && is_file(name)) source->found = source->name;
    if (!source->found) source->found = below_roots(s, name);
    if (source->found)
        read_text(&s->arena, source);
    else
        source->missing = "not found; say where it is by --source-root DIR or --map OLD=NEW";
    return source;
}

const struct fp_source_text *fp_source_get(struct fp_sources *s, const char *name)
{
    if (!s->by_name.arena) fp_strtable_init(&s->by_name, &s->arena);
    uint64_t *index = fp_strtable_add(&s->by_name, name);
    if (!*index) {
        fp_vec_push(&s->arena, &s->all, load(s, name));
        *index = s->all.len;
    }
    return s->all.at[*index - 1];
}

const char *fp_source_line(const struct fp_source_text *source, uint32_t line, size_t *len)
{
    *len = 0;
    if (!line || line > source->nlines) return "";
    const char *text = source->text + source->line_at[line - 1];
    *len = source->line_at[line] - source->line_at[line - 1];
    while (*len && (text[*len - 1] == '\n' || text[*len - 1] == '\r')) --*len;
    return text;
}

void fp_sources_free(struct fp_sources *sources)
{
    fp_arena_free(&sources->arena);
    *sources = (struct fp_sources){0};
}
