/* Opening profiles: see load.h. */
#include "combined/load.h"

#include "base/io.h"
#include "base/names.h"
#include "base/plain.h"
#include "footpath/profile_abi.h"
#include "profile/aside.h"
#include "profile/builds.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

void fp_load_free(struct fp_load *load)
{
    fp_arena_free(&load->arena);
}

static const char *text_of(struct fp_load *load, const struct fp_error *error)
{
    char text[1024];
    fp_error_text(error, text, sizeof text);
    return fp_arena_strdup(&load->arena, text);
}

void fp_load_warn(struct fp_load *load, enum footpath_warning_kind kind,
                  const struct fp_error *error)
{
    struct footpath_warning warning = {kind, text_of(load, error)};
    fp_vec_push(&load->arena, &load->warnings, warning);
}

static void fail(struct fp_load *load, enum footpath_result result, const struct fp_error *error)
{
    load->result = result;
    load->error = text_of(load, error);
}

/* ---- runs ---- */

/* Whoever looks for another program's runs should hear that the file has them. */
static bool has_build_of(const struct fp_profile *profile, const char *program)
{
    for (size_t i = 0; i < profile->builds.len; i++)
        if (!strcmp(profile->builds.at[i]->program, program)) return true;
    return false;
}

static void note_left_out(struct fp_load *load, const struct fp_profile *profile)
{
    enum { MOST = 4 };
    struct fp_arena *arena = &load->arena;
    struct fp_error error = {0};
    const char *list = "";
    size_t n = profile->left_out.len;
    for (size_t i = n; i-- > 0 && n - i <= MOST;) {
        const struct fp_build *b = profile->left_out.at[i];
        list = fp_arena_printf(arena, "%s%s%s%s (%" PRIu64 " run%s)", list, *list ? ", " : "",
                               has_build_of(profile, b->program) ? "another build of " : "",
                               fp_plain(arena, fp_base_name(b->program)), b->runs,
                               b->runs == 1 ? "" : "s");
    }
    if (!n) return;
    fp_fail(&error, profile->files.len ? profile->files.at[0] : NULL, "also has %s%s", list,
            n > MOST ? ", ..." : "");
    fp_load_warn(load, FOOTPATH_WARNING_ALSO, &error);
}

static void note_cut(struct fp_load *load, const char *name)
{
    struct fp_error error = {0};
    fp_fail(&error, name, "ends in the middle of a record; the runs before it are used");
    fp_load_warn(load, FOOTPATH_WARNING_CUT, &error);
}

static bool add_files(struct fp_load *load, struct fp_profile *profile, const char **names)
{
    for (size_t i = 0; i < load->read; i++) {
        struct fp_error error = {0};
        if (fp_profile_add(profile, names[i], &error)) continue;
        load->skipped++;
        if (load->strict || load->read == 1) {
            fail(load, FOOTPATH_BAD_PROFILE, &error);
            return false;
        }
        fp_load_warn(load, FOOTPATH_WARNING_SKIPPED, &error);
    }
    return true;
}

struct fp_profile *fp_load_runs(struct fp_load *load)
{
    struct fp_profile *profile = fp_profile_new();
    profile->wanted_build = load->program;
    profile->each_program = load->each_program && !load->program;
    profile->all_builds = load->all_builds;
    const char **names = FP_NEW_ARRAY(&load->arena, const char *, load->nnames);
    if (load->nnames) memcpy(names, load->names, load->nnames * sizeof *names);
    load->read = load->nnames;
    fp_drop_aside(&load->arena, names, &load->read);
    bool ok = add_files(load, profile, names);
    for (size_t i = 0; ok && i < profile->cut.len; i++) note_cut(load, profile->cut.at[i]);
    if (ok) note_left_out(load, profile);
    if (ok && profile->modules.len) return profile;
    struct fp_error none = {0};
    fp_fail(&none, NULL, "no runs to show; did the instrumented program run to its end?");
    if (ok) fail(load, FOOTPATH_NO_RUNS, &none);
    fp_profile_free(profile);
    return NULL;
}

/* ---- programs ---- */

bool fp_load_check_binary(struct fp_load *load)
{
    struct fp_arena arena = {0};
    struct fp_program program;
    struct fp_error error = {0};
    bool ok = !load->binary || fp_program_read(&arena, load->binary, &program, &error);
    if (!ok) fail(load, FOOTPATH_BAD_BINARY, &error);
    fp_arena_free(&arena);
    return ok;
}

/* A program that no module of the profile is a run of is a mistake of the caller. */
static void note_other_build(struct fp_load *load, const struct fp_profile *profile)
{
    struct fp_arena arena = {0};
    struct fp_program program;
    struct fp_error error = {0};
    bool fits = !load->binary || !fp_program_read(&arena, load->binary, &program, &error);
    for (size_t i = 0; !fits && i < profile->modules.len; i++)
        fits = fp_program_fits(&program, &profile->modules.at[i]->id);
    fp_arena_free(&arena);
    if (fits) return;
    fp_fail(&error, load->binary, "is another build than those that ran; it is not used");
    fp_load_warn(load, FOOTPATH_WARNING_OTHER_BUILD, &error);
}

