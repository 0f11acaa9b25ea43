/* The driver: what happens to a module, and to each function of it. The lists of steps
 * are at the bottom, in fp_llvm_run, instrument_module and instrument.
 *
 * Nothing here decides about paths; the graph core does (planning.c asks it). What is
 * decided here is which functions are left alone, and why; the reason goes into the map,
 * so that reports can say it.
 */
#include "count/layout.h"
#include "llvm/codecopies.h"
#include "llvm/dump.h"
#include "llvm/emit/ircallcost.h"
#include "llvm/emit/ircopy.h"
#include "llvm/emit/iredges.h"
#include "llvm/emit/irframe.h"
#include "llvm/emit/irhooks.h"
#include "llvm/emit/irmap.h"
#include "llvm/emit/irpath.h"
#include "llvm/emit/irquery.h"
#include "llvm/emit/irvalues.h"
#include "llvm/p3copy.h"
#include "llvm/planning.h"
#include "llvm/read/identity.h"
#include "llvm/read/irbody.h"
#include "llvm/read/ircalls.h"
#include "llvm/read/ircontent.h"
#include "llvm/read/ircost.h"
#include "llvm/sense/survey.h"
#include "llvm/shim.h"
#include "llvm/use/irweights.h"
#include "llvm/use/use.h"
#include "llvm/work.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which functions ---- */

/* Marks are attributes, which LLVM copies to the parts of a function that it splits. */
static const char done_mark[] = "footpath";        /* do not do it twice */
static const char later_mark[] = "footpath-later"; /* at the late point, with --fp-at=early too */

static bool has_mark(LLVMValueRef function, const char *mark)
{
    return LLVMGetStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                         mark, (unsigned)strlen(mark)) != NULL;
}

static void set_mark(LLVMValueRef function, const char *mark)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    LLVMAddAttributeAtIndex(
        function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(context, mark, (unsigned)strlen(mark), "1", 1));
}

/* Not compiled here at all, so not to be mentioned. Where clang's own profiles count, functions of
 * which only copies in others are compiled are counted, too. */
static bool is_absent(const struct fp_work *work, LLVMValueRef function)
{
    return LLVMIsDeclaration(function) ||
           (LLVMGetLinkage(function) == LLVMAvailableExternallyLinkage &&
            work->flags.early != FP_POINT_PGO) ||
           has_mark(function, done_mark);
}

/* A coroutine is not counted early. From where it is about to be suspended, its frame may belong
 * to another thread or be gone, and a path's register would lie in there. The late point sees its
 * parts, which are functions. They are not inlined, since the early counters of others do not see
 * them. */
static bool put_off(LLVMValueRef function)
{
    if (!fp_ir_is_whole_coroutine(function)) return false;
    set_mark(function, later_mark);
    if (!fp_ir_has_attribute(function, "alwaysinline")) fp_ir_add_attribute(function, "noinline");
    return true;
}

static const char *reason_to_skip(LLVMValueRef function)
{
    if (fp_ir_has_attribute(function, "naked")) return "naked function";
    if (fp_ir_has_attribute(function, "noprofile")) return "marked no_profile_instrument_function";
    return NULL;
}

static void skip_function(const struct fp_job *job, const char *reason)
{
    struct fp_function *f = job->f;
    uint64_t of_module = fp_ir_is_local(job->ir->function) ? job->work->module_hash : 0;
    f->flags = FP_FUNCTION_SKIPPED;
    f->skipped = reason;
    if (fp_filter_dumps(&job->work->filter, f)) fp_job_dump(job);
    f->id = fp_hash64(fp_hash_string(f->name) ^ of_module);
    fp_ir_emit_map(job->work->module, f);
}

/* A function that the division does not have stays as it is, but for the calls that end
 * the process: the profile must be written before. */
static void leave_alone(const struct fp_job *job)
{
    struct fp_function f = {.name = job->f->name,
                            .file = job->f->file,
                            .line = job->f->line,
                            .id = job->f->id,
                            .flags = FP_FUNCTION_SKIPPED | FP_FUNCTION_UNDIVIDED,
                            .skipped = "not in the plan"};
    if (!job->work->flags.early) fp_ir_emit_live_mark(job->ir);
    fp_ir_emit_hooks(job->ir->function, job->work->flags.exits);
    fp_ir_emit_map(job->work->module, &f);
}

