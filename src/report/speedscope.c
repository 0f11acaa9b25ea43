/* Speedscope files: its file-format-schema.json, see exports.h.
 *
 * A stack is a chain of calls as the report's flame graph has it (model/callchains.h), and above it
 * a path of the last function. A function's own cost in a chain is divided among its paths as it is
 * in the whole program. Paths that would be smaller than the smallest frame have no frame of their
 * own; their cost is the function's.
 */
#include "report/exports.h"

#include "model/callchains.h"

#include <inttypes.h>
#include <string.h>

struct scope_sample {
    size_t first, len; /* in `ids` */
    double weight;
};

struct stack_scope {
    struct fp_json *j;
    struct fp_arena arena;
    const struct fp_report *report;
    struct fp_chains chains;
    uint64_t nframes;
    uint64_t *of_function, *of_path; /* 1 + frame, or 0 */
    FP_VEC(uint64_t) ids;
    FP_VEC(struct scope_sample) samples;
};

/* ---- frames ---- */

static uint64_t json_frame(struct stack_scope *s, const char *name, const struct fp_function *f)
{
    fp_json_begin(s->j, '{');
    fp_json_key(s->j, "name"), fp_json_string(s->j, name);
    if (f) {
        fp_json_key(s->j, "file"), fp_json_string(s->j, f->file);
        if (f->line) fp_json_key(s->j, "line"), fp_json_uint(s->j, f->line);
    }
    fp_json_end(s->j, '}');
    return s->nframes++;
}

static uint64_t function_frame(struct stack_scope *s, uint32_t function)
{
    const struct fp_report_function *rf = &s->report->functions[function];
    if (!s->of_function[function])
        s->of_function[function] = 1 + json_frame(s, rf->name, rf->function);
    return s->of_function[function] - 1;
}

static uint64_t path_frame(struct stack_scope *s, const struct fp_report_function *rf, size_t index)
{
    const struct footpath_path *one = &s->report->paths[index];
    struct fp_arena scratch = {0};
    struct fp_path path;
    if (!s->of_path[index] && fp_report_decode(&scratch, s->report, one, &path))
        s->of_path[index] =
            1 + json_frame(s, fp_stack_path_name(&scratch, s->report, one, &path), rf->function);
    fp_arena_free(&scratch);
    return s->of_path[index];
}

/* ---- samples ---- */

/* The chain that ends in a frame, the outermost function first; `above` is 1 + one more frame. */
static void add_sample(struct stack_scope *s, uint32_t frame, uint64_t above, double weight)
{
    struct scope_sample sample = {.first = s->ids.len, .weight = weight};
    size_t depth = 0;
    if (weight <= 0) return;
    for (uint32_t i = frame; i != FP_NONE; i = s->chains.frames[i].parent)
        depth += s->chains.frames[i].function != FP_NONE;
    sample.len = depth + (above != 0);
    for (size_t i = 0; i < sample.len; i++) fp_vec_push(&s->arena, &s->ids, 0);
    for (uint32_t i = frame; i != FP_NONE; i = s->chains.frames[i].parent)
        if (s->chains.frames[i].function != FP_NONE)
            s->ids.at[sample.first + --depth] = function_frame(s, s->chains.frames[i].function);
    if (above) s->ids.at[sample.first + sample.len - 1] = above - 1;
    fp_vec_push(&s->arena, &s->samples, sample);
}

/* The own cost of a function in one chain, path by path. */
static void add_paths(struct stack_scope *s, uint32_t frame, double own)
{
    const struct fp_report_function *rf = &s->report->functions[s->chains.frames[frame].function];
    double rest = own;
    for (size_t i = 0; i < rf->npaths && rf->cost > 0; i++) {
        size_t index = rf->first_path + i;
        double part = own * s->report->paths[index].cost / rf->cost;
        uint64_t above = part > 0 && part >= s->chains.least ? path_frame(s, rf, index) : 0;
        if (!above) continue;
        add_sample(s, frame, above, part);
        rest -= part;
    }
    add_sample(s, frame, 0, rest > 1e-9 * own ? rest : 0);
}

