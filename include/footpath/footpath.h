/* libfootpath: profiles of paths, for tools and for optimisations.
 *
 *     const char *profiles[] = {"footpath.prof", NULL};
 *     struct footpath *fp = footpath_open(&(struct footpath_options){.profiles = profiles});
 *     if (footpath_status(fp)) fprintf(stderr, "%s\n", footpath_error(fp));
 *     size_t nfunctions, npaths;
 *     const struct footpath_function *functions = footpath_functions(fp, &nfunctions);
 *     for (size_t i = 0; i < nfunctions; i++) {
 *         const struct footpath_path *const *paths = footpath_paths(fp, &functions[i], &npaths);
 *         for (size_t k = 0; k < npaths; k++) {
 *             struct footpath_route route;
 *             if (footpath_decode(fp, paths[k], &route)) ... route.steps ...
 *         }
 *     }
 *     footpath_close(fp);
 *
 * Lifetimes: what a call returns belongs to the handle and lives until footpath_close,
 * unchanged. Two exceptions, both said where they are declared: a decoded route, and the
 * text of one.
 *
 * Threads: a handle is for one thread at a time; different handles for different threads.
 *
 * No call prints, exits or changes a file. Without memory the process aborts.
 *
 * Link with `pkg-config --cflags --libs footpath`. `footpath show` is written on this
 * header alone. docs/library.md has more.
 */
#ifndef FOOTPATH_FOOTPATH_H
#define FOOTPATH_FOOTPATH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows with each change of this header. footpath_api_version() is the library's: a
 * program may go on where both are equal. */
#define FOOTPATH_API_VERSION 5
#define FOOTPATH_PUBLIC __attribute__((visibility("default")))
#define FOOTPATH_NONE UINT32_MAX  /* no block, no edge */
#define FOOTPATH_NO_ID UINT64_MAX /* no path */

FOOTPATH_PUBLIC int footpath_api_version(void);

/* ---- opening ---- */

struct footpath;

struct footpath_options {
    const char *const *profiles; /* names of files, NULL at the end */
    const char *binary;          /* the program that ran, where it was moved; or NULL */
    const char *program;         /* whose runs: name, path or build-id; NULL: who ran last */
    int all_programs;            /* the runs of all programs and builds */
    const char *function;        /* only functions whose name contains this; NULL: all */
    int strict;                  /* a bad file among several is an error, not skipped */
    int edges; /* count edges and blocks at once: faster, if most of them will be asked for */
};

enum footpath_result {
    FOOTPATH_OPENED,
    FOOTPATH_BAD_PROFILE, /* a file cannot be read */
    FOOTPATH_BAD_BINARY,  /* `binary` is no program with a map */
    FOOTPATH_NO_RUNS,     /* the files hold no runs */
    FOOTPATH_NO_PROGRAM,  /* not one of the modules that ran was found */
};

/* Opens profiles of runs, which are added up; or, where the first one is a combined profile,
 * combined profiles and runs, which are combined. Opens what is there: a file or a module
 * that is missing is a warning as long as there are others. Never NULL. */
FOOTPATH_PUBLIC struct footpath *footpath_open(const struct footpath_options *options);
FOOTPATH_PUBLIC void footpath_close(struct footpath *fp);

/* Other than FOOTPATH_OPENED: there are no functions, and footpath_error says why. */
FOOTPATH_PUBLIC enum footpath_result footpath_status(const struct footpath *fp);
/* "FILE: what happened", or NULL. */
FOOTPATH_PUBLIC const char *footpath_error(const struct footpath *fp);

enum footpath_warning_kind {
    FOOTPATH_WARNING_SKIPPED,     /* the file cannot be read */
    FOOTPATH_WARNING_CUT,         /* the file ends in the middle of a record */
    FOOTPATH_WARNING_ALSO,        /* the file also has runs of other programs or builds */
    FOOTPATH_WARNING_NO_PROGRAM,  /* the module was not found: it has no functions */
    FOOTPATH_WARNING_OTHER_BUILD, /* `binary` is the program of no module */
    FOOTPATH_WARNING_NOT_EXACT,   /* some functions of a rewritten program are not exact */
};

