/* Combined profiles: read, combined with themselves, shown and written. */
#include "fuzz.h"
#include "readers.h"

#include "api/handle.h"
#include "combined/combine.h"
#include "report/showcombined.h"

static void show(struct fp_combined *combined)
{
    struct fp_arena arena = {0};
    struct fp_writer out = {0};
    const struct fp_function **none =
        FP_NEW_ARRAY(&arena, const struct fp_function *, combined->functions.len);
    struct fp_show_combined options = {.above = 0.5, .utf8 = true};
    struct footpath *fp = fp_handle_of_combined(combined, none);
    fp_show_combined_text(&out, fp, &options);
    fp_show_combined_json(&out, fp, &options);
    footpath_close(fp);
    fp_combined_encode(&out, combined);
    fp_writer_free(&out);
    fp_arena_free(&arena);
}

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_combiner *combiner = fp_combiner_new(NULL, 0);
    struct fp_combined *combined = fp_combined_new(FP_DEFAULT_BINS);
    struct fp_combine_notes notes = {0};
    struct fp_error error = {0};
    const char *path = fuzz_file(bytes, len);
    if (fp_combine_file(combiner, combined, path, NULL, &notes, &error) &&
        fp_combine_file(combiner, combined, path, NULL, &notes, &error)) {
        fp_combined_settle(combined);
        show(combined);
    }
    fp_combined_free(combined);
    fp_combiner_free(combiner);
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    fuzz_repair_profile(bytes, len);
}
