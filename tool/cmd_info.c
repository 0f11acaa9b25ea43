/* footpath info: what is in a profile or a program, and for bug reports. */
#include "commands.h"

#include "base/io.h"
#include "footpath/profile_abi.h"
#include "profile/program.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

static const struct cli_option options[] = {
    {"--json", NULL, "as JSON"},
    CLI_PROFILE_OPTIONS,
    {NULL, NULL, NULL},
};
enum { JSON, BINARY, STRICT };

static bool is_profile(const char *path)
{
    struct fp_file file;
    struct fp_error error = {0};
    if (!fp_file_open(&file, path, &error)) return true; /* reading it says why not */
    bool result = file.len < 4 || memcmp(file.bytes, "\177ELF", 4);
    fp_file_close(&file);
    return result;
}

static void say_hex(struct fp_writer *out, const unsigned char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) fp_say(out, "%02x", bytes[i]);
}

static void say_time(struct fp_writer *out, uint64_t ns)
{
    time_t seconds = (time_t)(ns / 1000000000u);
    struct tm t;
    char text[32];
    gmtime_r(&seconds, &t);
    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &t);
    fp_say(out, "%s", text);
}

static void say_program(struct fp_writer *out, const struct fp_program *p)
{
    uint64_t paths = 0, counters = 0, hashed = 0, cuts = 0, laps = 0;
    size_t edges = 0, exits = 0;
    for (size_t i = 0; i < p->nfunctions; i++) {
        const struct fp_function *f = &p->functions[i];
        if (f->flags & FP_FUNCTION_SKIPPED) continue;
        paths += (f->flags & FP_FUNCTION_PATHS) != 0;
        edges += (f->flags & FP_FUNCTION_EDGES) != 0;
        exits += (f->flags & FP_FUNCTION_EXITS) != 0;
        hashed += (f->flags & FP_FUNCTION_HASHED) != 0;
        counters += f->path_slots + f->edge_slots;
        laps += f->truncation->laps.len;
        cuts += f->truncation->ncuts;
    }
    fp_say(out, "  functions   %zu: %" PRIu64 " with path counters (%" PRIu64
                " in hash tables), %zu with edge counters, %zu exact to the end, %zu left out\n",
           p->nfunctions, paths, hashed, edges, exits, p->nskipped);
    fp_say(out, "  counters    %s, %s of them for loops with one way round\n", cli_count(counters),
           cli_count(laps));
}

static void say_module(struct fp_writer *out, const struct fp_module *m)
{
    fp_say(out, "module %s\n  build-id    ", m->id.path);
    say_hex(out, m->id.build_id, m->id.build_id_len);
    fp_say(out, "\n  runs        %" PRIu64 "\n", m->runs);
    if (m->have_program) say_program(out, &m->program);
}

static void say_run(struct fp_writer *out, const struct fp_run *r)
{
    fp_say(out, "run of ");
    say_time(out, r->start_ns);
    fp_say(out, ", %.3f s, pid %" PRIu64 " on %s%s%s:", (double)(r->end_ns - r->start_ns) * 1e-9, r->pid,
           r->host, r->flags & FP_RUN_UNFINISHED ? ", still running" : "",
           r->flags & FP_RUN_SIGNALLED ? ", ended by a signal" : "");
    for (size_t i = 0; i < r->nargs; i++) fp_say(out, " %s", r->args[i]);
    if (r->runs > 1) fp_say(out, " (%" PRIu64 " runs merged)", r->runs);
    fp_say(out, "\n");
}