/* ---- the steps of one function ---- */

static uint32_t mode_flags(enum fp_mode mode)
{
    switch (mode) {
    case FP_MODE_NONE: break;
    case FP_MODE_PATH: return FP_FUNCTION_PATHS;
    case FP_MODE_EDGE: return FP_FUNCTION_EDGES;
    case FP_MODE_EDGE_MIN: return FP_FUNCTION_EDGES | FP_FUNCTION_CHORDS;
    case FP_MODE_CHECK: return FP_FUNCTION_PATHS | FP_FUNCTION_EDGES;
    case FP_MODE_PEP: return FP_FUNCTION_PATHS | FP_FUNCTION_SAMPLED;
    }
    return 0;
}

static bool wants_values(const struct fp_work *work)
{
    const struct fp_flags *flags = &work->flags;
    bool mode = flags->mode == FP_MODE_PATH || flags->mode == FP_MODE_EDGE ||
                flags->mode == FP_MODE_EDGE_MIN || flags->mode == FP_MODE_PEP;
    return flags->values && flags->early && mode && !flags->cycles && !work->division;
}

/* Costs are instructions, of all blocks that run: neither cycles nor samples. */
static bool wants_call_costs(const struct fp_work *work)
{
    const struct fp_flags *flags = &work->flags;
    return flags->calls == FP_CALLS_INCLUSIVE && flags->mode != FP_MODE_PEP && !flags->cycles &&
           !work->division;
}

/* Code that is not ours calls the first body of a callback, so a second body would hardly be
 * executed. Where a callback calls functions of ours, samples by a flag would keep those from being
 * seen: a burst does not come into their second bodies from a function that has none. */
static enum fp_pep way_to_sample(const struct fp_job *job)
{
    enum fp_pep pep = job->work->flags.pep;
    LLVMValueRef function = job->ir->function;
    return pep == FP_PEP_BODY && fp_ir_is_callback(function) && fp_ir_calls_none_of_ours(function)
               ? FP_PEP_FLAG
               : pep;
}

/* Samples know targets alone, and none where they are taken by a flag. */
static bool has_values(const struct fp_job *job)
{
    uint32_t ntargets, nsizes;
    fp_ir_count_values(job->ir->function, &ntargets, &nsizes);
    if (!(job->f->flags & FP_FUNCTION_SAMPLED)) return ntargets || nsizes;
    return ntargets && job->pep != FP_PEP_FLAG;
}

/* What is compiled into the function. */
static void set_flags(struct fp_job *job)
{
    const struct fp_flags *flags = &job->work->flags;
    LLVMValueRef function = job->ir->function;
    struct fp_function *f = job->f;
    f->flags = mode_flags(flags->mode);
    job->pep = way_to_sample(job);
    if (flags->early) f->flags |= FP_FUNCTION_EARLY;
    if (flags->early && flags->inline_small) f->flags |= FP_FUNCTION_INLINED;
    if (flags->cycles && f->flags & FP_FUNCTION_PATHS) f->flags |= FP_FUNCTION_CYCLES;
    if (flags->cycles == FP_METRIC_CYCLES && f->flags & FP_FUNCTION_CYCLES)
        f->flags |= FP_FUNCTION_OWN_CYCLES;
    if (flags->exits) f->flags |= FP_FUNCTION_EXITS;
    if (fp_ir_has_one_body(function)) f->flags |= FP_FUNCTION_ONE_BODY;
    if (flags->callees) fp_ir_list_callees(job->arena, function, f);
    fp_ir_list_calls(job->ir);
    if (flags->early) fp_ir_mark_content(job->ir);
    if (job->work->machine_costs) f->flags |= FP_FUNCTION_MACHINE;
    if (wants_call_costs(job->work)) f->flags |= FP_FUNCTION_CALL_COSTS;
    if (f->source.nunseen) f->flags |= FP_FUNCTION_UNSEEN;
    /* of what is only compiled as a part of others: counting values keeps it from being inlined */
    bool only_inlined = LLVMGetLinkage(function) == LLVMAvailableExternallyLinkage;
    if (!wants_values(job->work) || only_inlined || !has_values(job)) return;
    f->flags |= FP_FUNCTION_VALUES;
    fp_ir_list_sites(job->ir);
}

