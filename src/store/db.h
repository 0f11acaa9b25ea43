/* The little of a database that the store needs. Two drivers have it: SQLite (sqlitedb.c) and
 * PostgreSQL (postgresql.c, a module of its own that is loaded when it is asked for). The SQL text
 * is the same for both: parameters are $1, $2, ... in the order of their first use.
 *
 *     struct fp_db *db = fp_db_open(&arena, name, how, &error);
 *     FP_DB_RUN(db, "SELECT id FROM hosts WHERE name = $1", take_row, &context, &error,
 *               fp_db_text(name));
 *     db->driver->close(db);
 *
 * A row's values are valid until its callback returns. A callback must not use the database: its
 * query is still going on.
 */
#ifndef FP_STORE_DB_H
#define FP_STORE_DB_H

#include "base/error.h"

#include <string.h>

enum fp_db_kind { FP_DB_NULL, FP_DB_NUMBER, FP_DB_TEXT, FP_DB_BLOB };

struct fp_db_value {
    enum fp_db_kind kind;
    int64_t number;
    const void *bytes; /* a text has a NUL behind it */
    size_t len;
};

static inline struct fp_db_value fp_db_number(int64_t number)
{
    return (struct fp_db_value){.kind = FP_DB_NUMBER, .number = number};
}

static inline struct fp_db_value fp_db_text(const char *text)
{
    return (struct fp_db_value){.kind = FP_DB_TEXT, .bytes = text, .len = strlen(text)};
}

static inline struct fp_db_value fp_db_blob(const void *bytes, size_t len)
{
    return (struct fp_db_value){.kind = FP_DB_BLOB, .bytes = bytes, .len = len};
}

struct fp_db;

/* Returns false to stop. */
typedef bool fp_db_row(const struct fp_db_value *columns, size_t ncolumns, void *context);

/* How a database is opened. */
enum fp_db_how { FP_DB_READ, FP_DB_WRITE, FP_DB_CREATE };

enum { FP_DB_DRIVER_VERSION = 1 }; /* of this struct: the module is of the same build */

struct fp_db_driver {
    int version;
    /* NULL with an error */
    struct fp_db *(*open)(const char *name, enum fp_db_how how, struct fp_error *error);
    void (*close)(struct fp_db *db);
    /* One statement. `row` may be NULL. *changed, where not NULL, is how many rows it changed. */
    bool (*run)(struct fp_db *db, const char *sql, const struct fp_db_value *values, size_t nvalues,
                fp_db_row *row, void *context, uint64_t *changed, struct fp_error *error);
    /* One statement that is not kept prepared. */
    bool (*once)(struct fp_db *db, const char *sql, struct fp_error *error);
    const char *begin;         /* a transaction that writes: they take turns */
    const char *begin_reading; /* one that sees one state of the database */
    const char *lock;          /* the first query of one that writes, where `begin` does not lock */
    const char *serial, *blob; /* types of columns: a number that counts by itself, and bytes */
    const char *table_end;     /* behind a table whose key is all that matters */
    const char *has_meta;      /* a query: is there a table fp_meta? */
    const char *size;          /* a query for the bytes that the database takes */
};

/* How a driver begins: all have functions of these names. */
#define FP_DB_FUNCTIONS                                                                        \
    .version = FP_DB_DRIVER_VERSION, .open = open_db, .close = close_db, .run = run_statement, \
    .once = run_once

struct fp_db {
    const struct fp_db_driver *driver;
    const char *name; /* for messages: no password */
};

extern const struct fp_db_driver fp_sqlite_driver;

/* What the module of PostgreSQL has; NULL with an error where there is no such module. */
#define FP_POSTGRESQL_SYMBOL "footpath_postgresql_driver"
const struct fp_db_driver *fp_postgresql_driver(struct fp_error *error);

#define FP_DB_RUN(db, sql, row, context, error, ...)                           \
    ((db)->driver->run((db), (sql), (const struct fp_db_value[]){__VA_ARGS__}, \
                       sizeof((const struct fp_db_value[]){__VA_ARGS__}) /     \
                           sizeof(struct fp_db_value),                         \
                       (row), (context), NULL, (error)))

/* A statement without values. Its text stays valid: drivers know statements by its address. */
static inline bool fp_db_do(struct fp_db *db, const char *sql, struct fp_error *error)
{
    return db->driver->run(db, sql, NULL, 0, NULL, NULL, NULL, error);
}

/* The same for a text that goes away. */
static inline bool fp_db_once(struct fp_db *db, const char *sql, struct fp_error *error)
{
    return db->driver->once(db, sql, error);
}

#endif
