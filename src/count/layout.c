/* Where counters lie: see layout.h. */
#include "count/layout.h"

#include "base/checked.h"
#include "footpath/abi.h"

/* ---- the compiler's side ---- */

void fp_layout_paths(struct fp_function *f, uint64_t num_ids, uint64_t array_paths)
{
    bool cycles = f->flags & FP_FUNCTION_CYCLES;
    bool values = f->flags & FP_FUNCTION_VALUES; /* values are counted in a hash table */
    f->flags &= ~(uint32_t)(FP_FUNCTION_HASHED | FP_FUNCTION_TWICE);
    f->layout.edge_slots = f->layout.sparse_slots = f->layout.direct_slots = 0;
    f->layout.gated = false;
    if ((num_ids > array_paths || values) && !cycles) {
        f->flags |= FP_FUNCTION_HASHED;
        f->layout.path_slots = FP_HASH_TABLE_SIZE / 8;
        f->layout.edge_slots = f->paths.truncation->laps.len;
        if (!values && num_ids <= FP_SPARSE_MOST) f->layout.sparse_slots = num_ids;
        /* a path in flight is found by its key; samples are few */
        if (num_ids <= array_paths && !(f->flags & (FP_FUNCTION_EXITS | FP_FUNCTION_SAMPLED)))
            f->layout.direct_slots = num_ids - f->paths.truncation->laps.len;
    } else {
        f->layout.path_slots = num_ids * fp_layout_stride(f);
    }
}

void fp_layout_values(struct fp_function *f)
{
    f->flags |= FP_FUNCTION_HASHED;
    f->layout.path_slots = FP_HASH_TABLE_SIZE / 8;
}

void fp_layout_twice(struct fp_function *f)
{
    f->flags |= FP_FUNCTION_TWICE;
    f->layout.path_slots *= 2;
}

uint32_t fp_layout_add_edge(struct fp_function *f)
{
    return (uint32_t)f->layout.edge_slots++;
}

void fp_layout_add_calls(struct fp_function *f)
{
    f->layout.call_slot = (uint32_t)f->layout.edge_slots;
    f->layout.edge_slots = fp_layout_call(f, f->source.ncalls);
}

uint64_t fp_layout_stride(const struct fp_function *f)
{
    return f->flags & FP_FUNCTION_CYCLES ? 2 : 1;
}

/* ---- sizes ---- */

uint64_t fp_layout_sums(const struct fp_function *f)
{
    return f->copy && f->copy->labels ? f->copy->labels->num_ids : f->paths.numbering->num_paths;
}

static uint64_t num_ids(const struct fp_function *f)
{
    return fp_layout_sums(f) + f->paths.truncation->laps.len;
}

bool fp_layout_fits(const struct fp_function *f, uint64_t *need)
{
    bool paths = f->flags & FP_FUNCTION_PATHS;
    *need = 0;
    if (f->flags & FP_FUNCTION_HASHED) {
        *need = FP_HASH_TABLE_SIZE / 8;
        return *need <= f->layout.path_slots &&
               (!paths || f->paths.truncation->laps.len <= f->layout.edge_slots);
    }
    if (!paths) return true;
    *need = fp_mul_saturated(num_ids(f), fp_layout_stride(f));
    if (f->flags & FP_FUNCTION_TWICE) *need = fp_mul_saturated(*need, 2);
    return *need <= f->layout.path_slots;
}

/* ---- addresses ---- */

/* Does [address, address + slots words) lie in [first, first + size)? */
static bool lies_within(uint64_t address, uint64_t slots, uint64_t first, uint64_t size)
{
    return address >= first && address - first <= size && slots <= (size - (address - first)) / 8 &&
           !((address - first) % 8);
}

bool fp_layout_word(const struct fp_sections *at, uint64_t address, uint64_t slots, uint64_t *first)
{
    if (!lies_within(address, slots, at->counters_address, at->counters_size)) return false;
    *first = (address - at->counters_address) / 8;
    return true;
}

bool fp_layout_table(const struct fp_function *f, const struct fp_sections *at, uint64_t *table)
{
    if (!(f->flags & FP_FUNCTION_HASHED) || !f->layout.path_slots ||
        !lies_within(f->layout.path_address, f->layout.path_slots, at->tables_address,
                     at->tables_size))
        return false;
    *table = (f->layout.path_address - at->tables_address) /
             (f->layout.path_slots * 8); /* all are of one size */
    return true;
}

