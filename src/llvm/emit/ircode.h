/* The code that a path plan becomes, while it is made. Private to the files that make it:
 *
 *   irpath.c      the order of things; counts on edges and in blocks
 *   irregister.c  the path register as SSA values
 *   irinplace.c   the path register set by assembly, in loops
 *   ircycles.c    when the path in flight began
 *   irturns.c     counts of short loops, in two copies in turn
 *   irkept.c      counts of short loops, and how far they move a running register, in registers
 *   irprobe.c     counts in a hash table, in a sparse array or behind a gate
 *   irends.c      ends of sampled paths
 *
 * For counters in an array, r is not the id but the address of its counter: setting r is
 * one lea, counting one inc through it. For a hash table r is the key. For sampled paths
 * r is the id itself, so that it fits an immediate operand and the compiler can see
 * through it; with traps it is mostly a word of the stack that runs on (footpath/abi.h),
 * which most edges leave alone, so that the code generator has one register more.
 */
#ifndef FP_LLVM_IRCODE_H
#define FP_LLVM_IRCODE_H

#include "base/vec.h"
#include "graph/loops.h"
#include "graph/plan.h"
#include "llvm/emit/irsample.h"

/* A phi to fill: one value per live in-edge of the cfg block. */
struct fp_code_phi {
    uint32_t block;
    LLVMValueRef phi;
    LLVMValueRef *values; /* in order of the block's in-edges */
};

/* A count that a loop keeps in a register. */
struct fp_code_kept {
    uint32_t header;
    int64_t id;
    LLVMValueRef variable;
};

/* A count in a hash table or behind a gate, made at the end: it needs branches. */
struct fp_code_probe {
    LLVMValueRef marker; /* the instruction in front of which to count */
    LLVMValueRef key;    /* behind a gate: r */
    int64_t more;        /* behind a gate: to add to r */
};

struct fp_code {
    struct fp_editor *ed;
    const struct fp_plan *plan;
    const struct fp_dag *dag;
    const struct fp_cfg *cfg;
    struct fp_arena *arena;
    bool hashed, cycles;
    bool own_cycles; /* with cycles: without those of callees (ircycles.c) */
    bool in_place;   /* see irinplace.c */
    struct fp_loops loops;
    LLVMValueRef counters, laps;
    LLVMValueRef gate; /* in front of the array, or NULL */
    uint64_t slots, lap_slots, stride;
    LLVMTypeRef register_type;
    LLVMValueRef *reg;   /* per block: r on entering it */
    LLVMValueRef *since; /* with cycles, per block: when the path in flight began */
    LLVMValueRef *now;   /* with cycles, per cfg edge: when it ended a path */
    LLVMValueRef entered;
    LLVMValueRef *turn; /* per block of a short loop: where to count; NULL where there are none */
    FP_VEC(struct fp_code_phi) phis;
    FP_VEC(struct fp_code_probe) probes;
    FP_VEC(struct fp_code_kept) kept;
    struct fp_sampling *sampling; /* or NULL */
    bool *at_branch;   /* with traps, per block: path ends of all its ways out are in front
                        of its branch */
    bool *arrival;     /* likewise: a note at its head says that it is reached */
    LLVMValueRef word; /* where a running register lies, or NULL */
    const double *sizes, *lengths; /* with sampling: instructions of a block; of the paths to it */
};

static inline bool fp_code_is_count(struct fp_op op)
{
    return op.kind == FP_OP_COUNT || op.kind == FP_OP_COUNT_REG;
}

static inline enum fp_fate fp_code_fate(const struct fp_code *c, uint32_t edge)
{
    return (enum fp_fate)c->dag->truncation->order.fate[edge];
}

static inline bool fp_code_is_live(const struct fp_code *c, uint32_t edge)
{
    return fp_code_fate(c, edge) != FP_FATE_DEAD;
}

/* ---- irregister.c ---- */

/* r for a sum of `value`; r plus `value`, at the builder's place. */
LLVMValueRef fp_code_constant(struct fp_code *c, int64_t value);
LLVMValueRef fp_code_plus(struct fp_code *c, LLVMValueRef r, int64_t value);

/* c->reg[block]. Needs: the registers of the blocks before it in topological order. */
void fp_code_make_register(struct fp_code *c, uint32_t block);

/* A phi at the head of the block, to be filled by fp_code_fill_phis from *values, which
 * is all NULL. */
LLVMValueRef fp_code_new_phi(struct fp_code *c, uint32_t block, LLVMTypeRef type,
                             LLVMValueRef **values);

