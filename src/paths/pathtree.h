/* The paths of one function as a tree: each begins somewhere and goes from branch to branch. A path
 * is followed through the tree of others: how far do any of them go the same way, and which one?
 *
 * A node is a beginning that paths have in common. It knows the two paths with the highest counts
 * that pass it: the second is the answer where the first is the path in question.
 */
#ifndef FP_PATHS_PATHTREE_H
#define FP_PATHS_PATHTREE_H

#include "base/table.h"
#include "base/vec.h"
#include "graph/number.h"

struct fp_path_tree_path {
    uint64_t id, count;
};

struct fp_path_tree_node {
    uint32_t most, second; /* 1 + index in paths, or 0 */
};

struct fp_path_tree {
    struct fp_arena *arena;
    struct fp_table next; /* (node, symbol) -> the next node; node 0 is the root */
    FP_VEC(struct fp_path_tree_node) nodes;
    FP_VEC(struct fp_path_tree_path) paths;
};

/* Where a path leaves the tree. */
enum fp_tree_exit {
    FP_TREE_INSIDE, /* nowhere: one of the tree's paths goes all of its way */
    FP_TREE_BEGIN,  /* no path of the tree begins where this one does */
    FP_TREE_EDGE,   /* at an edge: all edges before are in the tree in this order */
    FP_TREE_END     /* paths of the tree come to its end and go on, or leave by another edge */
};

void fp_path_tree_init(struct fp_path_tree *tree, struct fp_arena *arena);
/* Each path once. A path that never ended (FP_ENDS_INSIDE) has no end in the tree. */
void fp_path_tree_add(struct fp_path_tree *tree, const struct fp_path *path, uint64_t id,
                      uint64_t count);

/* `length`: how many edges of the path are in the tree in this order. */
enum fp_tree_exit fp_path_tree_follow(const struct fp_path_tree *tree, const struct fp_path *path,
                                      uint32_t *length);

/* Of the tree's paths other than `id`: the one with the highest count among those that share the
 * longest beginning with `path`. NULL: none begins where `path` does. */
const struct fp_path_tree_path *fp_path_tree_nearest(const struct fp_path_tree *tree,
                                                     const struct fp_path *path, uint64_t id);

#endif
