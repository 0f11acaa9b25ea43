/* The functions of one executable or shared library, from its map section. */
#ifndef FP_PROFILE_PROGRAM_H
#define FP_PROFILE_PROGRAM_H

#include "profile/function.h"

struct fp_program {
    const char *path;
    const unsigned char *build_id;
    size_t build_id_len;
    struct fp_function *functions; /* kept by the linker, each once; by address */
    size_t nfunctions;
    size_t nskipped; /* of those, not instrumented */
    uint64_t counters_address, counters_size; /* of the sections, as linked; 0 if not known */
    uint64_t tables_address, tables_size;
};

/* Everything in the arena. A file without a map is an error that says so. */
bool fp_program_read(struct fp_arena *arena, const char *path, struct fp_program *program,
                     struct fp_error *error);

/* From the bytes of the sections alone. live may be NULL: all are live. */
bool fp_program_parse(struct fp_arena *arena, const char *path, const unsigned char *map,
                      size_t map_len, const unsigned char *live, size_t live_len,
                      struct fp_program *program, struct fp_error *error);

#endif
