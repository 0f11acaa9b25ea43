/* Drift in text and JSON: see driftreport.h. */
#include "report/driftreport.h"

#include "base/plain.h"

#include <inttypes.h>

const char *const fp_drift_by_names[] = {"paths", "branches", "flipped", "unseen", NULL};

double fp_drift_figure(const struct fp_drift_measures *m, enum fp_drift_by by)
{
    double apart = 1 - m->paths - m->chance;
    switch (by) {
    case FP_DRIFT_BY_PATHS: return apart > 0 ? apart : 0;
    case FP_DRIFT_BY_BRANCHES: return 1 - m->branches;
    case FP_DRIFT_BY_FLIPPED: return m->flipped;
    case FP_DRIFT_BY_UNSEEN: return m->unseen;
    }
    return 0;
}

enum fp_drift_verdict fp_drift_judge(const struct fp_drift *drift, const struct fp_drift_view *view)
{
    if (drift->nfunctions && drift->matched < view->least_matched) return FP_DRIFT_STRANGERS;
    if (!drift->counts || drift->counts < view->evidence) return FP_DRIFT_TOO_FEW;
    bool far = view->threshold >= 0 && fp_drift_figure(&drift->m, view->by) > view->threshold;
    return far ? FP_DRIFT_FAR : FP_DRIFT_NEAR;
}

/* ---- text ---- */

static const char *grouped(struct fp_arena *arena, uint64_t value)
{
    char digits[32];
    fp_group_digits(value, digits);
    return fp_arena_strdup(arena, digits);
}

static void say_verdict(struct fp_writer *out, struct fp_arena *scratch,
                        const struct fp_drift *drift, const struct fp_drift_view *view)
{
    switch (fp_drift_judge(drift, view)) {
    case FP_DRIFT_TOO_FEW:
        fp_say(out, "not judged yet: %s of %s paths\n", grouped(scratch, drift->counts),
               grouped(scratch, view->evidence));
        return;
    case FP_DRIFT_STRANGERS:
        fp_say(out,
               "not judged: only %.1f%% of what runs is in functions that %s has in the same "
               "shape; was it built alike?\n",
               100 * drift->matched, view->other);
        return;
    case FP_DRIFT_NEAR: return;
    case FP_DRIFT_FAR:
        fp_say(out, "past the threshold: %s %.3f, at most %.3f\n", fp_drift_by_names[view->by],
               fp_drift_figure(&drift->m, view->by), view->threshold);
        return;
    }
}

static void say_sums(struct fp_writer *out, struct fp_arena *scratch, const struct fp_drift *drift,
                     const struct fp_drift_view *view)
{
    const struct fp_drift_measures *m = &drift->m;
    fp_say(out, "drift %.3f from %s: %s paths, of functions with %.1f%% of what runs\n",
           fp_drift_figure(m, FP_DRIFT_BY_PATHS), fp_plain(scratch, view->other),
           grouped(scratch, drift->counts), 100 * drift->matched);
    fp_say(out, "in common: paths %.3f (chance alone takes %.3f), branches %.3f, functions %.3f\n",
           m->paths, m->chance, m->branches, drift->common_flow);
    fp_say(out,
           "cost: %.2f%% of branches go against the likely way and would not in a new build; "
           "%.2f%% of paths are new\n",
           100 * m->flipped, 100 * m->unseen);
    if (drift->by_branches)
        fp_say(out,
               "%" PRIu64 " functions are compared by their branches: their paths end at "
               "other places in the two builds, or were not counted\n",
               drift->by_branches);
    if (drift->reshaped + drift->absent + drift->unusable)
        fp_say(out,
               "not compared: %" PRIu64 " functions of another shape, %" PRIu64
               " that it has not, %" PRIu64 " without usable counts\n",
               drift->reshaped, drift->absent, drift->unusable);
}

static void say_function(struct fp_writer *out, struct fp_arena *scratch,
                         const struct fp_drift_function *f, const struct fp_drift_view *view)
{
    fp_say(out, "%6.1f%% %6.1f%%", 100 * f->share, 100 * f->then);
    if (f->match == FP_DRIFT_SAME)
        fp_say(out, "  %6.3f %8.2f%% %7.2f%%", fp_drift_figure(&f->m, FP_DRIFT_BY_PATHS),
               100 * f->m.flipped, 100 * f->m.unseen);
    else
        fp_say(out, "  %24s", f->match == FP_DRIFT_ABSENT ? "is not there" : "has another shape");
    fp_say(out, "  %s%s%s  %s\n", view->colours ? "\033[1m" : "",
           fp_plain(scratch, fp_demangle(scratch, f->function->name)),
           view->colours ? "\033[0m" : "", fp_function_place(scratch, f->function));
}

