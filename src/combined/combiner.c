/* Programs, maps and functions of a combiner: see combiner.h and combine.h. */
#include "combined/combiner.h"

#include <stdlib.h>
#include <string.h>

struct fp_combiner *fp_combiner_new(const char *const *binaries, size_t nbinaries)
{
    struct fp_combiner *c = calloc(1, sizeof *c);
    if (!c) abort();
    c->binaries = binaries;
    c->nbinaries = nbinaries;
    c->maps = fp_profile_new();
    return c;
}

void fp_combiner_choose(struct fp_combiner *c, const char *program)
{
    c->program = program;
}

void fp_combiner_free(struct fp_combiner *c)
{
    if (!c) return;
    for (size_t i = 0; i < c->modules.len; i++) fp_module_free_counters(&c->modules.at[i]->module);
    fp_profile_free(c->maps);
    fp_arena_free(&c->scratch);
    fp_arena_free(&c->arena);
    free(c);
}

/* ---- modules and their functions ---- */

static uint64_t numbering_hash(const struct fp_numbering *n)
{
    uint64_t hash = fp_hash_bytes(n->value, n->dag->nedges * sizeof *n->value, n->num_ids);
    for (uint32_t e = 0; e < n->dag->nedges; e++) {
        const struct fp_dag_edge *edge = &n->dag->edges[e];
        hash = fp_hash64(hash ^ (uint64_t)edge->cfg_edge << 32 ^ edge->dst ^
                         (uint64_t)edge->kind << 61);
    }
    return hash ? hash : 1;
}

static int by_identity(const void *a, const void *b, void *context)
{
    const struct fp_combined_function *keys = context;
    struct fp_identity x = fp_combined_identity(&keys[*(const uint32_t *)a]),
                       y = fp_combined_identity(&keys[*(const uint32_t *)b]);
    int order = fp_identity_order(&x, &y);
    return order ? order : strcmp(x.file, y.file);
}

static bool look_alike(const struct fp_combined_function *a, const struct fp_combined_function *b)
{
    struct fp_identity x = fp_combined_identity(a), y = fp_combined_identity(b);
    return fp_identity_order(&x, &y) == 0;
}

/* Functions that agree in name, file and shape are numbered in the order of their
 * folders, which another build of the same sources repeats. */
static void tell_apart(struct fp_combined_function *keys, size_t n)
{
    uint32_t *order = calloc(n ? n : 1, sizeof *order);
    size_t used = 0;
    if (!order) abort();
    for (size_t i = 0; i < n; i++)
        if (keys[i].name) order[used++] = (uint32_t)i;
    if (used) qsort_r(order, used, sizeof *order, by_identity, keys);
    for (size_t i = 1; i < used; i++)
        if (look_alike(&keys[order[i]], &keys[order[i - 1]]))
            keys[order[i]].nth = keys[order[i - 1]].nth + 1;
    free(order);
}

static bool is_counted(const struct fp_function *f)
{
    return !(f->flags & FP_FUNCTION_SKIPPED) && f->flags & (FP_FUNCTION_PATHS | FP_FUNCTION_EDGES);
}

struct fp_combined_function *fp_combine_keys(struct fp_arena *arena,
                                             const struct fp_program *program)
{
    struct fp_combined_function *keys =
        FP_NEW_ARRAY(arena, struct fp_combined_function, program->nfunctions);
    for (size_t i = 0; i < program->nfunctions; i++) {
        const struct fp_function *f = &program->functions[i];
        if (!is_counted(f)) continue;
        keys[i] = (struct fp_combined_function){
            .name = f->name, .file = f->file, .line = f->line, .shape = fp_cfg_hash(f->paths.cfg)};
        if (!(f->flags & FP_FUNCTION_PATHS)) continue;
        keys[i].num_ids = f->paths.numbering->num_ids;
        keys[i].numbering = numbering_hash(f->paths.numbering);
    }
    tell_apart(keys, program->nfunctions);
    return keys;
}

static struct fp_embedded_map *find_map(struct fp_combiner *c, const struct fp_module_id *id)
{
    for (size_t i = 0; i < c->embedded.len; i++) {
        struct fp_module_id *other = &c->embedded.at[i].module;
        if (other->build_id_len == id->build_id_len &&
            (id->build_id_len ? !memcmp(other->build_id, id->build_id, id->build_id_len)
                              : !strcmp(other->path, id->path)))
            return &c->embedded.at[i];
    }
    return NULL;
}

