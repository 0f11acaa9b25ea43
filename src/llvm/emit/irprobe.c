/* Counts in a hash table, in a sparse array or behind a gate (footpath/abi.h). */
#include "footpath/abi.h"
#include "llvm/emit/ircode.h"
#include "llvm/emit/irrange.h"
#include "llvm/shim.h"

#include <stddef.h>

/* The word `index` words behind base + offset. */
static LLVMValueRef word_behind(struct fp_code *c, LLVMValueRef base, LLVMValueRef offset,
                                int64_t index)
{
    LLVMBuilderRef builder = c->ed->builder;
    LLVMTypeRef byte = LLVMInt8TypeInContext(c->ed->context);
    unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(base));
    LLVMValueRef distance = LLVMConstInt(c->ed->i64, (uint64_t)index * 8, 1);
    LLVMValueRef at = LLVMBuildBitCast(builder, base, LLVMPointerType(byte, space), "");
    at = LLVMBuildGEP2(builder, byte, at, &offset, 1, "");
    at = LLVMBuildGEP2(builder, byte, at, &distance, 1, "");
    return LLVMBuildBitCast(builder, at, LLVMPointerType(c->ed->i64, space), "");
}

/* All paths that can come have small ids. */
static bool is_direct(struct fp_ir_ranges *ranges, const struct fp_code_probe *probe,
                      uint64_t *high)
{
    struct fp_ir_range keys = fp_ir_range_of(ranges, probe->key);
    if (!keys.known || keys.low < 1 || keys.high > FP_HASH_DIRECT) return false;
    if ((uint64_t)keys.high > *high) *high = (uint64_t)keys.high;
    return true;
}

static void count_directly(struct fp_code *c, const struct fp_code_probe *probe)
{
    struct fp_editor *ed = c->ed;
    LLVMValueRef words =
        fp_edit_counters(ed, FP_DIRECT_PREFIX, ed->ir->f->id, ed->ir->f->layout.direct_slots);
    LLVMPositionBuilderBefore(ed->builder, probe->marker);
    LLVMValueRef offset = LLVMBuildShl(ed->builder, probe->key, LLVMConstInt(ed->i64, 3, 0), "");
    fp_edit_add_to(ed, word_behind(c, words, offset, -1), NULL);
}

/* The level of a table may be another one at any time: the load is volatile. */
static LLVMValueRef load_level(struct fp_code *c)
{
    LLVMValueRef word = fp_edit_word(c->ed, c->counters, c->slots, 0);
    LLVMValueRef level = LLVMBuildLoad2(c->ed->builder, c->ed->i64, word, "");
    LLVMSetVolatile(level, 1);
    return level;
}

static LLVMValueRef as_words(struct fp_code *c, LLVMValueRef address)
{
    return LLVMBuildIntToPtr(c->ed->builder, address, LLVMPointerType(c->ed->i64, 0), "");
}

/* Where the key's entry would be, behind the level's head. */
static LLVMValueRef entry_offset(struct fp_code *c, LLVMValueRef *level, LLVMValueRef key)
{
    LLVMBuilderRef builder = c->ed->builder;
    LLVMTypeRef i64 = c->ed->i64;
    LLVMValueRef hash = LLVMBuildMul(builder, key, LLVMConstInt(i64, FP_PROBE_FACTOR, 0), "");
    hash = LLVMBuildLShr(builder, hash, LLVMConstInt(i64, FP_PROBE_SHIFT, 0), "");
    *level = as_words(c, load_level(c));
    LLVMValueRef mask = LLVMBuildLoad2(builder, i64, *level, "");
    fp_edit_spare_checks(c->ed, mask);
    return LLVMBuildAnd(builder, hash, mask, "");
}

/* A count that may miss: the block of the marker is divided in front of it. */
struct fork {
    LLVMBasicBlockRef hit, miss, after;
};

/* Code is then added to the block in front. */
static struct fork divide(struct fp_code *c, LLVMValueRef marker)
{
    LLVMBasicBlockRef before = LLVMGetInstructionParent(marker);
    LLVMBasicBlockRef after = fp_shim_split_block(marker);
    struct fork fork = {.hit = LLVMInsertBasicBlockInContext(c->ed->context, after, ""),
                        .miss = LLVMInsertBasicBlockInContext(c->ed->context, after, ""),
                        .after = after};
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
    LLVMPositionBuilderAtEnd(c->ed->builder, before);
    return fork;
}

/* Where the condition holds, code is then added for it; else the runtime is called. */
static void branch(struct fp_code *c, const struct fork *fork, LLVMValueRef condition,
                   const char *miss, LLVMValueRef key)
{
    LLVMBuilderRef builder = c->ed->builder;
    fp_edit_weigh(c->ed, LLVMBuildCondBr(builder, condition, fork->hit, fork->miss), 2000, 1);
    LLVMPositionBuilderAtEnd(builder, fork->miss);
    fp_edit_count_call(c->ed, miss, c->counters, key);
    LLVMBuildBr(builder, fork->after);
    LLVMPositionBuilderAtEnd(builder, fork->hit);
}

