/* The language-specific data of an FDE: where exceptions of its calls land. Enough to write it
 * again for code that lies elsewhere.
 *
 * In memory:  header | call sites | actions | types, ending at type_base | specifications
 * An action record is (sleb filter, sleb distance to the next record or 0). Type number k lies at
 * type_base - k * type_size. Negative filters name exception specifications, lists of uleb type
 * numbers ended by 0, that begin at type_base. */
#ifndef FP_BINARY_LSDA_H
#define FP_BINARY_LSDA_H

#include "binary/object.h"

struct fp_call_site {
    uint64_t start, size; /* addresses of the code it covers */
    uint64_t pad;         /* where its exceptions land; 0: nowhere, they go on to the caller */
    uint64_t action;      /* 0: cleanup only; else 1 + offset into the actions */
};

struct fp_lsda {
    uint64_t address;       /* of the whole */
    uint64_t landing_start; /* LPStart: an explicit one, or the function's start */
    bool explicit_start;
    uint8_t type_encoding;      /* FP_EH_OMIT: no types */
    uint8_t call_site_encoding; /* of the numbers in the table */
    uint64_t type_base;         /* 0: no types */
    unsigned type_size;
    uint64_t ntypes;            /* the largest type number that actions and specifications use */
    uint64_t specs_size;        /* bytes of specifications behind type_base that are used */
    uint64_t actions;           /* address of the action table */
    uint64_t actions_size;      /* up to the end of the last record that call sites lead to */
    struct fp_call_site *sites; /* by start; code between them must not throw */
    size_t nsites;
};

/* `start` is that of the FDE. Fails where the data breaks the format. */
bool fp_lsda_read(struct fp_arena *arena, const struct fp_object *object, uint64_t address,
                  uint64_t start, struct fp_lsda *lsda, struct fp_error *error);

/* The call site that covers an address, or NULL: an exception there ends the program. */
const struct fp_call_site *fp_lsda_site(const struct fp_lsda *lsda, uint64_t address);

/* The address of what type `number` points to, without the indirection of DW_EH_PE_indirect;
 * 0 for catch (...) or where it is not in the file. */
uint64_t fp_lsda_type(const struct fp_object *object, const struct fp_lsda *lsda, uint64_t number);

#endif
