/* The profile file: reading it record by record, and writing it.
 * docs/formats/profile.md describes the bytes; footpath/profile_abi.h is what the
 * runtime and this reader share.
 */
#ifndef FP_PROFILE_RUNS_H
#define FP_PROFILE_RUNS_H

#include "base/error.h"
#include "base/varint.h"
#include "count/layout.h"

/* Which module of which build. */
struct fp_module_id {
    const char *path;
    const unsigned char *build_id;
    size_t build_id_len;
    struct fp_sections sections; /* as linked */
};

struct fp_counter {
    uint64_t index, count; /* word in the counter section */
};

/* A frame that never returned: where it was, and what its path register held. */
struct fp_in_flight {
    uint64_t function; /* id */
    uint64_t block;
    uint64_t reg;
    int64_t count;
};

/* A function of a rewritten executable whose old code was executed: a jump that the rewriter
 * did not know of was caught. Its counts are not exact. */
struct fp_caught {
    uint64_t function; /* id */
    uint64_t count;
};

/* What came before a sample: a pair of paths of one call, or a path and where its call came
 * from. Of functions whose paths are counted in a hash table, `base` is the table's place in its
 * section; else the word in the counter section that is the function's first. */
struct fp_history {
    uint64_t kind; /* of enum fp_history_kind */
    uint64_t base, id;
    uint64_t other; /* the path before; of a caller, the return address as linked, or 0 */
    uint64_t code;  /* of a caller: where the code of the frame begins, as linked; or 0 */
    uint64_t count;
};

/* A map in the profile, for a module whose file has none or may be gone: the bytes of its map
 * sections. */
struct fp_embedded_map {
    struct fp_module_id module;
    const unsigned char *map, *live; /* live may be NULL */
    size_t map_len, live_len;
};

/* One record: what one module counted in one run (or in several, merged). */
struct fp_run {
    uint64_t flags; /* of enum fp_run_flag */
    uint64_t id, runs;
    uint64_t start_ns, end_ns, pid;
    const char *host, *program, *folder;
    char **args;
    size_t nargs;
    struct fp_module_id module;
    struct fp_counter *counters; /* by rising index */
    size_t ncounters;
    struct fp_table_count *tables;
    size_t ntables;
    struct fp_in_flight *in_flight;
    size_t nin_flight;
    struct fp_caught *caught;
    size_t ncaught;
    struct fp_history *history; /* the same one may come several times */
    size_t nhistory;
    uint64_t history_dropped;          /* samples for which there was no room */
    const struct fp_embedded_map *map; /* for writing: the module's map, or NULL */
};

/* Calls with every whole run record of a file, in order; an arena per record. The
 * callback returns false to stop. Where the file ends before its last record does
 * (it was cut short, or its writer was killed), *cut is set and the whole records
 * before are given; anything else that is wrong is an error. */
typedef bool fp_run_callback(struct fp_arena *arena, const struct fp_run *run, void *context);
bool fp_profile_each_run(const char *path, fp_run_callback *call, void *context, bool *cut,
                         struct fp_error *error);

/* The same for a file in memory. */
bool fp_profile_parse(const unsigned char *bytes, size_t len, const char *name,
                      fp_run_callback *call, void *context, bool *cut, struct fp_error *error);

/* Everything in one pass; callbacks may be NULL. `combined` gets the payload of a combined
 * record, which combined/combined.h decodes. A visitor that has `run` and not `combined` fails
 * on such a record. */
struct fp_profile_visitor {
    fp_run_callback *run;
    bool (*map)(const struct fp_embedded_map *map, void *context); /* its bytes are the file's */
    bool (*combined)(struct fp_reader *payload, void *context);
    void *context;
};
bool fp_profile_visit(const unsigned char *bytes, size_t len, const char *name,
                      const struct fp_profile_visitor *visitor, bool *cut, struct fp_error *error);

void fp_run_encode(struct fp_writer *writer, const struct fp_run *run);
bool fp_run_decode(struct fp_arena *arena, struct fp_reader *reader, struct fp_run *run);
/* Which module a record is of, as records begin. */
void fp_module_encode(struct fp_writer *writer, const struct fp_module_id *module);
bool fp_module_decode(struct fp_arena *arena, struct fp_reader *reader,
                      struct fp_module_id *module);
/* The payload of a map's record. */
void fp_map_record_encode(struct fp_writer *writer, const struct fp_embedded_map *map);

/* A new file with one record per run; program is its first run's build. id: 0, or that
 * of the file whose place it takes, with its lock held. */
bool fp_profile_write(const char *path, const struct fp_run *runs, size_t nruns, uint64_t id,
                      struct fp_error *error);

/* A hash of the build that a file is of, by its header; 0 if it has none. */
uint64_t fp_profile_program(const unsigned char *bytes, size_t len);
/* The id of the file, with FP_PROFILE_ASIDE; 0 if the header has none. */
uint64_t fp_profile_id(const unsigned char *bytes, size_t len);

/* How much of a file of this length is valid; and, when it has grown, what to write into which
 * of the header's two places. */
struct fp_profile_header;
struct fp_profile_commit;
size_t fp_profile_good_length(const struct fp_profile_header *header, size_t len);
struct fp_profile_commit fp_profile_next_commit(const struct fp_profile_header *header,
                                                uint64_t length, int *place);

/* The parts of a profile file: the header, records (of enum fp_record_type; this empties the
 * payload), and at the end the commit, which says that all of it is valid. */
void fp_write_profile_header(struct fp_writer *writer, uint64_t program, uint64_t id);
void fp_write_record(struct fp_writer *writer, uint32_t type, struct fp_writer *payload);
void fp_write_commit(struct fp_writer *writer);

bool fp_same_module(const struct fp_module_id *a, const struct fp_module_id *b);

#endif
