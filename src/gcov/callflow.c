/* Calls and entries that agree: see callflow.h. */
#include "gcov/callflow.h"

#include "base/checked.h"
#include "graph/cfg.h"

#include <float.h>

struct settling {
    const struct fp_gcc_notes *notes;
    struct fp_gcc_counts *counts;
    struct fp_arena arena;
    struct fp_strtable names; /* 1 + number of the function */
    uint64_t *elsewhere;      /* per function: calls from other objects */
    bool *done;
};

static uint64_t entries_of(const struct settling *s, uint32_t function)
{
    const struct fp_gcc_function *f = &s->notes->functions.at[function];
    uint64_t sum = 0;
    for (size_t i = 0; s->counts[function].arcs && i < f->arcs.len; i++)
        if (!f->arcs.at[i].src && !(f->arcs.at[i].flags & FP_GCC_ARC_FAKE))
            sum = fp_add_saturated(sum, s->counts[function].arcs[i]);
    return sum;
}

static uint64_t block_count(const struct settling *s, uint32_t function, uint32_t block)
{
    const struct fp_gcc_function *f = &s->notes->functions.at[function];
    uint64_t sum = 0;
    for (size_t i = 0; i < f->arcs.len; i++)
        if (f->arcs.at[i].dst == block) sum = fp_add_saturated(sum, s->counts[function].arcs[i]);
    return sum;
}

static uint32_t function_named(const struct settling *s, const char *name)
{
    const uint64_t *index = fp_strtable_find(&s->names, name);
    return index ? (uint32_t)*index - 1 : FP_NONE;
}

/* ---- the cheapest way around through a block ---- */

struct around {
    const struct fp_gcc_function *f;
    const uint64_t *arcs;
    double amount, *cost; /* per block: of the way to it */
    size_t *via; /* per block: the arc that leads to it; the number of arcs: from the exit */
};

/* What doubles a count costs more than what hardly changes it. */
static double price(const struct around *a, uint64_t count)
{
    return a->amount / ((double)count + 1) + 1e-3;
}

/* Of an arc, or of coming in again (from the exit to the entry); SIZE_MAX: not to be used. */
static bool improve(struct around *a, uint32_t from, uint32_t to, double step, size_t via)
{
    if (a->cost[from] + step >= a->cost[to]) return false;
    a->cost[to] = a->cost[from] + step;
    a->via[to] = via;
    return true;
}

/* Costs of all blocks from `start` on. */
static void find_ways(struct around *a, uint32_t start)
{
    const struct fp_gcc_function *f = a->f;
    uint64_t entries = 0;
    for (uint32_t b = 0; b < f->nblocks; b++) a->cost[b] = DBL_MAX, a->via[b] = SIZE_MAX;
    for (size_t i = 0; i < f->arcs.len; i++)
        if (!f->arcs.at[i].src) entries = fp_add_saturated(entries, a->arcs[i]);
    a->cost[start] = 0;
    for (uint32_t round = 0; round < f->nblocks; round++) {
        bool better = false;
        for (size_t i = 0; i < f->arcs.len; i++) {
            const struct fp_gcc_arc *arc = &f->arcs.at[i];
            if ((arc->flags & FP_GCC_ARC_FAKE) || a->cost[arc->src] >= DBL_MAX) continue;
            better |= improve(a, arc->src, arc->dst, price(a, a->arcs[i]), i);
        }
        if (a->cost[1] < DBL_MAX) better |= improve(a, 1, 0, price(a, entries), f->arcs.len);
        if (!better) break;
    }
}

/* The arc into the block by which the way around is cheapest; SIZE_MAX: there is none. */
static size_t last_arc(const struct around *a, uint32_t block)
{
    size_t best = SIZE_MAX;
    double least = DBL_MAX;
    for (size_t i = 0; i < a->f->arcs.len; i++) {
        const struct fp_gcc_arc *arc = &a->f->arcs.at[i];
        if (arc->dst != block || (arc->flags & FP_GCC_ARC_FAKE) || a->cost[arc->src] >= DBL_MAX)
            continue;
        double cost = a->cost[arc->src] + price(a, a->arcs[i]);
        if (cost < least) least = cost, best = i;
    }
    return best;
}

