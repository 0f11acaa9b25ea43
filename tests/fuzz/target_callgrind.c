/* Files of callgrind, from which exact counts are imported. */
#include "fuzz.h"

#include "binary/callgrindcounts.h"

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_arena arena = {0};
    struct fp_callgrind callgrind;
    struct fp_error error = {0};
    fp_callgrind_read(&arena, fuzz_file(bytes, len), "/bin/true", &callgrind, &error);
    fp_arena_free(&arena);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    (void)bytes, (void)len; /* text */
}
