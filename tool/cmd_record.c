/* footpath record: samples an ordinary program. */
#include "commands.h"

#include "perf/record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static const struct cli_option options[] = {
    {"-e", "EVENT[,EVENT...]", "events to sample (instructions, or cpu-clock without a PMU)"},
    {"-c", "PERIOD", "events between samples (202001; 250000 ns of cpu-clock)"},
    {"--random", "MASK", "add a random number & MASK to each period"},
    {"-b", NULL, "branch records, where the processor has them"},
    {"-o", "FILE", "where to write (perf.data)"},
    {"--quiet", NULL, "no closing line"},
    {NULL, NULL, NULL},
};
enum { EVENTS, PERIOD, RANDOM, BRANCHES, OUTPUT, QUIET };

enum { MOST_EVENTS = 16 };

static uint64_t mask(const struct cli_command *command, const char *value)
{
    char *end;
    uint64_t number = strtoull(value, &end, 0);
    if (end == value || *end)
        cli_usage(command, "--random needs a mask such as 0xffff, got '%s'", value);
    return number;
}

static size_t split(const struct cli_command *command, char *list, const char **names)
{
    size_t count = 0;
    for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
        if (count == MOST_EVENTS) cli_usage(command, "at most %d events", MOST_EVENTS);
        names[count++] = name;
    }
    return count;
}

static void say_result(const struct fp_record_options *o, const struct fp_record_result *r,
                       bool quiet)
{
    if (r->fallback[0])
        cli_say("%s: this machine has no counter for it (no PMU, or not shown to this system); "
                "sampled %s",
                r->fallback, r->used);
    if (o->branches && !r->have_branches)
        cli_say("this machine has no branch records; recorded without");
    if (r->lost) cli_say("%s: %s samples were lost", o->output, cli_count(r->lost));
    if (quiet) return;
    cli_say("%s: %s samples of %.2f s; recording took %.2f s beside it (%s)", o->output,
            cli_count(r->samples), r->program_seconds, r->recorder_seconds,
            cli_percent(r->recorder_seconds, r->program_seconds));
}

/* The program's own end is passed on, as a shell would. */
static int exit_status(int status)
{
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : EXIT_FAILED;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    const char *names[MOST_EVENTS] = {"instructions"};
    struct fp_record_options o = {.events = names, .nevents = 1, .output = "perf.data"};
    struct fp_record_result result;
    struct fp_error error = {0};
    bool quiet = false;
    char *value;
    for (int option; !o.argv && (option = cli_next(&cli, &value)) != CLI_END;) {
        switch (option) {
        case EVENTS: o.nevents = split(command, value, names); break;
        case PERIOD: o.period = cli_number(command, "-c", value); break;
        case RANDOM: o.random = mask(command, value); break;
        case BRANCHES: o.branches = true; break;
        case OUTPUT: o.output = value; break;
        case QUIET: quiet = true; break;
        case CLI_WORD: o.argv = argv + cli.at - 1; break; /* the rest is the program's */
        default: break;
        }
    }
    if (!o.argv) cli_usage(command, "no program given");
    if (!o.nevents) cli_usage(command, "-e needs an event");
    for (size_t i = 0; i < o.nevents; i++)
        if (!fp_record_event_known(names[i]))
            cli_usage(command, "unknown event %s (the kernel's names, libpfm4's, or rNNNN)",
                      names[i]);
    if (!fp_record(&o, &result, &error)) return cli_fail(&error, NULL);
    say_result(&o, &result, quiet);
    return exit_status(result.status);
}

struct cli_command command_record = {
    .name = "record",
    .arguments = "[--] PROGRAM [ARGUMENT...]",
    .summary = "Sample an ordinary program",
    .text =
        "Writes a file of samples that footpath infer, and perf, can read. Ends as PROGRAM ends.",
    .options = options,
    .run = run,
};
