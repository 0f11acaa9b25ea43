/* What is in a store, and whether all of it can be read. */
#include "store/store.h"

#include "profile/program.h"

#include <inttypes.h>
#include <stdlib.h>

struct listing {
    struct fp_store *store;
    struct fp_store_list *list;
};

static const char *text_of(struct fp_store *store, const struct fp_db_value *value)
{
    return value->kind == FP_DB_TEXT ? fp_arena_strdup(&store->arena, value->bytes) : "";
}

static bool take_build(const struct fp_db_value *c, size_t n, void *context)
{
    struct listing *l = context;
    (void)n;
    struct fp_store_build build = {
        .program_id = c[0].number,
        .build_id = c[1].number,
        .records = (uint64_t)c[2].number,
        .runs = (uint64_t)c[3].number,
        .begin_ns = c[4].number,
        .end_ns = c[5].number,
        .hosts = (uint64_t)c[6].number,
        .program = text_of(l->store, &c[7]),
        .build = text_of(l->store, &c[8]),
        .has_map = c[9].number != 0,
        .bytes = (uint64_t)c[10].number,
    };
    fp_vec_push(&l->store->arena, &l->list->builds, build);
    return true;
}

/* Without the bytes of records, the index alone answers it. A run has a record per module: its
 * runs are those of the executable. */
#define LIST(when, bytes)                                                                        \
    "SELECT g.program, g.build, g.records, g.runs, g.begins, g.ends, g.hosts, p.path, m.build, " \
    "CASE WHEN m.map IS NULL THEN 0 ELSE 1 END, g.bytes FROM (SELECT program, build, "           \
    "count(*) AS records, "                                                                      \
    "CAST(sum(CASE WHEN module = build OR build = 0 THEN runs ELSE 0 END) AS BIGINT) AS runs, "  \
    "min(" when ") AS begins, max(end_ns) AS ends, count(DISTINCT host) AS hosts, "              \
    "CAST(" bytes " AS BIGINT) AS bytes FROM fp_records "                                        \
    "WHERE program IN (SELECT id FROM fp_programs WHERE $1 = '' OR name = $1 OR path = $1) "     \
    "AND end_ns >= $2 AND end_ns < $3 AND ($4 = '' OR host IN (SELECT id FROM fp_hosts "         \
    "WHERE name = $4)) GROUP BY program, build) g JOIN fp_programs p ON p.id = g.program "       \
    "LEFT JOIN fp_modules m ON m.id = g.build ORDER BY g.ends DESC, g.build DESC, g.program"

static bool take_host(const struct fp_db_value *c, size_t n, void *context)
{
    struct listing *l = context;
    (void)n;
    fp_vec_push(&l->store->arena, &l->list->hosts, text_of(l->store, &c[0]));
    return true;
}

static bool take_size(const struct fp_db_value *c, size_t n, void *context)
{
    (void)n;
    *(uint64_t *)context = (uint64_t)c[0].number;
    return true;
}

bool fp_store_list(struct fp_store *store, bool bytes, struct fp_store_list *list,
                   struct fp_error *error)
{
    struct listing l = {store, list};
    const struct fp_store_name *name = &store->name;
    if (!FP_DB_RUN(store->db, bytes ? LIST("begin_ns", "sum(length(counts))") : LIST("end_ns", "0"),
                   take_build, &l, error, fp_db_text(name->program), fp_db_number(name->since_ns),
                   fp_db_number(name->until_ns), fp_db_text(name->host)))
        return false;
    if (!bytes) return true;
    return FP_DB_RUN(store->db,
                     "SELECT name FROM fp_hosts WHERE $1 = '' OR name = $1 ORDER BY name",
                     take_host, &l, error, fp_db_text(name->host)) &&
           store->db->driver->run(store->db, store->db->driver->size, NULL, 0, take_size,
                                  &list->size, NULL, error);
}

/* ---- check ---- */

struct checking {
    struct fp_store *store;
    struct fp_store_checked *found;
    struct fp_error *error;
    bool ok;
};

static uint64_t sum_of(const struct fp_run *run)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < run->ncounters; i++) sum += run->counters[i].count;
    for (size_t i = 0; i < run->ntables; i++) sum += run->tables[i].count;
    return sum;
}

static bool check_row(const struct fp_db_value *c, size_t n, void *context)
{
    struct checking *k = context;
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_run run;
    (void)n;
    k->ok =
        c[1].kind == FP_DB_BLOB && fp_store_unpack(&arena, "", c[1].bytes, c[1].len, &run, &error);
    if (!k->ok)
        fp_fail(k->error, k->store->db->name, "record %" PRId64 ": %s", c[0].number,
                error.set ? error.what : "has no counts");
    if (k->ok) {
        k->found->records++;
        k->found->runs += (uint64_t)c[2].number;
        k->found->counts += sum_of(&run);
    }
    fp_arena_free(&arena);
    return k->ok;
}

struct checked_map {
    struct fp_arena *arena;
    bool ok;
};

static bool check_map(const struct fp_embedded_map *map, void *context)
{
    struct checked_map *k = context;
    struct fp_program program = {0};
    struct fp_error error = {0};
    k->ok = fp_program_parse(k->arena, "", map->map, map->map_len, map->live, map->live_len,
                             &program, &error);
    return true;
}

static bool check_map_row(const struct fp_db_value *c, size_t n, void *context)
{
    struct checking *k = context;
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_reader payload;
    struct fp_writer record = {0}, file = {0};
    struct checked_map checked = {.arena = &arena};
    const struct fp_profile_visitor visitor = {.map = check_map, .context = &checked};
    bool cut;
    (void)n;
    if (fp_store_unsqueeze(&arena, "", c[1].bytes, c[1].len, &payload, &error)) {
        fp_write_profile_header(&file, 0, 0);
        fp_write_bytes(&record, payload.bytes + payload.at, payload.len - payload.at);
        fp_write_record(&file, FP_RECORD_MAP, &record);
        fp_write_commit(&file);
        fp_profile_visit(file.bytes, file.len, "", &visitor, &cut, &error);
    }
    k->ok = checked.ok;
    if (!k->ok)
        fp_fail(k->error, k->store->db->name, "map of module %" PRId64 ": %s", c[0].number,
                error.set ? error.what : "cannot be read");
    k->found->maps += k->ok;
    fp_writer_free(&file);
    fp_arena_free(&arena);
    return k->ok;
}

bool fp_store_check(struct fp_store *store, struct fp_store_checked *checked,
                    struct fp_error *error)
{
    struct checking k = {.store = store, .found = checked, .error = error, .ok = true};
    *checked = (struct fp_store_checked){0};
    return store->db->driver->run(store->db, "SELECT id, counts, runs FROM fp_records ORDER BY id",
                                  NULL, 0, check_row, &k, NULL, error) &&
           k.ok &&
           store->db->driver->run(store->db, "SELECT id, map FROM fp_modules WHERE map IS NOT NULL",
                                  NULL, 0, check_map_row, &k, NULL, error) &&
           k.ok;
}
