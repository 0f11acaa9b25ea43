/* Path ends: see irsample.h.
 *
 * With a flag, two instructions: compare a byte of the thread, branch. With traps,
 * none: an empty piece of assembly keeps the id in some register and notes, in a
 * section of its own, the address and the register that the code generator chose.
 * The runtime puts a breakpoint at the address while it wants samples. The notes
 * are linked to the section of the code, so that they go where it goes.
 */
#include "llvm/emit/irsample.h"

#include "base/plain.h"
#include "footpath/abi.h"
#include "llvm/shim.h"

#include <string.h>

/* ---- traps ---- */

/* One struct fp_site. */
static void say_site(struct fp_editor *ed, struct fp_writer *text,
                     const struct fp_sample_point *point, unsigned flags)
{
    size_t len;
    const char *counters = point->counters ? LLVMGetValueName2(point->counters, &len) : NULL;
    fp_say(text, "773:\n.long .Lfp${:uid} - .\n");
    fp_say(text, counters ? ".long %s - .\n" : ".long 0\n", counters);
    fp_say(text, ".quad %lld\n.long %u\n", (long long)point->value,
           flags | point->flags | (point->hashed ? (unsigned)FP_SITE_HASHED : 0) |
               point->cost << FP_SITE_COST);
    bool running = point->flags & FP_SITE_RUNNING;
    if (point->reg && !running) fp_say(text, ".ascii \"${0:q}\"\n");
    if (running && point->moved) fp_say(text, ".ascii \"${1:q}\"\n");
    fp_say(text, ".zero 24 - (. - 773b)\n.quad %lld\n", (long long)point->next);
    if (running) fp_say(text, ".ascii \"$0\"\n");
    fp_say(text, ".zero 48 - (. - 773b)\n.long %u\n.long %u\n", point->target,
           (uint32_t)ed->ir->f->id);
}

static void add_attribute(struct fp_editor *ed, LLVMValueRef call, int at, const char *name,
                          LLVMTypeRef type)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAttributeRef attribute = type ? LLVMCreateTypeAttribute(ed->context, kind, type)
                                      : LLVMCreateEnumAttribute(ed->context, kind, 0);
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)at, attribute);
}

/* Emitted again with another ${:uid} where the code generator duplicates the block. */
static void emit_sites(struct fp_editor *ed, const struct fp_sample_point *points, size_t count,
                       unsigned flags, LLVMValueRef reg, LLVMValueRef moved)
{
    struct fp_writer text = {0};
    bool running = false;
    fp_say(&text, ".Lfp${:uid}:\n.pushsection " FP_SITE_SECTION ",\"ao?\",@progbits,.Lfp${:uid}\n");
    for (size_t i = 0; i < count; i++) {
        say_site(ed, &text, &points[i], flags);
        running |= (points[i].flags & FP_SITE_RUNNING) != 0;
    }
    fp_say(&text, ".popsection");
    LLVMValueRef operands[] = {reg, moved};
    LLVMTypeRef types[] = {reg ? LLVMTypeOf(reg) : NULL, ed->i64};
    unsigned n = !reg ? 0 : running && moved ? 2 : 1;
    LLVMTypeRef type = LLVMFunctionType(ed->void_, types, n, 0);
    /* a word is said to be written where it begins: it is never set */
    const char *constraints = !running ? (reg ? "r" : "") : n == 2 ? "*m,r" : "*m";
    if (flags & FP_SITE_START) constraints = "=*m";
    LLVMValueRef code = LLVMGetInlineAsm(type, (char *)text.bytes, text.len, (char *)constraints,
                                         strlen(constraints), 1, 0, LLVMInlineAsmDialectATT, 0);
    LLVMValueRef call = LLVMBuildCall2(ed->builder, type, code, operands, n, "");
    add_attribute(ed, call, LLVMAttributeFunctionIndex, "nounwind", NULL);
    if (running) add_attribute(ed, call, 1, "elementtype", ed->i64);
    fp_writer_free(&text);
}

void fp_ir_emit_branch_ends(struct fp_sampling *sampling, const struct fp_sample_point *points,
                            size_t count, LLVMValueRef reg, LLVMValueRef moved)
{
    emit_sites(sampling->ed, points, count, FP_SITE_BEHIND, reg, moved);
}

void fp_ir_emit_arrival(struct fp_sampling *sampling, uint32_t block)
{
    struct fp_sample_point point = {.target = block};
    emit_sites(sampling->ed, &point, 1, FP_SITE_ARRIVAL, NULL, NULL);
}

void fp_ir_emit_start(struct fp_sampling *sampling, LLVMValueRef word, int64_t next)
{
    struct fp_sample_point point = {
        .target = FP_NONE, .flags = FP_SITE_RUNNING, .next = next, .reg = word};
    emit_sites(sampling->ed, &point, 1, FP_SITE_START, word, NULL);
}

void fp_ir_emit_target(struct fp_editor *ed, LLVMValueRef table, uint64_t key, LLVMValueRef target)
{
    struct fp_sample_point point = {.counters = table,
                                    .hashed = true,
                                    .reg = LLVMBuildPtrToInt(ed->builder, target, ed->i64, ""),
                                    .value = (int64_t)key,
                                    .target = FP_NONE};
    emit_sites(ed, &point, 1, FP_SITE_VALUE, point.reg, NULL);
}

