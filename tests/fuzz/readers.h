/* What the fuzz targets and the replay of seeds share: the two readers, each followed
 * by everything that the tools do with what was read. */
#ifndef FP_TESTS_FUZZ_READERS_H
#define FP_TESTS_FUZZ_READERS_H

#include "base/error.h"

/* A map section. */
bool fuzz_read_map(const unsigned char *bytes, size_t len, struct fp_error *error);
/* A profile file. */
bool fuzz_read_profile(const unsigned char *bytes, size_t len, struct fp_error *error);

/* Makes the checksums right, so that what lies behind them is reached. */
void fuzz_repair_map(unsigned char *bytes, size_t len);
void fuzz_repair_profile(unsigned char *bytes, size_t len);

#endif
