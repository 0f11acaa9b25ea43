/* Packed maps: see mappack.h. */
#include "profile/mappack.h"

#include "base/checked.h"
#include "base/checksum.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* magic u32, unused u32, unpacked size u64, checksum of the records u64 */
enum { PACKED_HEADER = 24 };

/* Records take at least this many times their length when they are decoded. */
enum { LEAST_GROWTH = 4 };

/* What the decoded records of a program take at most, in practice. */
enum { USUAL_GROWTH = 32 };

/* Maps of real programs are packed to a third or a fifth. */
enum { USUAL_PACKING = 8 };

/* The slow levels pay for maps of up to a quarter of a megabyte. Above, they would take half the
 * time of a link, or of footpath exe. */
enum { SMALL_MAP = 1 << 18, SMALL_LEVEL = 19, LARGE_LEVEL = 9 };

bool fp_map_is_packed(const unsigned char *bytes, size_t len)
{
    uint32_t magic;
    if (len < PACKED_HEADER) return false;
    memcpy(&magic, bytes, sizeof magic);
    return magic == FP_MAP_PACKED_MAGIC;
}

/* What any map may take, and what more for each byte: up to SMALL_LENGTH and above. */
static const size_t ANY_MEMORY = (size_t)256 << 20, SMALL_LENGTH = (size_t)5 << 20;
enum { SMALL_FACTOR = 40, LARGE_FACTOR = 160 };

size_t fp_map_most_memory(size_t len)
{
    size_t first = len < SMALL_LENGTH ? len : SMALL_LENGTH;
    return (size_t)fp_add_saturated(ANY_MEMORY + SMALL_FACTOR * first,
                                    fp_mul_saturated(LARGE_FACTOR, len - first));
}

/* The least length that may take so much memory. */
static size_t least_length(size_t memory)
{
    size_t small = fp_map_most_memory(SMALL_LENGTH);
    if (memory <= ANY_MEMORY) return 0;
    if (memory <= small) return (memory - ANY_MEMORY + SMALL_FACTOR - 1) / SMALL_FACTOR;
    return SMALL_LENGTH + (memory - small + LARGE_FACTOR - 1) / LARGE_FACTOR;
}

/* A map of thousands of functions that are nearly the same is packed so well that a reader would
 * refuse the memory it takes. It is made as long as it has to be, by a frame that zstd skips. */
static void pad(struct fp_writer *w, size_t packed, size_t len)
{
    static const unsigned char zeros[4096];
    size_t least = len / USUAL_PACKING > packed
                       ? least_length((size_t)fp_mul_saturated(USUAL_GROWTH, len))
                       : 0;
    if (least <= packed) return;
    size_t left = least - packed > UINT32_MAX ? UINT32_MAX : least - packed;
    fp_write_u32(w, ZSTD_MAGIC_SKIPPABLE_START);
    fp_write_u32(w, (uint32_t)left);
    for (; left; left -= left < sizeof zeros ? left : sizeof zeros)
        fp_write_bytes(w, zeros, left < sizeof zeros ? left : sizeof zeros);
}

void fp_map_pack(struct fp_writer *w, const unsigned char *bytes, size_t len)
{
    size_t room = ZSTD_compressBound(len);
    unsigned char *packed = malloc(room);
    if (!packed) abort();
    size_t got =
        ZSTD_compress(packed, room, bytes, len, len <= SMALL_MAP ? SMALL_LEVEL : LARGE_LEVEL);
    if (ZSTD_isError(got)) abort(); /* cannot fail but for memory: the room is large enough */
    fp_write_u32(w, FP_MAP_PACKED_MAGIC);
    fp_write_u32(w, 0);
    fp_write_u64(w, len);
    fp_write_u64(w, fp_checksum(bytes, len, 0));
    fp_write_bytes(w, packed, got);
    pad(w, PACKED_HEADER + got, len);
    free(packed);
}

const unsigned char *fp_map_unpack(struct fp_arena *arena, const char *path,
                                   const unsigned char *bytes, size_t len, size_t *unpacked,
                                   struct fp_error *error)
{
    struct fp_reader r = {.bytes = bytes, .len = len, .at = 8, .file = path, .error = error};
    *unpacked = len;
    if (!fp_map_is_packed(bytes, len)) return bytes;
    uint64_t size = fp_read_u64(&r), checksum = fp_read_u64(&r);
    if (size > fp_map_most_memory(len) / LEAST_GROWTH) {
        fp_fail_at(error, path, 8,
                   "map: expected at most %zu bytes in a packed map of %zu, got %" PRIu64,
                   fp_map_most_memory(len) / LEAST_GROWTH, len, size);
        return NULL;
    }
    unsigned char *records = fp_arena_alloc(arena, size + 1);
    size_t got = ZSTD_decompress(records, size, bytes + r.at, len - r.at);
    if (ZSTD_isError(got) || got != size || fp_checksum(records, size, 0) != checksum) {
        fp_fail_at(error, path, PACKED_HEADER,
                   "map: expected a packed map of %" PRIu64 " bytes, got %s", size,
                   ZSTD_isError(got) ? ZSTD_getErrorName(got) : "another size or checksum");
        return NULL;
    }
    *unpacked = size;
    return records;
}

/* ---- files ---- */

static void write_part(struct fp_writer *w, const unsigned char *bytes, size_t len)
{
    fp_write_u64(w, len);
    fp_write_bytes(w, bytes, len);
}

static const unsigned char *read_part(struct fp_reader *r, size_t *len)
{
    uint64_t size = fp_read_u64(r);
    if (!r->failed && size > fp_reader_left(r))
        fp_reader_fail(r, "expected %" PRIu64 " bytes, got %zu", size, fp_reader_left(r));
    *len = r->failed ? 0 : (size_t)size;
    return fp_read_bytes(r, *len);
}

void fp_map_file_encode(struct fp_writer *w, const struct fp_map_file *file)
{
    fp_write_u32(w, FP_MAP_FILE_MAGIC);
    fp_write_u32(w, 0);
    write_part(w, file->build_id, file->build_id_len);
    write_part(w, file->map, file->map_len);
    write_part(w, file->live, file->live_len);
}

bool fp_map_file_decode(struct fp_reader *r, struct fp_map_file *file)
{
    uint32_t magic = fp_read_u32(r);
    *file = (struct fp_map_file){0};
    if (!r->failed && magic != FP_MAP_FILE_MAGIC)
        return fp_reader_fail(r, "expected a map file of footpath (%08x), got %08x",
                              FP_MAP_FILE_MAGIC, magic);
    fp_read_u32(r);
    file->build_id = read_part(r, &file->build_id_len);
    file->map = read_part(r, &file->map_len);
    file->live = read_part(r, &file->live_len);
    return !r->failed;
}
