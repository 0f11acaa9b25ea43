/* What the driver's steps work on: one module, and in it one function after another. */
#ifndef FP_LLVM_WORK_H
#define FP_LLVM_WORK_H

#include "count/function.h"
#include "flags/flags.h"
#include "llvm/read/filter.h"
#include "llvm/read/ircost.h"
#include "llvm/read/irgraph.h"
#include "llvm/read/irguide.h"
#include "p3/division.h"

struct fp_work {
    LLVMModuleRef module;
    struct fp_arena arena;
    struct fp_flags flags;
    struct fp_filter filter;
    bool optimizing;      /* at -O1 or above */
    bool optimized_later; /* by the linker, or by whoever takes the bitcode */
    uint64_t module_hash; /* tells static functions of one name apart */
    struct fp_ir_guide guide;
    const struct fp_division *division;           /* in a copy of P3, else NULL */
    const struct fp_machine_costs *machine_costs; /* of blocks, or NULL */
    bool any;                                     /* some function was looked at */
    bool later;      /* the late point of an early build: coroutines, which have been split */
    bool some_later; /* the early point left some to it */
};

struct fp_job {
    struct fp_work *work;
    struct fp_arena *arena; /* of this function */
    struct fp_ir *ir;
    struct fp_function *f;
    bool measured;                /* ir->weights are of a run, not estimates */
    double share;                 /* if measured: one call, of all blocks that ran */
    uint64_t base;                /* of the function's id, as a guide knows it */
    struct fp_job_copies *copies; /* or NULL: codecopies.h */
    struct fp_plan *plan;         /* NULL where paths are not counted */
    enum fp_pep pep;              /* how samples of its paths are taken */
    const struct fp_part *part;   /* with a division: this function's entry in it */
    struct fp_copy_info copy;
};

/* Says on stderr what is wrong; returns false. The plugin lives in the compiler: it leaves
 * the module as it is then. */
bool fp_say_error(const struct fp_error *error, const char *what_to_do);

#endif