void fp_drift_text(struct fp_writer *out, const struct fp_drift *drift,
                   const struct fp_drift_view *view)
{
    struct fp_arena scratch = {0};
    say_sums(out, &scratch, drift, view);
    say_verdict(out, &scratch, drift, view);
    size_t shown = view->top && view->top < drift->nfunctions ? view->top : drift->nfunctions;
    if (shown)
        fp_say(out, "\n%s  share    then   drift   flipped     new  function%s\n",
               view->colours ? "\033[2m" : "", view->colours ? "\033[0m" : "");
    for (size_t i = 0; i < shown; i++) say_function(out, &scratch, &drift->functions[i], view);
    if (shown < drift->nfunctions)
        fp_say(out, "... %zu more; --top 0 shows all\n", drift->nfunctions - shown);
    fp_say(out, "\n");
    fp_arena_free(&scratch);
}

/* ---- JSON ---- */

static void json_measures(struct fp_json *j, const struct fp_drift_measures *m)
{
    fp_json_key(j, "drift"), fp_json_double(j, fp_drift_figure(m, FP_DRIFT_BY_PATHS));
    fp_json_key(j, "paths"), fp_json_double(j, m->paths);
    fp_json_key(j, "chance"), fp_json_double(j, m->chance);
    fp_json_key(j, "branches"), fp_json_double(j, m->branches);
    fp_json_key(j, "flipped"), fp_json_double(j, m->flipped);
    fp_json_key(j, "unseen"), fp_json_double(j, m->unseen);
}

static void json_function(struct fp_json *j, struct fp_arena *scratch,
                          const struct fp_drift_function *f)
{
    static const char *const matches[] = {"absent", "reshaped", "same"};
    fp_json_begin(j, '{');
    fp_json_key(j, "function"), fp_json_string(j, fp_demangle(scratch, f->function->name));
    fp_json_key(j, "linkage_name"), fp_json_string(j, f->function->name);
    fp_json_key(j, "file"), fp_json_string(j, f->function->file);
    fp_json_key(j, "line"), fp_json_uint(j, f->function->line);
    fp_json_key(j, "match"), fp_json_string(j, matches[f->match]);
    fp_json_key(j, "counts"), fp_json_uint(j, f->counts);
    fp_json_key(j, "share"), fp_json_double(j, f->share);
    if (f->match == FP_DRIFT_SAME) {
        fp_json_key(j, "share_then"), fp_json_double(j, f->then);
        fp_json_key(j, "by_branches"), fp_json_bool(j, f->by_branches);
        json_measures(j, &f->m);
    }
    fp_json_end(j, '}');
}

void fp_drift_json(struct fp_writer *out, const struct fp_drift *drift,
                   const struct fp_drift_view *view)
{
    static const char *const verdicts[] = {"too few", "other build", "near", "far"};
    struct fp_arena scratch = {0};
    struct fp_json j = {.out = out, .compact = true};
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "against"), fp_json_string(&j, view->other);
    fp_json_key(&j, "verdict"), fp_json_string(&j, verdicts[fp_drift_judge(drift, view)]);
    fp_json_key(&j, "by"), fp_json_string(&j, fp_drift_by_names[view->by]);
    if (view->threshold >= 0) fp_json_key(&j, "threshold"), fp_json_double(&j, view->threshold);
    fp_json_key(&j, "counts"), fp_json_uint(&j, drift->counts);
    fp_json_key(&j, "counts_needed"), fp_json_uint(&j, view->evidence);
    fp_json_key(&j, "matched"), fp_json_double(&j, drift->matched);
    json_measures(&j, &drift->m);
    fp_json_key(&j, "function_shares"), fp_json_double(&j, drift->common_flow);
    fp_json_key(&j, "functions_by_branches"), fp_json_uint(&j, drift->by_branches);
    fp_json_key(&j, "functions_reshaped"), fp_json_uint(&j, drift->reshaped);
    fp_json_key(&j, "functions_absent"), fp_json_uint(&j, drift->absent);
    fp_json_key(&j, "functions_unusable"), fp_json_uint(&j, drift->unusable);
    fp_json_key(&j, "functions"), fp_json_begin(&j, '[');
    for (size_t i = 0; i < drift->nfunctions; i++)
        json_function(&j, &scratch, &drift->functions[i]);
    fp_json_end(&j, ']');
    fp_json_end(&j, '}');
    fp_write_u8(out, '\n');
    fp_arena_free(&scratch);
}
