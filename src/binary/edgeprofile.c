/* Machine edge profiles: see edgeprofile.h. */
#include "binary/edgeprofile.h"

#include "binary/machinesource.h"
#include "profile/mapcode.h"
#include "binary/framefunctions.h"

#include <time.h>

/* The program has no counters; these addresses stand for them in the map. */
enum { COUNTERS_ADDRESS = 0x1000 };

void fp_edge_profile_init(struct fp_edge_profile *p, struct fp_arena *arena,
                          struct fp_object *object)
{
    *p = (struct fp_edge_profile){.arena = arena};
    struct fp_frames *frames = FP_NEW(arena, struct fp_frames);
    struct fp_error ignored = {0};
    fp_machine_init(&p->machine, arena, object);
    if (fp_frames_read(arena, object, frames, &ignored)) fp_machine_add_frames(&p->machine, frames);
    p->lines = fp_dwarf_lines_new(arena, object);
}

void fp_edge_profile_free(struct fp_edge_profile *p)
{
    fp_writer_free(&p->map);
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
    fp_machine_lines(arena, p->lines, m, f);
    fp_machine_code(arena, &p->machine, m, f);
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
