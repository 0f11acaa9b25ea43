/* What is left of a function where it was: see exework.h.
 *
 * Its entry, and every place in its middle that a pointer may lead to, becomes a jump to the new
 * code. All other bytes of its instructions become traps (int3): control can come there only if
 * the graph of the function is wrong. The runtime then goes on in the new code, and marks the
 * function as not exact. */
#include "exe/exework.h"
#include "footpath/profile_abi.h"

enum { JUMP = 0xe9, JUMP_SHORT = 0xeb, TRAP = 0xcc, JUMP_SIZE = 5 };

static bool patch(struct fp_exe_work *w, uint64_t address, const uint8_t *bytes, size_t len)
{
    return fp_image_patch(w->image, address, bytes, len) ||
           fp_fail(w->error, w->object.path, "code at 0x%llx is not in the file",
                   (unsigned long long)address);
}

static bool put_traps(struct fp_exe_work *w, const struct fp_machine_function *m)
{
    uint8_t traps[16];
    memset(traps, TRAP, sizeof traps);
    for (size_t i = 0; i < m->insns.len; i++) {
        const struct fp_insn *insn = &m->insns.at[i];
        if (insn->block != FP_NONE && !patch(w, insn->address, traps, insn->length)) return false;
    }
    return true;
}

static bool put_jump(struct fp_exe_work *w, uint64_t at, uint64_t to)
{
    uint8_t bytes[JUMP_SIZE] = {JUMP};
    int32_t distance = (int32_t)(to - (at + JUMP_SIZE));
    memcpy(bytes + 1, &distance, 4);
    return patch(w, at, bytes, sizeof bytes);
}

/* Where control goes that comes to an old address by call or pointer. */
static uint64_t new_place(const struct fp_exe_function *x, const struct fp_moving_jump *jump)
{
    const struct fp_moved_code *code = &x->code;
    if (jump->insn == 0) return x->start;
    uint32_t label = code->arrival[jump->block];
    if (label == FP_NONE) label = code->block[jump->block];
    return x->start + fp_pieces_offset(&code->pieces, label);
}

static bool put_entry(struct fp_exe_work *w, const struct fp_exe_function *x,
                      const struct fp_moving_jump *jump)
{
    uint64_t to = new_place(x, jump);
    if (!jump->slot) return put_jump(w, jump->at, to);
    uint8_t bytes[2] = {JUMP_SHORT, (uint8_t)(jump->slot - (jump->at + 2))};
    return patch(w, jump->at, bytes, sizeof bytes) && put_jump(w, jump->slot, to);
}

static uint32_t sum_at(struct fp_exe_work *w, const struct fp_exe_function *x, uint32_t insn)
{
    const struct fp_trap_sum *sum = &x->trap_sums[insn];
    if (sum->home == FP_HOME_NONE) return 0;
    struct fp_image_sum one = {.home = sum->home == FP_HOME_SLOT ? FP_EXE_IN_SLOT : sum->home,
                               .base = sum->base,
                               .disp = sum->disp,
                               .counter = x->f.layout.path_address + 8 * (uint64_t)sum->value};
    return fp_image_trap_sum(w->image, &one);
}

static void add_traps(struct fp_exe_work *w, struct fp_exe_function *x)
{
    x->trap_function = fp_image_trap_function(w->image, x->f.id, x->f.layout.path_address);
    for (uint32_t i = 0; i < x->m->insns.len; i++) {
        uint32_t piece = x->code.first_piece[i];
        if (piece == FP_NONE) continue;
        fp_image_trap(w->image, x->m->insns.at[i].address,
                      x->start + x->code.pieces.all.at[piece].offset, x->trap_function,
                      sum_at(w, x, i));
    }
}

static bool same_left(const struct fp_left *a, const struct fp_left *b)
{
    return a->block == b->block && a->adjust == b->adjust && a->home == b->home &&
           a->behind == b->behind;
}

/* Registers by their DWARF number, as unwinders have them. */
static int32_t where_of(const struct fp_left *left)
{
    static const uint8_t dwarf[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
    int32_t home = left->home < FP_HOME_SLOT    ? dwarf[left->home]
                   : left->home == FP_HOME_SLOT ? FP_EXE_IN_SLOT
                                                : FP_EXE_NO_HOME;
    return left->adjust * (1 << FP_EXE_HOME_BITS) + home;
}

/* needs: fp_exe_replace_old of this function right before. */
void fp_exe_add_marks(struct fp_exe_work *w, const struct fp_exe_function *x)
{
    const struct fp_pieces *p = &x->code.pieces;
    if (w->options->no_exits) return;
    for (size_t i = 0; i < p->all.len; i++) {
        const struct fp_left *left = &p->all.at[i].left;
        if (i && same_left(left, &p->all.at[i - 1].left)) continue;
        uint32_t block = left->block | (left->behind ? FP_LEFT_BEHIND : 0);
        fp_image_mark(w->image, x->start + p->all.at[i].offset, x->trap_function,
                      left->block == FP_NONE ? FP_EXE_NO_PATH : block, where_of(left));
    }
}

static bool keep_endbr(struct fp_exe_work *w, const struct fp_moving_jump *jump)
{
    size_t len;
    const unsigned char *old = fp_object_bytes(&w->object, jump->target, &len);
    size_t before = jump->at - jump->target;
    return !before || (old && len >= before && patch(w, jump->target, old, before));
}

bool fp_exe_replace_old(struct fp_exe_work *w, struct fp_exe_function *x)
{
    if (!put_traps(w, x->m)) return false;
    for (size_t i = 0; i < x->moving.njumps; i++)
        if (!keep_endbr(w, &x->moving.jumps[i]) || !put_entry(w, x, &x->moving.jumps[i]))
            return false;
    add_traps(w, x);
    return true;
}
