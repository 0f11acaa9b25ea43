/* Hash tables of functions with too many paths for an array (footpath/abi.h). Instrumented
 * code probes a table inline and calls here when the probe misses.
 *
 * Where the table is to be a sparse array (rt_sparse.c), instrumented code calls here while there
 * is none. A function counts on trial first, in a level of few entries: most functions run
 * seldom, and an array takes a page for each path. When a path is counted often, or the entries
 * do not suffice, the level is closed and its counts go into an array.
 *
 * Entries are never moved, so a signal handler that counts in the same table may interrupt
 * an increment anywhere. The level that the probe sees has one place per key. When a key
 * finds its place taken, a level sixteen times as large replaces this one, which keeps what
 * it has counted. Keys without a place in the largest level go to further levels, each
 * eight times as large as the one before, with eight places per key. A level that was used is
 * never freed.
 *
 * Instrumented code expects floating-point registers unchanged, and the entries below do
 * not save them. The runtime is compiled without them. mmap is called as a system call:
 * sanitizers stand in for libc's, and theirs may use these registers.
 *
 * Not handled: without memory for a level a count is lost, with one warning.
 */
#include "rt.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEVEL_GROWTH 3
enum { PLACES = 8, SECOND_BITS = FP_HASH_BITS + LEVEL_GROWTH };

enum { FIRST_BITS = 4, GROWTH_BITS = 4, ENTRY_BITS = 4 };
_Static_assert((FP_HASH_BITS - FIRST_BITS) % GROWTH_BITS == 0, "the largest is reached");

const struct {
    struct fp_hash_level level;
    struct fp_hash_entry entry;
} rt_hash_empty __asm__(FP_HASH_EMPTY_SYMBOL) FP_HIDDEN = {{0}, {0}};
__asm__(".hidden " FP_HASH_EMPTY_SYMBOL "\n");

/* A mask is of bytes: see new_level. Not by popcount, which is a call of libgcc's: a library may be
 * linked without that. */
static uint64_t bits_of(const struct fp_hash_level *level)
{
    return level->mask ? 64 - ENTRY_BITS - (uint64_t)__builtin_clzll(level->mask) : 0;
}

static size_t level_size(uint64_t bits)
{
    return sizeof(struct fp_hash_level) + ((size_t)sizeof(struct fp_hash_entry) << bits);
}

/* ---- memory ---- */

static void *new_pages(size_t size)
{
    int saved = errno;
    void *live = rt_live_take(size);
    if (live) return live;
    long got = syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
    errno = saved;
    if (got == -1) return NULL;
    rt_hide_from_helgrind((void *)got, size);
    return (void *)got;
}

static void give_pages(void *pages, size_t size)
{
    if (!rt_live_holds(pages)) syscall(SYS_munmap, pages, size);
}

/* Small levels share a chunk of pages. A handler that interrupts this may take a level from
 * the same chunk. The first chunk is there when the program starts: one that runs with as little
 * address space as it can needs no more for its first paths. */
struct chunk {
    uint64_t used;
    char bytes[(1 << 16) - sizeof(uint64_t)];
};
RT_APART(struct chunk, rt_first_levels, 1 << 16);

static struct chunk *current = rt_first_levels;

void rt_hash_begin_live(void)
{
    const struct rt_range *tables = &rt_this.ranges[RT_TABLES];
    struct chunk *made = tables->start != tables->end ? rt_live_take(sizeof *made) : NULL;
    __atomic_store_n(&current, made ? made : rt_first_levels, __ATOMIC_RELEASE);
}

static void *small_level(size_t size)
{
    for (;;) {
        struct chunk *chunk = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
        uint64_t at = __atomic_fetch_add(&chunk->used, size, __ATOMIC_RELAXED);
        if (!at && chunk == rt_first_levels) rt_hide_from_helgrind(chunk, sizeof *chunk);
        if (at + size <= sizeof chunk->bytes) return chunk->bytes + at;
        struct chunk *made = new_pages(sizeof *made);
        if (!made) return NULL;
        if (!__atomic_compare_exchange_n(&current, &chunk, made, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_ACQUIRE))
            give_pages(made, sizeof *made);
    }
}

static struct fp_hash_level *new_level(uint64_t bits)
{
    size_t size = level_size(bits);
    struct fp_hash_level *level = bits < FP_HASH_BITS ? small_level(size) : new_pages(size);
    if (level) level->mask = (((uint64_t)1 << bits) - 1) << ENTRY_BITS;
    return level;
}

