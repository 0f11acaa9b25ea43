/* What the compiler wrapper asks of the plugin (plugin_env.h). */
#ifndef FP_LLVM_OPTIONS_H
#define FP_LLVM_OPTIONS_H

#include "base/arena.h"
#include "base/error.h"
#include "llvm/emit/iredit.h"
#include "llvm/plugin_env.h"

enum fp_mode {
    FP_MODE_NONE,
    FP_MODE_PATH,
    FP_MODE_EDGE,
    FP_MODE_EDGE_MIN,
    FP_MODE_CHECK,
    FP_MODE_PEP
};

/* How a sampled path is noticed where it ends: by a trap that the runtime puts there,
 * or by testing a flag. */
enum fp_pep { FP_PEP_TRAP, FP_PEP_FLAG };

/* Where paths end though nothing compels them: at the doors of hot loops and where
 * counters then fit an array, only the latter, or only where ids would not fit. */
enum fp_cuts { FP_CUTS_LOOPS, FP_CUTS_FIT, FP_CUTS_FEW };

struct fp_llvm_options {
    enum fp_mode mode;
    enum fp_pep pep;
    enum fp_threads threads;
    bool early, exits, cycles;
    bool inline_small;    /* early: small functions are inlined before counting */
    bool strip_lines;     /* line tables were only asked for by the wrapper, for the map */
    uint64_t array_paths; /* above, a hash table */
    bool static_weights;  /* ours instead of LLVM's */
    bool values;          /* early: count what calls are given (count/values.h) */
    enum fp_cuts cuts;
    const char *allow, *deny; /* lists of patterns, or NULL */
    double loop_entries;      /* see fp_limits; 0: by what weights are worth */
    const char *guide;        /* a guide: counts of an earlier run */
    const char *plan;         /* file of a division, or NULL */
    uint32_t copy;            /* which copy of it this is */
    bool plain_labels;        /* no weights: all edges alike */
    bool hits;                /* count executed operations */
    bool callees;             /* list calls in the map */
    const char *base;         /* names of files below this folder are taken relative to it */
    const char *use;          /* a guide, to optimise by */
    bool no_paths;            /* by its edges alone */
    bool remarks;             /* say what is done */
    bool eager_copies;        /* see fp_ir_super */
};

/* text: as in the variable; NULL gives mode none. */
bool fp_llvm_options_parse(struct fp_arena *arena, const char *text,
                           struct fp_llvm_options *options, struct fp_error *error);

#endif