struct footpath_warning {
    enum footpath_warning_kind kind;
    const char *message; /* "FILE: what happened" */
};

/* In the order in which they were found; those of a failed opening too. */
FOOTPATH_PUBLIC const struct footpath_warning *footpath_warnings(const struct footpath *fp,
                                                                 size_t *count);

/* The profiles that were read, as they were named: without those that were skipped. */
FOOTPATH_PUBLIC const char *const *footpath_files(const struct footpath *fp, size_t *count);

/* An executable or shared library that ran. */
struct footpath_module {
    const char *path; /* of its file when it ran */
    const unsigned char *build_id;
    size_t build_id_size;
    uint64_t runs;
    const char *problem; /* why its functions are not known, or NULL */
};

FOOTPATH_PUBLIC const struct footpath_module *footpath_modules(const struct footpath *fp,
                                                               size_t *count);

enum { FOOTPATH_EVENT_KINDS = 4 };

struct footpath_summary {
    size_t files, files_skipped; /* asked for, bad */
    size_t functions;            /* of the profile, whatever options.function says */
    uint64_t runs;
    const char *program; /* the first that ran, as it was called; NULL without runs */
    int combined;        /* a combined profile: see footpath_events */
    int has_paths;       /* else edges alone were counted */
    int cycles;          /* costs are in cycles, else in instructions */
    int inclusive;       /* and with those of callees: `cost` is that of the greatest function */
    double cost;         /* of all functions, also those that `function` leaves out */
    uint64_t path_count; /* executions of all paths */
    /* of a combined profile */
    uint32_t bins;                         /* at most, of its histograms */
    uint64_t events[FOOTPATH_EVENT_KINDS]; /* by enum footpath_event_kind */
    uint64_t left_out;                     /* functions, run by run, whose counts were no flow */
    const char *left_out_why;              /* of the first, or NULL */
    int call_costs;    /* what calls cost was measured (--fp-calls=inclusive), else shared out */
    uint64_t programs; /* how many have runs, by their names; 0 of a combined profile */
};

FOOTPATH_PUBLIC void footpath_summarize(struct footpath *fp, struct footpath_summary *summary);

/* ---- functions ---- */

struct footpath_function {
    const char *linkage_name;
    const char *file;
    uint32_t line;
    uint32_t index;                       /* in what footpath_functions returns */
    const struct footpath_module *module; /* NULL in a combined profile */
    const char *not_measured;             /* why it has no counters, or NULL */
    int has_paths;                        /* paths were counted; else edges alone */
    int has_lines;                        /* the compiler knew source lines */
    uint32_t nblocks, nedges;             /* 0 where the module was not found */
    uint32_t cuts;                        /* places where paths were cut to keep them few */
    uint32_t doors;                       /* ways into loops at which paths end */
    uint32_t laps;                        /* loops that paths go through */
    uint64_t calls;
    uint64_t possible_paths, executed_paths;
    uint64_t path_count; /* executions of its paths */
    double cost;         /* instructions or cycles; 0 in a combined profile */
    uint64_t address;    /* of an executable's function: as footpath_place has it; else 0 */
};

/* Most costly first; in a combined profile by name. */
FOOTPATH_PUBLIC const struct footpath_function *footpath_functions(const struct footpath *fp,
                                                                   size_t *count);

/* By linkage name and, unless NULL, last part of the file name; the first of several.
 * 1, with *function set, or 0. */
FOOTPATH_PUBLIC int footpath_find(const struct footpath *fp, const char *linkage_name,
                                  const char *file, const struct footpath_function **function);

/* The name as people write it: that of C++ decoded. */
FOOTPATH_PUBLIC const char *footpath_name(struct footpath *fp,
                                          const struct footpath_function *function);

/* Hash of blocks and edges: another one means that the function changed. 0 where the module was
 * not found. */
FOOTPATH_PUBLIC uint64_t footpath_shape(const struct footpath *fp,
                                        const struct footpath_function *function);

/* ---- blocks and edges ---- */

