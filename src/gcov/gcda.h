/* The counts that gcc's -fprofile-use takes (.gcda; docs/formats/gcov.md). */
#ifndef FP_GCOV_GCDA_H
#define FP_GCOV_GCDA_H

#include "gcov/arcs.h"
#include "base/varint.h"

/* As the program that gcc -fprofile-generate makes would have written them. */
void fp_write_gcda(struct fp_writer *out, const struct fp_gcc_notes *notes,
                   const struct fp_gcc_counts *counts);

#endif
