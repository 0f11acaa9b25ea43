/* One function as the tools know it: its cfg, its source lines, how its paths are
 * numbered, and where its counters lie.
 *
 * The compiler plugin fills one struct fp_function per function and encodes it into the map
 * section of the object file (profile/mapcode.h). The tools decode it from the executable.
 * Everything lives in the arena that the function was made with.
 */
#ifndef FP_COUNT_FUNCTION_H
#define FP_COUNT_FUNCTION_H

#include "base/names.h"
#include "graph/flow.h"
#include "graph/number.h"
#include "graph/plan.h"
#include "graph/pspp.h"

/* What was compiled into the function. */
enum fp_function_flag {
    FP_FUNCTION_PATHS = 1,            /* has path counters */
    FP_FUNCTION_EDGES = 2,            /* has edge counters, on all flow edges or on chords */
    FP_FUNCTION_CHORDS = 4,           /* edge counters on chords only */
    FP_FUNCTION_HASHED = 8,           /* path counters are in a hash table or sparse array */
    FP_FUNCTION_EXITS = 16,           /* in-flight paths can be recovered */
    FP_FUNCTION_EARLY = 32,           /* instrumented before inlining */
    FP_FUNCTION_CYCLES = 64,          /* path counters come in pairs: count, cycles */
    FP_FUNCTION_SKIPPED = 128,        /* not instrumented; `skipped` says why */
    FP_FUNCTION_SAMPLED = 256,        /* paths are sampled (pep) */
    FP_FUNCTION_OF_COUNTERS = 0xffff, /* those that decide what is counted where */
    FP_FUNCTION_COPY = 1 << 16,       /* in a copy of a division: `copy` says what it counts */
    FP_FUNCTION_HITS = 1 << 17,       /* executed operations are counted */
    FP_FUNCTION_CALLEES = 1 << 18,    /* `callees` lists what it calls */
    FP_FUNCTION_ONE_BODY = 1 << 19,   /* its code cannot be duplicated */
    FP_FUNCTION_UNDIVIDED = 1 << 20,  /* skipped because the division does not have it */
    FP_FUNCTION_INLINED = 1 << 21,    /* early, but small functions were inlined before */
    FP_FUNCTION_VALUES = 1 << 22,     /* its hash table also counts values (values.h) */
    FP_FUNCTION_CALLS = 1 << 23,      /* `calls` lists what each block calls */
    FP_FUNCTION_OWN_CYCLES = 1 << 24, /* cycles are without those of instrumented callees */
    FP_FUNCTION_CALL_COSTS = 1 << 25, /* what its calls cost is measured (layout.call_slot) */
    FP_FUNCTION_MACHINE = 1 << 26,    /* blocks cost machine instructions, not those of IR */
    FP_FUNCTION_UNSEEN = 1 << 27,     /* `unseen` lists lines that may have run without code */
    FP_FUNCTION_CODE = 1 << 28,       /* `address` and `code` tell where its code is */
    FP_FUNCTION_TWICE = 1 << 29,      /* its array of path counters is there twice (layout.h) */
    FP_FUNCTION_LLVM = 1 << 30,       /* `llvm` says what clang's own profile has of it */
};

/* Where an instruction comes from is a line in a scope. A scope is a function, or a function
 * that is inlined at a line of another scope. */
struct fp_scope {
    const char *function, *file;
    const char *linkage; /* its linkage name */
    uint64_t file_sum;   /* of the file that was compiled (source/source.h); 0: not known */
    uint32_t line;       /* where the function is declared */
    uint32_t parent;     /* scope it is inlined into, or FP_NONE */
    uint32_t call_line;  /* the line of the call there */
    uint32_t call_discriminator;
};

/* A discriminator tells blocks of one line apart. It is the one of the debug information,
 * or 0. */
struct fp_position {
    uint32_t scope, line, column, discriminator;
};

/* Where the code of a block is. Addresses are those of the file as it was linked: of an executable
 * that was rewritten, the original's. */
