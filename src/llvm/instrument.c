/* The pass over a module: for each function, read it, plan, edit, describe.
 *
 * Nothing here decides about paths; the graph core does. What is decided here is
 * which functions are left alone, and why; the reason goes into the map, so that
 * reports can say it.
 */
#include "base/table.h"
#include "count/layout.h"
#include "footpath/abi.h"
#include "graph/select.h"
#include "graph/weights.h"
#include "llvm/read/filter.h"
#include "llvm/read/identity.h"
#include "llvm/emit/ircopy.h"
#include "llvm/emit/iredges.h"
#include "llvm/emit/iredit.h"
#include "llvm/emit/irframe.h"
#include "llvm/read/irbody.h"
#include "llvm/read/ircalls.h"
#include "llvm/read/irgraph.h"
#include "llvm/read/irguide.h"
#include "llvm/emit/irhooks.h"
#include "llvm/emit/irlaps.h"
#include "llvm/emit/irmap.h"
#include "llvm/emit/irpath.h"
#include "llvm/emit/irvalues.h"
#include "llvm/use/irweights.h"
#include "flags/flags.h"
#include "llvm/shim.h"
#include "llvm/use/use.h"
#include "p3/division.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char done_mark[] = "footpath"; /* attribute: do not do it twice */

struct module_work {
    LLVMModuleRef module;
    const struct fp_flags *options;
    struct fp_filter filter;
    bool optimizing;
    uint64_t module_hash; /* tells static functions of one name apart */
    struct fp_ir_guide guide;
    const struct fp_division *division; /* for a copy of a plan */
    bool any;
};

static bool has_mark(LLVMValueRef function)
{
    return LLVMGetStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                         done_mark, sizeof done_mark - 1) != NULL;
}

static void set_mark(LLVMValueRef function)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    LLVMAddAttributeAtIndex(
        function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(context, done_mark, sizeof done_mark - 1, "1", 1));
}

/* Not compiled here at all, so not to be mentioned. */
static bool is_absent(LLVMValueRef function)
{
    return LLVMIsDeclaration(function) ||
           LLVMGetLinkage(function) == LLVMAvailableExternallyLinkage || has_mark(function);
}

static const char *reason_to_skip(LLVMValueRef function)
{
    if (fp_ir_has_attribute(function, "naked")) return "naked function";
    if (fp_ir_has_attribute(function, "noprofile")) return "marked no_profile_instrument_function";
    return NULL;
}

/* ---- planning ---- */

static void plan_edges(struct fp_arena *arena, struct fp_function *f, const double *weights,
                       bool chords)
{
    f->paths.flow = fp_flow_make(arena, f->paths.cfg, &f->paths.truncation->order, weights);
    f->layout.flow_slot = FP_NEW_ARRAY(arena, uint32_t, f->paths.flow->nedges);
    for (uint32_t i = 0; i < f->paths.flow->nedges; i++) {
        enum fp_flow_kind kind = f->paths.flow->edges[i].kind;
        bool wanted = chords ? !fp_bitset_has(&f->paths.flow->in_tree, i)
                             : kind == FP_FLOW_ENTRY || kind == FP_FLOW_EDGE;
        f->layout.flow_slot[i] = wanted ? fp_layout_add_edge(f) : FP_NONE;
    }
}

static void number_paths(struct fp_arena *arena, struct fp_function *f, const double *weights,
                         const struct fp_flags *options)
{
    f->paths.dag = fp_dag_make(arena, f->paths.truncation);
    double *dag_weights = fp_dag_weights(arena, f->paths.dag, weights);
    /* smart numbering, paper 002, section 3.4: hot edges get 0 and carry no code */
    bool sampled = f->flags & FP_FUNCTION_SAMPLED;
    enum fp_numbering_order order = sampled ? FP_NUMBER_HOTTEST_FIRST : FP_NUMBER_LARGEST_LAST;
    f->paths.numbering = fp_number(arena, f->paths.dag, order, dag_weights);
    fp_layout_paths(f, f->paths.numbering->num_ids, options->array_paths);
}

/* Can the path register be left to itself? Behind setjmp nobody notices that a path
 * begins. */
static bool may_run(const struct fp_function *f)
{
    const struct fp_cfg *cfg = f->paths.cfg;
    if (f->paths.numbering->num_paths == 1) return false;
    for (uint32_t e = 0; e < cfg->nedges; e++)
        if (cfg->edges[e].kind == FP_EDGE_TWICE) return false;
    return true;
}

