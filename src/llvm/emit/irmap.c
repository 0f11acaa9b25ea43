/* Map records and counters as assembly.
 *
 * Each function has a section group of its own for its record and its counters,
 * named after the counters and foldable (comdat), so that of an inline function
 * in many objects one set remains. The record is in a section that is not loaded
 * (no "a" flag). An IR variable could not be in such a section, nor in a named
 * section that takes no room in the file.
 */
#include "llvm/emit/irmap.h"

#include "base/checksum.h"
#include "base/plain.h"
#include "footpath/abi.h"
#include "profile/mapcode.h"

#include <stdio.h>
#include <string.h>

/* .ascii with octal escapes for what is not plain. */
static void say_bytes(struct fp_writer *text, const unsigned char *bytes, size_t len)
{
    enum { PER_LINE = 256 };
    char line[4 * PER_LINE];
    for (size_t at = 0; at < len; at += PER_LINE) {
        size_t n = 0;
        fp_write_bytes(text, ".ascii \"", 8);
        for (size_t i = at; i < len && i < at + PER_LINE; i++) {
            unsigned char b = bytes[i];
            bool plain = b >= ' ' && b < 127 && b != '"' && b != '\\' && b != '$';
            if (!plain) {
                line[n++] = '\\';
                line[n++] = (char)('0' + (b >> 6));
                line[n++] = (char)('0' + (b >> 3 & 7));
                b = (unsigned char)('0' + (b & 7));
            }
            line[n++] = (char)b;
        }
        fp_write_bytes(text, line, n);
        fp_write_bytes(text, "\"\n", 2);
    }
}

static void say_storage(struct fp_writer *text, const char *section, const char *name,
                        uint64_t bytes, const char *group)
{
    fp_say(text, ".pushsection %s,\"awG\",@nobits,%s,comdat\n", section, group);
    fp_say(text, ".weak %s\n.hidden %s\n.balign 8\n", name, name);
    fp_say(text, ".type %s,@object\n.size %s,%llu\n%s:\n.zero %llu\n.popsection\n", name, name,
           (unsigned long long)bytes, name, (unsigned long long)bytes);
}

/* A hash table as linked: struct fp_hash_table. */
static void say_table(struct fp_writer *text, const struct fp_function *f, const char *name,
                      const char *group)
{
    char direct[64] = "0";
    if (f->layout.direct_slots) {
        snprintf(direct, sizeof direct, FP_DIRECT_PREFIX "%016llx", (unsigned long long)f->id);
        say_storage(text, FP_DIRECT_SECTION, direct, f->layout.direct_slots * 8, group);
    }
    fp_say(text, ".pushsection " FP_HASH_SECTION ",\"awG\",@progbits,%s,comdat\n", group);
    fp_say(text, ".weak %s\n.hidden %s\n.hidden " FP_HASH_EMPTY_SYMBOL "\n.balign 8\n", name, name);
    fp_say(text, ".type %s,@object\n.size %s,%u\n%s:\n", name, name, (unsigned)FP_HASH_TABLE_SIZE,
           name);
    fp_say(text, ".quad %s\n.quad %s\n.long %llu\n.long %llu\n.popsection\n",
           f->layout.sparse_slots ? "0" : FP_HASH_EMPTY_SYMBOL, direct,
           (unsigned long long)f->layout.direct_slots, (unsigned long long)f->layout.sparse_slots);
}

static void say_gate(struct fp_writer *text, const struct fp_function *f, const char *group)
{
    char name[64];
    snprintf(name, sizeof name, FP_GATE_PREFIX "%016llx", (unsigned long long)f->id);
    fp_say(text, ".pushsection " FP_GATE_SECTION ",\"awG\",@progbits,%s,comdat\n", group);
    fp_say(text, ".weak %s\n.hidden %s\n.type %s,@object\n.size %s,2\n", name, name, name, name);
    fp_say(text, ".balign 2\n%s: .short %u\n.popsection\n", name, (unsigned)FP_GATE_OPEN);
}

void fp_ir_emit_module(LLVMModuleRef module)
{
    static const char text[] = ".pushsection .footpath_need,\"\",@progbits\n"
                               ".quad " FP_RUNTIME_SYMBOL "\n"
                               ".popsection\n";
    LLVMAppendModuleInlineAsm(module, text, strlen(text));
    /* tells the runtime that somebody reads the flag */
    static const char flag[] =
        ".pushsection " FP_FLAG_SECTION ",\"a\",@progbits\n.byte 1\n.popsection\n";
    if (LLVMGetNamedGlobal(module, FP_SAMPLING_SYMBOL))
        LLVMAppendModuleInlineAsm(module, flag, strlen(flag));
}

void fp_ir_emit_map(LLVMModuleRef module, const struct fp_function *f)
{
    struct fp_writer payload = {0}, text = {0};
    fp_map_encode(&payload, f);
    char group[64], paths[64] = "0", edges[64] = "0";
    snprintf(group, sizeof group, "__footpath_g_%016llx", (unsigned long long)f->id);
    if (f->layout.path_slots) {
        bool hashed = f->flags & FP_FUNCTION_HASHED;
        snprintf(paths, sizeof paths, "%s%016llx", hashed ? FP_HASH_PREFIX : FP_COUNTER_PREFIX,
                 (unsigned long long)f->id);
        if (hashed)
            say_table(&text, f, paths, group);
        else
            say_storage(&text, FP_COUNTER_SECTION, paths, f->layout.path_slots * 8, group);
        if (f->layout.gated) say_gate(&text, f, group);
    }
    if (f->layout.edge_slots) {
        snprintf(edges, sizeof edges, "%s%016llx", FP_EDGE_COUNTER_PREFIX,
                 (unsigned long long)f->id);
        say_storage(&text, FP_COUNTER_SECTION, edges, f->layout.edge_slots * 8, group);
    }
    fp_say(&text, ".pushsection " FP_MAP_SECTION ",\"G\",@progbits,%s,comdat\n", group);
    fp_say(&text, ".long %u\n.long %zu\n.quad 0x%llx\n.quad %s\n.quad %s\n", FP_MAP_MAGIC,
           payload.len, (unsigned long long)fp_checksum(payload.bytes, payload.len, 0), paths,
           edges);
    say_bytes(&text, payload.bytes, payload.len);
    fp_say(&text, ".popsection\n");
    LLVMAppendModuleInlineAsm(module, (char *)text.bytes, text.len);
    fp_writer_free(&payload);
    fp_writer_free(&text);
}

/* "?" puts it into the group of the function's own section, if it has one. */
void fp_ir_emit_live_mark(struct fp_ir *ir)
{
    char text[256];
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(ir->function));
    snprintf(text, sizeof text,
             "771:\n"
             ".pushsection " FP_MAP_LIVE_SECTION ",\"?\",@progbits\n"
             ".quad 771b, 0x%016llx\n.popsection",
             (unsigned long long)ir->f->id);
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, 0);
    LLVMValueRef code =
        LLVMGetInlineAsm(type, text, strlen(text), (char *)"", 0, 1, 0, LLVMInlineAsmDialectATT, 0);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderBefore(builder, ir->blocks[0].begin);
    LLVMBuildCall2(builder, type, code, NULL, 0, "");
    LLVMDisposeBuilder(builder);
}
