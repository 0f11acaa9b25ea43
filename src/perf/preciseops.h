/* Instructions that a processor followed through its pipeline: AMD's instruction-based
 * sampling (IBS) and ARM's statistical profiling extension (SPE). Such a sample has the
 * address of the instruction itself, without skid, and of a branch where it went.
 *
 *     IBS   the raw bytes of a sample of ibs_op: u32 capabilities, then registers
 *           (AMD64 Architecture Programmer's Manual, volume 2, appendix B)
 *     SPE   a stream of packets behind PERF_RECORD_AUXTRACE (Arm Architecture Reference
 *           Manual, D10), with timestamps that are not the kernel's
 *
 * Not read: addresses of data, latencies, sources of data.
 */
#ifndef FP_PERF_PRECISEOPS_H
#define FP_PERF_PRECISEOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fp_precise_op {
    uint64_t address, target; /* target: of a branch that was taken, or 0 */
    uint64_t ticks;           /* SPE: of the system counter */
    uint32_t context;         /* SPE: process id, as far as the kernel tells it */
    bool has_address, has_context, has_ticks;
    bool mispredicted, retired, kernel;
};

/* False where the bytes are not those of a valid sample. */
bool fp_ibs_read_op(const unsigned char *raw, size_t len, struct fp_precise_op *op);

struct fp_spe_reader {
    const unsigned char *bytes;
    size_t len, at;
    uint64_t skipped; /* bytes that are no packet: where a buffer ran over */
};

/* The next record that ends within the bytes; false behind the last. */
bool fp_spe_next(struct fp_spe_reader *reader, struct fp_precise_op *op);

#endif
