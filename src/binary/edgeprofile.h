/* Edge counts of machine code as a profile: the same form that instrumented
 * programs write, with the map of the machine cfg embedded, so that every report
 * works on it.
 */
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

/* Name, file, line, id and cfg of a function that was built. */
void fp_edge_profile_identity(struct fp_edge_profile *profile,
                              const struct fp_machine_function *function, struct fp_function *out);

/* A function that was built, with its calls and a count per cfg edge. */
void fp_edge_profile_add(struct fp_edge_profile *profile,
                         const struct fp_machine_function *function, uint64_t entries,
                         const uint64_t *edges);

/* The run record of the object; `map` is room that must live as long. */
struct fp_run fp_edge_profile_run(struct fp_edge_profile *profile, struct fp_embedded_map *map,
                                  char **args, size_t nargs);
void fp_edge_profile_free(struct fp_edge_profile *profile);

#endif
