/* footpath show of a combined profile: what cmd_show.c hands on to. */
#include "cli_combined.h"

#include "report/showcombined.h"

#include <stdlib.h>
#include <string.h>

static bool terminal_has_utf8(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++) {
        const char *value = getenv(variables[i]);
        if (!value || !*value) continue;
        return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "UTF8");
    }
    return false;
}

/* Paths where there are any, else edges. */
static unsigned kinds_of(const struct fp_combined *c, enum fp_show_view view)
{
    bool paths = false;
    for (size_t i = 0; i < c->functions.len; i++)
        paths |= c->functions.at[i]->trials[FP_TRIALS_PATHS] != 0;
    switch (view) {
    case FP_SHOW_PATHS: break;
    case FP_SHOW_FUNCTIONS: return 1u << FP_EVENT_ENTRY;
    case FP_SHOW_EDGES:
    case FP_SHOW_BLOCKS: return 1u << FP_EVENT_EDGE;
    }
    return paths ? 1u << FP_EVENT_PATH | 1u << FP_EVENT_PARTIAL : 1u << FP_EVENT_EDGE;
}

bool cli_rank_named(const char *name, enum fp_rank_by *by)
{
    static const char *const names[] = {"variation", "deviation", "mean", "count", "unseen"};
    for (int i = 0; i < 5; i++)
        if (!strcmp(name, names[i])) {
            *by = (enum fp_rank_by)i;
            return true;
        }
    return false;
}

int cli_show_combined(const struct cli_profiles *inputs, const struct cli_show_combined *how)
{
    struct fp_combiner *combiner = fp_combiner_new(&inputs->binary, inputs->binary != NULL);
    struct fp_combined *c = cli_read_combined(inputs->names.at, inputs->names.len, combiner);
    if (!c) {
        fp_combiner_free(combiner);
        return EXIT_FAILED;
    }
    struct fp_arena arena = {0};
    struct fp_writer out = {0};
    struct fp_error missing = {0};
    struct fp_show_combined options = {.function = how->function,
                                       .top = how->top,
                                       .above = how->above,
                                       .colours = cli_colours(how->to ? how->to : stdout),
                                       .utf8 = terminal_has_utf8()};
    options.filter = (struct fp_rank_filter){
        .kinds = kinds_of(c, how->view), .by = how->by, .unseen = how->unseen, .above = how->above};
    if (how->json && how->every_kind) options.filter.kinds = (1u << FP_EVENT_KINDS) - 1;
    const struct fp_function **functions =
        fp_show_combined_functions(&arena, c, combiner, &missing);
    if (missing.set) cli_fail(&missing, "until then events have no source lines");
    if (how->json)
        fp_show_combined_json(&out, c, functions, &options);
    else
        fp_show_combined_text(&out, c, functions, &options);
    fp_arena_free(&arena);
    fp_combined_free(c);
    fp_combiner_free(combiner);
    if (!how->to) return cli_output(NULL, &out);
    fwrite(out.bytes, 1, out.len, how->to);
    fp_writer_free(&out);
    return EXIT_OK;
}