static void json_profile(struct fp_writer *out, const struct fp_profile *p)
{
    struct fp_json j = {.out = out};
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "modules"), fp_json_begin(&j, '[');
    for (size_t i = 0; i < p->modules.len; i++) {
        const struct fp_module *m = p->modules.at[i];
        struct fp_writer id = {0};
        say_hex(&id, m->id.build_id, m->id.build_id_len);
        fp_write_u8(&id, 0);
        fp_json_begin(&j, '{');
        fp_json_key(&j, "path"), fp_json_string(&j, m->id.path);
        fp_json_key(&j, "build_id"), fp_json_string(&j, (char *)id.bytes);
        fp_json_key(&j, "runs"), fp_json_uint(&j, m->runs);
        fp_json_key(&j, "functions"), fp_json_uint(&j, m->program.nfunctions);
        fp_json_key(&j, "functions_left_out"), fp_json_uint(&j, m->program.nskipped);
        fp_json_end(&j, '}');
        fp_writer_free(&id);
    }
    fp_json_end(&j, ']');
    fp_json_key(&j, "runs"), fp_json_begin(&j, '[');
    for (size_t i = 0; i < p->runs.len; i++) {
        const struct fp_run *r = &p->runs.at[i];
        fp_json_begin(&j, '{');
        fp_json_key(&j, "start_ns"), fp_json_uint(&j, r->start_ns);
        fp_json_key(&j, "end_ns"), fp_json_uint(&j, r->end_ns);
        fp_json_key(&j, "pid"), fp_json_uint(&j, r->pid);
        fp_json_key(&j, "host"), fp_json_string(&j, r->host);
        fp_json_key(&j, "runs"), fp_json_uint(&j, r->runs);
        fp_json_key(&j, "program"), fp_json_string(&j, r->program);
        fp_json_key(&j, "arguments"), fp_json_begin(&j, '[');
        for (size_t k = 0; k < r->nargs; k++) fp_json_string(&j, r->args[k]);
        fp_json_end(&j, ']');
        fp_json_end(&j, '}');
    }
    fp_json_end(&j, ']');
    fp_json_end(&j, '}');
    fp_write_u8(out, '\n');
}

static int info_of_program(const char *path)
{
    struct fp_arena arena = {0};
    struct fp_program program;
    struct fp_error error = {0};
    struct fp_writer out = {0};
    if (!fp_program_read(&arena, path, &program, &error)) return cli_fail(&error, NULL);
    fp_say(&out, "program %s\n  build-id    ", path);
    say_hex(&out, program.build_id, program.build_id_len);
    fp_say(&out, "\n");
    say_program(&out, &program);
    for (size_t i = 0; i < program.nfunctions; i++)
        if (program.functions[i].flags & FP_FUNCTION_SKIPPED)
            fp_say(&out, "  left out: %s: %s\n", program.functions[i].name,
                   program.functions[i].skipped);
    fp_arena_free(&arena);
    return cli_output(NULL, &out);
}

static int info_of_profiles(struct cli_profiles *inputs, bool json)
{
    struct fp_profile *profile = cli_read(inputs);
    if (!profile) return EXIT_FAILED;
    fp_profile_load_maps(profile, inputs->binary);
    struct fp_writer out = {0};
    if (json) {
        json_profile(&out, profile);
    } else {
        for (size_t i = 0; i < profile->modules.len; i++) say_module(&out, profile->modules.at[i]);
        for (size_t i = 0; i < profile->runs.len; i++) say_run(&out, &profile->runs.at[i]);
    }
    fp_profile_free(profile);
    return cli_output(NULL, &out);
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    struct cli_profiles inputs = {0};
    bool json = false;
    int status = EXIT_OK;
    char *value;
    for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
        if (option == JSON) json = true;
        if (option == BINARY) inputs.binary = value;
        if (option == STRICT) inputs.strict = true;
        if (option != CLI_WORD) continue;
        if (is_profile(value))
            fp_vec_push(&inputs.arena, &inputs.names, value);
        else if (info_of_program(value) != EXIT_OK)
            status = EXIT_FAILED;
        else
            continue;
    }
    if (argc == 0) printf("footpath %s\n", FOOTPATH_VERSION);
    if (inputs.names.len && info_of_profiles(&inputs, json) != EXIT_OK) status = EXIT_FAILED;
    fp_arena_free(&inputs.arena);
    return status;
}

struct cli_command command_info = {
    .name = "info",
    .arguments = "PROFILE|PROGRAM...",
    .summary = "Say what is in a profile or an instrumented program",
    .options = options,
    .run = run,
};
