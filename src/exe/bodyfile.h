/* One more segment in an ELF file, for the second body: its program header takes the place of a
 * note that footpath-cc has put there for that (footpath-room.o), so that no other header moves. */
#ifndef FP_EXE_BODYFILE_H
#define FP_EXE_BODYFILE_H

#include "base/varint.h"
#include "base/vec.h"
#include "exe/unwindtable.h"

struct fp_body_part {
    const char *name; /* of its section */
    uint64_t address, size;
    bool code;
};

struct fp_body_symbol {
    const char *name;
    uint64_t address, size;
};

struct fp_body_file {
    struct fp_arena *arena;
    struct fp_elfview view;
    uint64_t address;       /* of the new segment */
    struct fp_writer bytes; /* its content so far */
    uint64_t unwind;        /* of the new .eh_frame_hdr, and its size */
    uint64_t unwind_size;
    struct fp_writer debug; /* a .debug_frame, or nothing */
    FP_VEC(struct fp_body_part) parts;
    FP_VEC(struct fp_body_symbol) symbols;
};

/* Reads the file. NULL, or why no segment can be added. */
const char *fp_body_file_open(struct fp_body_file *file, struct fp_arena *arena, const char *path);

/* Where the next byte goes. */
uint64_t fp_body_file_here(const struct fp_body_file *file);
void fp_body_file_align(struct fp_body_file *file, unsigned align);
/* From `from` up to here is a section. */
void fp_body_file_part(struct fp_body_file *file, const char *name, uint64_t from, bool code);

/* Writes a table of the FDEs of the file and of these; the place of the old one. False where the
 * old one is not understood. */
struct fp_new_fde;
bool fp_body_file_unwind(struct fp_body_file *file, const struct fp_new_fde *fdes, size_t count);

bool fp_body_file_write(struct fp_body_file *file, struct fp_error *error);

#endif
