/* Path-guided duplication: see irsuper.h.
 *
 *       u                 u           An edge d = u -> v decides which way the branch at
 *     d/ \              d/ \          B goes: a profile of paths shows it, one of edges
 *     v   w             v   w         cannot. The blocks between, as far as paths that
 *      \ /              |   |         took d run through them, are copied for those
 *       M        =>     M'  M         paths (a superblock with side exits, if it is one
 *       |               |   |         chain). In each copy the branch nearly always goes
 *       B               B'  B         one way: it is predicted, and where the condition
 *      / \             /     \        follows from d, later passes remove it.
 *
 * Correlated branches (Young and Smith, Improving the Accuracy of Static Branch
 * Prediction Using Branch Correlation, 1994) with the paths of paper 001 as evidence.
 * A processor with some hundred branches of history sees the dependence itself: copies for
 * mispredictions alone are made only where that is asked for (predict; docs/use.md has
 * the figures). Copies that do without the branch save it on every processor.
 * Loop headers are not copied, and paths end at back edges, so what one round of a loop
 * tells about the next is not used. Growth is bounded per copy and per function.
 */
#include "llvm/use/irsuper.h"

#include "graph/loops.h"
#include "llvm/use/irdecide.h"
#include "llvm/use/irweights.h"
#include "llvm/shim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_COPIES = 12,   /* per function */
    MOST_REGION = 400,  /* instructions in one copy */
    MOST_GROWTH = 1200, /* instructions in all copies of a function */
    MOST_LOOKBACK = 64, /* branches between a decision and what depends on it */
    HISTORY = 6,        /* nearer branches are predicted by every machine itself */
    MISPREDICTION = 16, /* what one costs, in instructions */
    FOLDED = 2,         /* what a branch costs that a copy does without */
    LEAST_GAIN = 100,   /* a copy saves at least the 100th part of a function's instructions */
    MOST_FOLLOWED = 24, /* blocks along which values are followed */
};

/* A path as blocks, in the function as it is now. */
struct trace {
    uint64_t count;
    uint32_t nblocks;
    uint32_t *blocks;
};

struct node {
    LLVMBasicBlockRef bb;
    uint32_t size;
    bool fixed;     /* cannot be copied */
    uint64_t count; /* by the traces */
};

struct super {
    struct fp_arena *arena;
    LLVMValueRef function;
    const struct fp_ir_super *how;
    const char *name;
    FP_VEC(struct node) nodes;
    struct fp_table node_of; /* bb -> 1 + node */
    struct trace *traces;
    uint32_t ntraces;
    uint64_t work; /* instructions executed, by the traces */
    uint32_t growth;
};

/* A decision: the edge u -> v, and how far its copy goes. */
struct decision {
    uint32_t u, v;
    double saved;  /* mispredictions */
    double folded; /* executed branches that the copy does without */
    uint32_t last; /* the last branch that depends on it */
    uint32_t nbranches;
};

/* ---- reading ---- */

static uint32_t add_node(struct super *s, LLVMBasicBlockRef bb)
{
    uint64_t *index = fp_table_add(&s->node_of, (uintptr_t)bb);
    if (*index) return (uint32_t)*index - 1;
    struct node node = {.bb = bb, .fixed = !fp_shim_can_copy(bb)};
    for (LLVMValueRef i = LLVMGetFirstInstruction(bb); i; i = LLVMGetNextInstruction(i))
        node.size++;
    fp_vec_push(s->arena, &s->nodes, node);
    *fp_table_add(&s->node_of, (uintptr_t)bb) = s->nodes.len;
    return (uint32_t)s->nodes.len - 1;
}

/* The blocks of a path; a block that the cfg has in parts comes once. */
static void read_trace(struct super *s, const struct fp_ir *ir, const struct fp_guide_path *path,
                       struct trace *trace)
{
    const struct fp_cfg *cfg = ir->f->paths.cfg;
    trace->count = path->count;
    trace->blocks = FP_NEW_ARRAY(s->arena, uint32_t, (size_t)path->nedges + 2);
    uint32_t extra = path->end_edge != FP_NONE ? 1 : 0;
    for (uint32_t i = 0; i <= path->nedges + extra; i++) {
        uint32_t e = i > path->nedges ? path->end_edge : i ? path->edges[i - 1] : FP_NONE;
        LLVMBasicBlockRef bb = ir->blocks[e == FP_NONE ? path->first_block : cfg->edges[e].dst].bb;
        if (!bb) break; /* an indirect jump */
        uint32_t node = add_node(s, bb);
        if (trace->nblocks && trace->blocks[trace->nblocks - 1] == node && i <= path->nedges)
            continue;
        trace->blocks[trace->nblocks++] = node;
    }
}

