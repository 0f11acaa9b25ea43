/* Combining the runs of a file: see combine.h. A run is added when all of its records are
 * there; what a run adds is trial.c's. */
#include "combined/combiner.h"

#include "base/io.h"
#include "base/names.h"
#include "footpath/profile_abi.h"
#include "profile/aside.h"

#include <string.h>

/* The records of a run that is not whole yet. */
struct part_of_run {
    uint64_t id;
    struct fp_unfinished records;
};

struct combining {
    struct fp_combiner *combiner;
    struct fp_combined *into;
    struct fp_unfinished waiting;
    struct fp_combine_notes notes;
    struct fp_combine_going *going;
    struct fp_arena arena;
    struct fp_table left;  /* id of a run -> its records that are still to come */
    struct fp_table parts; /* id -> 1 + index in pending */
    FP_VEC(struct part_of_run) pending;
    const char *path;
    struct fp_error *error;
    bool check_only;
};

static bool goes_on(const struct combining *r, const struct fp_run *records, size_t n)
{
    for (size_t i = 0; r->going && i < n; i++)
        if (r->going->goes_on(&records[i])) return true;
    return false;
}

/* All records of a run. */
static bool take_run(struct combining *r, const struct fp_run *records, size_t n)
{
    if (goes_on(r, records, n)) {
        for (size_t i = 0; i < n; i++) fp_unfinished_keep(&r->going->kept, &records[i]);
        return true;
    }
    if (!fp_combine_run(r->combiner, r->into, records, n, r->error)) return false;
    r->into->runs++;
    for (size_t i = 0; i < n; i++) r->notes.merged += records[i].runs > 1;
    return true;
}

static struct fp_unfinished *part_of(struct combining *r, uint64_t id)
{
    uint64_t *index = fp_table_add(&r->parts, id);
    if (!*index) {
        struct part_of_run part = {.id = id};
        fp_vec_push(&r->arena, &r->pending, part);
        *index = r->pending.len;
    }
    return &r->pending.at[*index - 1].records;
}

static bool take_part(struct combining *r, struct fp_unfinished *part)
{
    bool ok = !part->runs.len || take_run(r, part->runs.at, part->runs.len);
    fp_arena_free(&part->arena);
    *part = (struct fp_unfinished){0};
    return ok;
}

static bool waits(const struct combining *r, uint64_t id)
{
    for (size_t i = 0; i < r->waiting.runs.len; i++)
        if (r->waiting.runs.at[i].id == id) return true;
    return false;
}

/* Each module of a process writes a record of its own; those of other runs may lie in
 * between. Most runs have one. */
static bool take_next(struct combining *r, const struct fp_run *run)
{
    uint64_t *left = fp_table_add(&r->left, run->id);
    bool last = --*left == 0, finished = fp_unfinished_take(&r->waiting, run);
    if (finished &&
        (!run->id || (last && !fp_table_find(&r->parts, run->id) && !waits(r, run->id))))
        return take_run(r, run, 1); /* made by a tool, or a run of one record */
    if (finished) fp_unfinished_keep(part_of(r, run->id), run);
    return !last || waits(r, run->id) || !fp_table_find(&r->parts, run->id) ||
           take_part(r, part_of(r, run->id));
}

static bool take_combined(struct fp_reader *payload, void *context)
{
    struct combining *r = context;
    if (r->combiner->program)
        return fp_fail(r->error, r->path,
                       "is a combined profile, in which runs can no longer be told apart; "
                       "choose the program when its runs are combined");
    struct fp_combined *other = fp_combined_decode(payload);
    if (!other) return false;
    bool ok = r->check_only || fp_combined_merge(r->into, other, r->error);
    fp_combined_free(other);
    return ok;
}

static bool is_chosen(const struct fp_combiner *c, const struct fp_run *run)
{
    return !c->program || !strcmp(fp_base_name(run->program), c->program);
}

static bool take_record(struct fp_arena *arena, const struct fp_run *run, void *context)
{
    (void)arena;
    struct combining *r = context;
    if (!is_chosen(r->combiner, run)) return true;
    r->notes.records++;
    if (!r->check_only) return take_next(r, run);
    ++*fp_table_add(&r->left, run->id);
    return fp_combiner_module(r->combiner, &run->module, r->error) != NULL;
}

static bool take_map(const struct fp_embedded_map *map, void *context)
{
    struct combining *r = context;
    if (r->check_only) fp_combiner_keep_map(r->combiner, map);
    return true;
}

/* Everything that can be wrong with a file is found before any of it is added. */
static bool read_file(struct combining *r, const struct fp_file *file, const char *path)
{
    struct fp_profile_visitor visitor = {take_record, take_map, take_combined, r};
    fp_table_init(&r->left, &r->arena);
    fp_table_init(&r->parts, &r->arena);
    r->check_only = true;
    if (!fp_profile_visit(file->bytes, file->len, path, &visitor, &r->notes.cut, r->error) ||
        r->error->set)
        return false;
    r->check_only = false;
    r->notes.records = 0;
    return fp_profile_visit(file->bytes, file->len, path, &visitor, &r->notes.cut, r->error) &&
           !r->error->set;
}

/* At the end of the file: what still waits is as it is. */
static bool take_rest(struct combining *r)
{
    bool ok = true;
    for (size_t i = 0; i < r->waiting.runs.len && ok; i++) {
        const struct fp_run *run = &r->waiting.runs.at[i];
        if (run->id)
            fp_unfinished_keep(part_of(r, run->id), run);
        else
            ok = take_run(r, run, 1);
    }
    for (size_t i = 0; i < r->pending.len && ok; i++) ok = take_part(r, &r->pending.at[i].records);
    return ok;
}

static void free_reading(struct combining *r)
{
    for (size_t i = 0; i < r->pending.len; i++) fp_arena_free(&r->pending.at[i].records.arena);
    fp_arena_free(&r->waiting.arena);
    fp_arena_free(&r->arena);
}

bool fp_combine_file(struct fp_combiner *c, struct fp_combined *into, const char *path,
                     struct fp_combine_going *going, struct fp_combine_notes *notes,
                     struct fp_error *error)
{
    struct combining r = {
        .combiner = c, .into = into, .going = going, .path = path, .error = error};
    struct fp_file file;
    if (!(going ? fp_file_open : fp_profile_open)(&file, path, error)) return false;
    r.notes.opened = true;
    r.notes.program = fp_profile_program(file.bytes, file.len);
    bool ok = read_file(&r, &file, path) && take_rest(&r);
    fp_file_close(&file);
    free_reading(&r);
    if (notes) *notes = r.notes;
    return ok;
}
