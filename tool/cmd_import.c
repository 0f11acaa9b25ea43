/* footpath import: profiles of other tools, for a program that has a map. */
#include "commands.h"

#include "base/io.h"
#include "binary/callgrindcounts.h"
#include "combined/combinedlegacy.h"
#include "profile/legacyimport.h"

#include <string.h>

static const struct cli_option options[] = {
    {"--format", "FORMAT", "legacy (LLVM 2.8-3.3), callgrind (legacy)"},
    {"--binary", "FILE", "the program; for legacy built by footpath-cc from the same bitcode"},
    {"-o", "FILE", "where to write the profile (footpath.prof)"},
    {NULL, NULL, NULL},
};
enum { FORMAT, BINARY, OUTPUT };

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
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    const char *format = "legacy", *binary = NULL, *output = "footpath.prof", *input = NULL;
    char *value;
    for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
        if (option == FORMAT) format = value;
        if (option == BINARY) binary = value;
        if (option == OUTPUT) output = value;
        if (option == CLI_WORD) input = value;
    }
    bool callgrind = !strcmp(format, "callgrind");
    if (strcmp(format, "legacy") && !callgrind) cli_usage(command, "unknown format %s", format);
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
    .run = run,
};
