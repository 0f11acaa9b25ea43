/* A branch predictor of the kind that processors of today have, for counting the
 * mispredictions of a program from its executed branches.
 *
 * Conditional branches: TAGE (A. Seznec and P. Michaud, "A case for (partially) TAgged
 * GEometric history length branch prediction", JILP 2006). A table of 2-bit counters by
 * address, and 12 tagged tables by address and the last 4 to 640 bits of history. The
 * longest history that has an entry predicts, or the next shorter one while the entry is
 * new and new entries do badly. A misprediction takes an entry with a longer history.
 * Indirect jumps and calls: ITTAGE (A. Seznec, "A 64-Kbytes ITTAGE indirect branch
 * predictor", 2011). A table of last targets, and 8 tagged tables by the same histories.
 * Returns: a stack of 32 addresses. Direct jumps and calls are taken as predicted.
 * The history has one bit for each conditional branch, 6 for each indirect target and 2 for
 * the place of each direct call.
 *
 * The sizes are fixed: 16,384 counters, 12 x 2,048 entries, 4,096 targets and 8 x 1,024
 * entries, about 60 KB for conditional branches, which is what large cores have. No
 * prefetcher of instructions is simulated, no loop predictor, no statistical corrector,
 * and no wrong path: history and tables are those of the branches as they were executed.
 */
#ifndef BENCH_TAGE_PREDICTOR_H
#define BENCH_TAGE_PREDICTOR_H
#include <stdbool.h>
#include <stdint.h>

enum tage_kind { TAGE_CONDITIONAL, TAGE_DIRECT, TAGE_INDIRECT, TAGE_RETURN, TAGE_KINDS };

struct tage_branch {
    enum tage_kind kind;
    bool taken;      /* of a conditional branch; others are always taken */
    uint64_t at;     /* address of the branch */
    uint64_t target; /* where it went */
    uint64_t behind; /* of a call: where it returns to; 0 for jumps */
};

struct tage;

/* NULL where there is no memory. All tables are empty, and the same trace has the same result. */
struct tage *tage_new(void);
void tage_free(struct tage *t);

/* The next executed branch: predicted, compared and learnt. True if it was mispredicted. */
bool tage_branch(struct tage *t, const struct tage_branch *b);

#endif
