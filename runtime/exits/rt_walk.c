/* Quick walks: see rt_walk.h. A program that jumps a million times mostly jumps from the same
 * frames to the same frame. So a walk is kept with the site it began at: the words of the
 * stack it depended on, and the entries it counted. Where the words are the same again, the
 * same entries are counted again.
 *
 * Not handled: walks of more than MOST_COUNTS frames, or by rbp, are not kept. */
#include "exits/rt_walk.h"

#include "exits/rt_site.h"

static inline uint64_t word_at(uint64_t address)
{
    return *(const uint64_t *)address;
}

enum { MOST_FRAMES = 64, MOST_WORDS = 24, MOST_COUNTS = 12, MOST_WALKS = 2048, MOST_PER_SITE = 16 };

/* Offsets are from the stack pointer of the first frame. A walk does not change once it is
 * published. */
struct rt_walk {
    uint64_t until;
    uint32_t nwords, ncounts;
    struct {
        uint64_t offset, word;
        uint64_t slot;   /* all bits where it is a path register, else none */
    } words[MOST_WORDS]; /* return addresses and path registers */
    struct rt_left_count *counts[MOST_COUNTS];
};

static inline bool walk_again(const struct rt_walk *walk, uint64_t until, uint64_t sp)
{
    if (!walk || walk->until != until - sp) return false;
    uint64_t bias = rt_slot_bias();
    for (uint32_t i = 0; i < walk->nwords; i++) {
        uint64_t at = sp + walk->words[i].offset + (walk->words[i].slot & bias);
        if (word_at(at) != walk->words[i].word) return false;
    }
    for (uint32_t i = 0; i < walk->ncounts; i++) rt_left_add(walk->counts[i], 1);
    return true;
}

/* ---- keeping a walk ---- */

static struct rt_walk *new_walk(void)
{
    static struct rt_pool walks;
    return rt_pool_take(&walks, sizeof(struct rt_walk), MOST_WALKS);
}

struct frame {
    struct rt_site *site;
    uint64_t cfa, word; /* in its register */
};

/* Do the places of all frames follow from the stack pointer alone, and is there room? */
static bool depends_on_sp(const struct frame *frames, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (frames[i].site->way.cfa_by_rbp || frames[i].site->slot_by_rbp) return false;
    return n <= MOST_COUNTS && 2 * n <= MOST_WORDS;
}

static void add_word(struct rt_walk *walk, uint64_t offset, uint64_t word, bool slot)
{
    walk->words[walk->nwords].offset = offset;
    walk->words[walk->nwords].slot = slot ? UINT64_MAX : 0;
    walk->words[walk->nwords++].word = word;
}

/* The words of a frame come behind the return address that proves the frame to be the same. */
__attribute__((noinline)) static RT_ENTRY void keep_walk(const struct frame *frames, size_t n,
                                                         uint64_t until, uint64_t sp)
{
    struct rt_site *first = frames[0].site;
    if (!depends_on_sp(frames, n)) return;
    __atomic_fetch_add(&first->nwalks, 1, __ATOMIC_RELAXED);
    struct rt_walk *walk = new_walk();
    if (!walk) return;
    walk->until = until - sp;
    for (size_t i = 0; i < n; i++) {
        const struct rt_site *site = frames[i].site;
        if (i) add_word(walk, frames[i - 1].cfa - 8 - sp, word_at(frames[i - 1].cfa - 8), false);
        if (site->has_register)
            add_word(walk, frames[i].cfa + (uint64_t)site->slot - sp, frames[i].word, true);
        if (site->counts)
            walk->counts[walk->ncounts++] =
                rt_site_entry(frames[i].site, rt_site_sum(site, frames[i].word));
    }
    __atomic_store_n(&first->walk, walk, __ATOMIC_RELEASE);
}

/* ---- walking ---- */

__attribute__((noinline)) static bool walk_sites(struct rt_site *site, uint64_t until, uint64_t sp,
                                                 uint64_t rbp)
{
    struct frame frames[MOST_FRAMES];
    uint64_t first_sp = sp;
    size_t n = 0;
    for (;; site = rt_site_outside(site, word_at(sp - 8) - 1)) {
        if (!site || !site->usable || n == MOST_FRAMES) return false;
        uint64_t cfa = (site->way.cfa_by_rbp ? rbp : sp) + (uint64_t)site->way.cfa, word = 0;
        if (site->has_register)
            word = word_at((site->slot_by_rbp ? rbp : cfa) + (uint64_t)site->slot + rt_slot_bias());
        frames[n++] = (struct frame){site, cfa, word};
        if (cfa > until) break;
        if (site->way.rbp) rbp = word_at(cfa + (uint64_t)site->way.rbp);
        sp = cfa;
    }
    if (until < sp) return false; /* from a signal stack, or to another one */
    for (size_t i = 0; i < n; i++)
        if (frames[i].site->counts)
            rt_site_count(frames[i].site, rt_site_sum(frames[i].site, frames[i].word));
    if (__atomic_load_n(&frames[0].site->nwalks, __ATOMIC_RELAXED) < MOST_PER_SITE)
        keep_walk(frames, n, until, first_sp);
    return true;
}

bool rt_walk_quickly(uint64_t until, uint64_t pc, uint64_t sp, uint64_t rbp)
{
    struct rt_site *site = rt_site_at(pc - 1);
    if (!site) return false;
    return walk_again(__atomic_load_n(&site->walk, __ATOMIC_ACQUIRE), until, sp) ||
           walk_sites(site, until, sp, rbp);
}
