/* libfootpath: profiles of paths, for tools and for optimisations.
 *
 *     const char *profiles[] = {"footpath.prof", NULL};
 *     struct footpath *fp = footpath_open(&(struct footpath_options){.profiles = profiles});
 *     if (footpath_error(fp)) ...
 *     for (size_t i = 0; i < footpath_functions(fp); i++) {
 *         const struct footpath_function *f = footpath_function(fp, i);
 *         for (size_t k = 0; k < f->npaths; k++) {
 *             struct footpath_path p;
 *             footpath_path(fp, i, k, &p);     // most frequent first
 *         }
 *     }
 *     footpath_close(fp);
 *
 * Everything that is given out belongs to the handle and lives until it is closed,
 * but for what footpath_path gives, which lives until the next call of it. No call
 * prints, exits or keeps state elsewhere; a handle is for one thread at a time.
 * Link with `pkg-config --libs footpath`.
 */
#ifndef FOOTPATH_FOOTPATH_H
#define FOOTPATH_FOOTPATH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FOOTPATH_API_VERSION 1
#define FOOTPATH_API __attribute__((visibility("default")))
#define FOOTPATH_NONE UINT32_MAX

struct footpath;

struct footpath_options {
    const char *const *profiles; /* names of files, NULL at the end */
    const char *binary;          /* the program that ran, where it was moved; or NULL */
};

/* Reads profiles, adds them up and loads the maps of their programs. Never NULL. */
FOOTPATH_API struct footpath *footpath_open(const struct footpath_options *options);
FOOTPATH_API void footpath_close(struct footpath *fp);

/* What went wrong, or NULL. After an error there are no functions. */
FOOTPATH_API const char *footpath_error(const struct footpath *fp);

enum footpath_edge_kind {
    FOOTPATH_EDGE_NORMAL,
    FOOTPATH_EDGE_SWITCH,
    FOOTPATH_EDGE_UNWIND,
    FOOTPATH_EDGE_INDIRECT,
    FOOTPATH_EDGE_TWICE, /* behind setjmp */
};

struct footpath_edge {
    uint32_t from, to; /* blocks */
    enum footpath_edge_kind kind;
    uint64_t count; /* times taken */
};

struct footpath_block {
    uint64_t count; /* times entered */
    uint32_t instructions;
    uint32_t line; /* where it ends, or 0; of `file` of the function unless inlined */
};

struct footpath_function {
    const char *name; /* linkage name */
    const char *file;
    uint32_t line;
    uint64_t shape;      /* hash of blocks and edges: another one means that the function changed */
    const char *skipped; /* why it was not measured, or NULL */
    uint64_t calls;
    uint64_t possible_paths;
    size_t npaths;            /* executed */
    uint32_t nblocks, nedges; /* block 0 is the entry */
    const struct footpath_block *blocks;
    const struct footpath_edge *edges; /* ordered by from */
};

/* Functions, the most executed instructions first. */
FOOTPATH_API size_t footpath_functions(struct footpath *fp);
FOOTPATH_API const struct footpath_function *footpath_function(struct footpath *fp, size_t index);

/* By linkage name and, unless NULL, last part of the file name; FOOTPATH_NONE if there
 * is none, the first of several. */
FOOTPATH_API size_t footpath_find(struct footpath *fp, const char *name, const char *file);

struct footpath_path {
    uint64_t id, count;
    uint64_t instructions; /* of one execution */
    int from_entry;        /* else it begins behind a back edge or cut */
    int to_exit;           /* else it ends by end_edge */
    uint32_t end_edge;     /* the edge that ends it, or FOOTPATH_NONE */
    uint32_t nblocks;      /* in order of execution */
    const uint32_t *blocks;
    const uint32_t *edges; /* between them: nblocks - 1 */
};

/* The rank-th most frequent path of a function, decoded. 0, or -1 if there is none. */
FOOTPATH_API int footpath_path(struct footpath *fp, size_t function, size_t rank,
                               struct footpath_path *path);

/* A path by its number, executed or not. */
FOOTPATH_API int footpath_decode(struct footpath *fp, size_t function, uint64_t id,
                                 struct footpath_path *path);

#ifdef __cplusplus
}
#endif

#endif
