/* What several subcommands do with combined profiles: see cli_combined.h. */
#include "cli_combined.h"

#include "combined/combinedlegacy.h"
#include "combined/combinedview.h"

struct fp_combined *cli_read_combined(const char *const *names, size_t count,
                                      struct fp_combiner *combiner)
{
    struct fp_load load = {.names = names, .nnames = count};
    struct fp_combined *c = fp_load_combined(&load, combiner, fp_combined_bins(names, count));
    cli_tell_load(&load);
    fp_load_free(&load);
    return c;
}

struct fp_combined_view *cli_load_view(struct cli_profiles *profiles)
{
    struct fp_combiner *combiner = fp_combiner_new(&profiles->binary, profiles->binary != NULL);
    struct fp_combined *c = cli_read_combined(profiles->names.at, profiles->names.len, combiner);
    struct fp_error error = {0};
    if (!c) {
        fp_combiner_free(combiner);
        return NULL;
    }
    struct fp_combined_view *view = fp_combined_view_make(combiner, c, &error);
    if (!view) cli_fail(&error, "name the program that ran by --binary FILE");
    return view;
}

int cli_export_legacy_combined(const struct cli_profiles *inputs, bool paths, const char *output)
{
    struct fp_combiner *combiner = fp_combiner_new(&inputs->binary, inputs->binary != NULL);
    struct fp_combined *c = cli_read_combined(inputs->names.at, inputs->names.len, combiner);
    struct fp_error error = {0};
    struct fp_writer out = {0};
    int status = EXIT_FAILED;
    if (c && fp_combined_export_legacy(combiner, c, paths, &out, &error))
        status = cli_output(output, &out);
    if (error.set) cli_fail(&error, NULL);
    fp_writer_free(&out);
    fp_combined_free(c);
    fp_combiner_free(combiner);
    return status;
}
