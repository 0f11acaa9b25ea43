/* The runtime: linked into the program that is measured, once per executable or shared
 * library. It depends on libc, footpath/abi.h and footpath/profile_abi.h alone.
 *
 * It never aborts the program and never changes its exit status. It uses no malloc, no
 * stdio and no floating-point registers. All its symbols are hidden or begin with
 * __footpath, so a program cannot collide with them.
 *
 * This header puts the state of the rooms together: struct rt_local and struct rt_self per
 * thread, struct rt_process per process.
 */
#ifndef FP_RT_H
#define FP_RT_H

#include "core/rt_core.h"
#include "exe/rt_exe.h"
#include "exits/rt_exits.h"
#include "pep/rt_pep.h"
#include "threads/rt_threads.h"

/* What the runtime keeps per thread and module, beside the counters. */
struct rt_local {
    struct rt_core_local core;
    struct rt_exits_local exits;
    struct rt_pep_local pep;
};

extern struct rt_local rt_local FP_HIDDEN;
/* This thread's. rt_local itself is the first thread's. */
#define RT_LOCAL ((__seg_gs struct rt_local *)(uintptr_t)&rt_local)

/* What it keeps per thread and module elsewhere: core/rt_self.c. */
struct rt_self {
    struct rt_core_self core;
    struct rt_threads_self threads;
    struct rt_pep_self pep;
};

/* What all modules of the process share. All of it is 0 at first. */
struct rt_process {
    struct rt_core_process core;
    struct rt_exits_process exits;
    struct rt_pep_process pep;
    struct rt_threads_process threads;
};

#endif