struct fp_block_code {
    uint64_t address;
    uint32_t size;    /* in bytes; 0: the block has no code */
    uint32_t last;    /* its last instruction, counted from `address` */
    const char *jump; /* the branch at its end, as assemblers call it ("jne"), or NULL */
};

/* What of the source the branch at the end of a block belongs to. */
enum fp_construct {
    FP_CONSTRUCT_NONE, /* not known, or no branch */
    FP_CONSTRUCT_IF,
    FP_CONSTRUCT_LOOP,   /* the condition of for, while, do: true makes another round */
    FP_CONSTRUCT_CHOICE, /* c ? a : b */
    FP_CONSTRUCT_VALUE,  /* a && b or a || b whose value is kept */
    FP_CONSTRUCT_SWITCH,
};

struct fp_block_info {
    uint32_t instructions;
    uint32_t first_position, npositions; /* in order of the instructions */
    enum fp_construct construct;
    bool is_part;           /* the branch tests one side of && or || alone */
    uint32_t content, kind; /* with FP_FUNCTION_EARLY: llvm/read/ircontent.h; 0: not known */
};

/* A call that a block makes. */
struct fp_call {
    const char *callee; /* linkage name; NULL: through a pointer */
    uint32_t block;
    uint32_t line; /* in the function's file; 0: not known, or of inlined code */
};

/* Lines of the source that may have run at a place that has no code of them. The place is a block,
 * or an edge: number of blocks + edge. The scope is any one of the lines' file. */
struct fp_unseen {
    uint32_t place, scope;
    uint32_t line, nlines; /* the first one, and how many */
};

/* What it means to leave a block by an edge. The first four are about the source: its condition
 * held or did not, its switch went to that case. Where that is not known nothing is said. The
 * last three are about machine code, whose jumps may stand for the opposite. */
enum fp_edge_label {
    FP_LABEL_NONE,
    FP_LABEL_TRUE,
    FP_LABEL_FALSE,
    FP_LABEL_CASE,
    FP_LABEL_DEFAULT,
    FP_LABEL_TAKEN,
    FP_LABEL_NOT_TAKEN,
    FP_LABEL_ENTRY /* of a jump table */
};

struct fp_edge_info {
    enum fp_edge_label label;
    int64_t value; /* of the first case that leads here; number of the entry */
};

/* Of a condition of the source, as a whole or a part. */
static inline bool fp_label_is_truth(enum fp_edge_label label)
{
    return label == FP_LABEL_TRUE || label == FP_LABEL_FALSE;
}

static inline bool fp_label_has_value(enum fp_edge_label label)
{
    return label == FP_LABEL_CASE || label == FP_LABEL_ENTRY;
}

/* What a copy of a division counts in a function; or only the slot of its hits. */
struct fp_copy_info {
    uint64_t reference;     /* the function's id in the build that was divided */
    uint32_t turns_slot;    /* edge counter of all calls, in every copy of a division; else
                            FP_NONE */
    uint32_t hits_slot;     /* edge counter of executed operations, or FP_NONE */
    struct fp_pspp *labels; /* if this copy counts some of the paths: the values before
                               pushing, for decoding */
    struct fp_bitset laps;  /* with labels: the laps it counts */
};

/* The function in a profile of clang's own (-fprofile-generate): its name and hash there, and for
 * each counter the block whose executions it counts, or FP_NONE for one that stays 0. */
struct fp_llvm_counters {
    const char *name;
    uint64_t hash;
    uint32_t *blocks, ncounters;
    uint32_t ntargets, nsizes; /* calls whose values clang counts, by enum fp_value_kind */
};

/* The calls of one kind whose values are counted (values.h): the block of each, in the order of
 * their numbers. None where an older compiler made the map. */
struct fp_value_sites {
    uint32_t *blocks, n;
};