/* A place in the source. `function` is the one the line is of: inlined ones too. */
struct footpath_place {
    const char *file; /* NULL: not known */
    const char *function;
    uint32_t line, column;
    uint64_t address; /* of an executable (footpath exe): where the instruction is in the program
                         as it was linked, before footpath rewrote it; 0: not known */
};

struct footpath_block {
    uint64_t count; /* times entered */
    uint32_t instructions;
    struct footpath_place first, last; /* of its instructions */
    uint32_t bytes;                    /* of an executable: of its code; else 0 */
    const char *jump; /* of an executable: the branch at its end ("jne"); else NULL */
};

enum footpath_edge_kind {
    FOOTPATH_EDGE_NORMAL,
    FOOTPATH_EDGE_SWITCH,
    FOOTPATH_EDGE_UNWIND,
    FOOTPATH_EDGE_INDIRECT,
    FOOTPATH_EDGE_TWICE, /* behind setjmp */
};

struct footpath_edge {
    uint32_t from, to; /* blocks */
    enum footpath_edge_kind kind;
    uint64_t count; /* times taken */
};

/* nblocks of them; block 0 is the entry. Counted at the first call for a function. NULL
 * where they cannot be: footpath_problem says why. */
FOOTPATH_PUBLIC const struct footpath_block *footpath_blocks(
    struct footpath *fp, const struct footpath_function *function);
/* nedges of them, ordered by `from`. */
FOOTPATH_PUBLIC const struct footpath_edge *footpath_edges(
    struct footpath *fp, const struct footpath_function *function);
/* Why edges and blocks could not be counted, once they were asked for; or NULL. */
FOOTPATH_PUBLIC const char *footpath_problem(const struct footpath *fp,
                                             const struct footpath_function *function);

/* What takes an edge: "true", "false" (the condition as written held, or did not), of a loop's
 * condition "round", "leaves", "case 3", "default", "exception", of machine code "taken",
 * "not taken", "entry 3"; "" where it is not known. */
FOOTPATH_PUBLIC const char *footpath_branch(struct footpath *fp,
                                            const struct footpath_function *function,
                                            uint32_t edge);

/* What of the source a branch belongs to. */
enum footpath_construct {
    FOOTPATH_CONSTRUCT_NONE, /* not known */
    FOOTPATH_CONSTRUCT_IF,
    /* The condition of for, while, do: true makes another round. Where no way of the branch has a
     * sense, the compiler made it, to choose between copies of the body. */
    FOOTPATH_CONSTRUCT_LOOP,
    FOOTPATH_CONSTRUCT_CHOICE, /* c ? a : b */
    FOOTPATH_CONSTRUCT_VALUE,  /* a && b or a || b whose value is kept */
    FOOTPATH_CONSTRUCT_SWITCH,
};

enum footpath_sense {
    FOOTPATH_SENSE_NONE, /* not known, or not about the source */
    FOOTPATH_SENSE_TRUE, /* the condition as written held */
    FOOTPATH_SENSE_FALSE,
    FOOTPATH_SENSE_CASE, /* of `value`, and perhaps of others that lead to the same place */
    FOOTPATH_SENSE_DEFAULT,
};

/* What an edge means in the source. */
struct footpath_meaning {
    enum footpath_construct construct;
    enum footpath_sense sense;
    int is_part; /* of one side of && or || alone, at the line and column of the place */
    int64_t value;
};

FOOTPATH_PUBLIC struct footpath_meaning footpath_meaning(struct footpath *fp,
                                                         const struct footpath_function *function,
                                                         uint32_t edge);
/* "if", "loop", "choice", "value", "switch", or "". */
FOOTPATH_PUBLIC const char *footpath_construct_name(enum footpath_construct construct);

/* ---- source ---- */

/* Source files are read only for what is asked for, and only if they are those that were
 * compiled. They are looked for where the compiler found them, below roots, and with `before` at
 * the beginning of their names replaced by `after`. Strings are copied. */
FOOTPATH_PUBLIC void footpath_add_source_root(struct footpath *fp, const char *folder);
FOOTPATH_PUBLIC void footpath_add_source_map(struct footpath *fp, const char *before,
                                             const char *after);

