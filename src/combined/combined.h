/* A combined profile: for every event of a program its distribution over runs
 * (paper 000, section 3.5). docs/formats/combined.md describes the bytes.
 *
 *     struct fp_combined *c = fp_combined_new(15);
 *     combined/combine.h adds runs; fp_combined_merge adds another one
 *     for each of c->functions, its events: fp_distribution_mean(...)
 *
 * An event is how often a function was called in a run, an edge relative to its
 * nearest dominating edge, or a path relative to the calls of its function (3.5.3).
 * Events that never happened have no entry.
 */
#ifndef FP_COMBINED_COMBINED_H
#define FP_COMBINED_COMBINED_H

#include "base/names.h"
#include "base/table.h"
#include "base/varint.h"
#include "base/vec.h"
#include "combined/distribution.h"
#include "profile/runs.h"

enum fp_event_kind {
    FP_EVENT_ENTRY,
    FP_EVENT_EDGE,
    FP_EVENT_PATH,
    FP_EVENT_PARTIAL, /* a path that never ended: id is its sum so far, block where it stopped */
};
enum { FP_EVENT_KINDS = 4 };

struct fp_event {
    enum fp_event_kind kind;
    uint32_t block;
    uint64_t id;
    uint32_t next;                       /* 1 + index of one more event with this id, or 0 */
    struct fp_distribution distribution; /* trials may lag: see fp_combined_settle */
};

/* Runs that could tell about edges, and about paths: an edge profile has no paths. */
enum fp_trial_kind { FP_TRIALS_EDGES, FP_TRIALS_PATHS };

/* Identity: name, last part of the file, shape of the cfg, and its number among
 * functions of one program that agree in all of these. */
struct fp_combined_function {
    const char *name, *file;
    uint32_t line, nth;
    uint64_t shape;
    uint64_t num_ids, numbering; /* of paths: how many, hash of how; 0 without */
    uint64_t trials[2];          /* by enum fp_trial_kind */
    FP_VEC(struct fp_event) events;
    struct fp_table by_id; /* id -> 1 + index of its first event */
    uint32_t index;        /* its own, in the combined profile */
    uint32_t kin; /* index of a function of the same program or its own: see fp_combined_join */
};

static inline struct fp_identity fp_combined_identity(const struct fp_combined_function *f)
{
    return (struct fp_identity){f->name, f->file, f->shape};
}

struct fp_combined_bytes {
    const unsigned char *bytes; /* NULL: none */
    size_t len;
};

struct fp_combined_module {
    const char *path;
    const unsigned char *build_id;
    size_t build_id_len;
    uint64_t runs;
    struct fp_combined_bytes map, live;     /* its map, where a profile brought it along */
    const struct fp_combined_function *any; /* one of its functions, or NULL */
};

struct fp_combined {
    struct fp_arena arena;
    uint64_t serial; /* tells apart what had one address after the other */
    uint32_t bins;
    uint64_t runs;
    uint64_t left_out;        /* functions, run by run, whose counts were no flow */
    const char *left_out_why; /* of the first, or NULL */
    FP_VEC(struct fp_combined_module) modules;
    FP_VEC(struct fp_combined_function *) functions;
    struct fp_table by_key; /* -> 1 + index in functions */
};

struct fp_combined *fp_combined_new(uint32_t bins);
void fp_combined_free(struct fp_combined *combined);

/* Found, or added as given. */
struct fp_combined_function *fp_combined_function(struct fp_combined *combined,
                                                  const struct fp_combined_function *like);
/* NULL where it is not there. */
struct fp_combined_function *fp_combined_lookup(const struct fp_combined *combined,
                                                const struct fp_combined_function *like);
struct fp_combined_module *fp_combined_module(struct fp_combined *combined, const char *path,
                                              const unsigned char *build_id, size_t build_id_len);

void fp_combined_set_map(struct fp_combined *combined, struct fp_combined_module *module,
                         const struct fp_embedded_map *map);

/* Functions belong together that are in one module, in modules of one run, or in two
 * modules as copies of each other. What does not belong together is of programs that
 * have nothing to do with each other: no function has runs of both. */
void fp_combined_join(struct fp_combined *combined, struct fp_combined_function *a,
                      const struct fp_combined_function *b);
/* How many such programs there are; of each one module in `of`, which has room for as
 * many as there are modules. */
size_t fp_combined_programs(const struct fp_combined *combined,
                            const struct fp_combined_module **of);

/* NULL where it never happened. */
struct fp_event *fp_combined_find(const struct fp_combined_function *function,
                                  enum fp_event_kind kind, uint32_t block, uint64_t id);

/* What happened in the run that is counted in the function's trials already. */
void fp_combined_add(struct fp_combined *combined, struct fp_combined_function *function,
                     enum fp_event_kind kind, uint32_t block, uint64_t id, double frequency,
                     uint64_t count);

/* The same for several runs, as many as the distribution has trials. */
void fp_combined_add_many(struct fp_combined *combined, struct fp_combined_function *function,
                          enum fp_event_kind kind, uint64_t id,
                          const struct fp_distribution *distribution);

enum fp_trial_kind fp_event_trials(enum fp_event_kind kind);

/* Gives every event the trials it did not occur in. */
void fp_combined_settle(struct fp_combined *combined);

/* `from` is settled. Fails where paths of a function are numbered in two ways. */
bool fp_combined_merge(struct fp_combined *into, struct fp_combined *from, struct fp_error *error);

/* The order of functions and events in files: by name, by kind and id. */
struct fp_combined_function **fp_combined_sorted(struct fp_arena *arena,
                                                 const struct fp_combined *combined);
struct fp_event **fp_combined_sorted_events(struct fp_arena *arena,
                                            const struct fp_combined_function *function);

/* The payload of a record of type FP_RECORD_COMBINED. Settles first. */
void fp_combined_encode(struct fp_writer *writer, struct fp_combined *combined);
/* NULL after failing the reader. All that is in one record belongs together. */
struct fp_combined *fp_combined_decode(struct fp_reader *reader);

/* What belongs together, apart from that: between processes that combine. Decoding
 * takes a profile as fp_combined_decode made it. */
void fp_combined_encode_kin(struct fp_writer *writer, const struct fp_combined *combined);
void fp_combined_decode_kin(struct fp_reader *reader, struct fp_combined *combined);

#endif
