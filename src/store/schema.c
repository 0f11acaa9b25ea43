/* The tables of a store: docs/formats/store.md describes them.
 *
 * Times are nanoseconds since 1970. Numbers of 64 bits without a sign, such as run ids, lie in
 * signed columns with the same bits. Names of the tables begin with fp_, so that a PostgreSQL
 * database may hold other tables as well.
 */
#include "store/store.h"

#include <inttypes.h>

/* $S and $B stand for the driver's types. */
static const char *const tables[] = {
    "CREATE TABLE IF NOT EXISTS fp_meta (name TEXT PRIMARY KEY, value BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS fp_programs (id $S, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS fp_hosts (id $S, name TEXT NOT NULL UNIQUE)",
    /* an executable or library of one build; its map is the payload of a map's record */
    "CREATE TABLE IF NOT EXISTS fp_modules (id $S, identity $B NOT NULL UNIQUE, "
    "module $B NOT NULL, path TEXT NOT NULL, build TEXT NOT NULL, map $B)",
    /* build: the program's executable, a number of fp_modules; 0: not known yet. span: 0 what was
     * added, 1 the sum of an hour, 2 of a day */
    "CREATE TABLE IF NOT EXISTS fp_records (id $S, program BIGINT NOT NULL, build BIGINT NOT NULL, "
    "module BIGINT NOT NULL, host BIGINT NOT NULL, span BIGINT NOT NULL, begin_ns BIGINT NOT NULL, "
    "end_ns BIGINT NOT NULL, pid BIGINT NOT NULL, run_id BIGINT NOT NULL, runs BIGINT NOT NULL, "
    "counts $B NOT NULL)",
    /* answers "which builds, when, where" without a look at the records themselves */
    "CREATE INDEX IF NOT EXISTS fp_records_when ON fp_records "
    "(program, end_ns, build, host, module, runs, span)",
    "CREATE INDEX IF NOT EXISTS fp_records_orphans ON fp_records (run_id) WHERE build = 0",
    /* every run and module that was ever added, so that none counts twice. begin_ns, which all
     * records of a run share, comes first: runs are added as they come, so the rows that a
     * transaction writes lie together. going: 1 while the run
     * may go on; build: as above, where the module is the program's executable, else 0 */
    "CREATE TABLE IF NOT EXISTS fp_seen (begin_ns BIGINT NOT NULL, run_id BIGINT NOT NULL, "
    "module BIGINT NOT NULL, "
    "end_ns BIGINT NOT NULL, build BIGINT NOT NULL, going BIGINT NOT NULL, "
    "PRIMARY KEY (begin_ns, run_id, module))$W",
    /* of runs that may go on: all that they had counted when they were added last */
    "CREATE TABLE IF NOT EXISTS fp_live (begin_ns BIGINT NOT NULL, run_id BIGINT NOT NULL, "
    "module BIGINT NOT NULL, "
    "counts $B NOT NULL, PRIMARY KEY (begin_ns, run_id, module))",
};

static const char *with_types(struct fp_arena *arena, const char *sql,
                              const struct fp_db_driver *driver)
{
    const char *text = "";
    for (const char *mark; (mark = strchr(sql, '$')); sql = mark + 2)
        text = fp_arena_printf(arena, "%s%.*s%s", text, (int)(mark - sql), sql,
                               mark[1] == 'S'   ? driver->serial
                               : mark[1] == 'B' ? driver->blob
                                                : driver->table_end);
    return fp_arena_printf(arena, "%s%s", text, sql);
}

bool fp_store_make_tables(struct fp_db *db, struct fp_error *error)
{
    struct fp_arena *arena = &(struct fp_arena){0};
    bool ok = fp_db_do(db, db->driver->begin, error) &&
              (!db->driver->lock || fp_db_do(db, db->driver->lock, error));
    for (size_t i = 0; ok && i < sizeof tables / sizeof *tables; i++)
        ok = fp_db_once(db, with_types(arena, tables[i], db->driver), error);
    ok = ok && FP_DB_RUN(db,
                         "INSERT INTO fp_meta (name, value) VALUES ('schema', $1), ('oldest', $2) "
                         "ON CONFLICT DO NOTHING",
                         NULL, NULL, error, fp_db_number(FP_STORE_SCHEMA),
                         fp_db_number(FP_STORE_OLDEST_READER));
    ok = ok && fp_db_do(db, "COMMIT", error);
    if (!ok) fp_db_do(db, "ROLLBACK", &(struct fp_error){0});
    fp_arena_free(arena);
    return ok;
}

struct versions {
    int64_t schema, oldest;
};

static bool take_version(const struct fp_db_value *columns, size_t n, void *context)
{
    struct versions *v = context;
    (void)n;
    if (columns[0].kind != FP_DB_TEXT || columns[1].kind != FP_DB_NUMBER) return true;
    if (!strcmp(columns[0].bytes, "schema")) v->schema = columns[1].number;
    if (!strcmp(columns[0].bytes, "oldest")) v->oldest = columns[1].number;
    return true;
}

static bool note_row(const struct fp_db_value *columns, size_t n, void *context)
{
    (void)n;
    *(bool *)context = columns[0].kind == FP_DB_NUMBER && columns[0].number > 0;
    return true;
}

bool fp_store_check_schema(struct fp_db *db, bool *empty, struct fp_error *error)
{
    struct versions v = {0};
    bool there = false;
    *empty = false;
    if (!db->driver->run(db, db->driver->has_meta, NULL, 0, note_row, &there, NULL, error))
        return false;
    if (!there) return *empty = true;
    if (!db->driver->run(db, "SELECT name, value FROM fp_meta", NULL, 0, take_version, &v, NULL,
                         error))
        return false;
    if (v.schema && v.oldest <= FP_STORE_SCHEMA) return true;
    if (!v.schema) return fp_fail(error, db->name, "expected a store of footpath");
    return fp_fail(error, db->name,
                   "expected schema %d, got %" PRId64 ", which needs a newer footpath",
                   FP_STORE_SCHEMA, v.schema);
}
