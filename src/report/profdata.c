/* LLVM's indexed profile, version 5, with the bit of IR instrumentation
 * (docs/formats/llvm-profdata.md).
 *
 *     header, summary, table of functions: chains of entries, then the offsets of the chains
 *
 * Integers are little-endian. Version 5 is the newest whose header all supported LLVMs read and
 * that needs no empty parts.
 */
#include "report/llvmprofile.h"

#include "base/checked.h"
#include "count/values.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC UINT64_C(0x8169666f72706cff) /* "\xfflprofi\x81" */
enum { VERSION = 5, OFFSET_OF_TABLE = 32 };
#define IR_LEVEL (UINT64_C(1) << 56)

static void put_u16(struct fp_writer *out, size_t value)
{
    fp_write_u8(out, (uint8_t)value);
    fp_write_u8(out, (uint8_t)(value >> 8));
}

static void put_zeros(struct fp_writer *out, size_t n)
{
    while (n--) fp_write_u8(out, 0);
}

static void patch_u64(struct fp_writer *out, size_t at, uint64_t value)
{
    for (int i = 0; i < 8; i++) out->bytes[at + (size_t)i] = (unsigned char)(value >> 8 * i);
}

/* ---- the summary ---- */

struct summary {
    uint64_t total, most, most_at_entry, most_inside;
    uint64_t *counts;
    size_t ncounts;
};

static int larger_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* The first counter counts as the function's entry, as LLVM takes it here. */
static void sum_up(struct fp_arena *arena, const struct fp_llvm_profile *profile, struct summary *s)
{
    size_t n = 0;
    for (size_t i = 0; i < profile->functions.len; i++) n += profile->functions.at[i].ncounters;
    *s = (struct summary){.counts = FP_NEW_ARRAY(arena, uint64_t, n)};
    for (size_t i = 0; i < profile->functions.len; i++) {
        const struct fp_llvm_function *f = &profile->functions.at[i];
        for (uint32_t k = 0; k < f->ncounters; k++) {
            uint64_t count = f->counters[k], *most = k ? &s->most_inside : &s->most_at_entry;
            s->counts[s->ncounts++] = count;
            s->total = fp_add_saturated(s->total, count);
            if (count > *most) *most = count;
            if (count > s->most) s->most = count;
        }
    }
    if (n) qsort(s->counts, n, sizeof *s->counts, larger_first);
}

/* How many of the largest counts make up so many millionths of all, and the least of them. All
 * counts that are equal to it are among them. */
static void put_cutoffs(struct fp_writer *out, const struct summary *s)
{
    static const uint32_t cutoffs[] = {10000,  100000, 200000, 300000, 400000, 500000,
                                       600000, 700000, 800000, 900000, 950000, 990000,
                                       999000, 999900, 999990, 999999};
    size_t at = 0;
    uint64_t sum = 0, last = 0;
    for (size_t i = 0; i < sizeof cutoffs / sizeof *cutoffs; i++) {
        uint64_t wanted = (uint64_t)((unsigned __int128)s->total * cutoffs[i] / 1000000);
        while (at < s->ncounts && (sum < wanted || (at && s->counts[at] == last))) {
            last = s->counts[at++];
            sum = fp_add_saturated(sum, last);
        }
        fp_write_u64(out, cutoffs[i]);
        fp_write_u64(out, last);
        fp_write_u64(out, at);
    }
}

static void put_summary(struct fp_writer *out, const struct fp_llvm_profile *profile)
{
    enum { FIELDS = 6, CUTOFFS = 16 };
    struct fp_arena arena = {0};
    struct summary s;
    sum_up(&arena, profile, &s);
    fp_write_u64(out, FIELDS);
    fp_write_u64(out, CUTOFFS);
    fp_write_u64(out, profile->functions.len);
    fp_write_u64(out, s.ncounts);
    fp_write_u64(out, s.most_at_entry);
    fp_write_u64(out, s.most);
    fp_write_u64(out, s.most_inside);
    fp_write_u64(out, s.total);
    put_cutoffs(out, &s);
    fp_arena_free(&arena);
}

/* ---- one function ---- */

/* A site has a byte with the number of its values; the bytes are padded, then come the values. */
static void put_sites(struct fp_writer *out, uint32_t kind, const struct fp_llvm_site *sites,
                      uint32_t n)
{
    fp_write_u32(out, kind);
    fp_write_u32(out, n);
    for (uint32_t i = 0; i < n; i++) fp_write_u8(out, (uint8_t)sites[i].nvalues);
    put_zeros(out, -(size_t)n & 7);
    for (uint32_t i = 0; i < n; i++)
        for (size_t k = 0; k < sites[i].nvalues; k++) {
            fp_write_u64(out, sites[i].values[k].value);
            fp_write_u64(out, sites[i].values[k].count);
        }
}

