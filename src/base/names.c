/* Names of files and functions: see names.h. */
#include "base/names.h"

#include "base/table.h"

#include <string.h>

const char *fp_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

uint64_t fp_name_key(const char *name, const char *file)
{
    return fp_hash64(fp_hash_string(name) ^ fp_hash_string(fp_base_name(file)));
}

uint64_t fp_identity_key(const struct fp_identity *identity)
{
    return fp_hash64(fp_name_key(identity->name, identity->file) ^ identity->shape);
}

int fp_identity_order(const struct fp_identity *a, const struct fp_identity *b)
{
    int order = strcmp(a->name, b->name);
    if (!order) order = strcmp(fp_base_name(a->file), fp_base_name(b->file));
    return order ? order : (a->shape > b->shape) - (a->shape < b->shape);
}

static char *with_escapes(struct fp_arena *arena, const char *path, const char *special,
                          char escape)
{
    char *out = fp_arena_alloc(arena, 2 * strlen(path) + 1), *to = out;
    for (; *path; path++) {
        if (strchr(special, *path)) *to++ = escape;
        *to++ = *path;
    }
    return out;
}

char *fp_as_word(struct fp_arena *arena, const char *path)
{
    return with_escapes(arena, path, " \t\n\v\f\r\"'\\", '\\');
}

char *fp_as_pattern(struct fp_arena *arena, const char *path)
{
    return with_escapes(arena, path, "%", '%');
}
