/* Samples of IBS, and traces of SPE: the first byte says which. */
#include "fuzz.h"

#include "perf/preciseops.h"

#include <stdlib.h>

void fuzz_one(const unsigned char *bytes, size_t len)
{
    struct fp_precise_op op;
    if (!len) return;
    if (bytes[0] & 1) {
        if (fp_ibs_read_op(bytes + 1, len - 1, &op) && !op.has_address && op.address) abort();
        return;
    }
    struct fp_spe_reader r = {.bytes = bytes + 1, .len = len - 1};
    size_t before = 0;
    while (fp_spe_next(&r, &op)) {
        if (r.at <= before || r.at > r.len) abort(); /* each record takes bytes, and ends */
        if (op.target && !op.has_address && r.at - before < 3) abort();
        before = r.at;
    }
    if (r.at != r.len || r.skipped > r.len) abort();
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    (void)bytes, (void)len; /* no checksums */
}
