/* Guides, as a compilation reads them: every function of a real program is looked up. */
#include "fuzz.h"

#include "base/checksum.h"
#include "guide/staleguide.h"

#include <string.h>

enum { HEADER = 48, CHECKSUM_AT = 40 };

void fuzz_one(const unsigned char *bytes, size_t len)
{
    const struct fp_program *program = fuzz_program();
    struct fp_arena arena = {0};
    struct fp_guide guide;
    struct fp_error error = {0};
    if (fp_guide_open(&arena, fuzz_file(bytes, len), &guide, &error)) {
        for (size_t i = 0; i < program->nfunctions; i++) {
            struct fp_guide_function found;
            const struct fp_function *f = &program->functions[i];
            struct fp_guide_placed placed;
            if (!f->paths.cfg) continue;
            enum fp_guide_match match = fp_guide_find(&arena, &guide, f, f->id, &found);
            fp_guide_find_stale(&arena, &guide, f, match, &found, &placed);
            /* whatever it was found as: the counts of another version */
            fp_guide_find_stale(&arena, &guide, f, FP_GUIDE_STALE, &found, &placed);
        }
        fp_guide_close(&guide);
    }
    fp_arena_free(&arena);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    if (len < HEADER) return;
    uint64_t checksum = fp_checksum(bytes + HEADER, len - HEADER, 0);
    memcpy(bytes + CHECKSUM_AT, &checksum, sizeof checksum);
}
