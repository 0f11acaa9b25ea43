/* Edge counts of machine code as a profile. The profile has the form that instrumented programs
 * write, with the map of the machine cfg embedded, so that every report works on it. Inference
 * from perf samples and the import of callgrind's counts make such profiles. */
#ifndef FP_BINARY_EDGEPROFILE_H
#define FP_BINARY_EDGEPROFILE_H

#include "profile/runs.h"
#include "binary/dwarflines.h"
#include "binary/machine.h"

struct fp_edge_profile {
    struct fp_arena *arena;
    struct fp_machine machine;
    struct fp_dwarf_lines *lines;
    struct fp_writer map;
    FP_VEC(struct fp_counter) counters;
    uint64_t nwords, nfunctions;
};

void fp_edge_profile_init(struct fp_edge_profile *profile, struct fp_arena *arena,
                          struct fp_object *object);

/* Sets name, file, line, id and cfg of a function whose cfg was made. */
void fp_edge_profile_identity(struct fp_edge_profile *profile,
                              const struct fp_machine_function *function, struct fp_function *out);

/* Adds a function whose cfg was made, with its calls and a count per cfg edge. */
void fp_edge_profile_add(struct fp_edge_profile *profile,
                         const struct fp_machine_function *function, uint64_t entries,
                         const uint64_t *edges);

/* Makes the run record of the object. `map` is room that must live as long as the record. */
struct fp_run fp_edge_profile_run(struct fp_edge_profile *profile, struct fp_embedded_map *map,
                                  char **args, size_t nargs);
void fp_edge_profile_free(struct fp_edge_profile *profile);

#endif
