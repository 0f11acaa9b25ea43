/* From perf samples to instructions: see attribute.h. */
#include "perf/attribute.h"

#include "base/names.h"

#include <stdlib.h>
#include <string.h>

struct mapping {
    uint64_t address, length, offset;
    struct fp_perf_object *object; /* NULL: not a file */
};

/* Later mappings hide earlier ones; they are searched from the last. */
struct space {
    FP_VEC(struct mapping) mappings;
};

struct replay {
    struct fp_arena *arena;
    const struct fp_perf_data *data;
    struct fp_attribution *out;
    struct fp_table spaces;     /* pid -> struct space * */
    struct fp_strtable objects; /* path -> 1 + index */
    const char *binary;
};

static struct space *space_of(struct replay *r, uint32_t pid)
{
    uint64_t *found = fp_table_add(&r->spaces, pid);
    if (!*found) *found = (uintptr_t)FP_NEW(r->arena, struct space);
    return (struct space *)(uintptr_t)*found;
}

/* ---- objects ---- */

/* If the program was moved, --binary names the file to read for the object of the same name. */
static const char *file_to_read(struct replay *r, const char *path)
{
    if (!r->binary || strcmp(fp_base_name(path), fp_base_name(r->binary))) return path;
    r->out->binary_used = true;
    return r->binary;
}

static void check_build(struct fp_perf_object *s)
{
    const struct fp_object *o = s->object;
    if (!s->build_id_len || !o->build_id_len) return;
    size_t len = s->build_id_len < o->build_id_len ? s->build_id_len : o->build_id_len;
    if (memcmp(s->build_id, o->build_id, len))
        fp_fail(&s->problem, o->path, "is another build than the one that was sampled");
}

static struct fp_perf_object *object_of(struct replay *r, const struct fp_perf_change *change)
{
    if (change->path[0] != '/' || !strncmp(change->path, "//anon", 6) ||
        !strncmp(change->path, "/dev/", 5) || !strncmp(change->path, "/memfd:", 7))
        return NULL;
    uint64_t *index = fp_strtable_add(&r->objects, change->path);
    if (*index) return r->out->objects.at[*index - 1];
    struct fp_perf_object *s = FP_NEW(r->arena, struct fp_perf_object);
    struct fp_object *object = FP_NEW(r->arena, struct fp_object);
    s->path = change->path;
    s->build_id_len = change->build_id_len;
    memcpy(s->build_id, change->build_id, sizeof s->build_id);
    fp_table_init(&s->index, r->arena);
    fp_table_init(&s->branch_index, r->arena);
    fp_table_init(&s->span_index, r->arena);
    if (fp_object_open(r->arena, file_to_read(r, s->path), object, &s->problem)) {
        s->object = object;
        check_build(s);
    }
    fp_vec_push(r->arena, &r->out->objects, s);
    *index = r->out->objects.len;
    return s;
}

/* ---- replay ---- */

static void apply(struct replay *r, const struct fp_perf_change *change)
{
    struct space *space = space_of(r, change->pid);
    switch (change->kind) {
    case FP_PERF_MAPPED: {
        struct mapping mapping = {change->address, change->length, change->offset,
                                  object_of(r, change)};
        fp_vec_push(r->arena, &space->mappings, mapping);
        break;
    }
    case FP_PERF_FORKED: {
        const struct space *parent = space_of(r, change->parent);
        space->mappings.len = 0;
        for (size_t i = 0; i < parent->mappings.len; i++)
            fp_vec_push(r->arena, &space->mappings, parent->mappings.at[i]);
        break;
    }
    case FP_PERF_EXECUTED: space->mappings.len = 0; break;
    }
}

static const struct mapping *mapping_at(struct replay *r, uint32_t pid, uint64_t ip)
{
    const struct space *space = space_of(r, pid);
    for (size_t i = space->mappings.len; i > 0; i--) {
        const struct mapping *m = &space->mappings.at[i - 1];
        if (ip - m->address < m->length) return m;
    }
    return NULL;
}

static uint64_t linked_address(const struct mapping *m, uint64_t ip)
{
    if (!m->object || !m->object->object) return 0;
    return fp_object_address(m->object->object, ip - m->address + m->offset);
}

/* ---- adding up ---- */

static void add_hit(struct replay *r, struct fp_perf_object *s, uint64_t address,
                    const struct fp_perf_sample *sample)
{
    uint64_t *index = fp_table_add(&s->index, address);
    if (!*index) {
        struct fp_hits hits = {address, FP_NEW_ARRAY(r->arena, double, r->out->nevents),
                               FP_NEW_ARRAY(r->arena, uint64_t, r->out->nevents)};
        fp_vec_push(r->arena, &s->hits, hits);
        *index = s->hits.len;
    }
    s->hits.at[*index - 1].samples[sample->event] += (double)sample->period;
    s->hits.at[*index - 1].counts[sample->event]++;
    s->samples++;
}

