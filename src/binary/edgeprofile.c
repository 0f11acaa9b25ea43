/* Machine edge profiles: see edgeprofile.h. */
#include "binary/edgeprofile.h"

#include "profile/mapcode.h"

#include <time.h>

/* The program has no counters; these addresses stand for them in the map. */
enum { COUNTERS_ADDRESS = 0x1000, MOST_FRAMES = 64 };

void fp_edge_profile_init(struct fp_edge_profile *p, struct fp_arena *arena,
                          struct fp_object *object)
{
    *p = (struct fp_edge_profile){.arena = arena};
    fp_machine_init(&p->machine, arena, object);
    p->lines = fp_dwarf_lines_new(arena, object);
}

void fp_edge_profile_free(struct fp_edge_profile *p)
{
    fp_writer_free(&p->map);
}

/* ---- positions ---- */

struct placing {
    struct fp_edge_profile *p;
    struct fp_arena *arena;
    struct fp_table scopes; /* identity of an inlined instance -> 1 + index */
    FP_VEC(struct fp_scope) all;
    FP_VEC(struct fp_position) positions;
};

/* Scopes with parents first; `frames` is innermost first. */
static uint32_t scope_of(struct placing *at, const struct fp_frame *frames, size_t count)
{
    uint64_t *known = fp_table_find(&at->scopes, frames[0].identity);
    if (known) return (uint32_t)*known - 1;
    struct fp_scope scope = {.function = frames[0].function,
                             .linkage = frames[0].linkage,
                             .file = frames[0].file,
                             .line = frames[0].declared,
                             .parent = FP_NONE};
    if (count > 1) {
        scope.parent = scope_of(at, frames + 1, count - 1);
        scope.call_line = frames[1].line;
        scope.call_discriminator = frames[1].discriminator;
    }
    fp_vec_push(at->arena, &at->all, scope);
    *fp_table_add(&at->scopes, frames[0].identity) = at->all.len;
    return (uint32_t)at->all.len - 1;
}

static void place_insn(struct placing *at, uint64_t address, size_t first)
{
    struct fp_frame frames[MOST_FRAMES];
    size_t count = fp_dwarf_lines_frames(at->p->lines, address, frames, MOST_FRAMES);
    if (!count || !frames[0].line) return;
    struct fp_position position = {scope_of(at, frames, count), frames[0].line, frames[0].column,
                                   frames[0].discriminator};
    if (at->positions.len > first) {
        const struct fp_position *last = &at->positions.at[at->positions.len - 1];
        if (last->scope == position.scope && last->line == position.line &&
            last->discriminator == position.discriminator)
            return;
    }
    fp_vec_push(at->arena, &at->positions, position);
}

static void place_blocks(struct placing *at, const struct fp_machine_function *m,
                         struct fp_function *f)
{
    f->source.blocks = FP_NEW_ARRAY(at->arena, struct fp_block_info, m->cfg->nblocks);
    for (uint32_t b = 0; b < m->cfg->nblocks; b++) {
        size_t first = at->positions.len;
        for (uint32_t i = 0; i < m->blocks[b].ninsns; i++)
            place_insn(at, m->insns.at[m->blocks[b].first_insn + i].address, first);
        f->source.blocks[b] =
            (struct fp_block_info){.instructions = m->blocks[b].ninsns,
                                   .first_position = (uint32_t)first,
                                   .npositions = (uint32_t)(at->positions.len - first)};
    }
    f->source.positions = at->positions.at;
    f->source.npositions = (uint32_t)at->positions.len;
    f->source.scopes = at->all.at;
    f->source.nscopes = (uint32_t)at->all.len;
}

/* ---- counts ---- */

static uint64_t leaving(const struct fp_cfg *cfg, uint32_t block, uint64_t entries,
                        const uint64_t *edges)
{
    uint64_t in = block == 0 ? entries : 0;
    for (uint32_t i = cfg->first_in[block]; i < cfg->first_in[block + 1]; i++)
        in += edges[cfg->in_edges[i]];
    return in;
}

