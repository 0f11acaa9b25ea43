/* Names of files and of functions.
 *
 * A function of one build is found again in another by its identity: its linkage name,
 * the last part of its file and the shape of its cfg. Builds in two folders have other
 * full names for one file; the last part is the same.
 */
#ifndef FP_BASE_NAMES_H
#define FP_BASE_NAMES_H

#include "base/arena.h"

#include <stdint.h>

/* The part of a path behind the last slash. */
const char *fp_base_name(const char *path);

/* Linkage name and last part of the file, as one number. Guides store it: the function
 * must not change. */
uint64_t fp_name_key(const char *name, const char *file);

struct fp_identity {
    const char *name, *file; /* the full name of the file */
    uint64_t shape;          /* fp_cfg_hash */
};

uint64_t fp_identity_key(const struct fp_identity *identity);
/* By name, last part of the file, shape; 0 where all three are equal. */
int fp_identity_order(const struct fp_identity *a, const struct fp_identity *b);

/* A path as a word of FOOTPATH_CC_FLAGS, and as FOOTPATH_OUT, where % begins a pattern. */
char *fp_as_word(struct fp_arena *arena, const char *path);
char *fp_as_pattern(struct fp_arena *arena, const char *path);

#endif
