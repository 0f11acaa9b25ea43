/* The few things that llvm-c does not offer, by plugin.cpp. Everything else in
 * this folder is C over llvm-c. */
#ifndef FP_LLVM_SHIM_H
#define FP_LLVM_SHIM_H

#include "flags/point.h"

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Instructions of `block` from `at` on go to a new block behind it. */
LLVMBasicBlockRef fp_shim_split_block(LLVMValueRef at);

/* Places the builder in front of everything in the block: where a phi goes. In front of
 * its first instruction would be behind what debug information notes there. */
void fp_shim_position_at_head(LLVMBuilderRef builder, LLVMBasicBlockRef block);

/* The loop that the terminator is part of is to begin at a multiple of so many bytes. The code
 * generator asks the block by which the loop is left, or the last one. LLVM before 18 does not
 * ask. */
void fp_shim_align_loop(LLVMValueRef terminator, uint32_t bytes);

/* Variables of the frame, which are loaded and stored alone, become values. */
void fp_shim_make_values(LLVMValueRef function, LLVMValueRef *variables, size_t n);

/* PHIs of `block` that come from `from` now come from `to`, once each. */
void fp_shim_redirect_phis(LLVMBasicBlockRef block, LLVMBasicBlockRef from, LLVMBasicBlockRef to);

/* A new block that all indirect branches to `block` go to instead, and that goes
 * on to it; its address replaces the other's. */
LLVMBasicBlockRef fp_shim_arrival_block(LLVMBasicBlockRef block);

/* Gives a function a second body beside its first: a new entry block, without a
 * terminator yet, that has the fixed allocations of both, and copies of all blocks,
 * of which the copy of the old entry is *second. */
LLVMBasicBlockRef fp_shim_second_body(LLVMValueRef function, LLVMBasicBlockRef *second);

/* For the i-th successor of a switch: is it a case, and of which value? */
bool fp_shim_switch_case(LLVMValueRef switch_, unsigned successor, int64_t *value);

/* Does an addition promise not to wrap, signed or unsigned? */
bool fp_shim_never_wraps(LLVMValueRef addition);

/* Estimated frequency of a block, and probability of its i-th successor, for
 * the function that fp_shim_estimates was last called for. */
void fp_shim_estimates(LLVMValueRef function);
double fp_shim_block_frequency(LLVMBasicBlockRef block);
double fp_shim_edge_probability(LLVMBasicBlockRef block, unsigned successor);

/* Has the code generator lay out loops by what jumps cost, which it does not by default.
 * Without, a block on the edge back to a loop's header jumps to the header on every round.
 * For the rest of the process; a setting by -mllvm stays. */
void fp_shim_lay_out_loops_by_cost(void);

/* The source position of an instruction. */
struct fp_shim_location {
    unsigned line, column, discriminator;
    unsigned function_line; /* where the function is declared */
    const void *scope;      /* identifies function and place of inlining together */
    const void *inlined_at; /* location to go on with, or NULL */
    const char *function, *linkage, *file, *folder;
    size_t function_len, linkage_len, file_len, folder_len;
    unsigned long long file_sum; /* of the file that was compiled; 0: not known */
};
bool fp_shim_location(LLVMValueRef instruction, struct fp_shim_location *location);
bool fp_shim_outer_location(const void *inlined_at, struct fp_shim_location *location);

/* The same without names: which function's body, and where in it. */
struct fp_shim_place {
    unsigned line, column;
    const void *subprogram, *inlined_at;
};
bool fp_shim_place(LLVMValueRef instruction, struct fp_shim_place *place);
bool fp_shim_outer_place(const void *inlined_at, struct fp_shim_place *place);

/* The line of a function's declaration, 0 without debug information. */
bool fp_shim_function_location(LLVMValueRef function, struct fp_shim_location *location);
void fp_shim_subprogram_location(const void *subprogram, struct fp_shim_location *location);

/* A C++ name as people write it, from malloc; NULL where it is none. */
char *fp_shim_demangle(const char *name);

/* May a block be copied? Not where its address is taken, an exception lands, or it
 * holds what must be there once. */
bool fp_shim_can_copy(LLVMBasicBlockRef block);