static void free_level(struct fp_hash_level *level)
{
    if (bits_of(level) >= FP_HASH_BITS) give_pages(level, level_size(bits_of(level)));
}

/* ---- counting ---- */

/* The level behind a link, made if there is none. A handler that interrupts this may make
 * one too; the first one is kept. */
static struct fp_hash_level *follow(uint64_t *link, uint64_t bits)
{
    uint64_t here = __atomic_load_n(link, __ATOMIC_ACQUIRE);
    if (here) return (struct fp_hash_level *)here;
    struct fp_hash_level *made = new_level(bits);
    if (!made) return NULL;
    if (__atomic_compare_exchange_n(link, &here, (uint64_t)made, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return made;
    free_level(made);
    return (struct fp_hash_level *)here;
}

/* Which 64th of a level an entry is in. */
static uint64_t part_of(uint64_t bits, uint64_t at)
{
    return bits >= 6 ? at >> (bits - 6) : at << (6 - bits);
}

/* A level that was on trial: an array has its counts, and its own ones stay as they are. A profile
 * that is written meanwhile finds all in one of the two. */
#define CLOSED (UINT64_C(1) << 63)

/* Returns the count, or 0 where it is closed. */
static uint64_t add(uint64_t *count, uint64_t times)
{
    uint64_t old = __atomic_load_n(count, __ATOMIC_RELAXED);
    while (!(old & CLOSED))
        if (__atomic_compare_exchange_n(count, &old, old + times, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
            return old + times;
    return 0;
}

/* Counts in the entry if it has this key, or is free and gets it. Returns the count, or 0. The
 * bit of `used` is set before the key, so that a profile written in between misses no key. */
static uint64_t count_in(struct fp_hash_level *level, uint64_t bits, uint64_t at, uint64_t key,
                         uint64_t times)
{
    struct fp_hash_entry *entry = &level->entries[at];
    uint64_t found = __atomic_load_n(&entry->key, __ATOMIC_ACQUIRE);
    if (!found) {
        __atomic_fetch_or(&level->used, (uint64_t)1 << part_of(bits, at), __ATOMIC_RELEASE);
        __atomic_compare_exchange_n(&entry->key, &found, key, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE);
    }
    return found && found != key ? 0 : add(&entry->count, times);
}

static uint64_t count_in_level(struct fp_hash_level *level, uint64_t bits, uint64_t key,
                               uint64_t times)
{
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    uint64_t at = (key * FP_HASH_FACTOR) >> (64 - bits);
    uint64_t count = 0;
    for (uint64_t i = 0; i < PLACES && !count; i++)
        count = count_in(level, bits, (at + i) & mask, key, times);
    return count;
}

static bool count_in_further(struct fp_hash_level *level, uint64_t key, uint64_t times)
{
    for (uint64_t bits = SECOND_BITS; (level = follow(&level->more, bits)); bits += LEVEL_GROWTH)
        if (count_in_level(level, bits, key, times)) return true;
    return false;
}

/* Replaces the level by a larger one. Threads that share a table, and handlers, may do so at
 * the same time; the first one is kept. */
static bool grow(struct fp_hash_table *table, const struct fp_hash_level *level)
{
    uint64_t bits = bits_of(level) ? bits_of(level) + GROWTH_BITS : FIRST_BITS;
    struct fp_hash_level *made = new_level(bits);
    uint64_t sign = table->nsparse ? FP_SPARSE_LEVELS | FP_SPARSE_LASTING : 0;
    uint64_t here = (uint64_t)level | sign;
    if (!made) return false;
    made->older = bits > FIRST_BITS ? (uint64_t)level : 0;
    if (!__atomic_compare_exchange_n(&table->level, &here, (uint64_t)made | sign, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        free_level(made);
    return true;
}

static struct fp_hash_level *level_at(uint64_t word)
{
    return (struct fp_hash_level *)(word & ~(FP_SPARSE_LEVELS | FP_SPARSE_LASTING));
}

/* NULL where there is a sparse array, or nothing yet. */
static struct fp_hash_level *level_of(const struct fp_hash_table *table)
{
    uint64_t word = __atomic_load_n(&table->level, __ATOMIC_ACQUIRE);
    return table->nsparse && !(word & FP_SPARSE_LEVELS) ? NULL : level_at(word);
}

static bool try_to_count(struct fp_hash_table *table, uint64_t key, uint64_t times)
{
    for (;;) {
        struct fp_hash_level *level = level_of(table);
        uint64_t bits = bits_of(level);
        uint64_t at = ((key * FP_PROBE_FACTOR) >> FP_PROBE_SHIFT & level->mask) >> ENTRY_BITS;
        if (bits && count_in(level, bits, at, key, times)) return true;
        if (bits == FP_HASH_BITS) return count_in_further(level, key, times);
        if (!grow(table, level)) return false;
    }
}

/* ---- counting in a sparse array, or on trial ---- */

enum { HOT = 64 }; /* an array takes as long to make as so many calls take */

/* Returns the count, or 0 where the key has no place, or nothing is on trial. */
static uint64_t count_on_trial(struct fp_hash_table *table, uint64_t key, uint64_t times)
{
    uint64_t here = __atomic_load_n(&table->level, __ATOMIC_ACQUIRE);
    if (!here) {
        uint64_t made = (uint64_t)new_level(FIRST_BITS);
        if (!made) return 0;
        made |= FP_SPARSE_LEVELS;
        if (__atomic_compare_exchange_n(&table->level, &here, made, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            here = made;
    }
    bool on_trial = here & FP_SPARSE_LEVELS && !(here & FP_SPARSE_LASTING);
    return on_trial ? count_in_level(level_at(here), FIRST_BITS, key, times) : 0;
}

void rt_hash_close(uint64_t word, uint64_t *array)
{
    struct fp_hash_entry *entries = level_at(word)->entries;
    for (int i = 0; i < 1 << FIRST_BITS; i++) {
        uint64_t count = __atomic_fetch_or(&entries[i].count, CLOSED, __ATOMIC_ACQ_REL) & ~CLOSED;
        if (count) array[entries[i].key - 1] += count;
    }
}

/* False where there is no array, but levels. */
static bool count_sparsely(struct fp_hash_table *table, uint64_t key, uint64_t times)
{
    uint64_t count = count_on_trial(table, key, times);
    uint64_t *array = count && count < HOT * times ? NULL : rt_sparse_make(table);
    if (!count && array) __atomic_fetch_add(&array[key - 1], times, __ATOMIC_RELAXED);
    return count || array;
}

static void count_key(struct fp_hash_table *table, uint64_t key, uint64_t times)
{
    if (table->nsparse && count_sparsely(table, key, times)) return;
    if (try_to_count(table, key, times)) return;
    static uint32_t complained;
    if (!__atomic_exchange_n(&complained, 1, __ATOMIC_RELAXED))
        rt_warn("out of memory for path counts; some are lost", NULL);
}

void rt_hash_count(uint64_t table, uint64_t key, uint64_t times)
{
    count_key((struct fp_hash_table *)(table + (uint64_t)RT_LOCAL->core.bias), key, times);
}

__attribute__((used)) RT_ENTRY static void hash_miss(uint64_t table, uint64_t key)
{
    rt_hash_count(table, key, 1);
}

__attribute__((used)) RT_ENTRY static void gate_miss(uint64_t gate, uint64_t counter)
{
    rt_gate_count(gate, counter);
}

/* A path ended while its thread's flag was set. */
static void sample_at(struct rt_ending end, uint64_t path, const uint64_t *from)
{
    end.id = path & ~(FP_SAMPLE_LAP | FP_SAMPLE_LAST);
    end.lap = path & FP_SAMPLE_LAP;
    end.last = path & FP_SAMPLE_LAST;
    end.pc = *from - 1;
    end.sp = (uint64_t)(from + 1);
    rt_sample_point(&end);
}

/* from: where the return address to the instrumented code lies. */
__attribute__((used)) RT_ENTRY static void sample_array(uint64_t counters, uint64_t path,
                                                        uint64_t cost, const uint64_t *from,
                                                        uint64_t bp)
{
    sample_at((struct rt_ending){.counters = counters, .cost = cost, .bp = bp}, path, from);
}

__attribute__((used)) RT_ENTRY static void sample_hash(uint64_t table, uint64_t path, uint64_t cost,
                                                       const uint64_t *from, uint64_t bp)
{
    sample_at((struct rt_ending){.counters = table, .cost = cost, .bp = bp, .hashed = true}, path,
              from);
}

/* With shared or atomic counters all threads have one table. */
__attribute__((used)) RT_ENTRY static void hash_shared(uint64_t table, uint64_t key)
{
    count_key((struct fp_hash_table *)table, key, 1);
}

/* Instrumented code calls these as functions that preserve all registers but r11. */
#define ENTRY(name, quickly, target) ENTRY_WITH(name, quickly, "", target)
#define ENTRY_WITH(name, quickly, more, target)                                        \
    __asm__(".pushsection .text\n"                                                     \
            ".globl " name "\n.hidden " name "\n.type " name ",@function\n" name ":\n" \
            ".cfi_startproc\n" quickly "push %rax\n.cfi_adjust_cfa_offset 8\n"         \
            "push %rcx\n.cfi_adjust_cfa_offset 8\n"                                    \
            "push %rdx\n.cfi_adjust_cfa_offset 8\n"                                    \
            "push %rsi\n.cfi_adjust_cfa_offset 8\n"                                    \
            "push %rdi\n.cfi_adjust_cfa_offset 8\n"                                    \
            "push %r8\n.cfi_adjust_cfa_offset 8\n"                                     \
            "push %r9\n.cfi_adjust_cfa_offset 8\n"                                     \
            "push %r10\n.cfi_adjust_cfa_offset 8\n"                                    \
            "push %r11\n.cfi_adjust_cfa_offset 8\n" more "call " target "\n"           \
            "pop %r11\n.cfi_adjust_cfa_offset -8\n"                                    \
            "pop %r10\n.cfi_adjust_cfa_offset -8\n"                                    \
            "pop %r9\n.cfi_adjust_cfa_offset -8\n"                                     \
            "pop %r8\n.cfi_adjust_cfa_offset -8\n"                                     \
            "pop %rdi\n.cfi_adjust_cfa_offset -8\n"                                    \
            "pop %rsi\n.cfi_adjust_cfa_offset -8\n"                                    \
            "pop %rdx\n.cfi_adjust_cfa_offset -8\n"                                    \
            "pop %rcx\n.cfi_adjust_cfa_offset -8\n"                                    \
            "pop %rax\n.cfi_adjust_cfa_offset -8\n"                                    \
            "ret\n.cfi_endproc\n.size " name ", . - " name "\n.popsection\n")

#define TEXT_OF(macro) TEXT(macro)
#define TEXT(words) #words

/* Counts in an entry of the level in %r11, if the entry has the key; else goes on to what
 * follows. `place` makes the entry's distance of the hash in %rax. Only this thread counts there:
 * its copy of the table, at the base of %gs, has levels of its own. */
#define COUNT_AT(factor, place)                  \
    "push %rax\n.cfi_adjust_cfa_offset 8\n"      \
    "mov " factor "(%rip), %rax\n"               \
    "imul %rsi, %rax\n" place "add %rax, %r11\n" \
    "pop %rax\n.cfi_adjust_cfa_offset -8\n"      \
    "cmp %rsi, 32(%r11)\n"                       \
    "jne 1f\n"                                   \
    "incq 40(%r11)\n"                            \
    "ret\n"                                      \
    "1:\n"

/* Most keys without a place in the first level are in their first place of the second, so
 * this is tried without a call. */
#define COUNT_IN_SECOND                                                                 \
    "mov %gs:(%rdi), %r11\n"                                                            \
    "mov 16(%r11), %r11\n"                                                              \
    "test %r11, %r11\n"                                                                 \
    "jz 1f\n" COUNT_AT("hash_factor", "shr $64 - " TEXT_OF(FP_HASH_BITS) " - " TEXT_OF( \
                                          LEVEL_GROWTH) ", %rax\n"                      \
                                                        "shl $4, %rax\n")

/* Where levels take the place of a sparse array, instrumented code calls for each count. On trial
 * all is left to the function: the level may be closed at any time. */
#define COUNT_IN_FIRST                                                    \
    "mov %gs:(%rdi), %r11\n"                                              \
    "btr $62, %r11\n"                                                     \
    "jnc 1f\n"                                                            \
    "btr $63, %r11\n" COUNT_AT("probe_factor",                            \
                               "shr $" TEXT_OF(FP_PROBE_SHIFT) ", %rax\n" \
                                                               "and (%r11), %rax\n")

__attribute__((used)) static const uint64_t hash_factor = FP_HASH_FACTOR;
__attribute__((used)) static const uint64_t probe_factor = FP_PROBE_FACTOR;
/* What the code above and the inline probe of instrumented code have as numbers. */
_Static_assert(offsetof(struct fp_hash_table, level) == 0 && sizeof(struct fp_hash_table) == 24,
               "the table as linked");
_Static_assert(FP_SPARSE_LEVELS == UINT64_C(1) << 63 && FP_SPARSE_LASTING == UINT64_C(1) << 62,
               "the first place of a key");
_Static_assert(offsetof(struct fp_hash_level, mask) == 0 &&
                   offsetof(struct fp_hash_level, more) == 16 &&
                   offsetof(struct fp_hash_level, entries) == 32,
               "a level");
_Static_assert(sizeof(struct fp_hash_entry) == 16 && offsetof(struct fp_hash_entry, key) == 0 &&
                   offsetof(struct fp_hash_entry, count) == 8,
               "an entry");

ENTRY(FP_HASH_MISS_SYMBOL, COUNT_IN_SECOND, "hash_miss");
ENTRY(FP_SPARSE_MISS_SYMBOL, COUNT_IN_FIRST, "hash_miss");
ENTRY(FP_HASH_SHARED_SYMBOL, "", "hash_shared");
ENTRY(FP_GATE_MISS_SYMBOL, "", "gate_miss");
/* Nine registers above: the return address. */
#define WHERE "lea 72(%rsp), %rcx\nmov %rbp, %r8\n"
ENTRY_WITH(FP_SAMPLE_ARRAY_SYMBOL, "", WHERE, "sample_array");
ENTRY_WITH(FP_SAMPLE_HASH_SYMBOL, "", WHERE, "sample_hash");

extern const char entry_of_miss[] __asm__(FP_HASH_MISS_SYMBOL) FP_HIDDEN;
extern const char entry_of_sparse[] __asm__(FP_SPARSE_MISS_SYMBOL) FP_HIDDEN;
extern const char entry_of_shared[] __asm__(FP_HASH_SHARED_SYMBOL) FP_HIDDEN;
extern const char entry_of_gate[] __asm__(FP_GATE_MISS_SYMBOL) FP_HIDDEN;

bool rt_hash_is_entry(uint64_t function)
{
    return function == (uint64_t)entry_of_miss || function == (uint64_t)entry_of_sparse ||
           function == (uint64_t)entry_of_shared || function == (uint64_t)entry_of_gate;
}

void rt_hash_empty_copy(const struct rt_module *module, int64_t bias)
{
    const struct rt_range *range = &module->ranges[RT_TABLES];
    for (char *at = range->start; at < range->end; at += FP_HASH_TABLE_SIZE) {
        struct fp_hash_table *copy = (struct fp_hash_table *)(at + bias);
        *copy = *(const struct fp_hash_table *)at; /* a live file has no more than the copy */
        copy->level = copy->nsparse ? 0 : (uint64_t)module->empty;
    }
}

/* Calls with every entry of a level that has a key. */
static void each_used(struct fp_hash_level *level, void (*call)(struct fp_hash_entry *, void *),
                      void *context)
{
    uint64_t used = __atomic_load_n(&level->used, __ATOMIC_ACQUIRE), bits = bits_of(level);
    uint64_t count = bits > 6 ? (uint64_t)1 << (bits - 6) : 1;
    for (; used; used &= used - 1) {
        uint64_t part = (uint64_t)__builtin_ctzll(used);
        struct fp_hash_entry *entries =
            level->entries + (bits >= 6 ? part * count : part >> (6 - bits));
        for (uint64_t i = 0; i < count; i++)
            if (entries[i].key) call(&entries[i], context);
    }
}

static void each_key(struct fp_hash_table *table, void (*call)(struct fp_hash_entry *, void *),
                     void *context)
{
    for (struct fp_hash_level *level = level_of(table); level;
         level = (struct fp_hash_level *)level->older)
        for (struct fp_hash_level *more = level; more; more = (struct fp_hash_level *)more->more)
            each_used(more, call, context);
}

struct entry_visit {
    void (*call)(uint64_t, uint64_t, void *);
    void *context;
};

static void visit_entry(struct fp_hash_entry *entry, void *context)
{
    struct entry_visit *visit = context;
    uint64_t count = __atomic_load_n(&entry->count, __ATOMIC_ACQUIRE) & ~CLOSED;
    if (count) visit->call(entry->key, count, visit->context);
}

void rt_hash_each(struct fp_hash_table *table, void (*call)(uint64_t, uint64_t, void *),
                  void *context)
{
    struct entry_visit visit = {call, context};
    each_key(table, visit_entry, &visit);
}

static void clear_entry(struct fp_hash_entry *entry, void *context)
{
    (void)context;
    __atomic_fetch_and(&entry->count, CLOSED, __ATOMIC_RELAXED);
}

/* Keys stay in their places: a handler may be about to count there. */
void rt_hash_clear(struct fp_hash_table *table)
{
    each_key(table, clear_entry, NULL);
}
