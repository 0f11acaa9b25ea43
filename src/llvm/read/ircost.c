/* Machine instructions per block: see ircost.h.
 *
 * No rule about IR tells what becomes of it: what is folded into addresses and operands, what is
 * spilled, which branches fall through. So a copy of the module, as it is before anything is
 * counted, is compiled to assembly. Its blocks have names "fp.N", which the assembly repeats in
 * comments behind their labels:
 *
 *     .LBB0_3:                  # %fp.7
 *             movzbl (%rdi), %eax
 *
 * Lines with an instruction are counted to the block of the label above. A part that the code
 * generator has split off a block has another name, or that of its block with ".split", and counts
 * to the block above it. What runs on one way into or out of a block alone is not counted: blocks
 * on edges, which have no name or an end of another kind ("fp.7.preheader"), and a jump behind a
 * conditional jump, which mostly is the way out of a loop. Blocks that were merged into others cost
 * nothing.
 *
 * A switch becomes a tree of comparisons and jump tables, of which one run passes few: its largest
 * part is taken whole, for it has the block's other instructions, and of the others as many as a
 * balanced tree of them is deep.
 */
#include "llvm/read/ircost.h"

#include "base/vec.h"

#include <llvm-c/DebugInfo.h>
#include <llvm-c/TargetMachine.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char NAME[] = "fp.";

/* ---- compiling the copy ---- */

static void name_blocks(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        unsigned number = 0;
        for (LLVMBasicBlockRef bb = LLVMGetFirstBasicBlock(f); bb; bb = LLVMGetNextBasicBlock(bb)) {
            char name[32];
            int len = snprintf(name, sizeof name, "%s%u", NAME, number++);
            LLVMSetValueName2(LLVMBasicBlockAsValue(bb), name, (size_t)len);
        }
    }
}

/* As clang does: the processor is an attribute of each function. */
static LLVMTargetMachineRef make_machine(LLVMModuleRef module, bool optimizing)
{
    LLVMTargetRef target;
    char *message = NULL;
    const char *triple = LLVMGetTarget(module);
    if (LLVMGetTargetFromTriple(triple, &target, &message)) {
        LLVMDisposeMessage(message);
        return NULL;
    }
    static const char pic[] = "PIC Level";
    LLVMRelocMode mode =
        LLVMGetModuleFlag(module, pic, sizeof pic - 1) ? LLVMRelocPIC : LLVMRelocStatic;
    LLVMTargetMachineRef machine = LLVMCreateTargetMachine(
        target, triple, "x86-64", "", optimizing ? LLVMCodeGenLevelDefault : LLVMCodeGenLevelNone,
        mode, LLVMCodeModelDefault);
    if (machine) LLVMSetTargetMachineAsmVerbosity(machine, 1);
    return machine;
}

/* The assembly, or NULL. */
static LLVMMemoryBufferRef compile(LLVMModuleRef module, bool optimizing)
{
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMBool nameless = LLVMContextShouldDiscardValueNames(context);
    LLVMTargetMachineRef machine = make_machine(module, optimizing);
    LLVMMemoryBufferRef text = NULL;
    char *message = NULL;
    if (!machine) return NULL;
    LLVMContextSetDiscardValueNames(context, 0);
    LLVMModuleRef copy = LLVMCloneModule(module);
    LLVMStripModuleDebugInfo(copy);
    name_blocks(copy);
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, copy, LLVMAssemblyFile, &message, &text)) {
        LLVMDisposeMessage(message);
        text = NULL;
    }
    LLVMDisposeModule(copy);
    LLVMContextSetDiscardValueNames(context, nameless);
    LLVMDisposeTargetMachine(machine);
    return text;
}

/* ---- reading the assembly ---- */

/* Instructions of a basic block: in all its parts, in the largest. */
struct block_parts {
    uint32_t all, largest, parts;
};

struct function_parts {
    struct block_parts *blocks;
    uint32_t nblocks;
};

struct counting {
    struct fp_machine_costs *costs;
    const struct function_parts *function; /* NULL between functions */
    uint32_t block;                        /* FP_NONE: on an edge */
    uint32_t instructions;                 /* since the label */
    bool conditional;                      /* was the last one a conditional jump? */
};

static void end_part(struct counting *c)
{
    if (c->function && c->block != FP_NONE && c->instructions) {
        struct block_parts *block = &c->function->blocks[c->block];
        block->all += c->instructions;
        if (c->instructions > block->largest) block->largest = c->instructions;
        block->parts++;
    }
    c->instructions = 0;
    c->conditional = false;
}

static bool begins(const char *line, const char *end, const char *with)
{
    size_t len = strlen(with);
    return (size_t)(end - line) >= len && !memcmp(line, with, len);
}

static const struct function_parts *find_function(const struct fp_machine_costs *costs,
                                                  const char *name)
{
    const uint64_t *known = fp_strtable_find(&costs->functions, name);
    return known ? (const struct function_parts *)(uintptr_t)*known : NULL;
}

