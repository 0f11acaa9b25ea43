/* What is counted in a function of machine code, and where: the plan, and its operations placed
 * in front of instructions or on edges.
 *
 * The path register lives in regions: blocks joined by edges that carry its value on. A region
 * has a home: a general register that the program does not need anywhere in it, or the slot of
 * the frame. No register is free across a call, so a region with a call has the slot. On an edge
 * between two regions the value moves from home to home.
 */
#ifndef FP_EXE_COUNTING_H
#define FP_EXE_COUNTING_H

#include "count/function.h"
#include "exe/exe.h"
#include "exe/stacktrack.h"

enum { FP_HOME_SLOT = 16, FP_HOME_NONE = 17 }; /* else a register */

/* What an operation is for. */
enum fp_op_role {
    FP_ROLE_EDGE,   /* of `edge`: its operation number `index` */
    FP_ROLE_AT_END, /* a count in front of a branch, whichever way is taken */
    FP_ROLE_EXIT,   /* the path ends with the function */
    FP_ROLE_EARLY,  /* sets what only a later block reads */
};

struct fp_placed_op {
    struct fp_op op;
    uint32_t region; /* a block that stands for it; of COUNT: FP_NONE */
    uint32_t edge;
    uint8_t role, index;
};
typedef FP_VEC(struct fp_placed_op) fp_placed_ops;

/* Where code on an edge stands: at the top of the target, at the end of the source, between the
 * two, or in code of its own. */
enum fp_op_stand { FP_STAND_NONE, FP_STAND_TOP, FP_STAND_END, FP_STAND_BETWEEN, FP_STAND_APART };

struct fp_copied_code; /* copiedcode.h */

struct fp_counting {
    struct fp_arena *arena;
    const struct fp_machine *machine;
    struct fp_machine_function *m;
    struct fp_function *f;
    struct fp_paths paths;         /* of m: those of f, or with copies of blocks */
    struct fp_copied_code *copied; /* NULL: no blocks are copied */
    double *weights;
    struct fp_plan *plan;
    struct fp_liveness liveness;
    struct fp_stack stack;

    fp_placed_ops entry;    /* where the function is called */
    fp_placed_ops *before;  /* per instruction: in front of it */
    fp_placed_ops *between; /* per edge: behind its source, where control falls through */
    fp_placed_ops *apart;   /* per edge: in code of its own that then jumps */
    uint32_t *top;          /* per block: the edge whose operations stand in it, or FP_NONE */
    bool *live;             /* per block: the register is needed on entering it */
    uint32_t *region;       /* per block */
    uint8_t *move;          /* per edge: where the value moves between regions (enum fp_op_stand) */
    uint8_t *home;          /* per region */
    bool uses_slot;
    bool exits; /* wanted: wherever a frame is left, its path is known */
};

/* Truncation, numbering, layout, plan. NULL, or why the function cannot be counted so. text: bytes
 * of code in the file. needs: machine, m, f with flags, arena. */
const char *fp_counting_plan(struct fp_counting *counting, enum fp_exe_cuts cuts, uint64_t text);

/* Plans again with measured weights: how often the edges were taken. Paths and ids stay. */
void fp_counting_replan(struct fp_counting *counting, const uint64_t *edges, uint64_t calls);

/* What the plan is told about m: where code apart would be needed. In the arena. */
struct fp_plan_options fp_counting_plan_options(struct fp_counting *counting);

/* Places the operations; chooses homes. NULL, or why the function cannot be counted.
 * needs: a plan, liveness, stack. */
const char *fp_counting_place(struct fp_counting *counting);

/* The operations of an edge that stand on it or beside it, in their order. */
fp_placed_ops fp_counting_on_edge(struct fp_counting *counting, uint32_t edge);

/* Joins blocks to regions. Per edge: does it carry the value on, and can the value move there?
 * needs: weights, liveness. */
void fp_counting_find_regions(struct fp_counting *counting, const bool *carried,
                              const bool *can_move);

/* Gives regions the slot for a home where a register costs more moves than it saves. taken: per
 * region, registers that cannot be its home. needs: homes. */
void fp_counting_settle_homes(struct fp_counting *counting, const uint32_t *taken);

/* Chooses a home for every region. needs: operations in their places. */
void fp_counting_choose_homes(struct fp_counting *counting);

/* The edge by which control falls out of a block behind its last instruction, or FP_NONE; and the
 * one by which the jump at its end leads on. */
uint32_t fp_counting_falls(const struct fp_machine_function *m, uint32_t block);
uint32_t fp_counting_jumps(const struct fp_machine_function *m, uint32_t block);

/* Live registers where control is about to enter a block. */
static inline uint32_t fp_counting_last(const struct fp_machine_function *m, uint32_t block)
{
    return m->blocks[block].first_insn + m->blocks[block].ninsns - 1;
}

static inline bool fp_counting_has_code(const struct fp_machine_function *m, uint32_t block)
{
    return m->blocks[block].ninsns != 0;
}

#endif
