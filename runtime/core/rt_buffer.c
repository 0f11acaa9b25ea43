/* A buffer that grows by mremap, and packed integers in it (as base/varint.h).
 *
 * Not handled: a buffer that found no memory stays failed; the caller checks at the end.
 */
#include "rt.h"

#include <string.h>
#include <sys/mman.h>

enum { FIRST_SIZE = 1 << 16 };

static bool make_room(struct rt_buffer *b, size_t more)
{
    if (b->failed) return false;
    if (b->cap - b->len >= more) return true;
    size_t cap = b->cap ? b->cap * 2 : FIRST_SIZE;
    while (cap - b->len < more) cap *= 2;
    void *bytes = b->bytes
                      ? mremap(b->bytes, b->cap, cap, MREMAP_MAYMOVE)
                      : mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) {
        b->failed = true;
        return false;
    }
    b->bytes = bytes;
    b->cap = cap;
    return true;
}

void rt_put_bytes(struct rt_buffer *b, const void *bytes, size_t len)
{
    if (!make_room(b, len)) return;
    memcpy(b->bytes + b->len, bytes, len);
    b->len += len;
}

void rt_put_uint(struct rt_buffer *b, uint64_t value)
{
    if (b->cap - b->len < 10 && !make_room(b, 10))
        return; /* the buffer failed: its bytes are not used */
    for (; value > 0x7f; value >>= 7) b->bytes[b->len++] = (unsigned char)(value | 0x80);
    b->bytes[b->len++] = (unsigned char)value;
}

void rt_put_int(struct rt_buffer *b, int64_t value)
{
    rt_put_uint(b, ((uint64_t)value << 1) ^ (value < 0 ? UINT64_MAX : 0));
}

void rt_put_u32(struct rt_buffer *b, uint32_t value)
{
    rt_put_bytes(b, &value, sizeof value); /* this machine is little-endian */
}

void rt_put_u64(struct rt_buffer *b, uint64_t value)
{
    rt_put_bytes(b, &value, sizeof value);
}

void rt_put_string(struct rt_buffer *b, const char *string)
{
    size_t len = strlen(string);
    rt_put_uint(b, len);
    rt_put_bytes(b, string, len);
}

void rt_buffer_free(struct rt_buffer *b)
{
    if (b->bytes) munmap(b->bytes, b->cap);
    *b = (struct rt_buffer){0};
}
