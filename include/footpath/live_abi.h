/* The live file: where a process with FOOTPATH_LIVE counts (docs/formats/live.md). The runtime
 * maps the file, and the tools read what a killed process left in it, or what a running one has
 * counted so far. Little-endian; offsets are from the start of the file and multiples of a page
 * where a part begins.
 *
 * The file is a piece of the process's memory: tables hold addresses. The whole file is mapped
 * at `base`, so that an address less `base` is an offset. Copies of counters are mapped a second
 * time, where their threads count.
 */
#ifndef FOOTPATH_LIVE_ABI_H
#define FOOTPATH_LIVE_ABI_H

#include <stdint.h>

#define FP_LIVE_MAGIC "fp-live" /* 8 bytes, with the 0 */
enum { FP_LIVE_VERSION = 1, FP_LIVE_OLDEST_READER = 1, FP_LIVE_PAGE = 4096 };

/* NAME.KEY.live beside the profile NAME: 16 hexadecimal digits. */
#define FP_LIVE_SUFFIX ".live"
enum { FP_LIVE_KEY_DIGITS = 16 };

enum fp_live_flag {
    /* The file is locked (flock) for as long as a process has it mapped. Without this flag the
     * four fields of the process tell whether it runs. */
    FP_LIVE_LOCKED = 1,
};

struct fp_live_header {
    char magic[8];
    uint32_t version, oldest_reader;
    uint32_t flags;
    uint32_t pid;
    uint64_t run_id;
    uint64_t base;      /* where the process has mapped the file */
    uint64_t used;      /* bytes of the file that are taken */
    uint64_t allocated; /* bytes that the file system has promised */
    uint64_t parts;     /* the first list of parts */
    uint64_t outside;   /* how often there was no room in the file: what was counted then is lost */
    uint64_t inode, device; /* of the file */
    uint64_t pid_started;   /* field 22 of /proc/PID/stat */
    uint64_t pid_space;     /* inode of /proc/PID/ns/pid */
    char boot[40];          /* /proc/sys/kernel/random/boot_id */
    char path[3072];        /* of the file */
};

enum fp_live_kind {
    FP_LIVE_MODULE = 1, /* struct fp_live_module */
    FP_LIVE_COPY = 2,   /* a thread's copy of a module's sections */
    FP_LIVE_LEFT = 3,   /* paths that were left in frames that are gone (--fp-exits) */
};

enum fp_live_state {
    FP_LIVE_EMPTY = 0,
    FP_LIVE_BUSY = 1,  /* being filled in: not valid */
    FP_LIVE_READY = 2, /* valid */
    FP_LIVE_FREE = 3,  /* its module is gone; the next one may take the place */
};

struct fp_live_part {
    uint32_t state, kind;
    uint64_t at, len;
    uint64_t module; /* the part's module: its offset */
    int64_t bias;    /* of a copy: how far it lies from the first thread's sections */
};

/* A page. Lists are never taken back; places in them are. */
enum { FP_LIVE_LIST_PARTS = (FP_LIVE_PAGE - 16) / sizeof(struct fp_live_part) };
struct fp_live_list {
    uint64_t next; /* offset, or 0 */
    uint64_t taken;
    struct fp_live_part parts[FP_LIVE_LIST_PARTS];
};

/* What happened to a module's run. */
enum fp_live_run {
    FP_LIVE_COUNTS = 0,  /* the module counts */
    FP_LIVE_WRITTEN = 1, /* its record is in the profile: nothing is to be taken from here */
};

/* Addresses are the process's. The record of the run is `begin`, the time of its end, `about`, and
 * then the counts (docs/formats/profile.md). */
struct fp_live_module {
    uint64_t run; /* of enum fp_live_run */
    uint64_t
        earlier;   /* records of this run and module in the profile: of a library, loaded again */
    uint64_t span; /* address of the first byte of a copy, less its bias */
    uint64_t counters, counters_end; /* sections of the first thread */
    uint64_t tables, tables_end;
    uint64_t direct, direct_end;
    uint64_t begin_len, about_len; /* bytes that follow, one behind the other */
};

/* An entry of a part FP_LIVE_LEFT. The entries begin 8 bytes behind the start of the part. */
struct fp_live_left {
    uint32_t state, unused; /* valid where it is FP_LIVE_LEFT_READY */
    uint64_t function, block, reg;
    int64_t count;
};
enum { FP_LIVE_LEFT_READY = 2 };

#endif
