/* Reading perf.data: see perfdata.h.
 *
 *     file:  header, attrs, data, features       pipe:  16 bytes, then records
 *
 * A record is u32 type, u16 misc, u16 size and a body. Records below 64 are the
 * kernel's, the others are perf's. Which fields a sample has follows from the
 * sample_type of its event; which event it belongs to follows from an id, whose
 * place all events of a file agree on.
 */
#include "perf/perfdata.h"

#include "base/checked.h"
#include "base/io.h"
#include "base/varint.h"
#include "perf/perfparsing.h"
#include "perf/preciseops.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>

enum {
    RECORD_ATTR = 64,
    RECORD_TRACING_DATA = 66,
    RECORD_AUXTRACE_INFO = 70,
    RECORD_AUXTRACE = 71,
    RECORD_TIME_CONV = 79,
    RECORD_FEATURE = 80,
    RECORD_COMPRESSED = 81,
    RECORD_COMPRESSED2 = 83,
    RECORD_LAST = RECORD_COMPRESSED2,
    PIPE_HEADER = 16,
    FILE_HEADER = 104,
};

/* A hundred kilobytes can unpack to any number of samples. Real files unpack to some twenty
 * times their size; memory is a few times that. */
static size_t most_unpacked(size_t file)
{
    const size_t floor = (size_t)64 << 20, small = (size_t)8 << 20;
    size_t first = file < small ? file : small;
    return (size_t)fp_add_saturated(floor + 40 * first, fp_mul_saturated(160, file - first));
}

/* ---- which event a record belongs to ---- */

static const struct fp_perf_event *first_event(const struct perf_parsing *p)
{
    return p->data->events.len ? &p->data->events.at[0] : NULL;
}

/* All events of a file have the id at the same place: first of all, or behind
 * the fields that come before it. */
static uint32_t sample_event(const struct perf_parsing *p, const unsigned char *body, size_t len)
{
    uint64_t type = p->data->events.at[0].sample_type;
    size_t at = 0;
    if (p->data->events.len == 1) return 0;
    if (!(type & PERF_SAMPLE_IDENTIFIER)) {
        if (!(type & PERF_SAMPLE_ID)) return 0;
        at += 8 * (unsigned)__builtin_popcountll(type & (PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                                         PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR));
    }
    const uint64_t *event = len >= at + 8 ? fp_table_find(&p->event_of, u64_at(body, at)) : NULL;
    return event ? (uint32_t)*event - 1 : 0;
}

/* The time at the end of a record that is no sample, or 0. */
static uint64_t record_time(const struct perf_parsing *p, const unsigned char *body, size_t len)
{
    const struct fp_perf_event *event = first_event(p);
    if (!event || !event->sample_id_all || !(event->sample_type & PERF_SAMPLE_TIME)) return 0;
    unsigned behind = (unsigned)__builtin_popcountll(
        event->sample_type &
        (PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER));
    size_t from_end = 8 * ((size_t)behind + 1);
    return len >= from_end ? u64_at(body, len - from_end) : 0;
}

/* ---- samples ---- */

static void skip_read_values(struct fp_reader *r, uint64_t format)
{
    uint64_t times = (format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 1u : 0u) +
                     (format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 1u : 0u);
    uint64_t each = 1u + (format & PERF_FORMAT_ID ? 1u : 0u) + (format & 16 /* lost */ ? 1u : 0u);
    uint64_t count = format & PERF_FORMAT_GROUP ? fp_read_u64(r) : 1;
    if (count > fp_reader_left(r) / 8) count = fp_reader_left(r) / 8 + 1;
    fp_read_bytes(r, (times + count * each) * 8);
}

static void read_branches(struct perf_parsing *p, struct fp_reader *r,
                          const struct fp_perf_event *event, struct fp_perf_sample *sample)
{
    enum { COUNTERS = 1 << 19 }; /* PERF_SAMPLE_BRANCH_COUNTERS, since Linux 6.8 */
    uint64_t count = fp_read_u64(r);
    if (event->branch_type & PERF_SAMPLE_BRANCH_HW_INDEX) fp_read_u64(r);
    if (count > fp_reader_left(r) / 24) {
        fp_reader_fail(r, "expected %" PRIu64 " branch records in a sample", count);
        return;
    }
    sample->first_branch = (uint32_t)p->data->branches.len;
    sample->nbranches = (uint32_t)count;
    for (uint64_t i = 0; i < count; i++) {
        struct fp_branch branch = {fp_read_u64(r), fp_read_u64(r), fp_read_u64(r)};
        fp_vec_push(p->arena, &p->data->branches, branch);
    }
    if (event->branch_type & COUNTERS) fp_read_bytes(r, count * 8);
}

