/* A function as text: see dump.h. */
#include "llvm/dump.h"

#include "base/names.h"
#include "base/plain.h"
#include "footpath/abi.h"
#include "llvm/codecopies.h"

#include <inttypes.h>
#include <stdio.h>

struct dump {
    struct fp_writer out;
    struct fp_arena arena;
    const struct fp_job *job;
    const struct fp_function *f;
    const struct fp_plan *plan;           /* or NULL */
    const struct fp_numbering *numbering; /* of the plan, which may have labels instead of ids */
    const enum fp_cause *causes;          /* per cfg edge */
};

/* ---- where counters lie ---- */

static void say_words(struct dump *d, const char *what, uint64_t words, const char *symbol)
{
    if (words)
        fp_say(&d->out, "  %s of %" PRIu64 " words, %s%016" PRIx64 "\n", what, words, symbol,
               d->f->id);
}

static void say_counters(struct dump *d)
{
    const struct fp_layout *layout = &d->f->layout;
    uint32_t nlaps = d->f->paths.truncation->laps.len;
    if (d->plan)
        fp_say(&d->out, "  paths: %" PRIu64 ", laps: %u\n", d->numbering->num_paths, nlaps);
    if (d->f->flags & FP_FUNCTION_HASHED) {
        bool values = !d->plan || layout->direct_slots;
        if (layout->sparse_slots)
            say_words(d, "counters of paths: sparse array", layout->sparse_slots, FP_HASH_PREFIX);
        else
            say_words(d, values ? "values of calls: hash table" : "counters of paths: hash table",
                      layout->path_slots, FP_HASH_PREFIX);
        say_words(d, "counters of paths: array", layout->direct_slots, FP_DIRECT_PREFIX);
        if (d->plan && nlaps)
            fp_say(&d->out, "  counters of laps: edge counters 0 to %u\n", nlaps - 1);
    } else {
        bool cycles = d->f->flags & FP_FUNCTION_CYCLES;
        say_words(d,
                  cycles ? "counters of paths, then of laps: array of pairs, count and cycles,"
                         : "counters of paths, then of laps: array",
                  layout->path_slots, FP_COUNTER_PREFIX);
        if (layout->gated)
            fp_say(&d->out, "  a gate in front of it, %s%016" PRIx64 "\n", FP_GATE_PREFIX,
                   d->f->id);
    }
    say_words(d, "edge counters: array", layout->edge_slots, FP_EDGE_COUNTER_PREFIX);
    if (d->f->flags & FP_FUNCTION_CALL_COSTS)
        fp_say(&d->out, "  costs of %u calls: edge counters from %u\n", d->f->source.ncalls,
               layout->call_slot);
    const struct fp_copy_info *copy = d->f->copy;
    if (copy && copy->turns_slot != FP_NONE)
        fp_say(&d->out, "  invocations: edge counter %u\n", copy->turns_slot);
    if (copy && copy->hits_slot != FP_NONE)
        fp_say(&d->out, "  executed operations: edge counter %u\n", copy->hits_slot);
}

static void say_flow_counter(struct dump *d, enum fp_flow_kind kind, uint32_t of)
{
    const struct fp_flow *flow = d->f->flags & FP_FUNCTION_EDGES ? d->f->paths.flow : NULL;
    for (uint32_t i = 0; flow && i < flow->nedges; i++) {
        const struct fp_flow_edge *edge = &flow->edges[i];
        uint32_t which = kind == FP_FLOW_EXIT ? edge->src : edge->cfg_edge;
        if (edge->kind != kind || (kind != FP_FLOW_ENTRY && which != of)) continue;
        if (d->f->layout.flow_slot[i] != FP_NONE)
            fp_say(&d->out, "; edge counter %u", d->f->layout.flow_slot[i]);
    }
}

/* ---- what happens ---- */

static void say_op(struct dump *d, struct fp_op op)
{
    int64_t n = op.value;
    uint64_t size = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    switch (op.kind) {
    case FP_OP_NONE: break;
    case FP_OP_SET: fp_say(&d->out, "; r = %" PRId64, n); break;
    case FP_OP_ADD: fp_say(&d->out, "; r %c= %" PRIu64, n < 0 ? '-' : '+', size); break;
    case FP_OP_COUNT: fp_say(&d->out, "; count[%" PRId64 "]++", n); break;
    case FP_OP_COUNT_REG:
        fp_say(&d->out, "; count[r");
        if (n) fp_say(&d->out, " %c %" PRIu64, n < 0 ? '-' : '+', size);
        fp_say(&d->out, "]++");
        break;
    }
}

