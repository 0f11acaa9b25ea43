/* What a store's name asks for, as the bytes of a profile file: every command reads it as it
 * reads a file.
 *
 * Of several builds that match, the one that ran last is taken, as from a file; build=all takes
 * all of them. Records are given by run: what was added of one run in pieces is one record again.
 * Above MOST_RECORDS they are summed by hour instead, so that a month of a thousand servers fits
 * into memory.
 */
#include "store/store.h"

#include "base/checksum.h"
#include "base/names.h"
#include "base/plain.h"
#include "footpath/profile_abi.h"
#include "profile/profile.h"

#include <ctype.h>
#include <stdio.h>
#include <inttypes.h>
#include <stdlib.h>

enum { MOST_RECORDS = 50000, MOST_LISTED = 4 };
#define HOUR 3600000000000ll
#define DAY (24 * HOUR)

/* ---- which build ---- */

static bool begins_with(const char *text, const char *digits)
{
    for (; *digits; text++, digits++)
        if (tolower((unsigned char)*text) != tolower((unsigned char)*digits)) return false;
    return true;
}

static bool is_program(const struct fp_store_build *b, const char *wanted)
{
    return !strcmp(b->program, wanted) || !strcmp(fp_base_name(b->program), wanted);
}

/* As builds.h: a name or path of a program, or how its build-id begins. */
static bool is_wanted(const struct fp_store_build *b, const char *wanted)
{
    return !wanted || is_program(b, wanted) || (*b->build && begins_with(b->build, wanted));
}

/* Everything the store has, for one who asked for what is not there. */
static const char *all_there_is(struct fp_store *store)
{
    struct fp_store_list list = {0};
    struct fp_store_name kept = store->name;
    struct fp_error ignored = {0};
    const char *text = "";
    store->name.program = store->name.build = store->name.host = "";
    store->name.since_ns = 0;
    store->name.until_ns = INT64_MAX;
    bool ok = fp_store_list(store, false, &list, &ignored);
    store->name = kept;
    for (size_t i = 0; ok && i < list.builds.len && i < MOST_LISTED; i++) {
        const struct fp_store_build *b = &list.builds.at[i];
        text = fp_arena_printf(&store->arena, "%s%s%s %.12s (%" PRIu64 " runs until %s)", text,
                               i ? ", " : "", fp_plain(&store->arena, fp_base_name(b->program)),
                               *b->build ? b->build : "?", b->runs,
                               fp_store_time(&store->arena, b->end_ns));
    }
    if (list.builds.len > MOST_LISTED) text = fp_arena_printf(&store->arena, "%s, ...", text);
    return text;
}

static bool fail_empty(struct fp_store *store, const char *wanted, struct fp_error *error)
{
    const char *there = all_there_is(store);
    if (!*there) return fp_fail(error, store->db->name, "the store is empty");
    const char *filter = store->name.filter;
    if (!wanted) wanted = "";
    return fp_fail(error, store->db->name, "nothing matches %s%s%s; the store has %s", filter,
                   *filter && *wanted && !strstr(filter, wanted) ? " and " : "",
                   strstr(filter, wanted) ? "" : wanted, there);
}

static void list_others(struct fp_store *store, const struct fp_store_list *list,
                        const struct fp_store_build *chosen, struct fp_store_answer *answer)
{
    answer->others = "";
    for (size_t i = 0; i < list->builds.len; i++) {
        const struct fp_store_build *b = &list->builds.at[i];
        if (b->build_id == chosen->build_id) continue;
        if (answer->other_builds++ >= MOST_LISTED) continue;
        answer->others = fp_arena_printf(
            &store->arena, "%s%s%s%s %.12s (%" PRIu64 " run%s)", answer->others,
            *answer->others ? ", " : "", strcmp(b->program, chosen->program) ? "" : "build ",
            strcmp(b->program, chosen->program) ? fp_plain(&store->arena, fp_base_name(b->program))
                                                : "",
            b->build, b->runs, b->runs == 1 ? "" : "s");
    }
    if (answer->other_builds > MOST_LISTED)
        answer->others = fp_arena_printf(&store->arena, "%s, ...", answer->others);
}

/* ---- records ---- */

struct kept_record {
    uint64_t id;
    int64_t module;
    struct fp_profile *sum; /* of several; else NULL */
    unsigned char *payload; /* of one: encoded */
    size_t len;
};

