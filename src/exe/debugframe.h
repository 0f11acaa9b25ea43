/* The unwind tables of moved functions once more, for debuggers.
 *
 * The loader's libraries find new tables by .eh_frame_hdr. gdb does not look there: it reads the
 * one section called .eh_frame, which describes the old code, and .debug_frame. So OUT has a
 * .debug_frame, which is not loaded, with an FDE for each FDE of the new tables. */
#ifndef FP_EXE_DEBUGFRAME_H
#define FP_EXE_DEBUGFRAME_H

#include "exe/newframes.h"

/* Writes the section. needs: the table of new frames, whole. */
void fp_debug_frame_write(const struct fp_new_table *table, struct fp_writer *out);

#endif
