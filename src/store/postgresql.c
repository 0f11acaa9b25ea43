/* PostgreSQL behind db.h, by libpq: a store for more than one machine.
 *
 * This file is a module of its own, which the tool loads when a store is named by a URL
 * (dbmodule.c). It uses libpq and libc alone. So the tool starts without libpq and the dozen of
 * libraries that libpq loads, and works where there is none.
 *
 * Values travel in binary: numbers as 8 bytes, most significant first. Statements are prepared
 * once, found by the address of their text. Rows come one by one, so that an answer need not fit
 * into memory twice.
 *
 * A statement with values whose answer nobody wants is sent without waiting (libpq's pipeline
 * mode). Its answer is read with that of the next statement, so that adding a record takes one
 * round to the server. Where it failed, that next statement is not executed and fails: at the
 * latest the COMMIT.
 *
 * Not handled: a connection that breaks. Its transaction is rolled back, and the command fails.
 */
#include "store/db.h"

#include <assert.h>
#include <endian.h>
#include <libpq-fe.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef LIBPQ_HAS_PIPELINING
#error "libpq 14 or later is needed"
#endif

/* MOST_WAITING: answers that nobody has read lie in the buffers of the connection. */
enum { MOST_STATEMENTS = 64, MOST_VALUES = 16, MOST_WAITING = 64 };
enum { TYPE_BYTES = 17, TYPE_INT8 = 20, TYPE_INT4 = 23, TYPE_TEXT = 25 }; /* of pg_type */

struct postgresql_db {
    struct fp_db db;
    PGconn *connection;
    const char *prepared[MOST_STATEMENTS];
    size_t nprepared;
    size_t nwaiting; /* statements whose answers were not read yet */
    char name[256];  /* without the password */
};

extern const struct fp_db_driver footpath_postgresql_driver;

/* As base/error.c does: the module links nothing of the tool. */
static bool fail(struct fp_error *error, const char *name, const char *format, ...)
{
    va_list args;
    if (error->set) return false;
    *error = (struct fp_error){.set = true, .offset = FP_NO_OFFSET};
    snprintf(error->file, sizeof error->file, "%s", name);
    va_start(args, format);
    vsnprintf(error->what, sizeof error->what, format, args);
    va_end(args);
    return false;
}

/* What the server said, in one line. */
static bool fail_by(struct postgresql_db *d, const char *message, struct fp_error *error)
{
    char line[300];
    snprintf(line, sizeof line, "%s", message && *message ? message : "no answer");
    size_t len = strlen(line);
    while (len && line[len - 1] == '\n') line[--len] = 0;
    for (char *at = line; *at; at++)
        if (*at == '\n' || *at == '\t') *at = ' ';
    return fail(error, d->name, "%s", line);
}

static void close_db(struct fp_db *db)
{
    struct postgresql_db *d = (struct postgresql_db *)db;
    PQfinish(d->connection);
    free(d);
}

static void name_connection(struct postgresql_db *d)
{
    const char *host = PQhost(d->connection), *base = PQdb(d->connection);
    snprintf(d->name, sizeof d->name, "postgresql:%s/%s", host ? host : "", base ? base : "");
}

static void ignore_notice(void *context, const char *message)
{
    (void)context;
    (void)message;
}

static struct fp_db *open_db(const char *name, enum fp_db_how how, struct fp_error *error)
{
    (void)how; /* the server says who may write */
    struct postgresql_db *d = calloc(1, sizeof *d);
    if (!d) abort();
    d->db = (struct fp_db){&footpath_postgresql_driver, d->name};
    snprintf(d->name, sizeof d->name, "postgresql");
    d->connection = PQconnectdb(name);
    if (PQstatus(d->connection) == CONNECTION_OK) {
        PQsetNoticeProcessor(d->connection, ignore_notice, NULL);
        name_connection(d);
        return &d->db;
    }
    fail_by(d, PQerrorMessage(d->connection), error);
    close_db(&d->db);
    return NULL;
}

