/* What is in profiles and programs: see info.h. */
#include "report/info.h"

#include "base/plain.h"
#include "footpath/profile_abi.h"
#include "paths/pathends.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

/* ---- text ---- */

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
struct info_totals {
    uint64_t paths, hashed, edges, exits, cut, doors, counters, laps;
    uint64_t ncuts, ndoors; /* edges */
};

static struct info_totals totals_of(const struct fp_program *p)
{
    struct info_totals t = {0};
    for (size_t i = 0; i < p->nfunctions; i++) {
        const struct fp_function *f = &p->functions[i];
        if (f->flags & FP_FUNCTION_SKIPPED) continue;
        t.paths += (f->flags & FP_FUNCTION_PATHS) != 0;
        t.edges += (f->flags & FP_FUNCTION_EDGES) != 0;
        t.exits += (f->flags & FP_FUNCTION_EXITS) != 0;
        t.hashed += f->flags & FP_FUNCTION_HASHED && f->flags & FP_FUNCTION_PATHS;
        t.cut += f->paths.truncation->ncuts != 0;
        t.doors += f->paths.truncation->ndoors != 0;
        t.ncuts += f->paths.truncation->ncuts;
        t.ndoors += f->paths.truncation->ndoors;
        t.counters += f->layout.path_slots + f->layout.edge_slots;
        t.laps += f->paths.truncation->laps.len;
    }
    return t;
}

/* How many of the paths taken end there: what a build without cuts would show as longer ones. */
static void say_ended(struct fp_writer *out, uint64_t ended, const struct fp_path_ends *ends)
{
    char some[32], all[32];
    fp_group_digits(ended, some);
    if (ends) fp_group_digits(ends->taken, all);
    if (ends)
        fp_say(out, "; %s of %s paths taken end there (%.2f%%)", some, all,
               ends->taken ? 100 * (double)ended / (double)ends->taken : 0);
    fp_say(out, "\n");
}

/* ends: of a run, or NULL. */
static void say_program(struct fp_writer *out, const struct fp_program *p,
                        const struct fp_path_ends *ends)
{
    struct info_totals t = totals_of(p);
    fp_say(out,
           "  functions   %zu: %" PRIu64 " with path counters (%" PRIu64
           " in hash tables or sparse arrays), %" PRIu64 " with edge counters, %" PRIu64
           " exact to the end, %zu left out\n",
           p->nfunctions, t.paths, t.hashed, t.edges, t.exits, p->nskipped);
    if (t.cut) {
        fp_say(out, "  cut         paths of %" PRIu64 " %s, at %" PRIu64 " cold %s", t.cut,
               t.cut == 1 ? "function" : "functions", t.ncuts, t.ncuts == 1 ? "edge" : "edges");
        say_ended(out, ends ? ends->at_cuts : 0, ends);
    }
    if (t.doors) {
        fp_say(out,
               "  doors       paths of %" PRIu64 " %s end where a loop is entered, at %" PRIu64
               " %s",
               t.doors, t.doors == 1 ? "function" : "functions", t.ndoors,
               t.ndoors == 1 ? "edge" : "edges");
        say_ended(out, ends ? ends->at_doors : 0, ends);
    }
    char counters[32], laps[32];
    fp_group_digits(t.counters, counters);
    fp_group_digits(t.laps, laps);
    fp_say(out, "  counters    %s, %s of them for loops with one way round\n", counters, laps);
}

static void say_text(struct fp_writer *out, const char *text)
{
    fp_say_plain(out, text, strlen(text));
}

static const struct fp_function *function_of(const struct fp_module *m, uint64_t id)
{
    for (size_t i = 0; i < m->program.nfunctions; i++)
        if (m->program.functions[i].id == id) return &m->program.functions[i];
    return NULL;
}

static void say_caught(struct fp_writer *out, const struct fp_module *m)
{
    if (!m->caught.len) return;
    fp_say(out, "  not exact   %zu function%s: an unexpected jump was caught\n", m->caught.len,
           m->caught.len == 1 ? "" : "s");
    for (size_t i = 0; i < m->caught.len; i++) {
        const struct fp_function *f = function_of(m, m->caught.at[i].function);
        fp_say(out, "  caught: ");
        say_text(out, f ? f->name : "?");
        fp_say(out, ", %" PRIu64 " times\n", m->caught.at[i].count);
    }
}

