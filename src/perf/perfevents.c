/* The events of a perf.data file: their attributes, names, ids and kinds. In file mode attributes
 * and names lie in tables (features), in pipe mode they come as records. */
#include "perf/perfparsing.h"

#include "base/varint.h"

#include <inttypes.h>
#include <linux/perf_event.h>

enum {
    FEATURE_EVENT_DESC = 12,
    FEATURE_PMU_MAPPINGS = 16,
    /* size of the oldest struct perf_event_attr */
    ATTR_LEAST = 64,
    ATTR_MOST = 4096,
};

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
        .precise = u64_at(attr, 40) >> 15 & 3,
        .branch_type = size >= 80 ? u64_at(attr, 72) : 0,
        .registers = size >= 88 ? u64_at(attr, 80) : 0,
    };
    event.name = event_name(event.type, event.config);
    fp_vec_push(p->arena, &p->data->events, event);
    for (size_t i = 0; i < nids; i++)
        *fp_table_add(&p->event_of, u64_at(ids, i * 8)) = p->data->events.len;
}

bool fp_perf_read_attr(struct perf_parsing *p, const unsigned char *body, size_t len,
                       uint64_t offset)
{
    uint32_t size = len >= 8 ? u32_at(body, 4) : 0;
    if (size < ATTR_LEAST || size > len)
        return fp_fail_at(p->error, p->name, offset,
                          "expected the attributes of an event, got %u of %zu bytes", size, len);
    add_event(p, body, size, body + size, (len - size) / 8);
    return true;
}

bool fp_perf_read_attrs(struct perf_parsing *p, const unsigned char *bytes, size_t len)
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

/* The numbers of kinds of events: u32 count, then u32 type and a name. */
static void read_types(struct perf_parsing *p, const unsigned char *bytes, size_t len)
{
    struct fp_error ignored = {0};
    struct fp_reader r = {.bytes = bytes, .len = len, .error = &ignored};
    uint32_t count = fp_read_u32(&r);
    for (uint32_t i = 0; i < count && !r.failed; i++) {
        uint32_t type = fp_read_u32(&r), name_len = fp_read_u32(&r);
        const char *name = fp_read_bytes(&r, name_len);
        if (r.failed) return;
        if (name_len >= 7 && !strncmp(name, "ibs_op", 7)) p->ibs_op = type;
        if (name_len >= 8 && !strncmp(name, "arm_spe_", 8)) p->spe = type;
    }
}

bool fp_perf_is_ibs_op(const struct perf_parsing *p, const struct fp_perf_event *event)
{
    return p->ibs_op != FP_NONE ? event->type == p->ibs_op : !strncmp(event->name, "ibs_op/", 7);
}

void fp_perf_read_feature(struct perf_parsing *p, uint64_t feature, const unsigned char *bytes,
                          size_t len)
{
    if (feature == FEATURE_EVENT_DESC) read_event_names(p, bytes, len);
    if (feature == FEATURE_PMU_MAPPINGS) read_types(p, bytes, len);
}

void fp_perf_read_features(struct perf_parsing *p, const unsigned char *bytes, size_t len)
{
    uint64_t at = u64_at(bytes, 40) + u64_at(bytes, 48);
    for (unsigned feature = 0; feature < 256; feature++) {
        if (!(bytes[72 + feature / 8] >> feature % 8 & 1)) continue;
        if (at > len || len - at < 16) return;
        uint64_t first = u64_at(bytes, at), size = u64_at(bytes, at + 8);
        at += 16;
        if (first <= len && size <= len - first)
            fp_perf_read_feature(p, feature, bytes + first, size);
    }
}

uint32_t fp_perf_spe_event(const struct perf_parsing *p)
{
    for (uint32_t e = 0; e < p->data->events.len; e++) {
        const struct fp_perf_event *event = &p->data->events.at[e];
        if (event->type == p->spe || !strncmp(event->name, "arm_spe_", 8)) return e;
    }
    return 0;
}