/* One record: an instruction that branched, and where it went. */
static void add_branch(struct perf_parsing *p, const struct fp_precise_op *op,
                       struct fp_perf_sample *s)
{
    if (!op->has_address || !op->target) return;
    struct fp_branch branch = {op->address, op->target, op->mispredicted};
    s->first_branch = (uint32_t)p->data->branches.len;
    s->nbranches = 1;
    fp_vec_push(p->arena, &p->data->branches, branch);
}

static void read_raw(struct perf_parsing *p, struct fp_reader *r, const struct fp_perf_event *event,
                     struct fp_perf_sample *s)
{
    struct fp_precise_op op;
    uint32_t len = fp_read_u32(r);
    const unsigned char *raw = fp_read_bytes(r, len);
    if (r->failed || !fp_perf_is_ibs_op(p, event) || !fp_ibs_read_op(raw, len, &op)) return;
    if (op.has_address) s->ip = op.address;
    s->exact = op.has_address;
    add_branch(p, &op, s);
}

/* The kernel's number of a register -> that of machine code. */
static int gpr_of(unsigned number)
{
    static const signed char known[24] = {
        [0] = 0,  [1] = 3,  [2] = 1,   [3] = 2,   [4] = 6,   [5] = 7,   [6] = 5,   [7] = 4,
        [8] = -1, [9] = -1, [10] = -1, [11] = -1, [12] = -1, [13] = -1, [14] = -1, [15] = -1,
        [16] = 8, [17] = 9, [18] = 10, [19] = 11, [20] = 12, [21] = 13, [22] = 14, [23] = 15};
    return number < sizeof known ? known[number] : -1;
}

static void read_registers(struct perf_parsing *p, struct fp_reader *r,
                           const struct fp_perf_event *event, struct fp_perf_sample *s)
{
    enum { NUMBER_OF_FLAGS = 9 };
    uint64_t abi = fp_read_u64(r);
    if (abi == PERF_SAMPLE_REGS_ABI_NONE) return;
    struct fp_perf_registers *regs = FP_NEW(p->arena, struct fp_perf_registers);
    for (unsigned k = 0; k < 64; k++) {
        if (!(event->registers >> k & 1)) continue;
        uint64_t value = fp_read_u64(r);
        int gpr = gpr_of(k);
        if (gpr >= 0) regs->gpr[gpr] = value, regs->known |= (uint16_t)(1u << gpr);
        if (k == NUMBER_OF_FLAGS) regs->flags = value, regs->flags_known = true;
    }
    if (abi == PERF_SAMPLE_REGS_ABI_64 && !r->failed) s->registers = regs;
}

static void read_stack(struct perf_parsing *p, struct fp_reader *r, struct fp_perf_sample *s)
{
    enum { KEPT = 1024 };
    uint64_t size = fp_read_u64(r);
    if (!size || size > fp_reader_left(r)) {
        if (size) fp_reader_fail(r, "expected %" PRIu64 " bytes of stack in a sample", size);
        return;
    }
    const unsigned char *bytes = fp_read_bytes(r, size);
    uint64_t filled = fp_read_u64(r);
    if (r->failed || !s->registers) return;
    struct fp_perf_registers *regs = (struct fp_perf_registers *)s->registers;
    if (filled > size) filled = size;
    regs->stack_len = filled > KEPT ? KEPT : (uint32_t)filled;
    regs->stack = (unsigned char *)fp_arena_strndup(p->arena, (const char *)bytes, regs->stack_len);
}

