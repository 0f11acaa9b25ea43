/* A division: which copy of a program profiles what (paper 004). `footpath divide` makes
 * it (divide.h), the compiler plugin reads it when it builds a copy, and so does the
 * collation (collate.h). docs/formats/division.md describes the file.
 *
 * The functions are those of the reference, the ordinary path build that the division was
 * made from. A copy is compiled by the same compiler with the same flags. The plugin then
 * finds the same cfg, truncation and numbering, and so the same id for each function; a
 * division names functions by that id.
 */
#ifndef FP_P3_DIVISION_H
#define FP_P3_DIVISION_H

#include "base/bitset.h"
#include "base/error.h"
#include "base/table.h"
#include "base/vec.h"

enum fp_strategy {
    FP_STRATEGY_P3,
    FP_STRATEGY_CUTS,
    FP_STRATEGY_PROCEDURES,
    FP_STRATEGY_INVOCATIONS,
};

enum fp_part_kind {
    FP_PART_WHOLE, /* one copy counts all paths */
    FP_PART_TURNS, /* copy i counts the invocations j with (j + copy) mod copies = i */
    FP_PART_PATHS, /* each copy counts the paths made of its edges */
};

/* What the copies do in one function. */
struct fp_part {
    uint64_t function; /* its id in the reference */
    const char *name;  /* for messages */
    enum fp_part_kind kind;
    uint32_t
        copy; /* the copy that counts it; with FP_PART_TURNS, the one that counts the first call */
    uint32_t nedges; /* of the dag, with FP_PART_PATHS */
    uint32_t nlaps;
    struct fp_bitset *edges; /* per copy: dag edges; empty if the copy counts nothing here */
    struct fp_bitset *laps;  /* per copy; each lap is in one of them */
    uint64_t *weights;       /* per cfg edge: executions in the guide, by which labels are placed */
    uint32_t nweights;       /* 0: not in the guide, static weights are used */
};

struct fp_division {
    uint32_t ncopies;
    enum fp_strategy strategy;
    bool plain_labels;             /* labels take all edges as equally hot, as in the paper */
    uint32_t profitable;           /* functions that could be divided by their paths */
    const char *program;           /* the reference */
    const unsigned char *build_id; /* its build */
    size_t build_id_len;
    FP_VEC(struct fp_part) parts;
    struct fp_table by_function; /* id -> 1 + index in parts */
};

enum { FP_MOST_COPIES = 1024 };

const char *fp_strategy_name(enum fp_strategy strategy);

/* The result lives in the arena. */
bool fp_division_read(struct fp_arena *arena, const char *path, struct fp_division *division,
                      struct fp_error *error);
bool fp_division_parse(struct fp_arena *arena, const unsigned char *bytes, size_t len,
                       const char *name, struct fp_division *division, struct fp_error *error);
bool fp_division_write(const char *path, const struct fp_division *division,
                       struct fp_error *error);

/* The part of a function, by its id in the reference, or NULL. */
const struct fp_part *fp_division_find(const struct fp_division *division, uint64_t function);

/* Does this copy count anything in this function? */
bool fp_part_concerns(const struct fp_part *part, uint32_t copy);

#endif
