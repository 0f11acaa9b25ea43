/* Blocks in the order of the source: see sourceorder.h. */
#include "gcov/sourceorder.h"

struct order_step {
    uint32_t block, left; /* ways that are not followed yet */
};

/* Reverse postorder of a depth-first search that follows the last way first. */
uint32_t *fp_source_order(struct fp_arena *arena, const struct fp_cfg *cfg, fp_way *way,
                          const void *context)
{
    struct fp_arena scratch = {0};
    uint32_t *position = FP_NEW_ARRAY(arena, uint32_t, cfg->nblocks);
    struct order_step *stack = FP_NEW_ARRAY(&scratch, struct order_step, cfg->nblocks);
    bool *seen = FP_NEW_ARRAY(&scratch, bool, cfg->nblocks);
    uint32_t depth = 0, next = cfg->nblocks;
    for (uint32_t b = 0; b < cfg->nblocks; b++) position[b] = FP_NONE;
    stack[depth++] = (struct order_step){0, fp_cfg_out_degree(cfg, 0)};
    seen[0] = true;
    while (depth) {
        struct order_step *top = &stack[depth - 1];
        if (!top->left) {
            position[top->block] = --next;
            depth--;
            continue;
        }
        uint32_t to = cfg->edges[way(context, top->block, --top->left)].dst;
        if (seen[to]) continue;
        seen[to] = true;
        stack[depth++] = (struct order_step){to, fp_cfg_out_degree(cfg, to)};
    }
    fp_arena_free(&scratch);
    return position;
}
