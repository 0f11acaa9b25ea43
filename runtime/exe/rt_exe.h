/* The runtime in a rewritten executable or shared library (footpath exe): what differs from a
 * compiled module. `footpath exe` puts the runtime, linked as a shared object, into the file,
 * and fills in a record that says where things are (footpath/abi.h).
 *
 * Only that object, which is compiled with RT_IN_EXECUTABLE, has the files of this room.
 */
#ifndef FP_RT_EXE_H
#define FP_RT_EXE_H

#include "core/rt_core.h"

#include <pthread.h>

/* ---- before any code of the module runs: rt_early.c ---- */

extern struct fp_exe_record rt_exe_record FP_HIDDEN;

static inline char *rt_exe_place(int64_t distance)
{
    return (char *)&rt_exe_record + distance;
}

void rt_exe_find_ranges(void) FP_HIDDEN;
/* The bias that the thread got which loaded this module; 0: none. */
int64_t rt_exe_early_bias(void) FP_HIDDEN;
/* How many steps the biases of other threads are to be away from 0: see RT_FAR_STEPS. */
uint32_t rt_exe_far_steps(void) FP_HIDDEN;

/* Is this memory in front of the heap, which nobody but slots uses? */
bool rt_exe_is_below_heap(struct rt_range range) FP_HIDDEN;

/* The module is unloaded: libc forgets the functions that we have registered. */
void rt_exe_unregister(void) FP_HIDDEN;

/* A system call without libc's function, which the program may have replaced. Returns what the
 * kernel returns. */
static inline long rt_exe_call(long number, long a, long b, long c, long d, long e, long f)
{
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    return result;
}

/* ---- slots: rt_shadow.c ---- */

/* Maps the slots of frames between two addresses of a stack, for a thread with this bias. What is
 * there already stays. */
bool rt_exe_shadow_map(uint64_t low, uint64_t high, int64_t bias) FP_HIDDEN;
/* The same for the stack of the first thread, or of another one that loads the module. */
bool rt_exe_shadow_first(int64_t bias) FP_HIDDEN;
/* Is this on that stack? */
bool rt_exe_shadow_is_first(uint64_t address) FP_HIDDEN;
/* The same for a thread that begins. *kept has what its region had before, and is replaced.
 * stack_size may be 0: not known. */
void rt_exe_shadow_thread(struct rt_range *kept, int64_t bias, size_t stack_size) FP_HIDDEN;
/* What attributes a new thread is to be made with, so that it has room for its slots. False: those
 * that the program gave. */
bool rt_exe_widen(pthread_attr_t *wider, const pthread_attr_t *given, size_t *stack_size) FP_HIDDEN;
/* Do slots not depend on the base? */
static inline bool rt_exe_is_fixed(void)
{
    return rt_exe_record.flags & FP_EXE_FIXED;
}
/* May the program use this memory as a stack? Maps its slots. False: something of the program
 * lies where they would be. */
bool rt_exe_shadow_own(uint64_t low, uint64_t high, int64_t bias) FP_HIDDEN;
/* A stack with slots, in place of one that has no room for them; NULL: no memory. */
void *rt_exe_shadow_new(size_t size) FP_HIDDEN;
/* A slot that is not mapped yet was used: maps it. */
bool rt_exe_shadow_fault(const siginfo_t *info, const ucontext_t *context) FP_HIDDEN;

/* ---- old code that was executed: rt_caught.c ---- */

/* As rt_module.exe_fault. */
bool rt_exe_fault(int signal, const siginfo_t *info, ucontext_t *context) FP_HIDDEN;
bool rt_exe_has_caught(void) FP_HIDDEN;
/* Puts the functions whose old code was executed: their number, then ids and how often. */
void rt_exe_put_caught(struct rt_buffer *out) FP_HIDDEN;
void rt_exe_clear_caught(void) FP_HIDDEN;

#endif
