/* .eh_frame_hdr: the table by which unwinders find the FDE of an address. Reads that of a file, and
 * writes a new one.
 *
 * Not handled: tables that are not as all linkers write them (sorted pairs of 32-bit distances
 * from the table): such a file is taken for one that has none. */
#ifndef FP_EXE_UNWINDTABLE_H
#define FP_EXE_UNWINDTABLE_H

#include "base/vec.h"
#include "exe/elfview.h"

struct fp_unwind_entry {
    uint64_t pc, fde;
};

struct fp_unwind_table {
    uint64_t address;  /* of the header */
    uint64_t eh_frame; /* of .eh_frame */
    const unsigned char *pairs;
    uint32_t count;
};

bool fp_unwind_table_find(const struct fp_elfview *view, struct fp_unwind_table *table);
struct fp_unwind_entry fp_unwind_table_entry(const struct fp_unwind_table *table, uint32_t i);

/* How many bytes a table with so many entries has. */
uint64_t fp_unwind_table_size(size_t count);
/* Writes a table that will lie at `address`; sorts the entries. eh_frame: 0 where there is none. */
void fp_unwind_table_write(struct fp_unwind_entry *entries, size_t count, uint64_t address,
                           uint64_t eh_frame, unsigned char *out);

#endif
