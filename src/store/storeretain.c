/* Retention: old records are summed into hours, then into days; what is older still is deleted
 * where that is asked for. Sums are exact: what was summed is compared with what is stored, and a
 * difference takes the transaction back.
 *
 * Records of one program, build, module and host whose ends lie in the same hour become one. Its
 * run id stands for these four and the hour, so that executable and libraries stay one run.
 */
#include "store/store.h"

#include "base/checksum.h"
#include "footpath/profile_abi.h"
#include "profile/profile.h"

#include <inttypes.h>

#define HOUR 3600000000000ll
enum { AT_ONCE = 256 }; /* sums in a transaction */

struct record_group {
    int64_t program, build, module, host, bucket, records;
};

struct summing {
    struct fp_store *store;
    struct fp_arena arena;
    FP_VEC(struct record_group) groups;
    struct fp_profile *sum;
    struct fp_store_retained *done;
    struct fp_error *error;
    uint64_t check; /* of what was read, see check_of */
    uint64_t runs;
    bool ok;
};

static bool take_group(const struct fp_db_value *c, size_t n, void *context)
{
    struct summing *s = context;
    (void)n;
    struct record_group group = {c[0].number, c[1].number, c[2].number,
                                 c[3].number, c[4].number, c[5].number};
    fp_vec_push(&s->arena, &s->groups, group);
    return true;
}

/* A number that is the same for two sets of counts only if all of them are: each count times a
 * hash of its place, modulo 2^64. It adds up as the counts do. */
static uint64_t check_of(const struct fp_run *run)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < run->ncounters; i++)
        sum += run->counters[i].count * (fp_hash64(run->counters[i].index) | 1);
    for (size_t i = 0; i < run->ntables; i++) {
        const struct fp_table_count *t = &run->tables[i];
        sum += t->count * (fp_hash64(fp_hash64(t->table + 1) ^ t->path) | 1);
    }
    for (size_t i = 0; i < run->nin_flight; i++) {
        const struct fp_in_flight *f = &run->in_flight[i];
        sum += (uint64_t)f->count * (fp_hash64(f->function ^ fp_hash64(f->block ^ f->reg)) | 1);
    }
    for (size_t i = 0; i < run->ncaught; i++)
        sum += run->caught[i].count * (fp_hash64(run->caught[i].function + 7) | 1);
    return sum;
}

/* Columns: counts, begin, end, runs, pid */
static bool add_record(const struct fp_db_value *c, size_t n, void *context)
{
    struct summing *s = context;
    struct fp_arena arena = {0};
    struct fp_run run;
    (void)n;
    s->ok = fp_store_unpack(&arena, s->store->db->name, c[0].bytes, c[0].len, &run, s->error);
    if (s->ok) {
        run.start_ns = (uint64_t)c[1].number;
        run.end_ns = (uint64_t)c[2].number;
        run.runs = (uint64_t)c[3].number;
        s->check += check_of(&run);
        s->runs += run.runs;
        fp_profile_add_run(s->sum, &run);
        s->done->before++;
    }
    fp_arena_free(&arena);
    return s->ok;
}

static int64_t id_of_sum(const struct record_group *g, int64_t span)
{
    int64_t parts[] = {g->program, g->build, g->host, g->bucket, span};
    return (int64_t)fp_checksum(parts, sizeof parts, 0);
}

/* What will be read again must be what was summed. */
static bool is_exact(struct summing *s, const struct fp_writer *blob)
{
    struct fp_arena arena = {0};
    struct fp_run run;
    bool ok = fp_store_unpack(&arena, s->store->db->name, blob->bytes, blob->len, &run, s->error);
    if (ok && (check_of(&run) != s->check || run.runs != s->runs))
        ok = fp_fail(s->error, s->store->db->name,
                     "the sum of records is not what they hold; they stay as they are");
    fp_arena_free(&arena);
    return ok;
}

