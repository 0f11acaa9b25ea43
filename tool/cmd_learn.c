/* footpath learn: which events tell how often code ran (paper 003, section 4.1). */
#include "commands.h"

#include "perf/learn.h"
#include "perf/attribute.h"
#include "perf/exactblocks.h"
#include "perf/blockweights.h"

#include <math.h>
#include <string.h>

static struct {
    struct cli_profiles truth;
    FP_VEC(const char *) inputs; /* one for each truth, in the same order */
    FP_VEC(const char *) events; /* to learn of; none: of all */
    const char *module, *binary;
    bool table, json;
} given;

static void take_input(const struct cli_command *command, char *value)
{
    (void)command;
    fp_vec_push(&given.truth.arena, &given.inputs, value);
}

static void take_event(const struct cli_command *command, char *value)
{
    (void)command;
    fp_vec_push(&given.truth.arena, &given.events, value);
}

static const struct cli_option options[] = {
    {"--truth", "PROFILE", "exact counts of the same run, by footpath import (repeatable)",
     .profiles = &given.truth},
    {"--event", "NAME", "learn of this event and others named so (repeatable; of all)",
     .take = take_event},
    {"--module", "NAME", "only this program or library", .text = &given.module},
    {"--binary", "FILE", "the program that was sampled, where it is not at its old place",
     .text = &given.binary},
    {"--table", NULL, "print the blocks that are learnt from, one per line, instead",
     .flag = &given.table},
    {"--json", NULL, "as JSON", .flag = &given.json},
    {0},
};

struct learn_work {
    struct fp_arena arena;
    struct fp_perf_data data;
    struct fp_attribution found;
    struct fp_exact_blocks truth;
    struct fp_training training;
    const char *module;
    uint32_t *chosen; /* the events that are learnt of: training.nevents */
    size_t programs;  /* read so far */
    bool table;
};

/* ---- blocks ---- */

static void print_block(const struct learn_work *w, const struct fp_machine_function *f,
                        uint32_t block, const double *events, double truth)
{
    const struct fp_machine_block *b = &f->blocks[block];
    uint32_t loads = 0, stores = 0, slow = 0, calls = 0;
    for (uint32_t i = 0; i < b->ninsns; i++) {
        const struct fp_insn *insn = &f->insns.at[b->first_insn + i];
        loads += (insn->flags & FP_INSN_LOADS) != 0;
        stores += (insn->flags & FP_INSN_STORES) != 0;
        slow += (insn->flags & (FP_INSN_DIVIDES | FP_INSN_REPEATS | FP_INSN_LOCKED)) != 0;
        calls += insn->kind == FP_INSN_CALL;
    }
    cli_print_plain(f->symbol->name);
    printf("\t%llx\t%u\t%u\t%u\t%u\t%u\t%.0f",
           (unsigned long long)f->insns.at[b->first_insn].address, b->ninsns, loads, stores, slow,
           calls, truth);
    for (uint32_t e = 0; e < w->found.nevents; e++) printf("\t%.0f", events[e]);
    printf("\n");
}

static void add_function(struct learn_work *w, const struct fp_perf_object *s,
                         struct fp_edge_profile *p, struct fp_machine_function *f)
{
    struct fp_arena scratch = {0};
    double **events = FP_NEW_ARRAY(&scratch, double *, w->found.nevents);
    double *truth = fp_exact_blocks_of(&scratch, &w->truth, p, f);
    double *one = FP_NEW_ARRAY(&scratch, double, w->found.nevents);
    for (uint32_t e = 0; e < w->found.nevents; e++)
        events[e] = fp_perf_block_samples(&scratch, s, f, e);
    for (uint32_t b = 0; b < f->cfg->nblocks; b++) {
        if (!f->blocks[b].ninsns) continue;
        for (uint32_t e = 0; e < w->found.nevents; e++) one[e] = events[e][b];
        if (w->table) print_block(w, f, b, one, truth[b]);
        for (uint32_t e = 0; e < w->training.nevents; e++)
            one[e] = events[w->chosen[e]][b] / f->blocks[b].ninsns;
        fp_training_add(&w->training, &w->arena, one, truth[b]);
    }
    fp_arena_free(&scratch);
}

static void add_object(struct learn_work *w, const struct fp_perf_object *s)
{
    struct fp_edge_profile p;
    fp_edge_profile_init(&p, &w->arena, s->object);
    bool *done = FP_NEW_ARRAY(&w->arena, bool, p.machine.nfunctions);
    for (size_t i = 0; i < s->hits.len; i++) {
        struct fp_machine_function *f = fp_machine_find(&p.machine, s->hits.at[i].address);
        if (!f || done[f - p.machine.functions]) continue;
        done[f - p.machine.functions] = true;
        fp_machine_build(&p.machine, f);
        if (f->cfg) add_function(w, s, &p, f);
    }
    fp_edge_profile_free(&p);
}

/* ---- results ---- */

