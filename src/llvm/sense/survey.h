/* The survey: what clang's first IR says about the conditions of the source.
 *
 * Optimisation inverts branches, merges conditions and rotates loops, and clang itself swaps
 * the targets of `if (!x)`. The names of clang's first blocks (if.then, land.rhs, for.end)
 * still tell which way a condition that held goes. So the survey is made at the start of the
 * pipeline, before any pass: per function its blocks, where each leads, and which way is the
 * source's true one. sense.h uses it when the function is instrumented.
 *
 * What joins the two is the debug location. Every instruction gets its block as column, where
 * the line tables are the wrapper's own and are not kept. Where the user asked for debug
 * information its columns stay, and a position that several blocks share tells nothing.
 */
#ifndef FP_LLVM_SURVEY_H
#define FP_LLVM_SURVEY_H

#include "base/table.h"
#include "count/function.h"

#include <llvm-c/Core.h>

enum fp_ending { FP_ENDING_OTHER, FP_ENDING_JUMP, FP_ENDING_CONDITION, FP_ENDING_SWITCH };

/* What a condition compares: enough to see that another comparison took its place. */
enum fp_left { FP_LEFT_PLAIN, FP_LEFT_BITS /* x & y, x % y */, FP_LEFT_SUM };

/* What it compares on the left, where that can be found again: what a call returned, or what was
 * read from memory and not from a variable. */
enum fp_origin { FP_ORIGIN_OTHER, FP_ORIGIN_CALL, FP_ORIGIN_MEMORY };

struct fp_comparison {
    bool compares, equality;
    bool is_whole; /* the condition is this comparison and nothing else, or its opposite */
    LLVMIntPredicate predicate; /* where is_whole: as the condition has it */
    enum fp_origin origin;
    uint64_t callee; /* of a call: a hash of the function's name */

    bool of_call; /* what a call returned: inlined, that is another comparison */
    enum fp_left left;
    bool of_low_bits; /* x & 1, 3, 7 or 15 on the left */
    bool with_zero;   /* on the right */
    bool with_number; /* likewise: a constant */
    int64_t number;
    uint64_t unsigned_number;
    unsigned width;   /* of the number, in bits */
    uint64_t mask;    /* x & mask on the left: a constant; 0 where it is none */
    bool mask_is_sum; /* x & (a | b) on the left */
};

struct fp_surveyed_block {
    enum fp_ending ending;
    uint32_t first_way, nways;   /* where it leads: in `ways` of the function */
    uint32_t true_way;           /* 0 or 1 of a condition; FP_NONE where not known */
    enum fp_construct construct; /* what its branch belongs to */
    uint32_t whole;              /* one side of && or ||: see fp_named_branch; else FP_NONE */
    uint32_t true_way_of_whole;
    uint32_t line, column;           /* of its end; column 0 where others have the same */
    struct fp_comparison comparison; /* of a condition */
    uint32_t first_line, nlines;     /* of its code: in `lines` of the function */
    uint32_t first_callee, ncallees; /* what it calls by name, and the module has: in `callees` */
};

struct fp_surveyed_way {
    uint32_t block;
    bool is_case; /* of a switch: not the default */
    int64_t value;
};

struct fp_surveyed {
    struct fp_surveyed_block *blocks;
    uint32_t nblocks;
    struct fp_surveyed_way *ways;
    uint32_t *lines;           /* each once in a block */
    const void **callees;      /* their subprograms */
    bool shared;               /* of a header: other modules may have its lines too */
    bool tagged;               /* columns are numbers of blocks */
    struct fp_table at;        /* else: line << 16 | column -> 1 + block, or AMBIGUOUS */
    struct fp_table ends;      /* the same of ends of blocks alone */
    struct fp_table constants; /* a global, such as a string, by name -> 1 + block that alone uses
                                  it, or AMBIGUOUS */
    struct fp_table tests; /* of what conditions test: clang 22 gives all branches of `a && b` one
                              place */
};

/* Columns from here on are numbers of blocks. Lower ones may be those of the source: passes also
 * take places from what clang notes about loops. */
enum { FP_FIRST_TAG = 4096 };
enum { FP_SURVEY_AMBIGUOUS = 0xffffffffu };

struct fp_survey {
    struct fp_arena arena;
    LLVMModuleRef module;
    struct fp_table functions; /* subprogram -> struct fp_surveyed * */
    struct fp_table *kept;     /* see fp_survey_keeps; NULL at first */
};

/* Surveys a module; `tag` where columns may be overwritten. The survey is of this thread, until
 * the next one. */
void fp_survey_make(LLVMModuleRef module, bool tag);

/* The survey of a module, or NULL. */
struct fp_survey *fp_survey_of(LLVMModuleRef module);
void fp_survey_end(void);

/* Has a line of the file that is compiled code in the module, as it is at the first call? */
bool fp_survey_keeps(struct fp_survey *survey, uint32_t line);

/* Removes the names of blocks and values: only the survey wanted them. */
void fp_survey_drop_names(LLVMModuleRef module);

/* The function that a debug location's subprogram is of, or NULL. */
const struct fp_surveyed *fp_survey_find(const struct fp_survey *survey, const void *subprogram);

/* The block that a position belongs to, or FP_NONE: the position of anything, of the end of a
 * block, or of what the branch there tests. */
enum fp_position_of { FP_OF_ANY, FP_OF_END, FP_OF_TEST };
uint32_t fp_surveyed_block(const struct fp_surveyed *f, uint32_t line, uint32_t column,
                           enum fp_position_of of);

/* The block that alone uses a global, or FP_NONE. */
uint32_t fp_surveyed_user(const struct fp_surveyed *f, LLVMValueRef value);

struct fp_comparison fp_survey_comparison(LLVMValueRef condition);

#endif
