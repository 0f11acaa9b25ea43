/* SQLite behind db.h: a store in one file.
 *
 * The journal is a write-ahead log, so readers and one writer do not wait for each other, and
 * `synchronous` is FULL: what is committed is on the disk. A writer waits for another for a
 * minute. Statements are kept prepared, found by the address of their text.
 *
 * Not handled: network file systems, on which SQLite's write-ahead log does not work; PostgreSQL
 * is for more than one machine.
 */
#include "store/db.h"

#include <assert.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MOST_STATEMENTS = 64, MOST_COLUMNS = 16, WAIT_MS = 60000 };

struct sqlite_db {
    struct fp_db db;
    sqlite3 *handle;
    struct {
        const char *sql;
        sqlite3_stmt *statement;
    } kept[MOST_STATEMENTS];
    size_t nkept;
    char *name;
};

static bool fail_by(struct sqlite_db *d, struct fp_error *error)
{
    return fp_fail(error, d->name, "%s", sqlite3_errmsg(d->handle));
}

static void close_db(struct fp_db *db)
{
    struct sqlite_db *d = (struct sqlite_db *)db;
    for (size_t i = 0; i < d->nkept; i++) sqlite3_finalize(d->kept[i].statement);
    sqlite3_close(d->handle);
    free(d->name);
    free(d);
}

/* Is there a file that is no database? SQLite says so only at the first query. */
static bool is_file(const char *name, enum fp_db_how how, struct fp_error *error)
{
    struct stat info;
    if (stat(name, &info) < 0) {
        if (errno == ENOENT && how == FP_DB_CREATE) return true;
        return fp_fail(error, name, "cannot open: %s%s", strerror(errno),
                       errno == ENOENT ? "; footpath store add makes a store" : "");
    }
    if (S_ISREG(info.st_mode)) return true;
    return fp_fail(error, name, "is no regular file, expected a store");
}