static bool put_sum(struct summing *s, const struct record_group *g, int64_t span)
{
    size_t n;
    struct fp_writer blob = {0};
    struct fp_run *run = fp_profile_merged(s->sum, &n);
    if (n != 1)
        return fp_fail(s->error, s->store->db->name, "records of one module differ in its size");
    run->flags = FP_RUN_MERGED;
    run->runs = s->runs;
    run->nargs = 0;
    fp_store_pack(s->store, run, &blob);
    bool ok =
        is_exact(s, &blob) &&
        FP_DB_RUN(s->store->db,
                  "INSERT INTO fp_records (program, build, module, host, span, begin_ns, end_ns, "
                  "pid, run_id, runs, counts) VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8, $9, $10)",
                  NULL, NULL, s->error, fp_db_number(g->program), fp_db_number(g->build),
                  fp_db_number(g->module), fp_db_number(g->host), fp_db_number(span),
                  fp_db_number((int64_t)run->start_ns), fp_db_number((int64_t)run->end_ns),
                  fp_db_number(id_of_sum(g, span)), fp_db_number((int64_t)run->runs),
                  fp_db_blob(blob.bytes, blob.len));
    fp_writer_free(&blob);
    return ok;
}

/* The records of a group: those below the span, and a sum of the same hour from before. */
#define OF_GROUP                                                                           \
    " FROM fp_records WHERE program = $1 AND end_ns >= $2 AND end_ns < $3 AND build = $4 " \
    "AND module = $5 AND host = $6 AND span <= $7"

static bool sum_group(struct summing *s, const struct record_group *g, int64_t length, int64_t span)
{
    const struct fp_db_value values[] = {
        fp_db_number(g->program),
        fp_db_number(g->bucket * length),
        fp_db_number((g->bucket + 1) * length),
        fp_db_number(g->build),
        fp_db_number(g->module),
        fp_db_number(g->host),
        fp_db_number(span),
    };
    struct fp_db *db = s->store->db;
    size_t n = sizeof values / sizeof *values;
    s->sum = fp_profile_new();
    s->sum->brief = true;
    s->check = s->runs = 0;
    bool ok = db->driver->run(db, "SELECT counts, begin_ns, end_ns, runs, pid" OF_GROUP, values, n,
                              add_record, s, NULL, s->error) &&
              s->ok &&
              db->driver->run(db, "DELETE" OF_GROUP, values, n, NULL, NULL, NULL, s->error) &&
              put_sum(s, g, span);
    fp_profile_free(s->sum);
    s->done->after++;
    return ok;
}

/* Groups of which at least one record is below the span. Whole hours and days only. */
#define GROUPS(length)                                                                         \
    "SELECT program, build, module, host, end_ns / " length ", count(*) FROM fp_records "      \
    "WHERE end_ns < $1 AND span <= $2 GROUP BY program, build, module, host, end_ns / " length \
    " HAVING min(span) < $2"

static bool sum_into(struct summing *s, int64_t age, int64_t now, int64_t length, int64_t span)
{
    struct fp_db *db = s->store->db;
    if (age > now) return true;
    int64_t before = (now - age) / length * length;
    s->groups.len = 0;
    bool ok = FP_DB_RUN(db, span == 1 ? GROUPS("3600000000000") : GROUPS("86400000000000"),
                        take_group, s, s->error, fp_db_number(before), fp_db_number(span));
    for (size_t i = 0; ok && i < s->groups.len; i++) {
        ok = sum_group(s, &s->groups.at[i], length, span);
        if (ok && i % AT_ONCE == AT_ONCE - 1) /* others want to write, too */
            ok = fp_store_commit(s->store, s->error) && fp_store_begin(s->store, s->error);
    }
    return ok;
}

