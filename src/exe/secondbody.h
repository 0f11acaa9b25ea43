/* A second body of the code of a program or library that was just linked, for samples of paths:
 * see docs/pep.md and footpath/abi.h. footpath-cc calls this after a link with --fp-pep=body.
 *
 *     fp_second_body_add(&arena, "prog", &summary, &error);
 *
 * The first body stays as it is, but that it no longer adds to running registers (additions.h). */
#ifndef FP_EXE_SECONDBODY_H
#define FP_EXE_SECONDBODY_H

#include "base/arena.h"
#include "base/error.h"

struct fp_second_body {
    const char *why_not; /* the file stays as it is; NULL: it has a second body now */
    uint32_t functions;  /* that have a second body; parts that lie apart count */
    uint32_t left_out;   /* that have sites and no second body */
    uint64_t code, all;  /* bytes of its code, and with its tables */
    const char *left_out_name, *left_out_why; /* of one that was left out */
};

/* A file without sites stays as it is; why_not says so. False where it cannot be written. */
bool fp_second_body_add(struct fp_arena *arena, const char *path, struct fp_second_body *made,
                        struct fp_error *error);

#endif
