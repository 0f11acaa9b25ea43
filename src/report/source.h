/* Finding and reading source files, by one rule in every command.
 *
 * A name is tried with each --map whose old part it begins with, then as it is,
 * then below each --source-root: whole, and with leading folders left off. A file
 * that is not found, or is no text file, is missing with a reason; that is never an
 * error.
 */
#ifndef FP_REPORT_SOURCE_H
#define FP_REPORT_SOURCE_H

#include "base/error.h"
#include "base/table.h"
#include "base/vec.h"

struct fp_source_text {
    const char *name;    /* as the compiler knew it */
    const char *found;   /* where it was read from, or NULL */
    const char *missing; /* why not, or NULL */
    const char *text;
    size_t len;
    size_t *line_at; /* offset of each line; one more than there are lines */
    uint32_t nlines;
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

const struct fp_source_text *fp_source_get(struct fp_sources *sources, const char *name);

/* A line, counted from 1, without its end; empty where there is none. */
const char *fp_source_line(const struct fp_source_text *source, uint32_t line, size_t *len);

void fp_sources_free(struct fp_sources *sources);

#endif
