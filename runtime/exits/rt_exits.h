/* Exits: ends of the process that run no destructors, and frames that do not return
 * (docs/exits.md). Here is what the other rooms use.
 */
#ifndef FP_RT_EXITS_H
#define FP_RT_EXITS_H

#include "core/rt_core.h"

/* ---- frames that do not return: rt_inflight.c, rt_marks.c, rt_jump.c ---- */

/* Was this module built with --fp-exits? */
bool rt_has_marks(void) FP_HIDDEN;
/* Puts the frames of this module from `frame` outwards into the buffer, each with its path
 * in flight: function, block, register, 1. Returns their number. */
uint64_t rt_in_flight_now(struct rt_buffer *out, const struct rt_frame *frame) FP_HIDDEN;
/* The same for frames that were left before. */
uint64_t rt_in_flight_left(struct rt_buffer *out) FP_HIDDEN;
/* The same for the frames of contexts that wait for swapcontext. */
uint64_t rt_in_flight_waiting(struct rt_buffer *out) FP_HIDDEN;
/* There is a new live file, or none any more: moves the counts of what was left. */
void rt_in_flight_renew(void) FP_HIDDEN;
void rt_in_flight_clear(void) FP_HIDDEN;
/* Counts the paths in flight of this thread's frames, in all modules, up to the frame whose
 * cfa is above `until`. */
void rt_frames_left(const struct rt_frame *frame, uint64_t until, int64_t weight) FP_HIDDEN;
#ifdef RT_IN_STATIC
/* The unwinder has passed a frame, which was counted; or it goes on in a frame (static/). */
void rt_frame_was_passed(uint64_t cfa) FP_HIDDEN;
void rt_frames_were_left(void) FP_HIDDEN;
#endif
/* The entry points of this module for struct rt_module. */
bool rt_frame_left(const struct rt_frame *frame, int64_t weight) FP_HIDDEN;
/* False where an interrupted frame is in the middle of counting: then it is not certain
 * which block it is in. */
bool rt_place_is_certain(const struct rt_frame *frame) FP_HIDDEN;

/* ---- ends of the process: rt_end.c ---- */

void rt_end_watch(void) FP_HIDDEN;
#ifdef RT_IN_STATIC
/* The process ends at this frame, or is left by exec. Of a child of vfork only its frames are. */
void rt_end_write(enum rt_why why, const struct rt_frame *frame) FP_HIDDEN;
/* A jump leaves the frames up to the one whose cfa is above `until`. pc, sp, rbp: of the frame that
 * calls the function which jumps. */
void rt_before_jump(uint64_t until, uint64_t pc, uint64_t sp, uint64_t rbp) FP_HIDDEN;
#endif
/* Removes our handlers, if they are this module's. */
void rt_end_unwatch(void) FP_HIDDEN;
void rt_end_at_quick_exit(void) FP_HIDDEN;
/* The module is about to be unloaded: its handlers must not stay. */
void rt_end_forget_module(void) FP_HIDDEN;
/* libc's __cxa_at_quick_exit in static programs (rt_quick.c), NULL in others. */
typedef int rt_at_quick_exit(void (*call)(void *), void *module);
extern rt_at_quick_exit *rt_at_quick FP_HIDDEN;
/* Does the default action of the signal end the process, in a way that we see? */
bool rt_is_fatal(int signal) FP_HIDDEN;
/* The handler of fatal signals. */
void rt_die(int signal, siginfo_t *info, void *context) FP_HIDDEN;
/* Gives this thread a signal stack if it has none, so that the overflow of its stack can be
 * reported. *memory is made at the first need, and kept. */
void rt_provide_signal_stack(void **memory) FP_HIDDEN;

/* ---- the default action: rt_default.c ---- */

typedef int rt_sigaction(int signal, const struct sigaction *action, struct sigaction *old);
/* sigaction as the program means it. real: libc's. */
int rt_set_action(rt_sigaction *real, int signal, const struct sigaction *action,
                  struct sigaction *old) FP_HIDDEN;
/* Did a rewritten module raise the signal for us? Then it was dealt with. */
bool rt_is_for_us(int signal, const siginfo_t *info, void *context) FP_HIDDEN;
/* Has the process one thread, and no handler of a signal but ours of fatal ones? */
bool rt_handlers_are_ours(void) FP_HIDDEN;
/* Some signal had a handler when the runtime began. */
void rt_note_handler(void) FP_HIDDEN;
/* The action that we set where the program has the default one. */
void rt_default_action(struct sigaction *action) FP_HIDDEN;

/* ---- state ---- */

struct rt_exits_local {
    uint64_t vfork_stack; /* the stack pointer when vfork was last called */
};

struct rt_exits_process {
    uint32_t watched; /* fatal signals have a handler of ours */
    uint32_t guarded; /* some module was rewritten: SIGTRAP and SIGSEGV may be for us */
    /* That handler, or NULL: the handler of the module that set it. */
    void (*fatal_handler)(int signal, siginfo_t *info, void *context);
};

#endif