/* A loop's header stays the only one. */
static void fix_headers(struct super *s, const struct fp_ir *ir)
{
    struct fp_loops loops;
    fp_loops_find(s->arena, ir->f->paths.cfg, &loops);
    for (uint32_t b = 0; b < ir->f->paths.cfg->nblocks; b++) {
        if (!ir->blocks[b].bb || (b && !fp_bitset_has(&loops.heads, b))) continue;
        uint32_t node = add_node(s, ir->blocks[b].bb); /* which may move the nodes */
        s->nodes.at[node].fixed = true;
    }
}

static void read_traces(struct super *s, const struct fp_ir *ir,
                        const struct fp_guide_function *counts)
{
    s->traces = FP_NEW_ARRAY(s->arena, struct trace, counts->npaths);
    for (uint32_t i = 0; i < counts->npaths; i++)
        read_trace(s, ir, &counts->paths[i], &s->traces[i]);
    s->ntraces = counts->npaths;
    for (uint32_t i = 0; i < s->ntraces; i++)
        for (uint32_t k = 0; k + 1 < s->traces[i].nblocks; k++)
            s->work += s->traces[i].count * s->nodes.at[s->traces[i].blocks[k]].size;
}

static bool branches(const struct super *s, uint32_t node)
{
    return LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(s->nodes.at[node].bb)) > 1;
}

/* ---- evidence ---- */

static uint64_t pair(uint32_t a, uint32_t b)
{
    return (uint64_t)a << 32 | b;
}

/* Counts keyed by up to three things. */
struct copy_tally {
    struct fp_table map;
};

static uint64_t key3(uint64_t a, uint64_t b)
{
    return fp_hash64(a * 0x9e3779b97f4a7c15u ^ fp_hash64(b));
}

/* A decision, and a branch some branches behind it. */
struct copy_candidate {
    uint32_t u, v, branch, distance;
    bool decides; /* by its values: the copy needs no branch */
};

struct evidence {
    struct copy_tally edge;  /* (block, next) -> count */
    struct copy_tally joint; /* (decision, (block, next)) -> count */
    struct copy_tally seen;  /* (decision, block) listed already */
    FP_VEC(struct copy_candidate) candidates;
};

static void add_to(struct copy_tally *tally, uint64_t key, uint64_t count)
{
    *fp_table_add(&tally->map, key) += count;
}

static uint64_t count_of(const struct copy_tally *tally, uint64_t key)
{
    uint64_t *count = fp_table_find(&tally->map, key);
    return count ? *count : 0;
}

static bool decides(struct super *s, const struct trace *t, uint32_t at, uint32_t branch)
{
    LLVMBasicBlockRef blocks[MOST_FOLLOWED];
    uint32_t n = branch - at + 1;
    if (n > MOST_FOLLOWED) return false;
    for (uint32_t i = 0; i < n; i++) blocks[i] = s->nodes.at[t->blocks[at + i]].bb;
    return fp_ir_decides(s->arena, blocks, n);
}

/* For every branch of a trace, every earlier one. Traces come with the most frequent
 * first: values are followed along the first that has both. */
static void gather_trace(struct super *s, struct evidence *e, const struct trace *t)
{
    uint32_t decisions[MOST_LOOKBACK], n = 0; /* positions of branches, as a ring */
    for (uint32_t i = 0; i + 1 < t->nblocks; i++) {
        uint32_t b = t->blocks[i], next = t->blocks[i + 1];
        if (!branches(s, b)) continue;
        add_to(&e->edge, pair(b, next), t->count);
        for (uint32_t k = n > MOST_LOOKBACK ? n - MOST_LOOKBACK : 0; k < n; k++) {
            uint32_t at = decisions[k % MOST_LOOKBACK];
            uint64_t d = pair(t->blocks[at], t->blocks[at + 1]);
            add_to(&e->joint, key3(d, pair(b, next)), t->count);
            uint64_t *seen = fp_table_add(&e->seen.map, key3(d, b));
            if (*seen) continue;
            *seen = 1;
            struct copy_candidate c = {t->blocks[at], t->blocks[at + 1], b, n - k,
                                       decides(s, t, at, i)};
            fp_vec_push(s->arena, &e->candidates, c);
        }
        decisions[n++ % MOST_LOOKBACK] = i;
    }
}