/* Copies blocks; fresh[i] is the copy of old[i]. Edges between them are copied. Edges
 * to them from the blocks in `from`, and the edge only_from -> only_to if given, lead to
 * the copies then. Values that live on are merged where old and new ways meet. */
void fp_shim_copy_blocks(const LLVMBasicBlockRef *old, LLVMBasicBlockRef *fresh, unsigned n,
                         const LLVMBasicBlockRef *from, unsigned nfrom, LLVMBasicBlockRef only_from,
                         LLVMBasicBlockRef only_to);

/* Blocks are copied as a graph says (graph/blockcopies.h). Values are merged where ways meet. */
struct fp_shim_copied_edge {
    uint32_t src, dst;
};
struct fp_shim_copies {
    LLVMBasicBlockRef *blocks; /* per block of the graph; of copies, they are filled in */
    const uint32_t *block_of;  /* per block: the old one that it is, or is a copy of */
    uint32_t nold, nblocks;    /* the old ones come first */
    const struct fp_shim_copied_edge *edges; /* all that begin or end at a copy */
    uint32_t nedges;
};
void fp_shim_copy_graph(const struct fp_shim_copies *how);

/* The optimiser keeps the variable, though nobody seems to use it. The linker may drop it. */
void fp_shim_keep(LLVMValueRef variable);

/* Of a call: it neither reads nor writes memory, nor throws. */
void fp_shim_touches_nothing(LLVMValueRef call);

/* Is the instruction a call that must stay a tail call? */
bool fp_shim_is_must_tail(LLVMValueRef instruction);

/* Does a condition that is known to be true, or false, decide another? */
bool fp_shim_implies(LLVMValueRef known, bool is_true, LLVMValueRef condition);

/* Inlines small functions and tidies up, as LLVM does in front of its own counters:
 * counts of what was inlined are then each caller's own. Needs: no profile in the
 * module, so that the same happens when it is counted and when the counts are used. */
void fp_shim_inline_small(LLVMModuleRef module);

/* Splits coroutines into functions, as LLVM does, where it has not done so yet. */
void fp_shim_split_coroutines(LLVMModuleRef module);

/* The module's profile summary was set: analyses that have one read it again. */
void fp_shim_refresh_summary(LLVMModuleRef module);

/* One value that a call was given, and how often: a function, or a size. */
struct fp_shim_value {
    LLVMValueRef function; /* NULL: a size */
    uint64_t size, count;
};

/* Notes on a call what it was given, the most frequent first, of `total` times in all. */
void fp_shim_note_values(LLVMValueRef call, const struct fp_shim_value *values, unsigned n,
                         uint64_t total);

/* Calls that were noted become direct for frequent targets, operations of a fixed size
 * for frequent sizes, by LLVM's passes for its own profiles. */
void fp_shim_use_values(LLVMModuleRef module);

/* The counters that LLVM's own instrumentation (-fprofile-generate) would give a function here: the
 * name and hash in its profile, and per counter the block whose executions it counts, or NULL. */
struct fp_shim_counters {
    const char *name;
    uint64_t hash;
    const LLVMBasicBlockRef *blocks;
    uint32_t ncounters;
};

/* Finds the counters of all functions, by LLVM's pass on a copy of the module. Where LLVM counts an
 * edge or what a select chooses, the module gets a block in its place. Valid until the end. */
void fp_shim_count_as_llvm(LLVMModuleRef module);
bool fp_shim_llvm_counters(LLVMValueRef function, struct fp_shim_counters *counters);
void fp_shim_counters_end(void);

/* Called by the passes; `point` tells which of the points of the pipeline it is, `optimizing`
 * whether at -O1 or above, `alone` that there is no pipeline: whoever takes the bitcode may
 * optimise it. True when the module was changed. */
bool fp_llvm_run(LLVMModuleRef module, enum fp_point point, bool optimizing, bool alone);

/* Is LLVM's own instrumentation to be replaced by ours (--fp-at=pgo)? */
bool fp_llvm_counts_as_llvm(void);

/* Called at the start of the pipeline: see sense/survey.h. True when the module was changed. */
bool fp_llvm_survey(LLVMModuleRef module);

#ifdef __cplusplus
}
#endif

#endif
