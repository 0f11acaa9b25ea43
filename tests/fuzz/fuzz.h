/* What a fuzz target is: a file target_NAME.c with these two, linked with fuzz.c.
 *
 * libFuzzer knows nothing of checksums. After most of its mutations fuzz.c lets the target
 * make them right again, so that what lies behind them is reached.
 */
#ifndef FP_TESTS_FUZZ_H
#define FP_TESTS_FUZZ_H

#include "base/error.h"
#include "profile/profile.h"

/* Reads one input, and does with it what the tools do. */
void fuzz_one(const unsigned char *bytes, size_t len);
/* Makes checksums, magics and lengths of an input right. */
void fuzz_repair(unsigned char *bytes, size_t len);

/* The input as a file; the name is valid until the next call. */
const char *fuzz_file(const unsigned char *bytes, size_t len);

/* A real program's map: the seed `map`, from $FUZZ_SEEDS. Read once. */
const struct fp_program *fuzz_program(void);

/* Repairs of parts. */
void fuzz_repair_maps_within(unsigned char *bytes, size_t len);

#endif
