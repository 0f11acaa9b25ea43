/* Identities: see identity.h. */
#include "llvm/read/identity.h"

#include <string.h>

bool fp_ir_is_local(LLVMValueRef function)
{
    LLVMLinkage linkage = LLVMGetLinkage(function);
    return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
}

/* Mixes in the name of what this module alone defines for others. */
static uint64_t with_definition(uint64_t hash, LLVMValueRef value)
{
    size_t len;
    if (LLVMIsDeclaration(value) || LLVMGetLinkage(value) != LLVMExternalLinkage) return hash;
    const char *name = LLVMGetValueName2(value, &len);
    return fp_hash64(hash ^ fp_hash_bytes(name, len, 0));
}

uint64_t fp_ir_hash_module(LLVMModuleRef module, const char *base)
{
    size_t len, skip = base ? strlen(base) : 0;
    const char *name = LLVMGetSourceFileName(module, &len);
    if (skip && len > skip && !strncmp(name, base, skip) && name[skip] == '/') {
        name += skip + 1;
        len -= skip + 1;
    }
    uint64_t hash = fp_hash_bytes(name, len, 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        hash = with_definition(hash, f);
    for (LLVMValueRef v = LLVMGetFirstGlobal(module); v; v = LLVMGetNextGlobal(v))
        hash = with_definition(hash, v);
    return hash;
}

/* A weak function may stand beside one of the same name, in another module, that is not the same:
 * the one that replaces it. */
static bool may_have_namesakes(LLVMValueRef function)
{
    return fp_ir_is_local(function) || LLVMGetLinkage(function) == LLVMWeakAnyLinkage;
}

uint64_t fp_ir_base_id(const struct fp_ir *ir, uint64_t module_hash)
{
    uint64_t id = fp_hash64(fp_hash_string(ir->f->name) ^ fp_cfg_hash(ir->f->paths.cfg));
    return may_have_namesakes(ir->function) ? fp_hash64(id ^ module_hash) : id;
}
