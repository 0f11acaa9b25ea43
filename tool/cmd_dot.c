/* footpath dot: control-flow graphs for Graphviz, or drawn by it. */
#include "commands.h"

#include "base/io.h"
#include "cli_suggest.h"
#include "graph/cfgtext.h"
#include "report/dot.h"

#include <string.h>

struct dot_request {
    const char *function, *output;
    struct fp_dot_options how;
    struct cli_profiles inputs;
    struct fp_sources sources;
};

static struct dot_request given;

static const struct cli_option options[] = {
    {"--function", "NAME", "the function to draw (needed unless there is only one)",
     .text = &given.function},
    {"--dag", NULL, "the dag with its dummy edges instead of the cfg", .flag = &given.how.dag},
    {"--values", NULL, "with the values of path numbering, in brackets", .flag = &given.how.values},
    {"--plan", NULL, "with operations on edges, as if all were equally hot",
     .flag = &given.how.plan},
    {"-o", "FILE", "where to write; FILE.svg is drawn (standard output, as dot)",
     .text = &given.output},
    CLI_SOURCE_OPTIONS(given.sources),
    CLI_PROFILE_OPTIONS(given.inputs),
    {0},
};

static bool ends_in(const char *name, const char *ending)
{
    size_t len = strlen(name), end = strlen(ending);
    return len >= end && !strcmp(name + len - end, ending);
}

static int write_graph(const struct dot_request *request, struct fp_writer *dot)
{
    struct fp_error error = {0};
    if (!request->output || !ends_in(request->output, ".svg"))
        return cli_output(request->output, dot);
    struct fp_writer svg = {0};
    fp_write_u8(dot, 0);
    bool ok = fp_dot_to_svg(&svg, (const char *)dot->bytes, &error);
    fp_writer_free(dot);
    if (!ok) return cli_fail(&error, NULL);
    return cli_output(request->output, &svg);
}

struct dot_function {
    const struct fp_module *module;
    const struct fp_function *function;
};

/* The function asked for: by its exact name, or the only one that contains it. */
static bool choose(struct fp_arena *arena, const struct dot_request *request,
                   const struct dot_function *all, size_t n, struct dot_function *chosen)
{
    size_t found = 0;
    struct cli_nearest nearest = {.wanted = request->function};
    for (size_t i = 0; i < n; i++) {
        const char *name = fp_demangle(arena, all[i].function->name);
        if (request->function) cli_consider(&nearest, name);
        if (request->function && !strcmp(name, request->function)) {
            *chosen = all[i];
            return true;
        }
        if (request->function && !strstr(name, request->function)) continue;
        *chosen = all[i];
        found++;
    }
    if (found == 1) return true;
    if (!found)
        cli_say("no function matches '%s'%s", request->function ? request->function : "",
                cli_suggestion(arena, &nearest));
    else
        cli_say("%zu functions match; name one by --function", found);
    return false;
}

static int draw(struct fp_arena *arena, const struct dot_request *request,
                const struct dot_function *all, size_t n, bool counts)
{
    struct dot_function one;
    struct fp_writer dot = {0};
    if (!choose(arena, request, all, n, &one)) return EXIT_FAILED;
    struct fp_edge_counts edges;
    bool have = false;
    if (counts) {
        struct fp_counts raw;
        struct fp_error error = {0};
        fp_profile_counts(arena, one.module, one.function, &raw);
        have = fp_edges_of(arena, &raw, &edges, &error);
        if (!have) cli_fail(&error, "drawn without counts");
    }
    fp_dot_function(&dot, one.function, have ? &edges : NULL, &request->how);
    return write_graph(request, &dot);
}

static void add_candidates(struct fp_arena *arena, const struct fp_module *module,
                           const struct fp_program *program, struct dot_function **all, size_t *n)
{
    struct dot_function *more = FP_NEW_ARRAY(arena, struct dot_function, *n + program->nfunctions);
    if (*n) memcpy(more, *all, *n * sizeof *more);
    for (size_t i = 0; i < program->nfunctions; i++)
        if (!(program->functions[i].flags & FP_FUNCTION_SKIPPED))
            more[(*n)++] = (struct dot_function){module, &program->functions[i]};
    *all = more;
}

