/* Graph tests as text: a file holds a graph, options, and behind a line of
 * dashes what the graph core says about it: truncated edges, paths by id, the
 * operations of the plan. `graph-golden [--update] FILE...`
 */
#include "base/io.h"
#include "graph/cfgtext.h"
#include "graph/plan.h"

#include "../check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

static void say(struct fp_writer *out, const char *format, ...)
{
    char line[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fp_write_bytes(out, line, strlen(line));
}

static bool option(const char *text, const char *name, uint64_t *value)
{
    const char *line = strstr(text, "# options:");
    if (!line) return false;
    size_t len = strcspn(line, "\n"), name_len = strlen(name);
    for (const char *at = line; at + name_len <= line + len; at++) {
        if (strncmp(at, name, name_len) || at[-1] != ' ') continue;
        if (value && at[name_len] == '=') *value = strtoull(at + name_len + 1, NULL, 10);
        return true;
    }
    return false;
}

static void say_path(struct fp_writer *out, const struct fp_named_cfg *g,
                     const struct fp_path *path)
{
    const struct fp_cfg *cfg = g->cfg;
    say(out, "%s%s", path->start == FP_STARTS_AT_EDGE ? "(" : "", g->names[path->first_block]);
    for (uint32_t i = 0; i < path->nedges; i++)
        say(out, " %s", g->names[cfg->edges[path->edges[i]].dst]);
    if (path->end != FP_ENDS_AT_EXIT) say(out, ") %s", g->names[cfg->edges[path->end_edge].dst]);
    say(out, "\n");
}

static void say_op(struct fp_writer *out, struct fp_op op)
{
    switch (op.kind) {
    case FP_OP_NONE: break;
    case FP_OP_SET: say(out, " r=%" PRId64, op.value); break;
    case FP_OP_ADD: say(out, " r+=%" PRId64, op.value); break;
    case FP_OP_COUNT: say(out, " count[%" PRId64 "]++", op.value); break;
    case FP_OP_COUNT_REG: say(out, " count[r%+" PRId64 "]++", op.value); break;
    }
}

static void say_plan(struct fp_writer *out, const struct fp_named_cfg *g,
                     const struct fp_plan *plan)
{
    const struct fp_dag *dag = plan->numbering->dag;
    if (plan->on[dag->entry_edge].kind != FP_OP_NONE) {
        say(out, "op entry:");
        say_op(out, plan->on[dag->entry_edge]);
        say(out, "\n");
    }
    for (uint32_t e = 0; e < g->cfg->nedges; e++) {
        struct fp_edge_ops ops = fp_plan_on_edge(plan, e);
        if (ops.first.kind == FP_OP_NONE && ops.then.kind == FP_OP_NONE) continue;
        say(out, "op %s->%s:", g->names[g->cfg->edges[e].src], g->names[g->cfg->edges[e].dst]);
        say_op(out, ops.first);
        say_op(out, ops.then);
        say(out, "\n");
    }
    for (uint32_t b = 0; b < g->cfg->nblocks; b++)
        if (dag->exit_of[b] != FP_NONE && plan->on[dag->exit_of[b]].kind != FP_OP_NONE) {
            say(out, "op %s exit:", g->names[b]);
            say_op(out, plan->on[dag->exit_of[b]]);
            say(out, "\n");
        }
}

static void describe(struct fp_arena *arena, const char *text, const struct fp_named_cfg *g,
                     struct fp_writer *out)
{
    static const char *fates[] = {"kept", "truncated", "lap", "dead"};
    struct fp_limits limits = {.no_laps = option(text, "no-laps", NULL)};
    option(text, "max", &limits.max_paths);
    option(text, "good", &limits.good_paths);
    const double *weights = g->weighted ? g->weights : NULL;
    struct fp_truncation t;
    fp_truncate(arena, g->cfg, weights, &limits, &t);
    struct fp_dag *dag = fp_dag_make(arena, &t);
    double *dag_weights = weights ? fp_dag_weights(arena, dag, weights) : NULL;
    bool hottest = option(text, "hottest", NULL);
    struct fp_numbering *n = fp_number(
        arena, dag, hottest ? FP_NUMBER_HOTTEST_FIRST : FP_NUMBER_LARGEST_LAST, dag_weights);
    struct fp_plan_options options = {.eager = option(text, "eager", NULL),
                                      .exits = option(text, "exits", NULL),
                                      .no_chords = option(text, "no-chords", NULL)};
    struct fp_plan *plan = fp_plan_make(arena, n, weights, &options);
    say(out, "%" PRIu64 " paths, %u laps, %u cuts\n", n->num_paths, t.laps.len, t.ncuts);
    for (uint32_t e = 0; e < g->cfg->nedges; e++)
        if (t.order.fate[e] != FP_FATE_KEPT)
            say(out, "%s %s->%s\n", fates[t.order.fate[e]], g->names[g->cfg->edges[e].src],
                g->names[g->cfg->edges[e].dst]);
    for (uint64_t id = 0; id < n->num_ids && id < 40; id++) {
        struct fp_path path;
        if (!fp_path_decode(arena, n, id, &path)) continue;
        say(out, "path %" PRIu64 ": ", id);
        say_path(out, g, &path);
    }
    if (!option(text, "no-plan", NULL)) say_plan(out, g, plan);
}

static void run_file(const char *name, bool update)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_file file;
    char message[512];
    if (!fp_file_open(&file, name, &error)) goto out;
    char *text = fp_arena_strndup(&arena, (const char *)file.bytes, file.len);
    fp_file_close(&file);
    char *dashes = strstr(text, "\n---\n");
    const char *expected = dashes ? dashes + 5 : "";
    if (dashes) dashes[1] = 0;
    struct fp_named_cfg g;
    if (!fp_cfg_parse(&arena, text, &g, &error)) goto out;
    struct fp_writer got = {0};
    describe(&arena, text, &g, &got);
    fp_write_u8(&got, 0);
    if (update) {
        char *whole = fp_arena_printf(&arena, "%s---\n%s", text, (char *)got.bytes);
        fp_file_write(name, whole, strlen(whole), &error);
    } else if (strcmp((char *)got.bytes, expected)) {
        printf("%s: expected\n%s--- got\n%s", name, expected, (char *)got.bytes);
        checks_failed++;
    } else {
        checks_passed++;
    }
    fp_writer_free(&got);
out:
    if (error.set) {
        fp_error_text(&error, message, sizeof message);
        printf("%s: %s\n", name, message);
        checks_failed++;
    }
    fp_arena_free(&arena);
}

int main(int argc, char **argv)
{
    bool update = argc > 1 && !strcmp(argv[1], "--update");
    for (int i = 1 + update; i < argc; i++) run_file(argv[i], update);
    return check_summary();
}
