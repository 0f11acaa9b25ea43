/* Calls of the kernel in code that is not moved: see barecode.h.
 *
 * The question of kernelcalls.h has no room there. Instructions in front of the call, five bytes
 * at least, become a jump to code of ours that has them and the question. From there control goes
 * back to the call itself:
 *
 *     old:  mov $56, %eax      ->   old:  jmp new          new:  mov $56, %eax
 *           syscall                       syscall                question
 *                                                                jmp old's syscall
 *
 * No instruction of these but the first may be a place that something leads to. Where there are
 * too few such instructions, the call and those behind it are taken, too. Where that is not
 * possible, the program is refused: the runtime might not see how it ends.
 *
 * A call whose number is a constant that the runtime does not want stays as it is. */
#include "exe/barecode.h"

static bool is_wanted(const struct fp_bare_code *b, size_t i)
{
    uint32_t number;
    if (!fp_bare_follows(b, i)) return true;
    return !fp_kernel_call_number(&b->w->object, &b->insns.at[i - 1], &number) ||
           fp_kernel_call_is_watched(number, fp_image_is_fixed(b->w->image));
}

/* ---- the jump ---- */

/* How many instructions in front of the call are taken; 0: there are not enough. */
static size_t taken_before(const struct fp_bare_code *b, size_t call)
{
    for (size_t i = call; fp_bare_follows(b, i); i--)
        if (b->insns.at[call].address - b->insns.at[i - 1].address >= FP_BARE_JUMP_SIZE)
            return call - i + 1;
    return 0;
}

/* Instructions around the call, with it: how many, or 0. */
static size_t taken_around(const struct fp_bare_code *b, size_t call, size_t *first)
{
    size_t last = call;
    for (*first = call; fp_bare_follows(b, *first); --*first)
        if (fp_bare_end(b, call) - b->insns.at[*first].address >= FP_BARE_JUMP_SIZE) break;
    while (fp_bare_end(b, last) - b->insns.at[*first].address < FP_BARE_JUMP_SIZE) {
        if (last + 1 == b->insns.len || !fp_bare_follows(b, last + 1)) return 0;
        uint8_t kind = b->insns.at[++last].kind;
        if (kind == FP_INSN_CALL || kind == FP_INSN_JUMP_INDIRECT || kind == FP_INSN_STOP) return 0;
    }
    return last - *first + 1;
}

static const char *copy(struct fp_bare_code *b, struct fp_pieces *p, size_t first, size_t count)
{
    const char *why = NULL;
    for (size_t i = first; i < first + count && !why; i++) {
        const struct fp_insn *insn = &b->insns.at[i];
        bool jumps = insn->kind == FP_INSN_JUMP || insn->kind == FP_INSN_BRANCH;
        if (fp_is_kernel_call(&b->w->object, insn)) fp_kernel_call_ask(p, &b->w->calls, 0);
        why = jumps ? fp_pieces_add_jump(p, &b->w->object, insn, 0, FP_NONE)
                    : fp_pieces_add_old(p, &b->w->object, insn, 0);
    }
    return why;
}

/* Instructions in front of the call, and the question; the call stays where it is. */
static const char *ask_before(struct fp_bare_code *b, struct fp_pieces *p, size_t call,
                              size_t first)
{
    const char *why = copy(b, p, first, call - first);
    fp_kernel_call_ask_apart(p, &b->w->calls, b->insns.at[call].address);
    return why;
}

static const char *ask_around(struct fp_bare_code *b, struct fp_pieces *p, size_t first,
                              size_t count)
{
    if (!count) return "it has no room for a jump";
    const char *why = copy(b, p, first, count);
    fp_pieces_jump_out(p, 0, fp_bare_end(b, first + count - 1));
    return why;
}

static bool ask(struct fp_bare_code *b, size_t call)
{
    struct fp_pieces p = {.arena = b->w->arena};
    size_t count = taken_before(b, call), first = call - count;
    const char *why;
    if (count) {
        why = ask_before(b, &p, call, first);
    } else {
        count = taken_around(b, call, &first);
        why = ask_around(b, &p, first, count);
    }
    if (!why && fp_bare_replace(b, &p, first, count)) return true;
    return fp_fail(b->w->error, b->w->object.path,
                   "calls the kernel at 0x%llx, where the runtime cannot see it (%s)",
                   (unsigned long long)b->insns.at[call].address, why ? why : "too far away");
}

bool fp_bare_calls(struct fp_bare_code *b)
{
    const struct fp_object *object = &b->w->object;
    for (size_t i = 0; i < b->insns.len; i++)
        if (fp_is_kernel_call(object, &b->insns.at[i]) && is_wanted(b, i) && !ask(b, i))
            return false;
    return true;
}
