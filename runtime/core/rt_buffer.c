/* A buffer that grows, and packed integers in it (as base/varint.h).
 *
 * Not handled: a buffer that found no memory stays failed; the caller checks at the end.
 */
#include "rt.h"

#include <string.h>
#include <sys/mman.h>

/* ---- memory ---- */

/* A buffer begins in a room, if one is free: most buffers stay small, and then the kernel
 * need not be asked. The first rooms lie where memory is touched in any case. */
enum { SMALL_ROOM = 1 << 12, LARGE_ROOM = 1 << 14, NROOMS = 5, FIRST_SIZE = 1 << 16 };
RT_APART(unsigned char, rt_rooms, (1 << 12) + 2 * (1 << 14));

static struct room {
    unsigned char *bytes;
    size_t size;
    uint32_t taken;
} rooms[NROOMS] = {
    {rt_near_rooms[0], RT_NEAR_ROOM, 0},
    {rt_near_rooms[1], RT_NEAR_ROOM, 0},
    {rt_rooms, SMALL_ROOM, 0},
    {rt_rooms + SMALL_ROOM, LARGE_ROOM, 0},
    {rt_rooms + SMALL_ROOM + LARGE_ROOM, LARGE_ROOM, 0},
};

static struct room *room_of(const struct rt_buffer *b)
{
    for (size_t i = 0; i < NROOMS; i++)
        if (b->bytes == rooms[i].bytes) return &rooms[i];
    return NULL;
}

static struct room *take_room(size_t size)
{
    for (size_t i = 0; i < NROOMS; i++)
        if (rooms[i].size >= size && !__atomic_exchange_n(&rooms[i].taken, 1, __ATOMIC_ACQUIRE))
            return &rooms[i];
    return NULL;
}

static void give_memory_back(const struct rt_buffer *b)
{
    struct room *room = room_of(b);
    if (room)
        __atomic_store_n(&room->taken, 0, __ATOMIC_RELEASE);
    else if (b->bytes)
        munmap(b->bytes, b->cap);
}

static void move_to(struct rt_buffer *b, void *bytes, size_t cap)
{
    if (b->len) memcpy(bytes, b->bytes, b->len);
    give_memory_back(b);
    b->bytes = bytes;
    b->cap = cap;
}

/* Makes the memory `cap` bytes long, outside of the rooms. */
static bool grow(struct rt_buffer *b, size_t cap)
{
    bool mapped = b->bytes && !room_of(b);
    void *bytes = mapped
                      ? mremap(b->bytes, b->cap, cap, MREMAP_MAYMOVE)
                      : mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) return false;
    if (!mapped) move_to(b, bytes, cap);
    b->bytes = bytes;
    b->cap = cap;
    return true;
}

static bool make_room(struct rt_buffer *b, size_t more)
{
    if (b->failed) return false;
    if (b->cap - b->len >= more) return true;
    struct room *room = take_room(b->len + more);
    if (room) {
        move_to(b, room->bytes, room->size);
        return true;
    }
    size_t cap = b->cap > FIRST_SIZE / 2 ? b->cap * 2 : FIRST_SIZE;
    while (cap - b->len < more) cap *= 2;
    b->failed = !grow(b, cap);
    return !b->failed;
}

/* ---- putting ---- */

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
    give_memory_back(b);
    *b = (struct rt_buffer){0};
}
