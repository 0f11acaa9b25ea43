/* footpath info: what is in a profile or a program, and for bug reports. */
#include "commands.h"

#include "base/io.h"
#include "cli_combined.h"
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

/* Numbers of functions by what was compiled into them. */
struct totals {
    uint64_t paths, hashed, edges, exits, cut, counters, laps;
};

static struct totals totals_of(const struct fp_program *p)
{
    struct totals t = {0};
    for (size_t i = 0; i < p->nfunctions; i++) {
        const struct fp_function *f = &p->functions[i];
        if (f->flags & FP_FUNCTION_SKIPPED) continue;
        t.paths += (f->flags & FP_FUNCTION_PATHS) != 0;
        t.edges += (f->flags & FP_FUNCTION_EDGES) != 0;
        t.exits += (f->flags & FP_FUNCTION_EXITS) != 0;
        t.hashed += (f->flags & FP_FUNCTION_HASHED) != 0;
        t.cut += f->paths.truncation->ncuts != 0;
        t.counters += f->layout.path_slots + f->layout.edge_slots;
        t.laps += f->paths.truncation->laps.len;
    }
    return t;
}

static void say_program(struct fp_writer *out, const struct fp_program *p)
{
    struct totals t = totals_of(p);
    fp_say(out,
           "  functions   %zu: %" PRIu64 " with path counters (%" PRIu64
           " in hash tables), %" PRIu64 " with edge counters, %" PRIu64
           " exact to the end, %zu left out\n",
           p->nfunctions, t.paths, t.hashed, t.edges, t.exits, p->nskipped);
    if (t.cut)
        fp_say(out, "  cut         paths of %" PRIu64 " functions, which have too many\n", t.cut);
    fp_say(out, "  counters    %s, %s of them for loops with one way round\n",
           cli_count(t.counters), cli_count(t.laps));
}

static void say_text(struct fp_writer *out, const char *text)
{
    fp_say_plain(out, text, strlen(text));
}

static void say_module(struct fp_writer *out, const struct fp_module *m)
{
    fp_say(out, "module ");
    say_text(out, m->id.path);
    fp_say(out, "\n  build-id    ");
    say_hex(out, m->id.build_id, m->id.build_id_len);
    fp_say(out, "\n  runs        %" PRIu64 "\n", m->runs);
    if (m->have_program) say_program(out, &m->program);
}

static void say_run(struct fp_writer *out, const struct fp_run *r)
{
    const char *unfinished = r->flags & FP_RUN_LEAVING ? ", went on by exec or daemon"
                             : r->flags & FP_RUN_UNFINISHED
                                 ? ", still running when this was written"
                                 : "";
    fp_say(out, "run of ");
    say_time(out, r->start_ns);
    fp_say(out, ", %.3f s, pid %" PRIu64 " on ", (double)(r->end_ns - r->start_ns) * 1e-9, r->pid);
    say_text(out, r->host);
    fp_say(out, "%s%s:", unfinished, r->flags & FP_RUN_SIGNALLED ? ", ended by a signal" : "");
    for (size_t i = 0; i < r->nargs; i++) {
        fp_say(out, " ");
        say_text(out, r->args[i]);
    }
    if (r->runs > 1) fp_say(out, " (%" PRIu64 " runs merged)", r->runs);
    fp_say(out, "\n");
}

/* ---- JSON ---- */

static void json_build_id(struct fp_json *j, const unsigned char *bytes, size_t len)
{
    struct fp_writer id = {0};
    say_hex(&id, bytes, len);
    fp_write_u8(&id, 0);
    fp_json_key(j, "build_id"), fp_json_string(j, (char *)id.bytes);
    fp_writer_free(&id);
}

static void json_program(struct fp_json *j, const struct fp_program *p)
{
    struct totals t = totals_of(p);
    fp_json_key(j, "functions"), fp_json_uint(j, p->nfunctions);
    fp_json_key(j, "functions_left_out"), fp_json_uint(j, p->nskipped);
    fp_json_key(j, "with_path_counters"), fp_json_uint(j, t.paths);
    fp_json_key(j, "in_hash_tables"), fp_json_uint(j, t.hashed);
    fp_json_key(j, "with_edge_counters"), fp_json_uint(j, t.edges);
    fp_json_key(j, "exact_to_the_end"), fp_json_uint(j, t.exits);
    fp_json_key(j, "with_cuts"), fp_json_uint(j, t.cut);
    fp_json_key(j, "counters"), fp_json_uint(j, t.counters);
}