static void put_values(struct fp_writer *out, const struct fp_llvm_function *f)
{
    size_t start = out->len;
    fp_write_u32(out, 0); /* the size, below */
    fp_write_u32(out, (f->nsites[FP_VALUE_TARGET] ? 1u : 0) + (f->nsites[FP_VALUE_SIZE] ? 1u : 0));
    for (uint32_t kind = 0; kind < 2; kind++)
        if (f->nsites[kind]) put_sites(out, kind, f->sites[kind], f->nsites[kind]);
    uint64_t size = out->len - start;
    for (int i = 0; i < 4; i++) out->bytes[start + (size_t)i] = (unsigned char)(size >> 8 * i);
}

static void put_function(struct fp_writer *out, const struct fp_llvm_function *f)
{
    fp_write_u64(out, f->hash);
    fp_write_u64(out, f->ncounters);
    for (uint32_t i = 0; i < f->ncounters; i++) fp_write_u64(out, f->counters[i]);
    put_values(out, f);
}

/* ---- the table: an entry per name, which may have several functions of other hashes ---- */

struct entry {
    const struct fp_llvm_function *functions;
    size_t n;
    uint64_t hash;
};

static size_t find_entries(struct fp_arena *arena, const struct fp_llvm_profile *profile,
                           struct entry **entries)
{
    size_t n = 0;
    *entries = FP_NEW_ARRAY(arena, struct entry, profile->functions.len);
    for (size_t i = 0; i < profile->functions.len; i++) {
        const struct fp_llvm_function *f = &profile->functions.at[i];
        if (n && !strcmp((*entries)[n - 1].functions->name, f->name))
            (*entries)[n - 1].n++;
        else
            (*entries)[n++] = (struct entry){f, 1, fp_llvm_name_hash(f->name)};
    }
    return n;
}

static void put_entry(struct fp_writer *out, const struct entry *entry)
{
    size_t len = strlen(entry->functions->name);
    fp_write_u64(out, entry->hash);
    fp_write_u64(out, len);
    size_t at = out->len;
    fp_write_u64(out, 0);
    fp_write_bytes(out, entry->functions->name, len);
    size_t start = out->len;
    for (size_t i = 0; i < entry->n; i++) put_function(out, &entry->functions[i]);
    patch_u64(out, at, out->len - start);
}

static size_t bucket_count(size_t nentries)
{
    size_t n = 1;
    while (nentries > 2 && n <= nentries * 4 / 3) n *= 2;
    return n;
}

static uint64_t put_bucket(struct fp_writer *out, const struct entry *entries, const uint32_t *next,
                           uint32_t first)
{
    uint64_t at = out->len;
    size_t n = 0;
    if (!first) return 0;
    for (uint32_t i = first; i; i = next[i - 1]) n++;
    put_u16(out, n);
    for (uint32_t i = first; i; i = next[i - 1]) put_entry(out, &entries[i - 1]);
    return at;
}

static void put_table(struct fp_writer *out, const struct fp_llvm_profile *profile)
{
    struct fp_arena arena = {0};
    struct entry *entries;
    size_t n = find_entries(&arena, profile, &entries), nbuckets = bucket_count(n);
    uint32_t *first = FP_NEW_ARRAY(&arena, uint32_t, nbuckets);
    uint32_t *next = FP_NEW_ARRAY(&arena, uint32_t, n);
    uint64_t *offsets = FP_NEW_ARRAY(&arena, uint64_t, nbuckets);
    for (size_t i = 0; i < n; i++) {
        size_t bucket = entries[i].hash & (nbuckets - 1);
        next[i] = first[bucket];
        first[bucket] = (uint32_t)i + 1;
    }
    for (size_t b = 0; b < nbuckets; b++) offsets[b] = put_bucket(out, entries, next, first[b]);
    put_zeros(out, -out->len & 7);
    patch_u64(out, OFFSET_OF_TABLE, out->len);
    fp_write_u64(out, nbuckets);
    fp_write_u64(out, n);
    for (size_t b = 0; b < nbuckets; b++) fp_write_u64(out, offsets[b]);
    fp_arena_free(&arena);
}

void fp_write_llvm_profdata(struct fp_writer *out, const struct fp_llvm_profile *profile)
{
    fp_write_u64(out, MAGIC);
    fp_write_u64(out, VERSION | IR_LEVEL);
    fp_write_u64(out, 0); /* unused */
    fp_write_u64(out, 0); /* names are hashed by MD5 */
    fp_write_u64(out, 0); /* where the table is, below */
    put_summary(out, profile);
    put_table(out, profile);
}