/* The value of a dag edge and what happens there. */
static void say_dag_edge(struct dump *d, uint32_t dag_edge)
{
    if (!d->plan) return;
    fp_say(&d->out, ", value %" PRIu64, d->numbering->value[dag_edge]);
    say_op(d, d->plan->on[dag_edge]);
}

static const char *cause_text(enum fp_cause cause)
{
    switch (cause) {
    case FP_CAUSE_NONE: break;
    case FP_CAUSE_BACK: return "back edge";
    case FP_CAUSE_INDIRECT: return "indirect jump";
    case FP_CAUSE_TWICE: return "returns-twice call";
    case FP_CAUSE_DOOR: return "door of a loop";
    case FP_CAUSE_CUT: return "cut";
    }
    return "";
}

static void say_lap(struct dump *d, uint32_t e)
{
    const struct fp_laps *laps = &d->f->paths.truncation->laps;
    uint32_t lap = 0;
    while (laps->at[lap].closing != e) lap++;
    fp_say(&d->out, ": closes lap %u", lap);
    uint32_t exit = d->plan->lap_exits ? d->plan->lap_exits[lap] : FP_NONE;
    if (exit == FP_NONE)
        say_op(d, fp_plan_on_edge(d->plan, e).first);
    else
        fp_say(&d->out, "; counted on the way out, %u -> %u", d->f->paths.cfg->edges[exit].src,
               d->f->paths.cfg->edges[exit].dst);
}

static void say_laps_left(struct dump *d, uint32_t e)
{
    const uint32_t *exits = d->plan ? d->plan->lap_exits : NULL;
    for (uint32_t i = 0; exits && i < d->f->paths.truncation->laps.len; i++)
        if (exits[i] == e)
            fp_say(&d->out, "; count[%" PRIu64 "] += laps of lap %u",
                   d->numbering->num_paths + fp_lap_number(&d->f->paths.truncation->laps, i), i);
}

static void say_fate(struct dump *d, uint32_t e)
{
    const struct fp_paths *paths = &d->f->paths;
    if (!d->plan) return;
    switch ((enum fp_fate)paths->truncation->order.fate[e]) {
    case FP_FATE_DEAD: fp_say(&d->out, ": never reached"); break;
    case FP_FATE_LAP: say_lap(d, e); break;
    case FP_FATE_KEPT:
        fp_say(&d->out, ": goes on");
        say_dag_edge(d, paths->dag->of_edge[e]);
        break;
    case FP_FATE_TRUNCATED:
        fp_say(&d->out, ": ends the path (%s)", cause_text(d->causes[fp_job_old_edge(d->job, e)]));
        say_dag_edge(d, paths->dag->of_edge[e]);
        fp_say(&d->out, "; starts one");
        say_dag_edge(d, paths->dag->start_of[paths->cfg->edges[e].dst]);
        break;
    }
}

/* ---- edges and blocks ---- */

static void say_label(struct dump *d, uint32_t e)
{
    const struct fp_edge_info *info = &d->f->source.edges[fp_job_old_edge(d->job, e)];
    switch (info->label) {
    case FP_LABEL_NONE:
    case FP_LABEL_TAKEN: /* these are of machine code */
    case FP_LABEL_NOT_TAKEN:
    case FP_LABEL_ENTRY: break;
    case FP_LABEL_TRUE: fp_say(&d->out, ", true"); break;
    case FP_LABEL_FALSE: fp_say(&d->out, ", false"); break;
    case FP_LABEL_CASE: fp_say(&d->out, ", case %" PRId64, info->value); break;
    case FP_LABEL_DEFAULT: fp_say(&d->out, ", default"); break;
    }
    if (d->f->paths.cfg->edges[e].kind == FP_EDGE_UNWIND) fp_say(&d->out, ", unwinds");
}

static void say_edge(struct dump *d, uint32_t e)
{
    const struct fp_edge *edge = &d->f->paths.cfg->edges[e];
    fp_say(&d->out, "  %u -> %u", edge->src, edge->dst);
    say_label(d, e);
    if (d->job->ir->weights[e] > 0) fp_say(&d->out, ", weight %.3g", d->job->ir->weights[e]);
    say_fate(d, e);
    if (d->plan && d->plan->at_end[edge->src] == e)
        fp_say(&d->out, " (in front of the branch, whichever way it goes)");
    say_laps_left(d, e);
    say_flow_counter(d, FP_FLOW_EDGE, fp_job_old_edge(d->job, e));
    say_flow_counter(d, FP_FLOW_FRONT, fp_job_old_edge(d->job, e));
    fp_say(&d->out, "\n");
}

