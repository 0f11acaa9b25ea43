/* Functions of stripped objects, for samples and imported counts: FDEs where no symbol says what
 * the code is. Their cfgs are those of machine.h, not the exact ones of recovered.h. */
#ifndef FP_BINARY_FRAMEFUNCTIONS_H
#define FP_BINARY_FRAMEFUNCTIONS_H

#include "binary/frames.h"
#include "binary/machine.h"

/* Adds a function for each FDE that no function of an initialised machine overlaps and that starts
 * as a function does, together with its parts (parts.h). Functions keep no addresses: call this
 * before any is built. Where exceptions land is read from the frames from then on; they must live
 * as long as the machine. */
void fp_machine_add_frames(struct fp_machine *machine, const struct fp_frames *frames);

#endif
