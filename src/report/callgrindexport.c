/* Callgrind's profile format, version 1 (valgrind's cl-format manual chapter).
 *
 * The unit is instructions of the compiler's intermediate code, or of the machine's
 * where the program was built with --fp-cost=machine. A block's are
 * shared out evenly over the lines it has code of, the rest goes to the first.
 *
 * A program without any lines whose addresses are known has these for positions, so that
 * kcachegrind can show its instructions. */
#include "report/exports.h"

#include "model/callgraph.h"

#include "base/checked.h"

#include <inttypes.h>
#include <string.h>

struct grind {
    struct fp_writer *out;
    struct fp_arena scratch;
    struct fp_strtable files, functions; /* names are written once, then by number */
    double total;
    bool addresses; /* positions are addresses */
    struct fp_call_graph calls;
};

static void say_named(struct grind *g, const char *key, struct fp_strtable *names, const char *name)
{
    uint64_t *number = fp_strtable_add(names, name);
    bool known = *number;
    if (!known) *number = names->len;
    fp_say(g->out, "%s=(%" PRIu64 ")", key, *number);
    if (!known) {
        fp_say(g->out, " ");
        fp_say_plain(g->out, name, strlen(name));
    }
    fp_say(g->out, "\n");
}

struct spent {
    struct fp_table of; /* file number << 32 | line -> cost */
    struct fp_strtable files;
    FP_VEC(const char *) names;
};

static void spend(struct fp_arena *arena, struct spent *s, const char *file, uint32_t line,
                  uint64_t cost)
{
    uint64_t *index = fp_strtable_add(&s->files, file);
    if (!*index) {
        fp_vec_push(arena, &s->names, file);
        *index = s->names.len;
    }
    uint64_t *sum = fp_table_add(&s->of, *index << 32 | line);
    *sum = fp_add_saturated(*sum, cost);
}

static void spend_block(struct fp_arena *arena, struct spent *s, const struct fp_function *f,
                        uint32_t b, uint64_t count)
{
    const struct fp_block_info *info = &f->source.blocks[b];
    uint64_t n = info->npositions;
    if (!n) {
        spend(arena, s, f->file, f->line, fp_mul_saturated(count, info->instructions));
        return;
    }
    uint64_t each = info->instructions / n, rest = info->instructions % n;
    for (uint32_t i = 0; i < n; i++) {
        const struct fp_position *at = &f->source.positions[info->first_position + i];
        spend(arena, s, f->source.scopes[at->scope].file, at->line,
              fp_mul_saturated(count, each + (i == 0 ? rest : 0)));
    }
}

/* Stands for callers and for callees that are not known. */
static const char ELSEWHERE[] = "(elsewhere)";
static const char NOT_KNOWN[] = "(through pointers, or from what is not measured)";

/* The line, or the address where positions are such. */
static void say_position(struct grind *g, uint32_t line, uint64_t address)
{
    if (g->addresses)
        fp_say(g->out, "0x%" PRIx64, address);
    else
        fp_say(g->out, "%u", line);
}

static void say_call(struct grind *g, const struct fp_report_function *callee, uint64_t count,
                     uint32_t line, uint64_t address, double cost)
{
    const struct fp_function *f = callee ? callee->function : NULL;
    say_named(g, "cfi", &g->files, callee ? callee->function->file : ELSEWHERE);
    say_named(g, "cfn", &g->functions, callee ? callee->name : NOT_KNOWN);
    fp_say(g->out, "calls=%" PRIu64 " ", count);
    say_position(g, f ? f->line : 0, f ? f->source.address : 0);
    fp_say(g->out, "\n");
    say_position(g, line, address);
    fp_say(g->out, " %.0f\n", cost);
}

/* Calls that no function accounts for. Readers add up the calls of a function, so that without
 * these its inclusive cost would be too low. */
static void say_elsewhere(struct grind *g, const struct fp_report *report)
{
    say_named(g, "fl", &g->files, ELSEWHERE);
    say_named(g, "fn", &g->functions, NOT_KNOWN);
    for (size_t i = 0; i < report->nfunctions; i++)
        if (g->calls.elsewhere[i])
            say_call(g, &report->functions[i], g->calls.elsewhere[i], 0, 0,
                     fp_cost_from_elsewhere(&g->calls, i));
    fp_say(g->out, "\n");
}

/* Calls of functions that have counts. What others cost is not known, unless calls were measured:
 * then it is what measured functions cost that they called. */
