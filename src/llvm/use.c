/* Using a profile: see use.h.
 *
 * For each function that is the same as in the profile: branch weights, entry count,
 * hot or cold; for the module the summary. Then hot paths are laid out where the
 * profile of paths shows more than one of edges could (irsuper.h).
 */
#include "llvm/use.h"

#include "llvm/identity.h"
#include "llvm/irguide.h"
#include "llvm/irweights.h"
#include "llvm/shim.h"

#include <llvm-c/DebugInfo.h>

static void use_for_function(struct fp_ir_guide *guide, LLVMValueRef function, uint64_t module_hash)
{
    struct fp_arena arena = {0};
    struct fp_function f = {0};
    struct fp_ir ir;
    struct fp_guide_function counts;
    if (!fp_ir_read(&arena, function, &f, &(struct fp_ir_options){0}, &ir) &&
        fp_ir_guide_find(guide, &ir, fp_ir_base_id(&ir, module_hash), &counts)) {
        fp_ir_set_entry_count(&ir, &counts, &guide->guide.summary);
        fp_ir_set_branch_weights(&ir, &counts);
    }
    fp_arena_free(&arena);
}

bool fp_llvm_use(LLVMModuleRef module, const struct fp_llvm_options *options)
{
    struct fp_arena arena = {0};
    struct fp_ir_guide guide;
    size_t len;
    bool ok = fp_ir_guide_open(&guide, &arena, options->use);
    if (ok) {
        uint64_t hash = fp_ir_hash_module(module, options->base);
        fp_ir_set_summary(module, &guide.guide.summary);
        fp_shim_refresh_summary(module);
        for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
            if (!LLVMIsDeclaration(f) && LLVMGetLinkage(f) != LLVMAvailableExternallyLinkage)
                use_for_function(&guide, f, hash);
        fp_ir_guide_report(&guide, LLVMGetSourceFileName(module, &len));
        fp_ir_guide_close(&guide);
    }
    fp_arena_free(&arena);
    return ok;
}