/* Weights of the edges: LLVM's estimates, ours, or those of an earlier run, which the
 * code generator is told as well, to keep what is added off the hot ways. */
static void weigh(struct fp_job *job)
{
    struct fp_work *work = job->work;
    struct fp_guide_function counts;
    job->base = fp_ir_base_id(job->ir, work->module_hash);
    if (!work->flags.static_weights) fp_ir_estimate(job->ir);
    job->measured = fp_ir_guide_find(&work->guide, job->ir, job->base, &counts);
    if (!job->measured) return;
    double total = (double)work->guide.guide.summary.total;
    job->share = total > 0 ? (double)counts.entries / total : 0;
    fp_ir_guide_weights(job->ir, &counts);
    if (!work->flags.early) fp_ir_set_branch_weights(job->ir, &counts);
}

static void set_id(const struct fp_job *job)
{
    struct fp_function *f = job->f;
    f->id = fp_function_id(job->base, f->flags, f->layout.path_slots, f->layout.edge_slots);
    /* objects that share counters must agree how long a sparse array is, and on a gate */
    f->id += f->layout.sparse_slots + f->layout.direct_slots + f->layout.gated;
    /* with --fp-query counters mean what they count (graph/recover.c), without they need not */
    if (job->work->flags.query) f->id = fp_hash64(f->id);
}

/* The code, in an order that each piece of emit/ asks for. */
static void edit(const struct fp_job *job)
{
    const struct fp_work *work = job->work;
    const struct fp_function *f = job->f;
    struct fp_ir *ir = job->ir;
    struct fp_editor ed;
    uint32_t turn;
    bool optnone = !work->optimizing || fp_ir_has_attribute(ir->function, "optnone");
    /* each thread in counters of its own */
    bool sampled = f->flags & FP_FUNCTION_SAMPLED, costs = f->flags & FP_FUNCTION_CALL_COSTS;
    bool turns = fp_p3_takes_turns(job, &turn);
    bool exits = f->flags & FP_FUNCTION_EXITS, slot = exits && fp_ir_needs_slot(f);
    fp_value_calls calls = {0};
    if (f->flags & FP_FUNCTION_VALUES) fp_ir_find_values(job->arena, ir->function, &calls);
    fp_editor_init(&ed, ir, sampled || costs ? FP_THREADS_LOCAL : work->flags.threads, optnone);
    ed.inlined_later = work->flags.early;
    ed.optimized_later = work->flags.early || work->optimized_later;
    if (work->flags.early && !exits && !optnone) fp_edit_tell_apart(&ed);
    if (turns) fp_ir_emit_turns(&ed, work->division->ncopies, turn);
    if (!work->flags.early) fp_ir_emit_live_mark(ir);
    if (exits) fp_ir_emit_marks(&ed, slot);
    if (costs) fp_ir_emit_call_costs(&ed);
    if (f->flags & FP_FUNCTION_EDGES) fp_ir_emit_edges(&ed);
    if (f->flags & FP_FUNCTION_COPY && !turns) fp_ir_emit_calls(&ed);
    if (slot) fp_ir_emit_slot(&ed, job->plan);
    if (job->plan && f->flags & FP_FUNCTION_HITS) fp_ir_emit_hits(&ed, job->plan);
    if (job->plan) fp_ir_emit_paths(&ed, job->plan, sampled ? &job->pep : NULL);
    if (f->flags & FP_FUNCTION_VALUES && sampled)
        fp_ir_note_values(&ed, &calls);
    else if (f->flags & FP_FUNCTION_VALUES)
        fp_ir_emit_values(&ed, &calls);
    fp_editor_finish(&ed);
}