/* Each line once where several instructions in a row are of it. */
static void say_lines(struct dump *d, uint32_t block)
{
    const struct fp_source *source = &d->f->source;
    const struct fp_block_info *info = &source->blocks[fp_job_old_block(d->job, block)];
    uint32_t line = 0, scope = FP_NONE;
    for (uint32_t i = 0; i < info->npositions; i++) {
        const struct fp_position *at = &source->positions[info->first_position + i];
        if (at->line == line && at->scope == scope) continue;
        line = at->line;
        scope = at->scope;
        const struct fp_scope *in = &source->scopes[scope];
        fp_say(&d->out, i ? " " : ", lines ");
        if (in->parent != FP_NONE) fp_say(&d->out, "%s:", in->function);
        fp_say(&d->out, "%u", line);
    }
}

static void say_block_flags(struct dump *d, uint8_t flags)
{
    if (flags & FP_BLOCK_PAD) fp_say(&d->out, ", pad");
    if (flags & FP_BLOCK_HUB) fp_say(&d->out, ", hub of indirect jumps");
    if (flags & FP_BLOCK_LEAVES) fp_say(&d->out, ", may leave");
}

/* What is known on entering the block. */
static void say_sum(struct dump *d, uint32_t block)
{
    if (!d->plan || d->f->paths.truncation->order.position[block] == FP_NONE) return;
    int64_t offset = d->plan->offset[block];
    if (d->plan->counted[block])
        fp_say(&d->out, "; counted already");
    else if (!d->plan->has_register[block])
        fp_say(&d->out, "; sum %" PRId64, offset);
    else if (offset)
        fp_say(&d->out, "; sum r %c %" PRIu64, offset < 0 ? '-' : '+',
               offset < 0 ? 0 - (uint64_t)offset : (uint64_t)offset);
    else
        fp_say(&d->out, "; sum r");
}

static void say_block(struct dump *d, uint32_t block)
{
    const struct fp_cfg *cfg = d->f->paths.cfg;
    uint32_t old = fp_job_old_block(d->job, block);
    fp_say(&d->out, "block %u", block);
    if (old != block) fp_say(&d->out, ", copy of %u", old);
    say_lines(d, block);
    say_block_flags(d, cfg->flags[block]);
    say_sum(d, block);
    fp_say(&d->out, "\n");
    if (block == 0) {
        fp_say(&d->out, "  enters");
        if (d->plan) say_dag_edge(d, d->f->paths.dag->entry_edge);
        say_flow_counter(d, FP_FLOW_ENTRY, 0);
        fp_say(&d->out, "\n");
    }
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++) say_edge(d, e);
    if (fp_cfg_out_degree(cfg, block)) return;
    fp_say(&d->out, "  returns");
    uint32_t exit = d->plan ? d->f->paths.dag->exit_of[block] : FP_NONE;
    if (exit != FP_NONE) say_dag_edge(d, exit);
    say_flow_counter(d, FP_FLOW_EXIT, fp_job_old_block(d->job, block));
    fp_say(&d->out, "\n");
}

static void say_function(struct dump *d)
{
    const struct fp_paths *paths = &d->f->paths, *old = fp_job_old_paths(d->job);
    if (d->f->skipped) {
        fp_say(&d->out, "  not instrumented: %s\n", d->f->skipped);
        return;
    }
    d->causes = fp_truncation_causes(&d->arena, old->cfg, &old->truncation->order);
    say_counters(d);
    if (d->f->flags & FP_FUNCTION_SAMPLED)
        fp_say(&d->out, "  sampled: count[...]++ is where a sample may be taken%s\n",
               d->plan->running ? "; r is never set, r = tells what it stands for" : "");
    for (uint32_t b = 0; b < paths->cfg->nblocks; b++) say_block(d, b);
}

/* In one piece: other compilations may be printing too. */
void fp_job_dump(const struct fp_job *job)
{
    struct dump d = {.job = job, .f = job->f, .plan = job->plan};
    d.numbering = d.plan ? d.plan->numbering : NULL;
    fp_say(&d.out, "function %s, %s:%u\n", d.f->name, d.f->file ? fp_base_name(d.f->file) : "?",
           d.f->line);
    say_function(&d);
    fwrite(d.out.bytes, 1, d.out.len, stderr);
    fp_writer_free(&d.out);
    fp_arena_free(&d.arena);
}
