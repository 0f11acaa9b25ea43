/* footpath show of a combined profile: what cmd_show.c hands on to. */
#include "show_combined.h"

#include "base/io.h"
#include "footpath/profile_abi.h"
#include "report/showcombined.h"

#include <stdlib.h>
#include <string.h>

static bool note_combined(struct fp_reader *payload, void *context)
{
    (void)payload;
    *(bool *)context = true;
    return false; /* enough */
}

bool cli_is_combined(const char *path)
{
    size_t len = strlen(path);
    if (len > 3 && !strcmp(path + len - 3, ".cp")) return true;
    struct fp_file file;
    struct fp_error error = {0};
    bool found = false, cut;
    if (!fp_file_open(&file, path, &error)) return false;
    struct fp_profile_visitor visitor = {.combined = note_combined, .context = &found};
    fp_profile_visit(file.bytes, file.len, path, &visitor, &cut, &error);
    fp_file_close(&file);
    return found;
}

struct fp_combined *cli_read_combined(const char *const *names, size_t count, struct fp_combiner *combiner,
                                      uint32_t bins)
{
    struct fp_combined *c = fp_combined_new(bins);
    for (size_t i = 0; i < count; i++) {
        struct fp_combine_notes notes = {0};
        struct fp_error error = {0};
        if (!fp_combine_file(combiner, c, names[i], NULL, &notes, &error)) {
            cli_fail(&error, NULL);
            fp_combined_free(c);
            return NULL;
        }
        if (notes.cut) cli_say("%s: ends in the middle of a record; the runs before it are used", names[i]);
    }
    fp_combined_settle(c);
    return c;
}

/* The most bins that a combined profile among the inputs has. */
static bool note_bins(struct fp_reader *payload, void *context)
{
    uint32_t *most = context, bins = fp_read_index(payload, FP_MOST_BINS + 1, "number of bins");
    if (bins > *most) *most = bins;
    return true;
}

uint32_t cli_combined_bins(const char *const *names, size_t count)
{
    uint32_t most = 0;
    for (size_t i = 0; i < count; i++) {
        struct fp_file file;
        struct fp_error error = {0};
        bool cut;
        if (!fp_file_open(&file, names[i], &error)) continue;
        struct fp_profile_visitor visitor = {.combined = note_bins, .context = &most};
        fp_profile_visit(file.bytes, file.len, names[i], &visitor, &cut, &error);
        fp_file_close(&file);
    }
    return most ? most : FP_DEFAULT_BINS;
}

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
    for (size_t i = 0; i < c->functions.len; i++) paths |= c->functions.at[i]->trials[FP_TRIALS_PATHS] != 0;
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
    uint32_t bins = cli_combined_bins(inputs->names.at, inputs->names.len);
    struct fp_combined *c = cli_read_combined(inputs->names.at, inputs->names.len, combiner, bins);
    if (!c) {
        fp_combiner_free(combiner);
        return EXIT_FAILED;
    }
    struct fp_arena arena = {0};
    struct fp_writer out = {0};
    struct fp_error missing = {0};
    struct fp_show_combined options = {.function = how->function, .top = how->top, .above = how->above,
                                       .colours = cli_colours(stdout), .utf8 = terminal_has_utf8()};
    options.filter = (struct fp_rank_filter){.kinds = kinds_of(c, how->view), .by = how->by,
                                             .unseen = how->unseen, .above = how->above};
    if (how->json && how->every_kind) options.filter.kinds = (1u << FP_EVENT_KINDS) - 1;
    const struct fp_function **functions = fp_show_combined_functions(&arena, c, combiner, &missing);
    if (missing.set) cli_fail(&missing, "events are shown without source lines; name the program by --binary FILE");
    if (how->json)
        fp_show_combined_json(&out, c, functions, &options);
    else
        fp_show_combined_text(&out, c, functions, &options);
    fp_arena_free(&arena);
    fp_combined_free(c);
    fp_combiner_free(combiner);
    return cli_output(NULL, &out);
}