/* What the frames of its callees do not have. */
static double *own_costs(struct stack_scope *s)
{
    double *own = FP_NEW_ARRAY(&s->arena, double, s->chains.len);
    for (size_t i = 0; i < s->chains.len; i++) own[i] = s->chains.frames[i].cost;
    for (size_t i = 1; i < s->chains.len; i++)
        own[s->chains.frames[i].parent] -= s->chains.frames[i].cost;
    return own;
}

static void add_samples(struct stack_scope *s)
{
    const double *own = own_costs(s);
    for (uint32_t i = 0; i < s->chains.len; i++) {
        const struct fp_chain_frame *frame = &s->chains.frames[i];
        if (own[i] <= 1e-9 * frame->cost) continue;
        if (frame->function != FP_NONE) {
            add_paths(s, i, own[i]);
        } else {
            const char *name =
                frame->folded ? fp_arena_printf(&s->arena, "%zu small functions", frame->folded)
                              : "small functions";
            uint64_t folded = json_frame(s, name, NULL);
            add_sample(s, frame->parent == FP_NONE ? i : frame->parent, 1 + folded, own[i]);
        }
    }
}

static void json_samples(struct stack_scope *s)
{
    fp_json_key(s->j, "samples"), fp_json_begin(s->j, '[');
    for (size_t i = 0; i < s->samples.len; i++) {
        const struct scope_sample *sample = &s->samples.at[i];
        fp_json_begin(s->j, '[');
        for (size_t k = 0; k < sample->len; k++) fp_json_uint(s->j, s->ids.at[sample->first + k]);
        fp_json_end(s->j, ']');
    }
    fp_json_end(s->j, ']');
    fp_json_key(s->j, "weights"), fp_json_begin(s->j, '[');
    for (size_t i = 0; i < s->samples.len; i++) fp_json_double(s->j, s->samples.at[i].weight);
    fp_json_end(s->j, ']');
}

/* ---- the file ---- */

static void make_chains(struct stack_scope *s)
{
    struct fp_arena scratch = {0};
    struct fp_call_graph graph;
    fp_call_graph_make(&scratch, s->report, &graph);
    fp_call_chains(&s->arena, s->report, &graph, &s->chains);
    fp_arena_free(&scratch);
    s->of_function = FP_NEW_ARRAY(&s->arena, uint64_t, s->report->nfunctions);
    s->of_path = FP_NEW_ARRAY(&s->arena, uint64_t, s->report->npaths);
}

static void json_profile(struct stack_scope *s, const char *program)
{
    fp_json_key(s->j, "profiles"), fp_json_begin(s->j, '[');
    fp_json_begin(s->j, '{');
    fp_json_key(s->j, "type"), fp_json_string(s->j, "sampled");
    fp_json_key(s->j, "name"), fp_json_string(s->j, program);
    fp_json_key(s->j, "unit"), fp_json_string(s->j, "none");
    fp_json_key(s->j, "startValue"), fp_json_uint(s->j, 0);
    fp_json_key(s->j, "endValue"), fp_json_double(s->j, s->report->cost);
    json_samples(s);
    fp_json_end(s->j, '}');
    fp_json_end(s->j, ']');
}

void fp_write_speedscope(struct fp_writer *out, const struct fp_report *report)
{
    struct fp_json j = {.out = out, .compact = true};
    struct stack_scope s = {.j = &j, .report = report};
    const char *program =
        report->profile->runs.len ? fp_base_name(report->profile->runs.at[0].program) : "";
    make_chains(&s);
    fp_json_begin(&j, '{');
    fp_json_key(&j, "$schema"),
        fp_json_string(&j, "https://www.speedscope.app/file-format-schema.json");
    fp_json_key(&j, "exporter"), fp_json_string(&j, "footpath " FOOTPATH_VERSION);
    fp_json_key(&j, "name"), fp_json_string(&j, program);
    fp_json_key(&j, "activeProfileIndex"), fp_json_uint(&j, 0);
    fp_json_key(&j, "shared"), fp_json_begin(&j, '{');
    fp_json_key(&j, "frames"), fp_json_begin(&j, '[');
    add_samples(&s);
    fp_json_end(&j, ']');
    fp_json_end(&j, '}');
    json_profile(&s, program);
    fp_json_end(&j, '}');
    fp_write_u8(out, '\n');
    fp_arena_free(&s.arena);
}
