/* Branch weights: see irweights.h.
 *
 * A cfg edge stands for all successors of a terminator that are one block; its count
 * goes to the first of them, the others get 0, which is what LLVM adds up again. */
#include "llvm/use/irweights.h"

#include <string.h>

static LLVMValueRef string_node(LLVMContextRef context, const char *text)
{
    return LLVMMDStringInContext(context, text, (unsigned)strlen(text));
}

void fp_ir_set_weights(LLVMValueRef terminator, uint64_t *weights, unsigned n)
{
    LLVMContextRef context = LLVMGetModuleContext(
        LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(terminator))));
    struct fp_arena arena = {0};
    uint64_t most = 0;
    /* not allowed before LLVM 16 */
    if (LLVMGetInstructionOpcode(terminator) == LLVMCallBr) return;
    for (unsigned i = 0; i < n; i++)
        if (weights[i] > most) most = weights[i];
    uint64_t scale = most / UINT32_MAX + 1;
    LLVMValueRef *operands = FP_NEW_ARRAY(&arena, LLVMValueRef, (size_t)n + 1);
    operands[0] = string_node(context, "branch_weights");
    for (unsigned i = 0; i < n; i++)
        operands[i + 1] = LLVMConstInt(LLVMInt32TypeInContext(context), weights[i] / scale, 0);
    LLVMSetMetadata(terminator, LLVMGetMDKindIDInContext(context, "prof", 4),
                    LLVMMDNodeInContext(context, operands, n + 1));
    fp_arena_free(&arena);
}

/* Counts of the successors; false where all are 0. */
static bool successor_weights(const struct fp_ir *ir, uint32_t block, const uint64_t *counts,
                              LLVMValueRef terminator, uint64_t *weights)
{
    const struct fp_cfg *cfg = ir->f->paths.cfg;
    unsigned n = LLVMGetNumSuccessors(terminator);
    uint32_t from = block;
    uint64_t most = 0;
    /* an indirect branch: the hub knows where all of them together went */
    if (LLVMGetInstructionOpcode(terminator) == LLVMIndirectBr) from = ir->hub;
    for (uint32_t e = cfg->first_out[from]; e < cfg->first_out[from + 1]; e++)
        for (unsigned i = 0; i < n; i++) {
            if (LLVMGetSuccessor(terminator, i) != fp_ir_target(ir, e)) continue;
            weights[i] = counts[e];
            if (counts[e] > most) most = counts[e];
            break;
        }
    return most != 0;
}

static void set_on_terminator(const struct fp_ir *ir, uint32_t block, const uint64_t *counts,
                              LLVMValueRef terminator)
{
    unsigned n = LLVMGetNumSuccessors(terminator);
    uint64_t *weights = FP_NEW_ARRAY(ir->arena, uint64_t, n);
    if (successor_weights(ir, block, counts, terminator, weights))
        fp_ir_set_weights(terminator, weights, n);
}

void fp_ir_set_branch_weights(struct fp_ir *ir, const struct fp_guide_function *counts)
{
    for (uint32_t b = 0; b < ir->f->paths.cfg->nblocks; b++) {
        if (!ir->blocks[b].has_terminator) continue;
        if (counts->guessed.words && fp_bitset_has(&counts->guessed, b)) continue;
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(ir->blocks[b].bb);
        if (LLVMGetNumSuccessors(terminator) > 1)
            set_on_terminator(ir, b, counts->edges, terminator);
    }
}

/* ---- functions ---- */

static uint64_t cutoff_count(const struct fp_guide_summary *summary, uint32_t cutoff)
{
    for (uint32_t i = 0; i < summary->ncutoffs; i++)
        if (summary->cutoffs[i].cutoff >= cutoff) return summary->cutoffs[i].min_count;
    return 0;
}

uint64_t fp_ir_hot_count(const struct fp_guide_summary *summary)
{
    uint64_t count = cutoff_count(summary, 990000);
    return count ? count : 1;
}

