/* Map records, and the report of a program with that map. */
#include "fuzz.h"
#include "readers.h"

#include "base/checksum.h"
#include "profile/mappack.h"

#include <string.h>
#include <zstd.h>

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_error error = {0};
    fuzz_read_map(bytes, len, &error);
}

/* A packed map says what its frame unpacks to. */
static void repair_packed(unsigned char *bytes, size_t len)
{
    enum { SIZE = 8, CHECKSUM = 16, FRAME = 24 };
    static unsigned char room[1 << 20];
    uint64_t size = ZSTD_decompress(room, sizeof room, bytes + FRAME, len - FRAME);
    if (ZSTD_isError(size)) return;
    uint64_t checksum = fp_checksum(room, size, 0);
    memcpy(bytes + SIZE, &size, sizeof size);
    memcpy(bytes + CHECKSUM, &checksum, sizeof checksum);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    if (fp_map_is_packed(bytes, len))
        repair_packed(bytes, len);
    else
        fuzz_repair_map(bytes, len);
}
