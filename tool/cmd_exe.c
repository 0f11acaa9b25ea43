/* footpath exe: exact path counts in a program without its source. */
#include "cli_progress.h"
#include "commands.h"

#include "base/names.h"
#include "exe/exe.h"

#include <stdlib.h>
#include <string.h>

static struct {
    const char *input, *output;
    bool json, verbose;
    struct fp_exe_options how;
} given;

static void take_input(const struct cli_command *command, char *value)
{
    if (given.input) cli_usage(command, "one program at a time");
    given.input = value;
}

static void take_cuts(const struct cli_command *command, char *value)
{
    static const char *const names[] = {[FP_EXE_CUTS_FIT] = "fit",
                                        [FP_EXE_CUTS_FEW] = "few",
                                        [FP_EXE_CUTS_PAPER] = "paper",
                                        [FP_EXE_CUTS_LOOPS] = "loops"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(value, names[i])) {
            given.how.cuts = i;
            return;
        }
    cli_usage(command, "--cuts is fit, few, paper or loops");
}

static void take_copies(const struct cli_command *command, char *value)
{
    char *end;
    unsigned long percent = strtoul(value, &end, 10);
    if (!*value || *value == '-' || *end || percent > FP_EXE_MOST_COPIES)
        cli_usage(command, "--copies is a number of percent, 0 to 1000");
    given.how.copies_given = true;
    given.how.copies = (unsigned)percent;
}

static const struct cli_option options[] = {
    {"-o", "FILE", "where to write the program that counts", .text = &given.output},
    {"--cuts", "WHERE", "where paths end: fit, few, paper or loops (fit)", .take = take_cuts,
     .words = "fit few paper loops"},
    {"--functions", "NAME", "count this function alone", .text = &given.how.only},
    {"--guide", "PROFILE", "an earlier profile of PROGRAM, so that OUT counts for less",
     .text = &given.how.guide},
    {"--copies", "PERCENT", "bytes of code to copy so that OUT counts for less (50)",
     .take = take_copies},
    {"--no-exits", NULL, "do not count paths in flight when a frame is left for good",
     .flag = &given.how.no_exits},
    {"--graph", "FILE", "write the graphs of counted functions, with addresses",
     .text = &given.how.graph},
    {"--drop-edge", "NAME:N", "for tests: take the N-th edge of jump tables out of a graph",
     .text = &given.how.drop_edge},
    {"--json", NULL, "say what was done as JSON", .flag = &given.json},
    {"-v", NULL, "say what was done", .flag = &given.verbose},
    {0},
};

static int say_json(const struct fp_exe_summary *s)
{
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"functions_counted", s->counted},   {"functions_left_alone", s->left_alone},
                   {"bytes_counted", s->counted_bytes}, {"bytes_left_alone", s->left_alone_bytes},
                   {"counters", s->counters},           {"bytes_of_new_code", s->code},
                   {"bytes_of_copies", s->copies}};
    struct fp_writer out = {0};
    struct fp_json j = {.out = &out};
    fp_json_begin(&j, '{');
    fp_json_key(&j, "program"), fp_json_string(&j, given.input);
    fp_json_key(&j, "output"), fp_json_string(&j, given.output);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        fp_json_key(&j, numbers[i].name), fp_json_uint(&j, numbers[i].value);
    fp_json_end(&j, '}');
    fp_say(&out, "\n");
    return cli_output(NULL, &out);
}

/* Where that is more than what every compiler adds. */
static void say_bare(const struct fp_exe_summary *summary)
{
    enum { PERCENT = 2 };
    uint64_t percent = summary->text ? 100 * summary->bare / summary->text : 0;
    if (percent >= PERCENT)
        cli_say(
            "%s: %llu%% of the code has no unwind tables (.eh_frame): that code is not counted, "
            "and where frames are left from below it, paths in flight are lost",
            given.input, (unsigned long long)percent);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct fp_arena arena = {0};
    struct fp_exe_summary summary = {0};
    struct fp_error error = {0};
    int status = EXIT_OK;
    cli_parse(command, argc, argv);
    if (!given.input || !given.output) cli_usage(command, "a program and -o OUT are needed");
    struct cli_progress progress;
    cli_progress_begin(&progress, "moving functions", 1);
    given.how.progress = cli_progress_of, given.how.context = &progress;
    bool ok = fp_exe_rewrite(&arena, given.input, given.output, &given.how, &summary, &error);
    cli_progress_clear(&progress);
    if (ok) say_bare(&summary);
    if (!ok)
        status = cli_fail(&error, NULL);
    else if (given.json)
        status = say_json(&summary);
    else if (given.verbose)
        cli_say("%s counts the paths of %s functions, %s left alone; %s bytes of new code, %s "
                "counters",
                given.output, cli_count(summary.counted), cli_count(summary.left_alone),
                cli_count(summary.code), cli_count(summary.counters));
    fp_arena_free(&arena);
    return status;
}

struct cli_command command_exe = {
    .name = "exe",
    .arguments = "PROGRAM -o OUT",
    .summary = "Make a program count its paths, without its source",
    .text = "PROGRAM is an executable or a shared library for x86-64, stripped or not. OUT\n"
            "does what PROGRAM does and writes a profile:\n"
            "  footpath exe /usr/bin/gzip -o gzip\n"
            "  ./gzip -c /etc/passwd > passwd.gz\n"
            "  footpath show\n"
            "footpath info OUT says which functions are counted, and why others are not.",
    .options = options,
    .take_word = take_input,
    .run = run,
};