static void read_fields(struct perf_parsing *p, struct fp_reader *r,
                        const struct fp_perf_event *event, struct fp_perf_sample *s)
{
    uint64_t type = event->sample_type;
    if (type & PERF_SAMPLE_IDENTIFIER) fp_read_u64(r);
    if (type & PERF_SAMPLE_IP) s->ip = fp_read_u64(r);
    if (type & PERF_SAMPLE_TID) s->pid = fp_read_u32(r), s->tid = fp_read_u32(r);
    if (type & PERF_SAMPLE_TIME) s->time = fp_read_u64(r);
    if (type & PERF_SAMPLE_ADDR) fp_read_u64(r);
    if (type & PERF_SAMPLE_ID) fp_read_u64(r);
    if (type & PERF_SAMPLE_STREAM_ID) fp_read_u64(r);
    if (type & PERF_SAMPLE_CPU) s->cpu = fp_read_u32(r), fp_read_u32(r);
    s->period = event->frequency ? 1 : event->period;
    if (type & PERF_SAMPLE_PERIOD) s->period = fp_read_u64(r);
    if (!(type & (PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_RAW | PERF_SAMPLE_REGS_USER))) return;
    if (type & PERF_SAMPLE_READ) skip_read_values(r, event->read_format);
    if (type & PERF_SAMPLE_CALLCHAIN) {
        uint64_t depth = fp_read_u64(r);
        fp_read_bytes(r, depth > fp_reader_left(r) / 8 ? SIZE_MAX : depth * 8);
    }
    if (type & PERF_SAMPLE_RAW) read_raw(p, r, event, s);
    if (type & PERF_SAMPLE_BRANCH_STACK) read_branches(p, r, event, s);
    if (type & PERF_SAMPLE_REGS_USER) read_registers(p, r, event, s);
    if (type & PERF_SAMPLE_STACK_USER) read_stack(p, r, s);
}

static bool read_sample(struct perf_parsing *p, const unsigned char *body, size_t len,
                        uint16_t misc, uint64_t offset)
{
    if (!p->data->events.len)
        return fp_fail_at(p->error, p->name, offset, "expected an event before its samples");
    struct fp_perf_sample sample = {.event = sample_event(p, body, len),
                                    .exact = misc & PERF_RECORD_MISC_EXACT_IP};
    struct fp_reader r = {
        .bytes = body, .len = len, .base = offset + 8, .file = p->name, .error = p->error};
    switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
    case PERF_RECORD_MISC_KERNEL: sample.mode = FP_PERF_KERNEL; break;
    case PERF_RECORD_MISC_USER: sample.mode = FP_PERF_USER; break;
    case PERF_RECORD_MISC_HYPERVISOR: sample.mode = FP_PERF_HYPERVISOR; break;
    default: sample.mode = FP_PERF_UNKNOWN; break;
    }
    read_fields(p, &r, &p->data->events.at[sample.event], &sample);
    if (r.failed) return false;
    fp_vec_push(p->arena, &p->data->samples, sample);
    return true;
}

/* ---- traces of SPE ---- */

static uint64_t time_of(const struct perf_parsing *p, const struct fp_precise_op *op)
{
    uint64_t whole = op->ticks >> p->ticks.shift, part = op->ticks & ((1ull << p->ticks.shift) - 1);
    /* without times the mappings are those at the end */
    if (!op->has_ticks || !p->ticks.factor) return UINT64_MAX;
    return p->ticks.zero + whole * p->ticks.factor + (part * p->ticks.factor >> p->ticks.shift);
}

static bool read_spe(struct perf_parsing *p, const unsigned char *bytes, size_t len, uint32_t tid,
                     uint64_t offset)
{
    struct fp_spe_reader r = {.bytes = bytes, .len = len};
    struct fp_precise_op op;
    if (!p->data->events.len)
        return fp_fail_at(p->error, p->name, offset, "expected an event before its trace");
    uint32_t number = fp_perf_spe_event(p);
    const struct fp_perf_event *event = &p->data->events.at[number];
    while (fp_spe_next(&r, &op)) {
        if (!op.has_address || !op.retired) continue;
        struct fp_perf_sample sample = {.event = number,
                                        .ip = op.address,
                                        .time = time_of(p, &op),
                                        .period = event->frequency ? 1 : event->period,
                                        .pid = FP_NONE,
                                        .tid = op.has_context ? op.context : tid,
                                        .mode = op.kernel ? FP_PERF_KERNEL : FP_PERF_USER,
                                        .exact = true};
        add_branch(p, &op, &sample);
        fp_vec_push(p->arena, &p->data->samples, sample);
    }
    p->data->damaged += r.skipped;
    return true;
}

static void read_trace_kind(struct perf_parsing *p, const unsigned char *body, size_t len)
{
    static const char *const names[] = {"",        "Intel PT",  "Intel BTS",    "CoreSight ETM",
                                        "ARM SPE", "s390 CPUM", "HiSilicon PTT"};
    uint32_t kind = len >= 4 ? u32_at(body, 0) : 0;
    p->is_spe = kind == 4;
    if (!p->is_spe) p->data->trace = kind < 7 && kind ? names[kind] : "an unknown kind";
}