/*   entry = level + hash(key); if (entry->key == key) entry->count++; else miss(table, key) */
static void look_up(struct fp_code *c, const struct fp_code_probe *probe)
{
    const int64_t entries = offsetof(struct fp_hash_level, entries) / sizeof(uint64_t);
    struct fp_editor *ed = c->ed;
    struct fork fork = divide(c, probe->marker);
    LLVMValueRef level, offset = entry_offset(c, &level, probe->key);
    LLVMValueRef key =
        LLVMBuildLoad2(ed->builder, ed->i64, word_behind(c, level, offset, entries), "");
    fp_edit_spare_checks(ed, key);
    LLVMValueRef same = LLVMBuildICmp(ed->builder, LLVMIntEQ, key, probe->key, "");
    branch(c, &fork, same, FP_HASH_MISS_SYMBOL, probe->key);
    fp_edit_add_to(ed, word_behind(c, level, offset, entries + 1), NULL);
    LLVMBuildBr(ed->builder, fork.after);
}

/*   if (array > 0) array[key - 1]++; else miss(table, key) */
static void count_in_array(struct fp_code *c, const struct fp_code_probe *probe)
{
    struct fp_editor *ed = c->ed;
    struct fork fork = divide(c, probe->marker);
    LLVMValueRef array = load_level(c);
    LLVMValueRef there =
        LLVMBuildICmp(ed->builder, LLVMIntSGT, array, LLVMConstInt(ed->i64, 0, 0), "");
    branch(c, &fork, there,
           ed->threads == FP_THREADS_LOCAL ? FP_SPARSE_MISS_SYMBOL : FP_HASH_SHARED_SYMBOL,
           probe->key);
    LLVMValueRef offset = LLVMBuildShl(ed->builder, probe->key, LLVMConstInt(ed->i64, 3, 0), "");
    fp_edit_add_to(ed, word_behind(c, as_words(c, array), offset, -1), NULL);
    LLVMBuildBr(ed->builder, fork.after);
}

/*   if (gate < 0) (*counter)++; else miss(gate, counter)
 *
 * The load is volatile: the code generator would else make several ways of what follows. */
static void count_behind_gate(struct fp_code *c, const struct fp_code_probe *probe)
{
    struct fp_editor *ed = c->ed;
    LLVMTypeRef type = LLVMInt16TypeInContext(ed->context);
    struct fork fork = divide(c, probe->marker);
    LLVMValueRef gate = LLVMBuildLoad2(ed->builder, type, c->gate, "");
    LLVMSetVolatile(gate, 1);
    LLVMValueRef open = LLVMBuildICmp(ed->builder, LLVMIntSLT, gate, LLVMConstInt(type, 0, 0), "");
    fp_edit_weigh(ed, LLVMBuildCondBr(ed->builder, open, fork.hit, fork.miss), 2000, 1);
    LLVMPositionBuilderAtEnd(ed->builder, fork.miss);
    fp_edit_gate_call(ed, c->gate, fp_code_plus(c, probe->key, probe->more));
    LLVMBuildBr(ed->builder, fork.after);
    LLVMPositionBuilderAtEnd(ed->builder, fork.hit);
    fp_edit_add_to(ed, fp_code_plus(c, probe->key, probe->more), NULL);
    LLVMBuildBr(ed->builder, fork.after);
}

static void count_shared(struct fp_code *c, const struct fp_code_probe *probe)
{
    LLVMPositionBuilderBefore(c->ed->builder, probe->marker);
    fp_edit_count_call(c->ed, FP_HASH_SHARED_SYMBOL, c->counters, probe->key);
}

static void emit_probe(struct fp_code *c, struct fp_ir_ranges *ranges,
                       const struct fp_code_probe *probe)
{
    uint64_t high = 0;
    if (c->gate)
        count_behind_gate(c, probe);
    else if (is_direct(ranges, probe, &high))
        count_directly(c, probe);
    else if (c->ed->ir->f->layout.sparse_slots)
        count_in_array(c, probe);
    else if (c->ed->threads != FP_THREADS_LOCAL)
        count_shared(c, probe);
    else
        look_up(c, probe);
    LLVMInstructionEraseFromParent(probe->marker);
}

/* Marks of frames (docs/exits.md) belong to blocks as they are: no new ones then. */
void fp_code_count_key(struct fp_code *c, LLVMValueRef before, LLVMValueRef key)
{
    struct fp_code_probe probe = {before, key, 0};
    if (c->ed->threads != FP_THREADS_LOCAL)
        count_shared(c, &probe);
    else if (c->ed->ir->f->flags & FP_FUNCTION_EXITS)
        fp_edit_count_call(c->ed, FP_HASH_MISS_SYMBOL, c->counters, key);
    else
        look_up(c, &probe);
}

/* A marker stands at the place until branches can be made. */
void fp_code_probe_later(struct fp_code *c, LLVMValueRef key)
{
    LLVMValueRef zero = LLVMConstInt(c->ed->i64, 0, 0);
    struct fp_code_probe probe = {LLVMBuildFreeze(c->ed->builder, zero, ""), key, 0};
    fp_vec_push(c->arena, &c->probes, probe);
}

void fp_code_pass_later(struct fp_code *c, LLVMValueRef r, int64_t more)
{
    fp_code_probe_later(c, r);
    c->probes.at[c->probes.len - 1].more = more;
}

/* How many words beside the table there are must be known before the first is used. */
void fp_code_emit_probes(struct fp_code *c)
{
    struct fp_ir_ranges ranges;
    fp_ir_ranges_init(&ranges, c->arena);
    for (size_t i = 0; i < c->probes.len && !c->gate; i++)
        is_direct(&ranges, &c->probes.at[i], &c->ed->ir->f->layout.direct_slots);
    for (size_t i = 0; i < c->probes.len; i++) emit_probe(c, &ranges, &c->probes.at[i]);
}
