/* Source positions of machine code, from DWARF: for an address the line, and the
 * chain of functions inlined there.
 *
 * Compile units are read when an address of theirs is first asked for. Which
 * unit covers an address is taken from the units themselves, since clang writes
 * no .debug_aranges.
 */
#ifndef FP_BINARY_DWARFLINES_H
#define FP_BINARY_DWARFLINES_H

#include "count/function.h"
#include "binary/object.h"

struct fp_dwarf_lines;
struct fp_dwarf_lines *fp_dwarf_lines_new(struct fp_arena *arena, struct fp_object *object);

/* The function that starts at an address: its file and the line of its declaration. Its linkage
 * name may differ from that of its symbol. False if it is not known. */
struct fp_function_place {
    const char *linkage, *file;
    uint32_t line;
};
bool fp_dwarf_lines_function(struct fp_dwarf_lines *lines, uint64_t address,
                             struct fp_function_place *place);

/* One frame of the chain, innermost first. The line is of the address within that frame. */
struct fp_frame {
    const char *function, *linkage, *file;
    uint32_t declared, line, column, discriminator;
    uint64_t identity; /* of this inlined instance */
};
/* The number of frames, at most `room`; 0 if nothing is known. */
size_t fp_dwarf_lines_frames(struct fp_dwarf_lines *lines, uint64_t address,
                             struct fp_frame *frames, size_t room);

#endif
