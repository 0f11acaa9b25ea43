/* footpath export: profiles in the forms of other tools. */
#include "commands.h"

#include "guide/makeguide.h"
#include "api/handle.h"
#include "cli_combined.h"
#include "cli_gcda.h"
#include "cli_past.h"
#include "paths/legacyexport.h"
#include "report/coverreport.h"
#include "report/exports.h"
#include "report/llvmprofile.h"
#include "report/show.h"
#include "report/sourceprofile.h"

#include <string.h>
#include <unistd.h>

struct export_request {
    const char *format, *what, *output, *notes;
    bool discriminators;
    struct fp_sources sources;
    struct cli_profiles inputs;
};

static struct export_request given = {.what = "edges"};
static const struct fp_report_options with_edges = {.edges = true, .sources = &given.sources};

static const struct cli_option options[] = {
    {"--format", "FORMAT", "one of those above", .text = &given.format,
     .words = "json lcov callgrind speedscope collapsed guide legacy llvm-sample gcc-afdo pprof "
              "gcov-json llvm-profdata gcda"},
    {"--what", "WHAT", "legacy: edges or paths (edges)", .text = &given.what,
     .words = "edges paths"},
    {"--discriminators", NULL, "gcc-afdo: several counts per line, for newer gcc than 12",
     .flag = &given.discriminators},
    {"--notes", "FOLDER", "gcda: where the notes of gcc -ftest-coverage are (this folder)",
     .text = &given.notes},
    {"-o", "FILE", "where to write (standard output)", .text = &given.output},
    CLI_SOURCE_OPTIONS(given.sources),
    CLI_PROFILE_OPTIONS(given.inputs),
    {0},
};

/* Either the output is written or the writer is freed and the error told. */
static int finish(bool ok, const struct export_request *request, struct fp_writer *out,
                  const struct fp_error *error)
{
    if (ok) return cli_output(request->output, out);
    fp_writer_free(out);
    return cli_fail(error, NULL);
}

static int export_legacy(struct fp_profile *profile, const struct export_request *request)
{
    struct fp_writer out = {0};
    struct fp_error error = {0};
    bool ok = fp_legacy_export(profile, !strcmp(request->what, "paths"), &out, &error);
    return finish(ok, request, &out, &error);
}

/* A guide with a part of the counts would make compilations take the rest for code that
 * never runs; cli_load has said which map was refused. */
static bool all_maps_loaded(const struct fp_profile *profile)
{
    for (size_t i = 0; i < profile->modules.len; i++)
        if (!profile->modules.at[i]->have_program) return false;
    return true;
}

static int export_guide(struct fp_profile *profile, const struct export_request *request)
{
    struct fp_arena arena = {0};
    struct fp_writer out = {0};
    struct fp_new_guide made;
    if (!all_maps_loaded(profile)) {
        cli_say("no guide is written: one without the counts of these modules would mislead "
                "compilations");
        return EXIT_FAILED;
    }
    fp_guide_make(&arena, profile, &made);
    fp_guide_encode(&out, &(struct fp_guide_source){0}, &made.summary, made.functions,
                    made.nfunctions);
    fp_arena_free(&arena);
    return cli_output(request->output, &out);
}

static int export_llvm_profdata(struct fp_profile *profile, const struct export_request *request)
{
    struct fp_arena arena = {0};
    struct fp_writer out = {0};
    struct fp_error error = {0};
    struct fp_llvm_profile made;
    int status = EXIT_FAILED;
    if (!all_maps_loaded(profile)) {
        cli_say("nothing is written: without these modules clang would take their functions for "
                "code that never runs");
    } else if (!fp_llvm_profile_make(&arena, profile, &made, &error)) {
        status = cli_fail(&error, NULL);
    } else if (!made.functions.len) {
        cli_say("nothing to export: no function was built with --fp-at=pgo, where clang's own "
                "profiles count");
    } else {
        if (made.without)
            cli_say("%zu functions were not built with --fp-at=pgo and are left out", made.without);
        fp_write_llvm_profdata(&out, &made);
        status = cli_output(request->output, &out);
    }
    fp_arena_free(&arena);
    return status;
}

/* ---- forms of a report ---- */

static int export_form(struct fp_profile *profile, const struct export_request *request,
                       void (*write)(struct fp_writer *out, const struct fp_report *report))
{
    struct fp_arena arena = {0};
    struct fp_writer out = {0};
    write(&out, fp_report_make(&arena, profile, &with_edges));
    fp_arena_free(&arena);
    return cli_output(request->output, &out);
}

static int export_json(struct fp_profile *profile, const struct export_request *request)
{
    struct fp_writer out = {0};
    struct footpath *fp = fp_handle_of_profile(profile, &(struct footpath_options){.edges = 1});
    struct cli_past_request past = {.profile = profile, .binary = request->inputs.binary};
    fp_show_json_with(&out, fp, cli_json_past, &past);
    footpath_close(fp);
    return cli_output(request->output, &out);
}

static int export_callgrind(struct fp_profile *profile, const struct export_request *request)
{
    return export_form(profile, request, fp_write_callgrind);
}

static int export_speedscope(struct fp_profile *profile, const struct export_request *request)
{
    return export_form(profile, request, fp_write_speedscope);
}

static int export_collapsed(struct fp_profile *profile, const struct export_request *request)
{
    return export_form(profile, request, fp_write_collapsed);
}

static int export_pprof(struct fp_profile *profile, const struct export_request *request)
{
    struct fp_arena arena = {0};
    struct fp_writer out = {0};
    struct fp_error error = {0};
    bool ok = fp_write_pprof(&out, fp_report_make(&arena, profile, &with_edges), &error);
    fp_arena_free(&arena);
    return finish(ok, request, &out, &error);
}

