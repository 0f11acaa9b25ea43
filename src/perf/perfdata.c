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
#include "base/table.h"
#include "base/varint.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <zstd.h>

enum {
    RECORD_ATTR = 64,
    RECORD_TRACING_DATA = 66,
    RECORD_AUXTRACE = 71,
    RECORD_EVENT_UPDATE = 78,
    RECORD_FEATURE = 80,
    RECORD_COMPRESSED = 81,
    FEATURE_EVENT_DESC = 12,
    PIPE_HEADER = 16,
    FILE_HEADER = 104,
    /* size of the oldest struct perf_event_attr */
    ATTR_LEAST = 64,
    ATTR_MOST = 4096,
};

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
};

/* A hundred kilobytes can unpack to any number of samples. Real files unpack to some twenty
 * times their size; memory is a few times that. */
static size_t most_unpacked(size_t file)
{
    const size_t floor = (size_t)64 << 20, small = (size_t)8 << 20;
    size_t first = file < small ? file : small;
    return (size_t)fp_add_saturated(floor + 40 * first, fp_mul_saturated(160, file - first));
}

/* ---- events ---- */

static uint64_t u64_at(const unsigned char *bytes, size_t at)
{
    uint64_t value;
    memcpy(&value, bytes + at, sizeof value);
    return value;
}

static uint32_t u32_at(const unsigned char *bytes, size_t at)
{
    uint32_t value;
    memcpy(&value, bytes + at, sizeof value);
    return value;
}

static const char *event_name(uint32_t type, uint64_t config)
{
    static const char *const hardware[] = {"cycles",       "instructions", "cache-references",
                                           "cache-misses", "branches",     "branch-misses"};
    static const char *const software[] = {"cpu-clock", "task-clock", "page-faults",
                                           "context-switches", "cpu-migrations"};
    if (type == PERF_TYPE_HARDWARE && config < 6) return hardware[config];
    if (type == PERF_TYPE_SOFTWARE && config < 5) return software[config];
    return "event";
}

static void add_event(struct perf_parsing *p, const unsigned char *attr, size_t size,
                      const unsigned char *ids, size_t nids)
{
    struct fp_perf_event event = {
        .type = u32_at(attr, 0),
        .config = u64_at(attr, 8),
        .period = u64_at(attr, 16),
        .sample_type = u64_at(attr, 24),
        .read_format = u64_at(attr, 32),
        .frequency = u64_at(attr, 40) >> 10 & 1,
        .sample_id_all = u64_at(attr, 40) >> 18 & 1,
        .branch_type = size >= 80 ? u64_at(attr, 72) : 0,
    };
    event.name = event_name(event.type, event.config);
    fp_vec_push(p->arena, &p->data->events, event);
    for (size_t i = 0; i < nids; i++)
        *fp_table_add(&p->event_of, u64_at(ids, i * 8)) = p->data->events.len;
}

static bool read_attr_record(struct perf_parsing *p, const unsigned char *body, size_t len,
                             uint64_t offset)
{
    uint32_t size = len >= 8 ? u32_at(body, 4) : 0;
    if (size < ATTR_LEAST || size > len)
        return fp_fail_at(p->error, p->name, offset,
                          "expected the attributes of an event, got %u of %zu bytes", size, len);
    add_event(p, body, size, body + size, (len - size) / 8);
    return true;
}

static bool read_attrs(struct perf_parsing *p, const unsigned char *bytes, size_t len)
{
    uint64_t entry = u64_at(bytes, 16), first = u64_at(bytes, 24), size = u64_at(bytes, 32);
    if (entry < ATTR_LEAST + 16 || entry > ATTR_MOST || first > len || size > len - first)
        return fp_fail_at(p->error, p->name, 16,
                          "expected a table of events, got %" PRIu64 " bytes at %" PRIu64, size,
                          first);
    for (uint64_t at = first; at + entry <= first + size; at += entry) {
        uint64_t ids = u64_at(bytes, at + entry - 16), ids_size = u64_at(bytes, at + entry - 8);
        if (ids > len || ids_size > len - ids)
            return fp_fail_at(p->error, p->name, at, "expected ids of an event within the file");
        add_event(p, bytes + at, entry - 16, bytes + ids, ids_size / 8);
    }
    return true;
}

