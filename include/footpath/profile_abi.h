/* The profile file as the runtime writes it and the tools read it:
 * docs/formats/profile.md. All numbers are little-endian.
 *
 * A file is a header and records, one per run and module. A writer holds a lock,
 * appends its record and then commits it by writing the new length into the
 * header, alternating between two places, so that whenever it is killed one of
 * them is whole and says where the good data ends.
 */
#ifndef FOOTPATH_PROFILE_ABI_H
#define FOOTPATH_PROFILE_ABI_H

#include <stdint.h>

#define FP_PROFILE_MAGIC "footpath" /* 8 bytes */
enum { FP_PROFILE_VERSION = 1, FP_PROFILE_OLDEST_READER = 1 };

struct fp_profile_commit {
    uint64_t length;   /* of the file up to the end of the last whole record */
    uint32_t sequence; /* the larger one of two valid commits counts */
    uint32_t check;    /* low half of XXH64 of the 12 bytes before */
};

struct fp_profile_header {
    char magic[8];
    uint32_t version, oldest_reader;
    struct fp_profile_commit commits[2];
    uint64_t program; /* identifies the build: see fp_profile_program_id */
    uint64_t id;      /* of this file, or 0; and FP_PROFILE_ASIDE */
};

/* In `id`: there may be files of single runs beside this one (docs/formats/profile.md). */
#define FP_PROFILE_ASIDE ((uint64_t)1 << 63)

struct fp_record_header {
    uint32_t magic; /* FP_RECORD_MAGIC */
    uint32_t type;
    uint64_t length;   /* of the payload that follows */
    uint64_t checksum; /* XXH64 of the payload */
};

#define FP_RECORD_MAGIC 0x43525046u /* "FPRC" */

enum fp_record_type {
    FP_RECORD_RUN = 1,      /* counts of one module in one run */
    FP_RECORD_MAP = 2,      /* an embedded map: build-id, then the section */
    FP_RECORD_COMBINED = 3, /* distributions over runs: docs/formats/combined.md */
};

/* Where a module has its map: sections of its file that are not loaded, or with
 * --fp-map=separate a file beside it (docs/formats/map.md). */
#define FP_MAP_SECTION ".footpath_map"
/* Which functions the linker kept. Only of sections for debugging do all linkers
 * leave the rest, with 0 for what is gone, when they drop some of what it refers
 * to; so strip drops it, and then every function counts as kept. */
#define FP_MAP_LIVE_SECTION ".debug_footpath_live"
#define FP_MAP_FILE_MAGIC 0x31667066u /* "fpf1" */
#define FP_MAP_FILE_SUFFIX ".fpmap"

/* Flags of a run. */
enum fp_run_flag {
    FP_RUN_UNFINISHED = 1, /* written while the program went on */
    FP_RUN_SIGNALLED = 2,  /* ended by a signal */
    FP_RUN_MERGED = 4,     /* the sum of several runs */
    FP_RUN_CAUGHT = 16,    /* the record ends with functions that are not exact */
    FP_RUN_HISTORY = 32,   /* the record ends with what came before samples */
    FP_RUN_KILLED = 64,    /* what a killed process left: paths under way are not in it */
    FP_RUN_LEAVING = 8,    /* with FP_RUN_UNFINISHED: written right before exec or daemon */
};

/* What an entry of the history is: a pair of paths, or with FP_HISTORY_CALLER a path and where
 * its call came from. */
enum fp_history_kind {
    FP_HISTORY_HASHED = 1, /* the function's paths are counted in a hash table */
    FP_HISTORY_CALLER = 2,
};

/* Of a block in a list of paths in flight: the count in front of the branch at its end was made
 * already (fp_plan.at_end). Rewritten executables alone have such places. */
#define FP_LEFT_BEHIND 0x80000000u

#endif
