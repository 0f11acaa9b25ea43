/* Finding and reading source files, by one rule in every command.
 *
 * A name is tried with each --map whose old part it begins with, then as it is,
 * then below each --source-root: whole, and with leading folders left off. A file
 * that is not found, or is no text file, is missing with a reason; that is never an
 * error.
 *
 * A file that was edited after the program was compiled has other lines than the counts are of.
 * Of those that are found the one that was compiled is taken, whichever comes first; where none
 * is, the file is missing, and `changed` says so. The map has a sum of each file
 * (docs/formats/map.md). Where it has none, by an older compiler or for a file that another one
 * names by #line, a file is taken that was last written before the program first ran.
 */
#ifndef FP_SOURCE_SOURCE_H
#define FP_SOURCE_SOURCE_H

#include "base/error.h"
#include "base/table.h"
#include "base/vec.h"

/* Which version of a file was compiled. All 0: not known, and any is taken. */
struct fp_source_version {
    uint64_t sum;    /* fp_source_sum of its bytes */
    uint64_t ran_ns; /* the first run, in ns since 1970 */
};

struct fp_source_text {
    const char *name; /* as the compiler knew it */
    struct fp_source_version version;
    bool changed;        /* missing because what was found is not what was compiled */
    bool certain;        /* the sum is that of the compiled file */
    const char *found;   /* where it was read from, or NULL */
    const char *missing; /* why not, or NULL */
    const char *text;
    size_t len;
    size_t *line_at; /* offset of each line; one more than there are lines */
    uint32_t nlines;
    struct fp_source_text *other; /* version of the same name, or NULL */
    struct fp_lines_lexed *lexed; /* of condition.h; NULL: nothing was asked yet */
};

struct fp_source_map {
    const char *before, *after;
};

struct fp_sources {
    struct fp_arena arena;
    FP_VEC(const char *) roots;
    FP_VEC(struct fp_source_map) maps;
    struct fp_strtable by_name; /* 1 + index in all */
    FP_VEC(struct fp_source_text *) all;
};

/* "OLD=NEW"; false without a "=". */
bool fp_sources_map(struct fp_sources *sources, const char *map);

const struct fp_source_text *fp_source_get(struct fp_sources *sources, const char *name,
                                           struct fp_source_version version);

/* The first 64 bits of its MD5, as compilers have it; never 0. */
uint64_t fp_source_sum(const void *bytes, size_t len);

/* A line, counted from 1, without its end; empty where there is none. */
const char *fp_source_line(const struct fp_source_text *source, uint32_t line, size_t *len);

void fp_sources_free(struct fp_sources *sources);

#endif
