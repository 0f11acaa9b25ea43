/* Writing files of combined profiles. */
#include "combined/combinedfile.h"

#include "base/io.h"
#include "footpath/profile_abi.h"

bool fp_combined_write(const char *path, uint64_t program, uint64_t id,
                       struct fp_combined *combined, const struct fp_unfinished *going,
                       struct fp_error *error)
{
    struct fp_writer out = {0}, payload = {0};
    fp_write_profile_header(&out, program, id);
    fp_combined_encode(&payload, combined);
    fp_write_record(&out, FP_RECORD_COMBINED, &payload);
    for (size_t i = 0; going && i < going->runs.len; i++) {
        fp_run_encode(&payload, &going->runs.at[i]);
        fp_write_record(&out, FP_RECORD_RUN, &payload);
    }
    fp_write_commit(&out);
    bool ok = fp_file_write(path, out.bytes, out.len, error);
    fp_writer_free(&out);
    return ok;
}
