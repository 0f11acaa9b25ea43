/* What paths took, for --fp-metric=cycles and inclusive-cycles.
 *
 * Inclusive: a path's clock starts where the path starts, and its time is what passes until it
 * ends, with all calls on the way.
 *
 * Own cycles: each cycle of a thread is charged to one path. A word of the thread, `charged`,
 * holds how many were. What a path takes is the time that has passed less what was charged
 * meanwhile, by callees:
 *
 *     entry      entered = clock - charged
 *     path end   charged' = clock - entered      took = charged' - charged      charged = charged'
 *
 * Nothing else is needed where the next path starts: clock - charged is `entered` again. Frames
 * that are left by exceptions or longjmp need no care either: what was not charged in them goes to
 * the path in which the program goes on. `charged` never goes back: a signal handler between the
 * two uses of the word, or a frame that goes on in another thread, makes a path cost nothing at the
 * worst, never less.
 */
#include "llvm/emit/ircode.h"

#include "footpath/abi.h"

#include <string.h>

LLVMValueRef fp_code_read_cycles(struct fp_code *c)
{
    unsigned id = LLVMLookupIntrinsicID("llvm.readcyclecounter", strlen("llvm.readcyclecounter"));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(c->ed->module, id, NULL, 0);
    LLVMTypeRef type = LLVMFunctionType(c->ed->i64, NULL, 0, 0);
    return LLVMBuildCall2(c->ed->builder, type, function, NULL, 0, "");
}

/* One for all modules: the functions of a library take their time off that of the program's. */
static LLVMValueRef charged_word(struct fp_code *c)
{
    return fp_edit_thread_word(c->ed, FP_CHARGED_SYMBOL);
}

static LLVMValueRef load_charged(struct fp_code *c)
{
    return LLVMBuildLoad2(c->ed->builder, c->ed->i64, charged_word(c), "");
}

void fp_code_enter(struct fp_code *c)
{
    c->entered = fp_code_read_cycles(c);
    if (c->own_cycles) c->entered = LLVMBuildSub(c->ed->builder, c->entered, load_charged(c), "");
}

LLVMValueRef fp_code_took(struct fp_code *c, LLVMValueRef since, LLVMValueRef *now)
{
    LLVMBuilderRef b = c->ed->builder;
    *now = fp_code_read_cycles(c);
    LLVMValueRef passed = LLVMBuildSub(b, *now, since, "");
    if (!c->own_cycles) return passed;
    LLVMValueRef before = load_charged(c);
    LLVMValueRef forward = LLVMBuildICmp(b, LLVMIntSGT, passed, before, "");
    LLVMValueRef after = LLVMBuildSelect(b, forward, passed, before, "");
    LLVMBuildStore(b, after, charged_word(c));
    return LLVMBuildSub(b, after, before, "");
}

/* When the path in flight on entering a block began. The clock of a path that
 * starts at a block with one way in starts there; where several ways meet, each
 * brings its own, and those that end a path bring the time of that. */
void fp_code_make_since(struct fp_code *c, uint32_t block)
{
    uint32_t first = c->cfg->first_in[block], degree = fp_cfg_in_degree(c->cfg, block);
    if (c->own_cycles || (block == 0 && degree == 0)) {
        c->since[block] = c->entered;
        return;
    }
    if (degree > 1) {
        LLVMValueRef *values; /* filled later: `now` of later edges is not known yet */
        c->since[block] = fp_code_new_phi(c, block, c->ed->i64, &values);
        return;
    }
    uint32_t e = c->cfg->in_edges[first], src = c->cfg->edges[e].src;
    bool starts = fp_code_fate(c, e) != FP_FATE_KEPT || src == c->ed->ir->hub;
    if (starts) fp_edit_at_head(c->ed, block);
    c->since[block] = starts ? fp_code_read_cycles(c) : c->since[src];
}

/* A hub has no code to read the clock in. A path that starts there and is counted on an edge out of
 * it (a cut) starts where it arrives. */
LLVMValueRef fp_code_since_in(struct fp_code *c, uint32_t block)
{
    if (!(c->cfg->flags[block] & FP_BLOCK_HUB)) return c->since[block];
    return c->own_cycles ? c->entered : fp_code_read_cycles(c);
}

LLVMValueRef fp_code_since_on_edge(struct fp_code *c, uint32_t e)
{
    enum fp_fate fate = fp_code_fate(c, e);
    if (c->now[e]) return c->now[e];
    return c->since[fate == FP_FATE_LAP ? c->cfg->edges[e].dst : c->cfg->edges[e].src];
}
