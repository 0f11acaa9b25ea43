/* What a profile says of source lines, for a compiler whose graphs are not those of the profile.
 *
 * Several blocks of one line (`for`, `&&`, `?:`, macros) have counts of their own, so a line has
 * all of them, in the order of the source. Copies of a function (inline ones in several objects)
 * are added up. The instances of a template are functions of their own at the same lines.
 */
#ifndef FP_GCOV_SOURCECOUNTS_H
#define FP_GCOV_SOURCECOUNTS_H

#include "base/table.h"
#include "base/vec.h"
#include "gcov/blockpairs.h"
#include "profile/profile.h"

struct fp_counted_call {
    const char *callee; /* linkage name */
    uint64_t count;
};

struct fp_counted_function {
    const char *name, *file; /* linkage name */
    uint64_t entries;
    FP_VEC(struct fp_counted_call) calls; /* direct ones, one per place that ran */
    /* its own blocks that have lines, in the order of the source; none where copies of it differ */
    FP_VEC(struct fp_lined_block) blocks;
    uint64_t *block_counts;
    bool read; /* a copy of it */
};

struct fp_counted_block {
    uint64_t count;
    bool branches; /* control leaves it in more than one way */
};

struct fp_counted_line {
    uint32_t line;
    uint32_t next;     /* 1 + index of what another function has at this line; 0: none */
    const char *owner; /* linkage name of the function whose code it is */
    FP_VEC(struct fp_counted_block) blocks;
};

struct fp_counted_file {
    const char *name;
    FP_VEC(struct fp_counted_line) lines;
    struct fp_table by_line;     /* line -> 1 + index in lines of the first */
    struct fp_strtable by_owner; /* "LINE OWNER" -> 1 + index in lines */
};

struct fp_source_counts {
    struct fp_arena *arena;
    FP_VEC(struct fp_counted_file) files;
    FP_VEC(struct fp_counted_function) functions;
    struct fp_strtable by_file, by_function; /* 1 + index; functions by "NAME FILE" */
    struct fp_strtable by_name;              /* 1 + index of the first function of the name */
    size_t without_lines;                    /* functions that ran and have no source position */
};

void fp_source_counts_make(struct fp_arena *arena, const struct fp_profile *profile,
                           struct fp_source_counts *out);

/* How many bytes at the end of two paths are the same, in whole parts of them. */
size_t fp_same_path_end(const char *a, const char *b);

/* The profile's file that a compiler calls `name`, by the end of the path; NULL: none. */
const struct fp_counted_file *fp_counted_file_find(const struct fp_source_counts *counts,
                                                   const char *name);
/* The first one at the line, of any function. */
const struct fp_counted_line *fp_counted_line_find(const struct fp_counted_file *file,
                                                   uint32_t line);
/* That of another function at the same line; NULL: there is none. */
const struct fp_counted_line *fp_counted_line_next(const struct fp_counted_file *file,
                                                   const struct fp_counted_line *line);
/* What that function has at the line; NULL: nothing. */
const struct fp_counted_line *fp_counted_line_of(const struct fp_counted_file *file, uint32_t line,
                                                 const char *owner);
/* The function of that file, or else the first of that name; NULL: none. */
const struct fp_counted_function *fp_counted_function_find(const struct fp_source_counts *counts,
                                                           const char *name,
                                                           const struct fp_counted_file *file);

#endif
