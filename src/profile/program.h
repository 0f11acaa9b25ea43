/* The functions of one executable or shared library, from its map section. Most callers go
 * through profile.h, which finds the program of a profile. */
#ifndef FP_PROFILE_PROGRAM_H
#define FP_PROFILE_PROGRAM_H

#include "count/layout.h"
#include "profile/mappack.h"

struct fp_program {
    const char *path;
    const unsigned char *build_id;
    size_t build_id_len;
    struct fp_function *functions; /* kept by the linker, each once; by address */
    size_t nfunctions;
    size_t nskipped;             /* of those, not instrumented */
    struct fp_sections sections; /* as linked; 0 if not known */
    /* of a program with --fp-pep=body: functions that have a second body, and that have none */
    uint32_t second_bodies, no_second_body;
};

/* The result lives in the arena. A file without a map is an error, which says so. */
bool fp_program_read(struct fp_arena *arena, const char *path, struct fp_program *program,
                     struct fp_error *error);

/* The bytes of its map, which are not looked at; in the arena. */
bool fp_program_map(struct fp_arena *arena, const char *path, struct fp_map_file *map,
                    struct fp_error *error);

/* A program from the bytes of the sections. live may be NULL: then all functions are live. */
bool fp_program_parse(struct fp_arena *arena, const char *path, const unsigned char *map,
                      size_t map_len, const unsigned char *live, size_t live_len,
                      struct fp_program *program, struct fp_error *error);

#endif