static void json_left_out(struct fp_json *j, const struct fp_program *p)
{
    fp_json_key(j, "left_out"), fp_json_begin(j, '[');
    for (size_t i = 0; i < p->nfunctions; i++) {
        if (!(p->functions[i].flags & FP_FUNCTION_SKIPPED)) continue;
        fp_json_begin(j, '{');
        fp_json_key(j, "linkage_name"), fp_json_string(j, p->functions[i].name);
        fp_json_key(j, "reason"), fp_json_string(j, p->functions[i].skipped);
        fp_json_end(j, '}');
    }
    fp_json_end(j, ']');
}

static void json_module(struct fp_json *j, const struct fp_module *m)
{
    fp_json_begin(j, '{');
    fp_json_key(j, "path"), fp_json_string(j, m->id.path);
    json_build_id(j, m->id.build_id, m->id.build_id_len);
    fp_json_key(j, "runs"), fp_json_uint(j, m->runs);
    json_program(j, &m->program);
    fp_json_end(j, '}');
}

static void json_run(struct fp_json *j, const struct fp_run *r)
{
    fp_json_begin(j, '{');
    fp_json_key(j, "start_ns"), fp_json_uint(j, r->start_ns);
    fp_json_key(j, "end_ns"), fp_json_uint(j, r->end_ns);
    fp_json_key(j, "pid"), fp_json_uint(j, r->pid);
    fp_json_key(j, "host"), fp_json_string(j, r->host);
    fp_json_key(j, "runs"), fp_json_uint(j, r->runs);
    fp_json_key(j, "unfinished"), fp_json_bool(j, r->flags & FP_RUN_UNFINISHED);
    fp_json_key(j, "leaving"), fp_json_bool(j, r->flags & FP_RUN_LEAVING);
    fp_json_key(j, "signalled"), fp_json_bool(j, r->flags & FP_RUN_SIGNALLED);
    fp_json_key(j, "program"), fp_json_string(j, r->program);
    fp_json_key(j, "arguments"), fp_json_begin(j, '[');
    for (size_t k = 0; k < r->nargs; k++) fp_json_string(j, r->args[k]);
    fp_json_end(j, ']');
    fp_json_end(j, '}');
}

/* ---- inputs ---- */

struct info {
    struct fp_writer out;
    struct fp_json json;
    bool as_json;
    struct cli_profiles profiles;
    FP_VEC(const char *) programs, combined;
};

static bool info_of_program(struct info *info, const char *path)
{
    struct fp_arena arena = {0};
    struct fp_program program;
    struct fp_error error = {0};
    if (!fp_program_read(&arena, path, &program, &error)) return cli_fail(&error, NULL) == EXIT_OK;
    if (info->as_json) {
        fp_json_begin(&info->json, '{');
        fp_json_key(&info->json, "path"), fp_json_string(&info->json, path);
        json_build_id(&info->json, program.build_id, program.build_id_len);
        json_program(&info->json, &program);
        json_left_out(&info->json, &program);
        fp_json_end(&info->json, '}');
    } else {
        fp_say(&info->out, "program %s\n  build-id    ", fp_plain(&arena, path));
        say_hex(&info->out, program.build_id, program.build_id_len);
        fp_say(&info->out, "\n");
        say_program(&info->out, &program);
        for (size_t i = 0; i < program.nfunctions; i++)
            if (program.functions[i].flags & FP_FUNCTION_SKIPPED)
                fp_say(&info->out, "  left out: %s: %s\n",
                       fp_plain(&arena, program.functions[i].name),
                       fp_plain(&arena, program.functions[i].skipped));
    }
    fp_arena_free(&arena);
    return true;
}

static bool info_of_programs(struct info *info)
{
    bool ok = true;
    if (info->as_json) fp_json_key(&info->json, "programs"), fp_json_begin(&info->json, '[');
    for (size_t i = 0; i < info->programs.len; i++)
        ok &= info_of_program(info, info->programs.at[i]);
    if (info->as_json) fp_json_end(&info->json, ']');
    return ok;
}

static bool info_of_profiles(struct info *info)
{
    info->profiles.all_builds = true;
    struct fp_profile *p =
        cli_check_binary(info->profiles.binary) ? cli_read(&info->profiles) : NULL;
    if (!p) return false;
    fp_profile_load_maps(p, info->profiles.binary);
    struct fp_json *j = &info->json;
    if (info->as_json) fp_json_key(j, "modules"), fp_json_begin(j, '[');
    for (size_t i = 0; i < p->modules.len; i++)
        if (info->as_json)
            json_module(j, p->modules.at[i]);
        else
            say_module(&info->out, p->modules.at[i]);
    if (info->as_json) fp_json_end(j, ']'), fp_json_key(j, "runs"), fp_json_begin(j, '[');
    for (size_t i = 0; i < p->runs.len; i++)
        if (info->as_json)
            json_run(j, &p->runs.at[i]);
        else
            say_run(&info->out, &p->runs.at[i]);
    if (info->as_json) fp_json_end(j, ']');
    fp_profile_free(p);
    return true;
}

