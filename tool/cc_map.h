/* What footpath-cc does with the map of a program that was just linked. */
#ifndef FP_TOOL_CC_MAP_H
#define FP_TOOL_CC_MAP_H

#include "base/error.h"

enum cc_map { CC_MAP_PACKED, CC_MAP_PLAIN, CC_MAP_SEPARATE };

/* Packs the map section of an ELF file, or moves it to FILE.fpmap. The sections behind
 * it move up. A file that has no map, or that is no ELF file, stays as it is. */
bool cc_place_map(const char *path, enum cc_map how, struct fp_error *error);

#endif
