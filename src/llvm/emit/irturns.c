/* Short loops count in two copies of the counters in turn (graph/shortloops.h): a register is 0
 * in one round and the distance to the second copy in the next. */
#include "llvm/emit/ircode.h"
#include "llvm/shim.h"

static bool is_in(const struct fp_code *c, uint32_t block, uint32_t header)
{
    return c->ed->ir->short_loops[block] == header;
}

void fp_code_make_turn(struct fp_code *c, uint32_t header)
{
    const uint32_t *of = c->ed->ir->short_loops;
    if (!of || of[header] != header) return;
    fp_shim_position_at_head(c->ed->builder, c->ed->ir->blocks[header].bb);
    LLVMValueRef phi = LLVMBuildPhi(c->ed->builder, c->ed->i64, "");
    for (uint32_t b = 0; b < c->cfg->nblocks; b++)
        if (is_in(c, b, header)) c->turn[b] = phi;
}

/* Rounds are so short that it matters whether they lie in one line of the cache: libquantum's take
 * a fifth longer where they do not. */
static void align(struct fp_code *c, uint32_t block)
{
    enum { LINE = 64 };
    fp_shim_align_loop(LLVMGetBasicBlockTerminator(c->ed->ir->blocks[block].bb), LINE);
}

LLVMValueRef fp_code_in_turn(struct fp_code *c, LLVMValueRef counter, uint32_t block)
{
    if (!c->turn || !c->turn[block]) return counter;
    LLVMTypeRef byte = LLVMInt8TypeInContext(c->ed->context);
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(counter));
    LLVMValueRef at = LLVMBuildBitCast(c->ed->builder, counter, LLVMPointerType(byte, space), "");
    at = LLVMBuildGEP2(c->ed->builder, byte, at, &c->turn[block], 1, "");
    return LLVMBuildBitCast(c->ed->builder, at, LLVMTypeOf(counter), "");
}

/* Behind what the block counts. */
static LLVMValueRef next_turn(struct fp_code *c, uint32_t block)
{
    LLVMValueRef distance = LLVMConstInt(c->ed->i64, c->slots / 2 * 8, 0);
    fp_edit_at_end(c->ed, block);
    return LLVMBuildXor(c->ed->builder, c->turn[block], distance, "");
}

void fp_code_fill_turns(struct fp_code *c)
{
    LLVMValueRef first = LLVMConstInt(c->ed->i64, 0, 0);
    if (!c->turn) return;
    LLVMValueRef *next = FP_NEW_ARRAY(c->arena, LLVMValueRef, c->cfg->nblocks);
    for (uint32_t b = 0; b < c->cfg->nblocks; b++) {
        if (c->turn[b]) align(c, b);
        if (!c->turn[b] || !is_in(c, b, b)) continue;
        for (uint32_t k = c->cfg->first_in[b]; k < c->cfg->first_in[b + 1]; k++) {
            uint32_t e = c->cfg->in_edges[k], src = c->cfg->edges[e].src;
            bool inside = fp_code_is_live(c, e) && is_in(c, src, b);
            if (inside && !next[src]) next[src] = next_turn(c, src);
            fp_edit_add_incoming(c->ed, c->turn[b], inside ? next[src] : first, e);
        }
    }
}