static struct fp_plan *plan_paths(struct fp_arena *arena, struct fp_ir *ir,
                                  const struct fp_flags *options)
{
    struct fp_function *f = ir->f;
    const double *weights = ir->weights;
    bool sampled = f->flags & FP_FUNCTION_SAMPLED;
    struct fp_plan_options how = {.eager = options->cycles,
                                  .exits = options->exits,
                                  .running = sampled && options->pep == FP_PEP_TRAP && may_run(f),
                                  .branch_counts =
                                      !options->cycles && !sampled && !options->plain_labels};
    struct fp_plan *plan =
        fp_plan_make(arena, f->paths.numbering, options->plain_labels ? NULL : weights, &how);
    if (how.running && !plan->running) {
        how.running = false;
        plan = fp_plan_make(arena, f->paths.numbering, weights, &how);
    }
    if (how.branch_counts && !how.exits && !options->hits)
        ir->lap_variables = fp_ir_lap_variables(ir, plan, weights);
    f->layout.at_end = plan->at_end;
    return plan;
}

/* ---- planning for a copy ---- */

/* What the planner of copies assumed too (p3/divide.c). */
static const double *copy_weights(struct fp_arena *arena, const struct fp_function *f,
                                  const struct fp_part *part, const struct fp_division *division)
{
    if (division->plain_labels) return NULL;
    if (part->nweights != f->paths.cfg->nedges) {
        struct fp_loops loops;
        fp_loops_find(arena, f->paths.cfg, &loops);
        return fp_weights_static(arena, f->paths.cfg, &f->paths.truncation->order, &loops);
    }
    double *weights = FP_NEW_ARRAY(arena, double, f->paths.cfg->nedges);
    for (uint32_t e = 0; e < f->paths.cfg->nedges; e++) weights[e] = (double)part->weights[e];
    return weights;
}

static struct fp_plan *plan_copy(struct fp_arena *arena, struct fp_function *f,
                                 const struct fp_part *part, const struct module_work *work)
{
    const struct fp_flags *options = work->options;
    const double *weights = copy_weights(arena, f, part, work->division);
    struct fp_plan *plan;
    if (part->kind == FP_PART_PATHS) {
        struct fp_selection *s = fp_select(arena, f->paths.numbering, &part->edges[options->copy],
                                           &part->laps[options->copy], weights, options->exits);
        plan = s->plan;
        f->copy->labels = (struct fp_pspp *)s->labels;
        f->copy->laps = part->laps[options->copy];
        fp_layout_paths(f, s->sums->num_ids, options->array_paths);
    } else {
        struct fp_plan_options how = {.exits = options->exits,
                                      .branch_counts = options->exits && weights};
        plan = fp_plan_make(arena, f->paths.numbering, weights, &how);
    }
    f->copy->turns_slot = fp_layout_add_edge(f);
    f->flags |= FP_FUNCTION_COPY;
    f->layout.at_end = plan->at_end;
    return plan;
}

static uint32_t mode_flags(const struct fp_flags *options)
{
    uint32_t flags = options->early ? FP_FUNCTION_EARLY : 0;
    if (options->early && options->inline_small) flags |= FP_FUNCTION_INLINED;
    switch (options->mode) {
    case FP_MODE_NONE: break;
    case FP_MODE_PATH: flags |= FP_FUNCTION_PATHS; break;
    case FP_MODE_EDGE: flags |= FP_FUNCTION_EDGES; break;
    case FP_MODE_EDGE_MIN: flags |= FP_FUNCTION_EDGES | FP_FUNCTION_CHORDS; break;
    case FP_MODE_CHECK: flags |= FP_FUNCTION_PATHS | FP_FUNCTION_EDGES; break;
    case FP_MODE_PEP: flags |= FP_FUNCTION_PATHS | FP_FUNCTION_SAMPLED; break;
    }
    if (options->cycles && flags & FP_FUNCTION_PATHS) flags |= FP_FUNCTION_CYCLES;
    if (options->exits) flags |= FP_FUNCTION_EXITS;
    return flags;
}

/* What is in flight in a block, for the reader of profiles. Without paths all that
 * counts is that the block was not passed. */
