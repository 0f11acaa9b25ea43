#include "base/checksum.h"

#include <xxhash.h>

uint64_t fp_checksum(const void *bytes, size_t len, uint64_t seed)
{
    return XXH64(bytes, len, seed);
}
