/* Putting code on the edges of a function, and what code: the primitives that
 * irpath.c and iredges.c share. */
#ifndef FP_LLVM_IREDIT_H
#define FP_LLVM_IREDIT_H

#include "flags/flags.h"
#include "llvm/read/irgraph.h"

struct fp_editor {
    struct fp_ir *ir;
    LLVMModuleRef module;
    LLVMContextRef context;
    LLVMBuilderRef builder;
    LLVMTypeRef i64, i32, void_;
    enum fp_threads threads;
    bool inlined_later;            /* passes behind ours may inline the function */
    bool optimized_later;          /* passes behind ours may move what counts */
    bool one_instruction;          /* where the code generator would not fold load, add and
                             store into one: at -O0 */
    unsigned tbaa;                 /* the kind of metadata that tells accesses apart */
    LLVMValueRef counter_tag;      /* of that kind, for counters; or NULL */
    LLVMValueRef slot;             /* where the path register is kept for others to see, or NULL */
    LLVMBasicBlockRef *edge_block; /* per cfg edge: the block made on it, or NULL */
    bool *has_block;               /* per cfg edge: is there one? */
    bool at_end;                   /* the builder was placed at the end of a block */
    uint32_t pending;              /* block whose end was last written to */
    LLVMValueRef before_pending;
};

void fp_editor_init(struct fp_editor *ed, struct fp_ir *ir, enum fp_threads threads,
                    bool one_instruction);
void fp_editor_finish(struct fp_editor *ed);

/* Lets passes behind ours know that counters are no memory of the program's: else a count keeps
 * them from carrying what they have loaded past it. */
void fp_edit_tell_apart(struct fp_editor *ed);

/* Place the builder. Code for a cfg edge goes to the end of its source or the
 * head of its target where one of them has no other edge, else to a new block.
 * Behind: on a twice edge, behind the call instead of in front of it. */
void fp_edit_at_head(struct fp_editor *ed, uint32_t block);
void fp_edit_at_end(struct fp_editor *ed, uint32_t block);
void fp_edit_on_edge(struct fp_editor *ed, uint32_t edge, bool behind);

/* In front of an instruction. */
void fp_edit_before(struct fp_editor *ed, LLVMValueRef instruction);

/* Would code on the edge need a new block? */
bool fp_edit_is_critical(const struct fp_editor *ed, uint32_t edge);

/* Address space of the counters. */
unsigned fp_edit_space(const struct fp_editor *ed);
LLVMTypeRef fp_edit_pointer_type(const struct fp_editor *ed, LLVMTypeRef to);

/* The counters of this function under a name, declared as an array of words. */
LLVMValueRef fp_edit_counters(struct fp_editor *ed, const char *prefix, uint64_t id,
                              uint64_t slots);

/* The gate in front of them. */
LLVMValueRef fp_edit_gate(struct fp_editor *ed, uint64_t id);

/* Address of word `index` of the counters; index may lie outside. */
LLVMValueRef fp_edit_word(struct fp_editor *ed, LLVMValueRef counters, uint64_t slots,
                          int64_t index);

/* A word of each thread, one for all modules of a process. */
LLVMValueRef fp_edit_thread_word(struct fp_editor *ed, const char *name);

/* Unwind edges that meet in one pad carry no code. Each brings its value along (values: per cfg
 * edge; NULL where any will do); the one that arrived is returned, NULL if there is none. */
LLVMValueRef fp_edit_join_unwinds(struct fp_editor *ed, uint32_t pad, const LLVMValueRef *values);

/* The value that a phi at the target of the cfg edge has when control comes over it: one entry per
 * way that the terminator of its source has there. */
void fp_edit_add_incoming(struct fp_editor *ed, LLVMValueRef phi, LLVMValueRef value,
                          uint32_t edge);

/* *pointer += amount (1 if NULL), as one instruction or atomically where asked. */
void fp_edit_add_to(struct fp_editor *ed, LLVMValueRef pointer, LLVMValueRef amount);
/* Sanitizers look at what the program does, not at how we count. */
void fp_edit_spare_checks(struct fp_editor *ed, LLVMValueRef access);

/* Counts a key in a hash table, or takes a sample, by a call of the runtime. */
void fp_edit_count_call(struct fp_editor *ed, const char *name, LLVMValueRef counters,
                        LLVMValueRef key);
/* The same with what the path costs. */
void fp_edit_sample_call(struct fp_editor *ed, const char *name, LLVMValueRef counters,
                         LLVMValueRef key, LLVMValueRef cost);
/* Counts behind a gate, by a call of the runtime. */
void fp_edit_gate_call(struct fp_editor *ed, LLVMValueRef gate, LLVMValueRef counter);

/* How often each way of a branch of ours is taken, relative to the other. */
void fp_edit_weigh(struct fp_editor *ed, LLVMValueRef branch, uint32_t first, uint32_t second);

#endif