struct reading {
    struct fp_store *store;
    struct fp_store_answer *answer;
    struct fp_error *error;
    enum fp_store_by by;
    struct fp_arena arena;
    struct fp_table modules; /* number -> 1 + index */
    FP_VEC(struct fp_module_id) module_ids;
    FP_VEC(int64_t) module_numbers;
    struct fp_strtable rows; /* key of a record of the answer -> 1 + index */
    FP_VEC(struct kept_record) records;
    struct fp_table counted; /* run id -> 1: its run was counted */
    bool ok;
};

static bool take_module_row(const struct fp_db_value *columns, size_t n, void *context)
{
    struct reading *r = context;
    struct fp_module_id id;
    (void)n;
    const unsigned char *bytes =
        (const unsigned char *)fp_arena_strndup(&r->arena, columns[1].bytes, columns[1].len);
    struct fp_reader reader = {
        .bytes = bytes, .len = columns[1].len, .file = r->store->db->name, .error = r->error};
    if (!fp_module_decode(&r->arena, &reader, &id)) return r->ok = false;
    fp_vec_push(&r->arena, &r->module_ids, id);
    fp_vec_push(&r->arena, &r->module_numbers, columns[0].number);
    *fp_table_add(&r->modules, (uint64_t)columns[0].number) = r->module_ids.len;
    return true;
}

static bool read_modules(struct reading *r)
{
    return r->store->db->driver->run(r->store->db, "SELECT id, module FROM fp_modules", NULL, 0,
                                     take_module_row, r, NULL, r->error) &&
           r->ok;
}

/* Which records of the answer are one. */
static const char *key_of(struct reading *r, const struct fp_db_value *c, const struct fp_run *run)
{
    int64_t module = c[1].number, build = c[2].number, program = c[8].number;
    char *key = fp_arena_alloc(&r->arena, 128);
    int64_t bucket = r->by == FP_BY_HOUR  ? (int64_t)run->end_ns / HOUR
                     : r->by == FP_BY_DAY ? (int64_t)run->end_ns / DAY
                                          : -1;
    if (bucket < 0)
        snprintf(key, 128, "%" PRIx64 ".%" PRId64, run->id, module);
    else
        snprintf(key, 128, "%" PRId64 ".%" PRId64 ".%" PRId64 ".%" PRId64, bucket, module, build,
                 program);
    return key;
}

/* Columns: counts, module, build, begin, end, run_id, runs, span, program, path, host, pid */
static bool decode_row(struct reading *r, struct fp_arena *arena, const struct fp_db_value *c,
                       struct fp_run *run)
{
    const char *name = r->store->db->name;
    const uint64_t *known = fp_table_find(&r->modules, (uint64_t)c[1].number);
    if (c[0].kind != FP_DB_BLOB || c[9].kind != FP_DB_TEXT || c[10].kind != FP_DB_TEXT || !known)
        return fp_fail(r->error, name, "a record is damaged; footpath store check says more");
    if (!fp_store_unpack(arena, name, c[0].bytes, c[0].len, run, r->error)) return false;
    struct fp_module_id id = r->module_ids.at[*known - 1];
    if (id.sections.counters_size != run->module.sections.counters_size ||
        id.sections.tables_size != run->module.sections.tables_size)
        return fp_fail(r->error, name, "a record is of another module than it says");
    run->program = fp_arena_strdup(arena, c[9].bytes);
    run->host = fp_arena_strdup(arena, c[10].bytes);
    if (c[1].number == c[2].number) id.path = run->program; /* the executable, wherever it lay */
    run->module = id;
    run->id = (uint64_t)c[5].number;
    run->runs = (uint64_t)c[6].number;
    run->start_ns = (uint64_t)c[3].number;
    run->end_ns = (uint64_t)c[4].number;
    run->flags &= ~(uint64_t)(FP_RUN_UNFINISHED | FP_RUN_LEAVING);
    if (c[7].number) run->flags |= FP_RUN_MERGED;
    return true;
}

/* Later pieces of a run stand for no run, unless the answer has them alone. */
static void count_run(struct reading *r, struct fp_run *run, int64_t module)
{
    uint64_t key = fp_hash64(run->id) ^ (uint64_t)module;
    uint64_t *counted = fp_table_add(&r->counted, key);
    if (!run->runs && !*counted) run->runs = 1;
    *counted = 1;
}

