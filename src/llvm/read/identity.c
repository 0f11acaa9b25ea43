/* Identities: see identity.h. */
#include "llvm/read/identity.h"

#include <string.h>

bool fp_ir_is_local(LLVMValueRef function)
{
    LLVMLinkage linkage = LLVMGetLinkage(function);
    return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
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
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f) || LLVMGetLinkage(f) != LLVMExternalLinkage) continue;
        name = LLVMGetValueName2(f, &len);
        hash = fp_hash64(hash ^ fp_hash_bytes(name, len, 0));
    }
    return hash;
}

uint64_t fp_ir_base_id(const struct fp_ir *ir, uint64_t module_hash)
{
    uint64_t id = fp_hash64(fp_hash_string(ir->f->name) ^ fp_cfg_hash(ir->f->paths.cfg));
    return fp_ir_is_local(ir->function) ? fp_hash64(id ^ module_hash) : id;
}