static void say_module(struct fp_writer *out, const struct fp_module *m)
{
    fp_say(out, "module ");
    say_text(out, m->id.path);
    fp_say(out, "\n  build-id    ");
    say_hex(out, m->id.build_id, m->id.build_id_len);
    fp_say(out, "\n  runs        %" PRIu64 "\n", m->runs);
    if (!m->have_program) return;
    struct fp_path_ends ends;
    fp_path_ends_of(m, &ends);
    say_program(out, &m->program, &ends);
    say_caught(out, m);
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
    const char *ended = r->flags & FP_RUN_KILLED      ? ", killed"
                        : r->flags & FP_RUN_SIGNALLED ? ", ended by a signal"
                                                      : "";
    fp_say(out, "%s%s:", unfinished, ended);
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
    struct info_totals t = totals_of(p);
    fp_json_key(j, "functions"), fp_json_uint(j, p->nfunctions);
    fp_json_key(j, "functions_left_out"), fp_json_uint(j, p->nskipped);
    fp_json_key(j, "with_path_counters"), fp_json_uint(j, t.paths);
    fp_json_key(j, "in_hash_tables"), fp_json_uint(j, t.hashed);
    fp_json_key(j, "with_edge_counters"), fp_json_uint(j, t.edges);
    fp_json_key(j, "exact_to_the_end"), fp_json_uint(j, t.exits);
    fp_json_key(j, "with_cuts"), fp_json_uint(j, t.cut);
    fp_json_key(j, "with_doors"), fp_json_uint(j, t.doors);
    fp_json_key(j, "cuts"), fp_json_uint(j, t.ncuts);
    fp_json_key(j, "doors"), fp_json_uint(j, t.ndoors);
    fp_json_key(j, "laps"), fp_json_uint(j, t.laps);
    fp_json_key(j, "counters"), fp_json_uint(j, t.counters);
}

