/* footpath import: profiles of other tools, for a program that has a map. */
#include "commands.h"

#include "base/io.h"
#include "binary/callgrindcounts.h"
#include "combined/combinedlegacy.h"
#include "profile/legacyimport.h"

#include <string.h>

static struct {
    const char *input, *format, *binary, *output;
} given = {.format = "legacy", .output = "footpath.prof"};

static void take_input(const struct cli_command *command, char *value)
{
    (void)command;
    given.input = value;
}

static const struct cli_option options[] = {
    {"--format", "FORMAT", "legacy (LLVM 2.8-3.3), callgrind (legacy)", .text = &given.format,
     .words = "legacy callgrind"},
    {"--binary", "FILE", "the program; for legacy built by footpath-cc from the same bitcode",
     .text = &given.binary},
    {"-o", "FILE", "where to write the profile (footpath.prof)", .text = &given.output},
    {0},
};

static bool holds_combined(const char *input)
{
    struct fp_file file;
    struct fp_error error = {0};
    if (!fp_file_open(&file, input, &error)) return false;
    bool result = fp_legacy_is_combined(file.bytes, file.len);
    fp_file_close(&file);
    return result;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    cli_parse(command, argc, argv);
    const char *input = given.input, *binary = given.binary, *output = given.output;
    bool callgrind = !strcmp(given.format, "callgrind");
    if (!input || !binary) cli_usage(command, "an input and --binary are needed");
    struct fp_error error = {0};
    bool ok = callgrind               ? fp_callgrind_import(input, binary, output, &error)
              : holds_combined(input) ? fp_combined_import_legacy(input, binary, output, &error)
                                      : fp_legacy_import(input, binary, output, &error);
    return ok ? EXIT_OK : cli_fail(&error, NULL);
}

struct cli_command command_import = {
    .name = "import",
    .arguments = "--binary PROGRAM INPUT",
    .summary = "Read a profile of another tool",
    .options = options,
    .take_word = take_input,
    .run = run,
};
