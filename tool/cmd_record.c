/* footpath record: samples an ordinary program. */
#include "commands.h"

#include "perf/record.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { MOST_EVENTS = 16 };

static const char *names[MOST_EVENTS];
static struct fp_record_options given = {.events = names, .output = "perf.data"};
static bool asked, quiet;

static void take_mask(const struct cli_command *command, char *value)
{
    char *end;
    given.random = strtoull(value, &end, 0);
    if (end == value || *end)
        cli_usage(command, "--random needs a mask such as 0xffff, got '%s'", value);
}

static void take_events(const struct cli_command *command, char *list)
{
    given.nevents = 0;
    asked = true;
    for (char *name = strtok(list, ","); name; name = strtok(NULL, ",")) {
        if (given.nevents == MOST_EVENTS) cli_usage(command, "at most %d events", MOST_EVENTS);
        names[given.nevents++] = name;
    }
}

static const struct cli_option options[] = {
    {"-e", "EVENT[,EVENT...]",
     "events to sample (instructions, or cpu-clock without a PMU); :p, :pp, :ppp ask for precise "
     "addresses",
     .take = take_events},
    {"-c", "PERIOD", "events between samples (202001; 250000 ns of cpu-clock)",
     .number = &given.period},
    {"--random", "MASK", "add a random number & MASK to each period", .take = take_mask},
    {"-b", NULL, "branch records", .flag = &given.branches},
    {"--no-registers", NULL,
     "leave out what infer follows samples by: registers, and 512 bytes of stack",
     .flag = &given.no_registers},
    {"-o", "FILE", "where to write (perf.data)", .text = &given.output},
    {"--quiet", NULL, "no closing line", .flag = &quiet},
    {0},
};

static void say_result(const struct fp_record_result *r)
{
    if (r->fell_back)
        cli_say("instructions: this machine has no counter for them (no PMU, or not shown to this "
                "system); sampled %s",
                r->used);
    if (r->no_registers)
        cli_say("%s: this kernel records no registers, so infer cannot follow samples",
                given.output);
    if (r->lost) cli_say("%s: %s samples were lost", given.output, cli_count(r->lost));
    if (quiet) return;
    cli_say("%s: %s samples of %.2f s, %s, %s lost; recording took %.2f s beside it (%s)",
            given.output, cli_count(r->samples), r->program_seconds, r->used, cli_count(r->lost),
            r->recorder_seconds, cli_percent(r->recorder_seconds, r->program_seconds));
}

/* The program's own end is passed on, as a shell would. */
static int exit_status(int status)
{
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : EXIT_FAILED;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct fp_record_result result;
    struct fp_error error = {0};
    int first = cli_parse(command, argc, argv);
    if (first == argc) cli_usage(command, "no program given");
    given.argv = argv + first;
    if (asked && !given.nevents) cli_usage(command, "-e needs an event");
    for (size_t i = 0; i < given.nevents; i++)
        if (!fp_record_event_known(names[i]))
            cli_usage(command, "unknown event %s (the kernel's names, libpfm4's, or rNNNN)",
                      names[i]);
    if (!fp_record(&given, &result, &error)) return cli_fail(&error, NULL);
    say_result(&result);
    return exit_status(result.status);
}

struct cli_command command_record = {
    .name = "record",
    .arguments = "[--] PROGRAM [ARGUMENT...]",
    .summary = "Record perf samples of an ordinary program",
    .text =
        "Writes a file of samples that footpath infer, and perf, can read. Ends as PROGRAM ends.\n"
        "Each sample has the program's registers and the top of its stack, by which infer tells\n"
        "where branches went. Data of the program may be among them: keep the file as you keep\n"
        "core dumps, or record with --no-registers.",
    .options = options,
    .starts_program = true,
    .run = run,
};
