/* Adding one run's record to a store, exactly once.
 *
 * A run is known by its id and module (fp_seen). A record that is in the store already adds
 * nothing, however often its file is added. A program that dumps its profile while it runs writes
 * all that it has counted so far each time. Of such a record the store adds what is new since the
 * record before it, which lies in fp_live: so the sum over time is what was counted, and each piece
 * has its own time. A counter that is lower than before says that the program has reset its
 * counts (footpath_reset): then the run begins anew, as it does in a profile file.
 */
#include "store/store.h"

#include "base/checksum.h"
#include "base/names.h"
#include "base/plain.h"
#include "footpath/profile_abi.h"
#include "profile/profile.h"

#include <stdio.h>

static bool take_number(const struct fp_db_value *columns, size_t n, void *context)
{
    (void)n;
    *(int64_t *)context = columns[0].number;
    return true;
}

/* ---- names and their numbers ---- */

static bool number_of_program(struct fp_store *store, const char *path, int64_t *id,
                              struct fp_error *error)
{
    uint64_t *known = fp_strtable_add(&store->programs, path);
    if (!*known) {
        *id = 0;
        if (!FP_DB_RUN(
                store->db,
                "INSERT INTO fp_programs (path, name) VALUES ($1, $2) ON CONFLICT DO NOTHING", NULL,
                NULL, error, fp_db_text(path), fp_db_text(fp_base_name(path))) ||
            !FP_DB_RUN(store->db, "SELECT id FROM fp_programs WHERE path = $1", take_number, id,
                       error, fp_db_text(path)))
            return false;
        *known = (uint64_t)*id;
    }
    *id = (int64_t)*known;
    return true;
}

static bool number_of_host(struct fp_store *store, const char *name, int64_t *id,
                           struct fp_error *error)
{
    uint64_t *known = fp_strtable_add(&store->hosts, name);
    if (!*known) {
        *id = 0;
        if (!FP_DB_RUN(store->db, "INSERT INTO fp_hosts (name) VALUES ($1) ON CONFLICT DO NOTHING",
                       NULL, NULL, error, fp_db_text(name)) ||
            !FP_DB_RUN(store->db, "SELECT id FROM fp_hosts WHERE name = $1", take_number, id, error,
                       fp_db_text(name)))
            return false;
        *known = (uint64_t)*id;
    }
    *id = (int64_t)*known;
    return true;
}