static void note_exits(struct fp_arena *arena, struct fp_function *f, const struct fp_plan *plan)
{
    uint32_t n = f->paths.cfg->nblocks;
    f->layout.counted = plan ? plan->counted : FP_NEW_ARRAY(arena, bool, n);
    f->layout.has_register = plan ? plan->has_register : FP_NEW_ARRAY(arena, bool, n);
    f->layout.offset = plan ? plan->offset : FP_NEW_ARRAY(arena, int64_t, n);
    for (uint32_t b = 0; !plan && b < n; b++)
        f->layout.counted[b] = fp_cfg_out_degree(f->paths.cfg, b) == 0;
}

/* ---- one function ---- */

static void skip_function(struct module_work *work, LLVMValueRef function, struct fp_function *f,
                          const char *reason)
{
    f->flags = FP_FUNCTION_SKIPPED;
    f->skipped = reason;
    f->id = fp_hash64(fp_hash_string(f->name) ^ (fp_ir_is_local(function) ? work->module_hash : 0));
    fp_ir_emit_map(work->module, f);
}

/* Weights of the edges: LLVM's estimates, ours, or those of an earlier run, which the
 * code generator is told as well, to keep what was added off the hot ways. True where
 * they were measured. */
static bool weigh(struct module_work *work, struct fp_ir *ir)
{
    struct fp_guide_function counts;
    if (!work->options->static_weights) fp_ir_estimate(ir);
    if (!fp_ir_guide_find(&work->guide, ir, fp_ir_base_id(ir, work->module_hash), &counts))
        return false;
    fp_ir_guide_weights(ir, &counts);
    if (!work->options->early) fp_ir_set_branch_weights(ir, &counts);
    return true;
}

/* How often a loop goes round is guessed badly: without a guide it has to look hotter. */
static struct fp_limits limits_for(const struct fp_flags *options, bool guided)
{
    struct fp_limits limits = {0};
    double entries = options->loop_entries > 0 ? options->loop_entries : guided ? 4 : 8;
    if (options->cuts != FP_CUTS_FEW) limits.good_paths = options->array_paths;
    if (options->cuts == FP_CUTS_LOOPS) limits.loop_entries = entries;
    /* cycles are kept in an array: cut whatever does not fit one */
    if (options->cycles) limits.max_paths = options->array_paths;
    return limits;
}

static bool wants_values(const struct module_work *work)
{
    const struct fp_flags *options = work->options;
    return options->values && options->early && options->mode == FP_MODE_PATH && !options->cycles &&
           !work->division;
}

/* The counters of the function as the reference has them, which tell its id there. */
static void plan_reference(struct module_work *work, struct fp_arena *arena, struct fp_ir *ir)
{
    const struct fp_flags *options = work->options;
    struct fp_function *f = ir->f;
    f->flags = mode_flags(options);
    if (fp_ir_has_one_body(ir->function)) f->flags |= FP_FUNCTION_ONE_BODY;
    if (options->callees) fp_ir_list_callees(arena, ir->function, f);
    if (wants_values(work) && fp_ir_has_values(ir->function)) f->flags |= FP_FUNCTION_VALUES;
    struct fp_limits limits = limits_for(options, weigh(work, ir));
    f->paths.truncation = FP_NEW(arena, struct fp_truncation);
    fp_truncate(arena, f->paths.cfg, ir->weights, &limits, f->paths.truncation);
    if (!ir->weights) ir->weights = FP_NEW_ARRAY(arena, double, f->paths.cfg->nedges);
    if (f->flags & FP_FUNCTION_PATHS) number_paths(arena, f, ir->weights, options);
    if (f->flags & FP_FUNCTION_EDGES)
        plan_edges(arena, f, ir->weights, f->flags & FP_FUNCTION_CHORDS);
    f->id = fp_function_id(fp_ir_base_id(ir, work->module_hash), f->flags, f->layout.path_slots,
                           f->layout.edge_slots);
}

/* Counters that the reference does not have make another function of it. */
static void add_copy_counters(struct module_work *work, struct fp_function *f)
{
    if (work->options->hits) {
        f->flags |= FP_FUNCTION_HITS;
        f->copy->hits_slot = fp_layout_add_edge(f);
    }
    f->id = fp_hash64(f->id ^ (f->flags & ~(uint32_t)FP_FUNCTION_CALLEES));
    f->id = fp_hash64(f->id ^ f->layout.path_slots ^ f->layout.edge_slots << 32);
}

