/* Graphs as text, for tests and `footpath dot`.
 *
 * One line a block, the entry first; what follows # is a comment:
 *
 *     A: B C@0.9          two out-edges, the second with weight 0.9
 *     B leaves: P! D      block flag; an unwind edge to a pad
 *     P pad: D
 *     C: H*               an indirect edge to a hub
 *     H hub: D E
 *     E: F~               a twice edge (setjmp)
 *     S: A D              S switch: marks all out-edges as switch edges
 */
#ifndef FP_GRAPH_CFGTEXT_H
#define FP_GRAPH_CFGTEXT_H

#include "base/varint.h"
#include "graph/cfg.h"

struct fp_named_cfg {
    struct fp_cfg *cfg;
    char **names;    /* per block */
    double *weights; /* per edge; 1 where the text has none */
    bool weighted;   /* some edge had a weight */
};

bool fp_cfg_parse(struct fp_arena *arena, const char *text, struct fp_named_cfg *out,
                  struct fp_error *error);

/* names and weights may be NULL. Appends to the writer. */
void fp_cfg_print(struct fp_writer *writer, const struct fp_cfg *cfg, char *const *names,
                  const double *weights);

/* The block with that name, or FP_NONE. */
uint32_t fp_cfg_block_named(const struct fp_named_cfg *graph, const char *name);

#endif