static void raise_block(struct settling *s, uint32_t function, uint32_t block, uint64_t amount)
{
    struct fp_arena scratch = {0};
    const struct fp_gcc_function *f = &s->notes->functions.at[function];
    uint64_t *arcs = s->counts[function].arcs;
    struct around a = {.f = f, .arcs = arcs, .amount = (double)amount};
    a.cost = FP_NEW_ARRAY(&scratch, double, f->nblocks);
    a.via = FP_NEW_ARRAY(&scratch, size_t, f->nblocks);
    find_ways(&a, block);
    size_t last = last_arc(&a, block);
    if (last != SIZE_MAX) arcs[last] = fp_add_saturated(arcs[last], amount);
    for (uint32_t b = last == SIZE_MAX ? block : f->arcs.at[last].src; b != block;) {
        size_t via = a.via[b];
        if (via == f->arcs.len) {
            b = 1;
            continue;
        }
        arcs[via] = fp_add_saturated(arcs[via], amount);
        b = f->arcs.at[via].src;
    }
    fp_arena_free(&scratch);
}

/* ---- calls ---- */

/* How many times fewer the calls may be than the entries: gcc divides what it inlines by that. */
enum { TOLERATED = 4 };

struct site {
    uint32_t function, block;
    uint64_t count;
};

struct sites {
    FP_VEC(struct site) at;
    uint64_t sum;
};

/* All calls of a function in this object. */
static void find_sites(struct settling *s, uint32_t callee, struct sites *sites)
{
    for (uint32_t i = 0; i < s->notes->functions.len; i++) {
        const struct fp_gcc_function *f = &s->notes->functions.at[i];
        for (size_t k = 0; s->counts[i].arcs && i != callee && k < f->calls.len; k++) {
            if (function_named(s, f->calls.at[k].callee) != callee) continue;
            struct site one = {i, f->calls.at[k].block, block_count(s, i, f->calls.at[k].block)};
            fp_vec_push(&s->arena, &sites->at, one);
            sites->sum = fp_add_saturated(sites->sum, one.count);
        }
    }
}

/* What its callers lack is divided as their calls are; alike where none was seen. */
static void settle_callee(struct settling *s, uint32_t callee)
{
    struct sites sites = {0};
    uint64_t needed = entries_of(s, callee);
    find_sites(s, callee, &sites);
    needed = needed > s->elsewhere[callee] ? needed - s->elsewhere[callee] : needed != 0;
    if (!sites.at.len || sites.sum >= needed / TOLERATED + (needed > 0)) return;
    for (size_t i = 0; i < sites.at.len; i++) {
        const struct site *at = &sites.at.at[i];
        double share =
            sites.sum ? (double)at->count / (double)sites.sum : 1.0 / (double)sites.at.len;
        uint64_t amount = (uint64_t)((double)(needed - sites.sum) * share + 0.5);
        if (!amount && !sites.sum) amount = 1;
        if (amount) raise_block(s, at->function, at->block, amount);
    }
}

/* Callees come first: raising a call raises its function's entries. */
static void visit(struct settling *s, uint32_t function)
{
    const struct fp_gcc_function *f = &s->notes->functions.at[function];
    if (s->done[function]) return;
    s->done[function] = true;
    for (size_t k = 0; k < f->calls.len; k++) {
        uint32_t callee = function_named(s, f->calls.at[k].callee);
        if (callee != FP_NONE) visit(s, callee);
    }
    if (s->counts[function].arcs) settle_callee(s, function);
}

void fp_settle_calls(const struct fp_gcc_notes *notes, const struct fp_code_counts *code,
                     struct fp_gcc_counts *counts)
{
    struct settling s = {.notes = notes, .counts = counts};
    fp_strtable_init(&s.names, &s.arena);
    for (size_t i = 0; i < notes->functions.len; i++)
        *fp_strtable_add(&s.names, notes->functions.at[i].name) = i + 1;
    s.elsewhere = FP_NEW_ARRAY(&s.arena, uint64_t, notes->functions.len);
    s.done = FP_NEW_ARRAY(&s.arena, bool, notes->functions.len);
    for (size_t i = 0; i < code->calls.len; i++) {
        uint32_t callee = function_named(&s, code->calls.at[i].callee);
        if (callee != FP_NONE && function_named(&s, code->calls.at[i].caller) == FP_NONE)
            s.elsewhere[callee] = fp_add_saturated(s.elsewhere[callee], code->calls.at[i].count);
    }
    for (uint32_t i = 0; i < notes->functions.len; i++) visit(&s, i);
    fp_arena_free(&s.arena);
}
