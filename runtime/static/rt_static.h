/* The runtime in a statically linked program (footpath exe). There is no loader and no libc that
 * the runtime could call: the program's own may be stripped, and is counted itself. So the runtime
 * starts at the entry point of the file (rt_entry.c), has a libc of its own (rt_libc.c,
 * rt_libc_text.c), and learns of threads, forks, ends and signal handlers where the program calls
 * the kernel: in front of each `syscall` instruction the number of the call is looked up, and
 * those that matter come here (rt_through.c).
 *
 * Only that object, which is compiled with RT_IN_STATIC, has the files of this room.
 *
 * Not handled: calls of the kernel by int 0x80, sysenter or the vsyscall page.
 */
#ifndef FP_RT_STATIC_H
#define FP_RT_STATIC_H

#include "core/rt_unwind.h"

#include <elf.h>
#include <link.h>

/* ---- libc: rt_libc.c ---- */

/* Notes what the kernel has put on the stack. needs: the relocations are done. */
void rt_libc_start(char **environment, const Elf64_auxv_t *facts) FP_HIDDEN;
/* What pthread_atfork was told. */
void rt_libc_before_fork(void) FP_HIDDEN;
void rt_libc_after_fork(bool in_child) FP_HIDDEN;
/* From here on the program has more than one thread. */
void rt_libc_many_threads(void) FP_HIDDEN;

/* ---- calls of the kernel: rt_through.c ---- */

/* The registers at a `syscall` instruction, by their DWARF numbers. rip is the address behind the
 * instruction. The order is known to rt_calls.S. */
struct rt_call_regs {
    uint64_t regs[RT_NREGS];
    uint64_t flags;
};

/* Decides which calls come to us. needs: the record. */
void rt_through_start(void) FP_HIDDEN;
/* The frame that makes the call. */
struct rt_frame rt_calling_frame(const struct rt_call_regs *call) FP_HIDDEN;
/* The kernel does the call as the program has asked for it. */
long rt_call_as_is(const struct rt_call_regs *call) FP_HIDDEN;
static inline uint64_t rt_call_argument(const struct rt_call_regs *call, int i)
{
    static const unsigned char where[] = {RT_RDI, RT_RSI, RT_RDX, 10, 8, 9};
    return call->regs[where[i]];
}

/* ---- clone and its kin: rt_born.c ---- */

/* A call that returns in two threads or processes. Kept in memory that neither of them changes
 * while the call lasts: a child of vfork overwrites the stack of its parent. */
struct rt_birth {
    struct rt_call_regs call; /* the first member: rt_calls.S copies it */
    uint32_t kind;            /* of rt_born.c */
    uint32_t users;           /* 0: free */
    uint64_t mask;            /* of signals, before the call */
    uint64_t stack, stack_size;
};

/* NULL: the call was answered already; the result is in `call`. */
struct rt_birth *rt_birth_begin(struct rt_call_regs *call) FP_HIDDEN;
/* In the parent, and in the child. */
void rt_birth_end(struct rt_call_regs *call, struct rt_birth *birth) FP_HIDDEN;
/* A thread ends. Returns whether it was the last one. */
bool rt_thread_leaves(void) FP_HIDDEN;
/* Gives this thread a stack to end on: its own may be unmapped by then. */
void rt_provide_exit_stack(void) FP_HIDDEN;

/* ---- memory for stacks: rt_stacks.c ---- */

/* As the system calls of these names, with room for slots. */
long rt_stack_map(const struct rt_call_regs *call) FP_HIDDEN;
void rt_stack_unmap(uint64_t start, uint64_t len) FP_HIDDEN;
long rt_stack_for_signals(const struct rt_call_regs *call) FP_HIDDEN;
/* Have frames between these addresses slots, or can they get some? */
bool rt_stack_has_slots(uint64_t low, uint64_t high) FP_HIDDEN;

/* ---- actions of signals: rt_action.c ---- */

long rt_action_set(const struct rt_call_regs *call) FP_HIDDEN;
/* Copies from and to memory of the program, which may not be there. */
bool rt_copy_in(void *to, uint64_t from, size_t len) FP_HIDDEN;
bool rt_copy_out(uint64_t to, const void *from, size_t len) FP_HIDDEN;

#endif
