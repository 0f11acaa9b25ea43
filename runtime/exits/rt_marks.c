/* The marks of this module: see rt_marks.h.
 *
 * A section of marks is linked to the section of its code (SHF_LINK_ORDER), so most linkers
 * put the marks in the order of the code, and they are searched as they are. footpath-cc looks
 * whether they are in order when it has linked (tool/cc_map.c), so that not every process has to
 * read them all. For a linker that does not (gold) an index is made at the first need.
 *
 * Not handled: without memory for the index no place is found, and frames are not counted.
 */
#include "exits/rt_marks.h"

#include "core/rt_order.h"
#include "core/rt_unwind.h"

#include <string.h>
#include <sys/mman.h>

RT_SECTION_BOUNDS(struct fp_mark, marks, FP_MARK_SECTION);
RT_SECTION_BOUNDS(struct fp_slot_mark, slots, FP_SLOT_SECTION);

bool rt_has_marks(void)
{
    return &marks_start[0] != &marks_end[0];
}

static size_t nmarks(void)
{
    return (size_t)(marks_end - marks_start);
}

static size_t nslots(void)
{
    return (size_t)(slots_end - slots_start);
}

static uint64_t address_of(const struct fp_mark *mark)
{
    return (uint64_t)&mark->address + (uint64_t)mark->address;
}

static uint64_t address_of_slot(const struct fp_slot_mark *slot)
{
    return (uint64_t)&slot->address + (uint64_t)slot->address;
}

/* ---- the order of marks ---- */

/* Changed in the file, by footpath-cc. Volatile: the compiler must not take it for 0. */
static const volatile uint32_t ordered_by_link __attribute__((section(FP_ORDER_SECTION), used)) = 0;

static bool in_order(void)
{
    for (size_t i = 1; i < nmarks(); i++)
        if (address_of(&marks_start[i - 1]) > address_of(&marks_start[i])) return false;
    for (size_t i = 1; i < nslots(); i++)
        if (address_of_slot(&slots_start[i - 1]) > address_of_slot(&slots_start[i])) return false;
    return true;
}

/* Marks at one address (the end of a block and the start of the next) are in the
 * section in the order in which they stand in the code. */
static bool before(const void *first, const void *second)
{
    const struct fp_mark *a = *(const struct fp_mark *const *)first;
    const struct fp_mark *b = *(const struct fp_mark *const *)second;
    return address_of(a) != address_of(b) ? address_of(a) < address_of(b) : a < b;
}

enum order { UNKNOWN, BY_CODE, BY_INDEX };

static struct {
    uint32_t order;
    const struct fp_mark **index;
} known;

/* A handler that interrupts this may make an index too; the first one is kept. */
static bool make_index(void)
{
    size_t size = nmarks() * sizeof *known.index;
    const struct fp_mark **none = NULL;
    const struct fp_mark **made =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) return false;
    for (size_t i = 0; i < nmarks(); i++) made[i] = &marks_start[i];
    rt_sort(made, nmarks(), sizeof *made, before);
    if (!__atomic_compare_exchange_n(&known.index, &none, made, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        munmap(made, size);
    return true;
}

static bool know_order(void)
{
    if (__atomic_load_n(&known.order, __ATOMIC_ACQUIRE)) return true;
    bool code = ordered_by_link || in_order();
    if (!code && !make_index()) return false;
    __atomic_store_n(&known.order, code ? BY_CODE : BY_INDEX, __ATOMIC_RELEASE);
    return true;
}

static const struct fp_mark *nth(size_t i)
{
    return known.order == BY_CODE ? &marks_start[i] : known.index[i];
}

static bool is_not_behind(size_t i, uint64_t address)
{
    return address_of(nth(i)) <= address;
}

/* How many marks are not behind the address. */
static size_t rank(uint64_t address)
{
    return rt_rank(nmarks(), address, is_not_behind);
}

/* ---- where an address is ---- */

bool rt_find_place(uint64_t address, uint64_t function_start, struct rt_mark_place *place)
{
    size_t i = rt_has_marks() && know_order() ? rank(address) : 0;
    if (!i || address_of(nth(i - 1)) < function_start) return false;
    place->mark = nth(i - 1);
    const struct fp_mark *next = i < nmarks() ? nth(i) : NULL;
    place->closed = next && next->function == place->mark->function &&
                    next->block == ((place->mark->block & ~FP_MARK_NO_REGISTER) | FP_MARK_END);
    return true;
}

uint64_t rt_next_mark(uint64_t address)
{
    size_t i = rt_has_marks() && know_order() ? rank(address) : nmarks();
    return i < nmarks() ? address_of(nth(i)) : UINT64_MAX;
}

/* ---- where a function keeps its path register ---- */

static bool slot_is_before(size_t i, uint64_t address)
{
    return address_of_slot(&slots_start[i]) < address;
}

/* Mostly it is the first slot mark behind the function's start. It may also stand in a part
 * of the function that lies elsewhere. */
const struct fp_slot_mark *rt_find_slot(uint64_t function, uint64_t function_start)
{
    size_t i =
        known.order == BY_CODE ? rt_rank(nslots(), function_start, slot_is_before) : nslots();
    if (i < nslots() && slots_start[i].function == function) return &slots_start[i];
    for (i = 0; i < nslots(); i++)
        if (slots_start[i].function == function) return &slots_start[i];
    return NULL;
}

bool rt_parse_slot(const char *text, int64_t *offset, unsigned *reg)
{
    static const struct {
        const char *name;
        unsigned reg;
    } names[] = {{"(%rsp)", RT_RSP}, {"(%rbp)", RT_RBP}, {"(%rbx)", RT_RBX}, {"(%r12)", 12},
                 {"(%r13)", 13},     {"(%r14)", 14},     {"(%r15)", 15}};
    bool negative = *text == '-';
    text += negative;
    for (*offset = 0; *text >= '0' && *text <= '9'; text++) *offset = *offset * 10 + (*text - '0');
    if (negative) *offset = -*offset;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(text, names[i].name, 6)) {
            *reg = names[i].reg;
            return true;
        }
    return false;
}