/* The condition that decides an edge as it is written in the source ("n < 63"), of a switch the
 * value that it looks at; one blank for each run of blanks and comments. NULL where it is not
 * known. Of parts of && and ||, that part. */
FOOTPATH_PUBLIC const char *footpath_condition(struct footpath *fp,
                                               const struct footpath_function *function,
                                               uint32_t edge);

/* How many of the source files that were looked into have changed since they were compiled;
 * *first is the name of one of them. */
FOOTPATH_PUBLIC size_t footpath_changed_sources(const struct footpath *fp, const char **first);

/* ---- paths ---- */

struct footpath_path {
    uint32_t function; /* index of its function */
    uint32_t stop;     /* a path that never ended: the block it was left in; else FOOTPATH_NONE */
    uint64_t id;       /* its number; FOOTPATH_NO_ID where it never ended */
    uint64_t prefix;   /* a path that never ended: its sum so far */
    uint64_t count, cycles;          /* cycles where they were measured */
    uint32_t instructions, branches; /* of one execution */
    double cost;                     /* of all: cycles, or instructions */
};

/* The executed paths of a function, most costly first. Those that never ended (calls that
 * exit, longjmp, threads that still ran) are among them. */
FOOTPATH_PUBLIC const struct footpath_path *const *footpath_paths(
    struct footpath *fp, const struct footpath_function *function, size_t *count);

/* Those of all functions, most costly first: at most `most`, or with 0 all. Empty in a
 * combined profile, which has footpath_events. */
FOOTPATH_PUBLIC const struct footpath_path *const *footpath_hottest(struct footpath *fp,
                                                                    size_t most, size_t *count);
/* How many there are in all. */
FOOTPATH_PUBLIC size_t footpath_path_count(const struct footpath *fp);

/* One step of a path as people read it: a line, with what the branch there did. Lines that
 * say nothing new are left out. Of an executable without lines, the steps are the first
 * instruction, the branches and the last instruction; their places have addresses alone. */
struct footpath_step {
    struct footpath_place place;
    uint32_t block;
    uint32_t edge;      /* the one taken, where there were several; else FOOTPATH_NONE */
    const char *branch; /* as footpath_branch; NULL without edge, or where only an exception
                           would have gone elsewhere */
    struct footpath_meaning meaning; /* of the edge, where there is a branch */
    const char *jump;                /* of an executable, where there is an edge: "jne" or NULL */
};

enum footpath_start { FOOTPATH_STARTS_AT_ENTRY, FOOTPATH_STARTS_AT_EDGE };
enum footpath_end {
    FOOTPATH_ENDS_AT_EXIT, /* left the function */
    FOOTPATH_ENDS_AT_EDGE, /* at a back edge or a cut, end_edge */
    FOOTPATH_ENDS_AS_LAP,  /* once around a loop, by end_edge */
    FOOTPATH_ENDS_INSIDE,  /* never ended: left in its last block */
};

struct footpath_route {
    enum footpath_start start;
    enum footpath_end end;
    uint32_t end_edge; /* or FOOTPATH_NONE */
    uint32_t nblocks;
    const uint32_t *blocks; /* in order of execution */
    const uint32_t *edges;  /* between them: nblocks - 1 */
    uint32_t nsteps;
    const struct footpath_step *steps;
    uint32_t function; /* index */
};

/* Where a path leads. 1, or 0 where it cannot be told. The route's arrays live until the
 * next call that decodes with this handle. */
FOOTPATH_PUBLIC int footpath_decode(struct footpath *fp, const struct footpath_path *path,
                                    struct footpath_route *route);
/* The same for a path by its number, executed or not. */
FOOTPATH_PUBLIC int footpath_decode_id(struct footpath *fp,
                                       const struct footpath_function *function, uint64_t id,
                                       struct footpath_route *route);

/* "8 8(false) 11:9(true) 17": the steps in one line, with file names where the path leaves
 * the function's file. Lives as long as the route. */
FOOTPATH_PUBLIC const char *footpath_route_text(struct footpath *fp,
                                                const struct footpath_route *route);