/* Runs whose records are gone need not be known any more. */
static bool delete_before(struct summing *s, int64_t age, int64_t now)
{
    struct fp_db *db = s->store->db;
    if (age > now) return true;
    const struct fp_db_value before = fp_db_number(now - age);
    return db->driver->run(db, "DELETE FROM fp_records WHERE end_ns < $1", &before, 1, NULL, NULL,
                           &s->done->deleted, s->error) &&
           FP_DB_RUN(db,
                     "DELETE FROM fp_live WHERE EXISTS (SELECT 1 FROM fp_seen s WHERE "
                     "s.begin_ns = fp_live.begin_ns AND s.run_id = fp_live.run_id AND s.module = "
                     "fp_live.module AND s.end_ns < $1)",
                     NULL, NULL, s->error, before) &&
           FP_DB_RUN(db, "DELETE FROM fp_seen WHERE end_ns < $1", NULL, NULL, s->error, before);
}

static bool drop_maps(struct fp_store *store, struct fp_error *error)
{
    return fp_db_do(store->db,
                    "DELETE FROM fp_modules WHERE NOT EXISTS (SELECT 1 FROM fp_records r WHERE "
                    "r.module = fp_modules.id) AND NOT EXISTS (SELECT 1 FROM fp_seen s WHERE "
                    "s.module = fp_modules.id)",
                    error);
}

bool fp_store_retain(struct fp_store *store, const struct fp_store_ages *ages, int64_t now,
                     struct fp_store_retained *done, struct fp_error *error)
{
    struct summing s = {.store = store, .done = done, .error = error, .ok = true};
    *done = (struct fp_store_retained){0};
    if (!fp_store_begin(store, error)) return false;
    bool ok = delete_before(&s, ages->gone, now) && sum_into(&s, ages->runs, now, HOUR, 1) &&
              sum_into(&s, ages->hours, now, 24 * HOUR, 2) &&
              (!done->deleted || drop_maps(store, error));
    fp_arena_free(&s.arena);
    if (ok) return fp_store_commit(store, error);
    fp_store_rollback(store);
    return false;
}

/* What a name's filter says: of program, time, host and build. */
#define MATCHING                                                                                   \
    " FROM fp_records WHERE program IN (SELECT id FROM fp_programs WHERE $1 = '' OR name = $1 OR " \
    "path = $1) AND end_ns >= $2 AND end_ns < $3 AND ($4 = '' OR host IN (SELECT id FROM "         \
    "fp_hosts WHERE name = $4)) AND ($5 = '' OR build IN (SELECT id FROM fp_modules WHERE "        \
    "substr(build, 1, CAST($6 AS INTEGER)) = $5))"

/* Runs that are gone may be added again, so they are forgotten first. */
static bool remove_matching(struct fp_store *store, const struct fp_db_value *values, size_t n,
                            uint64_t *deleted, struct fp_error *error)
{
    static const char *const statements[] = {
        "DELETE FROM fp_live WHERE (run_id, module) IN (SELECT run_id, module" MATCHING ")",
        "DELETE FROM fp_seen WHERE (run_id, module) IN (SELECT run_id, module" MATCHING ")",
        "DELETE" MATCHING,
    };
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (!store->db->driver->run(store->db, statements[i], values, n, NULL, NULL, deleted,
                                    error))
            return false;
    return drop_maps(store, error);
}

bool fp_store_remove(struct fp_store *store, uint64_t *deleted, struct fp_error *error)
{
    const struct fp_store_name *name = &store->name;
    const char *build = strcmp(name->build, "all") ? name->build : "";
    const struct fp_db_value values[] = {fp_db_text(name->program),
                                         fp_db_number(name->since_ns),
                                         fp_db_number(name->until_ns),
                                         fp_db_text(name->host),
                                         fp_db_text(build),
                                         fp_db_number((int64_t)strlen(build))};
    if (!fp_store_begin(store, error)) return false;
    if (remove_matching(store, values, sizeof values / sizeof *values, deleted, error))
        return fp_store_commit(store, error);
    fp_store_rollback(store);
    return false;
}
