/* Walks a stack by the unwind tables (.eh_frame) that every x86-64 program has. Works in
 * signal handlers: no locks, no allocation. */
#ifndef FP_RT_UNWIND_H
#define FP_RT_UNWIND_H

#include "rt.h"

#include <ucontext.h>

enum { RT_RAX, RT_RDX, RT_RCX, RT_RBX, RT_RSI, RT_RDI, RT_RBP, RT_RSP, RT_RIP = 16, RT_NREGS };

/* How the caller's registers are found. Small, because handlers may run on a small stack. An
 * expression is kept as the address of its length. */
struct rt_rules {
    unsigned char kind[RT_NREGS];
    int64_t value[RT_NREGS];
    unsigned cfa_register;
    int64_t cfa_offset;
    const unsigned char *cfa_expression; /* NULL: register + offset */
    unsigned return_register;
    bool signal_frame;
};

struct rt_frame {
    uint64_t regs[RT_NREGS]; /* by DWARF number; rip is where the frame is */
    uint64_t cfa;            /* its caller's stack pointer; filled by rt_unwind_look */
    bool interrupted;        /* by a signal: rip is the next instruction, not behind a call */
    bool careful;            /* memory may not be readable: check each word */
    uint64_t function_start; /* start of the code that the tables describe as one */
    bool looked;             /* `rules` are those of this frame */
    struct rt_rules rules;
};

/* Fills in the frame of the caller. */
void rt_unwind_here(struct rt_frame *frame) FP_HIDDEN;
void rt_unwind_from_signal(struct rt_frame *frame, const ucontext_t *context) FP_HIDDEN;

/* Finds the frame's tables and its cfa; false where there are none. */
bool rt_unwind_look(struct rt_frame *frame) FP_HIDDEN;

/* Goes to the caller. needs: rt_unwind_look. False: the frame was the outermost one. */
bool rt_unwind_step(struct rt_frame *frame) FP_HIDDEN;

/* The distance from the stack pointer to the cfa at an address. False where the tables do not
 * give the cfa by the stack pointer. */
bool rt_unwind_cfa_offset(uint64_t address, int64_t *offset) FP_HIDDEN;

/* The way to the caller in the simple case: the cfa is rsp or rbp plus an offset, the return
 * address lies right below the cfa, and rbp is kept or lies at an offset from the cfa. */
struct rt_way {
    uint64_t function_start;
    int32_t cfa, rbp; /* rbp: 0 where it is kept */
    bool simple;      /* if false, only function_start is valid */
    bool cfa_by_rbp;
};

/* The way from an address in a function. False where there are no tables. */
bool rt_unwind_way(uint64_t address, struct rt_way *way) FP_HIDDEN;

bool rt_read_word(const struct rt_frame *frame, uint64_t address, uint64_t *word) FP_HIDDEN;

#endif
