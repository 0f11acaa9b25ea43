/* Arena: memory with one lifetime per unit of work.
 *
 * A pass gets an arena from its caller, allocates from it without ever
 * freeing, and the caller drops everything at once. Memory is zeroed.
 * Allocation does not fail: a process that has no memory left ends by abort(),
 * so callers bound sizes that come from a file before they ask.
 */
#ifndef FP_BASE_ARENA_H
#define FP_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct fp_arena_chunk;

struct fp_arena {
    struct fp_arena_chunk *chunk;
    size_t total; /* bytes handed out, for reports and tests */
};

/* A zeroed struct fp_arena is an empty arena. */
void fp_arena_free(struct fp_arena *arena);

/* size bytes, zeroed, aligned for any type. */
void *fp_arena_alloc(struct fp_arena *arena, size_t size);

/* count * size bytes, with the product checked. */
void *fp_arena_array(struct fp_arena *arena, size_t count, size_t size);

/* A copy of len bytes with a NUL behind them. */
char *fp_arena_strndup(struct fp_arena *arena, const char *text, size_t len);
char *fp_arena_strdup(struct fp_arena *arena, const char *text);
char *fp_arena_printf(struct fp_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define FP_NEW(arena, type) ((type *)fp_arena_alloc((arena), sizeof(type)))
#define FP_NEW_ARRAY(arena, type, count) ((type *)fp_arena_array((arena), (count), sizeof(type)))

#endif