static void gather(struct super *s, struct evidence *e)
{
    struct copy_tally *all[] = {&e->edge, &e->joint, &e->seen};
    for (size_t i = 0; i < 3; i++) fp_table_init(&all[i]->map, s->arena);
    for (uint32_t i = 0; i < s->nodes.len; i++) s->nodes.at[i].count = 0;
    for (uint32_t i = 0; i < s->ntraces; i++) {
        gather_trace(s, e, &s->traces[i]);
        for (uint32_t k = 0; k + 1 < s->traces[i].nblocks; k++)
            s->nodes.at[s->traces[i].blocks[k]].count += s->traces[i].count;
    }
}

/* Does the branch follow from the decision once its block is copied: is its condition
 * the same value? */
static bool follows(const struct super *s, uint32_t u, uint32_t branch)
{
    LLVMValueRef a = LLVMGetBasicBlockTerminator(s->nodes.at[u].bb);
    LLVMValueRef b = LLVMGetBasicBlockTerminator(s->nodes.at[branch].bb);
    if (LLVMGetInstructionOpcode(a) != LLVMBr || LLVMGetInstructionOpcode(b) != LLVMBr)
        return false;
    return LLVMGetCondition(a) == LLVMGetCondition(b);
}

/* Mispredictions saved at a branch by knowing the decision; *with: how often it was
 * reached by it. */
static double saved_at(struct super *s, struct evidence *e, const struct copy_candidate *c,
                       uint64_t *with)
{
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(s->nodes.at[c->branch].bb);
    uint64_t d = pair(c->u, c->v);
    uint64_t most = 0, most_with = 0, most_without = 0;
    struct fp_table seen;
    fp_table_init(&seen, s->arena);
    *with = 0;
    for (unsigned i = 0; i < LLVMGetNumSuccessors(terminator); i++) {
        uint64_t *node = fp_table_find(&s->node_of, (uintptr_t)LLVMGetSuccessor(terminator, i));
        if (!node || *fp_table_add(&seen, *node)) continue;
        *fp_table_add(&seen, *node) = 1;
        uint64_t out = count_of(&e->edge, pair(c->branch, (uint32_t)*node - 1));
        uint64_t joint = count_of(&e->joint, key3(d, pair(c->branch, (uint32_t)*node - 1)));
        *with += joint;
        if (out > most) most = out;
        if (joint > most_with) most_with = joint;
        if (out - joint > most_without) most_without = out - joint;
    }
    return (double)(most_with + most_without) - (double)most;
}

static int by_decision(const void *a, const void *b)
{
    const struct copy_candidate *x = a, *y = b;
    uint64_t p = pair(x->u, x->v), q = pair(y->u, y->v);
    if (p != q) return p < q ? -1 : 1;
    return (x->distance > y->distance) - (x->distance < y->distance);
}

/* ---- the region ---- */

struct region {
    bool *in;        /* per node: is copied */
    bool *dominated; /* per node: only reached by the decision */
    uint32_t size;
    bool possible;
};

/* Is every way into the block from what the decision dominates? */
static bool only_from(const struct super *s, const struct region *r, uint32_t node,
                      const struct decision *d)
{
    LLVMValueRef value = LLVMBasicBlockAsValue(s->nodes.at[node].bb);
    uint32_t ways = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsATerminatorInst(user)) return false; /* its address is taken */
        uint64_t *from = fp_table_find(&s->node_of, (uintptr_t)LLVMGetInstructionParent(user));
        if (!from) return false;
        uint32_t u = (uint32_t)*from - 1;
        if (!(r->dominated[u] || (u == d->u && node == d->v))) return false;
        ways++;
    }
    return ways > 0;
}

/* The blocks of a trace from the decision to the branch. */
static void mark_trace(const struct trace *t, const struct decision *d, bool *on)
{
    uint32_t from = FP_NONE, to = FP_NONE;
    for (uint32_t k = 0; k + 1 < t->nblocks; k++) {
        if (t->blocks[k] == d->u && t->blocks[k + 1] == d->v) from = k + 1;
        if (from != FP_NONE && k >= from && t->blocks[k] == d->last) to = k;
    }
    if (from == FP_NONE || to == FP_NONE) return;
    for (uint32_t k = from; k <= to; k++) on[t->blocks[k]] = true;
}

