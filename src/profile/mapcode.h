/* The map section: one record per function, made by the compiler plugin (fp_map_encode) and
 * read by the tools (fp_map_decode). docs/formats/map.md describes the bytes. */
#ifndef FP_PROFILE_MAPCODE_H
#define FP_PROFILE_MAPCODE_H

#include "base/varint.h"
#include "count/function.h"
#include "footpath/profile_abi.h"

#define FP_MAP_MAGIC 0x316d7066u /* "fpm1" */

/* A record is: magic u32, payload length u32, checksum of the payload u64,
 * addresses of the path and of the edge counters u64 each (filled in by the
 * linker), payload. */
enum { FP_MAP_HEADER_SIZE = 32 };

void fp_map_encode(struct fp_writer *writer, const struct fp_function *function);

/* Writes the whole record, with the addresses that the function has. */
void fp_map_write_record(struct fp_writer *writer, const struct fp_function *function);

/* Decodes one payload. The reader's file and base are for messages. */
bool fp_map_decode(struct fp_arena *arena, struct fp_reader *reader, struct fp_function *function);

#endif
