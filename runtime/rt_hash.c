/* Hash tables of functions with too many paths for an array: what the inline
 * probe does not find (footpath/abi.h).
 *
 * Entries are never moved, so an increment may be interrupted by a signal handler
 * that counts in the same table, anywhere. What finds no place in the table goes
 * to further levels, each eight times as large as the one before, with eight
 * places per key. A level is made once and kept.
 *
 * The runtime is compiled without floating-point registers: the entry below saves
 * only the others. Nor must what it calls here use them, so that memory is asked for
 * by system call: sanitizers stand in for mmap.
 */
#include "rt.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEVEL_GROWTH 3
enum { PLACES = 8, SECOND_BITS = FP_HASH_BITS + LEVEL_GROWTH };

/* Laid out as the first, which is a struct fp_hash_table; bits grow from level to level. */
struct level {
    uint64_t more;
    uint64_t used;
    struct fp_hash_entry entries[];
};

static struct level *first_level(struct fp_hash_table *table)
{
    return (struct level *)table;
}

static size_t level_size(uint64_t bits)
{
    return sizeof(struct level) + ((size_t)sizeof(struct fp_hash_entry) << bits);
}

static struct level *new_level(uint64_t bits)
{
    int saved = errno;
    long got = syscall(SYS_mmap, NULL, level_size(bits), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0L);
    errno = saved;
    if (got == -1) return NULL;
    rt_hide_from_helgrind((void *)got, level_size(bits));
    return (struct level *)got;
}

/* The level behind a link, made if there is none. A handler that interrupts this
 * may make one too; the first wins. */
