/* Paths as a tree: see pathtree.h. */
#include "paths/pathtree.h"

enum { SYMBOL_EDGE, SYMBOL_ENTRY, SYMBOL_AFTER_EDGE, SYMBOL_END };

/* One step of a path: its first block, an edge, or how it ends. */
struct symbol {
    uint32_t what, kind;
};

static uint64_t tree_key(uint32_t node, struct symbol symbol)
{
    return (uint64_t)node << 34 | (uint64_t)symbol.what << 2 | symbol.kind;
}

static size_t count_symbols(const struct fp_path *path)
{
    return (size_t)path->nedges + 1 + (path->end != FP_ENDS_INSIDE);
}

/* A path ends by leaving, which its last block says, or by an edge. */
static struct symbol symbol_at(const struct fp_path *path, size_t i)
{
    if (i == 0)
        return (struct symbol){path->first_block, path->start == FP_STARTS_AT_ENTRY
                                                      ? SYMBOL_ENTRY
                                                      : SYMBOL_AFTER_EDGE};
    if (i <= path->nedges) return (struct symbol){path->edges[i - 1], SYMBOL_EDGE};
    return (struct symbol){path->end_edge == FP_NONE ? 0 : path->end_edge + 1, SYMBOL_END};
}

void fp_path_tree_init(struct fp_path_tree *tree, struct fp_arena *arena)
{
    *tree = (struct fp_path_tree){.arena = arena};
    fp_table_init(&tree->next, arena);
    fp_vec_push(arena, &tree->nodes, (struct fp_path_tree_node){0});
}

static void pass(struct fp_path_tree *tree, uint32_t node, uint32_t path)
{
    struct fp_path_tree_node *n = &tree->nodes.at[node];
    uint64_t count = tree->paths.at[path - 1].count;
    if (!n->most || count > tree->paths.at[n->most - 1].count) {
        n->second = n->most;
        n->most = path;
    } else if (!n->second || count > tree->paths.at[n->second - 1].count) {
        n->second = path;
    }
}

void fp_path_tree_add(struct fp_path_tree *tree, const struct fp_path *path, uint64_t id,
                      uint64_t count)
{
    uint32_t node = 0;
    fp_vec_push(tree->arena, &tree->paths, ((struct fp_path_tree_path){id, count}));
    for (size_t i = 0; i < count_symbols(path); i++) {
        uint64_t *next = fp_table_add(&tree->next, tree_key(node, symbol_at(path, i)));
        if (!*next) {
            *next = tree->nodes.len;
            fp_vec_push(tree->arena, &tree->nodes, (struct fp_path_tree_node){0});
        }
        node = (uint32_t)*next;
        pass(tree, node, (uint32_t)tree->paths.len);
    }
}

enum fp_tree_exit fp_path_tree_follow(const struct fp_path_tree *tree, const struct fp_path *path,
                                      uint32_t *length)
{
    uint64_t node = 0;
    *length = 0;
    for (size_t i = 0; i < count_symbols(path); i++) {
        const uint64_t *next =
            fp_table_find(&tree->next, tree_key((uint32_t)node, symbol_at(path, i)));
        if (!next) return i == 0 ? FP_TREE_BEGIN : i > path->nedges ? FP_TREE_END : FP_TREE_EDGE;
        if (i && i <= path->nedges) ++*length;
        node = *next;
    }
    return FP_TREE_INSIDE;
}

const struct fp_path_tree_path *fp_path_tree_nearest(const struct fp_path_tree *tree,
                                                     const struct fp_path *path, uint64_t id)
{
    const struct fp_path_tree_path *nearest = NULL;
    uint64_t node = 0;
    for (size_t i = 0; i < count_symbols(path); i++) {
        const uint64_t *next =
            fp_table_find(&tree->next, tree_key((uint32_t)node, symbol_at(path, i)));
        if (!next) break;
        node = *next;
        const struct fp_path_tree_node *n = &tree->nodes.at[node];
        uint32_t other = n->most;
        if (other && tree->paths.at[other - 1].id == id) other = n->second;
        if (!other) break;
        nearest = &tree->paths.at[other - 1];
    }
    return nearest;
}