/* What the source says: lines of the blocks, conditions of the edges, calls. */
struct fp_source {
    struct fp_block_info *blocks;  /* per block of the cfg */
    struct fp_edge_info *edges;    /* per edge of the cfg */
    struct fp_position *positions; /* named by the blocks */
    uint32_t npositions;
    struct fp_scope *scopes; /* named by the positions */
    uint32_t nscopes;
    const char **callees; /* with FP_FUNCTION_CALLEES: one per call of a known function */
    uint32_t ncallees;
    struct fp_call *calls; /* with FP_FUNCTION_CALLS: by block, in the order of the code */
    uint32_t ncalls;
    struct fp_unseen *unseen; /* with FP_FUNCTION_UNSEEN: by place */
    uint32_t nunseen;
    uint64_t address;           /* with FP_FUNCTION_CODE: of the entry */
    struct fp_block_code *code; /* with FP_FUNCTION_CODE: per block; NULL if skipped */
};

/* What its paths are: the cfg, where paths end, their numbers. */
struct fp_paths {
    struct fp_cfg *cfg;
    struct fp_truncation *truncation;
    struct fp_dag *dag;
    struct fp_numbering *numbering; /* with FP_FUNCTION_PATHS or _SAMPLED */
    struct fp_flow *flow;           /* the flow graph of the edge counters */
};

/* Where its counters lie. layout.c alone turns ids into counters and back. */
struct fp_layout {
    uint64_t path_address; /* of its path counters in the linked program, or 0 */
    uint64_t edge_address; /* of its edge counters, or 0 */
    uint64_t path_slots;   /* 64-bit words there */
    uint64_t edge_slots;
    uint64_t direct_slots; /* the compiler's: words beside a hash table (footpath/abi.h) */
    uint64_t sparse_slots; /* the compiler's: words of a sparse array, or 0 */
    bool gated;            /* the compiler's: there is a gate in front of the array */
    uint32_t *flow_slot;   /* per flow edge: its counter, or FP_NONE */
    uint32_t call_slot;    /* with FP_FUNCTION_CALL_COSTS: the first of its edge counters */
    uint32_t *at_end;      /* per block, see fp_plan */
    /* With FP_FUNCTION_EXITS: per block, see fp_plan, and behind them per copy of a block in the
     * code. Frames are left in copies, too; copy_of tells the block that one is a copy of. */
    bool *counted, *has_register;
    int64_t *offset;
    uint32_t *copy_of, ncopies;
};

struct fp_function {
    /* identity */
    uint32_t ordinal; /* its place in the map: the order of definition in a module */
    uint64_t id;
    const char *name; /* linkage name */
    const char *file;
    uint64_t file_sum; /* as in struct fp_scope */
    uint32_t line;
    uint32_t flags;      /* of enum fp_function_flag */
    const char *skipped; /* reason, or NULL */

    struct fp_source source;
    struct fp_paths paths;
    struct fp_layout layout;
    struct fp_copy_info *copy;    /* with FP_FUNCTION_COPY or _HITS */
    struct fp_llvm_counters llvm; /* with FP_FUNCTION_LLVM */
    /* With FP_FUNCTION_VALUES: two, by enum fp_value_kind; NULL: not known. */
    struct fp_value_sites *sites;
};

/* The id. `base` is a hash of name, shape and, for a static function, module. The rest goes
 * in so that objects compiled with different settings do not share counters. To it is added how
 * long the sparse array is, where the function has one. */
uint64_t fp_function_id(uint64_t base, uint32_t flags, uint64_t path_slots, uint64_t edge_slots);

/* What finds the function again in another build. */
static inline struct fp_identity fp_function_identity(const struct fp_function *f)
{
    return (struct fp_identity){f->name, f->file, fp_cfg_hash(f->paths.cfg)};
}

/* The ways out of a block as they are listed: the edge that is i-th, true before false. */
static inline uint32_t fp_function_way(const struct fp_function *f, uint32_t block, uint32_t i)
{
    uint32_t first = f->paths.cfg->first_out[block];
    bool swapped = fp_cfg_out_degree(f->paths.cfg, block) == 2 &&
                   f->source.edges[first].label == FP_LABEL_FALSE;
    return first + (swapped ? 1 - i : i);
}

#endif
