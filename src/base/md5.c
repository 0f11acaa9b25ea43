/* MD5: see md5.h. */
#include "base/md5.h"

#include <stdint.h>
#include <string.h>

static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
static const unsigned char shifts[4][4] = {
    {7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

static uint32_t word_at(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t turn(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

/* One step: the four words of the state move up by one place. */
static inline void step(uint32_t s[4], uint32_t mixed, uint32_t word, unsigned i)
{
    uint32_t fresh = s[1] + turn(s[0] + mixed + sines[i] + word, shifts[i / 16][i % 4]);
    s[0] = s[3], s[3] = s[2], s[2] = s[1], s[1] = fresh;
}

static void add_chunk(uint32_t state[4], const unsigned char *p)
{
    uint32_t words[16], s[4] = {state[0], state[1], state[2], state[3]};
    for (int i = 0; i < 16; i++) words[i] = word_at(p + 4 * i);
    for (unsigned i = 0; i < 16; i++) step(s, (s[1] & s[2]) | (~s[1] & s[3]), words[i], i);
    for (unsigned i = 16; i < 32; i++)
        step(s, (s[3] & s[1]) | (~s[3] & s[2]), words[(5 * i + 1) % 16], i);
    for (unsigned i = 32; i < 48; i++) step(s, s[1] ^ s[2] ^ s[3], words[(3 * i + 5) % 16], i);
    for (unsigned i = 48; i < 64; i++) step(s, s[2] ^ (s[1] | ~s[3]), words[7 * i % 16], i);
    for (int i = 0; i < 4; i++) state[i] += s[i];
}

void fp_md5(const void *bytes, size_t len, unsigned char digest[16])
{
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    unsigned char last[128] = {0};
    const unsigned char *p = bytes;
    size_t left = len;
    for (; left >= 64; left -= 64, p += 64) add_chunk(state, p);
    if (left) memcpy(last, p, left);
    last[left] = 0x80;
    size_t end = left < 56 ? 64 : 128;
    for (int i = 0; i < 8; i++)
        last[end - 8 + (size_t)i] = (unsigned char)((uint64_t)len * 8 >> 8 * i);
    for (size_t at = 0; at < end; at += 64) add_chunk(state, last + at);
    for (int i = 0; i < 16; i++) digest[i] = (unsigned char)(state[i / 4] >> 8 * (i % 4));
}
