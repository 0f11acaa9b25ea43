/* Counts the paths in flight of frames that never return.
 *
 * Code built with --fp-exits has marks, which give the block of an address, and a stack
 * slot that holds the path register (docs/exits.md). Where frames are left (a jump, an
 * exception, an end of the process), the stack is walked and each frame given to this file.
 * Counts are kept per function, block and register value.
 *
 * Not handled: frames without unwind tables end a walk.
 */
#include "exits/rt_left.h"

#include "core/rt_unwind.h"
#include "footpath/live_abi.h"

#include <sys/mman.h>

/* ---- records ---- */

void *rt_pool_take(struct rt_pool *pool, size_t size, uint32_t most)
{
    char *records = rt_map_once(&pool->records, most * size);
    if (!records || __atomic_load_n(&pool->used, __ATOMIC_RELAXED) >= most) return NULL;
    uint32_t i = __atomic_fetch_add(&pool->used, 1, __ATOMIC_RELAXED);
    return i < most ? records + i * size : NULL;
}

/* ---- counts of what was left ---- */

enum { TABLE_SIZE = 1 << 14, PLACES = 64 };

enum { EMPTY, BUSY, READY };

struct left_table {
    void *more; /* the next table, or NULL */
    struct rt_left_count entries[TABLE_SIZE];
};

_Static_assert(sizeof(struct rt_left_count) == sizeof(struct fp_live_left) &&
                   offsetof(struct rt_left_count, left) ==
                       offsetof(struct fp_live_left, function) &&
                   offsetof(struct rt_left_count, count) == offsetof(struct fp_live_left, count) &&
                   offsetof(struct left_table, entries) == 8 && READY == (int)FP_LIVE_LEFT_READY,
               "as tools read it");

static void *left_tables; /* the first table, or NULL */

enum { TABLE_BYTES = (sizeof(struct left_table) + RT_PAGE - 1) / RT_PAGE * RT_PAGE };

/* In the live file, before anybody counts there. Others may make the table at the same time; the
 * first one is kept. */
static struct left_table *new_live_table(void **link)
{
    void *here = NULL;
    struct left_table *made = mmap(NULL, TABLE_BYTES, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return NULL;
    rt_live_map_left((char *)made, TABLE_BYTES);
    rt_hide_from_helgrind(made, TABLE_BYTES);
    if (__atomic_compare_exchange_n(link, &here, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    munmap(made, TABLE_BYTES);
    return here;
}

static struct left_table *next_table(void **link)
{
    struct left_table *table = __atomic_load_n(link, __ATOMIC_ACQUIRE);
    if (table) return table;
    return rt_is_live() ? new_live_table(link) : rt_map_once(link, sizeof *table);
}

void rt_in_flight_renew(void)
{
    for (struct left_table *table = left_tables; table; table = table->more)
        rt_live_renew_left((char *)table, TABLE_BYTES);
}

static bool is_entry_of(struct rt_left_count *entry, const struct rt_left *left)
{
    uint32_t state = __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE);
    if (state == EMPTY && __atomic_compare_exchange_n(&entry->state, &state, BUSY, false,
                                                      __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        entry->left = *left;
        __atomic_store_n(&entry->state, READY, __ATOMIC_RELEASE);
        return true;
    }
    return state == READY && entry->left.reg == left->reg && entry->left.block == left->block &&
           entry->left.function == left->function;
}

static uint64_t hash_of(const struct rt_left *left)
{
    uint64_t h = (left->function ^ left->block) * UINT64_C(0x9e3779b97f4a7c15);
    h = (h ^ left->reg) * UINT64_C(0xff51afd7ed558ccd);
    return h ^ h >> 32;
}

/* Passes over an entry that another thread is filling in. The same key may then have two
 * entries; readers of the profile add them up. */
struct rt_left_count *rt_left_entry(const struct rt_left *left)
{
    uint64_t at = hash_of(left);
    void **link = &left_tables;
    for (struct left_table *table; (table = next_table(link)); link = &table->more)
        for (uint64_t i = 0; i < PLACES; i++) {
            struct rt_left_count *entry = &table->entries[(at + i) % TABLE_SIZE];
            if (is_entry_of(entry, left)) return entry;
        }
    return NULL;
}

bool rt_frame_left(const struct rt_frame *frame, int64_t weight)
{
    struct rt_left left;
    if (!rt_has_marks() || !rt_identify_frame(frame, &left)) return false;
    rt_left_add(rt_left_entry(&left), weight);
    return true;
}

void rt_frames_left(const struct rt_frame *start, uint64_t until, int64_t weight)
{
    struct rt_process *process = rt_this.process;
    struct rt_frame frame = *start;
    while (rt_unwind_look(&frame)) {
        for (size_t i = 0; process && i < RT_MOST_MODULES; i++) {
            struct rt_module *module = __atomic_load_n(&process->core.modules[i], __ATOMIC_ACQUIRE);
            if (module && module->frame_left(&frame, weight)) break;
        }
        if (frame.cfa > until || !rt_unwind_step(&frame)) return;
    }
}

/* ---- for the profile ---- */

static void put_left(struct rt_buffer *out, const struct rt_left *left, int64_t count)
{
    rt_put_u64(out, left->function);
    rt_put_uint(out, left->block);
    rt_put_u64(out, left->reg);
    rt_put_int(out, count);
}

uint64_t rt_in_flight_now(struct rt_buffer *out, const struct rt_frame *start)
{
    uint64_t count = 0;
    struct rt_frame frame = *start;
    while (rt_has_marks() && rt_unwind_look(&frame)) {
        struct rt_left left;
        if (rt_identify_frame(&frame, &left)) {
            put_left(out, &left, 1);
            count++;
        }
        if (!rt_unwind_step(&frame)) break;
    }
    return count;
}

uint64_t rt_in_flight_left(struct rt_buffer *out)
{
    uint64_t count = 0;
    for (struct left_table *table = left_tables; table; table = table->more)
        for (size_t i = 0; i < TABLE_SIZE; i++) {
            const struct rt_left_count *entry = &table->entries[i];
            if (entry->state != READY || !entry->count) continue;
            put_left(out, &entry->left, entry->count);
            count++;
        }
    return count;
}

void rt_in_flight_clear(void)
{
    for (struct left_table *table = left_tables; table; table = table->more)
        for (size_t i = 0; i < TABLE_SIZE; i++) table->entries[i].count = 0;
}
