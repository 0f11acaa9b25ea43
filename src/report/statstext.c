/* Statistics in text and JSON: see statsreport.h. */
#include "report/statsreport.h"

#include <inttypes.h>

static double share(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static double mean(double sum, uint64_t n)
{
    return n ? sum / (double)n : 0;
}

static void say_lengths(struct fp_writer *out, const char *what, const struct fp_lengths *l,
                        uint64_t flow)
{
    fp_say(out, "  %-28s %8" PRIu64 " %8.1f   %10" PRIu64 " %8.1f\n", what, l->longest_edges,
           mean(l->sum_edges, flow), l->longest_instructions, mean(l->sum_instructions, flow));
}

static void say_common(struct fp_writer *out, const struct fp_common *c)
{
    fp_say(out, "\nin common with the other profile\n");
    fp_say(out, "  paths taken in both          %" PRIu64 "\n", c->paths);
    fp_say(out, "  of the paths taken here      %5.1f%%  (static)\n",
           share((double)c->paths, (double)c->paths_here));
    fp_say(out, "  of their executions          %5.1f%%  (dynamic)\n",
           share((double)c->flow, (double)c->flow_here));
    fp_say(out, "  instructions on them         %.4g, %.1f%% of those executed here\n",
           c->instructions, share(c->instructions, c->instructions_here));
    if (c->unmatched)
        fp_say(out,
               "  %" PRIu64
               " functions with paths are not in the other profile, or have another shape there\n",
               c->unmatched);
    if (c->redefined)
        fp_say(out,
               "  %" PRIu64 " functions are left out: their paths end at other places in the other "
               "build (--fp-cuts, --fp-guide)\n",
               c->redefined);
}

void fp_stats_text(struct fp_writer *out, const struct fp_stats *s, const struct fp_common *common)
{
    fp_say(out, "paths taken                    %" PRIu64 "\n", s->paths);
    if (s->potential == UINT64_MAX)
        fp_say(out, "paths possible                 more than %.1e\n", (double)UINT64_MAX);
    else
        fp_say(out, "paths possible                 %" PRIu64 "\n", s->potential);
    fp_say(out, "taken, in all                  %" PRIu64 " times\n", s->flow);
    fp_say(out, "routines executed              %" PRIu64 " of %" PRIu64 "\n", s->routines,
           s->functions);
    fp_say(out, "paths taken per routine        %.1f on average, %" PRIu64 " at most\n",
           mean((double)s->paths, s->routines), s->most_paths);
    if (s->cuts || s->doors)
        fp_say(out, "paths also end at              %" PRIu64 " cuts, %" PRIu64 " doors of loops\n",
               s->cuts, s->doors);
    fp_say(out, "\n%-30s %17s   %19s\n", "length", "edges", "instructions");
    fp_say(out, "  %-28s %8s %8s   %10s %8s\n", "", "longest", "average", "longest", "average");
    say_lengths(out, "paths", &s->lengths, s->flow);
    say_lengths(out, "predicted by the edge profile", &s->predicted, s->flow);
    fp_say(out,
           "\npredicted right to the end     %5.1f%% of the paths, %.1f%% of their executions\n",
           share((double)s->correct_paths, (double)s->paths),
           share((double)s->correct_flow, (double)s->flow));
    if (common) say_common(out, common);
}

static void json_lengths(struct fp_json *j, const char *key, const struct fp_lengths *l,
                         uint64_t flow)
{
    fp_json_key(j, key), fp_json_begin(j, '{');
    fp_json_key(j, "longest_edges"), fp_json_uint(j, l->longest_edges);
    fp_json_key(j, "average_edges"), fp_json_double(j, mean(l->sum_edges, flow));
    fp_json_key(j, "longest_instructions"), fp_json_uint(j, l->longest_instructions);
    fp_json_key(j, "average_instructions"), fp_json_double(j, mean(l->sum_instructions, flow));
    fp_json_end(j, '}');
}

static void json_common(struct fp_json *j, const struct fp_common *c)
{
    fp_json_key(j, "common"), fp_json_begin(j, '{');
    fp_json_key(j, "paths"), fp_json_uint(j, c->paths);
    fp_json_key(j, "paths_here"), fp_json_uint(j, c->paths_here);
    fp_json_key(j, "flow"), fp_json_uint(j, c->flow);
    fp_json_key(j, "flow_here"), fp_json_uint(j, c->flow_here);
    fp_json_key(j, "instructions"), fp_json_double(j, c->instructions);
    fp_json_key(j, "instructions_here"), fp_json_double(j, c->instructions_here);
    fp_json_key(j, "static_percent"),
        fp_json_double(j, share((double)c->paths, (double)c->paths_here));
    fp_json_key(j, "dynamic_percent"),
        fp_json_double(j, share((double)c->flow, (double)c->flow_here));
    fp_json_key(j, "instructions_percent"),
        fp_json_double(j, share(c->instructions, c->instructions_here));
    fp_json_key(j, "unmatched_functions"), fp_json_uint(j, c->unmatched);
    fp_json_key(j, "functions_redefined"), fp_json_uint(j, c->redefined);
    fp_json_end(j, '}');
}

void fp_stats_json(struct fp_writer *out, const struct fp_stats *s, const struct fp_common *common)
{
    struct fp_json j = {.out = out};
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "paths"), fp_json_uint(&j, s->paths);
    fp_json_key(&j, "potential_paths"), fp_json_uint(&j, s->potential);
    fp_json_key(&j, "flow"), fp_json_uint(&j, s->flow);
    fp_json_key(&j, "functions"), fp_json_uint(&j, s->functions);
    fp_json_key(&j, "routines"), fp_json_uint(&j, s->routines);
    fp_json_key(&j, "cuts"), fp_json_uint(&j, s->cuts);
    fp_json_key(&j, "doors"), fp_json_uint(&j, s->doors);
    fp_json_key(&j, "most_paths_in_a_routine"), fp_json_uint(&j, s->most_paths);
    fp_json_key(&j, "paths_per_routine"), fp_json_double(&j, mean((double)s->paths, s->routines));
    json_lengths(&j, "lengths", &s->lengths, s->flow);
    json_lengths(&j, "predicted_lengths", &s->predicted, s->flow);
    fp_json_key(&j, "predicted_paths"), fp_json_uint(&j, s->correct_paths);
    fp_json_key(&j, "predicted_flow"), fp_json_uint(&j, s->correct_flow);
    fp_json_key(&j, "predicted_paths_percent"),
        fp_json_double(&j, share((double)s->correct_paths, (double)s->paths));
    fp_json_key(&j, "predicted_flow_percent"),
        fp_json_double(&j, share((double)s->correct_flow, (double)s->flow));
    if (common) json_common(&j, common);
    fp_json_end(&j, '}');
    fp_write_u8(out, '\n');
}
