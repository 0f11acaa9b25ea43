/* Options of the plugin: words NAME=VALUE, separated by newlines so that file
 * names may hold spaces. */
#include "llvm/options.h"

#include <stdlib.h>
#include <string.h>

struct choice {
    const char *name;
    int value;
};

static bool choose(const char *name, const char *value, const struct choice *choices, int *chosen,
                   struct fp_error *error)
{
    for (; choices->name; choices++)
        if (!strcmp(value, choices->name)) {
            *chosen = choices->value;
            return true;
        }
    return fp_fail(error, FP_PLUGIN_VARIABLE, "%s=%s is not known", name, value);
}

static bool set_option(struct fp_arena *arena, struct fp_llvm_options *o, const char *name,
                       const char *value, struct fp_error *error)
{
    static const struct choice modes[] = {{"none", FP_MODE_NONE},
                                          {"path", FP_MODE_PATH},
                                          {"edge", FP_MODE_EDGE},
                                          {"edge-min", FP_MODE_EDGE_MIN},
                                          {"check", FP_MODE_CHECK},
                                          {"pep", FP_MODE_PEP},
                                          {NULL, 0}};
    static const struct choice threads[] = {{"local", FP_THREADS_LOCAL},
                                            {"shared", FP_THREADS_SHARED},
                                            {"atomic", FP_THREADS_ATOMIC},
                                            {NULL, 0}};
    static const struct choice points[] = {{"late", 0}, {"early", 1}, {NULL, 0}};
    static const struct choice peps[] = {{"trap", FP_PEP_TRAP}, {"flag", FP_PEP_FLAG}, {NULL, 0}};
    static const struct choice metrics[] = {{"count", 0}, {"cycles", 1}, {NULL, 0}};
    static const struct choice cuts[] = {
        {"loops", FP_CUTS_LOOPS}, {"fit", FP_CUTS_FIT}, {"few", FP_CUTS_FEW}, {NULL, 0}};
    int chosen = 0;
    if (!strcmp(name, "mode")) {
        if (!choose(name, value, modes, &chosen, error)) return false;
        o->mode = (enum fp_mode)chosen;
    } else if (!strcmp(name, "threads")) {
        if (!choose(name, value, threads, &chosen, error)) return false;
        o->threads = (enum fp_threads)chosen;
    } else if (!strcmp(name, "at")) {
        if (!choose(name, value, points, &chosen, error)) return false;
        o->early = chosen;
    } else if (!strcmp(name, "inline")) {
        o->inline_small = !strcmp(value, "small");
    } else if (!strcmp(name, "metric")) {
        if (!choose(name, value, metrics, &chosen, error)) return false;
        o->cycles = chosen;
    } else if (!strcmp(name, "pep")) {
        if (!choose(name, value, peps, &chosen, error)) return false;
        o->pep = (enum fp_pep)chosen;
    } else if (!strcmp(name, "exits")) {
        o->exits = !strcmp(value, "1");
    } else if (!strcmp(name, "strip-lines")) {
        o->strip_lines = !strcmp(value, "1");
    } else if (!strcmp(name, "array-paths")) {
        o->array_paths = strtoull(value, NULL, 10);
    } else if (!strcmp(name, "weights")) {
        o->static_weights = !strcmp(value, "static");
    } else if (!strcmp(name, "loop-entries")) {
        o->loop_entries = strtod(value, NULL);
    } else if (!strcmp(name, "cuts")) {
        if (!choose(name, value, cuts, &chosen, error)) return false;
        o->cuts = (enum fp_cuts)chosen;
    } else if (!strcmp(name, "allow")) {
        o->allow = fp_arena_strdup(arena, value);
    } else if (!strcmp(name, "deny")) {
        o->deny = fp_arena_strdup(arena, value);
    } else if (!strcmp(name, "paths")) {
        o->no_paths = !strcmp(value, "no");
    } else if (!strcmp(name, "eager-copies")) {
        o->eager_copies = !strcmp(value, "1");
    } else if (!strcmp(name, "values")) {
        o->values = !strcmp(value, "1");
    } else if (!strcmp(name, "remarks")) {
        o->remarks = !strcmp(value, "1");
    } else if (!strcmp(name, "use")) {
        o->use = fp_arena_strdup(arena, value);
    } else if (!strcmp(name, "guide")) {
        o->guide = fp_arena_strdup(arena, value);
    } else if (!strcmp(name, "plan")) {
        o->plan = fp_arena_strdup(arena, value);
    } else if (!strcmp(name, "copy")) {
        o->copy = (uint32_t)strtoul(value, NULL, 10);
    } else if (!strcmp(name, "labels")) {
        o->plain_labels = !strcmp(value, "plain");
    } else if (!strcmp(name, "hits")) {
        o->hits = !strcmp(value, "1");
    } else if (!strcmp(name, "callees")) {
        o->callees = !strcmp(value, "1");
    } else if (!strcmp(name, "base")) {
        o->base = fp_arena_strdup(arena, value);
    } else {
        return fp_fail(error, FP_PLUGIN_VARIABLE, "%s is not known", name);
    }
    return true;
}

bool fp_llvm_options_parse(struct fp_arena *arena, const char *text,
                           struct fp_llvm_options *options, struct fp_error *error)
{
    *options = (struct fp_llvm_options){.mode = FP_MODE_NONE, .array_paths = 4096};
    if (!text) return true;
    char *copy = fp_arena_strdup(arena, text), *save = NULL;
    for (char *word = strtok_r(copy, "\n", &save); word; word = strtok_r(NULL, "\n", &save)) {
        char *equals = strchr(word, '=');
        if (!equals) return fp_fail(error, FP_PLUGIN_VARIABLE, "expected NAME=VALUE, got %s", word);
        *equals = 0;
        if (!set_option(arena, options, word, equals + 1, error)) return false;
    }
    return true;
}
