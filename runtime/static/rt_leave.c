/* longjmp in a statically linked program. `footpath exe` makes the function come here first
 * (src/exe/barejumps.c): the frames that the jump leaves are counted, as in rt_jump.c.
 *
 * The end of a thread by pthread_exit is a jump, too: the unwinder has passed the frames of the
 * thread by then, and their personality functions have counted them. Those are not counted again.
 */
#include "exits/rt_walk.h"
#include "static/rt_static.h"

RT_PER_THREAD(struct rt_range, passed)

void rt_frame_was_passed(uint64_t cfa)
{
    struct rt_range *range = passed();
    if (!range->start) range->start = (char *)cfa;
    range->end = (char *)cfa;
}

void rt_frames_were_left(void)
{
    *passed() = (struct rt_range){0};
}

/* The frames up to the one whose cfa is above `until`, but those that were passed. */
static void leave_slowly(uint64_t until)
{
    struct rt_range range = *passed();
    struct rt_frame frame;
    rt_unwind_here(&frame);
    while (rt_unwind_look(&frame)) {
        bool was_passed = frame.cfa >= (uint64_t)range.start && frame.cfa <= (uint64_t)range.end;
        if (!was_passed) rt_frame_left(&frame, 1);
        if (frame.cfa > until || !rt_unwind_step(&frame)) break;
    }
    rt_frames_were_left();
}

static void leave(uint64_t until, uint64_t pc, uint64_t sp, uint64_t rbp)
{
    uint64_t start = (uint64_t)passed()->start;
    if (!rt_has_marks() || rt_is_confined()) return;
    bool unwinds = start > sp && start < until;
    if (!unwinds) rt_frames_were_left();
    if (unwinds)
        leave_slowly(until);
    else
        rt_before_jump(until, pc, sp, rbp);
}

/* glibc keeps the stack pointer in word 6, mixed with a secret of the process. */
void rt_leave_to_mixed(const uint64_t *env, uint64_t pc, uint64_t sp, uint64_t rbp) FP_HIDDEN;
void rt_leave_to_mixed(const uint64_t *env, uint64_t pc, uint64_t sp, uint64_t rbp)
{
    uint64_t secret;
    __asm__("movq %%fs:0x30, %0" : "=r"(secret));
    leave((env[6] >> 17 | env[6] << 47) ^ secret, pc, sp, rbp);
}

void rt_leave_to_plain(const uint64_t *env, uint64_t pc, uint64_t sp, uint64_t rbp) FP_HIDDEN;
void rt_leave_to_plain(const uint64_t *env, uint64_t pc, uint64_t sp, uint64_t rbp)
{
    leave(env[6], pc, sp, rbp);
}

/* At the entry of longjmp(env, value), with where to go on in r11. */
#define LEAVE(name, called)                                                                  \
    __asm__(".pushsection .text\n.globl " name "\n.hidden " name "\n.type " name             \
            ", @function\n" name ":\n.cfi_startproc\npushq %rdi\n.cfi_adjust_cfa_offset 8\n" \
            "pushq %rsi\n.cfi_adjust_cfa_offset 8\npushq %r11\n.cfi_adjust_cfa_offset 8\n"   \
            "movq 24(%rsp), %rsi\nleaq 32(%rsp), %rdx\nmovq %rbp, %rcx\ncall " called        \
            "\npopq %r11\n.cfi_adjust_cfa_offset -8\npopq %rsi\n.cfi_adjust_cfa_offset -8\n" \
            "popq %rdi\n.cfi_adjust_cfa_offset -8\njmp *%r11\n.cfi_endproc\n.size " name     \
            ", . - " name "\n.popsection")

LEAVE("rt_leave_mixed", "rt_leave_to_mixed");
LEAVE("rt_leave_plain", "rt_leave_to_plain");
