/* Files of LLVM 2.8 to 3.3: packet by packet, and combined ones into a combined profile. */
#include "fuzz.h"

#include "combined/combinedlegacy.h"
#include "profile/legacy.h"

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_combined *combined = fp_combined_new(1);
    struct fp_legacy_reader reader = {
        .r = {.bytes = bytes, .len = len, .file = "legacy", .error = &error}};
    bool ok = true;
    while (ok && fp_legacy_next(&arena, &reader)) {
        if (reader.type == FP_LEGACY_COMBINED_EDGES || reader.type == FP_LEGACY_COMBINED_PATHS)
            ok = fp_combined_from_legacy(combined, fuzz_program(), &reader);
        for (size_t i = 0; i < reader.nwords; i++) fp_legacy_word(&reader, i);
    }
    fp_combined_free(combined);
    fp_arena_free(&arena);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    (void)bytes, (void)len; /* no checksums */
}
