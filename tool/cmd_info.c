/* footpath info: what is in a profile or a program, and for bug reports. */
#include "commands.h"

#include "base/io.h"
#include "cli_combined.h"
#include "flags/plugins.h"
#include "profile/program.h"
#include "report/info.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

struct info_request {
    struct fp_info info;
    struct cli_profiles profiles;
    FP_VEC(const char *) programs, combined;
};

static bool is_profile(const char *path)
{
    struct fp_file file;
    struct fp_error error = {0};
    if (!fp_file_open(&file, path, &error)) return true; /* reading it says why not */
    bool result = file.len < 4 || memcmp(file.bytes, "\177ELF", 4);
    fp_file_close(&file);
    return result;
}

static struct info_request given;

static void take_input(const struct cli_command *command, char *path)
{
    (void)command;
    if (!is_profile(path))
        fp_vec_push(&given.profiles.arena, &given.programs, path);
    else if (fp_is_combined(path))
        fp_vec_push(&given.profiles.arena, &given.combined, path);
    else
        cli_add_profile(&given.profiles, path);
}

static const struct cli_option options[] = {
    {"--json", NULL, "as JSON", .flag = &given.info.json},
    CLI_PROFILE_OPTIONS(given.profiles),
    {0},
};

static bool info_of_program(struct info_request *r, const char *path)
{
    struct fp_arena arena = {0};
    struct fp_program program;
    struct fp_error error = {0};
    bool ok = fp_program_read(&arena, path, &program, &error);
    if (ok)
        fp_info_program(&r->info, path, &program);
    else
        cli_fail(&error, NULL);
    fp_arena_free(&arena);
    return ok;
}

static bool info_of_combined(struct info_request *r, const char *path)
{
    struct fp_combiner *combiner = fp_combiner_new(&r->profiles.binary, r->profiles.binary != NULL);
    struct fp_combined *c = cli_read_combined(&path, 1, combiner);
    bool ok = c != NULL;
    if (ok) fp_info_combined(&r->info, path, c);
    fp_combined_free(c);
    fp_combiner_free(combiner);
    return ok;
}

static bool info_of_profiles(struct info_request *r)
{
    r->profiles.all_builds = !r->profiles.program;
    struct fp_profile *p = cli_check_binary(r->profiles.binary) ? cli_read(&r->profiles) : NULL;
    if (!p) return false;
    fp_profile_load_maps(p, r->profiles.binary);
    fp_info_profile(&r->info, p);
    fp_profile_free(p);
    return true;
}

static bool info_of_list(struct info_request *r, const char *name, const char *const *paths,
                         size_t count, bool (*info_of)(struct info_request *, const char *))
{
    bool ok = true;
    if (!count) return true;
    fp_info_list(&r->info, name);
    for (size_t i = 0; i < count; i++) ok &= info_of(r, paths[i]);
    fp_info_list_end(&r->info);
    return ok;
}

/* ---- without arguments ---- */

/* The LLVM versions that there are plugins for. */
static void info_of_plugins(struct fp_info *info)
{
    int first = fp_plugin_after(0);
    if (info->json) fp_json_key(&info->j, "llvm"), fp_json_begin(&info->j, '[');
    for (int version = first; version; version = fp_plugin_after(version)) {
        bool usual = version == atoi(FOOTPATH_DEFAULT_LLVM);
        if (info->json)
            fp_json_uint(&info->j, (uint64_t)version);
        else
            fp_say(&info->out, "%s%d%s", version == first ? "plugins for LLVM " : ", ", version,
                   usual ? " (default)" : "");
    }
    if (info->json)
        fp_json_end(&info->j, ']');
    else
        fp_say(&info->out, first ? "\n" : "no plugin for any LLVM is installed\n");
}

/* The installation, for bug reports, and footpath.prof where there is one. */
static void info_of_all(struct info_request *r)
{
    struct utsname system = {0};
    uname(&system);
    if (!r->info.json)
        fp_say(&r->info.out, "footpath %s on %s %s, %s\n", FOOTPATH_VERSION, system.sysname,
               system.release, system.machine);
    info_of_plugins(&r->info);
    if (access("footpath.prof", F_OK) == 0)
        take_input(NULL, (char *)"footpath.prof");
    else if (!r->info.json)
        fp_say(&r->info.out, "no footpath.prof in this folder\n");
}

static int print_info(struct info_request *r)
{
    bool any = r->profiles.names.len || r->programs.len || r->combined.len;
    fp_info_begin(&r->info);
    if (!any) info_of_all(r);
    bool ok = info_of_list(r, "programs", r->programs.at, r->programs.len, info_of_program);
    if (r->profiles.names.len) ok &= info_of_profiles(r);
    ok &= info_of_list(r, "combined", r->combined.at, r->combined.len, info_of_combined);
    fp_info_end(&r->info);
    return cli_output(NULL, &r->info.out) == EXIT_OK && ok ? EXIT_OK : EXIT_FAILED;
}

static int run(struct cli_command *command, int argc, char **argv)
{
    cli_parse(command, argc, argv);
    int status = print_info(&given);
    fp_arena_free(&given.profiles.arena);
    return status;
}

struct cli_command command_info = {
    .name = "info",
    .arguments = "[PROFILE|PROGRAM]...",
    .summary = "Say what is in a profile or an instrumented program",
    .text = "Without arguments: what is installed, and what is in footpath.prof.",
    .options = options,
    .take_word = take_input,
    .run = run,
};
