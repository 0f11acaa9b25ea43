/* footpath: finds the subcommand and runs it. */
#include "cli_store.h"
#include "cli_suggest.h"
#include "commands.h"

#include <string.h>

struct cli_command *const cli_commands[] = {
    &command_run,    &command_show,     &command_report,  &command_annotate, &command_coverage,
    &command_stats,  &command_diff,     &command_gap,     &command_verify,   &command_compare,
    &command_watch,  &command_merge,    &command_combine, &command_dot,      &command_instrument,
    &command_exe,    &command_optimize, &command_pgo,     &command_export,   &command_import,
    &command_record, &command_infer,    &command_learn,   &command_divide,   &command_p3,
    &command_store,  &command_collect,  &command_fold,    &command_info,     &command_completion,
};
const size_t cli_ncommands = sizeof cli_commands / sizeof *cli_commands;

static void print_usage(FILE *to)
{
    fprintf(to, "usage: footpath COMMAND [OPTION...] ARGUMENT...\n"
                "Shows which paths a program took, built with footpath-cc.\n\n");
    for (size_t i = 0; i < cli_ncommands; i++)
        fprintf(to, "  %-12s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fprintf(to,
            "\nfootpath help COMMAND says more; so does its manual page, footpath-COMMAND(1).\n");
}

static struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < cli_ncommands; i++)
        if (!strcmp(name, cli_commands[i]->name)) return cli_commands[i];
    static struct cli_command plan; /* divide, by its old name */
    plan = command_divide;
    plan.name = "plan";
    return strcmp(name, plan.name) ? NULL : &plan;
}

static int unknown(const char *name)
{
    struct fp_arena arena = {0};
    struct cli_nearest nearest = {.wanted = name};
    for (size_t i = 0; i < cli_ncommands; i++) cli_consider(&nearest, cli_commands[i]->name);
    const char *suggestion = cli_suggestion(&arena, &nearest);
    cli_say("no command '%s'%s", name, *suggestion ? suggestion : "; see footpath --help");
    fp_arena_free(&arena);
    return EXIT_USAGE;
}

static int help(const char *topic)
{
    const struct cli_command *command = topic ? find_command(topic) : NULL;
    if (topic && !command) return unknown(topic);
    if (command)
        cli_print_help(command);
    else
        print_usage(stdout);
    return EXIT_OK;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_usage(stderr);
        return EXIT_USAGE;
    }
    const char *first = argv[1];
    if (!strcmp(first, "--help") || !strcmp(first, "help") || !strcmp(first, "-h"))
        return help(argv[2]);
    if (!strcmp(first, "--version")) {
        cli_print_version();
        return EXIT_OK;
    }
    struct cli_command *command = find_command(first);
    cli_store_names();
    return command ? command->run(command, argc - 2, argv + 2) : unknown(first);
}