static const char *hex_of(struct fp_arena *arena, const unsigned char *bytes, size_t len)
{
    char *text = fp_arena_alloc(arena, 2 * len + 1);
    for (size_t i = 0; i < len; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return text;
}

/* What makes two modules the same (fp_same_module), as a text: sizes, then build-id or path. */
static const char *identity_of(struct fp_arena *arena, const struct fp_module_id *id)
{
    return fp_arena_printf(
        arena, "%llx.%llx.%s%s", (unsigned long long)id->sections.counters_size,
        (unsigned long long)id->sections.tables_size, id->build_id_len ? "" : "/",
        id->build_id_len ? hex_of(arena, id->build_id, id->build_id_len) : id->path);
}

struct found_module {
    int64_t id;
    bool has_map;
};

static bool take_module(const struct fp_db_value *columns, size_t n, void *context)
{
    struct found_module *m = context;
    (void)n;
    m->id = columns[0].number;
    m->has_map = columns[1].number != 0;
    return true;
}

static bool make_module(struct fp_store *store, struct fp_arena *arena,
                        const struct fp_module_id *id, const char *identity,
                        struct found_module *found, struct fp_error *error)
{
    struct fp_writer module = {0};
    fp_module_encode(&module, id);
    const char *path = fp_plain(arena, id->path);
    bool ok = FP_DB_RUN(store->db,
                        "INSERT INTO fp_modules (identity, module, path, build) "
                        "VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING",
                        NULL, NULL, error, fp_db_blob(identity, strlen(identity)),
                        fp_db_blob(module.bytes, module.len), fp_db_text(path),
                        fp_db_text(hex_of(arena, id->build_id, id->build_id_len))) &&
              FP_DB_RUN(store->db,
                        "SELECT id, CASE WHEN map IS NULL THEN 0 ELSE 1 END FROM fp_modules "
                        "WHERE identity = $1",
                        take_module, found, error, fp_db_blob(identity, strlen(identity)));
    fp_writer_free(&module);
    return ok;
}

static bool number_of_module(struct fp_store *store, const struct fp_module_id *id, int64_t *number,
                             struct fp_error *error)
{
    struct fp_arena arena = {0};
    struct found_module found = {0};
    const char *identity = identity_of(&arena, id);
    uint64_t *known = fp_strtable_add(&store->modules, identity);
    bool ok = *known || make_module(store, &arena, id, identity, &found, error);
    if (ok && !*known) {
        *known = (uint64_t)found.id;
        if (found.has_map) *fp_table_add(&store->with_map, *known) = 1;
    }
    *number = (int64_t)*known;
    fp_arena_free(&arena);
    return ok;
}

/* ---- maps ---- */

bool fp_store_put_map(struct fp_store *store, const struct fp_embedded_map *map,
                      struct fp_error *error)
{
    int64_t module;
    if (!number_of_module(store, &map->module, &module, error)) return false;
    uint64_t *has = fp_table_add(&store->with_map, (uint64_t)module);
    if (*has) return true;
    struct fp_writer payload = {0}, blob = {0};
    fp_map_record_encode(&payload, map);
    fp_store_squeeze(store, payload.bytes, payload.len, &blob);
    *has = 1;
    bool ok = FP_DB_RUN(store->db, "UPDATE fp_modules SET map = $1 WHERE id = $2 AND map IS NULL",
                        NULL, NULL, error, fp_db_blob(blob.bytes, blob.len), fp_db_number(module));
    fp_writer_free(&payload);
    fp_writer_free(&blob);
    return ok;
}

bool fp_store_find_map(struct fp_store *store, const struct fp_module_id *id,
                       struct fp_store_added *added, struct fp_error *error)
{
    struct fp_arena arena = {0};
    struct fp_map_file file = {0};
    struct fp_error ignored = {0};
    int64_t module;
    bool ok = number_of_module(store, id, &module, error);
    uint64_t *has = ok ? fp_table_add(&store->with_map, (uint64_t)module) : NULL;
    if (ok && !*has) {
        bool found = id->build_id_len && fp_program_map(&arena, id->path, &file, &ignored) &&
                     file.build_id_len == id->build_id_len &&
                     !memcmp(file.build_id, id->build_id, id->build_id_len);
        struct fp_embedded_map map = {*id, file.map, file.live, file.map_len, file.live_len};
        if (found) ok = fp_store_put_map(store, &map, error);
        if (!found) *has = 2; /* said once */
        added->no_map += !found;
    }
    fp_arena_free(&arena);
    return ok;
}

/* ---- the row of a run ---- */

struct adding {
    struct fp_store *store;
    const struct fp_run *run;
    int64_t program, host, module, build;
    int64_t run_id;
    bool is_main, going;
};

static struct fp_db_value begin_of(const struct adding *a)
{
    return fp_db_number((int64_t)a->run->start_ns);
}

/* Sums that tools wrote have no id of their own: they are known by what they hold. */
static int64_t id_of_run(const struct fp_run *run)
{
    if (run->id && !(run->flags & FP_RUN_MERGED)) return (int64_t)run->id;
    struct fp_writer bytes = {0};
    fp_run_encode(&bytes, run);
    uint64_t id = fp_checksum(bytes.bytes, bytes.len, 0);
    fp_writer_free(&bytes);
    return (int64_t)id;
}

static bool find_numbers(struct adding *a, struct fp_error *error)
{
    struct fp_arena arena = {0};
    const struct fp_run *run = a->run;
    bool ok = number_of_program(a->store, fp_plain(&arena, run->program), &a->program, error) &&
              number_of_host(a->store, fp_plain(&arena, run->host), &a->host, error) &&
              number_of_module(a->store, &run->module, &a->module, error);
    fp_arena_free(&arena);
    a->is_main = !strcmp(run->program, run->module.path);
    a->build = a->is_main ? a->module : 0;
    if (!ok || a->is_main) return ok;
    return FP_DB_RUN(a->store->db,
                     "SELECT build FROM fp_seen WHERE begin_ns = $1 AND run_id = $2 AND build <> 0",
                     take_number, &a->build, error, begin_of(a), fp_db_number(a->run_id));
}

static bool insert_record(struct adding *a, const struct fp_run *run, struct fp_error *error)
{
    struct fp_writer blob = {0};
    fp_store_pack(a->store, run, &blob);
    bool ok = FP_DB_RUN(
        a->store->db,
        "INSERT INTO fp_records (program, build, module, host, span, begin_ns, end_ns, pid, "
        "run_id, runs, counts) VALUES ($1, $2, $3, $4, 0, $5, $6, $7, $8, $9, $10)",
        NULL, NULL, error, fp_db_number(a->program), fp_db_number(a->build),
        fp_db_number(a->module), fp_db_number(a->host), fp_db_number((int64_t)run->start_ns),
        fp_db_number((int64_t)run->end_ns), fp_db_number((int64_t)run->pid),
        fp_db_number(a->run_id), fp_db_number((int64_t)run->runs),
        fp_db_blob(blob.bytes, blob.len));
    fp_writer_free(&blob);
    if (!a->build) a->store->orphans = true;
    return ok;
}

/* Records of the run's libraries that came before that of its executable. */
static bool adopt_orphans(struct adding *a, struct fp_error *error)
{
    if (!a->is_main || !a->store->orphans) return true;
    return FP_DB_RUN(a->store->db,
                     "UPDATE fp_records SET build = $1 WHERE run_id = $2 AND build = 0", NULL, NULL,
                     error, fp_db_number(a->build), fp_db_number(a->run_id));
}

/* ---- runs that go on ---- */

static bool keep_live(struct adding *a, struct fp_error *error)
{
    if (!a->going)
        return FP_DB_RUN(
            a->store->db, "DELETE FROM fp_live WHERE begin_ns = $1 AND run_id = $2 AND module = $3",
            NULL, NULL, error, begin_of(a), fp_db_number(a->run_id), fp_db_number(a->module));
    struct fp_writer blob = {0};
    fp_store_pack(a->store, a->run, &blob);
    bool ok =
        FP_DB_RUN(a->store->db,
                  "INSERT INTO fp_live (begin_ns, run_id, module, counts) VALUES ($1, $2, $3, $4) "
                  "ON CONFLICT (begin_ns, run_id, module) DO UPDATE SET counts = excluded.counts",
                  NULL, NULL, error, begin_of(a), fp_db_number(a->run_id), fp_db_number(a->module),
                  fp_db_blob(blob.bytes, blob.len));
    fp_writer_free(&blob);
    return ok;
}

/* Counters of `old` with the sign turned, for sums that wrap. */
static void negate(struct fp_run *old)
{
    for (size_t i = 0; i < old->ncounters; i++) old->counters[i].count = -old->counters[i].count;
    for (size_t i = 0; i < old->ntables; i++) old->tables[i].count = -old->tables[i].count;
    for (size_t i = 0; i < old->nin_flight; i++) old->in_flight[i].count = -old->in_flight[i].count;
}

/* The same for functions that are not exact, of which sums do not wrap. */
static bool subtract_caught(struct fp_run *piece, const struct fp_run *old)
{
    for (size_t i = 0; i < old->ncaught; i++) {
        size_t k = 0;
        while (k < piece->ncaught && piece->caught[k].function != old->caught[i].function) k++;
        if (k == piece->ncaught || piece->caught[k].count < old->caught[i].count) return false;
        piece->caught[k].count -= old->caught[i].count;
    }
    return true;
}

/* Did no counter go down? A difference above half of the range is one below 0. */
static bool has_grown(const struct fp_counters *counters)
{
    for (size_t i = 0; i < counters->len; i++)
        if (counters->at[i].count > INT64_MAX) return false;
    return true;
}

static void drop_zeros(struct fp_run *piece)
{
    size_t tables = 0, in_flight = 0, caught = 0;
    for (size_t i = 0; i < piece->ntables; i++)
        if (piece->tables[i].count) piece->tables[tables++] = piece->tables[i];
    for (size_t i = 0; i < piece->nin_flight; i++)
        if (piece->in_flight[i].count) piece->in_flight[in_flight++] = piece->in_flight[i];
    for (size_t i = 0; i < piece->ncaught; i++)
        if (piece->caught[i].count) piece->caught[caught++] = piece->caught[i];
    piece->ntables = tables, piece->nin_flight = in_flight, piece->ncaught = caught;
}

/* What the run has counted since `old`. false: its counters were reset meanwhile. */
static bool piece_since(struct fp_profile *work, const struct fp_run *now, struct fp_run *old,
                        struct fp_run *piece)
{
    size_t n;
    negate(old);
    old->module = now->module;
    old->host = now->host, old->program = now->program;
    struct fp_run empty = *now; /* makes the module, whose sums are to wrap */
    empty.ncounters = empty.ntables = empty.nin_flight = empty.ncaught = 0;
    fp_profile_add_run(work, &empty);
    work->modules.at[0]->counters.wraps = work->modules.at[0]->tables.wraps = true;
    fp_profile_add_run(work, now);
    struct fp_run without_caught = *old;
    without_caught.ncaught = 0;
    fp_profile_add_run(work, &without_caught);
    if (!has_grown(&work->modules.at[0]->counters) || !has_grown(&work->modules.at[0]->tables))
        return false;
    *piece = *fp_profile_merged(work, &n);
    if (!subtract_caught(piece, old)) return false;
    drop_zeros(piece);
    piece->flags = now->flags;
    piece->runs = 0;
    piece->start_ns = old->end_ns;
    piece->end_ns = now->end_ns;
    return true;
}

struct live_row {
    struct fp_arena arena;
    const unsigned char *blob;
    size_t len;
};

static bool take_live(const struct fp_db_value *columns, size_t n, void *context)
{
    struct live_row *row = context;
    (void)n;
    row->blob =
        (const unsigned char *)fp_arena_strndup(&row->arena, columns[0].bytes, columns[0].len);
    row->len = columns[0].len;
    return true;
}

/* Takes back the pieces of a run whose counters were reset. Those that were summed into hours
 * stay. */
static bool begin_anew(struct adding *a, struct fp_error *error)
{
    return FP_DB_RUN(a->store->db,
                     "DELETE FROM fp_records WHERE program = $1 AND end_ns >= $2 AND span = 0 AND "
                     "run_id = $3 AND module = $4",
                     NULL, NULL, error, fp_db_number(a->program),
                     fp_db_number((int64_t)a->run->start_ns), fp_db_number(a->run_id),
                     fp_db_number(a->module)) &&
           insert_record(a, a->run, error);
}

static bool put_next_piece(struct adding *a, struct fp_error *error)
{
    struct live_row row = {0};
    struct fp_run old, piece;
    bool ok = FP_DB_RUN(
        a->store->db,
        "SELECT counts FROM fp_live WHERE begin_ns = $1 AND run_id = $2 AND module = $3", take_live,
        &row, error, begin_of(a), fp_db_number(a->run_id), fp_db_number(a->module));
    if (ok && !row.blob)
        ok = fp_fail(error, a->store->db->name, "a run that goes on has no counts");
    ok = ok && fp_store_unpack(&row.arena, a->store->db->name, row.blob, row.len, &old, error);
    struct fp_profile *work = fp_profile_new();
    work->brief = true;
    if (ok && piece_since(work, a->run, &old, &piece)) {
        if (piece.ncounters || piece.ntables || piece.nin_flight || piece.ncaught)
            ok = insert_record(a, &piece, error);
    } else if (ok) {
        ok = begin_anew(a, error);
    }
    fp_profile_free(work);
    fp_arena_free(&row.arena);
    return ok && FP_DB_RUN(a->store->db,
                           "UPDATE fp_seen SET end_ns = $1, going = $2 WHERE begin_ns = $3 AND "
                           "run_id = $4 AND module = $5",
                           NULL, NULL, error, fp_db_number((int64_t)a->run->end_ns),
                           fp_db_number(a->going), begin_of(a), fp_db_number(a->run_id),
                           fp_db_number(a->module));
}

/* ---- one record ---- */

struct seen_row {
    int64_t end_ns;
    bool going;
};

static bool take_seen(const struct fp_db_value *columns, size_t n, void *context)
{
    struct seen_row *row = context;
    (void)n;
    row->end_ns = columns[0].number;
    row->going = columns[1].number != 0;
    return true;
}

/* Is the run new? Where the store has it, *seen says up to when. */
static bool note_seen(struct adding *a, bool *is_new, struct seen_row *seen, struct fp_error *error)
{
    const struct fp_db_value values[] = {begin_of(a),
                                         fp_db_number(a->run_id),
                                         fp_db_number(a->module),
                                         fp_db_number((int64_t)a->run->end_ns),
                                         fp_db_number(a->is_main ? a->build : 0),
                                         fp_db_number(a->going)};
    uint64_t changed;
    if (!a->store->db->driver->run(
            a->store->db,
            "INSERT INTO fp_seen (begin_ns, run_id, module, end_ns, build, going) "
            "VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING",
            values, sizeof values / sizeof *values, NULL, NULL, &changed, error))
        return false;
    *is_new = changed != 0;
    return *is_new || FP_DB_RUN(a->store->db,
                                "SELECT end_ns, going FROM fp_seen WHERE begin_ns = $1 AND run_id "
                                "= $2 AND module = $3",
                                take_seen, seen, error, values[0], values[1], values[2]);
}

/* The last record of a run counts, whatever its clock says; of those before it, a later one. */
static bool is_later(const struct adding *a, const struct seen_row *seen)
{
    return seen->going && (!a->going || (int64_t)a->run->end_ns > seen->end_ns);
}

bool fp_store_fits(const struct fp_run *run, struct fp_error *error)
{
    if (run->start_ns <= INT64_MAX && run->end_ns <= INT64_MAX && run->pid <= INT64_MAX &&
        run->runs <= INT64_MAX)
        return true;
    return fp_fail(error, NULL, "a run has a time or a number that cannot be");
}

bool fp_store_has_map(struct fp_store *store, const char *build, bool *has, struct fp_error *error)
{
    int64_t found = 0;
    bool ok = FP_DB_RUN(store->db, "SELECT id FROM fp_modules WHERE build = $1 AND map IS NOT NULL",
                        take_number, &found, error, fp_db_text(build));
    *has = found != 0;
    return ok;
}

bool fp_store_put(struct fp_store *store, const struct fp_run *run, struct fp_store_added *added,
                  struct fp_error *error)
{
    struct adding a = {.store = store, .run = run, .run_id = id_of_run(run)};
    struct seen_row seen = {0};
    bool is_new;
    if (!fp_store_fits(run, error)) return false;
    a.going = (run->flags & FP_RUN_UNFINISHED) != 0;
    if (!find_numbers(&a, error) || !note_seen(&a, &is_new, &seen, error)) return false;
    if (!is_new && !is_later(&a, &seen)) {
        added->known++;
        return true;
    }
    added->records++;
    bool ok = is_new ? insert_record(&a, run, error) : put_next_piece(&a, error);
    if (ok && (a.going || !is_new)) ok = keep_live(&a, error);
    return ok && adopt_orphans(&a, error);
}