static struct level *follow(uint64_t *link, uint64_t bits)
{
    uint64_t here = __atomic_load_n(link, __ATOMIC_ACQUIRE);
    if (here) return (struct level *)here;
    struct level *made = new_level(bits);
    if (!made) return NULL;
    if (__atomic_compare_exchange_n(link, &here, (uint64_t)made, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return made;
    syscall(SYS_munmap, made, level_size(bits));
    return (struct level *)here;
}

/* Counts in the entry if it is the key's, or free and now the key's. The bit comes
 * before the key: a profile that is written in between has nothing to miss. */
static bool count_in(struct level *level, uint64_t bits, uint64_t at, uint64_t key)
{
    struct fp_hash_entry *entry = &level->entries[at];
    uint64_t found = __atomic_load_n(&entry->key, __ATOMIC_ACQUIRE);
    if (!found) {
        __atomic_fetch_or(&level->used, (uint64_t)1 << (at >> (bits - 6)), __ATOMIC_RELEASE);
        __atomic_compare_exchange_n(&entry->key, &found, key, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE);
    }
    if (found && found != key) return false;
    __atomic_fetch_add(&entry->count, 1, __ATOMIC_RELAXED);
    return true;
}

static bool count_in_level(struct level *level, uint64_t bits, uint64_t key)
{
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    uint64_t at = (key * FP_HASH_FACTOR) >> (64 - bits);
    for (uint64_t i = 0; i < PLACES; i++)
        if (count_in(level, bits, (at + i) & mask, key)) return true;
    return false;
}

static void count_key(struct fp_hash_table *table, uint64_t key)
{
    struct level *level = first_level(table);
    uint64_t bits = SECOND_BITS;
    if (count_in(level, FP_HASH_BITS, (key * FP_HASH_FACTOR) >> FP_HASH_SHIFT, key)) return;
    while ((level = follow(&level->more, bits))) {
        if (count_in_level(level, bits, key)) return;
        bits += LEVEL_GROWTH;
    }
    static uint32_t complained;
    if (!__atomic_exchange_n(&complained, 1, __ATOMIC_RELAXED))
        rt_warn("out of memory for path counts; some are lost", NULL);
}

/* table: as linked; this thread's copy lies its bias away. */
void rt_hash_count(uint64_t table, uint64_t key)
{
    count_key((struct fp_hash_table *)(table + (uint64_t)RT_LOCAL->bias), key);
}

__attribute__((used)) RT_ENTRY static void hash_miss(uint64_t table, uint64_t key)
{
    rt_hash_count(table, key);
}

/* A path ended while its thread's flag was set. */
__attribute__((used)) RT_ENTRY static void sample_array(uint64_t counters, uint64_t id)
{
    rt_sample_point(counters, id, false);
}

__attribute__((used)) RT_ENTRY static void sample_hash(uint64_t table, uint64_t id)
{
    rt_sample_point(table, id, true);
}

/* Shared or atomic counters: one table for all threads. */
__attribute__((used)) RT_ENTRY static void hash_shared(uint64_t table, uint64_t key)
{
    count_key((struct fp_hash_table *)table, key);
}

/* Instrumented code calls these as functions that preserve all registers but r11. */
#define ENTRY(name, quickly, target)                                              \
    __asm__(".pushsection .text\n"                                                \
            ".globl " name "\n.hidden " name "\n.type " name ",@function\n" name ":\n" \
            ".cfi_startproc\n" quickly                                            \
            "push %rax\n.cfi_adjust_cfa_offset 8\n"                               \
            "push %rcx\n.cfi_adjust_cfa_offset 8\n"                               \
            "push %rdx\n.cfi_adjust_cfa_offset 8\n"                               \
            "push %rsi\n.cfi_adjust_cfa_offset 8\n"                               \
            "push %rdi\n.cfi_adjust_cfa_offset 8\n"                               \
            "push %r8\n.cfi_adjust_cfa_offset 8\n"                                \
            "push %r9\n.cfi_adjust_cfa_offset 8\n"                                \
            "push %r10\n.cfi_adjust_cfa_offset 8\n"                               \
            "push %r11\n.cfi_adjust_cfa_offset 8\n"                               \
            "call " target "\n"                                                   \
            "pop %r11\n.cfi_adjust_cfa_offset -8\n"                               \
            "pop %r10\n.cfi_adjust_cfa_offset -8\n"                               \
            "pop %r9\n.cfi_adjust_cfa_offset -8\n"                                \
            "pop %r8\n.cfi_adjust_cfa_offset -8\n"                                \
            "pop %rdi\n.cfi_adjust_cfa_offset -8\n"                               \
            "pop %rsi\n.cfi_adjust_cfa_offset -8\n"                               \
            "pop %rdx\n.cfi_adjust_cfa_offset -8\n"                               \
            "pop %rcx\n.cfi_adjust_cfa_offset -8\n"                               \
            "pop %rax\n.cfi_adjust_cfa_offset -8\n"                               \
            "ret\n.cfi_endproc\n.size " name ", . - " name "\n.popsection\n")

#define TEXT_OF(macro) TEXT(macro)
#define TEXT(words) #words

/* Most keys that found no place in the table are the first of their place in the
 * second level, of which nobody but this thread knows: %gs is the base of the copy. */
#define COUNT_IN_SECOND                                                           \
    "mov %gs:(%rdi), %r11\n"                                                      \
    "test %r11, %r11\n"                                                           \
    "jz 1f\n"                                                                     \
    "push %rax\n.cfi_adjust_cfa_offset 8\n"                                       \
    "mov hash_factor(%rip), %rax\n"                                               \
    "imul %rsi, %rax\n"                                                           \
    "shr $64 - " TEXT_OF(FP_HASH_BITS) " - " TEXT_OF(LEVEL_GROWTH) ", %rax\n"     \
    "shl $4, %rax\n"                                                              \
    "add %rax, %r11\n"                                                            \
    "pop %rax\n.cfi_adjust_cfa_offset -8\n"                                       \
    "cmp %rsi, 16(%r11)\n"                                                        \
    "jne 1f\n"                                                                    \
    "incq 24(%r11)\n"                                                             \
    "ret\n"                                                                       \
    "1:\n"

__attribute__((used)) static const uint64_t hash_factor = FP_HASH_FACTOR;
_Static_assert(sizeof(struct fp_hash_entry) == 16 && offsetof(struct level, entries) == 16, "above");

ENTRY(FP_HASH_MISS_SYMBOL, COUNT_IN_SECOND, "hash_miss");
ENTRY(FP_HASH_SHARED_SYMBOL, "", "hash_shared");
ENTRY(FP_SAMPLE_ARRAY_SYMBOL, "", "sample_array");
ENTRY(FP_SAMPLE_HASH_SYMBOL, "", "sample_hash");

/* What was ever used of a level. */
static void each_used(struct level *level, uint64_t bits,
                      void (*call)(struct fp_hash_entry *, void *), void *context)
{
    uint64_t used = __atomic_load_n(&level->used, __ATOMIC_ACQUIRE);
    uint64_t count = (uint64_t)1 << (bits - 6);
    for (; used; used &= used - 1) {
        struct fp_hash_entry *entries = level->entries + (uint64_t)__builtin_ctzll(used) * count;
        for (uint64_t i = 0; i < count; i++)
            if (entries[i].key) call(&entries[i], context);
    }
}

static void each_key(struct fp_hash_table *table, void (*call)(struct fp_hash_entry *, void *),
                     void *context)
{
    uint64_t bits = FP_HASH_BITS;
    for (struct level *level = first_level(table); level; level = (struct level *)level->more) {
        each_used(level, bits, call, context);
        bits += LEVEL_GROWTH;
    }
}

struct visit {
    void (*call)(uint64_t, uint64_t, void *);
    void *context;
};

static void visit_entry(struct fp_hash_entry *entry, void *context)
{
    struct visit *visit = context;
    if (entry->count) visit->call(entry->key, entry->count, visit->context);
}

void rt_hash_each(struct fp_hash_table *table, void (*call)(uint64_t, uint64_t, void *), void *context)
{
    struct visit visit = {call, context};
    each_key(table, visit_entry, &visit);
}

static void clear_entry(struct fp_hash_entry *entry, void *context)
{
    (void)context;
    entry->count = 0;
}

/* Keys stay where they are; a handler may be about to count in one. */
void rt_hash_clear(struct fp_hash_table *table)
{
    each_key(table, clear_entry, NULL);
}
