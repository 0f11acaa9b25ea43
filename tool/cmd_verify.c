/* footpath verify: do the paths imply the edges that were counted? */
#include "commands.h"

#include "cli_gate.h"
#include "paths/verify.h"
#include "model/model.h"

#include <inttypes.h>

static struct {
    struct cli_profiles inputs;
    bool json;
} given;

static const struct cli_option options[] = {
    {"--json", NULL, "as JSON", .flag = &given.json},
    CLI_PROFILE_OPTIONS(given.inputs),
    {0},
};

static void print_edge(const struct fp_difference *d)
{
    const struct fp_function *f = d->function;
    cli_print_plain(f->name);
    if (d->edge == FP_NONE) {
        printf(" entries");
        return;
    }
    const struct fp_edge *edge = &f->paths.cfg->edges[d->edge];
    printf(" edge %u->%u", edge->src, edge->dst);
    const struct fp_block_info *info = &f->source.blocks[edge->src];
    if (info->npositions) {
        const struct fp_position *p =
            &f->source.positions[info->first_position + info->npositions - 1];
        printf(" (");
        cli_print_plain(fp_base_name(f->source.scopes[p->scope].file));
        printf(":%u)", p->line);
    }
}

static void print_text(const struct fp_verification *v)
{
    for (size_t i = 0; i < v->ndifferences; i++) {
        const struct fp_difference *d = &v->differences[i];
        print_edge(d);
        if (d->what) {
            printf(": ");
            cli_print_plain(d->what);
            printf("\n");
            continue;
        }
        printf(": by paths %" PRIu64 ", counted %" PRIu64 "\n", d->from_paths, d->counted);
    }
    if (v->unmatched) printf("%zu functions have no counterpart\n", v->unmatched);
    printf("%zu functions, %zu edges: ", v->functions, v->edges);
    if (v->different)
        printf("%zu differ\n", v->different);
    else
        printf("%s\n", v->unmatched ? "these identical" : "identical");
}

static int print_json(const struct fp_verification *v)
{
    struct fp_writer out = {0};
    struct fp_json j = {.out = &out};
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "functions"), fp_json_uint(&j, v->functions);
    fp_json_key(&j, "edges"), fp_json_uint(&j, v->edges);
    fp_json_key(&j, "different"), fp_json_uint(&j, v->different);
    fp_json_key(&j, "unmatched"), fp_json_uint(&j, v->unmatched);
    fp_json_key(&j, "differences"), fp_json_begin(&j, '[');
    for (size_t i = 0; i < v->ndifferences; i++) {
        const struct fp_difference *d = &v->differences[i];
        fp_json_begin(&j, '{');
        fp_json_key(&j, "function"), fp_json_string(&j, d->function->name);
        if (d->edge != FP_NONE) {
            fp_json_key(&j, "from"), fp_json_uint(&j, d->function->paths.cfg->edges[d->edge].src);
            fp_json_key(&j, "to"), fp_json_uint(&j, d->function->paths.cfg->edges[d->edge].dst);
        }
        fp_json_key(&j, "by_paths"), fp_json_uint(&j, d->from_paths);
        fp_json_key(&j, "counted"), fp_json_uint(&j, d->counted);
        if (d->what) fp_json_key(&j, "problem"), fp_json_string(&j, d->what);
        fp_json_end(&j, '}');
    }
    fp_json_end(&j, ']');
    fp_json_end(&j, '}');
    fp_write_u8(&out, '\n');
    return cli_output(NULL, &out);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    cli_parse(command, argc, argv);
    struct cli_profiles *inputs = &given.inputs, other = {0};
    cli_default_profile(inputs);
    size_t count = inputs->names.len;
    if (count > 2) cli_usage(command, "at most two profiles");
    other.binary = inputs->binary, other.skip_bad = inputs->skip_bad;
    other.program = inputs->program;
    if (count == 2) cli_add_profile(&other, inputs->names.at[--inputs->names.len]);
    inputs->all_builds = count == 1 && !inputs->program; /* each build against itself */
    struct fp_profile *paths = cli_load(inputs), *edges = paths;
    if (paths && count == 2) edges = cli_load(&other);
    if (!paths || !edges) return EXIT_FAILED;
    struct fp_arena arena = {0};
    struct fp_verification result;
    struct fp_error error = {0};
    int status;
    if (!fp_verify(&arena, paths, edges, &result, &error)) {
        status = cli_fail(&error, NULL);
    } else {
        status = result.different || result.unmatched ? EXIT_FAILED : EXIT_OK;
        if (!given.json)
            print_text(&result);
        else if (print_json(&result) != EXIT_OK)
            status = EXIT_FAILED;
        if (!cli_gate_open(inputs, paths) || !cli_gate_open(inputs, edges)) status = EXIT_FAILED;
    }
    fp_arena_free(&arena);
    if (edges != paths) fp_profile_free(edges);
    fp_profile_free(paths);
    fp_arena_free(&inputs->arena);
    fp_arena_free(&other.arena);
    return status;
}

struct cli_command command_verify = {
    .name = "verify",
    .arguments = "[CHECK] | PATHS EDGES",
    .summary = "Compare the edges that paths imply with the edges that were counted",
    .text = "PATHS and EDGES are profiles of two builds of one program (--fp-mode=path and\n"
            "edge or edge-min); CHECK is the profile of one build with --fp-mode=check, or\n"
            "else footpath.prof.\n"
            "Exit status 0: identical. 1: not, with the first differences, or functions ran\n"
            "that only one of the two has.",
    .options = options,
    .words = &given.inputs,
    .run = run,
};