static void edit(struct module_work *work, struct fp_ir *ir, const struct fp_part *part,
                 const struct fp_plan *plan)
{
    const struct fp_flags *options = work->options;
    struct fp_function *f = ir->f;
    struct fp_editor ed;
    bool optnone = !work->optimizing || fp_ir_has_attribute(ir->function, "optnone");
    bool sampled = f->flags & FP_FUNCTION_SAMPLED; /* each thread in counters of its own */
    fp_editor_init(&ed, ir, sampled ? FP_THREADS_LOCAL : options->threads, optnone);
    if (part && part->kind == FP_PART_TURNS) {
        uint32_t n = work->division->ncopies;
        fp_ir_emit_turns(&ed, n, (options->copy + n - part->copy) % n);
    }
    if (!options->early) fp_ir_emit_live_mark(ir);
    bool exits = f->flags & FP_FUNCTION_EXITS, slot = exits && fp_ir_needs_slot(f);
    if (exits) fp_ir_emit_marks(&ed, slot);
    if (f->flags & FP_FUNCTION_EDGES) fp_ir_emit_edges(&ed);
    if (part && part->kind != FP_PART_TURNS) fp_ir_emit_calls(&ed);
    if (f->flags & FP_FUNCTION_VALUES) fp_ir_emit_values(&ed);
    if (slot) fp_ir_emit_slot(&ed, plan);
    if (plan && f->flags & FP_FUNCTION_HITS) fp_ir_emit_hits(&ed, plan);
    if (plan) fp_ir_emit_paths(&ed, plan, f->flags & FP_FUNCTION_SAMPLED ? &options->pep : NULL);
    fp_editor_finish(&ed);
}

/* A function that the plan does not have stays as it is, but for the calls that end the
 * process: the profile must be written before. */
static void leave_alone(struct module_work *work, struct fp_ir *ir)
{
    if (!work->options->early) fp_ir_emit_live_mark(ir);
    fp_ir_emit_hooks(ir->function, work->options->exits);
    struct fp_function f = {.name = ir->f->name,
                            .file = ir->f->file,
                            .line = ir->f->line,
                            .id = ir->f->id,
                            .flags = FP_FUNCTION_SKIPPED | FP_FUNCTION_UNDIVIDED,
                            .skipped = "not in the plan"};
    fp_ir_emit_map(work->module, &f);
}

/* Another copy counts the paths. This one counts the calls, so that the collation sees
 * whether both did the same. */
static void plan_calls(struct fp_function *f)
{
    f->flags &= FP_FUNCTION_EARLY | FP_FUNCTION_INLINED;
    f->flags |= FP_FUNCTION_COPY;
    f->layout.path_slots = f->layout.edge_slots = 0;
    f->copy->turns_slot = fp_layout_add_edge(f);
    f->id = fp_hash64(f->id ^ f->flags);
}

static void instrument(struct module_work *work, struct fp_arena *arena, struct fp_ir *ir)
{
    const struct fp_flags *options = work->options;
    struct fp_function *f = ir->f;
    struct fp_plan *plan = NULL;
    const struct fp_part *part = NULL;
    plan_reference(work, arena, ir);
    if (work->division) {
        part = fp_division_find(work->division, f->id);
        if (!part) {
            leave_alone(work, ir);
            return;
        }
    }
    bool others = part && !fp_part_concerns(part, options->copy);
    struct fp_copy_info copy = {.reference = f->id, .turns_slot = FP_NONE, .hits_slot = FP_NONE};
    if (part || options->hits) f->copy = &copy;
    if (others)
        plan_calls(f);
    else if (part)
        plan = plan_copy(arena, f, part, work);
    else if (f->flags & FP_FUNCTION_PATHS)
        plan = plan_paths(arena, ir, options);
    if (f->copy && !others) add_copy_counters(work, f);
    if (f->flags & FP_FUNCTION_EXITS) note_exits(arena, f, plan);
    edit(work, ir, part, plan);
    fp_ir_emit_hooks(ir->function, options->exits);
    fp_ir_emit_map(work->module, f);
}

static void do_function(struct module_work *work, LLVMValueRef function)
{
    struct fp_arena arena = {0};
    struct fp_function f = {0};
    struct fp_ir ir;
    struct fp_ir_options how = {.faults = work->options->exits};
    const char *reason = reason_to_skip(function);
    const char *problem = fp_ir_read(&arena, function, &f, &how, &ir);
    if (!reason) reason = problem;
    if (!reason) reason = fp_filter_reason(&work->filter, &f);
    if (reason)
        skip_function(work, function, &f, reason);
    else
        instrument(work, &arena, &ir);
    set_mark(function);
    work->any = true;
    fp_arena_free(&arena);
}