uint64_t fp_ir_cold_count(const struct fp_guide_summary *summary)
{
    return cutoff_count(summary, 999999);
}

static void add_attribute(LLVMValueRef function, const char *name)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(context, kind, 0));
}

void fp_ir_set_entry_count(struct fp_ir *ir, const struct fp_guide_function *counts,
                           const struct fp_guide_summary *summary)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(ir->function));
    uint64_t most = counts->entries;
    LLVMValueRef operands[] = {string_node(context, "function_entry_count"),
                               LLVMConstInt(LLVMInt64TypeInContext(context), counts->entries, 0)};
    LLVMGlobalSetMetadata(ir->function, LLVMGetMDKindIDInContext(context, "prof", 4),
                          LLVMValueAsMetadata(LLVMMDNodeInContext(context, operands, 2)));
    for (uint32_t e = 0; e < counts->nedges; e++)
        if (counts->edges[e] > most) most = counts->edges[e];
    if (fp_ir_has_attribute(ir->function, "hot") || fp_ir_has_attribute(ir->function, "cold"))
        return;
    if (counts->entries >= fp_ir_hot_count(summary))
        add_attribute(ir->function, "hot");
    else if (most <= fp_ir_cold_count(summary))
        add_attribute(ir->function, "cold");
}

/* ---- the summary ---- */

static LLVMValueRef named_number(LLVMContextRef context, const char *name, uint64_t value)
{
    LLVMValueRef pair[] = {string_node(context, name),
                           LLVMConstInt(LLVMInt64TypeInContext(context), value, 0)};
    return LLVMMDNodeInContext(context, pair, 2);
}

static LLVMValueRef cutoffs_node(LLVMContextRef context, const struct fp_guide_summary *summary)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(context), i64 = LLVMInt64TypeInContext(context);
    struct fp_arena arena = {0};
    LLVMValueRef *all = FP_NEW_ARRAY(&arena, LLVMValueRef, summary->ncutoffs);
    for (uint32_t i = 0; i < summary->ncutoffs; i++) {
        const struct fp_guide_cutoff *c = &summary->cutoffs[i];
        LLVMValueRef triple[] = {LLVMConstInt(i32, c->cutoff, 0),
                                 LLVMConstInt(i64, c->min_count, 0),
                                 LLVMConstInt(i32, c->num_counts, 0)};
        all[i] = LLVMMDNodeInContext(context, triple, 3);
    }
    LLVMValueRef pair[] = {string_node(context, "DetailedSummary"),
                           LLVMMDNodeInContext(context, all, summary->ncutoffs)};
    fp_arena_free(&arena);
    return LLVMMDNodeInContext(context, pair, 2);
}

bool fp_ir_set_summary(LLVMModuleRef module, const struct fp_guide_summary *s)
{
    static const char flag[] = "ProfileSummary";
    LLVMContextRef context = LLVMGetModuleContext(module);
    if (LLVMGetModuleFlag(module, flag, sizeof flag - 1)) return false;
    LLVMValueRef format[] = {string_node(context, "ProfileFormat"),
                             string_node(context, "InstrProf")};
    LLVMValueRef fields[] = {
        LLVMMDNodeInContext(context, format, 2),
        named_number(context, "TotalCount", s->total),
        named_number(context, "MaxCount", s->max_count),
        named_number(context, "MaxInternalCount", s->max_inner),
        named_number(context, "MaxFunctionCount", s->max_entries),
        named_number(context, "NumCounts", s->num_counts),
        named_number(context, "NumFunctions", s->num_functions),
        cutoffs_node(context, s),
    };
    LLVMValueRef node = LLVMMDNodeInContext(context, fields, sizeof fields / sizeof *fields);
    LLVMAddModuleFlag(module, LLVMModuleFlagBehaviorError, flag, sizeof flag - 1,
                      LLVMValueAsMetadata(node));
    return true;
}
