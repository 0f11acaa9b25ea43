/* Perf samples: perf.data, as `perf record` and `footpath record` write it.
 *
 *     struct fp_perf_data data;
 *     fp_perf_read(&arena, "perf.data", &data, &error);
 *     for each of data.samples: data.events.at[sample.event], sample.ip, ...
 *
 * Reads file mode and pipe mode, plain and compressed (zstd). Everything is read into memory.
 * Samples and changes of the address space are sorted by time where the file has times, since a
 * file with several buffers is not sorted.
 *
 * AMD's IBS (ibs_op with raw data) and ARM's SPE give an instruction's own address and where a
 * branch went: such a sample has at most one branch record.
 *
 * Of registers and stacks (perf record --user-regs, --call-graph dwarf) those of 64-bit programs on
 * x86 are kept.
 *
 * Not handled: files of a machine of the other byte order, AUX area traces but SPE's, and what a
 * sample holds behind its stack (weights, sources of data).
 */
#ifndef FP_PERF_PERFDATA_H
#define FP_PERF_PERFDATA_H

#include "base/arena.h"
#include "base/error.h"
#include "base/vec.h"

struct fp_perf_event {
    const char *name;
    uint32_t type;
    uint64_t config;
    uint64_t sample_type, read_format, branch_type;
    uint64_t registers; /* which registers its samples have, as the kernel numbers them */
    uint64_t period;    /* or frequency */
    bool frequency, sample_id_all;
    uint8_t precise; /* precise_ip: 0 skids, 1 to 3 do so less */
};

struct fp_branch {
    uint64_t from, to;
    uint64_t flags; /* as the kernel packs them: bit 0 is mispredicted */
};

/* What the program had in its registers when the sample was taken. */
struct fp_perf_registers {
    uint64_t gpr[16]; /* as machine code numbers them: rax, rcx, rdx, rbx, rsp ... */
    uint64_t flags;
    uint16_t known; /* general registers, a bit each */
    bool flags_known;
    const unsigned char *stack; /* from rsp on */
    uint32_t stack_len;
};

enum fp_perf_mode { FP_PERF_UNKNOWN, FP_PERF_KERNEL, FP_PERF_USER, FP_PERF_HYPERVISOR };

struct fp_perf_sample {
    uint64_t time, ip, period;
    uint32_t event, pid, tid, cpu;
    enum fp_perf_mode mode;
    bool exact; /* ip is that of the instruction that counted */
    uint32_t first_branch, nbranches;
    const struct fp_perf_registers *registers; /* or NULL */
};

enum fp_perf_change_kind { FP_PERF_MAPPED, FP_PERF_FORKED, FP_PERF_EXECUTED };

/* What changed an address space. */
struct fp_perf_change {
    enum fp_perf_change_kind kind;
    uint64_t time;
    size_t order; /* in the file */
    uint32_t pid, parent;
    uint64_t address, length, offset;
    const char *path; /* of a mapping; of an exec, the new command */
    unsigned char build_id[20];
    uint8_t build_id_len;
};

struct fp_perf_data {
    FP_VEC(struct fp_perf_event) events;
    FP_VEC(struct fp_perf_sample) samples;
    FP_VEC(struct fp_branch) branches;
    FP_VEC(struct fp_perf_change) changes;
    uint64_t lost;     /* samples that the kernel dropped */
    uint64_t unknown;  /* records of types that are not known */
    uint64_t damaged;  /* bytes of traces that could not be read */
    const char *trace; /* the kind of AUX area trace that the file has and that is not read */
    bool pipe, compressed;
    bool cut; /* ends inside a record */
};

bool fp_perf_read(struct fp_arena *arena, const char *path, struct fp_perf_data *data,
                  struct fp_error *error);
bool fp_perf_parse(struct fp_arena *arena, const unsigned char *bytes, size_t len, const char *name,
                   struct fp_perf_data *data, struct fp_error *error);

#endif
