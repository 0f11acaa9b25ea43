/* Versions of symbols (exe/imageversions.h). */
#include "exe/imageversions.h"

#include <string.h>

enum { MOST_VERSIONS = 4096, VERSION_MASK = 0x7fff };

static bool damaged(const struct fp_elfview *view, struct fp_error *error)
{
    return fp_fail(error, view->path, "has a damaged table of versions");
}

static bool read_needs(struct fp_arena *arena, const struct fp_elfview *view,
                       struct image_versions *versions, uint64_t at, const Elf64_Verneed *need,
                       struct fp_error *error)
{
    uint64_t strings = fp_elfview_dynamic(view, DT_STRTAB);
    const char *file = fp_elfview_string(view, strings + need->vn_file);
    at += need->vn_aux;
    for (uint16_t i = 0; i < need->vn_cnt; i++) {
        const unsigned char *bytes = fp_elfview_at(view, at, sizeof(Elf64_Vernaux));
        Elf64_Vernaux aux;
        if (!bytes || !file || versions->needs.len > MOST_VERSIONS) return damaged(view, error);
        memcpy(&aux, bytes, sizeof aux);
        const char *name = fp_elfview_string(view, strings + aux.vna_name);
        if (!name) return damaged(view, error);
        struct image_version version = {file, name, aux.vna_hash, aux.vna_flags, aux.vna_other};
        fp_vec_push(arena, &versions->needs, version);
        if ((aux.vna_other & VERSION_MASK) > versions->highest)
            versions->highest = aux.vna_other & VERSION_MASK;
        at += aux.vna_next;
    }
    return true;
}

/* The numbers of versions that the file defines. */
static bool read_defined(const struct fp_elfview *view, struct image_versions *versions,
                         struct fp_error *error)
{
    uint64_t at = fp_elfview_dynamic(view, DT_VERDEF),
             count = at ? fp_elfview_dynamic(view, DT_VERDEFNUM) : 0;
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Verdef def;
        const unsigned char *bytes = fp_elfview_at(view, at, sizeof def);
        if (!bytes || i > MOST_VERSIONS) return damaged(view, error);
        memcpy(&def, bytes, sizeof def);
        if ((def.vd_ndx & VERSION_MASK) > versions->highest)
            versions->highest = def.vd_ndx & VERSION_MASK;
        at += def.vd_next;
    }
    return true;
}

bool fp_image_read_versions(struct fp_arena *arena, const struct fp_elfview *view,
                            struct image_versions *versions, struct fp_error *error)
{
    uint64_t at = fp_elfview_dynamic(view, DT_VERNEED),
             count = at ? fp_elfview_dynamic(view, DT_VERNEEDNUM) : 0;
    versions->highest = 1;
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Verneed need;
        const unsigned char *bytes = fp_elfview_at(view, at, sizeof need);
        if (!bytes || i > MOST_VERSIONS) return damaged(view, error);
        memcpy(&need, bytes, sizeof need);
        if (!read_needs(arena, view, versions, at, &need, error)) return false;
        at += need.vn_next;
    }
    return read_defined(view, versions, error);
}

const struct image_version *fp_image_version(const struct image_versions *versions, uint16_t number)
{
    for (size_t i = 0; i < versions->needs.len; i++)
        if (versions->needs.at[i].number == (number & VERSION_MASK)) return &versions->needs.at[i];
    return NULL;
}

uint16_t fp_image_need_version(struct fp_arena *arena, struct image_versions *versions,
                               const struct image_version *wanted)
{
    size_t place = versions->needs.len;
    for (size_t i = 0; i < versions->needs.len; i++) {
        const struct image_version *v = &versions->needs.at[i];
        if (strcmp(v->file, wanted->file)) continue;
        if (!strcmp(v->name, wanted->name)) return v->number;
        place = i + 1;
    }
    fp_vec_push(arena, &versions->needs, *wanted);
    memmove(&versions->needs.at[place + 1], &versions->needs.at[place],
            (versions->needs.len - 1 - place) * sizeof *wanted);
    versions->needs.at[place] = *wanted;
    versions->needs.at[place].number = ++versions->highest;
    return versions->highest;
}

uint32_t fp_image_add_string(struct fp_arena *arena, struct image_strings *strings,
                             const char *text)
{
    uint32_t at = (uint32_t)strings->bytes.len;
    size_t len = strlen(text) + 1;
    fp_vec_reserve(arena, &strings->bytes, strings->bytes.len + len);
    memcpy(strings->bytes.at + at, text, len);
    strings->bytes.len += len;
    return at;
}

static size_t of_same_file(const struct image_versions *versions, size_t first)
{
    size_t n = 1;
    while (first + n < versions->needs.len &&
           !strcmp(versions->needs.at[first].file, versions->needs.at[first + n].file))
        n++;
    return n;
}

bool fp_image_write_versions(struct fp_image *image, const struct image_versions *versions,
                             struct image_strings *strings, struct fp_error *error)
{
    size_t count = versions->needs.len;
    unsigned char *bytes = fp_arena_alloc(image->arena, count * 32 + 1), *at = bytes;
    for (size_t i = 0, n; i < count; i += n) {
        n = of_same_file(versions, i);
        bool last = i + n == count;
        Elf64_Verneed need = {
            .vn_version = 1,
            .vn_cnt = (uint16_t)n,
            .vn_file = fp_image_add_string(image->arena, strings, versions->needs.at[i].file),
            .vn_aux = sizeof need,
            .vn_next = last ? 0 : (uint32_t)(sizeof need + n * sizeof(Elf64_Vernaux))};
        memcpy(at, &need, sizeof need);
        at += sizeof need;
        for (size_t k = i; k < i + n; k++) {
            const struct image_version *v = &versions->needs.at[k];
            Elf64_Vernaux aux = {.vna_hash = v->hash,
                                 .vna_flags = v->flags,
                                 .vna_other = v->number,
                                 .vna_name = fp_image_add_string(image->arena, strings, v->name),
                                 .vna_next = k + 1 < i + n ? sizeof aux : 0};
            memcpy(at, &aux, sizeof aux);
            at += sizeof aux;
        }
        image->nverneed++;
    }
    struct image_table *table = &image->tables[TABLE_VERNEED];
    table->size = (uint64_t)(at - bytes);
    return fp_image_put(image, FP_IMAGE_READ, bytes, table->size, 8, &table->address, error);
}
