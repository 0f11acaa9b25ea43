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
