/* How many entries a jump table has, by the bounds check in front of the load of an entry. */
#ifndef FP_BINARY_TABLEBOUND_H
#define FP_BINARY_TABLEBOUND_H

#include "binary/slice.h"

struct fp_table_size {
    size_t entries; /* as many as values that passed a bounds check; 0: not known */
    size_t limit;   /* else not more than these; 0: not known */
};

/* Of the table that the load at `at` reads, by its index register. */
struct fp_table_size fp_table_bound(const struct fp_slice *slice, uint32_t at, ZydisRegister index);

#endif
