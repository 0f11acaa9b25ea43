/* Records for --fp-query: see irquery.h.
 *
 * The note is an attribute of the function. So it goes with the function where LLVM replaces the
 * function by another one, and to the parts into which LLVM splits it: an address of a part leads
 * to the counts of the whole.
 *
 * The record has the address of the function by its symbol. That is what a pointer of the program
 * has, also where a program and its libraries agree on a function by the loader. The record is in
 * a section that is linked to the code of the function (!associated), and in the function's group:
 * the linker keeps or drops both.
 *
 * Not handled: copies of P3, which count sums of labels; functions without path counters.
 */
#include "llvm/emit/irquery.h"

#include "footpath/abi.h"
#include "llvm/shim.h"

#include <llvm-c/Comdat.h>
#include <stdio.h>
#include <string.h>

static const char query_note[] = "footpath-query";

static unsigned query_flags(const struct fp_function *f)
{
    unsigned flags = 0;
    if (f->flags & FP_FUNCTION_HASHED) flags |= FP_QUERY_TABLE;
    if (f->flags & FP_FUNCTION_CYCLES) flags |= FP_QUERY_PAIRS;
    if (f->flags & FP_FUNCTION_TWICE) flags |= FP_QUERY_TWICE;
    return flags;
}

void fp_ir_note_query(LLVMValueRef function, const struct fp_function *f)
{
    char text[96];
    if (!(f->flags & FP_FUNCTION_PATHS)) return;
    int len = snprintf(text, sizeof text, "%016llx %u %llu %u", (unsigned long long)f->id,
                       query_flags(f), (unsigned long long)f->paths.numbering->num_paths,
                       (unsigned)f->paths.truncation->laps.len);
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(context, query_note,
                                                      (unsigned)strlen(query_note), text,
                                                      (unsigned)len));
}

struct noted {
    unsigned long long id, npaths;
    unsigned flags, nlaps;
};

static bool read_note(LLVMValueRef function, struct noted *noted)
{
    unsigned len;
    LLVMAttributeRef note =
        LLVMGetStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                      query_note, (unsigned)strlen(query_note));
    if (!note) return false;
    const char *text = LLVMGetStringAttributeValue(note, &len);
    return sscanf(text, "%llx %u %llu %u", &noted->id, &noted->flags, &noted->npaths,
                  &noted->nlaps) == 4;
}

/* The address of counters, which module-level assembly defines. They may be relative to %gs for
 * the code. */
static LLVMValueRef address_of(LLVMModuleRef module, const char *prefix, unsigned long long id)
{
    char name[64];
    LLVMTypeRef i64 = LLVMInt64TypeInContext(LLVMGetModuleContext(module));
    snprintf(name, sizeof name, "%s%016llx", prefix, id);
    LLVMValueRef counters = LLVMGetNamedGlobal(module, name);
    if (!counters) {
        counters = LLVMAddGlobal(module, i64, name);
        LLVMSetVisibility(counters, LLVMHiddenVisibility);
    }
    return LLVMConstPtrToInt(counters, i64);
}

static LLVMValueRef record_of(LLVMModuleRef module, LLVMValueRef function,
                              const struct noted *noted)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMTypeRef i64 = LLVMInt64TypeInContext(context), i32 = LLVMInt32TypeInContext(context);
    bool table = noted->flags & FP_QUERY_TABLE;
    LLVMValueRef fields[] = {
        LLVMConstPtrToInt(function, i64),
        address_of(module, table ? FP_HASH_PREFIX : FP_COUNTER_PREFIX, noted->id),
        table && noted->nlaps ? address_of(module, FP_EDGE_COUNTER_PREFIX, noted->id)
                              : LLVMConstInt(i64, 0, 0),
        LLVMConstInt(i64, noted->npaths, 0),
        LLVMConstInt(i32, noted->nlaps, 0),
        LLVMConstInt(i32, noted->flags, 0),
    };
    return LLVMConstStructInContext(context, fields, sizeof fields / sizeof *fields, 0);
}

static void goes_with(LLVMValueRef record, LLVMValueRef function)
{
    static const char kind[] = "associated";
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    LLVMMetadataRef with = LLVMValueAsMetadata(function);
    LLVMGlobalSetMetadata(record, LLVMGetMDKindIDInContext(context, kind, (unsigned)strlen(kind)),
                          LLVMMDNodeInContext2(context, &with, 1));
    if (LLVMGetComdat(function)) LLVMSetComdat(record, LLVMGetComdat(function));
}

static void emit_query(LLVMModuleRef module, LLVMValueRef function, const struct noted *noted)
{
    LLVMValueRef value = record_of(module, function, noted);
    LLVMValueRef record = LLVMAddGlobal(module, LLVMTypeOf(value), "footpath.query");
    LLVMSetInitializer(record, value);
    LLVMSetLinkage(record, LLVMPrivateLinkage);
    LLVMSetSection(record, FP_QUERY_SECTION);
    LLVMSetAlignment(record, 8);
    goes_with(record, function);
    fp_shim_keep(record);
}

bool fp_ir_emit_queries(LLVMModuleRef module)
{
    static const char need[] = ".pushsection .footpath_need,\"\",@progbits\n"
                               ".quad " FP_QUERY_SYMBOL "\n"
                               ".popsection\n";
    struct noted noted;
    bool any = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        bool is_here = !LLVMIsDeclaration(f) && LLVMGetLinkage(f) != LLVMAvailableExternallyLinkage;
        if (!is_here || !read_note(f, &noted)) continue;
        emit_query(module, f, &noted);
        any = true;
    }
    if (any) LLVMAppendModuleInlineAsm(module, need, strlen(need));
    return any;
}
