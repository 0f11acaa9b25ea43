/* From a file of samples to an edge profile of everything that was sampled (paper 003).
 *
 *     struct fp_infer_job job = {.input = "perf.data", .model = FP_COSTS_FOOTPATH};
 *     struct fp_inferred result;
 *     if (fp_infer_read(&job, &result, &error) && result.event < result.data.events.len) {
 *         fp_infer_profile(&job, &result);
 *         ... result.runs, for fp_profile_write
 *     }
 *     fp_inferred_free(&result);
 */
#ifndef FP_PERF_INFERPROFILE_H
#define FP_PERF_INFERPROFILE_H

#include "binary/edgeprofile.h"
#include "perf/attribute.h"
#include "perf/blockweights.h"
#include "perf/infer.h"
#include "profile/profile.h"

/* An event that stalls, and for how many cycles. */
struct fp_stall {
    const char *event;
    double cycles;
};

enum fp_infer_by { FP_INFER_BY_EVENT, FP_INFER_BY_INSTRUCTIONS, FP_INFER_BY_TIME };

struct fp_infer_job {
    const char *input;  /* what perf record or footpath record wrote */
    const char *event;  /* to estimate counts from; NULL: the first */
    const char *module; /* only objects whose name has this in it, or NULL */
    const char *binary; /* the program that was sampled, where it is now, or NULL */
    enum fp_cost_model model;
    enum fp_infer_by by; /* what samples are divided by; BY_EVENT: as the event says */
    const struct fp_stall *stalls;
    size_t nstalls;
    const char *const *without; /* events that classification passes over */
    size_t nwithout;
    bool classify;                  /* blocks, by several events */
    bool no_branches;               /* pass over branch records */
    bool no_registers;              /* pass over registers (forward.h) */
    const struct fp_profile *truth; /* classify by these exact counts; or NULL */
    bool confirm;                   /* classify by events, as far as the exact counts agree */
};

struct fp_inferred {
    struct fp_arena arena;
    struct fp_perf_data data;
    struct fp_attribution found;
    uint32_t event; /* in data.events; their number where there is no such event */
    FP_VEC(struct fp_run) runs;
    FP_VEC(struct fp_edge_profile *) profiles;
    uint64_t samples;   /* in functions that are known */
    uint64_t functions; /* with counts */
    uint64_t records;   /* branch records that were used */
    uint64_t walks;     /* samples that were followed by their registers */
};

bool fp_infer_read(const struct fp_infer_job *job, struct fp_inferred *out, struct fp_error *error);
void fp_infer_profile(const struct fp_infer_job *job, struct fp_inferred *out);
void fp_inferred_free(struct fp_inferred *inferred);

/* Is the object one that the job is about? */
bool fp_infer_wants(const struct fp_infer_job *job, const struct fp_perf_object *object);

#endif
