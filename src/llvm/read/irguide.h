/* Profiles in the compiler: weights of edges from an earlier run. */
#ifndef FP_LLVM_IRGUIDE_H
#define FP_LLVM_IRGUIDE_H

#include "llvm/read/irgraph.h"
#include "guide/guide.h"

/* A guide, and what became of the functions that were looked up in it. */
struct fp_ir_guide {
    struct fp_arena *arena;
    struct fp_guide guide;
    bool open;
    uint32_t found, stale, absent;
    FP_VEC(const char *) stale_names;
    uint32_t placed, moved; /* of those that changed or are absent: their counts found a place */
    double total_counts, placed_counts; /* executions of blocks of all whose version is known */
};

/* False after saying on stderr what is wrong. */
bool fp_ir_guide_open(struct fp_ir_guide *guide, struct fp_arena *arena, const char *path);

/* Looks the function up and keeps account. id: see fp_guide_find. */
bool fp_ir_guide_find(struct fp_ir_guide *guide, const struct fp_ir *ir, uint64_t id,
                      struct fp_guide_function *found);

/* The same, also for a function that changed, as far as its counts find a place
 * (guide/staleguide.h). share: of the counts; 1 if the function is as it was. */
bool fp_ir_guide_find_stale(struct fp_ir_guide *guide, struct fp_ir *ir, uint64_t id,
                            struct fp_guide_function *found, double *share);

/* One line on stderr if functions were stale. */
void fp_ir_guide_report(const struct fp_ir_guide *guide, const char *module_name);
void fp_ir_guide_close(struct fp_ir_guide *guide);

/* ir->weights from the counts. Edges that were not taken keep a trace of LLVM's
 * estimate, so that there is an order among them. */
void fp_ir_guide_weights(struct fp_ir *ir, const struct fp_guide_function *found);

#endif
