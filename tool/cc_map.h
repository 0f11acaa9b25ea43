/* What footpath-cc does with the map of a program that was just linked. */
#ifndef FP_TOOL_FP_MAP_H
#define FP_TOOL_FP_MAP_H

#include "base/error.h"
#include "flags/flags.h"

/* Packs the map section of an ELF file, or moves it to FILE.fpmap. The sections behind
 * it move up. A file that has no map, or that is no ELF file, stays as it is. */
bool cc_place_map(const char *path, enum fp_map_place how, struct fp_error *error);

#endif