/* "from the loop at line 64; isalpha(c) yes; n < 63 no; loop again": the route as a sentence about
 * the source, with conditions as they are written. Lives as long as the route. */
FOOTPATH_PUBLIC const char *footpath_sentence(struct footpath *fp,
                                              const struct footpath_route *route);

/* ---- calls ---- */

/* The calls from one function to another. Their number is exact. How much of the callee's cost is
 * theirs is not measured: they get their part of all its calls. */
struct footpath_call {
    const struct footpath_function *caller, *callee; /* NULL: not among the functions */
    const char *caller_name, *callee_name;           /* as people write them; NULL: not known */
    uint32_t line; /* of the first call, in the caller's file; or 0 */
    uint64_t count;
    double cost;   /* of the callee and all it called */
    int recursive; /* closes a circle of calls: its cost is that of the first call of the circle */
};

/* Most costly first. Empty in a combined profile and for maps of older versions. The last caller
 * has no name where some calls came through pointers or from code that is not measured. */
FOOTPATH_PUBLIC const struct footpath_call *footpath_callees(
    struct footpath *fp, const struct footpath_function *function, size_t *count);
FOOTPATH_PUBLIC const struct footpath_call *footpath_callers(
    struct footpath *fp, const struct footpath_function *function, size_t *count);
/* What the function and all it called cost; 0 in a combined profile. */
FOOTPATH_PUBLIC double footpath_inclusive(struct footpath *fp,
                                          const struct footpath_function *function);

/* ---- combined profiles: distributions over runs ---- */

enum footpath_event_kind {
    FOOTPATH_EVENT_CALLS, /* calls of a function in a run */
    FOOTPATH_EVENT_EDGE,  /* an edge, relative to the edge that dominates it */
    FOOTPATH_EVENT_PATH,  /* a path, per call of its function */
    FOOTPATH_EVENT_LEFT,  /* the same of a path that never ended */
};

struct footpath_event {
    enum footpath_event_kind kind;
    uint32_t block; /* where a path that never ended was left */
    uint64_t id;    /* of the edge or path; of one that never ended, its sum so far */
    const struct footpath_function *function;
    const void *distribution; /* for footpath_measure, footpath_quantile, footpath_above */
};

enum footpath_order {
    FOOTPATH_BY_VARIATION, /* deviation over mean */
    FOOTPATH_BY_DEVIATION,
    FOOTPATH_BY_MEAN,
    FOOTPATH_BY_COUNT,  /* over all runs */
    FOOTPATH_BY_UNSEEN, /* in the fewest runs first */
};

struct footpath_event_filter {
    unsigned kinds; /* 1 << an enum footpath_event_kind, or'ed; 0: all */
    enum footpath_order order;
    int unseen;   /* only events that some runs are without */
    double above; /* only events whose frequency is above this in some run; negative: all */
};

/* The events of a combined profile, the largest by that order first. NULL filter: all, by
 * variation. */
FOOTPATH_PUBLIC const struct footpath_event *footpath_events(
    struct footpath *fp, const struct footpath_event_filter *filter, size_t *count);

/* Of the frequency of an event in one run, over all runs that could tell. */
struct footpath_statistics {
    uint64_t runs, seen;         /* runs that could tell; runs with the event */
    uint64_t count, least, most; /* raw counts: of all runs, in one run */
    double mean, variance, deviation, variation, min, max;
    /* the histogram: bin i holds frequencies from lower + i * width */
    double lower, width;
    uint32_t nbins;
    const double *weights; /* runs per bin */
};

FOOTPATH_PUBLIC void footpath_measure(const struct footpath_event *event,
                                      struct footpath_statistics *statistics);
/* The frequency that a share q of the runs does not exceed. */
FOOTPATH_PUBLIC double footpath_quantile(const struct footpath_event *event, double q);
/* The share of runs whose frequency is above x. */
FOOTPATH_PUBLIC double footpath_above(const struct footpath_event *event, double x);

/* The route of a path's event, as footpath_decode. */
FOOTPATH_PUBLIC int footpath_decode_event(struct footpath *fp, const struct footpath_event *event,
                                          struct footpath_route *route);

#ifdef __cplusplus
}
#endif

#endif