static bool say_error(const struct fp_error *error, const char *what_to_do)
{
    char message[512];
    fp_error_text(error, message, sizeof message);
    fprintf(stderr, "footpath: %s; %s\n", message, what_to_do);
    return false;
}

/* The plugin lives in the compiler: it says what is wrong and leaves the module
 * as it is. */
static bool read_options(struct fp_arena *arena, struct fp_flags *options, struct fp_filter *filter)
{
    struct fp_error error = {0};
    bool parsed = fp_flags_read(arena, getenv(FP_PLUGIN_VARIABLE), options, &error);
    if (parsed && fp_filter_read(arena, options->allow, options->deny, filter, &error)) return true;
    return say_error(&error, parsed ? "lists must be readable wherever the compiler runs"
                                    : "use footpath-cc of the same version as the plugin");
}

static bool read_plan(struct fp_arena *arena, struct module_work *work,
                      struct fp_division *division)
{
    const struct fp_flags *options = work->options;
    struct fp_error error = {0};
    if (!options->plan) return true;
    if (!fp_division_read(arena, options->plan, division, &error))
        return say_error(&error, "nothing is instrumented");
    if (options->copy >= division->ncopies) {
        fp_fail(&error, options->plan, "has copies 0 to %u, not %u", division->ncopies - 1,
                options->copy);
        return say_error(&error, "nothing is instrumented");
    }
    work->division = division;
    return true;
}

static void instrument_module(struct fp_arena *arena, struct module_work *work)
{
    size_t len;
    if (work->options->guide) fp_ir_guide_open(&work->guide, arena, work->options->guide);
    work->module_hash = fp_ir_hash_module(work->module, work->options->base);
    for (LLVMValueRef f = LLVMGetFirstFunction(work->module); f; f = LLVMGetNextFunction(f))
        if (!is_absent(f)) do_function(work, f);
    if (work->any) fp_ir_emit_module(work->module);
    if (work->options->strip_lines) LLVMStripModuleDebugInfo(work->module);
    fp_ir_guide_report(&work->guide, LLVMGetSourceFileName(work->module, &len));
    fp_ir_guide_close(&work->guide);
}

/* Counting uses %gs, and the runtime is for one system. */
static bool is_supported(LLVMModuleRef module)
{
    const char *target = LLVMGetTarget(module);
    bool x86_64 = !strncmp(target, "x86_64", 6) || !strncmp(target, "amd64", 5);
    if (x86_64 && strstr(target, "linux") && !strstr(target, "x32")) return true;
    fprintf(stderr, "footpath: %s: only x86-64 Linux is instrumented; compiled without counters\n",
            target);
    return false;
}

/* For tests: what was valid before must be valid after. LLVM's own passes leave calls
 * behind that its verifier refuses (mempcpy of __mempcpy_chk): not our doing. */
static bool is_to_be_verified(LLVMModuleRef module)
{
    return getenv(FP_VERIFY_VARIABLE) && !LLVMVerifyModule(module, LLVMReturnStatusAction, NULL);
}

bool fp_llvm_run(LLVMModuleRef module, bool early, bool optimizing)
{
    struct fp_arena arena = {0};
    struct fp_flags options;
    struct module_work work = {.module = module, .options = &options, .optimizing = optimizing};
    bool ok = read_options(&arena, &options, &work.filter), verified = is_to_be_verified(module);
    /* a check build verifies itself however the program ends */
    if (options.mode == FP_MODE_CHECK) options.exits = true;
    /* a sample is of a path that ended; what it took is not measured */
    if (options.mode == FP_MODE_PEP) options.exits = options.cycles = false;
    bool counts = ok && options.mode != FP_MODE_NONE && options.early == early;
    options.inline_small = options.inline_small && optimizing;
    if (counts && early && options.inline_small) fp_shim_inline_small(module);
    /* first what changes the blocks: counters are for those that there are then */
    bool changed = ok && options.use && early && fp_llvm_use(module, &options);
    struct fp_division division;
    if (counts && is_supported(module) && read_plan(&arena, &work, &division))
        instrument_module(&arena, &work);
    if (ok && options.strip_lines && early && options.mode == FP_MODE_NONE)
        LLVMStripModuleDebugInfo(module);
    fp_arena_free(&arena);
    if (verified) LLVMVerifyModule(module, LLVMAbortProcessAction, NULL);
    return work.any || changed || counts;
}
