/* Collapsed stacks: see exports.h. */
#include "model/sentence.h"
#include "report/exports.h"

#include <inttypes.h>
#include <string.h>

const char *fp_stack_path_name(struct fp_arena *arena, const struct fp_report *report,
                               const struct footpath_path *one, const struct fp_path *path)
{
    const struct fp_function *f = report->functions[one->function].function;
    if (fp_function_has_places(f)) return fp_path_sentence(arena, report->sources, f, path);
    if (one->id == FOOTPATH_NO_ID)
        return fp_arena_printf(arena, "left in block %u with sum %" PRIu64, one->stop, one->prefix);
    return fp_arena_printf(arena, "path %" PRIu64, one->id);
}

/* Every path, or function where there are none, with its two names. */
typedef void stack_callback(const struct fp_report_function *rf, const char *path, double cost,
                            void *context);

static void each_path(const struct fp_report *r, const struct fp_report_function *rf,
                      stack_callback *call, void *context)
{
    struct fp_arena scratch = {0};
    for (size_t i = 0; i < rf->npaths; i++) {
        const struct footpath_path *one = &r->paths[rf->first_path + i];
        struct fp_path path;
        if (!fp_report_decode(&scratch, r, one, &path)) continue;
        call(rf, fp_stack_path_name(&scratch, r, one, &path), one->cost, context);
        if (scratch.total > 1 << 20) fp_arena_free(&scratch);
    }
    fp_arena_free(&scratch);
}

static void each_stack(const struct fp_report *r, stack_callback *call, void *context)
{
    for (size_t i = 0; i < r->nfunctions; i++) {
        const struct fp_report_function *rf = &r->functions[i];
        if (rf->npaths)
            each_path(r, rf, call, context);
        else if (rf->cost > 0)
            call(rf, NULL, rf->cost, context);
    }
}

/* ---- collapsed ---- */

/* A semicolon ends a frame: a comma stands for one. */
static void say_frame(struct fp_writer *out, const char *text)
{
    for (; *text; text++) fp_write_u8(out, *text == ';' ? ',' : (uint8_t)*text);
}

static void say_collapsed(const struct fp_report_function *rf, const char *path, double cost,
                          void *context)
{
    struct fp_writer *out = context;
    say_frame(out, rf->name);
    if (path) {
        fp_say(out, ";");
        say_frame(out, path);
    }
    fp_say(out, " %.0f\n", cost);
}

void fp_write_collapsed(struct fp_writer *out, const struct fp_report *report)
{
    each_stack(report, say_collapsed, out);
}