static bool open_handle(struct sqlite_db *d, const char *name, int flags, struct fp_error *error)
{
    sqlite3_close(d->handle);
    d->handle = NULL;
    if (sqlite3_open_v2(name, &d->handle, flags, NULL) != SQLITE_OK) return fail_by(d, error);
    sqlite3_busy_timeout(d->handle, WAIT_MS);
    sqlite3_db_config(d->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(d->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return true;
}

/* In a folder where nothing can be written there is no room for the write-ahead log. While there
 * is none, nobody writes: the file is read as it is. */
static bool open_as_it_is(struct sqlite_db *d, struct fp_error *error)
{
    char *uri = sqlite3_mprintf("file:"), *log = sqlite3_mprintf("%s-wal", d->name);
    struct stat info;
    for (const char *at = d->name; *at && uri; at++) {
        bool plain = !strchr("?#%", *at);
        char *longer = sqlite3_mprintf(plain ? "%s%c" : "%s%%%02x", uri, (unsigned char)*at);
        sqlite3_free(uri);
        uri = longer;
    }
    char *whole = sqlite3_mprintf("%s?immutable=1", uri);
    if (!uri || !log || !whole) abort();
    bool ok = stat(log, &info) < 0 || info.st_size == 0;
    if (!ok) fp_fail(error, d->name, "others write to it, and you may not write to its folder");
    ok = ok && open_handle(d, whole, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, error);
    sqlite3_free(uri);
    sqlite3_free(log);
    sqlite3_free(whole);
    return ok;
}

static bool open_to_read(struct sqlite_db *d, struct fp_error *error)
{
    if (!open_handle(d, d->name, SQLITE_OPEN_READONLY, error)) return false;
    int result = sqlite3_exec(d->handle, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL);
    if (result == SQLITE_READONLY || result == SQLITE_CANTOPEN) return open_as_it_is(d, error);
    return result == SQLITE_OK || fail_by(d, error);
}

static bool open_to_write(struct sqlite_db *d, enum fp_db_how how, struct fp_error *error)
{
    int flags = SQLITE_OPEN_READWRITE | (how == FP_DB_CREATE ? SQLITE_OPEN_CREATE : 0);
    return open_handle(d, d->name, flags, error) &&
           (sqlite3_exec(d->handle, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", NULL,
                         NULL, NULL) == SQLITE_OK ||
            fail_by(d, error));
}

static struct fp_db *open_db(const char *name, enum fp_db_how how, struct fp_error *error)
{
    struct sqlite_db *d = calloc(1, sizeof *d);
    if (!d || !(d->name = strdup(name))) abort();
    d->db = (struct fp_db){&fp_sqlite_driver, d->name};
    bool ok = is_file(name, how, error) &&
              (how == FP_DB_READ ? open_to_read(d, error) : open_to_write(d, how, error));
    if (ok && sqlite3_exec(d->handle, "PRAGMA cell_size_check = ON", NULL, NULL, NULL) != SQLITE_OK)
        ok = fail_by(d, error);
    if (ok) return &d->db;
    close_db(&d->db);
    return NULL;
}

static sqlite3_stmt *prepared(struct sqlite_db *d, const char *sql, struct fp_error *error)
{
    for (size_t i = 0; i < d->nkept; i++)
        if (d->kept[i].sql == sql) return d->kept[i].statement;
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(d->handle, sql, -1, &statement, NULL) != SQLITE_OK) {
        fail_by(d, error);
        return NULL;
    }
    if (d->nkept == MOST_STATEMENTS) sqlite3_finalize(d->kept[--d->nkept].statement);
    d->kept[d->nkept].sql = sql;
    d->kept[d->nkept++].statement = statement;
    return statement;
}

static int bind_value(sqlite3_stmt *s, int place, const struct fp_db_value *value)
{
    switch (value->kind) {
    case FP_DB_NULL: return sqlite3_bind_null(s, place);
    case FP_DB_NUMBER: return sqlite3_bind_int64(s, place, value->number);
    case FP_DB_TEXT:
        return sqlite3_bind_text64(s, place, value->bytes, value->len, SQLITE_STATIC, SQLITE_UTF8);
    case FP_DB_BLOB:
        /* a NULL pointer would be NULL, not an empty blob */
        return sqlite3_bind_blob64(s, place, value->bytes ? value->bytes : "", value->len,
                                   SQLITE_STATIC);
    }
    return SQLITE_MISUSE;
}

static struct fp_db_value column_of(sqlite3_stmt *s, int i)
{
    struct fp_db_value value = {.kind = FP_DB_NULL};
    switch (sqlite3_column_type(s, i)) {
    case SQLITE_INTEGER: return fp_db_number(sqlite3_column_int64(s, i));
    case SQLITE_FLOAT: return fp_db_number((int64_t)sqlite3_column_double(s, i));
    case SQLITE_TEXT: value = fp_db_text((const char *)sqlite3_column_text(s, i)); break;
    case SQLITE_BLOB:
        value.kind = FP_DB_BLOB;
        value.bytes = sqlite3_column_blob(s, i);
        value.len = (size_t)sqlite3_column_bytes(s, i);
    }
    return value;
}

static int step_rows(sqlite3_stmt *s, fp_db_row *row, void *context)
{
    struct fp_db_value columns[MOST_COLUMNS];
    int result, n = sqlite3_column_count(s);
    assert(n <= MOST_COLUMNS);
    while ((result = sqlite3_step(s)) == SQLITE_ROW) {
        for (int i = 0; i < n; i++) columns[i] = column_of(s, i);
        if (row && !row(columns, (size_t)n, context)) return SQLITE_DONE;
    }
    return result;
}

static bool run_statement(struct fp_db *db, const char *sql, const struct fp_db_value *values,
                          size_t nvalues, fp_db_row *row, void *context, uint64_t *changed,
                          struct fp_error *error)
{
    struct sqlite_db *d = (struct sqlite_db *)db;
    sqlite3_stmt *s = prepared(d, sql, error);
    if (!s) return false;
    assert((size_t)sqlite3_bind_parameter_count(s) == nvalues);
    int result = SQLITE_OK;
    for (size_t i = 0; i < nvalues && result == SQLITE_OK; i++)
        result = bind_value(s, (int)i + 1, &values[i]);
    if (result == SQLITE_OK) result = step_rows(s, row, context);
    if (result != SQLITE_DONE) fail_by(d, error);
    if (changed) *changed = (uint64_t)sqlite3_changes64(d->handle);
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return result == SQLITE_DONE;
}

static bool run_once(struct fp_db *db, const char *sql, struct fp_error *error)
{
    struct sqlite_db *d = (struct sqlite_db *)db;
    return sqlite3_exec(d->handle, sql, NULL, NULL, NULL) == SQLITE_OK || fail_by(d, error);
}

const struct fp_db_driver fp_sqlite_driver = {
    FP_DB_FUNCTIONS,
    .begin = "BEGIN IMMEDIATE",
    .begin_reading = "BEGIN",
    .serial = "INTEGER PRIMARY KEY",
    .blob = "BLOB",
    .table_end = " WITHOUT ROWID",
    .has_meta = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'fp_meta'",
    .size = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
};
