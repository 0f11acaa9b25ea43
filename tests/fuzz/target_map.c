/* Map records, and the report of a program with that map. */
#include "fuzz.h"
#include "readers.h"

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_error error = {0};
    fuzz_read_map(bytes, len, &error);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    fuzz_repair_map(bytes, len);
}