/* An indirect jump sets r where it arrives: an edge from the hub to a block that also has
 * other ways in gets a block of its own. */
void fp_code_make_arrivals(struct fp_code *c);

/* When all edges that get a block of their own have it. */
void fp_code_fill_phis(struct fp_code *c);

/* ---- irinplace.c ---- */

void fp_code_choose_in_place(struct fp_code *c);

/* r as it is set by assembly behind the edge; NULL where that is not to be done. */
LLVMValueRef fp_code_set_in_place(struct fp_code *c, uint32_t edge);

/* ---- ircycles.c ---- */

LLVMValueRef fp_code_read_cycles(struct fp_code *c);
/* c->entered, at the builder's place. */
void fp_code_enter(struct fp_code *c);
/* What the path that ends at the builder's place took; *now is when it ended. */
LLVMValueRef fp_code_took(struct fp_code *c, LLVMValueRef since, LLVMValueRef *now);
/* c->since[block]. */
void fp_code_make_since(struct fp_code *c, uint32_t block);
/* When the path began that is counted at the builder's place and comes from the block. */
LLVMValueRef fp_code_since_in(struct fp_code *c, uint32_t block);
LLVMValueRef fp_code_since_on_edge(struct fp_code *c, uint32_t edge);

/* ---- irturns.c ---- */

/* If the block heads a short loop, c->turn of all that is in it. */
void fp_code_make_turn(struct fp_code *c, uint32_t header);
/* The counter of the turn, at the builder's place, which is in the block or behind it. */
LLVMValueRef fp_code_in_turn(struct fp_code *c, LLVMValueRef counter, uint32_t block);
/* When all edges that get a block of their own have it. */
void fp_code_fill_turns(struct fp_code *c);

/* ---- irkept.c ---- */

/* The loop that keeps what is counted in the block, on the edge; FP_NONE: none does. */
uint32_t fp_code_keeper_of_block(const struct fp_code *c, uint32_t block);
uint32_t fp_code_keeper_of_edge(const struct fp_code *c, uint32_t edge);
/* Counts a path or a lap for the loop, at the builder's place. */
void fp_code_keep(struct fp_code *c, uint32_t header, int64_t id);
/* Adds what was kept to the counters, where the loops are left. */
void fp_code_add_kept(struct fp_code *c);
/* How far the loop has moved the running register: a variable; its value at the builder's place,
 * NULL for no loop. */
LLVMValueRef fp_code_moved_by(struct fp_code *c, uint32_t header);
LLVMValueRef fp_code_moved(struct fp_code *c, uint32_t header);
/* Moves the running register itself where the loops are left. Needs: no other code on these
 * edges. */
void fp_code_add_moves(struct fp_code *c);

/* ---- irprobe.c ---- */

/* Counts a key in the hash table, at the builder's place. The code is made by
 * fp_code_emit_probes, when no more blocks are looked at. */
void fp_code_probe_later(struct fp_code *c, LLVMValueRef key);
/* The same behind the gate, for r plus `more`. */
void fp_code_pass_later(struct fp_code *c, LLVMValueRef r, int64_t more);
void fp_code_emit_probes(struct fp_code *c);
/* Counts a key of a hash table that is no path's, at the builder's place, which is in front of the
 * instruction. May divide its block. */
void fp_code_count_key(struct fp_code *c, LLVMValueRef before, LLVMValueRef key);

/* ---- irends.c ---- */

/* needs: ir->weights. */
void fp_code_measure_paths(struct fp_code *c);
/* A running register becomes a word of the frame. */
void fp_code_make_word(struct fp_code *c);
/* The only code of a running register: what an edge does to it. */
void fp_code_move_word(struct fp_code *c, uint32_t edge, struct fp_op op);
void fp_code_start_word(struct fp_code *c);

/* A sampled path ends at the builder's place, on the dag edge; it came from the block. keeper: the
 * loop around the place that keeps the running register, or FP_NONE. */
void fp_code_sample(struct fp_code *c, uint32_t dag_edge, uint32_t block, uint32_t keeper);
void fp_code_sample_lap(struct fp_code *c, int64_t id);

/* Chooses the blocks of which all path ends are in front of the branch, and marks their
 * targets. Needs: nothing emitted yet. */
void fp_code_choose_branch_ends(struct fp_code *c);
void fp_code_emit_branch_ends(struct fp_code *c, uint32_t block);

#endif