static void keep_encoded(struct reading *r, struct kept_record *kept, const struct fp_run *run)
{
    struct fp_writer bytes = {0};
    fp_run_encode(&bytes, run);
    kept->payload = fp_arena_alloc(&r->arena, bytes.len);
    kept->len = bytes.len;
    memcpy(kept->payload, bytes.bytes, bytes.len);
    fp_writer_free(&bytes);
}

/* The second record of a sum makes a profile of the first. */
static void add_to_sum(struct kept_record *kept, const struct fp_run *run)
{
    if (!kept->sum) {
        struct fp_arena arena = {0};
        struct fp_error error = {0};
        struct fp_run first;
        struct fp_reader reader = {.bytes = kept->payload, .len = kept->len, .error = &error};
        kept->sum = fp_profile_new();
        kept->sum->brief = true;
        if (fp_run_decode(&arena, &reader, &first)) fp_profile_add_run(kept->sum, &first);
        fp_arena_free(&arena);
    }
    fp_profile_add_run(kept->sum, run);
}

static bool take_record(const struct fp_db_value *c, size_t n, void *context)
{
    struct reading *r = context;
    struct fp_arena arena = {0};
    struct fp_run run;
    (void)n;
    r->ok = decode_row(r, &arena, c, &run);
    if (r->ok) {
        count_run(r, &run, c[1].number);
        uint64_t *index =
            r->by == FP_BY_RECORD ? NULL : fp_strtable_add(&r->rows, key_of(r, c, &run));
        r->answer->records++;
        if (index && *index) {
            add_to_sum(&r->records.at[*index - 1], &run);
        } else {
            struct kept_record kept = {.id = run.id, .module = c[1].number};
            if (r->by >= FP_BY_HOUR) run.flags |= FP_RUN_MERGED;
            keep_encoded(r, &kept, &run);
            fp_vec_push(&r->arena, &r->records, kept);
            if (index) *index = r->records.len;
        }
    }
    fp_arena_free(&arena);
    return r->ok;
}

static bool read_records(struct reading *r, int64_t build, bool with_orphans)
{
    const struct fp_store_name *name = &r->store->name;
    return FP_DB_RUN(
               r->store->db,
               "SELECT r.counts, r.module, r.build, r.begin_ns, r.end_ns, r.run_id, r.runs, "
               "r.span, r.program, p.path, h.name, r.pid FROM fp_records r "
               "JOIN fp_programs p ON p.id = r.program JOIN fp_hosts h ON h.id = r.host "
               "WHERE r.program IN (SELECT id FROM fp_programs WHERE $1 = '' OR name = $1 OR "
               "path = $1) AND r.end_ns >= $2 AND r.end_ns < $3 AND ($4 = '' OR h.name = $4) AND "
               "($5 = 0 OR r.build = $5 OR ($6 = 1 AND r.build = 0)) ORDER BY r.end_ns, r.id",
               take_record, r, r->error, fp_db_text(name->program), fp_db_number(name->since_ns),
               fp_db_number(name->until_ns), fp_db_text(name->host), fp_db_number(build),
               fp_db_number(with_orphans)) &&
           r->ok;
}

/* ---- the profile ---- */

static bool take_map_row(const struct fp_db_value *c, size_t n, void *context)
{
    struct reading *r = context;
    struct fp_arena arena = {0};
    struct fp_reader payload;
    struct fp_writer record = {0};
    (void)n;
    if (c[0].kind == FP_DB_BLOB) {
        r->ok = fp_store_unsqueeze(&arena, r->store->db->name, c[0].bytes, c[0].len, &payload,
                                   r->error);
        if (r->ok) {
            fp_write_bytes(&record, payload.bytes + payload.at, payload.len - payload.at);
            fp_write_record(&r->answer->profile, FP_RECORD_MAP, &record);
        }
    }
    fp_arena_free(&arena);
    return r->ok;
}

static bool put_maps(struct reading *r)
{
    struct fp_table done;
    fp_table_init(&done, &r->arena);
    for (size_t i = 0; i < r->records.len; i++) {
        uint64_t *known = fp_table_add(&done, (uint64_t)r->records.at[i].module);
        if (*known) continue;
        *known = 1;
        if (!FP_DB_RUN(r->store->db, "SELECT map FROM fp_modules WHERE id = $1", take_map_row, r,
                       r->error, fp_db_number(r->records.at[i].module)) ||
            !r->ok)
            return false;
    }
    return true;
}

