/* From perf samples to instructions (paper 003, section 2.1). Replays the changes of address
 * spaces, finds the object and the address that each sample hit, and adds the samples up per
 * event. Samples in the kernel or outside of any file are counted but not attributed. */
#ifndef FP_PERF_ATTRIBUTE_H
#define FP_PERF_ATTRIBUTE_H

#include "binary/object.h"
#include "perf/perfdata.h"

struct fp_hits {
    uint64_t address; /* as linked */
    double *samples;  /* per event: sums of periods, that is how many events occurred */
    uint64_t *counts; /* per event: numbers of samples */
};

struct fp_flow_hits { /* a branch from one address to another, by branch records */
    uint64_t from, to, count;
};

struct fp_register_hit { /* a sample with the program's registers */
    uint64_t address;    /* as linked */
    uint64_t bias;       /* where the object was loaded, less where it is linked */
    uint32_t event;
    const struct fp_perf_registers *registers;
};

struct fp_perf_object {
    const char *path;
    unsigned char build_id[20];
    uint8_t build_id_len;
    uint64_t samples;
    FP_VEC(struct fp_hits) hits;          /* by address */
    FP_VEC(struct fp_flow_hits) branches; /* by from, to */
    FP_VEC(struct fp_flow_hits)
    spans; /* code that ran straight between two branches, by from, to */
    FP_VEC(struct fp_register_hit) register_hits;
    struct fp_object *object; /* opened here, or NULL with a problem */
    struct fp_error problem;
    struct fp_table index, branch_index, span_index;
};

struct fp_attribution {
    struct fp_arena *arena;
    uint32_t nevents;
    FP_VEC(struct fp_perf_object *) objects; /* most samples first */
    uint64_t user, kernel, unmapped;         /* samples */
    bool binary_used;                        /* an object has the name of the given binary */
};

/* Opens every object that was hit. `binary`, if not NULL, is read in place of the object of the
 * same name. */
void fp_attribute(struct fp_arena *arena, const struct fp_perf_data *data, const char *binary,
                  struct fp_attribution *out);
void fp_attribution_close(struct fp_attribution *attribution);

#endif