static void read_clock(struct perf_parsing *p, const unsigned char *body, size_t len)
{
    if (len < 24 || u64_at(body, 0) > 63) return;
    p->ticks.shift = u64_at(body, 0);
    p->ticks.factor = u64_at(body, 8);
    p->ticks.zero = u64_at(body, 16);
}

/* A trace tells threads; which process a thread is of may be told behind the trace. */
static void find_traced_processes(struct perf_parsing *p)
{
    struct fp_perf_data *data = p->data;
    for (size_t i = 0; i < data->samples.len; i++) {
        struct fp_perf_sample *s = &data->samples.at[i];
        if (s->pid != FP_NONE) continue;
        const uint64_t *pid = fp_table_find(&p->pid_of, s->tid);
        s->pid = pid ? (uint32_t)*pid : s->tid != FP_NONE ? s->tid : p->traced;
        if (s->pid == FP_NONE && data->changes.len) s->pid = data->changes.at[0].pid;
    }
}

static void note_thread(struct perf_parsing *p, uint32_t pid, uint32_t tid)
{
    *fp_table_add(&p->pid_of, tid) = pid;
}

/* ---- address spaces ---- */

static void read_mapping(struct perf_parsing *p, const unsigned char *body, size_t len,
                         uint16_t misc, bool two)
{
    size_t fixed = two ? 64 : 32;
    if (len < fixed + 1) return;
    note_thread(p, u32_at(body, 0), u32_at(body, 4));
    struct fp_perf_change change = {
        .kind = FP_PERF_MAPPED,
        .order = p->nrecords,
        .time = record_time(p, body, len),
        .pid = u32_at(body, 0),
        .address = u64_at(body, 8),
        .length = u64_at(body, 16),
        .offset = u64_at(body, 24),
    };
    bool executable = two ? u32_at(body, 56) & 4 : !(misc & PERF_RECORD_MISC_MMAP_DATA);
    if (!executable) return;
    if (two && misc & PERF_RECORD_MISC_MMAP_BUILD_ID && body[32] <= sizeof change.build_id) {
        change.build_id_len = body[32];
        memcpy(change.build_id, body + 36, change.build_id_len);
    }
    change.path = fp_arena_strndup(p->arena, (const char *)body + fixed,
                                   strnlen((const char *)body + fixed, len - fixed));
    fp_vec_push(p->arena, &p->data->changes, change);
}

static void read_fork(struct perf_parsing *p, const unsigned char *body, size_t len)
{
    if (len < 24) return;
    note_thread(p, u32_at(body, 0), u32_at(body, 8));
    if (u32_at(body, 0) == u32_at(body, 4)) return; /* a thread */
    struct fp_perf_change change = {.kind = FP_PERF_FORKED,
                                    .order = p->nrecords,
                                    .time = u64_at(body, 16),
                                    .pid = u32_at(body, 0),
                                    .parent = u32_at(body, 4)};
    fp_vec_push(p->arena, &p->data->changes, change);
}

static void read_comm(struct perf_parsing *p, const unsigned char *body, size_t len, uint16_t misc)
{
    if (len < 9) return;
    note_thread(p, u32_at(body, 0), u32_at(body, 4));
    if (!(misc & PERF_RECORD_MISC_COMM_EXEC)) return;
    struct fp_perf_change change = {.kind = FP_PERF_EXECUTED,
                                    .order = p->nrecords,
                                    .time = record_time(p, body, len),
                                    .pid = u32_at(body, 0)};
    change.path = fp_arena_strndup(p->arena, (const char *)body + 8,
                                   strnlen((const char *)body + 8, len - 8));
    fp_vec_push(p->arena, &p->data->changes, change);
}

/* ---- records ---- */

static bool read_records(struct perf_parsing *p, const unsigned char *bytes, size_t len,
                         uint64_t base, size_t *used);

/* One stream runs through all compressed records; what it yields may end inside
 * a record, whose rest the next one brings. */
