/* The code of a program as it was before `footpath exe` rewrote it.
 *
 * OUT has it in sections of its own, which are not loaded: FP_ORIGINAL_SECTION, one for each
 * executable segment of PROGRAM, with the segment's address. `objdump -D -j .footpath_original OUT`
 * shows it, too. Of a program that was not rewritten, the code is what is loaded. */
#ifndef FP_EXE_ORIGINALCODE_H
#define FP_EXE_ORIGINALCODE_H

#include "base/arena.h"
#include "base/error.h"

#define FP_ORIGINAL_SECTION ".footpath_original"

struct fp_original_code;

/* Opens `path`, which must have this build-id. NULL with an error where it has not, or where it is
 * a rewritten program that has no such section. Lives in the arena. */
struct fp_original_code *fp_original_open(struct fp_arena *arena, const char *path,
                                          const unsigned char *build_id, size_t build_id_len,
                                          struct fp_error *error);

/* The bytes at an address, and how many follow; NULL where there is no code. */
const unsigned char *fp_original_bytes(const struct fp_original_code *code, uint64_t address,
                                       size_t *len);

#endif
