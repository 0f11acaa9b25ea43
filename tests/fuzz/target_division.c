/* Divisions among copies (plans of footpath p3), which the compiler reads. */
#include "fuzz.h"

#include "base/checksum.h"
#include "p3/division.h"

#include <string.h>

enum { HEADER = 32 };

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_arena arena = {0};
    struct fp_division division;
    struct fp_error error = {0};
    if (fp_division_parse(&arena, bytes, len, "plan", &division, &error))
        for (size_t i = 0; i < division.parts.len; i++)
            for (uint32_t copy = 0; copy < division.ncopies && copy < 4; copy++)
                fp_part_concerns(&division.parts.at[i], copy);
    fp_arena_free(&arena);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    if (len < HEADER) return;
    uint64_t payload = len - HEADER, checksum = fp_checksum(bytes + HEADER, len - HEADER, 0);
    memcpy(bytes + 16, &payload, sizeof payload);
    memcpy(bytes + 24, &checksum, sizeof checksum);
}
