/* Runs made by hand: see fill.h. */
#include "profile/fill.h"

#include <inttypes.h>
#include <stdlib.h>

bool fp_fill_begin(struct fp_fill *fill, struct fp_arena *arena, const struct fp_program *program,
                   struct fp_error *error)
{
    *fill = (struct fp_fill){.arena = arena, .program = program};
    fp_table_init(&fill->words, arena);
    for (size_t i = 0; i < program->nfunctions; i++)
        if (!fp_layout_check(&program->functions[i], &program->sections))
            return fp_fail(error, program->path, "%s has counters outside of their section",
                           program->functions[i].name);
    if (program->sections.counters_size > UINT32_MAX)
        return fp_fail(error, program->path,
                       "expected at most 4 GB of counters, got %" PRIu64 " bytes",
                       program->sections.counters_size);
    return true;
}

struct target {
    struct fp_fill *fill;
    const struct fp_function *f;
};

static void add_to(struct fp_fill *fill, const struct fp_place *place, uint64_t count)
{
    if (!place->in_table) {
        *fp_table_add(&fill->words, place->word) += count;
        return;
    }
    struct fp_table_count entry = {place->table, place->path, count};
    fp_vec_push(fill->arena, &fill->tables, entry);
}

static void add_to_id(uint64_t id, uint64_t count, void *context)
{
    const struct target *t = context;
    struct fp_place place;
    if (fp_layout_of_id(t->f, &t->fill->program->sections, id, &place))
        add_to(t->fill, &place, count);
}

bool fp_fill_path(struct fp_fill *fill, const struct fp_function *f, uint64_t id, uint64_t count,
                  struct fp_error *error)
{
    struct target t = {fill, f};
    if (!(f->flags & FP_FUNCTION_PATHS))
        return fp_fail(error, fill->program->path,
                       "has no path counters; build it with --fp-mode=path");
    if (f->copy && f->copy->labels)
        return fp_fail(error, fill->program->path,
                       "counts only some of the paths of %s; use the program "
                       "that was divided",
                       f->name);
    if (id >= f->paths.numbering->num_ids)
        return fp_fail(error, f->name, "expected a path below %" PRIu64 ", got %" PRIu64,
                       f->paths.numbering->num_ids, id);
    add_to_id(id, count, &t);
    fp_unrecover(f->paths.numbering, f->layout.at_end, id, count, add_to_id, &t);
    return true;
}

/* Can a frame there have the sum, uncounted? */
static bool may_be_at(const struct fp_function *f, uint32_t place,
                      const struct fp_partial_path *partial)
{
    const struct fp_layout *layout = &f->layout;
    return fp_layout_block_at(f, place) == partial->block && !layout->counted[place] &&
           (layout->has_register[place] || (uint64_t)layout->offset[place] == partial->prefix);
}

/* The block, or a copy of it: in which the frame was depends on the way that it came. */
static uint32_t place_of(const struct fp_function *f, const struct fp_partial_path *partial)
{
    if (may_be_at(f, partial->block, partial)) return partial->block;
    for (uint32_t place = f->paths.cfg->nblocks; place < fp_layout_places(f); place++)
        if (may_be_at(f, place, partial)) return place;
    return partial->block;
}

void fp_fill_partial(struct fp_fill *fill, const struct fp_function *f,
                     const struct fp_partial_path *partial)
{
    uint32_t place = place_of(f, partial);
    struct fp_in_flight entry = {.function = f->id, .block = place, .count = partial->count};
    uint64_t offset = (uint64_t)f->layout.offset[place];
    if (f->layout.has_register[place]) entry.reg = partial->prefix - offset;
    fp_vec_push(fill->arena, &fill->in_flight, entry);
    struct target t = {fill, f};
    fp_unrecover_partial(f->paths.numbering, f->layout.at_end, partial, add_to_id, &t);
}

void fp_fill_flow(struct fp_fill *fill, const struct fp_function *f, uint32_t flow_edge,
                  uint64_t count)
{
    struct fp_place place;
    if (f->layout.flow_slot[flow_edge] != FP_NONE &&
        fp_layout_of_edge(f, &fill->program->sections, f->layout.flow_slot[flow_edge], &place))
        add_to(fill, &place, count);
}

static int by_index(const void *a, const void *b)
{
    const struct fp_counter *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

static int by_table(const void *a, const void *b)
{
    const struct fp_table_count *x = a, *y = b;
    if (x->table != y->table) return x->table < y->table ? -1 : 1;
    return (x->path > y->path) - (x->path < y->path);
}

static void finish_words(struct fp_fill *fill, struct fp_run *run)
{
    uint64_t index, count;
    run->counters = FP_NEW_ARRAY(fill->arena, struct fp_counter, fill->words.len);
    for (size_t i = 0; fp_table_next(&fill->words, &i, &index, &count);)
        if (count) run->counters[run->ncounters++] = (struct fp_counter){index, count};
    if (run->ncounters) qsort(run->counters, run->ncounters, sizeof *run->counters, by_index);
}

void fp_fill_finish(struct fp_fill *fill, struct fp_run *run)
{
    const struct fp_program *p = fill->program;
    *run = (struct fp_run){
        .runs = 1,
        .module = {.path = p->path,
                   .build_id = p->build_id,
                   .build_id_len = p->build_id_len,
                   .sections = p->sections},
        .tables = fill->tables.at,
        .ntables = fill->tables.len,
        .in_flight = fill->in_flight.at,
        .nin_flight = fill->in_flight.len,
    };
    if (run->ntables) qsort(run->tables, run->ntables, sizeof *run->tables, by_table);
    finish_words(fill, run);
}