static void add_counts(struct fp_edge_profile *p, const struct fp_function *f, uint64_t entries,
                       const uint64_t *edges)
{
    for (uint32_t i = 0; i < f->paths.flow->nedges; i++) {
        const struct fp_flow_edge *edge = &f->paths.flow->edges[i];
        uint64_t count = 0;
        switch (edge->kind) {
        case FP_FLOW_ENTRY: count = entries; break;
        case FP_FLOW_EDGE: count = edges[edge->cfg_edge]; break;
        case FP_FLOW_EXIT: count = leaving(f->paths.cfg, edge->src, entries, edges); break;
        case FP_FLOW_FRONT: break; /* not in machine code */
        }
        struct fp_counter counter = {p->nwords + i, count};
        if (count) fp_vec_push(p->arena, &p->counters, counter);
    }
    p->nwords += f->paths.flow->nedges;
}

void fp_edge_profile_identity(struct fp_edge_profile *p, const struct fp_machine_function *m,
                              struct fp_function *f)
{
    struct fp_function_place place = {0};
    fp_dwarf_lines_function(p->lines, m->symbol->address, &place);
    f->name = m->symbol->name;
    f->file = place.file ? place.file : p->machine.object->path;
    f->line = place.line;
    f->id = fp_hash64(fp_hash_string(f->name) ^ m->symbol->address);
    f->paths.cfg = m->cfg;
}

static void describe(struct fp_edge_profile *p, struct fp_arena *arena,
                     const struct fp_machine_function *m, struct fp_function *f)
{
    fp_edge_profile_identity(p, m, f);
    f->flags = FP_FUNCTION_EDGES;
    f->source.edges = m->edges;
    struct placing at = {.p = p, .arena = arena};
    fp_table_init(&at.scopes, arena);
    place_blocks(&at, m, f);
    f->paths.truncation = FP_NEW(arena, struct fp_truncation);
    /* paths are not counted here, but a map needs a truncation, which keeps ids in range */
    fp_truncate(arena, m->cfg, NULL, &(struct fp_limits){.no_laps = true}, f->paths.truncation);
    f->paths.flow = fp_flow_make(arena, m->cfg, &f->paths.truncation->order, NULL);
    f->layout.edge_slots = f->paths.flow->nedges;
    f->layout.edge_address = COUNTERS_ADDRESS + p->nwords * 8;
    f->layout.flow_slot = FP_NEW_ARRAY(arena, uint32_t, f->paths.flow->nedges);
    for (uint32_t i = 0; i < f->paths.flow->nedges; i++) f->layout.flow_slot[i] = i;
}

void fp_edge_profile_add(struct fp_edge_profile *p, const struct fp_machine_function *m,
                         uint64_t entries, const uint64_t *edges)
{
    struct fp_arena scratch = {0};
    struct fp_function f = {0};
    describe(p, &scratch, m, &f);
    fp_map_write_record(&p->map, &f);
    add_counts(p, &f, entries, edges);
    p->nfunctions++;
    fp_arena_free(&scratch);
}

struct fp_run fp_edge_profile_run(struct fp_edge_profile *p, struct fp_embedded_map *map,
                                  char **args, size_t nargs)
{
    const struct fp_object *object = p->machine.object;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *map = (struct fp_embedded_map){.module = {.path = object->path,
                                               .build_id = object->build_id,
                                               .build_id_len = object->build_id_len,
                                               .sections.counters_address = COUNTERS_ADDRESS,
                                               .sections.counters_size = p->nwords * 8},
                                    .map = p->map.bytes,
                                    .map_len = p->map.len};
    return (struct fp_run){.id = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec,
                           .runs = 1,
                           .host = "",
                           .program = object->path,
                           .folder = "",
                           .args = args,
                           .nargs = nargs,
                           .module = map->module,
                           .counters = p->counters.at,
                           .ncounters = p->counters.len,
                           .map = map};
}