/* The id under which the records of a sum are one run: executable and libraries. */
static uint64_t id_of_sum(enum fp_store_by by, const struct fp_run *run)
{
    int64_t bucket = (int64_t)run->end_ns / (by == FP_BY_DAY ? DAY : HOUR);
    return by < FP_BY_HOUR ? run->id
                           : fp_checksum(run->program, strlen(run->program), (uint64_t)bucket);
}

static void put_records(struct reading *r)
{
    for (size_t i = 0; i < r->records.len; i++) {
        struct kept_record *kept = &r->records.at[i];
        struct fp_writer payload = {0};
        size_t n;
        if (kept->sum) {
            struct fp_run *run = fp_profile_merged(kept->sum, &n);
            run->id = id_of_sum(r->by, run);
            r->answer->runs += run->runs;
            fp_run_encode(&payload, run);
            fp_profile_free(kept->sum);
            kept->sum = NULL;
        } else {
            fp_write_bytes(&payload, kept->payload, kept->len);
        }
        fp_write_record(&r->answer->profile, FP_RECORD_RUN, &payload);
    }
}

static bool read_answer(struct reading *r, int64_t build, bool with_orphans)
{
    fp_table_init(&r->modules, &r->arena);
    fp_table_init(&r->counted, &r->arena);
    fp_strtable_init(&r->rows, &r->arena);
    fp_write_profile_header(&r->answer->profile, 0, 0);
    bool ok = read_modules(r) && read_records(r, build, with_orphans) && put_maps(r);
    if (ok) put_records(r);
    if (ok) fp_write_commit(&r->answer->profile);
    for (size_t i = 0; i < r->records.len; i++) fp_profile_free(r->records.at[i].sum);
    return ok;
}

static const struct fp_store_build *choose(const struct fp_store_list *list, const char *wanted)
{
    for (size_t i = 0; i < list->builds.len; i++)
        if (list->builds.at[i].build_id && is_wanted(&list->builds.at[i], wanted))
            return &list->builds.at[i];
    for (size_t i = 0; i < list->builds.len; i++) /* libraries alone were instrumented */
        if (is_wanted(&list->builds.at[i], wanted)) return &list->builds.at[i];
    return NULL;
}

/* How many records match the choice. */
static uint64_t matching(const struct fp_store_list *list, int64_t build)
{
    uint64_t count = 0;
    for (size_t i = 0; i < list->builds.len; i++)
        if (!build || list->builds.at[i].build_id == build) count += list->builds.at[i].records;
    return count;
}

static enum fp_store_by how_to_sum(enum fp_store_by asked, uint64_t records)
{
    if (asked != FP_BY_ANY && asked != FP_BY_TIME) return asked;
    if (records > MOST_RECORDS) return FP_BY_HOUR;
    return asked == FP_BY_TIME ? FP_BY_RECORD : FP_BY_RUN;
}

bool fp_store_read(struct fp_store *store, const char *wanted, struct fp_store_answer *answer,
                   struct fp_error *error)
{
    struct fp_store_list list = {0};
    *answer = (struct fp_store_answer){.others = ""};
    bool all = !strcmp(store->name.build, "all") || (wanted && !strcmp(wanted, "all"));
    if (wanted && !strcmp(wanted, "all")) wanted = NULL;
    if (!fp_store_begin_reading(store, error)) return false;
    bool ok = fp_store_list(store, false, &list, error);
    if (!wanted && *store->name.build && !all) wanted = store->name.build;
    const struct fp_store_build *chosen = ok ? choose(&list, wanted) : NULL;
    if (ok && !chosen) ok = fail_empty(store, wanted, error);
    if (ok) {
        int64_t build = all ? 0 : chosen->build_id;
        bool newest = chosen == choose(&list, NULL) || !chosen->build_id;
        if (!all) list_others(store, &list, chosen, answer);
        struct reading r = {.store = store, .answer = answer, .error = error, .ok = true};
        r.by = how_to_sum(store->name.by, matching(&list, build));
        answer->by_hour = store->name.by != r.by && r.by == FP_BY_HOUR;
        ok = read_answer(&r, build, newest);
        fp_arena_free(&r.arena);
    }
    struct fp_error ignored = {0};
    fp_db_do(store->db, "COMMIT", &ignored);
    if (!ok) fp_writer_free(&answer->profile);
    return ok;
}
