/* Every report and export over hostile data: u32 length of a map, the map, a profile. */
#include "fuzz.h"
#include "readers.h"

#include "guide/makeguide.h"
#include "paths/stats.h"
#include "paths/verify.h"
#include "report/annotate.h"
#include "report/coverreport.h"
#include "report/dot.h"
#include "report/exports.h"
#include "report/pastreport.h"
#include "api/handle.h"
#include "report/show.h"
#include "report/sourceprofile.h"
#include "report/statsreport.h"

#include <string.h>

enum { MOST_DOTS = 8 };

static size_t map_length(const unsigned char *bytes, size_t len)
{
    uint32_t map = 0;
    if (len < sizeof map) return 0;
    memcpy(&map, bytes, sizeof map);
    return map < len - sizeof map ? map : len - sizeof map;
}

void fuzz_repair(unsigned char *bytes, size_t len)
{
    size_t map = map_length(bytes, len);
    if (len < 4) return;
    fuzz_repair_map(bytes + 4, map);
    fuzz_repair_profile(bytes + 4 + map, len - 4 - map);
}

static void no_place(void *context, struct fp_arena *arena, const struct fp_past_caller *caller,
                     struct fp_call_place *place)
{
    (void)context, (void)arena, (void)caller, (void)place;
}

static void past(struct fp_json *j, void *context)
{
    struct fp_past_view view = {.top = 50, .width = 80, .places = {no_place, NULL}};
    struct fp_arena arena = {0};
    struct fp_past found;
    fp_past_make(&arena, context, NULL, &found);
    fp_pairs_text(j->out, &found, &view);
    fp_callers_text(j->out, &found, &view);
    fp_past_json(j, &found, &view);
    fp_arena_free(&arena);
}

static void show(struct fp_writer *out, struct fp_arena *arena, struct fp_profile *profile)
{
    struct fp_report *report =
        fp_report_make(arena, profile, &(struct fp_report_options){.edges = true});
    struct fp_sources sources = {0};
    struct footpath *fp = fp_handle_of_profile(profile, &(struct footpath_options){.edges = 1});
    for (int view = FP_SHOW_PATHS; view <= FP_SHOW_BLOCKS; view++)
        fp_show_text(out, fp,
                     &(struct fp_show_options){.view = (enum fp_show_view)view, .top = 50});
    fp_show_json_with(out, fp, past, profile);
    footpath_close(fp);
    fp_annotate_text(out, report, &sources, &(struct fp_annotate_options){.top = 20, .paths = 26});
    fp_annotate_json(out, report, &sources, &(struct fp_annotate_options){.top = 20, .paths = 26});
    fp_write_callgrind(out, report);
    fp_write_collapsed(out, report);
    fp_write_speedscope(out, report);
    for (size_t i = 0; i < report->nfunctions && i < MOST_DOTS; i++) {
        const struct fp_function *f = report->functions[i].function;
        if (f->flags & FP_FUNCTION_SKIPPED) continue;
        fp_dot_function(
            out, f, report->functions[i].edges.edges ? &report->functions[i].edges : NULL,
            &(struct fp_dot_options){.dag = i % 2, .values = f->paths.numbering != NULL});
    }
    fp_sources_free(&sources);
}

static void cover(struct fp_writer *out, struct fp_arena *arena, struct fp_profile *profile)
{
    struct fp_cover_report *report = fp_cover_make(arena, profile, NULL);
    fp_cover_text(out, report, true, false);
    fp_cover_json(out, report);
    fp_write_lcov(out, &report->lines);
    fp_write_cobertura(out, &report->lines);
}

static void export(struct fp_writer *out, struct fp_arena *arena, struct fp_profile *profile)
{
    static const enum fp_discriminators how[] = {FP_DISCRIMINATORS_NONE, FP_DISCRIMINATORS_LLVM,
                                                 FP_DISCRIMINATORS_PLAIN};
    struct fp_new_guide made;
    fp_guide_make(arena, profile, &made);
    fp_guide_encode(out, &(struct fp_guide_source){0}, &made.summary, made.functions,
                    made.nfunctions);
    for (int i = 0; i < 3; i++) {
        struct fp_source_profile source;
        struct fp_error error = {0};
        if (!fp_source_profile_make(arena, profile, how[i], &source, &error)) continue;
        fp_write_llvm_sample(out, &source);
        fp_write_gcc_afdo(out, &source);
    }
}

static void all_forms(struct fp_profile *profile)
{
    void (*const forms[])(struct fp_writer *, struct fp_arena *,
                          struct fp_profile *) = {show, cover, export};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct fp_writer out = {0};
        struct fp_arena arena = {0};
        forms[i](&out, &arena, profile);
        fp_writer_free(&out);
        fp_arena_free(&arena);
    }
}

void fuzz_one(const unsigned char *bytes, size_t len)
{
    size_t map = map_length(bytes, len);
    struct fp_program program = {0};
    struct fp_error error = {0};
    if (len < 4) return;
    struct fp_profile *profile = fp_profile_new();
    if (fp_program_parse(&profile->arena, "map", bytes + 4, map, NULL, 0, &program, &error) &&
        fp_profile_add(profile, fuzz_file(bytes + 4 + map, len - 4 - map), &error)) {
        for (size_t i = 0; i < profile->modules.len; i++) {
            profile->modules.at[i]->program = program;
            profile->modules.at[i]->have_program = true;
        }
        all_forms(profile);
    }
    fp_profile_free(profile);
}
