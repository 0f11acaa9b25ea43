/* Collapsed stacks and speedscope files: see exports.h. */
#include "model/sentence.h"
#include "report/exports.h"

#include <inttypes.h>
#include <string.h>

/* Every path, or function where there are none, with its two names. */
typedef void stack_callback(const struct fp_report_function *rf, const char *path, double cost,
                            void *context);

static void each_path(const struct fp_report *r, const struct fp_report_function *rf,
                      stack_callback *call, void *context)
{
    struct fp_arena scratch = {0};
    for (size_t i = 0; i < rf->npaths; i++) {
        const struct footpath_path *one = &r->paths[rf->first_path + i];
        struct fp_path path;
        if (!fp_report_decode(&scratch, r, one, &path)) continue;
        const char *text = rf->function->source.npositions
                               ? fp_path_sentence(&scratch, r->sources, rf->function, &path)
                               : fp_arena_printf(&scratch, "path %" PRIu64, one->id);
        call(rf, text, one->cost, context);
        if (scratch.total > 1 << 20) fp_arena_free(&scratch);
    }
    fp_arena_free(&scratch);
}

static void each_stack(const struct fp_report *r, stack_callback *call, void *context)
{
    for (size_t i = 0; i < r->nfunctions; i++) {
        const struct fp_report_function *rf = &r->functions[i];
        if (rf->npaths)
            each_path(r, rf, call, context);
        else if (rf->cost > 0)
            call(rf, NULL, rf->cost, context);
    }
}

/* ---- collapsed ---- */

/* A semicolon ends a frame: a comma stands for one. */
static void say_frame(struct fp_writer *out, const char *text)
{
    for (; *text; text++) fp_write_u8(out, *text == ';' ? ',' : (uint8_t)*text);
}

static void say_collapsed(const struct fp_report_function *rf, const char *path, double cost,
                          void *context)
{
    struct fp_writer *out = context;
    say_frame(out, rf->name);
    if (path) {
        fp_say(out, ";");
        say_frame(out, path);
    }
    fp_say(out, " %.0f\n", cost);
}

void fp_write_collapsed(struct fp_writer *out, const struct fp_report *report)
{
    each_stack(report, say_collapsed, out);
}

/* ---- speedscope: its file-format-schema.json ---- */

struct stack_scope {
    struct fp_json *j;
    struct fp_arena arena;
    const struct fp_report_function *last;
    uint64_t frames, function_frame;
    FP_VEC(uint64_t) stacks; /* pairs: function, path; the latter 0 for none */
    FP_VEC(double) weights;
};

static void json_frame(struct stack_scope *s, const char *name, const struct fp_function *f)
{
    fp_json_begin(s->j, '{');
    fp_json_key(s->j, "name"), fp_json_string(s->j, name);
    fp_json_key(s->j, "file"), fp_json_string(s->j, f->file);
    fp_json_key(s->j, "line"), fp_json_uint(s->j, f->line);
    fp_json_end(s->j, '}');
}

static void add_stack(const struct fp_report_function *rf, const char *path, double cost,
                      void *context)
{
    struct stack_scope *s = context;
    if (s->last != rf) {
        json_frame(s, rf->name, rf->function);
        s->function_frame = s->frames++;
        s->last = rf;
    }
    fp_vec_push(&s->arena, &s->stacks, s->function_frame);
    fp_vec_push(&s->arena, &s->stacks, path ? s->frames : 0);
    if (path) {
        json_frame(s, path, rf->function);
        s->frames++;
    }
    fp_vec_push(&s->arena, &s->weights, cost);
}

static void json_samples(struct stack_scope *s)
{
    fp_json_key(s->j, "samples"), fp_json_begin(s->j, '[');
    for (size_t i = 0; i < s->weights.len; i++) {
        fp_json_begin(s->j, '[');
        fp_json_uint(s->j, s->stacks.at[2 * i]);
        if (s->stacks.at[2 * i + 1]) fp_json_uint(s->j, s->stacks.at[2 * i + 1]);
        fp_json_end(s->j, ']');
    }
    fp_json_end(s->j, ']');
    fp_json_key(s->j, "weights"), fp_json_begin(s->j, '[');
    for (size_t i = 0; i < s->weights.len; i++) fp_json_double(s->j, s->weights.at[i]);
    fp_json_end(s->j, ']');
}

void fp_write_speedscope(struct fp_writer *out, const struct fp_report *report)
{
    struct fp_json j = {.out = out, .compact = true};
    struct stack_scope s = {.j = &j};
    const char *program =
        report->profile->runs.len ? fp_base_name(report->profile->runs.at[0].program) : "";
    fp_json_begin(&j, '{');
    fp_json_key(&j, "$schema"),
        fp_json_string(&j, "https://www.speedscope.app/file-format-schema.json");
    fp_json_key(&j, "exporter"), fp_json_string(&j, "footpath " FOOTPATH_VERSION);
    fp_json_key(&j, "name"), fp_json_string(&j, program);
    fp_json_key(&j, "activeProfileIndex"), fp_json_uint(&j, 0);
    fp_json_key(&j, "shared"), fp_json_begin(&j, '{');
    fp_json_key(&j, "frames"), fp_json_begin(&j, '[');
    each_stack(report, add_stack, &s);
    fp_json_end(&j, ']');
    fp_json_end(&j, '}');
    fp_json_key(&j, "profiles"), fp_json_begin(&j, '[');
    fp_json_begin(&j, '{');
    fp_json_key(&j, "type"), fp_json_string(&j, "sampled");
    fp_json_key(&j, "name"), fp_json_string(&j, program);
    fp_json_key(&j, "unit"), fp_json_string(&j, "none");
    fp_json_key(&j, "startValue"), fp_json_uint(&j, 0);
    fp_json_key(&j, "endValue"), fp_json_double(&j, report->cost);
    json_samples(&s);
    fp_json_end(&j, '}');
    fp_json_end(&j, ']');
    fp_json_end(&j, '}');
    fp_write_u8(out, '\n');
    fp_arena_free(&s.arena);
}