static void add_flow(struct replay *r, struct fp_perf_object *s, bool span, uint64_t from,
                     uint64_t to)
{
    struct fp_table *map = span ? &s->span_index : &s->branch_index;
    uint64_t key = fp_hash64(from) ^ to;
    uint64_t *index = fp_table_add(map, key);
    struct fp_flow_hits one = {from, to, 0};
    if (span) {
        if (!*index) fp_vec_push(r->arena, &s->spans, one), *index = s->spans.len;
        s->spans.at[*index - 1].count++;
    } else {
        if (!*index) fp_vec_push(r->arena, &s->branches, one), *index = s->branches.len;
        s->branches.at[*index - 1].count++;
    }
}

/* The newest record is first. Between the target of one branch and the source of
 * the next newer one, code ran straight. */
static void add_branches(struct replay *r, const struct fp_perf_sample *sample)
{
    if (!sample->nbranches) return;
    const struct fp_branch *all = r->data->branches.at + sample->first_branch;
    for (uint32_t i = 0; i < sample->nbranches; i++) {
        const struct mapping *from = mapping_at(r, sample->pid, all[i].from);
        const struct mapping *to = mapping_at(r, sample->pid, all[i].to);
        if (from && to && from->object && from->object == to->object && from->object->object)
            add_flow(r, from->object, false, linked_address(from, all[i].from),
                     linked_address(to, all[i].to));
        if (i + 1 == sample->nbranches || !from || !from->object) continue;
        const struct mapping *start = mapping_at(r, sample->pid, all[i + 1].to);
        if (start && start->object == from->object && all[i + 1].to <= all[i].from)
            add_flow(r, from->object, true, linked_address(start, all[i + 1].to),
                     linked_address(from, all[i].from));
    }
}

static void add_sample(struct replay *r, const struct fp_perf_sample *sample)
{
    add_branches(
        r, sample); /* also for samples that hit the kernel: branch records are of the program */
    if (sample->mode == FP_PERF_KERNEL || sample->mode == FP_PERF_HYPERVISOR) {
        r->out->kernel++;
        return;
    }
    const struct mapping *m = mapping_at(r, sample->pid, sample->ip);
    uint64_t address = m ? linked_address(m, sample->ip) : 0;
    if (!address) {
        r->out->unmapped++;
        return;
    }
    r->out->user++;
    add_hit(r, m->object, address, sample);
    if (!sample->registers) return;
    struct fp_register_hit hit = {address, sample->ip - address, sample->event, sample->registers};
    fp_vec_push(r->arena, &m->object->register_hits, hit);
}

static int by_address(const void *a, const void *b)
{
    const struct fp_hits *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static int by_flow(const void *a, const void *b)
{
    const struct fp_flow_hits *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static int by_samples(const void *a, const void *b)
{
    const struct fp_perf_object *x = *(struct fp_perf_object *const *)a;
    const struct fp_perf_object *y = *(struct fp_perf_object *const *)b;
    if (x->samples != y->samples) return x->samples < y->samples ? 1 : -1;
    return strcmp(x->path, y->path);
}

void fp_attribute(struct fp_arena *arena, const struct fp_perf_data *data, const char *binary,
                  struct fp_attribution *out)
{
    struct replay r = {.arena = arena, .data = data, .out = out, .binary = binary};
    *out = (struct fp_attribution){.arena = arena, .nevents = (uint32_t)data->events.len};
    fp_table_init(&r.spaces, arena);
    fp_strtable_init(&r.objects, arena);
    size_t change = 0;
    for (size_t i = 0; i < data->samples.len; i++) {
        const struct fp_perf_sample *sample = &data->samples.at[i];
        while (change < data->changes.len && data->changes.at[change].time <= sample->time)
            apply(&r, &data->changes.at[change++]);
        add_sample(&r, sample);
    }
    for (size_t i = 0; i < out->objects.len; i++) {
        struct fp_perf_object *s = out->objects.at[i];
        if (s->hits.len) qsort(s->hits.at, s->hits.len, sizeof *s->hits.at, by_address);
        if (s->branches.len)
            qsort(s->branches.at, s->branches.len, sizeof *s->branches.at, by_flow);
        if (s->spans.len) qsort(s->spans.at, s->spans.len, sizeof *s->spans.at, by_flow);
    }
    if (out->objects.len)
        qsort(out->objects.at, out->objects.len, sizeof *out->objects.at, by_samples);
}

void fp_attribution_close(struct fp_attribution *attribution)
{
    for (size_t i = 0; i < attribution->objects.len; i++)
        if (attribution->objects.at[i]->object) fp_object_close(attribution->objects.at[i]->object);
}
