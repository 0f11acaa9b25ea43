/* Calls that return twice: see twice.h. */
#include "binary/twice.h"

#include <string.h>

enum { LOOK_AT = 96, MOST_FORWARDING = 32 };

/* glibc's, and musl's setjmp: stores of registers that only such functions make together. */
static const char *const codes[][3] = {
    /* mov %rbx,(%rdi)   mov %r12,16(%rdi)   mov %r15,40(%rdi) */
    {"\x48\x89\x1f", "\x4c\x89\x67\x10", "\x4c\x89\x7f\x28"},
    /* getcontext: mov %rbx,128(%rdi)   mov %r12,72(%rdi)   mov %r15,96(%rdi) */
    {"\x48\x89\x9f\x80", "\x4c\x89\x67\x48", "\x4c\x89\x7f\x60"},
    /* vfork: pop %rdi, mov $58,%eax   syscall, push %rdi */
    {"\x5f\xb8\x3a", "\x0f\x05\x57", "\x0f\x05\x57"},
    /* musl's, by way of rdx */
    {"\x5a\xb8\x3a", "\x0f\x05\x52", "\x0f\x05\x52"},
    /* musl's sigsetjmp: pop 64(%rdi)   mov %rbx,80(%rdi) */
    {"\x8f\x47\x40", "\x48\x89\x5f\x50", "\x48\x89\x5f\x50"},
};

static bool looks_twice(const unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        bool all = true;
        for (int k = 0; k < 3; k++)
            all &= memmem(bytes, len, codes[i][k], strlen(codes[i][k])) != NULL;
        if (all) return true;
    }
    return false;
}

static uint32_t fde_starting(const struct fp_references *r, uint64_t address)
{
    const struct fp_fde *fde = fp_frames_find(r->frames, address);
    return fde && fde->start == address ? (uint32_t)(fde - r->frames->fdes.at) : FP_NONE;
}

/* _setjmp and setjmp only jump to __sigsetjmp. */
static bool forwards(const struct fp_references *r, const bool *twice, uint32_t fde)
{
    const struct fp_reference_code *code = &r->code[fde];
    if (r->frames->fdes.at[fde].size > MOST_FORWARDING) return false;
    for (uint32_t i = 0; i < code->ninsns; i++) {
        if (code->insns[i].kind != FP_INSN_JUMP) continue;
        uint32_t to = fde_starting(r, code->insns[i].target);
        if (to != FP_NONE && twice[to]) return true;
    }
    return false;
}

bool *fp_twice_find(struct fp_arena *arena, const struct fp_references *r)
{
    size_t n = r->frames->fdes.len;
    bool *twice = FP_NEW_ARRAY(arena, bool, n);
    for (size_t i = 0; i < n; i++) {
        size_t len, size = r->frames->fdes.at[i].size;
        const unsigned char *bytes = fp_object_bytes(r->object, r->frames->fdes.at[i].start, &len);
        if (size > LOOK_AT) size = LOOK_AT;
        if (bytes && r->code[i].ninsns) twice[i] = looks_twice(bytes, len < size ? len : size);
    }
    for (uint32_t i = 0; i < n; i++) twice[i] |= forwards(r, twice, i);
    return twice;
}

static bool named_twice(const char *name)
{
    static const char *const names[] = {"setjmp", "_setjmp", "sigsetjmp",  "__sigsetjmp",
                                        "vfork",  "__vfork", "getcontext", "savectx"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return true;
    return false;
}

/* Code without an FDE, as all of musl's. A function right in front of setjmp may be taken for it:
 * then paths end at calls of it, and nothing else. */
static bool looks_twice_at(const struct fp_object *object, uint64_t address)
{
    size_t len;
    const unsigned char *bytes = fp_object_bytes(object, address, &len);
    return bytes && looks_twice(bytes, len < LOOK_AT ? len : LOOK_AT);
}

bool fp_twice_call(const struct fp_references *r, const bool *twice, const struct fp_insn *call)
{
    if (!call->target) return false;
    const char *name = fp_object_import(r->object, call->target);
    if (name) return named_twice(name);
    const struct fp_object_symbol *symbol = fp_object_function(r->object, call->target);
    if (symbol && symbol->address == call->target && named_twice(symbol->name)) return true;
    uint32_t fde = fde_starting(r, call->target);
    if (fde == FP_NONE) return looks_twice_at(r->object, call->target);
    return twice[fde];
}
