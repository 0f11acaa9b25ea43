/* Open-addressing hash tables: see table.h. */
#include "base/table.h"

#include "base/checksum.h"

#include <string.h>

enum { FIRST_CAP = 16 };

/* The finaliser of splitmix64: a bijection that spreads every input bit. */
uint64_t fp_hash64(uint64_t value)
{
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
}

uint64_t fp_hash_bytes(const void *bytes, size_t len, uint64_t seed)
{
    return fp_checksum(bytes, len, seed);
}

uint64_t fp_hash_string(const char *text)
{
    return fp_hash_bytes(text, strlen(text), 0);
}

void fp_table_init(struct fp_table *map, struct fp_arena *arena)
{
    *map = (struct fp_table){.arena = arena};
}

static struct fp_table_slot *map_slot(const struct fp_table *map, uint64_t key)
{
    size_t i = fp_hash64(key) & (map->cap - 1);
    while (map->slots[i].used && map->slots[i].key != key) i = (i + 1) & (map->cap - 1);
    return &map->slots[i];
}

static void map_grow(struct fp_table *map)
{
    struct fp_table old = *map;
    map->cap = old.cap ? old.cap * 2 : FIRST_CAP;
    map->slots = FP_NEW_ARRAY(map->arena, struct fp_table_slot, map->cap);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].used) *map_slot(map, old.slots[i].key) = old.slots[i];
}

uint64_t *fp_table_add(struct fp_table *map, uint64_t key)
{
    if ((map->len + 1) * 4 > map->cap * 3) map_grow(map);
    struct fp_table_slot *slot = map_slot(map, key);
    if (!slot->used) {
        *slot = (struct fp_table_slot){.key = key, .used = true};
        map->len++;
    }
    return &slot->value;
}

uint64_t *fp_table_find(const struct fp_table *map, uint64_t key)
{
    if (!map->cap) return NULL;
    struct fp_table_slot *slot = map_slot(map, key);
    return slot->used ? &slot->value : NULL;
}

bool fp_table_next(const struct fp_table *map, size_t *cursor, uint64_t *key, uint64_t *value)
{
    while (*cursor < map->cap) {
        const struct fp_table_slot *slot = &map->slots[(*cursor)++];
        if (!slot->used) continue;
        *key = slot->key;
        *value = slot->value;
        return true;
    }
    return false;
}

void fp_strtable_init(struct fp_strtable *map, struct fp_arena *arena)
{
    *map = (struct fp_strtable){.arena = arena};
}

static struct fp_strtable_slot *strmap_slot(const struct fp_strtable *map, const char *key,
                                            uint64_t hash)
{
    size_t i = hash & (map->cap - 1);
    for (; map->slots[i].key; i = (i + 1) & (map->cap - 1))
        if (map->slots[i].hash == hash && !strcmp(map->slots[i].key, key)) break;
    return &map->slots[i];
}

static void strmap_grow(struct fp_strtable *map)
{
    struct fp_strtable old = *map;
    map->cap = old.cap ? old.cap * 2 : FIRST_CAP;
    map->slots = FP_NEW_ARRAY(map->arena, struct fp_strtable_slot, map->cap);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].key) *strmap_slot(map, old.slots[i].key, old.slots[i].hash) = old.slots[i];
}

uint64_t *fp_strtable_add(struct fp_strtable *map, const char *key)
{
    if ((map->len + 1) * 4 > map->cap * 3) strmap_grow(map);
    uint64_t hash = fp_hash_string(key);
    struct fp_strtable_slot *slot = strmap_slot(map, key, hash);
    if (!slot->key) {
        slot->key = fp_arena_strdup(map->arena, key);
        slot->hash = hash;
        map->len++;
    }
    return &slot->value;
}

uint64_t *fp_strtable_find(const struct fp_strtable *map, const char *key)
{
    if (!map->cap) return NULL;
    struct fp_strtable_slot *slot = strmap_slot(map, key, fp_hash_string(key));
    return slot->key ? &slot->value : NULL;
}