static int export_lines(struct fp_profile *profile, const struct export_request *request,
                        void (*write)(struct fp_writer *out, const struct fp_line_counts *lines))
{
    struct fp_arena arena = {0};
    struct fp_writer out = {0};
    struct fp_line_counts lines;
    fp_line_counts_of_profile(&lines, &arena, profile);
    if (!lines.files.len)
        cli_say("%s is empty: the program has no line information", request->format);
    write(&out, &lines);
    fp_arena_free(&arena);
    return cli_output(request->output, &out);
}

static int export_lcov(struct fp_profile *profile, const struct export_request *request)
{
    return export_lines(profile, request, fp_write_lcov);
}

static int export_gcov_json(struct fp_profile *profile, const struct export_request *request)
{
    return export_lines(profile, request, fp_write_gcov_json);
}

/* ---- by source position ---- */

static int export_source(struct fp_profile *profile, const struct export_request *request,
                         enum fp_discriminators how,
                         void (*write)(struct fp_writer *out,
                                       const struct fp_source_profile *profile))
{
    struct fp_arena arena = {0};
    struct fp_writer out = {0};
    struct fp_error error = {0};
    struct fp_source_profile source;
    int status = EXIT_FAILED;
    if (!fp_source_profile_make(&arena, profile, how, &source, &error)) {
        status = cli_fail(&error, NULL);
    } else if (!source.functions.len) {
        cli_say("nothing to export: %zu functions ran, none with line information; compile with -g",
                source.without_lines);
    } else {
        if (source.without_lines)
            cli_say("%zu functions have no line information and are left out",
                    source.without_lines);
        write(&out, &source);
        status = cli_output(request->output, &out);
    }
    fp_arena_free(&arena);
    return status;
}

static int export_llvm_sample(struct fp_profile *profile, const struct export_request *request)
{
    return export_source(profile, request, FP_DISCRIMINATORS_LLVM, fp_write_llvm_sample);
}

static int export_gcc_afdo(struct fp_profile *profile, const struct export_request *request)
{
    enum fp_discriminators how =
        request->discriminators ? FP_DISCRIMINATORS_PLAIN : FP_DISCRIMINATORS_NONE;
    return export_source(profile, request, how, fp_write_gcc_afdo);
}

static int export_gcda(struct fp_profile *profile, const struct export_request *request)
{
    if (request->output) {
        cli_say("gcda: no -o: each file is written beside its notes, where gcc looks");
        return EXIT_FAILED;
    }
    if (!all_maps_loaded(profile)) {
        cli_say("nothing is written: without these modules gcc would take their functions for code "
                "that never runs");
        return EXIT_FAILED;
    }
    return cli_export_gcda(profile, request->notes ? request->notes : ".");
}

static const struct {
    const char *name;
    int (*export)(struct fp_profile *profile, const struct export_request *request);
    bool binary; /* nothing for a terminal */
} formats[] = {
    {"json", export_json, false},           {"lcov", export_lcov, false},
    {"callgrind", export_callgrind, false}, {"speedscope", export_speedscope, false},
    {"collapsed", export_collapsed, false}, {"guide", export_guide, true},
    {"legacy", export_legacy, true},        {"llvm-sample", export_llvm_sample, false},
    {"gcc-afdo", export_gcc_afdo, true},    {"pprof", export_pprof, true},
    {"gcov-json", export_gcov_json, false}, {"llvm-profdata", export_llvm_profdata, true},
    {"gcda", export_gcda, false},
};

static size_t find_format(const struct cli_command *command, const char *name)
{
    if (!name) cli_usage(command, "--format is needed");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i].name, name)) return i;
    cli_usage(command, "unknown format %s", name);
}

static bool is_terminal(const char *output)
{
    return (!output || !strcmp(output, "-")) && isatty(STDOUT_FILENO);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    cli_parse(command, argc, argv);
    struct cli_profiles *inputs = &given.inputs;
    size_t format = find_format(command, given.format);
    if (formats[format].binary && is_terminal(given.output))
        cli_usage(command, "%s is binary: give -o FILE", given.format);
    cli_default_profile(inputs);
    if (formats[format].export == export_legacy && fp_is_combined(inputs->names.at[0])) {
        int done = cli_export_legacy_combined(inputs, !strcmp(given.what, "paths"), given.output);
        fp_arena_free(&inputs->arena);
        return done;
    }
    /* a source file may be of any program; in an older build its lines may have been others */
    inputs->each_program = formats[format].export == export_gcda;
    struct fp_profile *profile = cli_load(inputs);
    if (!profile) return EXIT_FAILED;
    int status = formats[format].export(profile, &given);
    fp_profile_free(profile);
    fp_arena_free(&inputs->arena);
    fp_sources_free(&given.sources);
    return status;
}

struct cli_command command_export = {
    .name = "export",
    .arguments = "--format FORMAT [PROFILE...]",
    .summary = "Write a profile in the form of another tool",
    .text =
        "Formats: json, lcov, gcov-json (gcovr), callgrind (kcachegrind), pprof, speedscope,\n"
        "collapsed (flame graphs), guide (for compilations), legacy (LLVM 2.8-3.3), "
        "llvm-sample (for clang's\n"
        "-fprofile-sample-use=), llvm-profdata (for clang's -fprofile-use=; of programs built\n"
        "with --fp-at=pgo), gcda (for gcc's -fprofile-use), gcc-afdo (for gcc's -fauto-profile=).",
    .options = options,
    .words = &given.inputs,
    .run = run,
};
