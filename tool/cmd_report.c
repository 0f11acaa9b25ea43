/* footpath report: the profile as a web site that needs no server. */
#include "commands.h"

#include "cli_code.h"
#include "cli_combined.h"
#include "cli_gate.h"
#include "cli_store.h"
#include "cli_suggest.h"

#include "model/model.h"
#include "report/site.h"

enum { MOST_TIMES = 60 }; /* points of a history */

static struct {
    struct cli_profiles inputs, tests;
    struct fp_sources sources;
    const char *function;
    struct fp_site_options how;
} given = {.how = {.folder = "footpath-report",
                   .paths = 200,
                   .untaken = 20,
                   .graphs = 400,
                   .progress = cli_progress}};

static const struct cli_option options[] = {
    {"-o", "DIR", "where to write (footpath-report)", .text = &given.how.folder},
    {"--title", "TEXT", "title of the page (the program's name)", .text = &given.how.title},
    {"--gap", "TESTS", "a profile of tests: show what they did not do; may be given several times",
     .profiles = &given.tests},
    {"--function", "NAME", "only functions whose name contains NAME", .text = &given.function},
    {"--paths", "N", "paths listed per function (200)", .number = &given.how.paths},
    {"--untaken", "N", "paths never taken listed per function (20)", .number = &given.how.untaken},
    {"--graphs", "N", "functions drawn by Graphviz, most costly first (400)",
     .number = &given.how.graphs},
    CLI_SOURCE_OPTIONS(given.sources),
    CLI_PROFILE_OPTIONS(given.inputs),
    {0},
};

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
    size_t missing = 0, changed = 0;
    for (size_t i = 0; i < sources->all.len; i++) {
        changed += sources->all.at[i]->changed;
        missing += sources->all.at[i]->missing && !sources->all.at[i]->changed;
    }
    if (missing)
        cli_say("%s: %zu of %zu source files were not found; say where they are by --source-root "
                "DIR or --map OLD=NEW",
                folder, missing, sources->all.len);
    if (changed)
        cli_say("%s: %zu of %zu source files have changed since they were compiled and are left "
                "out; say where the old ones are by --source-root DIR or --map OLD=NEW",
                folder, changed, sources->all.len);
}

/* Compares with the profiles of tests, where there are any. They are freed by the caller. */
static bool find_gaps(struct fp_arena *arena, const struct fp_profile *production,
                      struct fp_profile **tests, struct fp_site_options *how)
{
    struct fp_site_gap *gap = FP_NEW(arena, struct fp_site_gap);
    if (!given.tests.names.len) return true;
    given.tests.skip_bad = given.inputs.skip_bad;
    given.tests.all_builds = true;
    *tests = cli_load(&given.tests);
    if (!*tests) return false;
    fp_gaps_make(arena, production, *tests, &gap->gaps);
    if (!gap->gaps.tested.paths && !gap->gaps.untested.paths && !gap->gaps.unknown.paths) {
        cli_say("--gap: %s has no counted paths: build the program with --fp-mode=path or pep",
                given.inputs.names.at[0]);
        return false;
    }
    gap->production = cli_measured(arena, production);
    gap->tests = cli_measured(arena, *tests);
    how->gap = gap;
    return true;
}

/* The records of a store one by one where they are not too many, for the history. Is there one? */
static bool ask_for_times(struct cli_profiles *inputs)
{
    bool any = false;
    for (size_t i = 0; i < inputs->names.len; i++) any |= cli_store_by_time(inputs, i);
    return any;
}

static int write_site(struct cli_profiles *inputs, struct fp_sources *sources, const char *function,
                      struct fp_site_options *how)
{
    struct fp_profile *profile;
    bool times = ask_for_times(inputs);
    if (fp_is_combined(inputs->names.at[0])) {
        how->view = cli_load_view(inputs);
        profile = how->view ? how->view->profile : NULL;
    } else {
        profile = cli_load(inputs);
    }
    if (!profile) return EXIT_FAILED;
    if (!cli_check_function(profile, function)) {
        fp_profile_free(profile);
        return EXIT_FAILED;
    }
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_site_column *columns = NULL;
    struct fp_timeline history = {0};
    if (times) fp_timeline_make(&arena, profile, MOST_TIMES, &history);
    how->history = &history;
    how->ncolumns = load_columns(&arena, profile, &columns);
    how->columns = columns;
    if (!how->title)
        how->title = profile->runs.len ? fp_base_name(profile->runs.at[0].program) : "footpath";
    struct fp_report_options what = {.function = function, .edges = true};
    struct fp_report *report = fp_report_make(&arena, profile, &what);
    struct fp_report_options all = {.edges = true, .unordered = true};
    how->whole = function ? fp_report_make(&arena, profile, &all) : NULL;
    struct fp_profile *tests = NULL;
    struct cli_code code;
    cli_code_init(&code, inputs->binary);
    how->code = &code.reader;
    bool found = find_gaps(&arena, profile, &tests, how);
    bool ok = found && fp_site_write(report, sources, how, &error);
    if (ok) {
        warn_of_missing(sources, how->folder);
        printf("%s/index.html\n", how->folder);
    }
    for (size_t i = 0; i < how->ncolumns; i++) fp_profile_free(columns[i].profile);
    cli_code_free(&code);
    fp_timeline_free(&history);
    fp_arena_free(&arena);
    fp_profile_free(tests);
    fp_profile_free(profile);
    if (!found) return EXIT_FAILED;
    return ok ? EXIT_OK : cli_fail(&error, NULL);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    cli_parse(command, argc, argv);
    cli_default_profile(&given.inputs);
    int status = write_site(&given.inputs, &given.sources, given.function, &given.how);
    fp_sources_free(&given.sources);
    fp_arena_free(&given.inputs.arena);
    fp_arena_free(&given.tests.arena);
    return status;
}

struct cli_command command_report = {
    .name = "report",
    .arguments = "[PROFILE...]",
    .summary = "Write a web page: hottest paths, source, graphs, coverage",
    .text = "The page needs no server and no network: open DIR/index.html. Several profiles are\n"
            "added up, and compared with the first one: what changed most comes first.",
    .options = options,
    .words = &given.inputs,
    .run = run,
};
