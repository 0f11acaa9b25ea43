/* Versions of symbols: what a file needs of its libraries (.gnu.version_r). */
#ifndef FP_EXE_IMAGEVERSIONS_H
#define FP_EXE_IMAGEVERSIONS_H

#include "exe/imageparts.h"

/* A version of a library, and the number by which symbols name it. */
struct image_version {
    const char *file, *name;
    uint32_t hash;
    uint16_t flags, number;
};

struct image_versions {
    FP_VEC(struct image_version) needs; /* those of one file are together */
    uint16_t highest;                   /* number in use, also by versions that are defined */
};

bool fp_image_read_versions(struct fp_arena *arena, const struct fp_elfview *view,
                            struct image_versions *versions, struct fp_error *error);
/* The number of a version, added where there is none. */
uint16_t fp_image_need_version(struct fp_arena *arena, struct image_versions *versions,
                               const struct image_version *wanted);
const struct image_version *fp_image_version(const struct image_versions *versions,
                                             uint16_t number);

/* Strings that are added to those of a table. */
struct image_strings {
    FP_VEC(char) bytes;
};
uint32_t fp_image_add_string(struct fp_arena *arena, struct image_strings *strings,
                             const char *text);

/* Writes the table of needs. */
bool fp_image_write_versions(struct fp_image *image, const struct image_versions *versions,
                             struct image_strings *strings, struct fp_error *error);

#endif