/* The names of the events, as perf record was given them. */
static void read_event_names(struct perf_parsing *p, const unsigned char *bytes, size_t len)
{
    struct fp_error ignored = {0};
    struct fp_reader r = {.bytes = bytes, .len = len, .error = &ignored};
    uint32_t count = fp_read_u32(&r), attr_size = fp_read_u32(&r);
    for (uint32_t i = 0; i < count && !r.failed; i++) {
        fp_read_bytes(&r, attr_size);
        uint32_t nids = fp_read_u32(&r), name_len = fp_read_u32(&r);
        const char *name = fp_read_bytes(&r, name_len);
        if (r.failed || nids > fp_reader_left(&r) / 8) return;
        if (i < p->data->events.len && name_len)
            p->data->events.at[i].name = fp_arena_strndup(p->arena, name, strnlen(name, name_len));
        for (uint32_t k = 0; k < nids; k++) {
            uint64_t id = fp_read_u64(&r);
            if (i < p->data->events.len) *fp_table_add(&p->event_of, id) = i + 1;
        }
    }
}

static void read_features(struct perf_parsing *p, const unsigned char *bytes, size_t len)
{
    uint64_t at = u64_at(bytes, 40) + u64_at(bytes, 48);
    for (unsigned feature = 0; feature < 256; feature++) {
        if (!(bytes[72 + feature / 8] >> feature % 8 & 1)) continue;
        if (at > len || len - at < 16) return;
        uint64_t first = u64_at(bytes, at), size = u64_at(bytes, at + 8);
        at += 16;
        if (feature == FEATURE_EVENT_DESC && first <= len && size <= len - first)
            read_event_names(p, bytes + first, size);
    }
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
    if (!(type & PERF_SAMPLE_BRANCH_STACK)) return;
    if (type & PERF_SAMPLE_READ) skip_read_values(r, event->read_format);
    if (type & PERF_SAMPLE_CALLCHAIN) {
        uint64_t depth = fp_read_u64(r);
        fp_read_bytes(r, depth > fp_reader_left(r) / 8 ? SIZE_MAX : depth * 8);
    }
    if (type & PERF_SAMPLE_RAW) fp_read_bytes(r, fp_read_u32(r));
    read_branches(p, r, event, s);
}

static bool read_sample(struct perf_parsing *p, const unsigned char *body, size_t len,
                        uint16_t misc, uint64_t offset)
{
    if (!p->data->events.len)
        return fp_fail_at(p->error, p->name, offset, "expected an event before its samples");
    struct fp_perf_sample sample = {.event = sample_event(p, body, len)};
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

/* ---- address spaces ---- */

static void read_mapping(struct perf_parsing *p, const unsigned char *body, size_t len,
                         uint16_t misc, bool two)
{
    size_t fixed = two ? 64 : 32;
    if (len < fixed + 1) return;
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
    if (len < 24 || u32_at(body, 0) == u32_at(body, 4)) return; /* a thread */
    struct fp_perf_change change = {.kind = FP_PERF_FORKED,
                                    .order = p->nrecords,
                                    .time = u64_at(body, 16),
                                    .pid = u32_at(body, 0),
                                    .parent = u32_at(body, 4)};
    fp_vec_push(p->arena, &p->data->changes, change);
}

static void read_comm(struct perf_parsing *p, const unsigned char *body, size_t len, uint16_t misc)
{
    if (len < 9 || !(misc & PERF_RECORD_MISC_COMM_EXEC)) return;
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
    case RECORD_ATTR: return read_attr_record(p, body, len, offset);
    case RECORD_FEATURE:
        if (len >= 8 && u64_at(body, 0) == FEATURE_EVENT_DESC)
            read_event_names(p, body + 8, len - 8);
        break;
    case RECORD_COMPRESSED: return read_compressed(p, body, len, offset);
    default: p->data->unknown += type >= 128 || (type > 21 && type < 64); break;
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
    if (!read_attrs(p, bytes, len)) return false;
    if (first > len) return fp_fail_at(p->error, p->name, 40, "expected data within the file");
    if (!size) /* its writer was killed: read everything that is there */
        p->data->cut = true, size = len - first;
    if (size > len - first) p->data->cut = true, size = len - first;
    if (!p->data->cut) read_features(p, bytes, len);
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
                             .most = (size_t)fp_add_saturated(arena->total, most_unpacked(len))};
    *data = (struct fp_perf_data){0};
    if (len < PIPE_HEADER || memcmp(bytes, "PERFILE2", 8)) {
        bool swapped = len >= 8 && !memcmp(bytes, "2ELIFREP", 8);
        return fp_fail_at(error, name, 0, "expected samples (perf.data), got %s",
                          swapped ? "a file of a machine of the other byte order"
                                  : "something else");
    }
    fp_table_init(&p.event_of, arena);
    bool ok = u64_at(bytes, 8) == PIPE_HEADER ? parse_pipe_mode(&p, bytes, len)
                                              : parse_file_mode(&p, bytes, len);
    if (p.left_len) data->cut = true;
    if (p.stream) ZSTD_freeDStream(p.stream);
    free(p.left);
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
