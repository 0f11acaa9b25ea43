/* Which path a frame of rewritten code has in flight. `footpath exe` puts marks into the file
 * (struct fp_exe_mark): for every place of the new code the block, and where the path register is,
 * so every place is certain. At a call the register is in the frame's slot. In a frame that was
 * interrupted it may be in a general register, which the signal has saved.
 */
#include "rt.h"

#include "core/rt_order.h"
#include "core/rt_unwind.h"
#include "exits/rt_site.h"

#include <string.h>

static const struct fp_exe_mark *marks(void)
{
    return (const struct fp_exe_mark *)rt_exe_place(rt_exe_record.marks.at);
}

bool rt_has_marks(void)
{
    return rt_exe_record.marks.size != 0;
}

static bool is_not_behind(size_t i, uint64_t at)
{
    return marks()[i].at <= at;
}

/* The mark of a frame, or NULL: it is not in new code. */
static const struct fp_exe_mark *find_mark(const struct rt_frame *frame)
{
    const struct fp_exe_part *code = &rt_exe_record.code;
    uint64_t at = frame->regs[RT_RIP] - !frame->interrupted - (uint64_t)rt_exe_place(code->at);
    if (at >= code->size) return NULL;
    size_t rank = rt_rank(rt_exe_record.marks.size / sizeof(struct fp_exe_mark), at, is_not_behind);
    return rank ? &marks()[rank - 1] : NULL;
}

bool rt_place_is_certain(const struct rt_frame *frame)
{
    (void)frame;
    return true;
}

/* ---- the path register ---- */

static uint64_t slot_of(const struct rt_frame *frame)
{
    return frame->cfa + (uint64_t)(int64_t)FP_EXE_SLOT + rt_slot_bias();
}

/* The first counter of a function: a path register holds the address of a counter. */
static uint64_t counters_of(uint32_t function)
{
    uint32_t distance;
    memcpy(&distance, rt_exe_place(rt_exe_record.sums_at.at) + 4 * (size_t)function, 4);
    return (uint64_t)rt_exe_place(rt_exe_record.base) + distance;
}

static uint32_t home_of(const struct fp_exe_mark *mark)
{
    return (uint32_t)mark->where & ((1u << FP_EXE_HOME_BITS) - 1);
}

static uint64_t id_of(const struct fp_exe_mark *mark)
{
    uint64_t id;
    memcpy(&id, rt_exe_place(rt_exe_record.functions.at) + 8 * (size_t)mark->function, 8);
    return id;
}

static bool read_register(const struct rt_frame *frame, const struct fp_exe_mark *mark,
                          uint64_t *value)
{
    uint32_t home = home_of(mark);
    int64_t adjust = mark->where >> FP_EXE_HOME_BITS;
    uint64_t held = 0;
    if (home == FP_EXE_NO_HOME) {
        *value = (uint64_t)adjust;
        return true;
    }
    if (home != FP_EXE_IN_SLOT)
        held = frame->regs[home];
    else if (!rt_read_word(frame, slot_of(frame), &held))
        return false;
    *value = (uint64_t)((int64_t)(held - counters_of(mark->function)) / 8 + adjust);
    return true;
}

bool rt_identify_frame(const struct rt_frame *frame, struct rt_left *left)
{
    const struct fp_exe_mark *mark = find_mark(frame);
    if (!mark || mark->block == FP_EXE_NO_PATH) return false;
    left->function = id_of(mark);
    left->block = mark->block;
    return read_register(frame, mark, &left->reg);
}

/* ---- sites ---- */

bool rt_is_own_code(uint64_t address)
{
    const struct fp_exe_part *code = &rt_exe_record.code;
    return address - (uint64_t)rt_exe_place(code->at) < code->size;
}

/* The address is that of a call: no general register holds a sum there. */
bool rt_place_site(struct rt_site *site, uint64_t address)
{
    struct rt_frame frame = {.regs = {[RT_RIP] = address}, .interrupted = true};
    const struct fp_exe_mark *mark = find_mark(&frame);
    if (!mark || mark->block == FP_EXE_NO_PATH) return true;
    uint32_t home = home_of(mark);
    site->counts = true;
    site->function = id_of(mark);
    site->block = mark->block;
    site->has_register = home == FP_EXE_IN_SLOT;
    site->slot = FP_EXE_SLOT;
    site->counters = counters_of(mark->function);
    site->adjust = mark->where >> FP_EXE_HOME_BITS;
    return home >= FP_EXE_IN_SLOT;
}
