/* Arena allocation: chunks that double in size, each handed out from the front. */
#include "base/arena.h"

#include "base/checked.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 22, ALIGNMENT = 16 };

struct fp_arena_chunk {
    struct fp_arena_chunk *next;
    size_t used, size;
    _Alignas(ALIGNMENT) unsigned char bytes[];
};

void fp_arena_free(struct fp_arena *arena)
{
    struct fp_arena_chunk *chunk = arena->chunk;
    while (chunk) {
        struct fp_arena_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    arena->chunk = NULL;
    arena->total = 0;
}

/* A request larger than a chunk gets one of its own, behind the current one,
 * so that the room left in the current one is not lost. */
static struct fp_arena_chunk *chunk_with_room(struct fp_arena *arena, size_t size)
{
    struct fp_arena_chunk *head = arena->chunk;
    if (head && head->size - head->used >= size) return head;
    size_t want = head ? head->size * 2 : FIRST_CHUNK;
    if (want > LARGEST_CHUNK) want = LARGEST_CHUNK;
    int oversize = head && size > want;
    if (size > want) want = size;
    /* calloc of a large block is zero pages straight from the kernel */
    struct fp_arena_chunk *chunk = calloc(1, sizeof *chunk + want);
    if (!chunk) abort();
    chunk->size = want;
    if (oversize) {
        chunk->next = head->next;
        head->next = chunk;
    } else {
        chunk->next = head;
        arena->chunk = chunk;
    }
    return chunk;
}

void *fp_arena_alloc(struct fp_arena *arena, size_t size)
{
    if (size > SIZE_MAX / 2) abort();
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct fp_arena_chunk *chunk = chunk_with_room(arena, size);
    void *result = chunk->bytes + chunk->used;
    chunk->used += size;
    arena->total += size;
    return result;
}

void *fp_arena_array(struct fp_arena *arena, size_t count, size_t size)
{
    size_t bytes;
    if (fp_mul_overflows(count, size, &bytes)) abort();
    return fp_arena_alloc(arena, bytes);
}

char *fp_arena_strndup(struct fp_arena *arena, const char *text, size_t len)
{
    char *copy = fp_arena_alloc(arena, len + 1);
    if (len) memcpy(copy, text, len);
    return copy;
}

char *fp_arena_strdup(struct fp_arena *arena, const char *text)
{
    return fp_arena_strndup(arena, text, strlen(text));
}

char *fp_arena_printf(struct fp_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = fp_arena_alloc(arena, len < 0 ? 1 : (size_t)len + 1);
    if (len >= 0) vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}