bool fp_layout_check(const struct fp_function *f, const struct fp_sections *at)
{
    uint64_t unused;
    if (f->layout.edge_slots &&
        !fp_layout_word(at, f->layout.edge_address, f->layout.edge_slots, &unused))
        return false;
    if (!f->layout.path_slots) return true;
    return f->flags & FP_FUNCTION_HASHED
               ? fp_layout_table(f, at, &unused)
               : fp_layout_word(at, f->layout.path_address, f->layout.path_slots, &unused);
}

/* ---- from an id to its counter ---- */

bool fp_layout_of_edge(const struct fp_function *f, const struct fp_sections *at, uint32_t slot,
                       struct fp_place *place)
{
    *place = (struct fp_place){0};
    if (slot >= f->layout.edge_slots ||
        !fp_layout_word(at, f->layout.edge_address, f->layout.edge_slots, &place->word))
        return false;
    place->word += slot;
    return true;
}

static bool place_in_table(const struct fp_function *f, const struct fp_sections *at, uint64_t id,
                           struct fp_place *place)
{
    uint64_t sums = fp_layout_sums(f);
    if (id >= sums) return fp_layout_of_edge(f, at, (uint32_t)(id - sums), place);
    *place = (struct fp_place){.in_table = true, .path = id};
    return fp_layout_table(f, at, &place->table);
}

bool fp_layout_of_id(const struct fp_function *f, const struct fp_sections *at, uint64_t id,
                     struct fp_place *place)
{
    uint64_t need;
    if (!(f->flags & FP_FUNCTION_PATHS) || id >= num_ids(f) || !fp_layout_fits(f, &need))
        return false;
    if (f->flags & FP_FUNCTION_HASHED) return place_in_table(f, at, id, place);
    *place = (struct fp_place){0};
    if (!fp_layout_word(at, f->layout.path_address, f->layout.path_slots, &place->word))
        return false;
    place->word += id * fp_layout_stride(f);
    return true;
}

/* ---- from counters to ids ---- */

/* The laps of a function whose paths are in a hash table. */
static void each_lap(const struct fp_function *f, const struct fp_sections *at,
                     const struct fp_counters *words, fp_layout_callback *call, void *context)
{
    uint64_t first, sums = fp_layout_sums(f), laps = f->paths.truncation->laps.len;
    if (!fp_layout_word(at, f->layout.edge_address, f->layout.edge_slots, &first)) return;
    if (laps > f->layout.edge_slots) laps = f->layout.edge_slots;
    for (size_t i = fp_counters_from(words, 0, first);
         i < words->len && words->at[i].path - first < laps; i++)
        if (words->at[i].count)
            call(sums + (words->at[i].path - first), words->at[i].count, 0, context);
}

/* Ids of an array that is there twice, in order. */
static void each_of_two(const struct fp_counters *words, uint64_t first, uint64_t ids,
                        fp_layout_callback *call, void *context)
{
    size_t i = fp_counters_from(words, 0, first), j = fp_counters_from(words, 0, first + ids);
    size_t middle = j, end = fp_counters_from(words, 0, first + 2 * ids);
    while (i < middle || j < end) {
        uint64_t a = i < middle ? words->at[i].path - first : UINT64_MAX;
        uint64_t b = j < end ? words->at[j].path - first - ids : UINT64_MAX;
        uint64_t count = 0;
        if (a <= b) count += words->at[i++].count;
        if (b <= a) count += words->at[j++].count;
        if (count) call(a < b ? a : b, count, 0, context);
    }
}

void fp_layout_each_word(const struct fp_function *f, const struct fp_sections *at,
                         const struct fp_counters *words, fp_layout_callback *call, void *context)
{
    uint64_t first, stride = fp_layout_stride(f), need;
    if (!(f->flags & FP_FUNCTION_PATHS) || !fp_layout_fits(f, &need)) return;
    if (f->flags & FP_FUNCTION_HASHED) {
        each_lap(f, at, words, call, context);
        return;
    }
    if (!fp_layout_word(at, f->layout.path_address, f->layout.path_slots, &first)) return;
    uint64_t slots = num_ids(f) * stride;
    if (f->flags & FP_FUNCTION_TWICE) {
        each_of_two(words, first, slots, call, context);
        return;
    }
    for (size_t i = fp_counters_from(words, 0, first);
         i < words->len && words->at[i].path - first < slots; i++) {
        uint64_t slot = words->at[i].path - first;
        if (slot % stride || !words->at[i].count) continue;
        uint64_t cycles = stride > 1 ? fp_counters_get(words, 0, words->at[i].path + 1) : 0;
        call(slot / stride, words->at[i].count, cycles, context);
    }
}
