/* Packed maps: a map section compressed into one zstd frame, and maps in a file beside their
 * program. docs/formats/map.md describes the bytes.
 *
 * Object files have plain records, which the linker joins and fills in. After the link
 * footpath-cc packs the section, or moves it to a file.
 */
#ifndef FP_PROFILE_MAPPACK_H
#define FP_PROFILE_MAPPACK_H

#include "base/arena.h"
#include "base/varint.h"
#include "footpath/profile_abi.h"

#include <stdbool.h>
#include <stddef.h>

#define FP_MAP_PACKED_MAGIC 0x317a7066u /* "fpz1" */

bool fp_map_is_packed(const unsigned char *bytes, size_t len);

/* Appends the packed form. */
void fp_map_pack(struct fp_writer *writer, const unsigned char *bytes, size_t len);

/* Bytes of memory that a map of len bytes, packed or plain, may take when it is read. Maps of
 * real programs take 30 to 70 times their packed length, so 256 MB and 40 times the length refuse
 * none of them; a file below 5 MB stays below 500 MB whatever it claims. */
size_t fp_map_most_memory(size_t len);

/* The plain records, in the arena; records that are not packed are returned as they are. NULL
 * with an error if they are damaged. */
const unsigned char *fp_map_unpack(struct fp_arena *arena, const char *path,
                                   const unsigned char *bytes, size_t len, size_t *unpacked,
                                   struct fp_error *error);

/* A map in a file of its own: of which build, the section of maps (packed or plain) and
 * that of live functions. */
struct fp_map_file {
    const unsigned char *build_id, *map, *live;
    size_t build_id_len, map_len, live_len;
};

void fp_map_file_encode(struct fp_writer *writer, const struct fp_map_file *file);
bool fp_map_file_decode(struct fp_reader *reader, struct fp_map_file *file);

#endif