/* A label of the function's name begins it. */
static void read_label(struct counting *c, const char *line, const char *end)
{
    char name[4096];
    const char *colon = memchr(line, ':', (size_t)(end - line));
    size_t len = colon ? (size_t)(colon - line) : 0;
    if (len > 1 && *line == '"') line++, len -= 2;
    if (!len || len >= sizeof name) return;
    memcpy(name, line, len);
    name[len] = 0;
    const struct function_parts *function = find_function(c->costs, name);
    if (!function && !begins(line, end, ".Lfunc_end")) return;
    end_part(c);
    c->function = function;
    c->block = 0;
}

/* The block that the name in the comment behind a label stands for. */
static uint32_t named_block(const struct counting *c, const char *comment, const char *end)
{
    const char *name = comment ? memchr(comment, '%', (size_t)(end - comment)) : NULL;
    char *behind;
    if (!name) return FP_NONE;
    if (!begins(name + 1, end, NAME)) return c->block;
    unsigned long number = strtoul(name + sizeof NAME, &behind, 10);
    bool whole = behind == end || *behind != '.' || begins(behind, end, ".split");
    return whole && number < c->function->nblocks ? (uint32_t)number : FP_NONE;
}

static void count_instruction(struct counting *c, const char *line)
{
    bool jump = line[1] == 'j', always = !strncmp(line + 1, "jmp", 3);
    if (!always || !c->conditional) c->instructions++;
    c->conditional = jump && !always;
}

/* "# %bb.N:" stands for a label that nothing jumps to. */
static void read_line(struct counting *c, const char *line, const char *end)
{
    static const char bare[] = "# %bb.", block[] = ".LBB";
    bool is_bare = begins(line, end, bare), is_block = begins(line, end, block);
    bool is_label = end > line && *line != '\t' && *line != ' ' && *line != '#' && !is_block;
    if (is_label) read_label(c, line, end);
    if (!c->function) return;
    if (is_bare) line += sizeof bare - 1;
    if (is_bare || is_block) {
        end_part(c);
        c->block = named_block(c, memchr(line, '#', (size_t)(end - line)), end);
    } else if (end - line > 1 && *line == '\t' && line[1] >= 'a' && line[1] <= 'z') {
        count_instruction(c, line);
    }
}

static void read_assembly(struct fp_machine_costs *costs, LLVMMemoryBufferRef text)
{
    struct counting c = {.costs = costs};
    const char *line = LLVMGetBufferStart(text), *end = line + LLVMGetBufferSize(text);
    while (line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        if (!newline) newline = end;
        read_line(&c, line, newline);
        line = newline + 1;
    }
    end_part(&c);
}

/* ---- both ---- */

static void list_functions(struct fp_arena *arena, LLVMModuleRef module,
                           struct fp_machine_costs *costs)
{
    fp_strtable_init(&costs->functions, arena);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        size_t len;
        struct function_parts *function = FP_NEW(arena, struct function_parts);
        function->nblocks = LLVMCountBasicBlocks(f);
        if (!function->nblocks) continue;
        function->blocks = FP_NEW_ARRAY(arena, struct block_parts, function->nblocks);
        const char *name = fp_arena_strdup(arena, LLVMGetValueName2(f, &len));
        *fp_strtable_add(&costs->functions, name) = (uintptr_t)function;
    }
}

bool fp_machine_costs_make(struct fp_arena *arena, LLVMModuleRef module, bool optimizing,
                           struct fp_machine_costs *costs)
{
    list_functions(arena, module, costs);
    LLVMMemoryBufferRef text = compile(module, optimizing);
    if (!text) return false;
    read_assembly(costs, text);
    LLVMDisposeMemoryBuffer(text);
    return true;
}

static uint32_t cost_of(const struct block_parts *block, LLVMBasicBlockRef bb)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(bb);
    if (block->parts < 2 || LLVMGetInstructionOpcode(end) != LLVMSwitch) return block->all;
    uint32_t depth = 0, others = block->parts - 1;
    while (others >> depth) depth++;
    return block->largest + (block->all - block->largest) * depth / others;
}

/* A basic block may be several blocks of the cfg: each gets its part, by instructions of IR. */
static void divide(struct fp_block_info *infos, uint32_t first, uint32_t end, uint32_t cost)
{
    uint32_t all = 0;
    for (uint32_t b = first; b < end; b++) all += infos[b].instructions;
    for (uint32_t b = first; b < end; b++) {
        uint32_t part = all ? (uint32_t)((uint64_t)cost * infos[b].instructions / all) : 0;
        all -= infos[b].instructions;
        cost -= part;
        infos[b].instructions = part;
    }
}

void fp_machine_costs_apply(const struct fp_machine_costs *costs, struct fp_ir *ir)
{
    struct fp_function *f = ir->f;
    const struct function_parts *function = find_function(costs, f->name);
    uint32_t n = f->paths.cfg->nblocks, number = 0;
    if (!function) return;
    for (uint32_t b = 0, end; b < n && ir->blocks[b].bb; b = end, number++) {
        for (end = b + 1; end < n && ir->blocks[end].bb == ir->blocks[b].bb;) end++;
        if (number < function->nblocks)
            divide(f->source.blocks, b, end, cost_of(&function->blocks[number], ir->blocks[b].bb));
    }
}
