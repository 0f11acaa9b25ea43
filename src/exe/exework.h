/* What the steps of exe.c share: the program that is rewritten, and its functions. */
#ifndef FP_EXE_EXEWORK_H
#define FP_EXE_EXEWORK_H

#include "binary/dwarflines.h"
#include "binary/frames.h"
#include "binary/moving.h"
#include "exe/copiedcode.h"
#include "exe/exe.h"
#include "exe/exeguide.h"
#include "exe/image.h"
#include "exe/movedcode.h"
#include "exe/newframes.h"

/* What is to be in a function's path register if control comes to an old instruction that the
 * graph did not expect: a sum that some path has there. */
struct fp_trap_sum {
    uint8_t home; /* FP_HOME_NONE: nothing is needed */
    uint8_t base; /* of a slot: its place is base + disp */
    int32_t disp;
    int64_t value;
};

struct fp_exe_function {
    struct fp_machine_function *m;
    const char *left_alone; /* why it is not counted, or NULL */
    struct fp_function f;
    struct fp_moving moving;
    struct fp_moved_code code;
    struct fp_trap_sum *trap_sums; /* per instruction */
    uint64_t *lsdas;               /* per range: where the new one is */
    uint64_t start;                /* of the new code */
    uint32_t trap_function;        /* its number in the runtime's record, once it is replaced */
};

struct fp_exe_work {
    struct fp_arena *arena;
    const struct fp_exe_options *options;
    struct fp_error *error;
    struct fp_image *image;
    struct fp_object object;
    const char *path; /* of the program, from the root: the profile tells it */
    struct fp_frames old_frames;
    struct fp_machine machine;
    struct fp_dwarf_lines *lines;
    struct fp_new_frames frames;
    struct fp_kernel_calls calls; /* of a static program */
    struct fp_exe_function *functions;
    size_t nfunctions;
    struct fp_exe_guide *guide; /* NULL: none is given */
    double least_gain;          /* with a guide: executions of a copy for each of its bytes */
    struct fp_table entries;    /* old address of a counted function's entry -> 1 + index */
    struct fp_writer map;
    struct fp_exe_summary *summary;
};

/* With a guide: finds out which copies of blocks are worth their bytes, in all functions together
 * (copybudget.c). */
void fp_exe_find_budget(struct fp_exe_work *work);

/* What a function may take for copies of blocks. calls: of the guide. */
struct fp_copy_budget fp_exe_budget(const struct fp_exe_work *work,
                                    const struct fp_machine_function *function, uint64_t calls);

/* Plans a function, with the guide's weights where it has some. `calls`: as the guide says, or 0.
 * NULL, or why it cannot be counted. */
const char *fp_exe_plan(struct fp_exe_work *work, struct fp_counting *counting, uint64_t *calls);

/* Makes the new code of a function, or says in left_alone why not. */
void fp_exe_prepare(struct fp_exe_work *work, struct fp_exe_function *function);

/* Replaces a counted function's old code: jumps where it is entered, traps elsewhere. */
bool fp_exe_replace_old(struct fp_exe_work *work, struct fp_exe_function *function);

/* Makes the runtime see calls of the kernel and longjmp in the code that is not moved, of static
 * programs (barecode.h). */
bool fp_exe_see_bare(struct fp_exe_work *work);

/* Marks of its new code: which path a frame there has in flight. */
void fp_exe_add_marks(struct fp_exe_work *work, const struct fp_exe_function *function);

/* Makes a personality function for each of the old ones, and for functions that had none. */
bool fp_exe_wrap_personalities(struct fp_exe_work *work);

/* The map record of a function, counted or not. */
void fp_exe_describe(struct fp_exe_work *work, struct fp_exe_function *function);

/* Writes the graphs where the options ask for them. */
bool fp_exe_write_graph(struct fp_exe_work *work);

#endif