void fp_ir_emit_addition(struct fp_sampling *sampling, LLVMValueRef word, int64_t value)
{
    struct fp_editor *ed = sampling->ed;
    struct fp_writer text = {0};
    const char *constraints = "=*m,*m,~{flags}"; /* the word is read and written */
    LLVMValueRef operands[] = {word, word};
    LLVMTypeRef types[] = {LLVMTypeOf(word), LLVMTypeOf(word)};
    fp_say(&text, ".Lfp${:uid}: addq $$%lld, $0\n", (long long)value);
    fp_say(&text, ".pushsection " FP_ADDITION_SECTION ",\"ao?\",@progbits,.Lfp${:uid}\n");
    fp_say(&text, ".long .Lfp${:uid} - .\n.popsection");
    LLVMTypeRef type = LLVMFunctionType(ed->void_, types, 2, 0);
    LLVMValueRef code = LLVMGetInlineAsm(type, (char *)text.bytes, text.len, (char *)constraints,
                                         strlen(constraints), 1, 0, LLVMInlineAsmDialectATT, 0);
    LLVMValueRef call = LLVMBuildCall2(ed->builder, type, code, operands, 2, "");
    add_attribute(ed, call, LLVMAttributeFunctionIndex, "nounwind", NULL);
    for (int i = 1; i <= 2; i++) add_attribute(ed, call, i, "elementtype", ed->i64);
    fp_writer_free(&text);
}

/* ---- flags ---- */

static LLVMValueRef sampling_flag(struct fp_editor *ed)
{
    LLVMValueRef flag = LLVMGetNamedGlobal(ed->module, FP_SAMPLING_SYMBOL);
    if (flag) return flag;
    flag = LLVMAddGlobalInAddressSpace(ed->module, LLVMInt8TypeInContext(ed->context),
                                       FP_SAMPLING_SYMBOL, fp_edit_space(ed));
    LLVMSetVisibility(flag, LLVMHiddenVisibility);
    return flag;
}

static void call_sample(struct fp_editor *ed, const struct fp_sample_point *end)
{
    const char *name = end->hashed ? FP_SAMPLE_HASH_SYMBOL : FP_SAMPLE_ARRAY_SYMBOL;
    LLVMValueRef counters = LLVMConstBitCast(end->counters, fp_edit_pointer_type(ed, ed->i64));
    uint64_t kind = (end->flags & FP_SITE_LAP ? FP_SAMPLE_LAP : 0) |
                    (end->flags & FP_SITE_LAST ? FP_SAMPLE_LAST : 0);
    LLVMValueRef id = LLVMConstInt(ed->i64, (uint64_t)end->value + kind, 1);
    if (end->reg) id = LLVMBuildAdd(ed->builder, end->reg, id, "");
    fp_edit_sample_call(ed, name, counters, id, LLVMConstInt(ed->i64, end->cost, 0));
}

/*   if (sampling) sample(counters, id) */
static void emit_test(struct fp_editor *ed, const struct fp_flag_test *test)
{
    LLVMBuilderRef builder = ed->builder;
    LLVMBasicBlockRef before = LLVMGetInstructionParent(test->marker);
    LLVMBasicBlockRef after = fp_shim_split_block(test->marker);
    LLVMBasicBlockRef sample = LLVMInsertBasicBlockInContext(ed->context, after, "");
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
    LLVMPositionBuilderAtEnd(builder, before);
    LLVMTypeRef byte = LLVMInt8TypeInContext(ed->context);
    LLVMValueRef flag = LLVMBuildLoad2(builder, byte, sampling_flag(ed), "");
    LLVMSetVolatile(flag, 1);
    LLVMValueRef idle = LLVMBuildICmp(builder, LLVMIntEQ, flag, LLVMConstInt(byte, 0, 0), "");
    fp_edit_weigh(ed, LLVMBuildCondBr(builder, idle, after, sample), 100000, 1);
    LLVMPositionBuilderAtEnd(builder, sample);
    call_sample(ed, &test->end);
    LLVMBuildBr(builder, after);
    LLVMInstructionEraseFromParent(test->marker);
}

void fp_ir_emit_end(struct fp_sampling *sampling, const struct fp_sample_point *end)
{
    struct fp_editor *ed = sampling->ed;
    if (sampling->how != FP_PEP_FLAG) {
        emit_sites(ed, end, 1, ed->at_end ? FP_SITE_BEHIND : 0, end->reg, end->moved);
        return;
    }
    LLVMValueRef zero = LLVMConstInt(ed->i64, 0, 0);
    struct fp_flag_test test = {LLVMBuildFreeze(ed->builder, zero, ""), *end};
    fp_vec_push(sampling->arena, &sampling->tests, test);
}

void fp_ir_finish_ends(struct fp_sampling *sampling)
{
    for (size_t i = 0; i < sampling->tests.len; i++)
        emit_test(sampling->ed, &sampling->tests.at[i]);
}