static void print_weights(const struct learn_work *w, const struct fp_model *model)
{
    struct fp_arena scratch = {0};
    printf("%-32s %10s\n", "event", "weight");
    for (uint32_t e = 0; e < w->training.nevents; e++)
        printf("%-32s %10.4f\n", fp_plain(&scratch, w->data.events.at[w->chosen[e]].name),
               model->weights[e]);
    printf("%-32s %10.4f\n\n%zu blocks\n", "(constant)", model->constant, w->training.exact.len);
    fp_arena_free(&scratch);
}

static int print_json(const struct learn_work *w, const struct fp_model *model)
{
    struct fp_writer out = {0};
    struct fp_json j = {.out = &out};
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "blocks"), fp_json_uint(&j, w->training.exact.len);
    fp_json_key(&j, "constant"), fp_json_double(&j, model->constant);
    fp_json_key(&j, "weights");
    fp_json_begin(&j, '{');
    for (uint32_t e = 0; e < w->training.nevents; e++)
        fp_json_key(&j, w->data.events.at[w->chosen[e]].name),
            fp_json_double(&j, model->weights[e]);
    fp_json_end(&j, '}');
    fp_json_end(&j, '}');
    fp_write_u8(&out, '\n');
    return cli_output(NULL, &out);
}

/* The weights are of the same events in all programs. */
static bool same_events(const struct learn_work *w, const struct fp_perf_data *before,
                        const char *input, struct fp_error *error)
{
    bool same = before->events.len == w->data.events.len;
    for (size_t e = 0; same && e < before->events.len; e++)
        same = !strcmp(before->events.at[e].name, w->data.events.at[e].name);
    return same || fp_fail(error, input, "has other events than the samples before it");
}

static bool choose_events(struct learn_work *w, const char *input, struct fp_error *error)
{
    uint32_t n = (uint32_t)w->data.events.len, count = 0;
    w->chosen = FP_NEW_ARRAY(&w->arena, uint32_t, n + given.events.len);
    for (uint32_t e = 0; e < n && !given.events.len; e++) w->chosen[count++] = e;
    for (size_t i = 0; i < given.events.len; i++) {
        uint32_t e = 0;
        while (e < n && strcmp(w->data.events.at[e].name, given.events.at[i])) e++;
        if (e == n) return fp_fail(error, input, "has no event %s", given.events.at[i]);
        w->chosen[count++] = e;
    }
    w->training.nevents = count;
    return true;
}

static bool add_program(struct learn_work *w, const char *input, struct fp_error *error)
{
    struct fp_perf_data before = w->data;
    if (!fp_perf_read(&w->arena, input, &w->data, error)) return false;
    if (w->programs++ && !same_events(w, &before, input, error)) return false;
    if (!choose_events(w, input, error)) return false;
    fp_attribute(&w->arena, &w->data, given.binary, &w->found);
    if (given.binary && !w->found.binary_used)
        cli_say("%s: no object of that name was sampled; it is not used", given.binary);
    for (size_t i = 0; i < w->found.objects.len; i++) {
        const struct fp_perf_object *s = w->found.objects.at[i];
        if (w->module && !strstr(fp_base_name(s->path), w->module)) continue;
        if (s->object && !s->problem.set && s->hits.len) add_object(w, s);
    }
    fp_attribution_close(&w->found);
    fp_training_scale(&w->training);
    return true;
}

static bool learn_of(struct learn_work *w, size_t number, struct fp_error *error)
{
    struct fp_profile *exact = cli_load_one(given.truth.names.at[number]);
    if (!exact) return false;
    fp_exact_blocks_init(&w->truth, &w->arena, exact);
    bool ok = add_program(w, given.inputs.at[number], error);
    fp_profile_free(exact);
    return ok;
}

static int learn(struct learn_work *w)
{
    struct fp_error error = {0};
    struct fp_model model;
    for (size_t i = 0; i < given.inputs.len; i++)
        if (!learn_of(w, i, &error)) return error.set ? cli_fail(&error, NULL) : EXIT_FAILED;
    if (w->table) return EXIT_OK;
    if (!fp_learn(&w->arena, &w->training, &model, &error)) return cli_fail(&error, NULL);
    if (given.json) return print_json(w, &model);
    print_weights(w, &model);
    return EXIT_OK;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    cli_parse(command, argc, argv);
    if (!given.truth.names.len) cli_usage(command, "--truth is needed");
    if (!given.inputs.len) cli_usage(command, "no samples given");
    if (given.inputs.len != given.truth.names.len)
        cli_usage(command, "each file of samples needs a --truth, in the same order");
    if (!cli_check_sampled(given.binary)) return EXIT_FAILED;
    struct learn_work w = {.module = given.module, .table = given.table};
    int status = learn(&w);
    fp_arena_free(&w.arena);
    fp_arena_free(&given.truth.arena);
    return status;
}

struct cli_command command_learn = {
    .name = "learn",
    .arguments = "--truth PROFILE SAMPLES...",
    .summary = "Fit the weights of events in perf samples against exact counts",
    .text = "Linear support vector regression of the execution counts of blocks on the samples of\n"
            "each event, both divided by their means: the larger a weight, the better the event\n"
            "tells how often code ran; a negative one tells of code that is sampled too much.\n"
            "With several programs the first --truth is of the first SAMPLES, and so on.",
    .options = options,
    .take_word = take_input,
    .run = run,
};
