/* Marks of blocks: see blockmarks.h. */
#include "count/blockmarks.h"

#include "base/table.h"

static uint64_t mixed(uint64_t hash, uint64_t more)
{
    return fp_hash64(hash ^ fp_hash64(more + 0x9e3779b97f4a7c15u));
}

/* 0 is kept for what is not known. */
static uint32_t folded(uint64_t hash)
{
    uint32_t low = (uint32_t)(hash ^ hash >> 32);
    return low ? low : 1;
}

/* What the map says of a block beside its content. Whether control may leave in mid-block depends
 * on flags of the compilation. */
static uint64_t shape_of(const struct fp_function *f, uint32_t block)
{
    const uint8_t flags = FP_BLOCK_CALLS | FP_BLOCK_STORES | FP_BLOCK_COLD;
    return mixed(f->source.blocks[block].instructions, f->paths.cfg->flags[block] & flags);
}

static uint32_t line_of(const struct fp_function *f, uint32_t block)
{
    const struct fp_block_info *info = &f->source.blocks[block];
    if (!info->npositions) return 0;
    const struct fp_position *first = &f->source.positions[info->first_position];
    return first->line - f->source.scopes[first->scope].line;
}

/* Inlined code is known by its functions. */
static uint64_t scopes_of(const struct fp_function *f, uint32_t block)
{
    const struct fp_block_info *info = &f->source.blocks[block];
    uint64_t hash = 0;
    for (uint32_t i = 0; i < info->npositions; i++) {
        uint32_t scope = f->source.positions[info->first_position + i].scope;
        if (f->source.scopes[scope].parent == FP_NONE) continue;
        hash = mixed(hash, fp_hash_string(f->source.scopes[scope].function));
    }
    return hash;
}

struct fp_block_mark *fp_function_marks(struct fp_arena *arena, const struct fp_function *f)
{
    uint32_t n = f->paths.cfg->nblocks;
    struct fp_block_mark *marks = FP_NEW_ARRAY(arena, struct fp_block_mark, n);
    uint64_t *calls = FP_NEW_ARRAY(arena, uint64_t, n);
    for (uint32_t i = 0; i < f->source.ncalls; i++) {
        const struct fp_call *call = &f->source.calls[i];
        calls[call->block] =
            mixed(calls[call->block], call->callee ? fp_hash_string(call->callee) : 1);
    }
    for (uint32_t b = 0; b < n; b++) {
        const struct fp_block_info *info = &f->source.blocks[b];
        uint32_t weak = folded(mixed(shape_of(f, b), calls[b]));
        uint64_t content = info->content ? info->content : weak;
        marks[b] = (struct fp_block_mark){.content = folded(mixed(content, scopes_of(f, b))),
                                          .kind = info->kind ? info->kind : weak,
                                          .calls = calls[b] ? folded(calls[b]) : 0,
                                          .line = line_of(f, b)};
    }
    return marks;
}

uint64_t fp_function_content(const struct fp_function *f, const struct fp_block_mark *marks)
{
    enum { FEWEST_BLOCKS = 4, FEWEST_INSTRUCTIONS = 20 };
    uint64_t hash = fp_cfg_hash(f->paths.cfg), instructions = 0;
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) {
        instructions += f->source.blocks[b].instructions;
        hash = mixed(hash, marks[b].content);
    }
    if (f->paths.cfg->nblocks < FEWEST_BLOCKS || instructions < FEWEST_INSTRUCTIONS) return 0;
    return hash ? hash : 1;
}
