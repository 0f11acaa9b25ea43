/* Unwind tables of moved functions: an FDE for each range, with the rows of the old one, and the
 * old LSDA written again for the new addresses. */
#ifndef FP_EXE_NEWFRAMES_H
#define FP_EXE_NEWFRAMES_H

#include "base/varint.h"
#include "binary/frames.h"
#include "exe/movedcode.h"

/* A table that is being written: where it will lie, and its bytes so far. */
struct fp_new_table {
    uint64_t address;
    struct fp_writer bytes;
};

static inline uint64_t fp_new_table_here(const struct fp_new_table *table)
{
    return table->address + table->bytes.len;
}

struct fp_new_fde {
    uint64_t pc, address;
};

struct fp_new_frames {
    struct fp_arena *arena;
    const struct fp_frames *old;
    bool fixed;                /* the program is linked at its address */
    uint64_t *personality;     /* per old CIE: code that takes the place of its personality function
                                  (newpersonality.c); NULL: all stay as they are */
    struct fp_new_table lsdas; /* first all of these */
    struct fp_new_table table; /* then CIEs and FDEs */
    uint64_t *cie_at;          /* per old CIE: where the new one is; 0: not written yet */
    FP_VEC(struct fp_new_fde) fdes;
};

/* NULL, or why the tables of a function cannot be written again. */
const char *fp_new_frames_check(const struct fp_new_frames *frames,
                                const struct fp_machine_function *function);

/* Writes the LSDAs of a function whose new code begins at `start`; gives the address for each
 * range, or 0. NULL, or what is wrong: nothing is written then. */
const char *fp_new_lsdas_add(struct fp_new_frames *frames, const struct fp_machine_function *m,
                             const struct fp_moved_code *code, uint64_t start, uint64_t *lsdas);

/* Writes its FDEs. */
void fp_new_frames_add(struct fp_new_frames *frames, const struct fp_machine_function *m,
                       const struct fp_moved_code *code, uint64_t start, const uint64_t *lsdas);

/* Behind the last FDE: the end of the section. */
void fp_new_frames_end(struct fp_new_frames *frames);

#endif
