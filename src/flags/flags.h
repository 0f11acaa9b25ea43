/* The flags of footpath-cc (--fp-...), and what they set.
 *
 * fp_flag_table (flags.c) is the one place that knows the flags. From it come the
 * parsing in footpath-cc (tool/cc.c), what footpath-cc tells the plugin, the plugin's
 * own reading of that, --fp-help, `footpath completion`, and the test docs-flags, which
 * compares the documents with it. A new flag is one line in the table and one field in
 * struct fp_flags.
 */
#ifndef FP_FLAGS_FLAGS_H
#define FP_FLAGS_FLAGS_H

#include "flags/point.h"

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* By this variable footpath-cc hands flags to the plugin: lines NAME=VALUE, so that file
 * names may hold spaces. */
#define FP_PLUGIN_VARIABLE "FOOTPATH_PLUGIN"

/* Set for tests: the module is verified after the plugin, and the compiler stops where it
 * is not valid. */
#define FP_VERIFY_VARIABLE "FOOTPATH_VERIFY_IR"

/* The values of an enum are in the order of the words in the flag's line of the table. */
enum fp_mode {
    FP_MODE_PATH,
    FP_MODE_EDGE,
    FP_MODE_EDGE_MIN,
    FP_MODE_CHECK,
    FP_MODE_PEP,
    FP_MODE_NONE
};

/* How a sampled path is noticed where it ends: in a second body of the code, by a trap that
 * the runtime puts there, or by testing a flag. To the plugin the first two are one. */
enum fp_pep { FP_PEP_BODY, FP_PEP_TRAP, FP_PEP_FLAG };

enum fp_threads { FP_THREADS_LOCAL, FP_THREADS_SHARED, FP_THREADS_ATOMIC };

/* Where paths end though nothing compels them: at the doors of hot loops and where
 * counters then fit an array, only the latter, or only where ids would not fit. */
enum fp_cuts { FP_CUTS_FIT, FP_CUTS_FEW, FP_CUTS_PAPER, FP_CUTS_LOOPS };
enum fp_copies { FP_COPIES_YES, FP_COPIES_NO, FP_COPIES_ALL };

/* use: copies that save branches; none, by the profile's edges alone; also copies that
 * only make branches easier to predict. */
enum fp_use_paths { FP_PATHS_YES, FP_PATHS_NO, FP_PATHS_MORE };

/* What becomes of the map in a linked program: compressed there, left there as it is, or
 * moved to a file beside the program. */
enum fp_map_place { FP_MAP_PACKED, FP_MAP_PLAIN, FP_MAP_SEPARATE };

/* What a path took: nothing is measured, its own cycles, or with those of the functions that it
 * called. */
enum fp_metric_of_paths { FP_METRIC_COUNT, FP_METRIC_CYCLES, FP_METRIC_INCLUSIVE };

/* What is known of a call: how often it was made, or also what it cost with all that it called. */
enum fp_calls { FP_CALLS_COUNT, FP_CALLS_INCLUSIVE };

/* The flags' values. Texts are NULL where the flag is not given. */
struct fp_flags {
    enum fp_mode mode;
    enum fp_pep pep;
    enum fp_threads threads;
    enum fp_cuts cuts;
    enum fp_copies copies;
    enum fp_map_place map;
    enum fp_use_paths paths;
    unsigned by;                    /* enum fp_guide_by: how several runs are taken together */
    enum fp_metric_of_paths cycles; /* what is measured beside the count */
    enum fp_calls calls;
    bool machine_costs;  /* of blocks: an estimate of machine instructions */
    enum fp_point early; /* not 0: before optimisation, and where */
    bool exits;
    bool live;                /* of a link: counters are live without a variable */
    bool inline_small;        /* early: small functions are inlined before counting */
    bool strip_lines;         /* line tables were only asked for by footpath-cc, for the map */
    bool strip_names;         /* so were names of blocks, for the survey (llvm/sense) */
    bool static_weights;      /* our estimates instead of LLVM's */
    bool values;              /* early: count what calls are given (count/values.h) */
    bool plain_labels;        /* no weights: all edges alike */
    bool hits;                /* count executed operations */
    bool callees;             /* list calls in the map */
    bool query;               /* the program may ask for its own paths (footpath/runtime.h) */
    bool remarks;             /* use: say what is done */
    bool eager_copies;        /* use: see fp_ir_super */
    bool help;                /* --fp-help */
    uint64_t array_paths;     /* functions with more paths count in a table */
    double loop_entries;      /* see fp_limits; 0: by what weights are worth */
    uint32_t copy;            /* which copy of the division this is */
    const char *division;     /* file that says what each copy counts */
    const char *allow, *deny; /* lists of patterns */
    const char *dump;         /* list of patterns: functions to print */
    const char *guide;        /* a guide: counts of an earlier run */
    const char *use;          /* a guide, to optimise by */
    const char *base;         /* names of files below this folder are taken relative to it */
    const char *llvm, *out;
    uint64_t given; /* bit i: the flag of line i of the table was given */
};

#define FP_FLAGS_DEFAULT (struct fp_flags){.mode = FP_MODE_NONE, .array_paths = 4096}

/* What stands behind "=". A switch has no "=". */
enum fp_flag_form {
    FP_FLAG_SWITCH,
    FP_FLAG_WORD,    /* one of a few words */
    FP_FLAG_NUMBER,  /* digits */
    FP_FLAG_REAL,    /* a number that may have a fraction */
    FP_FLAG_TEXT,    /* anything */
    FP_FLAG_FILE,    /* a file that exists */
    FP_FLAG_LIST,    /* a file that exists, or patterns with commas between */
    FP_FLAG_PROFILE, /* a profile or a guide; footpath-cc makes a guide of a profile */
};

enum fp_flag_taker {
    FP_FLAG_FOR_DRIVER, /* footpath-cc alone, in compilations or links */
    FP_FLAG_FOR_PLUGIN, /* footpath-cc too, which hands it on */
    FP_FLAG_INTERNAL,   /* the plugin; set by footpath-cc, not a flag for people */
};

struct fp_flag {
    const char *name; /* what follows "--fp-" */
    enum fp_flag_form form;
    enum fp_flag_taker taker;
    const char *value; /* WORD: the words, with blanks between. Else what --help calls the value */
    size_t offset, size; /* of its field in struct fp_flags */
    const char *help;
};

extern const struct fp_flag fp_flag_table[];
extern const size_t fp_nflags;

/* The flag with this name, which is `len` long, or NULL. */
const struct fp_flag *fp_flag_find(const char *name, size_t len);

/* Sets the flag's field. `value` is kept, not copied; of a switch it is "1" or "0". False
 * where the value is not of the flag's form; files are not looked at. */
bool fp_flag_set(const struct fp_flag *flag, struct fp_flags *flags, const char *value);

bool fp_flag_given(const struct fp_flags *flags, const char *name);

/* Word `which` of a flag of words, and its length; NULL behind the last. */
const char *fp_flag_word(const struct fp_flag *flag, size_t which, size_t *len);

/* text: as in FP_PLUGIN_VARIABLE; NULL gives the defaults. */
bool fp_flags_read(struct fp_arena *arena, const char *text, struct fp_flags *flags,
                   struct fp_error *error);

#endif