/* ---- values ---- */

struct wire {
    const char *values[MOST_VALUES];
    int lengths[MOST_VALUES], formats[MOST_VALUES];
    Oid types[MOST_VALUES];
    uint64_t numbers[MOST_VALUES];
};

static void put_value(struct wire *w, size_t i, const struct fp_db_value *value)
{
    w->formats[i] = 1;
    w->lengths[i] = (int)value->len;
    w->values[i] = value->bytes ? value->bytes : "";
    w->types[i] = value->kind == FP_DB_TEXT ? TYPE_TEXT : TYPE_BYTES;
    if (value->kind == FP_DB_NULL) w->values[i] = NULL;
    if (value->kind != FP_DB_NUMBER) return;
    w->numbers[i] = htobe64((uint64_t)value->number);
    w->values[i] = (const char *)&w->numbers[i];
    w->lengths[i] = sizeof w->numbers[i];
    w->types[i] = TYPE_INT8;
}

static struct fp_db_value column_of(const PGresult *result, int i)
{
    const char *bytes = PQgetvalue(result, 0, i);
    size_t len = (size_t)PQgetlength(result, 0, i);
    uint64_t eight;
    uint32_t four;
    if (PQgetisnull(result, 0, i)) return (struct fp_db_value){.kind = FP_DB_NULL};
    switch (PQftype(result, i)) {
    case TYPE_INT8: memcpy(&eight, bytes, 8); return fp_db_number((int64_t)be64toh(eight));
    case TYPE_INT4: memcpy(&four, bytes, 4); return fp_db_number((int32_t)be32toh(four));
    case TYPE_BYTES: return fp_db_blob(bytes, len);
    default: return fp_db_text(bytes);
    }
}

/* ---- statements ---- */

struct answer {
    fp_db_row *row;
    void *context;
    bool stopped;
    uint64_t changed;
};

/* One result of a statement: a row, or its end. */
static bool take_result(struct postgresql_db *d, const PGresult *result, struct answer *a,
                        struct fp_error *error)
{
    struct fp_db_value columns[MOST_VALUES];
    int n = PQnfields(result);
    switch ((int)PQresultStatus(result)) {
    case PGRES_SINGLE_TUPLE:
        assert(n <= MOST_VALUES);
        for (int i = 0; i < n; i++) columns[i] = column_of(result, i);
        if (a->row && !a->stopped) a->stopped = !a->row(columns, (size_t)n, a->context);
        return true;
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
        a->changed = strtoull(PQcmdTuples((PGresult *)result), NULL, 10);
        return true;
    default: return fail_by(d, PQresultErrorMessage(result), error);
    }
}

/* The results of one statement. */
static bool take_answer(struct postgresql_db *d, struct answer *a, struct fp_error *error)
{
    bool ok = true;
    for (PGresult *result; (result = PQgetResult(d->connection)); PQclear(result))
        ok = take_result(d, result, a, error) && ok;
    return ok;
}

/* Reads all answers. `last` is that of the statement that was sent last, or NULL: nobody wants
 * it. */
static bool take_answers(struct postgresql_db *d, struct answer *last, struct fp_error *error)
{
    struct answer unwanted = {0};
    if (PQpipelineStatus(d->connection) == PQ_PIPELINE_OFF) return true;
    bool ok = PQpipelineSync(d->connection) || fail_by(d, PQerrorMessage(d->connection), error);
    for (; d->nwaiting; d->nwaiting--) ok = take_answer(d, &unwanted, error) && ok;
    if (last) {
        PQsetSingleRowMode(d->connection);
        ok = take_answer(d, last, error) && ok;
    }
    PQclear(PQgetResult(d->connection)); /* the end of what PQpipelineSync has sent */
    return ok;
}

/* For calls that libpq does not make in a pipeline. */
static bool leave_pipeline(struct postgresql_db *d, struct fp_error *error)
{
    bool ok = take_answers(d, NULL, error);
    return (PQexitPipelineMode(d->connection) ||
            fail_by(d, PQerrorMessage(d->connection), error)) &&
           ok;
}

