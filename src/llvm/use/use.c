/* Using a profile: see use.h.
 *
 * For each function that is the same as in the profile: branch weights, entry count,
 * hot or cold; for the module the summary. Then hot paths are laid out where the
 * profile of paths shows more than one of edges could (irsuper.h).
 */
#include "llvm/use/use.h"

#include "llvm/read/identity.h"
#include "llvm/use/irdispatch.h"
#include "llvm/read/irbody.h"
#include "llvm/read/irguide.h"
#include "llvm/use/irsuper.h"
#include "llvm/use/irtargets.h"
#include "llvm/use/irweights.h"
#include "llvm/shim.h"

#include <llvm-c/Analysis.h>
#include <stdio.h>

struct using
{
    struct fp_ir_guide guide;
    const struct fp_flags *options;
    uint64_t module_hash;
    const char *module_name;
    uint32_t copies;
    uint32_t values; /* calls of which is known what they were given */
};

static void print_remark(void *context, const char *function, const char *text)
{
    const struct using *u = context;
    fprintf(stderr, "footpath: %s: remark: %s: %s\n", u->module_name, function, text);
}

static void remark_share(struct using *u, const struct fp_function *f, double share)
{
    char text[96];
    snprintf(text, sizeof text, "changed since the profile was made; %.1f%% of its counts placed",
             100 * share);
    print_remark(u, f->name, text);
}

static void use_for_function(struct using *u, LLVMValueRef function)
{
    struct fp_arena arena = {0};
    struct fp_function f = {0};
    struct fp_ir ir;
    struct fp_guide_function counts;
    double share;
    /* tests copy wherever it is possible, to find what goes wrong. LLVM's own passes leave
     * calls behind that its verifier refuses (mempcpy of __mempcpy_chk): not our doing */
    bool checked =
        u->options->eager_copies && !LLVMVerifyFunction(function, LLVMReturnStatusAction);
    if (!fp_ir_read(&arena, function, &f, &(struct fp_ir_options){0}, &ir) &&
        fp_ir_guide_find_stale(&u->guide, &ir, fp_ir_base_id(&ir, u->module_hash), &counts,
                               &share)) {
        const struct fp_guide_summary *summary = &u->guide.guide.summary;
        struct fp_ir_super how = {.hot = fp_ir_hot_count(summary),
                                  .eager = u->options->eager_copies,
                                  .predict = u->options->paths == FP_PATHS_MORE,
                                  .remark = u->options->remarks ? print_remark : NULL,
                                  .context = u};
        if (counts.guessed.words && u->options->remarks) remark_share(u, &f, share);
        fp_ir_set_entry_count(&ir, &counts, summary);
        fp_ir_set_branch_weights(&ir, &counts);
        u->values += fp_ir_set_values(function, &counts);
        if (u->options->paths != FP_PATHS_NO) {
            u->copies += fp_ir_duplicate(&ir, &counts, &how);
            u->copies += fp_ir_copy_dispatch(&ir, &counts, &how);
        }
    }
    fp_arena_free(&arena);
    if (checked) LLVMVerifyFunction(function, LLVMAbortProcessAction);
}

/* Of a coroutine the profile has the parts, which are not there yet. */
static bool may_be_counted(LLVMValueRef function)
{
    return !LLVMIsDeclaration(function) &&
           LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage &&
           !fp_ir_is_whole_coroutine(function);
}

static void use_for_module(struct using *u, LLVMModuleRef module)
{
    u->module_hash = fp_ir_hash_module(module, u->options->base);
    fp_shim_refresh_summary(module);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (may_be_counted(f)) use_for_function(u, f);
    if (u->values) fp_shim_use_values(module);
    fp_ir_guide_report(&u->guide, u->module_name);
    if (!u->options->remarks) return;
    fprintf(stderr,
            "footpath: %s: remark: %u functions by the profile, %u stale, %u not in it; %u copies, "
            "%u calls by "
            "their values; %u by an earlier version of theirs, %u of these under another name: "
            "%.0f of %.0f counts found a place\n",
            u->module_name, u->guide.found, u->guide.stale, u->guide.absent, u->copies, u->values,
            u->guide.placed, u->guide.moved, u->guide.placed_counts, u->guide.total_counts);
}

/* Was the profile made of code into which small functions had been inlined? */
static bool is_of_inlined(const struct fp_guide *guide)
{
    for (size_t i = 0; i < guide->nfunctions; i++)
        if (guide->functions[i].flags & FP_FUNCTION_INLINED) return true;
    return false;
}

bool fp_llvm_use(LLVMModuleRef module, const struct fp_flags *options)
{
    struct fp_arena arena = {0};
    size_t len;
    struct using u = {.options = options, .module_name = LLVMGetSourceFileName(module, &len)};
    bool ok = fp_ir_guide_open(&u.guide, &arena, options->use);
    if (ok && !options->inline_small && is_of_inlined(&u.guide.guide)) fp_shim_inline_small(module);
    ok = ok && fp_ir_set_summary(module, &u.guide.guide.summary);
    if (ok) use_for_module(&u, module);
    fp_ir_guide_close(&u.guide);
    fp_arena_free(&arena);
    return ok;
}
