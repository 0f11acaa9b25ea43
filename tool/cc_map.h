/* What footpath-cc does with a program that was just linked: its map, and the order of its
 * marks. */
#ifndef FP_TOOL_FP_MAP_H
#define FP_TOOL_FP_MAP_H

#include "base/error.h"
#include "flags/flags.h"

/* Packs the map section of an ELF file, or moves it to FILE.fpmap. The sections behind
 * it move up. Where the marks of --fp-exits are in the order of the code, the program is told
 * so. A file that has neither, or that is no ELF file, stays as it is. */
bool cc_place_map(const char *path, enum fp_map_place how, struct fp_error *error);

#endif
