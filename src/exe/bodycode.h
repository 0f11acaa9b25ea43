/* The second body of one function (docs/pep.md): its instructions as they are, but that sites
 * report themselves, and that calls, jumps and returns through pointers ask where to go.
 *
 * "Function" here is the code of one FDE: parts of a function that lie apart are copied each for
 * itself, and jumps between them lead from second body to second body. The graph of the function
 * is not needed: whatever address a jump takes from a table or a pointer, the runtime finds the
 * same instruction in the second body. */
#ifndef FP_EXE_BODYCODE_H
#define FP_EXE_BODYCODE_H

#include "binary/frames.h"
#include "exe/movedcode.h"

/* A site of the first body. */
struct fp_body_site {
    uint64_t address;
    uint32_t index; /* in the section */
    uint32_t block;
    bool behind; /* FP_SITE_BEHIND: those of an address that are, and are reached by falling into
                       it, come first and are passed over by jumps */
};

struct fp_body_code {
    struct fp_machine_function m; /* one range; no cfg */
    struct fp_moved_code code;
    const struct fp_body_site *sites; /* of the function, by address */
    size_t nsites;
    uint32_t *own;        /* per instruction: its first piece behind those of its sites */
    uint64_t start;       /* of the second body */
    uint64_t lsda;        /* or 0 */
    const char *left_out; /* why it has no second body, or NULL */
};

struct fp_body_entries {
    uint64_t at[FP_BODY_NENTRIES];
};

/* Fills in all but `start` and `lsda`. needs: `sites`. */
void fp_body_code_make(struct fp_arena *arena, const struct fp_frames *frames, uint32_t fde,
                       const struct fp_body_entries *entries, struct fp_body_code *body);

/* Where its code is that was at an old address, with the sites there; 0: it has none. */
uint64_t fp_body_code_at(const struct fp_body_code *body, uint64_t old_address);

/* Writes the number of the place into the code of an instruction's sites, which hands it to the
 * runtime. */
void fp_body_code_set_number(const struct fp_body_code *body, uint32_t insn, uint32_t number,
                             unsigned char *code);

#endif
