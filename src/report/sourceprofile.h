/* A profile by source position, as compilers take it: per function the counts of
 * its lines, relative to where it is declared, and the same for each function
 * inlined into it, by the line of the call.
 *
 * Instructions of one position are in several blocks. Of these the largest count
 * is taken (the voting of paper 003, section 2.2): a line that is in a loop and
 * in front of it ran as often as in the loop. Copies that the compiler made, and
 * says so in the discriminator (unrolled loops), count as often as there are
 * copies (section 5.2, over- and under-sampling by duplication).
 *
 * Functions that were cut in parts or copied for a purpose (foo.constprop.0) are
 * one function again: their counts are added.
 */
#ifndef FP_REPORT_SOURCEPROFILE_H
#define FP_REPORT_SOURCEPROFILE_H

#include "paths/edges.h"
#include "base/table.h"

struct fp_source_count {
    uint32_t line, discriminator; /* line relative to the declaration, 16 bits */
    uint64_t count;
};

struct fp_source_node {
    const char *name;                        /* linkage name */
    uint32_t line, discriminator;            /* of the call, for an inlined function */
    uint64_t entries;                        /* calls, for a function that is not inlined */
    uint64_t total;                          /* of all counts in here */
    FP_VEC(struct fp_source_count) counts;   /* by position */
    FP_VEC(struct fp_source_node *) inlined; /* by position and name */
    struct fp_table index;                   /* position -> 1 + index in counts */
};

struct fp_source_profile {
    struct fp_arena *arena;
    FP_VEC(struct fp_source_node *) functions; /* largest total first */
    struct fp_strtable by_name;
    size_t without_lines; /* functions that ran and have no source position */
};

enum fp_discriminators {
    FP_DISCRIMINATORS_NONE, /* one count per line */
    FP_DISCRIMINATORS_LLVM, /* the base component; the duplication factor is applied */
    FP_DISCRIMINATORS_PLAIN,
};

bool fp_source_profile_make(struct fp_arena *arena, const struct fp_profile *profile,
                            enum fp_discriminators how, struct fp_source_profile *out,
                            struct fp_error *error);

/* The text that clang's -fprofile-sample-use= takes. */
void fp_write_llvm_sample(struct fp_writer *out, const struct fp_source_profile *profile);

/* The file that gcc's -fauto-profile= takes (version 2). */
void fp_write_gcc_afdo(struct fp_writer *out, const struct fp_source_profile *profile);

#endif
