/* footpath divide (once footpath plan): divide the profiling of a program among copies of it. */
#include "commands.h"

#include "cli_divide.h"
#include "p3/divide.h"
#include "p3/distribute.h"

#include <string.h>

struct divide_request {
    const char *program, *output, *guide, *measure;
    struct fp_divide_options how;
    bool json;
};

static struct divide_request given = {.output = "footpath.division",
                                      .how = {.ncopies = 2, .strategy = FP_STRATEGY_INVOCATIONS}};

static void take_copies(const struct cli_command *command, char *value)
{
    cli_take_copies(command, value, &given.how);
}

static void take_strategy(const struct cli_command *command, char *value)
{
    cli_take_strategy(command, value, &given.how);
}

static void take_labels(const struct cli_command *command, char *value)
{
    cli_take_labels(command, value, &given.how);
}

static void take_program(const struct cli_command *command, char *value)
{
    if (given.program) cli_usage(command, "one program only");
    given.program = value;
}

static const struct cli_option options[] = {
    {"-k", "K", "number of copies (2)", .take = take_copies},
    {"-o", "FILE", "where to write the division (footpath.division)", .text = &given.output},
    {"--strategy", "NAME", "invocations, cuts, procedures or p3 (invocations)",
     .take = take_strategy, .words = "invocations cuts procedures p3"},
    {"--guide", "PROFILE", "an earlier profile: what is hot", .text = &given.guide},
    {"--labels", "NAME", "weighted, or plain: all edges alike, as in the paper (weighted)",
     .take = take_labels, .words = "weighted plain"},
    {"--measure", "PROFILE", "loads by this profile (the guide)", .text = &given.measure},
    {"--json", NULL, "as JSON", .flag = &given.json},
    {0},
};

static void print_text(const struct fp_division *d, const struct fp_division_cost *cost, bool hits)
{
    const char *unit = hits ? "hits" : "operations";
    uint32_t slowest = fp_most_loaded(cost->loads, d->ncopies);
    printf("%u copies by %s, labels %s\n", d->ncopies, fp_strategy_name(d->strategy),
           d->plain_labels ? "plain" : "weighted");
    printf("%zu functions: %u profitable, %zu divided by paths, %zu by turns\n", cost->functions,
           d->profitable, cost->divided, cost->turns);
    for (uint32_t i = 0; i < d->ncopies; i++)
        printf("  copy %-3u %15s %s%s\n", i, cli_count((uint64_t)cost->loads[i]), unit,
               i == slowest ? "  slowest" : "");
    double most = cost->loads[slowest];
    printf("one copy for all: %s %s with plain labels (slowest copy: %s of it),\n",
           cli_count((uint64_t)cost->plain), unit, cli_percent(most, cost->plain));
    printf("  %s with weighted labels (%s)\n", cli_count((uint64_t)cost->weighted),
           cli_percent(most, cost->weighted));
}

static int print_json(const struct fp_division *d, const struct fp_division_cost *cost, bool hits)
{
    struct fp_writer out = {0};
    struct fp_json j = {.out = &out};
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "copies"), fp_json_uint(&j, d->ncopies);
    fp_json_key(&j, "strategy"), fp_json_string(&j, fp_strategy_name(d->strategy));
    fp_json_key(&j, "labels"), fp_json_string(&j, d->plain_labels ? "plain" : "weighted");
    fp_json_key(&j, "unit"), fp_json_string(&j, hits ? "hits" : "operations");
    fp_json_key(&j, "functions"), fp_json_uint(&j, cost->functions);
    fp_json_key(&j, "candidates"), fp_json_uint(&j, cost->candidates);
    fp_json_key(&j, "profitable"), fp_json_uint(&j, d->profitable);
    fp_json_key(&j, "divided"), fp_json_uint(&j, cost->divided);
    fp_json_key(&j, "turns"), fp_json_uint(&j, cost->turns);
    fp_json_key(&j, "loads"), fp_json_begin(&j, '[');
    for (uint32_t i = 0; i < d->ncopies; i++) fp_json_uint(&j, (uint64_t)cost->loads[i]);
    fp_json_end(&j, ']');
    fp_json_key(&j, "sequential_plain"), fp_json_uint(&j, (uint64_t)cost->plain);
    fp_json_key(&j, "sequential_weighted"), fp_json_uint(&j, (uint64_t)cost->weighted);
    fp_json_end(&j, '}');
    fp_write_u8(&out, '\n');
    return cli_output(NULL, &out);
}

static int divide(const struct divide_request *r)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_program program;
    struct fp_division division;
    struct fp_division_cost cost;
    struct fp_divide_options how = r->how;
    struct fp_profile *guide = r->guide ? cli_load_one(r->guide) : NULL, *measure = guide;
    if (r->measure) measure = cli_load_one(r->measure);
    int status = EXIT_FAILED;
    if ((r->guide && !guide) || (r->measure && !measure)) goto out;
    how.guide = guide;
    if (!fp_program_read(&arena, r->program, &program, &error) ||
        !fp_divide(&arena, &program, &how, &division, &error) ||
        !fp_division_write(r->output, &division, &error)) {
        cli_fail(&error, NULL);
        goto out;
    }
    fp_division_cost(&arena, &program, &division, measure, &cost);
    status = EXIT_OK;
    if (r->json)
        status = print_json(&division, &cost, measure != NULL);
    else
        print_text(&division, &cost, measure != NULL);
out:
    if (measure != guide) fp_profile_free(measure);
    fp_profile_free(guide);
    fp_arena_free(&arena);
    return status;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    if (!strcmp(command->name, "plan")) given.output = "footpath.plan";
    cli_parse(command, argc, argv);
    if (!given.program) cli_usage(command, "no program given");
    return divide(&given);
}

struct cli_command command_divide = {
    .name = "divide",
    .arguments = "PROGRAM",
    .summary = "Divide the profiling of a program among K copies of it",
    .text = "PROGRAM is built by footpath-cc with --fp-mode=path. Each copy is then built with\n"
            "the same flags and --fp-division=FILE --fp-copy=I, I from 0; footpath p3 does\n"
            "that, runs the copies and makes one profile of theirs.\n"
            "The load of a copy is the number of operations it executes for profiling, by the\n"
            "counts of a profile; without one, the number of operations in its code.",
    .options = options,
    .take_word = take_program,
    .run = run,
};