/* The name of a function of the module, by its id. */
static const char *name_of(const struct fp_module *module, uint64_t id)
{
    for (size_t i = 0; i < module->program.nfunctions; i++)
        if (module->program.functions[i].id == id) return module->program.functions[i].name;
    return "?";
}

static void note_caught(struct fp_load *load, const struct fp_module *module)
{
    enum { MOST = 4 };
    struct fp_error error = {0};
    size_t n = module->caught.len;
    const char *list = "";
    if (!n) return;
    for (size_t i = 0; i < n && i < MOST; i++)
        list =
            fp_arena_printf(&load->arena, "%s%s%s", list, *list ? ", " : "",
                            fp_plain(&load->arena, name_of(module, module->caught.at[i].function)));
    fp_fail(&error, module->id.path,
            "%zu function%s not exact: an unexpected jump was caught (%s%s)", n, n == 1 ? "" : "s",
            list, n > MOST ? ", ..." : "");
    fp_load_warn(load, FOOTPATH_WARNING_NOT_EXACT, &error);
}

struct fp_profile *fp_load_profile(struct fp_load *load)
{
    if (!fp_load_check_binary(load)) return NULL;
    struct fp_profile *profile = fp_load_runs(load);
    if (!profile) return NULL;
    fp_profile_load_maps(profile, load->binary);
    size_t found = 0;
    for (size_t i = 0; i < profile->modules.len; i++) {
        const struct fp_module *module = profile->modules.at[i];
        found += module->have_program;
        if (!module->have_program)
            fp_load_warn(load, FOOTPATH_WARNING_NO_PROGRAM, &module->problem);
        note_caught(load, module);
    }
    if (found) {
        note_other_build(load, profile);
        return profile;
    }
    fail(load, FOOTPATH_NO_PROGRAM, &profile->modules.at[0]->problem);
    fp_profile_free(profile);
    return NULL;
}

/* ---- combined profiles ---- */

struct fp_combined *fp_load_combined(struct fp_load *load, struct fp_combiner *combiner,
                                     uint32_t bins)
{
    struct fp_combined *c = fp_combined_new(bins);
    for (size_t i = 0; i < load->nnames; i++) {
        struct fp_combine_notes notes = {0};
        struct fp_error error = {0};
        load->read++;
        if (!fp_combine_file(combiner, c, load->names[i], NULL, &notes, &error)) {
            fail(load, FOOTPATH_BAD_PROFILE, &error);
            fp_combined_free(c);
            return NULL;
        }
        if (notes.cut) note_cut(load, load->names[i]);
    }
    fp_combined_settle(c);
    return c;
}

/* Not a pipe, which can be read once only. */
static bool open_regular(struct fp_file *file, const char *path)
{
    struct fp_error error = {0};
    struct stat info;
    bool regular = fp_is_elsewhere(path) || (stat(path, &info) == 0 && S_ISREG(info.st_mode));
    return regular && fp_file_open(file, path, &error);
}

static bool note_combined(struct fp_reader *payload, void *context)
{
    (void)payload;
    *(bool *)context = true;
    return false; /* enough */
}

bool fp_is_combined(const char *path)
{
    size_t len = strlen(path);
    if (len > 3 && !strcmp(path + len - 3, ".cp")) return true;
    struct fp_file file;
    struct fp_error error = {0};
    bool found = false, cut;
    if (!open_regular(&file, path)) return false;
    struct fp_profile_visitor visitor = {.combined = note_combined, .context = &found};
    fp_profile_visit(file.bytes, file.len, path, &visitor, &cut, &error);
    fp_file_close(&file);
    return found;
}

/* Of the first record, where footpath combine puts the summary; 0 without one. */
static uint32_t bins_of(const struct fp_file *file)
{
    struct fp_error error = {0};
    struct fp_record_header record;
    size_t at = sizeof(struct fp_profile_header) + sizeof record;
    if (file->len <= at || memcmp(file->bytes, FP_PROFILE_MAGIC, 8)) return 0;
    memcpy(&record, file->bytes + at - sizeof record, sizeof record);
    if (record.magic != FP_RECORD_MAGIC || record.type != FP_RECORD_COMBINED) return 0;
    struct fp_reader payload = {.bytes = file->bytes, .len = file->len, .at = at, .error = &error};
    return fp_read_index(&payload, FP_MOST_BINS + 1, "number of bins");
}

uint32_t fp_combined_bins(const char *const *names, size_t count)
{
    uint32_t most = 0;
    for (size_t i = 0; i < count; i++) {
        struct fp_file file;
        if (!open_regular(&file, names[i])) continue;
        uint32_t bins = bins_of(&file);
        if (bins > most) most = bins;
        fp_file_close(&file);
    }
    return most ? most : FP_DEFAULT_BINS;
}
