/* footpath: finds the subcommand and runs it. */
#include "commands.h"

#include <string.h>

struct cli_command *const cli_commands[] = {
    &command_run,        &command_show,  &command_report,  &command_annotate, &command_coverage,
    &command_stats,      &command_diff,  &command_gap,     &command_verify,   &command_compare,
    &command_watch,      &command_merge, &command_combine, &command_dot,      &command_instrument,
    &command_optimize,   &command_pgo,   &command_export,  &command_import,   &command_record,
    &command_infer,      &command_learn, &command_divide,  &command_p3,       &command_info,
    &command_completion,
};
const size_t cli_ncommands = sizeof cli_commands / sizeof *cli_commands;

static void print_usage(FILE *to)
{
    fprintf(to, "usage: footpath COMMAND [OPTION...] ARGUMENT...\n"
                "Shows which paths a program took, built with footpath-cc.\n\n");
    for (size_t i = 0; i < cli_ncommands; i++)
        fprintf(to, "  %-12s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fprintf(to, "\nEach has --help and a manual page, footpath-COMMAND(1).\n");
}

/* How many letters differ at most, for "did you mean". */
static size_t distance(const char *a, const char *b)
{
    size_t row[32], alen = strlen(a), blen = strlen(b);
    if (alen > 30 || blen > 30) return 99;
    for (size_t i = 0; i <= blen; i++) row[i] = i;
    for (size_t i = 1; i <= alen; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t k = 1; k <= blen; k++) {
            size_t above = row[k], change = diagonal + (a[i - 1] != b[k - 1]);
            size_t least = above < row[k - 1] ? above : row[k - 1];
            row[k] = change < least + 1 ? change : least + 1;
            diagonal = above;
        }
    }
    return row[blen];
}

static int unknown(const char *name)
{
    const char *nearest = NULL;
    size_t best = 3;
    for (size_t i = 0; i < cli_ncommands; i++)
        if (distance(name, cli_commands[i]->name) < best) {
            best = distance(name, cli_commands[i]->name);
            nearest = cli_commands[i]->name;
        }
    if (nearest)
        cli_say("no command '%s'; did you mean %s?", name, nearest);
    else
        cli_say("no command '%s'; see footpath --help", name);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "help") || !strcmp(argv[1], "-h")) {
        print_usage(stdout);
        return EXIT_OK;
    }
    if (!strcmp(argv[1], "--version")) {
        printf("footpath %s\n", FOOTPATH_VERSION);
        return EXIT_OK;
    }
    for (size_t i = 0; i < cli_ncommands; i++)
        if (!strcmp(argv[1], cli_commands[i]->name))
            return cli_commands[i]->run(cli_commands[i], argc - 2, argv + 2);
    struct cli_command plan = command_divide; /* by its old name */
    plan.name = "plan";
    if (!strcmp(argv[1], plan.name)) return plan.run(&plan, argc - 2, argv + 2);
    return unknown(argv[1]);
}