static bool read_compressed(struct perf_parsing *p, const unsigned char *body, size_t len,
                            uint64_t offset)
{
    if (p->uncompressing)
        return fp_fail_at(p->error, p->name, offset,
                          "expected no compressed record inside another");
    p->data->compressed = true;
    if (!p->stream) {
        p->stream = ZSTD_createDStream();
        if (!p->stream || ZSTD_isError(ZSTD_initDStream(p->stream))) abort();
    }
    ZSTD_inBuffer in = {body, len, 0};
    size_t room;
    do {
        if (p->left_cap - p->left_len < 1 << 16) {
            p->left_cap = p->left_cap * 2 + (1 << 17);
            if (!(p->left = realloc(p->left, p->left_cap))) abort();
        }
        ZSTD_outBuffer out = {p->left + p->left_len, p->left_cap - p->left_len, 0};
        room = out.size;
        size_t status = ZSTD_decompressStream(p->stream, &out, &in);
        if (ZSTD_isError(status))
            return fp_fail_at(p->error, p->name, offset, "expected zstd data: %s",
                              ZSTD_getErrorName(status));
        p->left_len += out.pos;
        size_t used = 0;
        bool full = out.pos == room;
        p->uncompressing = true;
        bool ok = read_records(p, p->left, p->left_len, offset, &used);
        p->uncompressing = false;
        if (!ok) return false;
        memmove(p->left, p->left + used, p->left_len - used);
        p->left_len -= used;
        if (p->arena->total > p->most || p->left_cap > p->most)
            return fp_fail_at(
                p->error, p->name, offset,
                "expected samples that unpack to at most %zu MB in memory, got more; record for a "
                "shorter time, with a larger period or without -z",
                p->most >> 20);
        if (!full && in.pos == in.size) break;
    } while (true);
    return true;
}

static bool read_record(struct perf_parsing *p, uint32_t type, uint16_t misc,
                        const unsigned char *body, size_t len, uint64_t offset)
{
    p->nrecords++;
    switch (type) {
    case PERF_RECORD_SAMPLE: return read_sample(p, body, len, misc, offset);
    case PERF_RECORD_MMAP: read_mapping(p, body, len, misc, false); break;
    case PERF_RECORD_MMAP2: read_mapping(p, body, len, misc, true); break;
    case PERF_RECORD_FORK: read_fork(p, body, len); break;
    case PERF_RECORD_COMM: read_comm(p, body, len, misc); break;
    case PERF_RECORD_LOST:
        if (len >= 16) p->data->lost = fp_add_saturated(p->data->lost, u64_at(body, 8));
        break;
    case PERF_RECORD_LOST_SAMPLES:
        if (len >= 8) p->data->lost = fp_add_saturated(p->data->lost, u64_at(body, 0));
        break;
    case RECORD_ATTR: return fp_perf_read_attr(p, body, len, offset);
    case RECORD_FEATURE:
        if (len >= 8) fp_perf_read_feature(p, u64_at(body, 0), body + 8, len - 8);
        break;
    case PERF_RECORD_ITRACE_START:
        if (len >= 8) p->traced = u32_at(body, 0);
        break;
    case RECORD_AUXTRACE_INFO: read_trace_kind(p, body, len); break;
    case RECORD_TIME_CONV: read_clock(p, body, len); break;
    case RECORD_AUXTRACE:
        if (len < 40 || !p->is_spe) break;
        return read_spe(p, body + len, u64_at(body, 0), u32_at(body, 28), offset);
    case RECORD_COMPRESSED: return read_compressed(p, body, len, offset);
    case RECORD_COMPRESSED2: /* says how much of it is padding */
        if (len < 8 || u64_at(body, 0) > len - 8)
            return fp_fail_at(p->error, p->name, offset,
                              "expected a compressed record that holds its data");
        return read_compressed(p, body + 8, u64_at(body, 0), offset);
    default: p->data->unknown += type > RECORD_LAST || (type > 22 && type < 64); break;
    }
    return true;
}

/* The length of the data that follows a record and is not part of its size. */
static uint64_t payload_behind(uint32_t type, const unsigned char *body, size_t len)
{
    if (type == RECORD_TRACING_DATA && len >= 4) return ((uint64_t)u32_at(body, 0) + 7) & ~7ull;
    if (type == RECORD_AUXTRACE && len >= 8) return u64_at(body, 0);
    return 0;
}

/* The whole records of some bytes. */
static bool read_records(struct perf_parsing *p, const unsigned char *bytes, size_t len,
                         uint64_t base, size_t *used)
{
    size_t at = 0;
    while (len - at >= 8) {
        uint32_t type = u32_at(bytes, at);
        uint16_t misc, size;
        memcpy(&misc, bytes + at + 4, 2);
        memcpy(&size, bytes + at + 6, 2);
        if (size < 8)
            return fp_fail_at(p->error, p->name, base + at,
                              "expected a record of at least 8 bytes, got %u", size);
        if (size > len - at) break;
        const unsigned char *body = bytes + at + 8;
        uint64_t behind = payload_behind(type, body, size - 8u);
        if (behind > len - at - size) break;
        if (!read_record(p, type, misc, body, size - 8u, base + at)) return false;
        at += size + (size_t)behind;
    }
    *used = at;
    return true;
}