/* What lies on the traces behind the decision, up to the last branch that it helps. */
static void find_region(struct super *s, const struct decision *d, struct region *r)
{
    size_t n = s->nodes.len;
    *r = (struct region){FP_NEW_ARRAY(s->arena, bool, n), FP_NEW_ARRAY(s->arena, bool, n), 0, true};
    for (uint32_t i = 0; i < s->ntraces; i++) mark_trace(&s->traces[i], d, r->in);
    /* what only the decision leads to is there for it alone already */
    for (bool more = true; more;) {
        more = false;
        for (uint32_t b = 0; b < n; b++) {
            if (!r->in[b] || r->dominated[b] || !only_from(s, r, b, d)) continue;
            more = r->dominated[b] = true;
        }
    }
    for (uint32_t b = 0; b < n; b++) {
        r->in[b] = r->in[b] && !r->dominated[b];
        if (!r->in[b]) continue;
        r->size += s->nodes.at[b].size;
        r->possible = r->possible && !s->nodes.at[b].fixed;
    }
}

/* ---- choosing ---- */

static double gain_of(const struct decision *d)
{
    return d->saved * MISPREDICTION + d->folded * FOLDED;
}

static bool is_worth_it(const struct super *s, const struct decision *d, const struct region *r)
{
    if (!r->possible || !r->size || r->size > MOST_REGION || s->growth + r->size > MOST_GROWTH)
        return false;
    if (s->how->eager) return true;
    return d->saved + d->folded >= (double)s->how->hot &&
           gain_of(d) >= (double)s->work / LEAST_GAIN;
}

/* What the decision does for one branch. */
static void weigh(struct super *s, struct evidence *e, const struct copy_candidate *c,
                  struct decision *d)
{
    uint64_t with;
    double saved = saved_at(s, e, c, &with);
    bool same = follows(s, c->u, c->branch), folds = same || c->decides;
    bool near = c->distance <= HISTORY && !s->how->eager;
    if (near && !same) saved = 0;
    if (saved < 0 || !(s->how->predict || s->how->eager)) saved = 0;
    if (s->how->eager && with) saved += 1;
    if (saved == 0 && !folds) return;
    d->saved += saved;
    d->folded += folds ? (double)with : 0;
    d->last = c->branch;
    d->nbranches++;
}

/* The decision that saves most, with the last branch where saving still goes on. */
static bool choose(struct super *s, struct evidence *e, struct decision *best,
                   struct region *region)
{
    bool found = false;
    *best = (struct decision){0};
    if (!e->candidates.len) return false;
    qsort(e->candidates.at, e->candidates.len, sizeof *e->candidates.at, by_decision);
    for (size_t i = 0; i < e->candidates.len;) {
        const struct copy_candidate *first = &e->candidates.at[i];
        struct decision d = {.u = first->u, .v = first->v};
        for (; i < e->candidates.len; i++) {
            const struct copy_candidate *c = &e->candidates.at[i];
            if (c->u != d.u || c->v != d.v) break;
            weigh(s, e, c, &d);
        }
        if (!d.nbranches || gain_of(&d) <= gain_of(best)) continue;
        struct region r;
        find_region(s, &d, &r);
        if (!is_worth_it(s, &d, &r)) continue;
        *best = d;
        *region = r;
        found = true;
    }
    return found;
}

/* ---- copying ---- */

static void reweigh(struct super *s, uint32_t node)
{
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(s->nodes.at[node].bb);
    unsigned n = LLVMGetNumSuccessors(terminator);
    if (n < 2) return;
    uint64_t *weights = FP_NEW_ARRAY(s->arena, uint64_t, n), most = 0;
    for (unsigned i = 0; i < n; i++) {
        uint64_t *to = fp_table_find(&s->node_of, (uintptr_t)LLVMGetSuccessor(terminator, i));
        bool again = false;
        for (unsigned k = 0; k < i; k++)
            again |= LLVMGetSuccessor(terminator, k) == LLVMGetSuccessor(terminator, i);
        if (!to || again) continue;
        for (uint32_t t = 0; t < s->ntraces; t++)
            for (uint32_t k = 0; k + 1 < s->traces[t].nblocks; k++)
                if (s->traces[t].blocks[k] == node && s->traces[t].blocks[k + 1] == *to - 1)
                    weights[i] += s->traces[t].count;
        if (weights[i] > most) most = weights[i];
    }
    if (most) fp_ir_set_weights(terminator, weights, n);
}

