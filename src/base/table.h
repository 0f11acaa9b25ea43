/* Hash tables: from 64-bit keys, and from strings, to 64-bit values.
 *
 * Open addressing with linear probing, in an arena. Callers mostly add and find; there is no
 * removal. Not for keys that an attacker chooses in large numbers: the hash has no secret.
 */
#ifndef FP_BASE_TABLE_H
#define FP_BASE_TABLE_H

#include "base/arena.h"

#include <stdbool.h>

struct fp_table_slot {
    uint64_t key, value;
    bool used;
};

struct fp_table {
    struct fp_arena *arena;
    struct fp_table_slot *slots;
    size_t len, cap; /* cap is 0 or a power of two */
};

void fp_table_init(struct fp_table *map, struct fp_arena *arena);

/* The value of key, added as 0 when it is new. Valid until the next add. */
uint64_t *fp_table_add(struct fp_table *map, uint64_t key);

/* NULL when key is absent. */
uint64_t *fp_table_find(const struct fp_table *map, uint64_t key);

/* Iterates in no particular order: for (i = 0; fp_table_next(map, &i, &k, &v);) */
bool fp_table_next(const struct fp_table *map, size_t *cursor, uint64_t *key, uint64_t *value);

struct fp_strtable_slot {
    const char *key;
    uint64_t hash, value;
};

struct fp_strtable {
    struct fp_arena *arena;
    struct fp_strtable_slot *slots;
    size_t len, cap;
};

void fp_strtable_init(struct fp_strtable *map, struct fp_arena *arena);

/* As above; the key is copied when it is new. */
uint64_t *fp_strtable_add(struct fp_strtable *map, const char *key);
uint64_t *fp_strtable_find(const struct fp_strtable *map, const char *key);

uint64_t fp_hash64(uint64_t value);
uint64_t fp_hash_bytes(const void *bytes, size_t len, uint64_t seed);
uint64_t fp_hash_string(const char *text);

#endif