static void json_ends(struct fp_json *j, const struct fp_module *m)
{
    struct fp_path_ends ends;
    fp_path_ends_of(m, &ends);
    fp_json_key(j, "paths_taken"), fp_json_uint(j, ends.taken);
    fp_json_key(j, "paths_ended_at_cuts"), fp_json_uint(j, ends.at_cuts);
    fp_json_key(j, "paths_ended_at_doors"), fp_json_uint(j, ends.at_doors);
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

static void json_caught(struct fp_json *j, const struct fp_module *m)
{
    fp_json_key(j, "not_exact"), fp_json_begin(j, '[');
    for (size_t i = 0; i < m->caught.len; i++) {
        const struct fp_function *f = function_of(m, m->caught.at[i].function);
        fp_json_begin(j, '{');
        fp_json_key(j, "linkage_name"), fp_json_string(j, f ? f->name : "");
        fp_json_key(j, "caught"), fp_json_uint(j, m->caught.at[i].count);
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
    if (m->have_program) json_ends(j, m);
    if (m->caught.len) json_caught(j, m);
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
    fp_json_key(j, "killed"), fp_json_bool(j, r->flags & FP_RUN_KILLED);
    fp_json_key(j, "program"), fp_json_string(j, r->program);
    fp_json_key(j, "arguments"), fp_json_begin(j, '[');
    for (size_t k = 0; k < r->nargs; k++) fp_json_string(j, r->args[k]);
    fp_json_end(j, ']');
    fp_json_end(j, '}');
}

/* ---- programs ---- */

static void say_whole_program(struct fp_writer *out, const char *path, const struct fp_program *p)
{
    fp_say(out, "program ");
    say_text(out, path);
    fp_say(out, "\n  build-id    ");
    say_hex(out, p->build_id, p->build_id_len);
    fp_say(out, "\n");
    say_program(out, p, NULL);
    if (p->second_bodies)
        fp_say(out, "  samples     in a second body of %u functions; %u have none\n",
               p->second_bodies, p->no_second_body);
    for (size_t i = 0; i < p->nfunctions; i++) {
        if (!(p->functions[i].flags & FP_FUNCTION_SKIPPED)) continue;
        fp_say(out, "  left out: ");
        say_text(out, p->functions[i].name);
        fp_say(out, ": ");
        say_text(out, p->functions[i].skipped);
        fp_say(out, "\n");
    }
}

void fp_info_program(struct fp_info *info, const char *path, const struct fp_program *program)
{
    if (!info->json) {
        say_whole_program(&info->out, path, program);
        return;
    }
    fp_json_begin(&info->j, '{');
    fp_json_key(&info->j, "path"), fp_json_string(&info->j, path);
    json_build_id(&info->j, program->build_id, program->build_id_len);
    json_program(&info->j, program);
    fp_json_key(&info->j, "with_second_body"), fp_json_uint(&info->j, program->second_bodies);
    fp_json_key(&info->j, "without_second_body"), fp_json_uint(&info->j, program->no_second_body);
    json_left_out(&info->j, program);
    fp_json_end(&info->j, '}');
}

/* ---- profiles ---- */

void fp_info_profile(struct fp_info *info, const struct fp_profile *profile)
{
    if (!info->json) {
        for (size_t i = 0; i < profile->modules.len; i++)
            say_module(&info->out, profile->modules.at[i]);
        for (size_t i = 0; i < profile->runs.len; i++) say_run(&info->out, &profile->runs.at[i]);
        return;
    }
    fp_info_list(info, "modules");
    for (size_t i = 0; i < profile->modules.len; i++) json_module(&info->j, profile->modules.at[i]);
    fp_info_list_end(info);
    fp_info_list(info, "runs");
    for (size_t i = 0; i < profile->runs.len; i++) json_run(&info->j, &profile->runs.at[i]);
    fp_info_list_end(info);
}

/* ---- combined profiles ---- */

static void count_events(const struct fp_combined *c, uint64_t events[FP_EVENT_KINDS])
{
    for (size_t i = 0; i < c->functions.len; i++)
        for (size_t k = 0; k < c->functions.at[i]->events.len; k++)
            events[c->functions.at[i]->events.at[k].kind]++;
}

/* Those that frames were left on count as well: each has a distribution. */
static uint64_t paths_of(const uint64_t *events)
{
    return events[FP_EVENT_PATH] + events[FP_EVENT_PARTIAL];
}

static void json_combined(struct fp_json *j, const char *path, const struct fp_combined *c,
                          const uint64_t *events)
{
    fp_json_begin(j, '{');
    fp_json_key(j, "path"), fp_json_string(j, path);
    fp_json_key(j, "runs"), fp_json_uint(j, c->runs);
    fp_json_key(j, "bins"), fp_json_uint(j, c->bins);
    fp_json_key(j, "functions"), fp_json_uint(j, c->functions.len);
    fp_json_key(j, "edges"), fp_json_uint(j, events[FP_EVENT_EDGE]);
    fp_json_key(j, "paths"), fp_json_uint(j, paths_of(events));
    fp_json_end(j, '}');
}

static void say_grouped(struct fp_writer *out, uint64_t value)
{
    char digits[32];
    fp_group_digits(value, digits);
    fp_say(out, "%s", digits);
}

static void say_combined(struct fp_writer *out, const char *path, const struct fp_combined *c,
                         const uint64_t *events)
{
    fp_say(out, "combined profile ");
    say_text(out, path);
    fp_say(out, "\n  ");
    say_grouped(out, c->runs);
    fp_say(out, " runs, up to %u bins\n  functions   %zu, ", c->bins, c->functions.len);
    say_grouped(out, events[FP_EVENT_ENTRY]);
    fp_say(out, " of them called\n  events      ");
    say_grouped(out, events[FP_EVENT_EDGE]);
    fp_say(out, " edges, ");
    say_grouped(out, paths_of(events));
    fp_say(out, " paths\n");
    for (size_t i = 0; i < c->modules.len; i++) {
        fp_say(out, "  module      ");
        say_text(out, c->modules.at[i].path);
        fp_say(out, ", in ");
        say_grouped(out, c->modules.at[i].runs);
        fp_say(out, " runs\n");
    }
}

void fp_info_combined(struct fp_info *info, const char *path, const struct fp_combined *combined)
{
    uint64_t events[FP_EVENT_KINDS] = {0};
    count_events(combined, events);
    if (info->json)
        json_combined(&info->j, path, combined, events);
    else
        say_combined(&info->out, path, combined, events);
}

/* ---- around all ---- */

void fp_info_list(struct fp_info *info, const char *name)
{
    if (info->json) fp_json_key(&info->j, name), fp_json_begin(&info->j, '[');
}

void fp_info_list_end(struct fp_info *info)
{
    if (info->json) fp_json_end(&info->j, ']');
}

void fp_info_begin(struct fp_info *info)
{
    info->j.out = &info->out;
    if (!info->json) return;
    fp_json_begin(&info->j, '{');
    fp_json_key(&info->j, "format_version"), fp_json_uint(&info->j, 1);
    fp_json_key(&info->j, "footpath"), fp_json_string(&info->j, FOOTPATH_VERSION);
}

void fp_info_end(struct fp_info *info)
{
    if (info->json) fp_json_end(&info->j, '}'), fp_write_u8(&info->out, '\n');
}
