/* What is known of a place in the code where frames are left, so that the second frame
 * that is left there costs little. One table per module, for its own code alone: what is
 * known goes when the module goes. */
#ifndef FP_RT_SITE_H
#define FP_RT_SITE_H

#include "exits/rt_left.h"
#include "core/rt_unwind.h"

struct rt_site {
    uint64_t address;
    uint64_t function, block;   /* if `counts` */
    struct rt_left_count *last; /* counted here last */
    struct rt_site *caller;     /* where the frame outside was, last time */
    struct rt_walk *walk;       /* that began here: rt_walk.c */
    uint32_t nwalks;            /* that were kept here, one after the other */
    struct rt_way way;          /* to the caller */
    bool usable;       /* if not, nothing else is known: such frames are walked by the tables */
    bool counts;       /* in a marked block */
    bool has_register; /* in that block; it lies at: */
    bool slot_by_rbp;  /* rbp + slot; else: cfa + slot */
    int32_t slot;
};

/* NULL: not in this module, or the table is full. */
struct rt_site *rt_site_at(uint64_t address) FP_HIDDEN;

/* The site of a frame outside one at `site`. */
static inline struct rt_site *rt_site_outside(struct rt_site *site, uint64_t address)
{
    struct rt_site *caller = __atomic_load_n(&site->caller, __ATOMIC_ACQUIRE);
    if (caller && caller->address == address) return caller;
    caller = rt_site_at(address);
    __atomic_store_n(&site->caller, caller, __ATOMIC_RELEASE);
    return caller;
}

struct rt_left_count *rt_site_entry(struct rt_site *site, uint64_t reg) FP_HIDDEN;

/* Counts what a frame has in flight. needs: site->counts. */
static inline void rt_site_count(struct rt_site *site, uint64_t reg)
{
    struct rt_left_count *last = __atomic_load_n(&site->last, __ATOMIC_ACQUIRE);
    if (!last || last->left.reg != reg) last = rt_site_entry(site, reg);
    rt_left_add(last, 1);
}

#endif
