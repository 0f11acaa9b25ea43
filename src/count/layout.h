/* Where the counters of a function lie: from a path's id to its counter, and back.
 * The only file that knows the arrangement:
 *
 *   array    one word per id: first the paths, then the laps. With cycles two words
 *            per id: the count, then the cycles. With FP_FUNCTION_TWICE all ids
 *            again: short loops count in both in turn (graph/shortloops.h), and a
 *            count is the sum.
 *   table    a hash table of paths (footpath/abi.h). The laps are words in front of
 *            the edge counters. Where a function has values but few paths, the table
 *            counts values alone, and an array beside it (direct_slots) the paths.
 *   edges    one word per counted flow edge, then those of a P3 copy, then what
 *            calls cost: of the function the frame that is active and what calls
 *            of it cost while it was active already, of each call in the order of
 *            source.calls what it cost and how often it returned.
 *
 * A copy that counts some of the paths (struct fp_copy_info) counts sums of labels
 * instead of ids. "id" below means the sum there.
 *
 * Everything that came from a file is checked here: no function below reads or
 * names a word outside of the sections.
 */
#ifndef FP_COUNT_LAYOUT_H
#define FP_COUNT_LAYOUT_H

#include "base/error.h"
#include "count/counters.h"
#include "count/function.h"

/* The sections of counters and of hash tables in a linked module. */
struct fp_sections {
    uint64_t counters_address, counters_size;
    uint64_t tables_address, tables_size;
};

/* One counter: a word of the counter section, or a path of a table. */
struct fp_place {
    bool in_table;
    uint64_t word;        /* index in the counter section */
    uint64_t table, path; /* with in_table */
};

/* Of what calls cost: slots from layout.call_slot on. */
enum {
    FP_CALL_ACTIVE, /* address of the outermost active frame of the function, or 0 */
    FP_CALL_AGAIN,  /* cost of the calls that were made while there was one */
    FP_CALL_FIRST,  /* of the first call: FP_CALL_COST, then FP_CALL_RETURNS */
    FP_CALL_COST = 0,
    FP_CALL_RETURNS,
    FP_CALL_SLOTS
};

static inline uint64_t fp_layout_call(const struct fp_function *f, uint32_t call)
{
    return (uint64_t)f->layout.call_slot + FP_CALL_FIRST + (uint64_t)call * FP_CALL_SLOTS;
}

/* ---- the compiler's side ---- */

/* Arranges the path counters for num_ids ids, in an array where array_paths allows.
 * Sets FP_FUNCTION_HASHED, path_slots and the laps' share of edge_slots.
 * needs: flags of the mode, the truncation. */
void fp_layout_paths(struct fp_function *f, uint64_t num_ids, uint64_t array_paths);

/* A table for the values of a function whose paths are not counted. Sets FP_FUNCTION_HASHED. */
void fp_layout_values(struct fp_function *f);

/* A second copy of the array. needs: an array, and no cycles. */
void fp_layout_twice(struct fp_function *f);

/* Adds a word behind the edge counters; returns its slot. */
uint32_t fp_layout_add_edge(struct fp_function *f);

/* Adds the words of what calls cost. needs: the list of calls. */
void fp_layout_add_calls(struct fp_function *f);

/* Words from the counter of one id to that of the next, in an array. */
uint64_t fp_layout_stride(const struct fp_function *f);

/* ---- the readers' side ---- */

/* Places where frames are left: the blocks, then their copies. needs: FP_FUNCTION_EXITS. */
static inline uint32_t fp_layout_places(const struct fp_function *f)
{
    return f->paths.cfg->nblocks + f->layout.ncopies;
}

static inline uint32_t fp_layout_block_at(const struct fp_function *f, uint32_t place)
{
    uint32_t n = f->paths.cfg->nblocks;
    return place < n ? place : f->layout.copy_of[place - n];
}

/* How many path sums there can be; the ids of laps follow them. */
uint64_t fp_layout_sums(const struct fp_function *f);

/* Do the counters that the flags ask for fit into path_slots and edge_slots? `need` is
 * how many path slots they take. */
bool fp_layout_fits(const struct fp_function *f, uint64_t *need);

/* Do the counters of the function lie within the sections? */
bool fp_layout_check(const struct fp_function *f, const struct fp_sections *at);

/* The first of `slots` words at an address; false if some of them lie outside. */
bool fp_layout_word(const struct fp_sections *at, uint64_t address, uint64_t slots,
                    uint64_t *first);

/* The number of the function's hash table; false if it has none in the section. */
bool fp_layout_table(const struct fp_function *f, const struct fp_sections *at, uint64_t *table);

/* The counter of an id, or of an edge slot; false if there is none. */
bool fp_layout_of_id(const struct fp_function *f, const struct fp_sections *at, uint64_t id,
                     struct fp_place *place);
bool fp_layout_of_edge(const struct fp_function *f, const struct fp_sections *at, uint32_t slot,
                       struct fp_place *place);

/* Calls with each id of one function whose count in the counter section is not 0. Paths in a
 * hash table are not in this section. */
typedef void fp_layout_callback(uint64_t id, uint64_t count, uint64_t cycles, void *context);
void fp_layout_each_word(const struct fp_function *f, const struct fp_sections *at,
                         const struct fp_counters *words, fp_layout_callback *call, void *context);

#endif