/* What clang's own profile would have of the function (--fp-at=pgo). */
static void note_llvm_counters(struct fp_job *job)
{
    struct fp_shim_counters found;
    struct fp_llvm_counters *llvm = &job->f->llvm;
    if (job->work->flags.early != FP_POINT_PGO || !fp_shim_llvm_counters(job->ir->function, &found))
        return;
    job->f->flags |= FP_FUNCTION_LLVM;
    llvm->name = fp_arena_strdup(job->arena, found.name);
    llvm->hash = found.hash;
    fp_ir_count_values(job->ir->function, &llvm->ntargets, &llvm->nsizes);
    llvm->ncounters = found.ncounters;
    llvm->blocks = FP_NEW_ARRAY(job->arena, uint32_t, found.ncounters);
    for (uint32_t i = 0; i < found.ncounters; i++) {
        uint64_t *block = fp_table_find(&job->ir->first_of, (uint64_t)(uintptr_t)found.blocks[i]);
        llvm->blocks[i] = found.blocks[i] && block ? (uint32_t)*block : FP_NONE;
    }
}

/* ---- the list for one function ---- */

static void instrument(struct fp_job *job)
{
    const struct fp_work *work = job->work;
    set_flags(job);
    note_llvm_counters(job);
    weigh(job);
    fp_job_truncate(job);
    fp_job_number(job);
    fp_job_choose_edges(job);
    if (job->f->flags & FP_FUNCTION_CALL_COSTS) fp_layout_add_calls(job->f);
    set_id(job);
    if (!work->division)
        fp_job_plan(job);
    else if (!fp_p3_plan(job)) {
        leave_alone(job);
        return;
    }
    if (work->flags.hits && !work->division) fp_p3_add_hits(job);
    fp_job_note_exits(job);
    if (fp_filter_dumps(&work->filter, job->f)) fp_job_dump(job);
    edit(job);
    fp_job_forget_copies(job);
    fp_ir_emit_hooks(job->ir->function, work->flags.exits);
    fp_ir_emit_map(work->module, job->f);
    if (work->flags.query && !work->division) fp_ir_note_query(job->ir->function, job->f);
}

static void do_function(struct fp_work *work, LLVMValueRef function)
{
    struct fp_arena arena = {0};
    struct fp_function f = {0};
    struct fp_ir ir;
    struct fp_job job = {.work = work, .arena = &arena, .ir = &ir, .f = &f};
    struct fp_ir_options how = {.faults = work->flags.exits,
                                .survey = fp_survey_of(work->module),
                                .unseen = work->optimizing};
    const char *reason = reason_to_skip(function);
    const char *problem = fp_ir_read(&arena, function, &f, &how, &ir);
    if (!problem && work->machine_costs) fp_machine_costs_apply(work->machine_costs, &ir);
    if (!reason) reason = problem;
    if (!reason) reason = fp_filter_reason(&work->filter, &f);
    if (reason)
        skip_function(&job, reason);
    else
        instrument(&job);
    set_mark(function, done_mark);
    work->any = true;
    fp_arena_free(&arena);
}

/* ---- the steps of a module ---- */

bool fp_say_error(const struct fp_error *error, const char *what_to_do)
{
    char message[512];
    fp_error_text(error, message, sizeof message);
    fprintf(stderr, "footpath: %s; %s\n", message, what_to_do);
    return false;
}

static bool read_flags(struct fp_work *work)
{
    struct fp_flags *flags = &work->flags;
    struct fp_error error = {0};
    if (!fp_flags_read(&work->arena, getenv(FP_PLUGIN_VARIABLE), flags, &error))
        return fp_say_error(&error, "use footpath-cc of the same version as the plugin");
    if (!fp_filter_read(&work->arena, flags, &work->filter, &error))
        return fp_say_error(&error, "lists must be readable wherever the compiler runs");
    /* a check build verifies itself however the program ends */
    if (flags->mode == FP_MODE_CHECK) flags->exits = true;
    /* a sample is of a path that ended; what it took is not measured */
    if (flags->mode == FP_MODE_PEP) flags->exits = false, flags->cycles = FP_METRIC_COUNT;
    if (!work->optimizing) flags->inline_small = false;
    return true;
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

/* The functions of this point; some may be put off. */
static void do_functions(struct fp_work *work)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(work->module); f; f = LLVMGetNextFunction(f)) {
        if (is_absent(work, f) || has_mark(f, later_mark) != work->later) continue;
        if (work->flags.early && put_off(f))
            work->some_later = true;
        else
            do_function(work, f);
    }
}

/* Of optimised code: before inlining nothing can be said of the machine's. */
static void find_costs(struct fp_work *work)
{
    if (!work->flags.machine_costs || work->flags.early) return;
    struct fp_machine_costs *costs = FP_NEW(&work->arena, struct fp_machine_costs);
    if (fp_machine_costs_make(&work->arena, work->module, work->optimizing, costs))
        work->machine_costs = costs;
}

