/* The state of reading a perf.data file, for the parts of the reader: perfdata.c (records) and
 * perfevents.c (events). */
#ifndef FP_PERF_PERFPARSING_H
#define FP_PERF_PERFPARSING_H

#include "base/table.h"
#include "graph/cfg.h"
#include "perf/perfdata.h"

#include <string.h>
#include <zstd.h>

struct perf_parsing {
    struct fp_arena *arena;
    struct fp_perf_data *data;
    const char *name;
    struct fp_error *error;
    struct fp_table event_of; /* id -> 1 + event */
    ZSTD_DStream *stream;
    unsigned char *left; /* the part of a record at the end of what was uncompressed */
    size_t left_len, left_cap;
    bool uncompressing;
    size_t nrecords;
    size_t most; /* the most bytes that compressed records may unpack to in memory */
    /* types of events that the kernel gave numbers at its start; FP_NONE: not in the file */
    uint32_t ibs_op, spe;
    bool is_spe;            /* what the AUX area traces hold */
    struct fp_table pid_of; /* thread -> process */
    uint32_t traced;        /* the process of a trace that does not say */
    struct {
        uint64_t shift, factor, zero; /* from ticks of the system counter to ns */
    } ticks;
};

static inline uint64_t u64_at(const unsigned char *bytes, size_t at)
{
    uint64_t value;
    memcpy(&value, bytes + at, sizeof value);
    return value;
}

static inline uint32_t u32_at(const unsigned char *bytes, size_t at)
{
    uint32_t value;
    memcpy(&value, bytes + at, sizeof value);
    return value;
}

/* The table of a file, and the record of a pipe. */
bool fp_perf_read_attrs(struct perf_parsing *parsing, const unsigned char *bytes, size_t len);
bool fp_perf_read_attr(struct perf_parsing *parsing, const unsigned char *body, size_t len,
                       uint64_t offset);
void fp_perf_read_features(struct perf_parsing *parsing, const unsigned char *bytes, size_t len);
void fp_perf_read_feature(struct perf_parsing *parsing, uint64_t feature,
                          const unsigned char *bytes, size_t len);

bool fp_perf_is_ibs_op(const struct perf_parsing *parsing, const struct fp_perf_event *event);
/* The event that samples of SPE belong to. */
uint32_t fp_perf_spe_event(const struct perf_parsing *parsing);

#endif
