/* Exact path counts in a program without its source: `footpath exe PROGRAM -o OUT`.
 *
 * Functions of PROGRAM are moved, with counters, into a new segment of OUT. Their old code is
 * replaced by jumps to the new one and by traps. docs/executables.md explains it. */
#ifndef FP_EXE_EXE_H
#define FP_EXE_EXE_H

#include "base/arena.h"
#include "base/error.h"

/* Where paths end besides back edges: as --fp-cuts of footpath-cc, but that paths are always
 * counted in arrays. */
enum fp_exe_cuts {
    FP_EXE_CUTS_FIT,   /* where a function has more than 65,536 paths; 4,096 in a large file */
    FP_EXE_CUTS_FEW,   /* where a function has more than 16,777,216 paths */
    FP_EXE_CUTS_PAPER, /* nowhere, and no laps; functions with more paths are left alone */
    FP_EXE_CUTS_LOOPS, /* as FIT, and where hot loops are entered */
};

/* Blocks are copied so that sums of paths are constants there (copiedcode.h). */
enum { FP_EXE_COPIES = 50, FP_EXE_MOST_COPIES = 1000 };

struct fp_exe_options {
    const char *runtime; /* file of the runtime, or NULL for the installed one */
    const char *graph;   /* file for the graphs of counted functions (exegraph.c), or NULL */
    unsigned cuts;       /* enum fp_exe_cuts */
    const char *guide;   /* an earlier profile of the program, or NULL */
    bool copies_given;   /* else `copies` is as FP_EXE_COPIES says */
    unsigned copies;     /* bytes of copied blocks, percent of the code that is counted */
    bool no_exits;       /* a path in flight when a frame is left for good is not counted */
    const char *only;    /* for tests: move functions of this name alone, or NULL: all */
    /* for tests: "NAME:N" takes an edge of a jump table out of the graph of a function, to see
     * that an error in a graph is reported; or NULL */
    const char *drop_edge;
    /* called now and then with the number of functions that are done, of `total`; or NULL */
    void (*progress)(void *context, size_t done, size_t total);
    void *context;
};

struct fp_exe_summary {
    uint64_t counted, left_alone; /* functions */
    uint64_t counted_bytes, left_alone_bytes;
    uint64_t counters; /* words */
    uint64_t code;     /* bytes of new code */
    uint64_t copies;   /* bytes of copied blocks, of these */
    uint64_t bare;     /* of a static program: bytes of code without unwind tables, ... */
    uint64_t text;     /* ... and of all its code */
};

/* Rewrites `in` as `out`. */
bool fp_exe_rewrite(struct fp_arena *arena, const char *in, const char *out,
                    const struct fp_exe_options *options, struct fp_exe_summary *summary,
                    struct fp_error *error);

#endif
