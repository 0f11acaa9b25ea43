/* The table of places where frames are left: see rt_site.h. No locks: a site is filled in,
 * then published, and after that only its caches (last, caller, walk) change.
 *
 * Not handled: more than SITES sites, or more than PLACES with hashes side by side; frames
 * at further places are walked by the unwind tables. */
#include "exits/rt_site.h"

/* ---- the table ---- */

enum { TABLE_BITS = 12, PLACES = 8, SITES = 1 << TABLE_BITS };

RT_APART(struct rt_site *, rt_sites, (4096 + 8) * 8);
_Static_assert(sizeof rt_sites / sizeof *rt_sites == SITES + PLACES, "a place per site");
static struct rt_pool pool; /* SITES of them */

static struct rt_site *new_site(void)
{
    return rt_pool_take(&pool, sizeof(struct rt_site), SITES);
}

static void fill(struct rt_site *site, uint64_t address)
{
    *site = (struct rt_site){.address = address};
    if (rt_unwind_way(address, &site->way) && site->way.simple)
        site->usable = rt_place_site(site, address);
}

static uint64_t home_of(uint64_t address)
{
    return address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TABLE_BITS);
}

/* Two threads may publish a site for the same address: both are used. */
__attribute__((noinline)) static RT_ENTRY struct rt_site *make_site(uint64_t address)
{
    struct rt_site site, *made = NULL, **home = &rt_sites[home_of(address)];
    if (!rt_is_own_code(address)) return NULL;
    fill(&site, address);
    for (int i = 0; i < PLACES; i++) {
        struct rt_site *none = NULL;
        if (__atomic_load_n(&home[i], __ATOMIC_RELAXED)) continue;
        if (!made && !(made = new_site())) return NULL;
        *made = site;
        if (__atomic_compare_exchange_n(&home[i], &none, made, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            return made;
    }
    return NULL;
}

struct rt_site *rt_site_at(uint64_t address)
{
    struct rt_site **home = &rt_sites[home_of(address)];
    for (int i = 0; i < PLACES; i++) {
        struct rt_site *site = __atomic_load_n(&home[i], __ATOMIC_ACQUIRE);
        if (!site) return make_site(address);
        if (site->address == address) return site;
    }
    return NULL;
}

struct rt_left_count *rt_site_entry(struct rt_site *site, uint64_t reg)
{
    struct rt_left left = {site->function, site->block, reg};
    struct rt_left_count *entry = rt_left_entry(&left);
    __atomic_store_n(&site->last, entry, __ATOMIC_RELEASE);
    return entry;
}
