/* Which block of which function an address lies in, by the marks of --fp-exits
 * (footpath/abi.h, docs/exits.md). */
#ifndef FP_RT_MARKS_H
#define FP_RT_MARKS_H

#include "rt.h"

struct rt_mark_place {
    const struct fp_mark *mark; /* the last one before the address, in the same function */
    bool closed;                /* the next mark is the end of the same block */
};

/* function_start: of the code that the unwind tables describe as one. False in front of
 * the first mark in it. */
bool rt_find_place(uint64_t address, uint64_t function_start,
                   struct rt_mark_place *place) FP_HIDDEN;

/* The address of the first mark behind `address`, or UINT64_MAX. */
uint64_t rt_next_mark(uint64_t address) FP_HIDDEN;

/* Where a function keeps its path register. NULL: nowhere. */
const struct fp_slot_mark *rt_find_slot(uint64_t function, uint64_t function_start) FP_HIDDEN;

/* "-8(%rsp)": a number, then a register by its DWARF number. */
bool rt_parse_slot(const char *text, int64_t *offset, unsigned *reg) FP_HIDDEN;

#endif
