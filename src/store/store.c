/* Opening a store, and its transactions: see store.h. */
#include "store/store.h"

#include <stdlib.h>
#include <zstd.h>

static void forget_names(struct fp_store *store)
{
    fp_arena_free(&store->known);
    store->known = (struct fp_arena){0};
    fp_strtable_init(&store->programs, &store->known);
    fp_strtable_init(&store->hosts, &store->known);
    fp_strtable_init(&store->modules, &store->known);
    fp_table_init(&store->with_map, &store->known);
}

void fp_store_close(struct fp_store *store)
{
    if (!store) return;
    if (store->db) store->db->driver->close(store->db);
    ZSTD_freeCCtx(store->compressor);
    fp_arena_free(&store->known);
    fp_arena_free(&store->arena);
    free(store);
}

static bool open_tables(struct fp_store *store, enum fp_db_how how, struct fp_error *error)
{
    bool empty;
    if (!fp_store_check_schema(store->db, &empty, error)) return false;
    if (!empty) return true;
    if (how == FP_DB_CREATE) return fp_store_make_tables(store->db, error);
    return fp_fail(error, store->db->name, "is no store of footpath; footpath store add makes one");
}

struct fp_store *fp_store_open(const char *text, enum fp_db_how how, struct fp_error *error)
{
    struct fp_store *store = calloc(1, sizeof *store);
    if (!store) abort();
    forget_names(store);
    bool ok = fp_store_name_parse(&store->arena, fp_arena_strdup(&store->arena, text),
                                  fp_store_now(), &store->name, error);
    const struct fp_db_driver *driver = &fp_sqlite_driver;
    if (ok && store->name.postgresql) ok = (driver = fp_postgresql_driver(error)) != NULL;
    if (ok) ok = (store->db = driver->open(store->name.place, how, error)) != NULL;
    if (ok && open_tables(store, how, error)) return store;
    fp_store_close(store);
    return NULL;
}

static bool note_number(const struct fp_db_value *columns, size_t n, void *context)
{
    (void)n;
    *(bool *)context = columns[0].kind == FP_DB_NUMBER;
    return true;
}

/* Names may have got numbers since, or lost them by another's retention. */
bool fp_store_begin(struct fp_store *store, struct fp_error *error)
{
    struct fp_db *db = store->db;
    forget_names(store);
    store->orphans = false;
    if (!fp_db_do(db, db->driver->begin, error)) return false;
    bool ok = !db->driver->lock || fp_db_do(db, db->driver->lock, error);
    ok = ok && db->driver->run(db, "SELECT id FROM fp_records WHERE build = 0 LIMIT 1", NULL, 0,
                               note_number, &store->orphans, NULL, error);
    if (!ok) fp_store_rollback(store);
    return ok;
}

bool fp_store_begin_reading(struct fp_store *store, struct fp_error *error)
{
    return fp_db_do(store->db, store->db->driver->begin_reading, error);
}

bool fp_store_commit(struct fp_store *store, struct fp_error *error)
{
    if (fp_db_do(store->db, "COMMIT", error)) return true;
    fp_store_rollback(store);
    return false;
}

void fp_store_rollback(struct fp_store *store)
{
    struct fp_error ignored = {0};
    fp_db_do(store->db, "ROLLBACK", &ignored);
    forget_names(store);
}
