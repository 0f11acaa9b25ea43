/* Source files: see source.h. */
#include "source/source.h"

#include "base/io.h"
#include "base/md5.h"

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

/* ---- finding ---- */

/* The files that a name may be, in the order in which they are tried. */
struct candidates {
    FP_VEC(const char *) paths;
};

static void add_candidate(struct fp_sources *s, struct candidates *all, const char *path)
{
    struct stat st;
    if (*path && stat(path, &st) == 0 && S_ISREG(st.st_mode))
        fp_vec_push(&s->arena, &all->paths, path);
}

static void add_mapped(struct fp_sources *s, struct candidates *all, const char *name)
{
    for (size_t i = 0; i < s->maps.len; i++) {
        size_t len = strlen(s->maps.at[i].before);
        if (strncmp(name, s->maps.at[i].before, len)) continue;
        add_candidate(s, all, fp_arena_printf(&s->arena, "%s%s", s->maps.at[i].after, name + len));
    }
}

/* Longer tails of the name first: root/src/a/b.c before root/b.c. */
static void add_below_roots(struct fp_sources *s, struct candidates *all, const char *name)
{
    for (size_t i = 0; i < s->roots.len; i++)
        for (const char *tail = name; tail; tail = strchr(tail, '/')) {
            while (*tail == '/') tail++;
            if (*tail)
                add_candidate(s, all, fp_arena_printf(&s->arena, "%s/%s", s->roots.at[i], tail));
        }
}

/* ---- reading ---- */

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

uint64_t fp_source_sum(const void *bytes, size_t len)
{
    unsigned char digest[16];
    uint64_t sum = 0;
    fp_md5(bytes, len, digest);
    for (int i = 0; i < 8; i++) sum = sum << 8 | digest[i];
    return sum ? sum : 1;
}

static bool is_compiled(const struct fp_source_text *source, const struct fp_file *file,
                        const char *path)
{
    const struct fp_source_version *version = &source->version;
    struct stat st;
    if (version->sum) return fp_source_sum(file->bytes, file->len) == version->sum;
    if (!version->ran_ns || stat(path, &st)) return true;
    uint64_t written = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    return written <= version->ran_ns;
}

static void take_text(struct fp_arena *arena, struct fp_source_text *source,
                      const struct fp_file *file, const char *path)
{
    if (file->len > LARGEST) {
        source->missing = "is larger than 256 MB";
    } else if (!is_compiled(source, file, path)) {
        source->changed = true;
    } else {
        source->found = path;
        source->certain = source->version.sum != 0;
        source->text = fp_arena_strndup(arena, (const char *)file->bytes, file->len);
        source->len = file->len;
        find_lines(arena, source);
    }
}

static void read_text(struct fp_arena *arena, struct fp_source_text *source, const char *path)
{
    struct fp_file file;
    struct fp_error error = {0};
    if (!fp_file_open(&file, path, &error)) {
        source->missing = fp_arena_strdup(arena, error.what);
        return;
    }
    take_text(arena, source, &file, path);
    fp_file_close(&file);
}

static struct fp_source_text *load(struct fp_sources *s, const char *name,
                                   struct fp_source_version version)
{
    struct fp_source_text *source = FP_NEW(&s->arena, struct fp_source_text);
    struct candidates all = {{0}};
    source->name = fp_arena_strdup(&s->arena, name);
    source->version = version;
    add_mapped(s, &all, name);
    add_candidate(s, &all, source->name);
    add_below_roots(s, &all, name);
    for (size_t i = 0; i < all.paths.len && !source->found; i++)
        read_text(&s->arena, source, all.paths.at[i]);
    if (source->found)
        source->changed = false, source->missing = NULL;
    else if (source->changed)
        source->missing = "has changed since it was compiled; say where the old one is by "
                          "--source-root DIR or --map OLD=NEW";
    else if (!all.paths.len)
        source->missing = "not found; say where it is by --source-root DIR or --map OLD=NEW";
    return source;
}

static bool same_version(struct fp_source_version a, struct fp_source_version b)
{
    return a.sum == b.sum && (a.sum || a.ran_ns == b.ran_ns);
}

const struct fp_source_text *fp_source_get(struct fp_sources *s, const char *name,
                                           struct fp_source_version version)
{
    if (!s->by_name.arena) fp_strtable_init(&s->by_name, &s->arena);
    uint64_t *index = fp_strtable_add(&s->by_name, name);
    struct fp_source_text *first = *index ? s->all.at[*index - 1] : NULL;
    for (struct fp_source_text *one = first; one; one = one->other)
        if (same_version(one->version, version)) return one;
    struct fp_source_text *fresh = load(s, name, version);
    fp_vec_push(&s->arena, &s->all, fresh);
    fresh->other = first;
    *index = s->all.len;
    return fresh;
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
