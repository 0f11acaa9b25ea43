/* 64-bit checksum of bytes: XXH64, by libxxhash. The runtime has its own small
 * implementation of the same function (runtime/core/rt_checksum.c). */
#ifndef FP_BASE_CHECKSUM_H
#define FP_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t fp_checksum(const void *bytes, size_t len, uint64_t seed);

#endif
