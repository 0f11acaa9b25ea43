/* Values of calls: see irvalues.h.
 *
 * Which calls these are, and what is done about them, is as in LLVM's own profiles
 * (PGOInstrumentation.cpp): calls of what is no constant; memcpy, memmove, memset,
 * memcmp and bcmp of a size that is none. Calls by invoke have no size sites: none of
 * these throws. */
#include "llvm/emit/irvalues.h"

#include "footpath/abi.h"
#include "llvm/shim.h"

#include <string.h>

struct site {
    LLVMValueRef call;
    LLVMValueRef value; /* what is called, or the size */
    enum fp_value_kind kind;
    uint32_t number; /* among those of its kind */
};

typedef FP_VEC(struct site) site_list;

static bool has_size(LLVMValueRef callee)
{
    static const char *const operations[] = {"llvm.memcpy.p", "llvm.memmove.p", "llvm.memset.p"};
    size_t len;
    const char *name = LLVMGetValueName2(callee, &len);
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (!strncmp(name, operations[i], strlen(operations[i]))) return true;
    return LLVMIsDeclaration(callee) && (!strcmp(name, "memcmp") || !strcmp(name, "bcmp"));
}

static bool find_site(LLVMValueRef inst, struct site *site)
{
    enum { SIZE = 2 };
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if (opcode != LLVMCall && opcode != LLVMInvoke) return false;
    LLVMValueRef callee = LLVMGetCalledValue(inst);
    if (LLVMIsAInlineAsm(callee)) return false;
    if (!LLVMIsConstant(callee)) {
        *site = (struct site){inst, callee, FP_VALUE_TARGET, 0};
        return true;
    }
    if (opcode != LLVMCall || !LLVMIsAFunction(callee) || LLVMGetNumArgOperands(inst) <= SIZE)
        return false;
    LLVMValueRef size = LLVMGetOperand(inst, SIZE);
    if (!has_size(callee) || LLVMIsConstant(size)) return false;
    *site = (struct site){inst, size, FP_VALUE_SIZE, 0};
    return true;
}

static void find_sites(struct fp_arena *arena, LLVMValueRef function, site_list *sites)
{
    uint32_t numbers[2] = {0, 0};
    for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(function); bb;
         bb = LLVMGetNextBasicBlock(bb))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(bb); inst;
             inst = LLVMGetNextInstruction(inst)) {
            struct site site;
            if (!find_site(inst, &site)) continue;
            site.number = numbers[site.kind]++;
            if (site.number < FP_VALUE_SITES) fp_vec_push(arena, sites, site);
        }
}

bool fp_ir_has_values(LLVMValueRef function)
{
    struct fp_arena arena = {0};
    site_list sites = {0};
    find_sites(&arena, function, &sites);
    fp_arena_free(&arena);
    return sites.len != 0;
}

/* ---- counting ---- */

static void count_site(struct fp_editor *ed, LLVMValueRef table, const struct site *site)
{
    LLVMBuilderRef builder = ed->builder;
    LLVMPositionBuilderBefore(builder, site->call);
    LLVMValueRef value;
    if (site->kind == FP_VALUE_TARGET)
        value = LLVMBuildSub(builder, LLVMBuildPtrToInt(builder, site->value, ed->i64, ""),
                             LLVMConstPtrToInt(table, ed->i64), "");
    else
        value = LLVMBuildIntCast2(builder, site->value, ed->i64, false, "");
    value = LLVMBuildAnd(builder, value, LLVMConstInt(ed->i64, FP_VALUE_MASK, 0), "");
    /* a key of the table is one more than what it stands for */
    LLVMValueRef rest = LLVMConstInt(ed->i64, fp_value_key(site->kind, site->number) + 1, 0);
    const char *name =
        ed->threads == FP_THREADS_LOCAL ? FP_HASH_MISS_SYMBOL : FP_HASH_SHARED_SYMBOL;
    fp_edit_count_call(ed, name, table, LLVMBuildAdd(builder, value, rest, ""));
}

void fp_ir_emit_values(struct fp_editor *ed)
{
    const struct fp_function *f = ed->ir->f;
    site_list sites = {0};
    find_sites(ed->ir->arena, ed->ir->function, &sites);
    LLVMValueRef table = fp_edit_counters(ed, FP_HASH_PREFIX, f->id, f->layout.path_slots);
    for (size_t i = 0; i < sites.len; i++) count_site(ed, table, &sites.at[i]);
}

/* ---- using ---- */

static bool is_at(const struct fp_guide_value *value, const struct site *site)
{
    return value->kind == site->kind && value->site == site->number;
}

static bool note_values(LLVMModuleRef module, const struct site *site,
                        const struct fp_guide_function *counts)
{
    struct fp_shim_value known[16];
    enum { MOST = sizeof known / sizeof *known };
    unsigned n = 0;
    uint64_t total = 0;
    for (uint32_t i = 0; i < counts->nvalues; i++) {
        const struct fp_guide_value *value = &counts->values[i];
        if (!is_at(value, site)) continue;
        total += value->count;
        struct fp_shim_value v = {.count = value->count, .size = value->size};
        if (site->kind == FP_VALUE_TARGET) v.function = LLVMGetNamedFunction(module, value->target);
        if (n < MOST && (site->kind == FP_VALUE_SIZE || v.function)) known[n++] = v;
    }
    if (n) fp_shim_note_values(site->call, known, n, total);
    return n != 0;
}

uint32_t fp_ir_set_values(LLVMValueRef function, const struct fp_guide_function *counts)
{
    struct fp_arena arena = {0};
    site_list sites = {0};
    uint32_t noted = 0;
    if (counts->nvalues) find_sites(&arena, function, &sites);
    for (size_t i = 0; i < sites.len; i++)
        noted += note_values(LLVMGetGlobalParent(function), &sites.at[i], counts);
    fp_arena_free(&arena);
    return noted;
}
