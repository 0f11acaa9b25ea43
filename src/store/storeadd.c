/* Adding a profile file to a store: its runs and its maps. Inside of a transaction that the caller
 * began; a file that is bad adds nothing if the caller takes the transaction back. */
#include "store/store.h"

#include "profile/unfinished.h"

struct adding_file {
    struct fp_store *store;
    struct fp_store_added *added;
    struct fp_unfinished unfinished;
    struct fp_arena arena;
    FP_VEC(struct fp_module_id) modules;
    struct fp_error *error;
    bool ok;
};

static void note_module(struct adding_file *a, const struct fp_module_id *id)
{
    for (size_t i = 0; i < a->modules.len; i++)
        if (fp_same_module(&a->modules.at[i], id)) return;
    struct fp_module_id copy = *id;
    copy.path = fp_arena_strdup(&a->arena, id->path);
    copy.build_id = (const unsigned char *)fp_arena_strndup(&a->arena, (const char *)id->build_id,
                                                            id->build_id_len);
    fp_vec_push(&a->arena, &a->modules, copy);
}

static void put_run(struct adding_file *a, const struct fp_run *run)
{
    note_module(a, &run->module);
    a->ok = a->ok && fp_store_put(a->store, run, a->added, a->error);
}

static bool take_run(struct fp_arena *arena, const struct fp_run *run, void *context)
{
    struct adding_file *a = context;
    (void)arena;
    if (fp_unfinished_take(&a->unfinished, run)) put_run(a, run);
    return a->ok;
}

static bool take_map(const struct fp_embedded_map *map, void *context)
{
    struct adding_file *a = context;
    a->ok = fp_store_put_map(a->store, map, a->error);
    return a->ok;
}

/* A combined profile has distributions, of which the runs cannot be had. */
static bool refuse_combined(struct fp_reader *payload, void *context)
{
    struct adding_file *a = context;
    fp_fail(a->error, payload->file, "is a combined profile; a store takes profiles of runs");
    return a->ok = false;
}

static bool check_run(struct fp_arena *arena, const struct fp_run *run, void *context)
{
    struct adding_file *a = context;
    (void)arena;
    return a->ok = fp_store_fits(run, a->error);
}

static bool check_map(const struct fp_embedded_map *map, void *context)
{
    (void)map;
    (void)context;
    return true; /* reading it is the check */
}

bool fp_store_can_add(const char *name, const unsigned char *bytes, size_t len,
                      struct fp_error *error)
{
    struct adding_file a = {.error = error, .ok = true};
    const struct fp_profile_visitor visitor = {
        .run = check_run, .map = check_map, .combined = refuse_combined, .context = &a};
    bool cut;
    return fp_profile_visit(bytes, len, name, &visitor, &cut, error) && a.ok;
}

bool fp_store_add(struct fp_store *store, const char *name, const unsigned char *bytes, size_t len,
                  struct fp_store_added *added, struct fp_error *error)
{
    struct adding_file a = {.store = store, .added = added, .error = error, .ok = true};
    const struct fp_profile_visitor visitor = {
        .run = take_run, .map = take_map, .combined = refuse_combined, .context = &a};
    bool cut;
    a.ok = fp_profile_visit(bytes, len, name, &visitor, &cut, error) && a.ok;
    for (size_t i = 0; a.ok && i < a.unfinished.runs.len; i++)
        put_run(&a, &a.unfinished.runs.at[i]);
    for (size_t i = 0; a.ok && i < a.modules.len; i++)
        a.ok = fp_store_find_map(store, &a.modules.at[i], added, error);
    fp_arena_free(&a.unfinished.arena);
    fp_arena_free(&a.arena);
    return a.ok;
}
