/* Which functions indirect calls call, beside samples of paths (docs/pep.md).
 *
 * In the second body a note in front of each indirect call tells its target (FP_SITE_VALUE). All of
 * them are noted from a tick to the last sample of that tick, not only those of sampled paths: this
 * costs little more and gives more of them. Targets must be on the scale of the counts of paths, as
 * the compiler compares the two. A sample counts a number of times that is known at the end
 * (rt_sample.c), for one of so many path ends. So a target that was noted n times counts
 *
 *     n * times of a sample * samples / path ends
 *
 * times. What that leaves below one goes on to the next target.
 *
 * The list is short: few calls with few targets come in so short a time. Where it is full, the
 * samples are counted early; a target for which there is no room before the first sample is not
 * counted.
 */
#include "rt.h"

enum { PART_BITS = 8 };

static struct rt_target *find(struct rt_pep_local *s, uint64_t table, uint64_t key)
{
    for (uint32_t i = 0; i < s->ntargets; i++)
        if (s->targets[i].key == key && s->targets[i].table == table) return &s->targets[i];
    return NULL;
}

void rt_target_seen(struct rt_pep_local *s, uint64_t table, uint64_t key, uint64_t target)
{
    key |= (target - table) & FP_VALUE_MASK;
    struct rt_target *found = find(s, table, key);
    if (found) {
        found->times++;
        return;
    }
    if (s->ntargets == RT_MOST_TARGETS) rt_sample_count_now(s);
    if (s->ntargets == RT_MOST_TARGETS) return;
    s->targets[s->ntargets++] = (struct rt_target){table, key, 1};
}

/* The amount is in parts of a call. */
static void count_all(const struct rt_process *process, struct rt_pep_local *s, uint32_t n,
                      uint64_t amount, uint64_t passed)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct rt_target *target = &s->targets[i];
        uint64_t parts = target->times * amount / passed + s->target_rest;
        struct rt_sampled one = {target->table | RT_SAMPLED_TARGET, target->key};
        s->target_rest = parts & ((1 << PART_BITS) - 1);
        if (parts >> PART_BITS) rt_sample_count_in_module(process, &one, parts >> PART_BITS);
    }
}

void rt_targets_count(const struct rt_process *process, struct rt_pep_local *s, uint32_t nsampled,
                      uint64_t times)
{
    if (s->passed) count_all(process, s, s->ntargets, (times * nsampled) << PART_BITS, s->passed);
    s->last_targets = s->ntargets;
    s->last_passed = s->passed;
    s->ntargets = 0;
    s->passed = 0;
}

void rt_targets_count_again(const struct rt_process *process, struct rt_pep_local *s,
                            uint64_t times)
{
    if (s->ntargets || !s->last_passed) return;
    count_all(process, s, s->last_targets, (times * s->last_sampled) << PART_BITS, s->last_passed);
}

void rt_targets_forget(struct rt_pep_local *s)
{
    s->ntargets = s->last_targets = 0;
    s->passed = s->last_passed = s->target_rest = 0;
}