/* A graph in text form has no source lines, but the rest. */
static int draw_text(const char *path, const struct dot_request *request)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_file file;
    struct fp_named_cfg graph;
    if (!fp_file_open(&file, path, &error)) return cli_fail(&error, NULL);
    char *text = fp_arena_strndup(&arena, (const char *)file.bytes, file.len);
    char *dashes = strstr(text, "\n---\n");
    if (dashes) dashes[1] = 0;
    fp_file_close(&file);
    if (!fp_cfg_parse(&arena, text, &graph, &error)) return cli_fail(&error, NULL);
    struct fp_function f = {.name = path, .file = path, .paths.cfg = graph.cfg};
    f.source.blocks = FP_NEW_ARRAY(&arena, struct fp_block_info, graph.cfg->nblocks);
    f.source.edges = FP_NEW_ARRAY(&arena, struct fp_edge_info, graph.cfg->nedges);
    f.paths.truncation = FP_NEW(&arena, struct fp_truncation);
    fp_truncate(&arena, f.paths.cfg, graph.weighted ? graph.weights : NULL, &(struct fp_limits){0},
                f.paths.truncation);
    f.paths.dag = fp_dag_make(&arena, f.paths.truncation);
    f.paths.numbering = fp_number(&arena, f.paths.dag, FP_NUMBER_LARGEST_LAST, NULL);
    struct dot_function only = {NULL, &f};
    int status = draw(&arena, request, &only, 1, false);
    fp_arena_free(&arena);
    return status;
}

static int draw_program(const char *path, const struct dot_request *request)
{
    struct fp_arena arena = {0};
    struct fp_program program;
    struct fp_error error = {0};
    struct dot_function *all = NULL;
    size_t n = 0;
    if (!fp_program_read(&arena, path, &program, &error)) return cli_fail(&error, NULL);
    add_candidates(&arena, NULL, &program, &all, &n);
    int status = draw(&arena, request, all, n, false);
    fp_arena_free(&arena);
    return status;
}

static int draw_profile(struct cli_profiles *inputs, const struct dot_request *request)
{
    struct fp_arena arena = {0};
    struct dot_function *all = NULL;
    size_t n = 0;
    struct fp_profile *profile = cli_load(inputs);
    if (!profile) return EXIT_FAILED;
    for (size_t i = 0; i < profile->modules.len; i++)
        add_candidates(&arena, profile->modules.at[i], &profile->modules.at[i]->program, &all, &n);
    int status = draw(&arena, request, all, n, true);
    fp_arena_free(&arena);
    fp_profile_free(profile);
    return status;
}

static bool is_elf(const char *path)
{
    struct fp_file file;
    struct fp_error error = {0};
    if (!fp_file_open(&file, path, &error)) return false;
    bool result = file.len > 4 && !memcmp(file.bytes, "\177ELF", 4);
    fp_file_close(&file);
    return result;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    cli_parse(command, argc, argv);
    cli_default_profile(&given.inputs);
    const char *first = given.inputs.names.at[0];
    if (!ends_in(first, ".graph")) given.how.sources = &given.sources;
    int status = ends_in(first, ".graph") ? draw_text(first, &given)
                 : is_elf(first)          ? draw_program(first, &given)
                                          : draw_profile(&given.inputs, &given);
    fp_arena_free(&given.inputs.arena);
    fp_sources_free(&given.sources);
    return status;
}

struct cli_command command_dot = {
    .name = "dot",
    .arguments = "[PROFILE|PROGRAM|TEXT.graph]",
    .summary = "Draw a function's control-flow graph",
    .text = "From a profile with its counts, from a program without, or from a graph in text\n"
            "form. Edges where paths end are dashed.",
    .options = options,
    .words = &given.inputs,
    .run = run,
};
