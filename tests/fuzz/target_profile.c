/* Profiles, and what merge does with them. */
#include "fuzz.h"
#include "readers.h"

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_error error = {0};
    fuzz_read_profile(bytes, len, &error);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    fuzz_repair_profile(bytes, len);
}