/* ---- combined profiles ---- */

static void count_events(const struct fp_combined *c, uint64_t events[FP_EVENT_KINDS])
{
    for (size_t i = 0; i < c->functions.len; i++)
        for (size_t k = 0; k < c->functions.at[i]->events.len; k++)
            events[c->functions.at[i]->events.at[k].kind]++;
}

static bool info_of_combined(struct info *info, const char *path)
{
    struct fp_combiner *combiner =
        fp_combiner_new(&info->profiles.binary, info->profiles.binary != NULL);
    struct fp_combined *c = cli_read_combined(&path, 1, combiner);
    uint64_t events[FP_EVENT_KINDS] = {0};
    struct fp_json *j = &info->json;
    if (c) count_events(c, events);
    if (c && info->as_json) {
        fp_json_begin(j, '{');
        fp_json_key(j, "path"), fp_json_string(j, path);
        fp_json_key(j, "runs"), fp_json_uint(j, c->runs);
        fp_json_key(j, "bins"), fp_json_uint(j, c->bins);
        fp_json_key(j, "functions"), fp_json_uint(j, c->functions.len);
        fp_json_key(j, "edges"), fp_json_uint(j, events[FP_EVENT_EDGE]);
        fp_json_key(j, "paths"), fp_json_uint(j, events[FP_EVENT_PATH]);
        fp_json_end(j, '}');
    } else if (c) {
        fp_say(
            &info->out,
            "combined profile %s\n  %s runs, up to %u bins\n  functions   %zu, %s of them called\n"
            "  events      %s edges, %s paths\n",
            fp_plain(&c->arena, path), cli_count(c->runs), c->bins, c->functions.len,
            cli_count(events[FP_EVENT_ENTRY]), cli_count(events[FP_EVENT_EDGE]),
            cli_count(events[FP_EVENT_PATH]));
        for (size_t i = 0; i < c->modules.len; i++)
            fp_say(&info->out, "  module      %s, in %s runs\n",
                   fp_plain(&c->arena, c->modules.at[i].path), cli_count(c->modules.at[i].runs));
    }
    bool ok = c != NULL;
    fp_combined_free(c);
    fp_combiner_free(combiner);
    return ok;
}

static bool info_of_all_combined(struct info *info)
{
    bool ok = true;
    if (info->as_json) fp_json_key(&info->json, "combined"), fp_json_begin(&info->json, '[');
    for (size_t i = 0; i < info->combined.len; i++)
        ok &= info_of_combined(info, info->combined.at[i]);
    if (info->as_json) fp_json_end(&info->json, ']');
    return ok;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command, .argc = argc, .argv = argv};
    struct info info = {0};
    struct cli_profiles *profiles = &info.profiles;
    char *value;
    for (int option; (option = cli_next(&cli, &value)) != CLI_END;) {
        if (option == JSON) info.as_json = true;
        if (option == BINARY) profiles->binary = value;
        if (option == STRICT) profiles->strict = true;
        if (option != CLI_WORD) continue;
        if (is_profile(value) && fp_is_combined(value))
            fp_vec_push(&profiles->arena, &info.combined, value);
        else if (is_profile(value))
            fp_vec_push(&profiles->arena, &profiles->names, value);
        else
            fp_vec_push(&profiles->arena, &info.programs, value);
    }
    info.json.out = &info.out;
    bool ok = true, any = profiles->names.len || info.programs.len || info.combined.len;
    if (info.as_json) {
        fp_json_begin(&info.json, '{');
        fp_json_key(&info.json, "format_version"), fp_json_uint(&info.json, 1);
        fp_json_key(&info.json, "footpath"), fp_json_string(&info.json, FOOTPATH_VERSION);
    } else if (!any) {
        fp_say(&info.out, "footpath %s\n", FOOTPATH_VERSION);
    }
    if (info.programs.len) ok &= info_of_programs(&info);
    if (profiles->names.len) ok &= info_of_profiles(&info);
    if (info.combined.len) ok &= info_of_all_combined(&info);
    if (info.as_json) fp_json_end(&info.json, '}'), fp_write_u8(&info.out, '\n');
    fp_arena_free(&profiles->arena);
    return cli_output(NULL, &info.out) == EXIT_OK && ok ? EXIT_OK : EXIT_FAILED;
}

struct cli_command command_info = {
    .name = "info",
    .arguments = "[PROFILE|PROGRAM]...",
    .summary = "Say what is in a profile or an instrumented program",
    .options = options,
    .run = run,
};
