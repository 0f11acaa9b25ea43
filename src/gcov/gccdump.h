/* The dump of gcc's pass that makes the notes (-fdump-ipa-profile-lineno-details): what gcc knows
 * of the blocks in the notes, and does not say there.
 *
 * Columns of statements, which statement is the condition, and how likely gcc takes each way to
 * be. The form is that of gcc 12 and is no interface: what is not understood is passed over, and
 * the notes alone are used.
 */
#ifndef FP_GCOV_GCCDUMP_H
#define FP_GCOV_GCCDUMP_H

#include "gcov/notes.h"

/* Adds what the dump says to the functions of the notes. Strings are copied into the arena. */
void fp_gcc_dump_read(struct fp_arena *arena, const char *text, size_t len,
                      struct fp_gcc_notes *notes);

#endif
