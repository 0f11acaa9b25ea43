/* Growing arrays in an arena.
 *
 *     FP_VEC(uint32_t) work = {0};
 *     fp_vec_push(arena, &work, 7);
 *     for (size_t i = 0; i < work.len; i++) use(work.at[i]);
 *
 * Growth copies into a block of twice the size and leaves the old one to the
 * arena, so a vector wastes at most as much as it holds.
 */
#ifndef FP_BASE_VEC_H
#define FP_BASE_VEC_H

#include "base/arena.h"

#include <string.h>

#define FP_VEC(type) \
    struct {         \
        type *at;    \
        size_t len;  \
        size_t cap;  \
    }

static inline void *fp_vec_grown(struct fp_arena *arena, const void *old, size_t len, size_t *cap,
                                 size_t need, size_t item)
{
    size_t wider = *cap ? *cap * 2 : 8;
    if (wider < need) wider = need;
    void *at = fp_arena_array(arena, wider, item);
    if (len) memcpy(at, old, len * item);
    *cap = wider;
    return at;
}

#define fp_vec_reserve(arena, vec, need)                                                        \
    ((vec)->cap >= (need)                                                                       \
         ? (void)0                                                                              \
         : (void)((vec)->at = fp_vec_grown((arena), (vec)->at, (vec)->len, &(vec)->cap, (need), \
                                           sizeof *(vec)->at)))

#define fp_vec_push(arena, vec, ...)                 \
    (fp_vec_reserve((arena), (vec), (vec)->len + 1), \
     (void)((vec)->at[(vec)->len++] = (__VA_ARGS__)))

#define fp_vec_pop(vec) ((vec)->at[--(vec)->len])

#endif