/* Traces that took the decision go through the copies now. */
static void reroute(struct super *s, const struct decision *d, const struct region *r,
                    const uint32_t *copy_of)
{
    for (uint32_t i = 0; i < s->ntraces; i++) {
        struct trace *t = &s->traces[i];
        bool inside = false, entered = false;
        for (uint32_t k = 1; k < t->nblocks; k++) {
            uint32_t b = t->blocks[k];
            if (t->blocks[k - 1] == d->u && b == d->v) inside = true;
            if (!inside) continue;
            if (copy_of[b] != FP_NONE) {
                t->blocks[k] = copy_of[b];
                entered = true;
            } else if (entered || !r->dominated[b]) {
                inside = false; /* left by a side exit, or at the end */
            }
        }
    }
}

/* A comment in the assembly and no code: without it the code generator finds the copy
 * and its original alike, and makes them one again. */
static void keep_apart(const struct super *s, LLVMBasicBlockRef bb)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(s->function));
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    static char text[] = "# footpath: copy", constraints[] = "";
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, 0);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, sizeof text - 1, constraints, 0, 1, 0,
                                         LLVMInlineAsmDialectATT, 0);
    LLVMPositionBuilderBefore(builder, LLVMGetBasicBlockTerminator(bb));
    LLVMValueRef call = LLVMBuildCall2(builder, type, code, NULL, 0, "");
    fp_shim_touches_nothing(call);
    LLVMDisposeBuilder(builder);
}

static void copy(struct super *s, const struct decision *d, const struct region *r)
{
    uint32_t n = (uint32_t)s->nodes.len, count = 0;
    LLVMBasicBlockRef *old = FP_NEW_ARRAY(s->arena, LLVMBasicBlockRef, n);
    LLVMBasicBlockRef *fresh = FP_NEW_ARRAY(s->arena, LLVMBasicBlockRef, n);
    LLVMBasicBlockRef *from = FP_NEW_ARRAY(s->arena, LLVMBasicBlockRef, n);
    uint32_t *copy_of = FP_NEW_ARRAY(s->arena, uint32_t, n), nfrom = 0;
    for (uint32_t b = 0; b < n; b++)
        if (r->in[b]) old[count++] = s->nodes.at[b].bb;
    for (uint32_t b = 0; b < n; b++)
        if (r->dominated[b]) from[nfrom++] = s->nodes.at[b].bb;
    bool direct = r->in[d->v];
    fp_shim_copy_blocks(old, fresh, count, from, nfrom, direct ? s->nodes.at[d->u].bb : NULL,
                        direct ? s->nodes.at[d->v].bb : NULL);
    for (uint32_t i = 0; d->saved > 0 && i < count; i++) keep_apart(s, fresh[i]);
    for (uint32_t b = 0, k = 0; b < n; b++)
        copy_of[b] = r->in[b] ? add_node(s, fresh[k++]) : FP_NONE;
    reroute(s, d, r, copy_of);
    for (uint32_t b = 0; b < n; b++)
        if (r->in[b]) {
            reweigh(s, b);
            reweigh(s, copy_of[b]);
        }
    s->growth += r->size;
}

static unsigned line_of(const struct super *s, uint32_t node)
{
    struct fp_shim_location at;
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(s->nodes.at[node].bb);
    return fp_shim_location(terminator, &at) ? at.line : 0;
}

static void explain(struct super *s, const struct decision *d, const struct region *r,
                    const char *what)
{
    char text[256];
    if (!s->how->remark) return;
    snprintf(
        text, sizeof text,
        "%s: %u instructions behind line %u, for one way of its branch; %u later branches, up to "
        "line %u, depend on it (%.0f mispredictions, %.0f branches of %llu instructions run)",
        what, r->size, line_of(s, d->u), d->nbranches, line_of(s, d->last), d->saved, d->folded,
        (unsigned long long)s->work);
    s->how->remark(s->how->context, s->name, text);
}

uint32_t fp_ir_duplicate(struct fp_ir *ir, const struct fp_guide_function *counts,
                         const struct fp_ir_super *how)
{
    struct fp_arena arena = {0};
    struct super s = {.arena = &arena, .function = ir->function, .how = how, .name = ir->f->name};
    uint32_t copies = 0;
    uint64_t total = 0;
    for (uint32_t i = 0; i < counts->npaths; i++) total += counts->paths[i].count;
    if (total < how->hot && !how->eager) return 0;
    fp_table_init(&s.node_of, &arena);
    read_traces(&s, ir, counts);
    fix_headers(&s, ir);
    while (copies < MOST_COPIES) {
        struct evidence e = {0};
        struct decision d;
        struct region r = {0};
        gather(&s, &e);
        if (!choose(&s, &e, &d, &r)) break;
        explain(&s, &d, &r, "copied");
        copy(&s, &d, &r);
        copies++;
    }
    fp_arena_free(&arena);
    return copies;
}