/* ---- the whole file ---- */

static int samples_by_time(const void *a, const void *b)
{
    const struct fp_perf_sample *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

static int changes_by_time(const void *a, const void *b)
{
    const struct fp_perf_change *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void merge_sort(struct fp_perf_sample *at, struct fp_perf_sample *room, size_t len)
{
    if (len < 2) return;
    size_t half = len / 2, i = 0, k = half, out = 0;
    merge_sort(at, room, half);
    merge_sort(at + half, room, len - half);
    memcpy(room, at, half * sizeof *at);
    while (i < half && k < len)
        at[out++] = samples_by_time(&at[k], &room[i]) < 0 ? at[k++] : room[i++];
    while (i < half) at[out++] = room[i++];
}

static void order_by_time(struct fp_perf_data *data)
{
    struct fp_perf_sample *room = malloc((data->samples.len / 2 + 1) * sizeof *room);
    if (!room) abort();
    merge_sort(data->samples.at, room, data->samples.len); /* stable */
    free(room);
    if (data->changes.len)
        qsort(data->changes.at, data->changes.len, sizeof *data->changes.at, changes_by_time);
}

static bool parse_file_mode(struct perf_parsing *p, const unsigned char *bytes, size_t len)
{
    if (len < FILE_HEADER)
        return fp_fail_at(p->error, p->name, 8, "expected a header of %d bytes, got %zu",
                          FILE_HEADER, len);
    uint64_t first = u64_at(bytes, 40), size = u64_at(bytes, 48);
    if (!fp_perf_read_attrs(p, bytes, len)) return false;
    if (first > len) return fp_fail_at(p->error, p->name, 40, "expected data within the file");
    if (!size) /* its writer was killed: read everything that is there */
        p->data->cut = true, size = len - first;
    if (size > len - first) p->data->cut = true, size = len - first;
    if (!p->data->cut) fp_perf_read_features(p, bytes, len);
    size_t used;
    if (!read_records(p, bytes + first, size, first, &used)) return false;
    p->data->cut |= used != size;
    return true;
}

static bool parse_pipe_mode(struct perf_parsing *p, const unsigned char *bytes, size_t len)
{
    size_t used;
    p->data->pipe = true;
    if (!read_records(p, bytes + PIPE_HEADER, len - PIPE_HEADER, PIPE_HEADER, &used)) return false;
    p->data->cut = used != len - PIPE_HEADER;
    return true;
}

bool fp_perf_parse(struct fp_arena *arena, const unsigned char *bytes, size_t len, const char *name,
                   struct fp_perf_data *data, struct fp_error *error)
{
    struct perf_parsing p = {.arena = arena,
                             .data = data,
                             .name = name,
                             .error = error,
                             .ibs_op = FP_NONE,
                             .spe = FP_NONE,
                             .traced = FP_NONE,
                             .most = (size_t)fp_add_saturated(arena->total, most_unpacked(len))};
    *data = (struct fp_perf_data){0};
    if (len < PIPE_HEADER || memcmp(bytes, "PERFILE2", 8)) {
        bool swapped = len >= 8 && !memcmp(bytes, "2ELIFREP", 8);
        return fp_fail_at(error, name, 0, "expected samples (perf.data), got %s",
                          swapped ? "a file of a machine of the other byte order"
                                  : "something else");
    }
    fp_table_init(&p.event_of, arena);
    fp_table_init(&p.pid_of, arena);
    bool ok = u64_at(bytes, 8) == PIPE_HEADER ? parse_pipe_mode(&p, bytes, len)
                                              : parse_file_mode(&p, bytes, len);
    if (p.left_len) data->cut = true;
    if (p.stream) ZSTD_freeDStream(p.stream);
    free(p.left);
    if (ok) find_traced_processes(&p);
    if (ok) order_by_time(data);
    return ok;
}

bool fp_perf_read(struct fp_arena *arena, const char *path, struct fp_perf_data *data,
                  struct fp_error *error)
{
    struct fp_file file;
    if (!fp_file_open(&file, path, error)) return false;
    bool ok = fp_perf_parse(arena, file.bytes, file.len, path, data, error);
    fp_file_close(&file);
    return ok;
}
