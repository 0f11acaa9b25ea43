/* The guide: what a compilation needs from profiles, in one small file.
 *
 * Per function it holds how often the function was entered, how often each edge was taken,
 * and the most frequent paths; for the whole program a summary of block counts, by which
 * LLVM tells hot from cold. makeguide.h makes a guide from profiles. The compiler plugin
 * opens it once (fp_guide_open) and looks each function up (fp_guide_find), which needs no
 * libelf. docs/formats/guide.md describes the bytes.
 *
 * A function is found by linkage name, file and shape. A static function of a header may be
 * compiled into several objects; its copies agree in all three. They are told apart by
 * their id where the id is known, and added up where it is not. A function that changed
 * gets the counts of its earlier version as far as they find a place in it: staleguide.h.
 */
#ifndef FP_GUIDE_GUIDE_H
#define FP_GUIDE_GUIDE_H

#include "base/io.h"
#include "base/varint.h"
#include "base/vec.h"
#include "count/function.h"
#include "count/blockmarks.h"
#include "count/values.h"
#include "graph/placecounts.h"

struct fp_guide_path {
    uint64_t count;
    bool from_entry; /* else it starts at first_block behind a truncated edge */
    uint32_t first_block;
    uint32_t end_edge; /* the truncated edge that ends it, or FP_NONE */
    uint32_t nedges;
    uint32_t *edges; /* kept edges in between */
};

/* What a call was given: see values.h. */
struct fp_guide_value {
    enum fp_value_kind kind;
    uint32_t site;
    uint64_t count;
    uint64_t size;      /* of a memory operation */
    const char *target; /* of an indirect call: its linkage name */
};

/* What the counts are of, so that they find a place in another version of the function. */
struct fp_guide_version {
    struct fp_cfg *cfg;
    struct fp_block_mark *marks;    /* per block: blockmarks.h */
    struct fp_value_sites sites[2]; /* by enum fp_value_kind */
};

struct fp_guide_function {
    uint64_t key;     /* of name and file: fp_name_key */
    uint64_t shape;   /* fp_cfg_hash */
    uint64_t content; /* fp_function_content; 0 before version 3 */
    uint64_t id;      /* as in the map; 0 where several were added up */
    uint32_t flags;   /* the next three are what went into the id */
    uint64_t path_slots, edge_slots;
    uint64_t entries;
    uint32_t nedges, npaths;
    uint64_t *edges;               /* taken, per cfg edge */
    struct fp_guide_path *paths;   /* most frequent first */
    struct fp_guide_value *values; /* by kind and site, the most frequent first */
    uint32_t nvalues;
    struct fp_guide_version version; /* of what ran; cfg NULL: none, or not read */
    struct fp_bitset guessed; /* of what found another place: placecounts.h; words NULL: none */
};

/* As LLVM's ProfileSummary. A cutoff of 990000: blocks that ran at least
 * min_count times, num_counts of them, make up 99% of all counts. */
struct fp_guide_cutoff {
    uint32_t cutoff;
    uint64_t min_count, num_counts;
};

struct fp_guide_summary {
    uint64_t total, max_count, max_inner, max_entries;
    uint64_t num_counts, num_functions;
    struct fp_guide_cutoff *cutoffs;
    uint32_t ncutoffs;
};

/* What the guide was made from, so that a cached one is known to be old. */
struct fp_guide_source {
    uint64_t size, time_ns;
};

struct fp_guide {
    struct fp_guide_source source;
    struct fp_guide_summary summary;
    struct fp_guide_function *functions; /* by key, then shape; edges and paths not read */
    size_t nfunctions;
    struct fp_file file;
    size_t *offsets; /* of the counts of each function */
    uint32_t format; /* version of the file */
};

/* Functions may be in any order; they are sorted. */
void fp_guide_encode(struct fp_writer *out, const struct fp_guide_source *source,
                     const struct fp_guide_summary *summary, struct fp_guide_function *functions,
                     size_t nfunctions);

bool fp_guide_open(struct fp_arena *arena, const char *path, struct fp_guide *guide,
                   struct fp_error *error);
void fp_guide_close(struct fp_guide *guide);

/* Is the file a guide at all? */
bool fp_guide_is(const char *path);

enum fp_guide_match {
    FP_GUIDE_ABSENT, /* not in the profile */
    FP_GUIDE_STALE,  /* a function of this name and file is, but of another shape */
    FP_GUIDE_FOUND,
};

/* id: the part of the function's id that is known before its counters are laid out
 * (fp_function_id computes the rest). */
enum fp_guide_match fp_guide_find(struct fp_arena *arena, const struct fp_guide *guide,
                                  const struct fp_function *function, uint64_t id,
                                  struct fp_guide_function *found);

/* ---- for staleguide.c ---- */

/* The first function of a key; nfunctions or one of another key where there is none. */
size_t fp_guide_first(const struct fp_guide *guide, uint64_t key);
enum fp_guide_kept { FP_GUIDE_NO_VERSION, FP_GUIDE_NEVER_RAN, FP_GUIDE_VERSION };

/* The counts of one function with its version. Of a function that never ran there are none. */
enum fp_guide_kept fp_guide_read(struct fp_arena *arena, const struct fp_guide *guide, size_t index,
                                 struct fp_guide_function *found);

#endif