static void instrument_module(struct fp_work *work)
{
    size_t len;
    if (!is_supported(work->module) || !fp_p3_read_division(work)) return;
    find_costs(work);
    /* what a copy of P3 does not count has the code of a plain compilation */
    if (work->optimizing && !work->division) fp_shim_lay_out_loops_by_cost();
    if (work->flags.guide) fp_ir_guide_open(&work->guide, &work->arena, work->flags.guide);
    work->module_hash = fp_ir_hash_module(work->module, work->flags.base);
    do_functions(work);
    if (work->any) fp_ir_emit_module(work->module);
    if (work->flags.strip_lines && !work->some_later) LLVMStripModuleDebugInfo(work->module);
    fp_ir_guide_report(&work->guide, LLVMGetSourceFileName(work->module, &len));
    fp_ir_guide_close(&work->guide);
}

static bool has_later(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (has_mark(f, later_mark)) return true;
    return false;
}

/* With -flto=thin LLVM 22 splits coroutines when it links, which is too late to count their
 * parts. */
static void split_coroutines(LLVMModuleRef module)
{
    LLVMValueRef f = LLVMGetFirstFunction(module);
    while (f && (LLVMIsDeclaration(f) || !fp_ir_is_whole_coroutine(f))) f = LLVMGetNextFunction(f);
    if (f) fp_shim_split_coroutines(module);
}

/* What happens to the module before its functions are counted. */
static void prepare_module(struct fp_work *work, enum fp_point point)
{
    switch (point) {
    case FP_POINT_LATE: split_coroutines(work->module); break;
    case FP_POINT_EARLY:
        if (work->flags.inline_small) fp_shim_inline_small(work->module);
        break;
    case FP_POINT_PGO: fp_shim_count_as_llvm(work->module); break;
    }
}

/* Applies the profile before counting: it adds and removes blocks, and counters belong to
 * the final ones. */
static bool run_passes(struct fp_work *work, enum fp_point point)
{
    struct fp_flags *flags = &work->flags;
    work->later = flags->early && point == FP_POINT_LATE && has_later(work->module);
    if (work->later) flags->early = FP_POINT_LATE;
    bool counts = flags->mode != FP_MODE_NONE && flags->early == point, changed = counts;
    if (counts) prepare_module(work, point);
    if (point == FP_POINT_EARLY && flags->use) changed |= fp_llvm_use(work->module, flags);
    if (counts) instrument_module(work);
    if (point == FP_POINT_LATE && flags->query) changed |= fp_ir_emit_queries(work->module);
    if (counts && !work->some_later) fp_survey_end();
    if (counts && point == FP_POINT_PGO) fp_shim_counters_end();
    if (point == FP_POINT_EARLY && flags->strip_lines && flags->mode == FP_MODE_NONE)
        LLVMStripModuleDebugInfo(work->module);
    return changed;
}

/* ---- the list for a module ---- */

/* Does the linker optimise the module again? clang notes for it how modules are split. */
static bool is_for_lto(LLVMModuleRef module)
{
    static const char note[] = "EnableSplitLTOUnit";
    return LLVMGetModuleFlag(module, note, strlen(note)) != NULL;
}

bool fp_llvm_run(LLVMModuleRef module, enum fp_point point, bool optimizing, bool alone)
{
    struct fp_work work = {
        .module = module, .optimizing = optimizing, .optimized_later = alone || is_for_lto(module)};
    bool verified = is_to_be_verified(module);
    bool changed = read_flags(&work) && run_passes(&work, point);
    fp_arena_free(&work.arena);
    if (verified) LLVMVerifyModule(module, LLVMAbortProcessAction, NULL);
    return changed;
}

bool fp_llvm_counts_as_llvm(void)
{
    struct fp_work work = {0};
    bool does = fp_flags_read(&work.arena, getenv(FP_PLUGIN_VARIABLE), &work.flags,
                              &(struct fp_error){0}) &&
                work.flags.mode != FP_MODE_NONE && work.flags.early == FP_POINT_PGO;
    fp_arena_free(&work.arena);
    return does;
}
