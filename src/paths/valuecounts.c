/* Values with their counts: see valuecounts.h. */
#include "paths/valuecounts.h"

#include "base/checked.h"
#include "count/values.h"

/* The executions of the block with the call; 0: not known, or no path through it was sampled. */
static uint64_t executions(const struct fp_function *f, const uint64_t *blocks, uint64_t key)
{
    if (!f->sites) return 0;
    const struct fp_value_sites *sites = &f->sites[fp_value_kind(key)];
    uint32_t site = fp_value_site(key);
    return site < sites->n ? blocks[sites->blocks[site]] : 0;
}

static bool is_of_call(const struct fp_value_count *value, uint64_t key)
{
    return fp_value_kind(value->key) == fp_value_kind(key) &&
           fp_value_site(value->key) == fp_value_site(key);
}

/* The values of one call get so many counts in all. */
static void share_out(struct fp_value_count *values, size_t n, uint64_t wanted)
{
    uint64_t sum = 0, so_far = 0, given = 0;
    for (size_t i = 0; i < n; i++) sum = fp_add_saturated(sum, values[i].count);
    for (size_t i = 0; i < n && sum; i++) {
        so_far = fp_add_saturated(so_far, values[i].count);
        double share = (double)so_far / (double)sum;
        uint64_t upto = i == n - 1 ? wanted : (uint64_t)(share * (double)wanted);
        values[i].count = upto - given;
        given = upto;
    }
}

/* Returns how many values have counts then. */
static size_t fit(const struct fp_function *f, const uint64_t *blocks,
                  struct fp_value_count *values, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0, end; i < n; i = end) {
        uint64_t wanted = executions(f, blocks, values[i].key);
        for (end = i; end < n && is_of_call(&values[end], values[i].key);) end++;
        if (wanted) share_out(&values[i], end - i, wanted);
    }
    for (size_t i = 0; i < n; i++)
        if (values[i].count) values[kept++] = values[i];
    return kept;
}

size_t fp_values_of(struct fp_arena *arena, const struct fp_module *module,
                    const struct fp_function *f, const uint64_t *blocks,
                    struct fp_value_count **values)
{
    size_t n = fp_profile_values(arena, module, f, values);
    return f->flags & FP_FUNCTION_SAMPLED && blocks ? fit(f, blocks, *values, n) : n;
}
