/* Words of a thread that must be its own even where %gs is not: in threads that the runtime has
 * not seen begin, with shared counters, and in the child of a fork while its parent's counters are
 * live. Stopping threads, masks of sampled programs and forks need such words, for moments or in
 * few threads, also in signal handlers.
 *
 * They are not storage for threads (TLS). A fixed offset to it makes the library take of a small
 * reserve: dlopen refuses such a library where its other variables are large, or when the
 * reserve is used up. Without the fixed offset the first use may call malloc.
 *
 * A thread that needs words takes a slot. One word says which thread has it, by the thread's
 * pointer (%fs:0), and which of the slot's words are in use, by bits. That word alone decides, and
 * changes at once: a slot without bits is free. A signal handler may take a slot while its thread
 * takes one: then the thread has two, and its bits are those of both.
 *
 * Not handled: more than MOST threads with words. Others get none: where they are held, a count may
 * be in the middle; signals that they block may reach them; handlers may count while they fork. A
 * thread that the runtime does not see end leaves its words to the next one of the same pointer.
 */
#include "rt.h"

#ifdef RT_IN_EXECUTABLE

RT_PER_THREAD(uint32_t, in_use)
RT_PER_THREAD(struct rt_self, self)

void rt_self_start(void)
{
}

uint32_t rt_self_bits(void)
{
    return __atomic_load_n(in_use(), __ATOMIC_RELAXED);
}

struct rt_self *rt_self_with(uint32_t bit)
{
    return rt_self_bits() & bit ? self() : NULL;
}

struct rt_self *rt_self_take(uint32_t bits)
{
    __atomic_fetch_or(in_use(), bits, __ATOMIC_RELAXED);
    return self();
}

uint32_t rt_self_drop(uint32_t bits)
{
    return __atomic_fetch_and(in_use(), ~bits, __ATOMIC_RELAXED) & bits;
}

void rt_self_after_fork(void)
{
}

#else

enum { MOST = 4096, BITS = 8 };
RT_APART(uint64_t, rt_owners, 4096 * 8); /* a thread's pointer << BITS, and bits; 0: free */
RT_APART(struct rt_self, rt_selves, 4096 * 152);
static uint32_t nslots; /* no slot from here on was ever taken */

_Static_assert(RT_SELF_BITS < 1 << BITS, "beside the pointer");
_Static_assert(sizeof(struct rt_self) == 152, "the size of an element");

void rt_self_start(void)
{
    rt_hide_from_helgrind(rt_owners, sizeof rt_owners);
    rt_hide_from_helgrind(rt_selves, sizeof rt_selves);
    rt_hide_from_helgrind(&nslots, sizeof nslots);
}

static uint64_t this_thread(void)
{
    uint64_t pointer;
    __asm__("movq %%fs:0, %0" : "=r"(pointer));
    return pointer << BITS;
}

/* Finds this thread's first slot from *at on in which one of these bits is set. */
static bool find(uint32_t bits, uint32_t *at, uint64_t *word)
{
    uint64_t owner = this_thread();
    uint32_t count = __atomic_load_n(&nslots, __ATOMIC_ACQUIRE);
    for (; *at < count; ++*at) {
        *word = __atomic_load_n(&rt_owners[*at], __ATOMIC_RELAXED);
        if (*word >> BITS == owner >> BITS && *word & bits) return true;
    }
    return false;
}

/* False: a handler of this thread was faster, or another thread. */
static bool swap(uint32_t at, uint64_t from, uint64_t to)
{
    return __atomic_compare_exchange_n(&rt_owners[at], &from, to, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

uint32_t rt_self_bits(void)
{
    uint64_t word, bits = 0;
    for (uint32_t i = 0; find(RT_SELF_BITS, &i, &word); i++) bits |= word & RT_SELF_BITS;
    return (uint32_t)bits;
}

struct rt_self *rt_self_with(uint32_t bit)
{
    uint64_t word;
    uint32_t at = 0;
    return find(bit, &at, &word) ? &rt_selves[at] : NULL;
}

static void use_slot(uint32_t at)
{
    uint32_t count = __atomic_load_n(&nslots, __ATOMIC_RELAXED);
    while (count <= at && !__atomic_compare_exchange_n(&nslots, &count, at + 1, false,
                                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
}

static struct rt_self *take_free(uint64_t word)
{
    for (uint32_t i = 0; i < MOST; i++) {
        if (__atomic_load_n(&rt_owners[i], __ATOMIC_RELAXED)) continue;
        use_slot(i); /* first: a handler must find the slot from the swap on */
        if (swap(i, 0, word)) return &rt_selves[i];
    }
    return NULL;
}

struct rt_self *rt_self_take(uint32_t bits)
{
    uint64_t word;
    for (uint32_t i = 0; find(RT_SELF_BITS, &i, &word); i++)
        if (swap(i, word, word | bits)) return &rt_selves[i];
    return take_free(this_thread() | bits);
}

uint32_t rt_self_drop(uint32_t bits)
{
    uint64_t word, dropped = 0;
    for (uint32_t i = 0; find(bits, &i, &word);) {
        uint64_t rest = word & ~(uint64_t)bits;
        if (swap(i, word, rest & RT_SELF_BITS ? rest : 0)) dropped |= word & bits;
    }
    return (uint32_t)dropped;
}

/* The other threads are not here. New ones may get their pointers. */
void rt_self_after_fork(void)
{
    for (uint32_t i = 0; i < nslots; i++)
        if (rt_owners[i] >> BITS != this_thread() >> BITS) rt_owners[i] = 0;
}

#endif
