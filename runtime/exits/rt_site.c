/* The table of places where frames are left: see rt_site.h. No locks: a site is filled in,
 * then published, and after that only its caches (last, caller, walk) change.
 *
 * Not handled: more than SITES sites, or more than PLACES with hashes side by side; frames
 * at further places are walked by the unwind tables. */
#include "exits/rt_site.h"

#include "exits/rt_marks.h"

#include <elf.h>
#include <link.h>

/* ---- the code of this module ---- */

extern const ElfW(Ehdr) __ehdr_start __attribute__((weak)) FP_HIDDEN;

/* Reads the program headers, which are in memory. */
static struct rt_range find_code(void)
{
    struct rt_range code = {0};
    const char *head = (const char *)&__ehdr_start;
    const ElfW(Phdr) *segment = head ? (const ElfW(Phdr) *)(head + __ehdr_start.e_phoff) : NULL;
    char *bias = NULL;
    for (int i = 0; segment && i < __ehdr_start.e_phnum; i++, segment++) {
        if (segment->p_type != PT_LOAD) continue;
        if (!segment->p_offset) bias = (char *)head - segment->p_vaddr;
        if (!(segment->p_flags & PF_X) || !bias || code.start) continue;
        code =
            (struct rt_range){bias + segment->p_vaddr, bias + segment->p_vaddr + segment->p_memsz};
    }
    return code;
}

static bool is_ours(uint64_t address)
{
    static struct rt_range code;
    if (!code.end) {
        struct rt_range found = find_code();
        code.start = found.start;
        __atomic_store_n(&code.end, found.end, __ATOMIC_RELEASE);
    }
    return address - (uint64_t)code.start < (uint64_t)(code.end - code.start);
}

/* ---- the table ---- */

enum { TABLE_BITS = 12, PLACES = 8, SITES = 1 << TABLE_BITS };

RT_APART(struct rt_site *, rt_sites, (4096 + 8) * 8);
_Static_assert(sizeof rt_sites / sizeof *rt_sites == SITES + PLACES, "a place per site");
static struct rt_pool pool; /* SITES of them */

static struct rt_site *new_site(void)
{
    return rt_pool_take(&pool, sizeof(struct rt_site), SITES);
}

/* Finds where the frame holds its path register. True too where the function has none. */
static bool fill_slot(struct rt_site *site, const struct fp_mark *mark)
{
    const struct fp_slot_mark *slot = rt_find_slot(mark->function, site->way.function_start);
    int64_t offset, distance = 0;
    unsigned reg;
    if (!slot) return true; /* a function without a register */
    if (!rt_parse_slot(slot->place, &offset, &reg)) return false;
    uint64_t at = (uint64_t)&slot->address + (uint64_t)slot->address;
    if (reg != RT_RBP && (reg != RT_RSP || !rt_unwind_cfa_offset(at, &distance))) return false;
    site->has_register = true;
    site->slot_by_rbp = reg == RT_RBP;
    site->slot = (int32_t)(offset - distance);
    return true;
}

static void fill(struct rt_site *site, uint64_t address)
{
    struct rt_mark_place place;
    *site = (struct rt_site){.address = address};
    if (!rt_unwind_way(address, &site->way) || !site->way.simple) return;
    site->usable = true;
    if (!rt_find_place(address, site->way.function_start, &place) ||
        place.mark->block & FP_MARK_END)
        return;
    site->counts = true;
    site->function = place.mark->function;
    site->block = place.mark->block & ~FP_MARK_NO_REGISTER;
    site->usable = place.mark->block & FP_MARK_NO_REGISTER || fill_slot(site, place.mark);
}

static uint64_t home_of(uint64_t address)
{
    return address * UINT64_C(0x9e3779b97f4a7c15) >> (64 - TABLE_BITS);
}

/* Two threads may publish a site for the same address: both are used. */
__attribute__((noinline)) static RT_ENTRY struct rt_site *make_site(uint64_t address)
{
    struct rt_site site, *made = NULL, **home = &rt_sites[home_of(address)];
    if (!is_ours(address)) return NULL;
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
