/* Which path a frame of compiled code has in flight, by the marks of its module: see rt_left.h.
 * Rewritten executables have marks of another kind (exe/rt_exeplace.c).
 */
#include "exits/rt_marks.h"
#include "exits/rt_site.h"

#include <elf.h>
#include <link.h>

static bool find_place(const struct rt_frame *frame, struct rt_mark_place *place)
{
    return rt_find_place(frame->regs[RT_RIP] - !frame->interrupted, frame->function_start, place);
}

/* Is the runtime in the middle of counting a path in a hash table? The path has ended for its
 * function, and is not in the table yet. */
static bool is_counting(const struct rt_frame *looked)
{
    enum { MOST_FRAMES = 8 }; /* of the runtime, from the entry on */
    struct rt_mark_place place;
    struct rt_frame frame = *looked;
    for (int i = 0; i < MOST_FRAMES && !find_place(&frame, &place); i++) {
        if (rt_hash_is_entry(frame.function_start)) return true;
        if (!rt_unwind_step(&frame) || !rt_unwind_look(&frame)) return false;
    }
    return false;
}

bool rt_place_is_certain(const struct rt_frame *frame)
{
    struct rt_mark_place place;
    struct rt_frame looked = *frame;
    if (!rt_unwind_look(&looked)) return true;
    if (!find_place(&looked, &place)) {
        if (rt_has_marks() && is_counting(&looked)) return false;
        /* in front of the first mark of a marked function, or in another function */
        struct rt_frame there = {.regs = {[RT_RIP] = rt_next_mark(looked.regs[RT_RIP])},
                                 .interrupted = true};
        return there.regs[RT_RIP] == UINT64_MAX || !rt_unwind_look(&there) ||
               there.function_start != looked.function_start;
    }
    return !(place.mark->block & FP_MARK_END) && place.closed;
}

/* The path register of a frame, or 0 where the function has none. The stack pointer
 * in the body of a function is a fixed distance from its cfa. */
static bool read_register(const struct rt_frame *frame, const struct fp_mark *mark, uint64_t *value)
{
    int64_t offset, distance;
    unsigned reg;
    *value = 0;
    if (mark->block & FP_MARK_NO_REGISTER) return true;
    const struct fp_slot_mark *slot = rt_find_slot(mark->function, frame->function_start);
    if (!slot) return true;
    uint64_t at = (uint64_t)&slot->address + (uint64_t)slot->address;
    if (!rt_parse_slot(slot->place, &offset, &reg)) return false;
    uint64_t base = frame->regs[reg];
    if (reg == RT_RSP && rt_unwind_cfa_offset(at, &distance))
        base = frame->cfa - (uint64_t)distance;
    return rt_read_word(frame, base + (uint64_t)offset, value);
}

bool rt_identify_frame(const struct rt_frame *frame, struct rt_left *left)
{
    struct rt_mark_place place;
    if (!find_place(frame, &place) || place.mark->block & FP_MARK_END) return false;
    left->function = place.mark->function;
    left->block = place.mark->block & ~FP_MARK_NO_REGISTER;
    return read_register(frame, place.mark, &left->reg);
}

/* ---- sites ---- */

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

bool rt_place_site(struct rt_site *site, uint64_t address)
{
    struct rt_mark_place place;
    if (!rt_find_place(address, site->way.function_start, &place) ||
        place.mark->block & FP_MARK_END)
        return true;
    site->counts = true;
    site->function = place.mark->function;
    site->block = place.mark->block & ~FP_MARK_NO_REGISTER;
    return place.mark->block & FP_MARK_NO_REGISTER || fill_slot(site, place.mark);
}

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

bool rt_is_own_code(uint64_t address)
{
    static struct rt_range code;
    if (!code.end) {
        struct rt_range found = find_code();
        code.start = found.start;
        __atomic_store_n(&code.end, found.end, __ATOMIC_RELEASE);
    }
    return address - (uint64_t)code.start < (uint64_t)(code.end - code.start);
}
