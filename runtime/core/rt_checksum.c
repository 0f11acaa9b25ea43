/* XXH64, from its specification: four lanes of 8 bytes, then the rest, then an avalanche.
 * The tools use libxxhash for the same function.
 *
 * Not handled: data in several pieces; all bytes are in one place. */
#include "rt.h"

#include <string.h>

static const uint64_t P1 = 0x9e3779b185ebca87u, P2 = 0xc2b2ae3d27d4eb4fu, P3 = 0x165667b19e3779f9u,
                      P4 = 0x85ebca77c2b2ae63u, P5 = 0x27d4eb2f165667c5u;

static uint64_t rotate(uint64_t value, unsigned bits)
{
    return value << bits | value >> (64 - bits);
}

static uint64_t load(const unsigned char *bytes, size_t len)
{
    uint64_t value = 0;
    memcpy(&value, bytes, len);
    return value;
}

static uint64_t mixed(uint64_t lane, uint64_t word)
{
    return rotate(lane + word * P2, 31) * P1;
}

uint64_t rt_checksum(const void *data, size_t len, uint64_t seed)
{
    const unsigned char *at = data, *end = at + len;
    uint64_t hash = seed + P5;
    if (len >= 32) {
        uint64_t lanes[4] = {seed + P1 + P2, seed + P2, seed, seed - P1};
        for (; end - at >= 32; at += 32)
            for (int i = 0; i < 4; i++) lanes[i] = mixed(lanes[i], load(at + 8 * i, 8));
        hash =
            rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
        for (int i = 0; i < 4; i++) hash = (hash ^ mixed(0, lanes[i])) * P1 + P4;
    }
    hash += len;
    for (; end - at >= 8; at += 8) hash = rotate(hash ^ mixed(0, load(at, 8)), 27) * P1 + P4;
    if (end - at >= 4) {
        hash = rotate(hash ^ load(at, 4) * P1, 23) * P2 + P3;
        at += 4;
    }
    for (; at < end; at++) hash = rotate(hash ^ *at * P5, 11) * P1;
    hash = (hash ^ hash >> 33) * P2;
    hash = (hash ^ hash >> 29) * P3;
    return hash ^ hash >> 32;
}
