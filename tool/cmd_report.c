/* footpath report: the profile as a web site that needs no server. */
#include "commands.h"

#include "cli_combined.h"

#include "model/model.h"
#include "report/site.h"

static const struct cli_option options[] = {
    {"-o", "DIR", "where to write (footpath-report)"},
    {"--title", "TEXT", "title of the page (the program's name)"},
    {"--function", "NAME", "only functions whose name contains NAME"},
    {"--paths", "N", "paths listed per function (200)"},
    {"--untaken", "N", "paths never taken listed per function (20)"},
    {"--graphs", "N", "functions drawn by Graphviz, most costly first (400)"},
    CLI_SOURCE_OPTIONS,
    CLI_PROFILE_OPTIONS,
    {NULL, NULL, NULL},
};
enum { OUTPUT, TITLE, FUNCTION, PATHS, UNTAKEN, GRAPHS, SOURCE_ROOT, MAP, BINARY, STRICT };

/* Each of several profiles alone, with the maps of the whole. */
static void share_maps(const struct fp_profile *whole, struct fp_profile *alone)
{
    for (size_t i = 0; i < alone->modules.len; i++)
        for (size_t k = 0; k < whole->modules.len; k++)
            if (fp_same_module(&alone->modules.at[i]->id, &whole->modules.at[k]->id)) {
                alone->modules.at[i]->program = whole->modules.at[k]->program;
                alone->modules.at[i]->have_program = whole->modules.at[k]->have_program;
            }
}

static size_t load_columns(struct fp_arena *arena, const struct fp_profile *whole,
                           struct fp_site_column **columns)
{
    FP_VEC(struct fp_site_column) all = {0};
    for (size_t i = 0; i < whole->files.len && whole->files.len > 1; i++) {
        struct fp_profile *alone = fp_profile_new();
        struct fp_error error = {0};
        if (!fp_profile_add(alone, whole->files.at[i], &error)) {
            fp_profile_free(alone);
            continue;
        }
        share_maps(whole, alone);
        struct fp_site_column column = {fp_base_name(whole->files.at[i]), alone};
        fp_vec_push(arena, &all, column);
    }
    *columns = all.at;
    return all.len;
}

static void warn_of_missing(const struct fp_sources *sources, const char *folder)
{
    size_t missing = 0;
    for (size_t i = 0; i < sources->all.len; i++) missing += sources->all.at[i]->missing != NULL;
    if (missing)
        cli_say("%s: %zu of %zu source files were not found; say where they are by --source-root "
                "DIR or "
                "--map OLD=NEW",
                folder, missing, sources->all.len);
}

static int write_site(struct cli_profiles *inputs, struct fp_sources *sources, const char *function,
                      struct fp_site_options *how)
{
    struct fp_profile *profile;
    if (fp_is_combined(inputs->names.at[0])) {
        how->view = cli_load_view(inputs);
        profile = how->view ? how->view->profile : NULL;
    } else {
        profile = cli_load(inputs);
    }
    if (!profile) return EXIT_FAILED;
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_site_column *columns = NULL;
    how->ncolumns = load_columns(&arena, profile, &columns);
    how->columns = columns;
    if (!how->title)
        how->title = profile->runs.len ? fp_base_name(profile->runs.at[0].program) : "footpath";
    struct fp_report_options what = {.function = function, .edges = true};
    struct fp_report *report = fp_report_make(&arena, profile, &what);
    bool ok = fp_site_write(report, sources, how, &error);
    if (ok) {
        warn_of_missing(sources, how->folder);
        printf("%s/index.html\n", how->folder);
    }
    for (size_t i = 0; i < how->ncolumns; i++)
        fp_profile_free((struct fp_profile *)columns[i].profile);
    fp_arena_free(&arena);
    fp_profile_free(profile);
    return ok ? EXIT_OK : cli_fail(&error, NULL);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    struct cli_profiles inputs = {0};
    struct fp_sources sources = {0};
    struct fp_site_options how = {.folder = "footpath-report",
                                  .paths = 200,
                                  .untaken = 20,
                                  .graphs = 400,
                                  .progress = cli_progress};
    const char *function = NULL;
    char *value;
    for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
        switch (option) {
        case OUTPUT: how.folder = value; break;
        case TITLE: how.title = value; break;
        case FUNCTION: function = value; break;
        case PATHS: how.paths = cli_number(command, "--paths", value); break;
        case UNTAKEN: how.untaken = cli_number(command, "--untaken", value); break;
        case GRAPHS: how.graphs = cli_number(command, "--graphs", value); break;
        case SOURCE_ROOT: fp_vec_push(&sources.arena, &sources.roots, value); break;
        case MAP: cli_source_map(command, &sources, value); break;
        case BINARY: inputs.binary = value; break;
        case STRICT: inputs.strict = true; break;
        case CLI_WORD: fp_vec_push(&inputs.arena, &inputs.names, value); break;
        default: break;
        }
    }
    if (!inputs.names.len) fp_vec_push(&inputs.arena, &inputs.names, "footpath.prof");
    int status = write_site(&inputs, &sources, function, &how);
    fp_sources_free(&sources);
    fp_arena_free(&inputs.arena);
    return status;
}

struct cli_command command_report = {
    .name = "report",
    .arguments = "[PROFILE...]",
    .summary = "Write a web page: hottest paths, source, graphs, coverage",
    .text = "The page needs no server and no network: open DIR/index.html. Several profiles are\n"
            "added up and shown side by side.",
    .options = options,
    .run = run,
};
