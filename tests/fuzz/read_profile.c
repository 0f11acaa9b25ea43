/* The profile reader, and what a merge does with what was read. */
#include "readers.h"

#include "base/checksum.h"
#include "footpath/profile_abi.h"
#include "profile/profile.h"

#include <stddef.h>
#include <string.h>

void fuzz_repair_profile(unsigned char *bytes, size_t len)
{
    struct fp_profile_header header;
    if (len < sizeof header) return;
    memcpy(&header, bytes, sizeof header);
    memcpy(header.magic, FP_PROFILE_MAGIC, sizeof header.magic);
    for (int i = 0; i < 2; i++) {
        struct fp_profile_commit *commit = &header.commits[i];
        commit->check = (uint32_t)fp_checksum(commit, offsetof(struct fp_profile_commit, check), 0);
    }
    memcpy(bytes, &header, sizeof header);
    struct fp_record_header record;
    for (size_t at = sizeof header; at + sizeof record <= len;
         at += sizeof record + record.length) {
        memcpy(&record, bytes + at, sizeof record);
        record.magic = FP_RECORD_MAGIC;
        if (record.length > len - at - sizeof record) record.length = len - at - sizeof record;
        record.checksum = fp_checksum(bytes + at + sizeof record, record.length, 0);
        memcpy(bytes + at, &record, sizeof record);
    }
}

static bool add_run(struct fp_arena *arena, const struct fp_run *run, void *context)
{
    (void)arena;
    fp_profile_add_run(context, run);
    return true;
}

bool fuzz_read_profile(const unsigned char *bytes, size_t len, struct fp_error *error)
{
    struct fp_profile *profile = fp_profile_new();
    bool cut;
    bool ok = fp_profile_parse(bytes, len, "profile", add_run, profile, &cut, error);
    if (ok) {
        size_t nruns;
        struct fp_run *runs = fp_profile_merged(profile, &nruns);
        for (size_t i = 0; i < nruns; i++) {
            struct fp_writer out = {0};
            fp_run_encode(&out, &runs[i]);
            fp_writer_free(&out);
        }
    }
    fp_profile_free(profile);
    return ok;
}
