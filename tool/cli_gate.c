/* What a gate measured: see cli_gate.h. */
#include "cli_gate.h"

#include "base/names.h"
#include "base/plain.h"
#include "profile/builds.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_NAMED = 4, BUILD_BYTES = 6 };

static char *describe(struct fp_arena *arena, const struct fp_module *module)
{
    char build[2 * BUILD_BYTES + 1] = "not known";
    for (size_t i = 0; i < module->id.build_id_len && i < BUILD_BYTES; i++)
        snprintf(build + 2 * i, 3, "%02x", module->id.build_id[i]);
    return fp_arena_printf(arena, "%s (build %s, %" PRIu64 " run%s)",
                           fp_plain(arena, fp_base_name(module->id.path)), build, module->runs,
                           module->runs == 1 ? "" : "s");
}

char *cli_measured(struct fp_arena *arena, const struct fp_profile *profile)
{
    size_t n = profile->modules.len, named = n > MOST_NAMED ? MOST_NAMED : n;
    char *text = fp_arena_strdup(arena, "");
    for (size_t i = 0; i < named; i++)
        text = fp_arena_printf(arena, "%s%s%s", text, i ? ", " : "",
                               describe(arena, profile->modules.at[i]));
    if (n > named) text = fp_arena_printf(arena, "%s and %zu more", text, n - named);
    return text;
}

/* Runs of another program, not of an older build of one that was measured. */
static const char *other_program(const struct fp_profile *profile)
{
    for (size_t i = 0; i < profile->left_out.len; i++) {
        bool known = false;
        for (size_t k = 0; k < profile->builds.len; k++)
            known |= !strcmp(profile->builds.at[k]->program, profile->left_out.at[i]->program);
        if (!known) return profile->left_out.at[i]->program;
    }
    return NULL;
}

bool cli_gate_open(const struct cli_profiles *inputs, const struct fp_profile *profile)
{
    const char *other = inputs->program ? NULL : other_program(profile);
    if (other) {
        cli_say("the newest runs are not of the only program here: %s ran, too; say what to "
                "measure by --program NAME, or all",
                fp_base_name(other));
        return false;
    }
    for (size_t i = 0; i < profile->modules.len; i++)
        if (!profile->modules.at[i]->have_program) {
            cli_say("%s could not be measured", fp_base_name(profile->modules.at[i]->id.path));
            return false;
        }
    return true;
}
