/* Drift from a profile or guide: see cli_drift.h. */
#include "cli_drift.h"

bool cli_drift_open(struct cli_drift *drift)
{
    struct fp_error error = {0};
    const char *name = drift->view.other;
    if (!name) return true;
    if (fp_guide_is(name)) {
        if (!fp_guide_open(&drift->arena, name, &drift->guide, &error)) {
            cli_fail(&error, NULL);
            return false;
        }
        fp_drift_against_guide(&drift->guide, &drift->other);
        return true;
    }
    drift->profile = cli_load_one(name);
    if (drift->profile) fp_drift_against_profile(&drift->arena, drift->profile, &drift->other);
    return drift->profile;
}

void cli_drift_close(struct cli_drift *drift)
{
    if (drift->profile) fp_profile_free(drift->profile);
    fp_guide_close(&drift->guide);
    fp_arena_free(&drift->arena);
}

int cli_drift_look(struct cli_drift *drift, const struct fp_profile *now, bool json,
                   struct fp_writer *out)
{
    struct fp_arena arena = {0};
    struct fp_drift found;
    fp_drift_make(&arena, now, &drift->other, &found);
    if (json)
        fp_drift_json(out, &found, &drift->view);
    else
        fp_drift_text(out, &found, &drift->view);
    enum fp_drift_verdict verdict = fp_drift_judge(&found, &drift->view);
    drift->judged = verdict == FP_DRIFT_NEAR || verdict == FP_DRIFT_FAR;
    drift->judges += drift->judged;
    fp_arena_free(&arena);
    return verdict == FP_DRIFT_FAR ? EXIT_THRESHOLD : EXIT_OK;
}

int cli_drift_outcome(const struct cli_drift *drift)
{
    if (!drift->view.other || drift->view.threshold < 0 || drift->judges) return EXIT_OK;
    cli_say("%s: no look could be judged; see --evidence", drift->view.other);
    return EXIT_FAILED;
}
