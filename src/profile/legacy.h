/* The profile files of LLVM 2.8 to 3.3 (llvmprof.out, paper 000): docs/formats/legacy.md.
 *
 * A file is a sequence of packets of 32-bit words, one set per run. Functions and edges are
 * known by their place in one whole-program module, and paths by their number. So a file only
 * goes with a program that was made from one bitcode file.
 */
#ifndef FP_PROFILE_LEGACY_H
#define FP_PROFILE_LEGACY_H

#include "base/varint.h"
#include "profile/profile.h"

enum fp_legacy_packet {
    FP_LEGACY_ARGUMENTS = 1,
    FP_LEGACY_FUNCTIONS = 2,
    FP_LEGACY_BLOCKS = 3,
    FP_LEGACY_EDGES = 4,
    FP_LEGACY_PATHS = 5,
    FP_LEGACY_TRACE = 6,
    FP_LEGACY_OPTIMAL_EDGES = 7,
    FP_LEGACY_COMBINED_EDGES = 8,
    FP_LEGACY_COMBINED_PATHS = 9,
};

#define FP_LEGACY_UNKNOWN UINT32_MAX /* an optimal edge counter that was not placed */

/* Functions in the order of their module, skipped ones left out. */
const struct fp_function **fp_legacy_order(struct fp_arena *arena, const struct fp_program *program,
                                           size_t *count);

/* The edges of a function as legacy files list them: first the entry (FP_NONE), then for each
 * block of the IR each way out. A block that setjmp or a landing pad divides in our cfg is one
 * block there. */
uint32_t *fp_legacy_edges(struct fp_arena *arena, const struct fp_function *function,
                          size_t *count);

void fp_legacy_write_arguments(struct fp_writer *out, char *const *args, size_t nargs);
void fp_legacy_write_counts(struct fp_writer *out, enum fp_legacy_packet type,
                            const uint64_t *counts, size_t count);

/* Counts of a function's paths. A path number above 32 bits is an error. */
struct fp_legacy_path_entry {
    uint64_t path, count;
};
struct fp_legacy_function_paths {
    uint32_t number; /* from 1 */
    const struct fp_legacy_path_entry *entries;
    size_t nentries;
};
bool fp_legacy_write_paths(struct fp_writer *out, const struct fp_legacy_function_paths *functions,
                           size_t nfunctions, struct fp_error *error);

/* Reads one packet at a time. `words` points into the input. */
struct fp_legacy_reader {
    struct fp_reader r;
    enum fp_legacy_packet type;
    const char *arguments;
    const unsigned char *words; /* little-endian; of counts */
    size_t nwords;
};
/* False at the end, and on errors with r.failed set. For paths the words are the packet's body. */
bool fp_legacy_next(struct fp_arena *arena, struct fp_legacy_reader *reader);
uint32_t fp_legacy_word(const struct fp_legacy_reader *reader, size_t index);

#endif