static bool prepare(struct postgresql_db *d, const char *sql, const struct wire *w, size_t nvalues,
                    char name[16], struct fp_error *error)
{
    size_t i = 0;
    while (i < d->nprepared && d->prepared[i] != sql) i++;
    snprintf(name, 16, "s%zu", i);
    if (i < d->nprepared) return true;
    if (i == MOST_STATEMENTS) return fail(error, d->name, "too many statements");
    if (!leave_pipeline(d, error)) return false;
    PGresult *made = PQprepare(d->connection, name, sql, (int)nvalues, w->types);
    bool ok = PQresultStatus(made) == PGRES_COMMAND_OK;
    if (ok)
        d->prepared[d->nprepared++] = sql;
    else
        fail_by(d, PQresultErrorMessage(made), error);
    PQclear(made);
    return ok;
}

/* What begins or ends a transaction is not sent behind statements that may fail. */
static bool is_alone(const char *sql, size_t nvalues, struct postgresql_db *d,
                     struct fp_error *error)
{
    if (nvalues || !d->nwaiting) return true;
    return take_answers(d, NULL, error) || !strcmp(sql, "ROLLBACK");
}

static bool run_statement(struct fp_db *db, const char *sql, const struct fp_db_value *values,
                          size_t nvalues, fp_db_row *row, void *context, uint64_t *changed,
                          struct fp_error *error)
{
    struct postgresql_db *d = (struct postgresql_db *)db;
    struct answer a = {.row = row, .context = context};
    struct wire w;
    char name[16];
    assert(nvalues <= MOST_VALUES);
    for (size_t i = 0; i < nvalues; i++) put_value(&w, i, &values[i]);
    if (!is_alone(sql, nvalues, d, error) || !prepare(d, sql, &w, nvalues, name, error))
        return false;
    if (!PQenterPipelineMode(d->connection) ||
        !PQsendQueryPrepared(d->connection, name, (int)nvalues, w.values, w.lengths, w.formats, 1))
        return fail_by(d, PQerrorMessage(d->connection), error);
    if (nvalues && !row && !changed) {
        d->nwaiting++;
        return d->nwaiting < MOST_WAITING || take_answers(d, NULL, error);
    }
    bool ok = take_answers(d, &a, error);
    if (changed) *changed = a.changed;
    return ok;
}

static bool run_once(struct fp_db *db, const char *sql, struct fp_error *error)
{
    struct postgresql_db *d = (struct postgresql_db *)db;
    if (!leave_pipeline(d, error)) return false;
    PGresult *result = PQexec(d->connection, sql);
    bool ok = PQresultStatus(result) == PGRES_COMMAND_OK;
    if (!ok) fail_by(d, PQresultErrorMessage(result), error);
    PQclear(result);
    return ok;
}

/* Transactions that write take turns: counts of a run that goes on are the difference to what the
 * store has of it, and names get their numbers once. The number of the lock means nothing. */
const struct fp_db_driver footpath_postgresql_driver = {
    FP_DB_FUNCTIONS,
    .begin = "BEGIN",
    .begin_reading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    .lock = "SELECT 1 FROM pg_advisory_xact_lock(7166189)",
    .serial = "BIGSERIAL PRIMARY KEY",
    .blob = "BYTEA",
    .table_end = "",
    .has_meta = "SELECT count(*) FROM pg_class WHERE relname = 'fp_meta' AND relkind = 'r' AND "
                "pg_table_is_visible(oid)",
    .size =
        "SELECT (sum(pg_total_relation_size(c.oid)))::bigint FROM pg_class c JOIN pg_namespace n "
        "ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND c.relkind = 'r' AND "
        "c.relname IN ('fp_meta', 'fp_programs', 'fp_hosts', 'fp_modules', 'fp_records', "
        "'fp_seen', 'fp_live')",
};