static void say_calls(struct grind *g, const struct fp_report *report, uint32_t caller)
{
    const struct fp_function *f = report->functions[caller].function;
    for (size_t e = g->calls.first_out[caller]; e < g->calls.first_out[caller + 1]; e++) {
        const struct fp_call_edge *edge = &g->calls.edges[e];
        bool known = edge->callee != FP_NONE;
        if (!known && edge->cost <= 0) continue;
        say_call(g, known ? &report->functions[edge->callee] : NULL, edge->count,
                 edge->line ? edge->line : f->line, f->source.address, edge->cost);
    }
}

/* What each block cost, at its address. */
static void say_blocks(struct grind *g, const struct fp_report_function *rf)
{
    const struct fp_function *f = rf->function;
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++) {
        uint64_t cost = fp_mul_saturated(rf->edges.blocks[b], f->source.blocks[b].instructions);
        if (!cost) continue;
        fp_say(g->out, "0x%" PRIx64 " %" PRIu64 "\n", f->source.code[b].address, cost);
        g->total += (double)cost;
    }
}

static void say_lines(struct grind *g, const struct fp_report_function *rf)
{
    const struct fp_function *f = rf->function;
    struct fp_arena arena = {0};
    struct spent s = {0};
    fp_table_init(&s.of, &arena);
    fp_strtable_init(&s.files, &arena);
    for (uint32_t b = 0; b < f->paths.cfg->nblocks; b++)
        if (rf->edges.blocks[b]) spend_block(&arena, &s, f, b, rf->edges.blocks[b]);
    for (size_t file = 0; file < s.names.len; file++) {
        uint64_t key, cost;
        bool own = !strcmp(s.names.at[file], f->file);
        say_named(g, own ? "fe" : "fi", &g->files, s.names.at[file]);
        for (size_t i = 0; fp_table_next(&s.of, &i, &key, &cost);) {
            if (key >> 32 != file + 1 || !cost) continue;
            fp_say(g->out, "%u %" PRIu64 "\n", (uint32_t)key, cost);
            g->total += (double)cost;
        }
    }
    say_named(g, "fe", &g->files, f->file);
    fp_arena_free(&arena);
}

static void say_function(struct grind *g, const struct fp_report *report, uint32_t index)
{
    const struct fp_report_function *rf = &report->functions[index];
    say_named(g, "fl", &g->files, rf->function->file);
    say_named(g, "fn", &g->functions, rf->name);
    if (g->addresses)
        say_blocks(g, rf);
    else
        say_lines(g, rf);
    say_calls(g, report, index);
    fp_say(g->out, "\n");
}

/* No function has lines, and all that have counters have addresses. */
static bool has_addresses_alone(const struct fp_report *report)
{
    bool any = false;
    for (size_t i = 0; i < report->nfunctions; i++) {
        const struct fp_function *f = report->functions[i].function;
        if (f->flags & FP_FUNCTION_SKIPPED) continue;
        if (f->source.npositions || !f->source.code) return false;
        any = true;
    }
    return any;
}

void fp_write_callgrind(struct fp_writer *out, const struct fp_report *report)
{
    struct grind g = {.out = out};
    fp_strtable_init(&g.files, &g.scratch);
    fp_strtable_init(&g.functions, &g.scratch);
    fp_say(out, "# callgrind format\nversion: 1\ncreator: footpath %s\n", FOOTPATH_VERSION);
    if (report->profile->runs.len) {
        fp_say(out, "cmd:");
        for (size_t i = 0; i < report->profile->runs.at[0].nargs; i++) {
            const char *word = report->profile->runs.at[0].args[i];
            fp_say(out, " ");
            fp_say_plain(out, word, strlen(word));
        }
        fp_say(out, "\n");
    }
    g.addresses = has_addresses_alone(report);
    fp_say(out, "positions: %s\nevent: Ir : %s instructions executed\nevents: Ir\n\n",
           g.addresses ? "instr" : "line", report->machine ? "machine" : "IR");
    fp_call_graph_make(&g.scratch, report, &g.calls);
    for (uint32_t i = 0; i < report->nfunctions; i++)
        if (report->functions[i].edges.blocks && fp_report_ran(&report->functions[i]))
            say_function(&g, report, i);
    say_elsewhere(&g, report);
    fp_say(out, "totals: %.0f\n", g.total);
    fp_arena_free(&g.scratch);
}
