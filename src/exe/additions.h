/* The additions to running registers in the first body of a linked file (docs/pep.md), which are
 * taken out where the file gets a second body: the number of a path is how far its register has
 * moved since a site of the second body, and whoever is in the second body came there by a tick,
 * which forgets what was known, or never left it.
 *
 *     fp_additions_find(&arena, &view, &additions);
 *     fp_additions_pass_over(&additions, &function);    for each function that was decoded
 *     fp_additions_remove(&additions);
 *
 * Each becomes one instruction that does nothing, so that all addresses stay. Jumps to it lead
 * behind it where their distance has room, and a jump that follows it takes its place. */
#ifndef FP_EXE_ADDITIONS_H
#define FP_EXE_ADDITIONS_H

#include "binary/machine.h"
#include "exe/elfview.h"

struct fp_addition {
    uint64_t address;
    uint64_t behind; /* where control goes from there, past jumps and other additions */
    uint8_t length;
    bool jumps; /* a jump follows */
};

struct fp_additions {
    const struct fp_elfview *view;
    struct fp_addition *at; /* by address */
    size_t len;
};

/* Those that the file lists (footpath/abi.h). What is no addition to memory is left out. */
void fp_additions_find(struct fp_arena *arena, const struct fp_elfview *view,
                       struct fp_additions *additions);

/* Lets the jumps of a function, decoded from the file as it was, lead behind additions. */
void fp_additions_pass_over(const struct fp_additions *additions,
                            const struct fp_machine_function *function);

void fp_additions_remove(const struct fp_additions *additions);

#endif
