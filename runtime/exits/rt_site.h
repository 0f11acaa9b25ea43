/* What is known of an address at which frames are left, so that the second frame left there
 * costs little. (A site of exits/, not the struct fp_site of pep/.) Each module has one
 * table, for its own code: it disappears with the module. */
#ifndef FP_RT_SITE_H
#define FP_RT_SITE_H

#include "exits/rt_left.h"
#include "core/rt_unwind.h"

struct rt_site {
    uint64_t address;
    uint64_t function, block;   /* if `counts` */
    struct rt_left_count *last; /* the entry that was counted here last */
    struct rt_site *caller;     /* the site of the calling frame, last time */
    struct rt_walk *walk;       /* the last walk kept that began here: rt_walk.c */
    uint32_t nwalks;            /* walks kept here so far */
    struct rt_way way;          /* to the caller */
    bool usable;       /* if not, nothing else is known: such frames are walked by the tables */
    bool counts;       /* in a marked block */
    bool has_register; /* in that block; it lies at: */
    bool slot_by_rbp;  /* rbp + slot; else: cfa + slot */
    int32_t slot;
#ifdef RT_IN_EXECUTABLE
    /* the register holds the address of a counter: the sum is its distance from `counters`, plus
     * `adjust`, or `adjust` alone where there is no register */
    uint64_t counters;
    int64_t adjust;
#endif
};

/* Is the address in code that this module counts? */
bool rt_is_own_code(uint64_t address) FP_HIDDEN;
/* Fills in what a frame at the site's address counts as. False: such frames are not simple.
 * needs: way, of a simple frame. */
bool rt_place_site(struct rt_site *site, uint64_t address) FP_HIDDEN;

/* How far slots are from where `slot` says, in this thread. */
static inline uint64_t rt_slot_bias(void)
{
#ifdef RT_IN_EXECUTABLE
    if (!rt_exe_is_fixed()) return (uint64_t)RT_LOCAL->core.bias;
#endif
    return 0;
}

/* The path sum of a frame whose register holds a word; in a block without a register: 0. */
static inline uint64_t rt_site_sum(const struct rt_site *site, uint64_t word)
{
#ifdef RT_IN_EXECUTABLE
    uint64_t sum = (uint64_t)((int64_t)(word - site->counters) >> 3);
    return (site->has_register ? sum : 0) + (uint64_t)site->adjust;
#else
    (void)site;
    return word;
#endif
}

/* NULL: not in this module, or the table is full. */
struct rt_site *rt_site_at(uint64_t address) FP_HIDDEN;

/* The site of the frame that called the one at `site`. address: where that frame is. */
static inline struct rt_site *rt_site_outside(struct rt_site *site, uint64_t address)
{
    struct rt_site *caller = __atomic_load_n(&site->caller, __ATOMIC_ACQUIRE);
    if (caller && caller->address == address) return caller;
    caller = rt_site_at(address);
    __atomic_store_n(&site->caller, caller, __ATOMIC_RELEASE);
    return caller;
}

struct rt_left_count *rt_site_entry(struct rt_site *site, uint64_t reg) FP_HIDDEN;

/* Counts the path in flight of a frame. needs: site->counts. */
static inline void rt_site_count(struct rt_site *site, uint64_t reg)
{
    struct rt_left_count *last = __atomic_load_n(&site->last, __ATOMIC_ACQUIRE);
    if (!last || last->left.reg != reg) last = rt_site_entry(site, reg);
    rt_left_add(last, 1);
}

#endif
