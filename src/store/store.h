/* A store: profiles of many processes and hosts over time, in a database (db.h). docs/store.md is
 * for users, docs/formats/store.md describes the tables.
 *
 *     struct fp_store *store = fp_store_open("store:PATH", FP_DB_WRITE, &error);
 *     fp_store_begin(store, &error);
 *     fp_store_add(store, "footpath.prof", bytes, len, &added, &error);    any number of times
 *     fp_store_commit(store, &error);            now it is on the disk, all of it or nothing
 *     fp_store_close(store);
 */
#ifndef FP_STORE_STORE_H
#define FP_STORE_STORE_H

#include "base/table.h"
#include "base/vec.h"
#include "profile/runs.h"
#include "store/db.h"
#include "store/storename.h"

enum { FP_STORE_SCHEMA = 1, FP_STORE_OLDEST_READER = 1 };

struct fp_store {
    struct fp_arena arena;
    struct fp_db *db;
    struct fp_store_name name;
    /* while something is written */
    struct fp_arena known; /* numbers of names, until a transaction is taken back */
    struct fp_strtable programs, hosts, modules;
    struct fp_table with_map; /* modules whose map is there */
    bool orphans;             /* some records of libraries do not know their build */
    void *compressor;         /* of storeblob.c */
};

/* text: the name of a store. The tables are made where there are none and `how` is FP_DB_CREATE;
 * else that is an error, and so is a schema that is too new. */
struct fp_store *fp_store_open(const char *text, enum fp_db_how how, struct fp_error *error);
void fp_store_close(struct fp_store *store);

bool fp_store_begin(struct fp_store *store, struct fp_error *error);
bool fp_store_begin_reading(struct fp_store *store, struct fp_error *error);
bool fp_store_commit(struct fp_store *store, struct fp_error *error);
void fp_store_rollback(struct fp_store *store);

/* ---- adding: storeput.c, storeadd.c ---- */

struct fp_store_added {
    uint64_t records; /* new ones */
    uint64_t known;   /* that the store had already */
    uint64_t no_map;  /* modules of whose map there is no trace */
};

/* One run's record. Of a run that goes on, what is new since it was last added. */
bool fp_store_put(struct fp_store *store, const struct fp_run *run, struct fp_store_added *added,
                  struct fp_error *error);
bool fp_store_put_map(struct fp_store *store, const struct fp_embedded_map *map,
                      struct fp_error *error);
/* The map of the module, from its file where that still is of this build. */
bool fp_store_find_map(struct fp_store *store, const struct fp_module_id *id,
                       struct fp_store_added *added, struct fp_error *error);
/* All runs and maps of a profile. Inside of a transaction. */
bool fp_store_add(struct fp_store *store, const char *name, const unsigned char *bytes, size_t len,
                  struct fp_store_added *added, struct fp_error *error);

/* Can all of the file be added? Else the error says why; nothing is written either way. */
bool fp_store_can_add(const char *name, const unsigned char *bytes, size_t len,
                      struct fp_error *error);
bool fp_store_fits(const struct fp_run *run, struct fp_error *error);
/* Has the store the map of a build, by its hexadecimal build-id? */
bool fp_store_has_map(struct fp_store *store, const char *build, bool *has, struct fp_error *error);

/* ---- reading: storeread.c ---- */

struct fp_store_answer {
    struct fp_writer profile; /* the bytes of a profile file */
    uint64_t records, runs;
    uint64_t other_builds; /* that match and are not in the answer */
    const char *others;    /* what they are, for a message; in the store's arena */
    bool by_hour;          /* summed, because there were too many */
};

/* What the store's name asks for. wanted: as --program (name, path or build-id of a program, or
 * "all"), or NULL. */
bool fp_store_read(struct fp_store *store, const char *wanted, struct fp_store_answer *answer,
                   struct fp_error *error);

/* ---- the rest ---- */

struct fp_store_build {
    int64_t program_id, build_id; /* numbers in the tables; build_id 0: not known */
    const char *program, *build;  /* path; hexadecimal */
    uint64_t records, runs, hosts, bytes;
    int64_t begin_ns, end_ns;
    bool has_map;
};

/* What there is, by program and build, the newest first; matching the name's filter. storelist.c */
struct fp_store_list {
    FP_VEC(struct fp_store_build) builds;
    FP_VEC(const char *) hosts;
    uint64_t size; /* bytes in all */
};
bool fp_store_list(struct fp_store *store, bool bytes, struct fp_store_list *list,
                   struct fp_error *error);

/* Reads all records and maps. What is damaged is an error. */
struct fp_store_checked {
    uint64_t records, runs, maps;
    uint64_t counts; /* the sum of all counters */
};
bool fp_store_check(struct fp_store *store, struct fp_store_checked *checked,
                    struct fp_error *error);

/* storeretain.c. Ages in nanoseconds; INT64_MAX: never. */
struct fp_store_ages {
    int64_t runs;  /* records older than this are summed into hours */
    int64_t hours; /* hours older than this into days */
    int64_t gone;  /* what is older than this is deleted */
};
struct fp_store_retained {
    uint64_t before, after, deleted; /* records */
};
bool fp_store_retain(struct fp_store *store, const struct fp_store_ages *ages, int64_t now_ns,
                     struct fp_store_retained *done, struct fp_error *error);
/* Deletes what matches the name's filter. */
bool fp_store_remove(struct fp_store *store, uint64_t *deleted, struct fp_error *error);

/* ---- shared by the files of this folder ---- */

/* A run's counts as they lie in the store: the run's record without host, program and module,
 * compressed where that helps. storeblob.c */
void fp_store_pack(struct fp_store *store, const struct fp_run *run, struct fp_writer *blob);
/* host, program and module are left for the caller to fill in. */
bool fp_store_unpack(struct fp_arena *arena, const char *name, const void *blob, size_t len,
                     struct fp_run *run, struct fp_error *error);
/* Bytes as they are or compressed; for maps. */
void fp_store_squeeze(struct fp_store *store, const void *bytes, size_t len, struct fp_writer *to);
bool fp_store_unsqueeze(struct fp_arena *arena, const char *name, const void *blob, size_t len,
                        struct fp_reader *reader, struct fp_error *error);

/* schema.c */
bool fp_store_make_tables(struct fp_db *db, struct fp_error *error);
bool fp_store_check_schema(struct fp_db *db, bool *empty, struct fp_error *error);

#endif
