/* Where an indirect jump leads. Recognised, by following values backwards (slice.h):
 *
 *     T[i] + B           32-bit distances from B, mostly T itself (switch in PIE code; label
 *                        differences)
 *     T[i]               64-bit addresses (switch at fixed addresses, computed goto)
 *     &label             also one of several
 *
 * with T, B and labels that lea or mov put into registers, directly, by copies or by slots of the
 * stack. The number of entries is what the bounds check in front of the load says. Where none is
 * found, the table reaches up to an entry that leads nowhere, or to data that other code names. */
#ifndef FP_BINARY_JUMPTABLE_H
#define FP_BINARY_JUMPTABLE_H

#include "binary/slice.h"

enum fp_jump_place {
    FP_PLACE_INSIDE, /* an instruction of the function */
    FP_PLACE_PART,   /* one of code that will be a part of the function */
    FP_PLACE_HOLE,   /* the end of the function: compilers put it where no case is */
    FP_PLACE_OUTSIDE,
};

struct fp_jump_search {
    struct fp_arena *arena;
    const struct fp_object *object;
    const struct fp_machine_function *f;
    struct fp_slice *slice;
    const uint64_t *named; /* addresses of data that code names, sorted; tables end there */
    size_t nnamed;
    size_t *entries_left; /* that may still be read, of all tables together; NULL: no limit */
    /* NULL: asks for the instructions and ends of the function alone */
    enum fp_jump_place (*place)(const void *context, uint64_t target);
    const void *context;
};

struct fp_jump_found {
    FP_VEC(struct fp_machine_table) tables;
    FP_VEC(uint64_t) labels; /* addresses that code names and the jump goes to */
    FP_VEC(uint64_t) bases;  /* addresses that code names and that entries are relative to */
    bool pointer;            /* may also go where a pointer leads that is not in a table */
    bool indexed;            /* reads an element of an array, but of which is not known */
    bool leads_out;          /* a table has entries that lead out of the function */
};

void fp_jump_find(const struct fp_jump_search *search, uint32_t jump, struct fp_jump_found *found);

/* Entries of a table of distances at `table` up to the first that leads nowhere: what a jump may
 * read whose own table was not found. */
bool fp_jump_read_distances(const struct fp_jump_search *search, uint64_t table,
                            struct fp_machine_table *out);

#endif