static const void *copied(struct fp_arena *arena, const void *bytes, size_t len)
{
    return bytes ? fp_arena_strndup(arena, bytes, len) : NULL;
}

void fp_combiner_keep_map(struct fp_combiner *c, const struct fp_embedded_map *map)
{
    if (find_map(c, &map->module)) return;
    struct fp_embedded_map kept = *map;
    kept.module.path = fp_arena_strdup(&c->arena, map->module.path);
    kept.module.build_id = copied(&c->arena, map->module.build_id, map->module.build_id_len);
    kept.map = copied(&c->arena, map->map, map->map_len);
    kept.live = copied(&c->arena, map->live, map->live_len);
    fp_vec_push(&c->arena, &c->embedded, kept);
}

static bool load_map(struct fp_combiner *c, struct fp_module *module, struct fp_error *error)
{
    module->embedded = find_map(c, &module->id);
    struct fp_profile one = {0}; /* as fp_profile_load_maps wants it */
    one.arena = c->maps->arena;
    fp_vec_push(&one.arena, &one.modules, module);
    for (size_t i = 0; i < c->nbinaries && !module->have_program; i++)
        fp_profile_load_maps(&one, c->binaries[i]);
    if (!module->have_program) fp_profile_load_maps(&one, NULL);
    c->maps->arena = one.arena;
    if (module->have_program) return true;
    return fp_fail(error, module->problem.file, "%s; name the program that ran by --binary FILE",
                   module->problem.what);
}

static struct fp_known_module *add_known(struct fp_combiner *c, const struct fp_module_id *id,
                                         struct fp_error *error)
{
    struct fp_known_module *k = FP_NEW(&c->arena, struct fp_known_module);
    k->module.id = *id;
    k->module.id.path = fp_arena_strdup(&c->arena, id->path);
    k->module.id.build_id =
        (unsigned char *)fp_arena_strndup(&c->arena, (const char *)id->build_id, id->build_id_len);
    if (!load_map(c, &k->module, error)) return NULL;
    size_t n = k->module.program.nfunctions;
    k->keys = fp_combine_keys(&c->arena, &k->module.program);
    k->dominators = FP_NEW_ARRAY(&c->arena, uint32_t *, n);
    k->targets = FP_NEW_ARRAY(&c->arena, struct fp_combined_function *, n);
    fp_vec_push(&c->arena, &c->modules, k);
    return k;
}

struct fp_known_module *fp_combiner_module(struct fp_combiner *c, const struct fp_module_id *id,
                                           struct fp_error *error)
{
    for (size_t i = 0; i < c->modules.len; i++)
        if (fp_same_module(&c->modules.at[i]->module.id, id)) return c->modules.at[i];
    return add_known(c, id, error);
}

const struct fp_program *fp_combiner_program(struct fp_combiner *c,
                                             const struct fp_combined_module *m,
                                             struct fp_error *error)
{
    struct fp_module *module = FP_NEW(&c->arena, struct fp_module);
    module->id = (struct fp_module_id){
        .path = m->path, .build_id = m->build_id, .build_id_len = m->build_id_len};
    if (m->map.bytes)
        fp_combiner_keep_map(c, &(struct fp_embedded_map){module->id, m->map.bytes, m->live.bytes,
                                                          m->map.len, m->live.len});
    return load_map(c, module, error) ? &module->program : NULL;
}

bool fp_combiner_aim(struct fp_known_module *k, struct fp_combined *into, struct fp_error *error)
{
    struct fp_combined_function *first = NULL;
    if (k->into == into->serial) return true;
    for (size_t i = 0; i < k->module.program.nfunctions; i++) {
        if (!k->keys[i].name) continue;
        struct fp_combined_function *f = k->targets[i] = fp_combined_function(into, &k->keys[i]);
        if (!first) first = f;
        fp_combined_join(into, f, first);
        if (!k->keys[i].numbering) continue;
        if (f->numbering && f->numbering != k->keys[i].numbering)
            return fp_fail(
                error, k->module.id.path,
                "the paths of %s end at other places than in other inputs, or have other numbers "
                "(--fp-cuts, --fp-guide); combine such builds each by itself",
                f->name);
        f->numbering = k->keys[i].numbering;
        f->num_ids = k->keys[i].num_ids;
    }
    k->into = into->serial;
    return true;
}
