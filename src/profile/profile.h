/* A profile: the counts of any number of runs of a program, with its map.
 *
 *     struct fp_profile *p = fp_profile_new();
 *     fp_profile_add(p, "footpath.prof", &error);
 *     fp_profile_load_maps(p, &where);
 *     for each module, function: fp_profile_counts(...)
 */
#ifndef FP_PROFILE_PROFILE_H
#define FP_PROFILE_PROFILE_H

#include "base/table.h"
#include "base/vec.h"
#include "profile/program.h"
#include "profile/runs.h"

struct fp_build;
struct fp_counts;

struct fp_module {
    struct fp_module_id id;
    uint64_t runs;
    struct fp_counters counters; /* words of its section, summed over runs */
    struct fp_counters tables;   /* of its hash tables */
    FP_VEC(struct fp_in_flight) in_flight;
    struct fp_table in_flight_at;      /* by what it holds -> 1 + index there */
    FP_VEC(struct fp_caught) caught;   /* functions that are not exact, each once */
    FP_VEC(struct fp_history) history; /* what came before samples, each once */
    struct fp_table history_at;        /* by what it holds -> 1 + index there */
    uint64_t history_dropped;
    struct fp_run about; /* its first run, without counts; start and end of all */
    const struct fp_embedded_map *embedded; /* its map, where the profile has it */
    bool have_program;
    struct fp_program program;
    struct fp_error problem; /* why there is no program */
    /* Per function of the program: counts that do not come from counters (of a combined profile);
     * else NULL. */
    const struct fp_counts *given;
};

struct fp_profile {
    struct fp_arena arena;
    bool alone; /* without the runs that lie beside its files (aside.h) */
    bool brief; /* keep no `runs`: for sums of any number */
    /* A file may have runs of several builds and programs (builds.h). Of each file one is added:
     * that of wanted_build (name, path or build-id of its program) which ran last, or with
     * NULL the last of all. With each_program: of each program the build that ran last. With
     * all_builds: everything. */
    const char *wanted_build;
    bool each_program, all_builds;
    FP_VEC(const struct fp_build *) builds;   /* that were added */
    FP_VEC(const struct fp_build *) left_out; /* and those that were not */
    FP_VEC(struct fp_module *) modules;
    FP_VEC(struct fp_run) runs; /* without counts */
    FP_VEC(const char *) files;
    FP_VEC(const char *) cut; /* files that end before their last record */
    void *owner;              /* freed with the profile, or NULL */
    void (*free_owner)(void *owner);
};

struct fp_profile *fp_profile_new(void);
void fp_profile_free(struct fp_profile *profile);

/* Adds the runs of a file. A run that was written several times (by a dump while
 * it went on) counts once, as it was last. A file that is bad anywhere adds nothing. */
bool fp_profile_add(struct fp_profile *profile, const char *path, struct fp_error *error);
void fp_profile_add_run(struct fp_profile *profile, const struct fp_run *run);
/* The same for a module that the caller owns. */
void fp_module_add_run(struct fp_arena *arena, struct fp_module *module, const struct fp_run *run);
/* Call it after the last run was added and before counts are read. */
void fp_module_sort(struct fp_module *module);
void fp_module_free_counters(struct fp_module *module);

/* Finds the map of each module: in the profile, in its file, or in `binary` where that is of the
 * same build. Modules without one have a problem to report. */
void fp_profile_load_maps(struct fp_profile *profile, const char *binary);

/* Is the program of the module's build? */
bool fp_program_fits(const struct fp_program *program, const struct fp_module_id *id);

struct fp_path_count {
    uint64_t id, count;
    uint64_t cycles; /* where they were measured */
};

struct fp_counts {
    const struct fp_function *function;
    struct fp_path_count *paths; /* executed ones, by id */
    size_t npaths;
    struct fp_partial_path *partials; /* paths that never ended */
    size_t npartials;
    uint64_t *flow; /* per flow edge that has a counter; with FP_FUNCTION_EDGES */
    uint64_t hits;  /* executed operations; with FP_FUNCTION_HITS */
    uint64_t turns; /* in a copy of a division: all calls, also those it does not count paths of */
};

/* The counts of one function of a module whose map is loaded. */
void fp_profile_counts(struct fp_arena *arena, const struct fp_module *module,
                       const struct fp_function *function, struct fp_counts *counts);

/* What a call cost, all that it called included, and how often it returned. */
struct fp_call_cost {
    uint64_t cost, returns;
};

/* Of one function with FP_FUNCTION_CALL_COSTS: per call of source.calls; `again` is the cost of the
 * calls of this function that were made while it was active. NULL for other functions. */
struct fp_call_cost *fp_profile_call_costs(struct fp_arena *arena, const struct fp_module *module,
                                           const struct fp_function *f, uint64_t *again);

/* A value that a call was given (values.h). */
struct fp_value_count {
    uint64_t key, count;
};

/* The values of one function with FP_FUNCTION_VALUES, sorted by key; returns how many. */
size_t fp_profile_values(struct fp_arena *arena, const struct fp_module *module,
                         const struct fp_function *function, struct fp_value_count **values);

/* How many runs there are; a run may have a record per module. */
uint64_t fp_profile_run_count(const struct fp_profile *profile);

/* One run record per module with all of its runs summed, for writing. */
struct fp_run *fp_profile_merged(struct fp_profile *profile, size_t *nruns);

#endif
