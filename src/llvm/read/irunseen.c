/* Lines that may have run unseen: see irunseen.h.
 *
 * A body is a function, or one that was inlined at a place; its survey is a graph. Every
 * instruction is a trace of a block of its body's survey, and by the call that it was inlined by,
 * of a block of the body around that. One body after the other is followed through the cfg: the
 * last trace before and the first one behind each edge, or the next one in the same block, are
 * the ends of a stretch. What the survey has between the ends may have run there.
 */
#include "llvm/read/irunseen.h"

#include "graph/dominators.h"
#include "llvm/read/irneeded.h"
#include "llvm/shim.h"

#include <llvm-c/DebugInfo.h>

enum { MOST_ENDS = 8, DEEPEST_CALLS = 3 };
enum { MOST_WORK = 1 << 25, WORK_OF_LINE = 8 }; /* some seconds would be too long */
enum { MOST_TO_VANISH = 32 };                   /* blocks of a function of which nothing is left */
enum { OUTSIDE = 0xfffffffd }; /* instead of a block: not in the body yet, or no longer */

struct inlined_body {
    const void *subprogram, *inlined_at;
    const struct fp_surveyed *survey; /* NULL: nothing is known of the function */
    uint32_t parent;                  /* FP_NONE: the function itself */
    uint32_t call;                    /* the block of the parent's survey that calls it */
    FP_VEC(uint32_t) blocks;          /* of the cfg: with traces of it */
};

/* An instruction: a block of the survey of its innermost body, or FP_NONE, and its line there. */
struct code_trace {
    uint32_t body, block, line;
};

/* The last trace on a way, and where that way leads in the survey if the branch says so. */
struct trace_end {
    uint32_t block, next;
};

struct trace_ends {
    struct trace_end at[MOST_ENDS];
    uint32_t n;
    uint32_t body; /* that these are of: 1 + number */
};

struct unseen {
    struct fp_ir *ir;
    struct fp_ir_lines *lines;
    struct fp_survey *survey;
    const struct fp_ir_way *ways;
    struct fp_arena scratch;
    FP_VEC(struct inlined_body) bodies;
    struct fp_table by_place; /* subprogram or place of inlining -> 1 + body */
    struct fp_table calls;    /* hash of body, block and callee: that call is still seen */
    struct fp_table callers;  /* body, block: some call is, so it cannot run unseen */
    uint32_t body;            /* that is followed */
    FP_VEC(struct code_trace) traces;
    uint32_t *first_trace;                     /* per block of the cfg, and one more */
    struct trace_ends *arriving;               /* per block of the cfg without traces of the body */
    FP_VEC(uint32_t) passed;                   /* these blocks */
    uint32_t *forward, *backward, round, size; /* marks of the search, per block of a survey */
    uint32_t *index;                           /* in `found`; likewise */
    FP_VEC(uint32_t) queue, found;
    bool reached;             /* the other end of the stretch */
    uint32_t ends[2];         /* of the stretch: blocks of the survey, or OUTSIDE */
    struct fp_table known;    /* hash of place, scope and line */
    struct fp_table vanished; /* hash of place and function */
    FP_VEC(struct fp_unseen) all;
    uint64_t work;     /* done so far */
    uint32_t own_file; /* scope of the file that is compiled, or FP_NONE */
};

/* ---- bodies and traces ---- */

static uint32_t add_body(struct unseen *u, const struct fp_shim_place *at)
{
    const void *key = at->inlined_at ? at->inlined_at : at->subprogram;
    uint64_t *known = fp_table_find(&u->by_place, (uintptr_t)key);
    if (known) return (uint32_t)*known - 1;
    struct inlined_body body = {.subprogram = at->subprogram,
                                .inlined_at = at->inlined_at,
                                .survey = fp_survey_find(u->survey, at->subprogram),
                                .parent = FP_NONE,
                                .call = FP_NONE};
    struct fp_shim_place outer;
    if (at->inlined_at && fp_shim_outer_place(at->inlined_at, &outer)) {
        body.parent = add_body(u, &outer);
        const struct fp_surveyed *around = u->bodies.at[body.parent].survey;
        if (around) body.call = fp_surveyed_block(around, outer.line, outer.column, FP_OF_ANY);
    }
    fp_vec_push(&u->scratch, &u->bodies, body);
    *fp_table_add(&u->by_place, (uintptr_t)key) = u->bodies.len;
    return (uint32_t)u->bodies.len - 1;
}

static uint64_t key_of_call(uint32_t body, uint32_t block, const void *callee)
{
    return fp_hash64((uint64_t)body << 32 | block) ^ fp_hash64((uintptr_t)callee);
}

/* Notes what is called there, or was until it was inlined. */
static void note_calls(struct unseen *u, LLVMValueRef inst, struct code_trace trace)
{
    if (LLVMIsACallInst(inst) || LLVMIsAInvokeInst(inst)) {
        LLVMValueRef callee = LLVMGetCalledValue(inst);
        bool known = callee && LLVMIsAFunction(callee);
        if (known)
            *fp_table_add(&u->calls,
                          key_of_call(trace.body, trace.block, LLVMGetSubprogram(callee))) = 1;
        if (trace.block != FP_NONE && !LLVMIsAInlineAsm(callee) &&
            !(known && LLVMGetIntrinsicID(callee)))
            *fp_table_add(&u->callers, (uint64_t)trace.body << 32 | trace.block) = 1;
    }
    const struct inlined_body *body = &u->bodies.at[trace.body];
    for (; body->parent != FP_NONE; body = &u->bodies.at[body->parent])
        *fp_table_add(&u->calls, key_of_call(body->parent, body->call, body->subprogram)) = 1;
}

static void add_trace(struct unseen *u, uint32_t block, struct code_trace trace)
{
    fp_vec_push(&u->scratch, &u->traces, trace);
    for (uint32_t b = trace.body; b != FP_NONE; b = u->bodies.at[b].parent) {
        struct inlined_body *body = &u->bodies.at[b];
        if (!body->blocks.len || body->blocks.at[body->blocks.len - 1] != block)
            fp_vec_push(&u->scratch, &body->blocks, block);
    }
}

static void read_traces(struct unseen *u, uint32_t block)
{
    const struct fp_ir_block *at = &u->ir->blocks[block];
    LLVMMetadataRef last = NULL;
    if (!at->bb || !at->begin) return;
    for (LLVMValueRef inst = at->begin; inst; inst = LLVMGetNextInstruction(inst)) {
        LLVMMetadataRef here = LLVMInstructionGetDebugLoc(inst);
        bool calls = LLVMIsACallInst(inst) || LLVMIsAInvokeInst(inst);
        struct fp_shim_place place;
        if (here && (here != last || calls) && fp_shim_place(inst, &place) && place.line) {
            struct code_trace trace = {.body = add_body(u, &place), .line = place.line};
            const struct fp_surveyed *f = u->bodies.at[trace.body].survey;
            trace.block = f ? fp_surveyed_block(f, place.line, place.column, FP_OF_ANY) : FP_NONE;
            note_calls(u, inst, trace);
            if (here != last) add_trace(u, block, trace);
            last = here;
        }
        if (inst == at->call) break;
    }
}

/* What a trace is for a body: a block of its survey, OUTSIDE, or FP_NONE where it says nothing. */
static uint32_t trace_in(const struct unseen *u, uint32_t body, struct code_trace trace)
{
    const struct inlined_body *wanted = &u->bodies.at[body];
    uint32_t block = trace.block;
    for (uint32_t b = trace.body; b != FP_NONE; b = u->bodies.at[b].parent) {
        if (b == body) return block;
        /* beside the call: before it, or behind it */
        if (b == wanted->parent && block == wanted->call) return FP_NONE;
        block = u->bodies.at[b].call;
    }
    return OUTSIDE;
}

/* ---- what lies between two blocks of a survey ---- */

static void mark(struct unseen *u, uint32_t block, uint32_t stop)
{
    if (block == stop) u->reached = true;
    if (block == stop || u->forward[block] == u->round) return;
    if (fp_table_find(&u->callers, (uint64_t)u->body << 32 | block)) return;
    u->forward[block] = u->round;
    fp_vec_push(&u->scratch, &u->queue, block);
}

static void mark_ways(struct unseen *u, const struct fp_surveyed *f, uint32_t block, uint32_t stop)
{
    const struct fp_surveyed_block *b = &f->blocks[block];
    if (!b->nways) u->reached |= stop == OUTSIDE;
    for (uint32_t w = 0; w < b->nways; w++) mark(u, f->ways[b->first_way + w].block, stop);
}

/* Blocks that can be reached from the first end before the other one, and before `stop`. */
static void search_forward(struct unseen *u, const struct fp_surveyed *f, struct trace_end from,
                           uint32_t to, uint32_t stop)
{
    u->queue.len = 0;
    u->reached = false;
    u->round++;
    if (from.block == OUTSIDE)
        mark(u, 0, to);
    else if (from.next != FP_NONE)
        mark(u, from.next, to);
    else
        mark_ways(u, f, from.block, to);
    for (size_t i = 0; i < u->queue.len; i++, u->work++)
        if (u->queue.at[i] != stop) mark_ways(u, f, u->queue.at[i], to);
}

/* Of those, the ones from which the other end can be reached. The survey has no ways back, so
 * this goes over them until nothing is added. */
static void search_backward(struct unseen *u, const struct fp_surveyed *f, uint32_t to,
                            uint32_t stop)
{
    bool more = true;
    u->found.len = 0;
    while (more) {
        more = false;
        for (size_t i = u->queue.len; i-- > 0; u->work++) {
            uint32_t block = u->queue.at[i];
            const struct fp_surveyed_block *b = &f->blocks[block];
            if (block == stop || u->backward[block] == u->round) continue;
            bool leads = to == OUTSIDE && !b->nways;
            for (uint32_t w = 0; w < b->nways && !leads; w++) {
                uint32_t next = f->ways[b->first_way + w].block;
                leads =
                    next == to || (u->forward[next] == u->round && u->backward[next] == u->round);
            }
            if (!leads) continue;
            u->backward[block] = u->round;
            fp_vec_push(&u->scratch, &u->found, block);
            more = true;
        }
    }
}

/* ---- of these, the ones on a way that passes no block twice ---- */

/* The blocks that were found as a graph; the two ends are the last vertices. */
struct between {
    uint32_t n;
    uint32_t *first, *to; /* ways on, and back from the other end */
    uint32_t *first_back, *back;
    struct fp_arena arena;
};

static uint32_t vertex_of(const struct unseen *u, uint32_t block, uint32_t to)
{
    if (block == to) return (uint32_t)u->found.len + 1;
    return u->backward[block] == u->round ? u->index[block] : FP_NONE;
}

/* The vertices that follow one; gives how many. */
static uint32_t list_next(const struct unseen *u, const struct fp_surveyed *f,
                          struct trace_end from, uint32_t to, uint32_t vertex, uint32_t *next)
{
    uint32_t n = 0, nfound = (uint32_t)u->found.len;
    uint32_t block = vertex < nfound ? u->found.at[vertex] : from.block;
    if (vertex == nfound && (block == OUTSIDE || from.next != FP_NONE)) {
        next[0] = vertex_of(u, block == OUTSIDE ? 0 : from.next, to);
        return next[0] != FP_NONE;
    }
    const struct fp_surveyed_block *b = &f->blocks[block];
    if (!b->nways && to == OUTSIDE) next[n++] = nfound + 1;
    for (uint32_t w = 0; w < b->nways; w++) {
        next[n] = vertex_of(u, f->ways[b->first_way + w].block, to);
        n += next[n] != FP_NONE;
    }
    return n;
}

static void make_between(const struct unseen *u, const struct fp_surveyed *f, struct trace_end from,
                         uint32_t to, struct between *s)
{
    size_t most = 2;
    s->n = (uint32_t)u->found.len + 2;
    for (size_t i = 0; i < u->found.len; i++) most += 1 + f->blocks[u->found.at[i]].nways;
    if (from.block != OUTSIDE) most += f->blocks[from.block].nways;
    s->first = FP_NEW_ARRAY(&s->arena, uint32_t, (size_t)s->n + 1);
    s->first_back = FP_NEW_ARRAY(&s->arena, uint32_t, (size_t)s->n + 2);
    s->to = FP_NEW_ARRAY(&s->arena, uint32_t, most);
    s->back = FP_NEW_ARRAY(&s->arena, uint32_t, most);
    for (uint32_t v = 0; v < s->n; v++) {
        uint32_t added = v + 1 < s->n ? list_next(u, f, from, to, v, &s->to[s->first[v]]) : 0;
        s->first[v + 1] = s->first[v] + added;
    }
    for (uint32_t i = 0; i < s->first[s->n]; i++) s->first_back[s->to[i] + 2]++;
    for (uint32_t v = 0; v < s->n; v++) s->first_back[v + 2] += s->first_back[v + 1];
    for (uint32_t v = 0; v < s->n; v++)
        for (uint32_t i = s->first[v]; i < s->first[v + 1]; i++)
            s->back[s->first_back[s->to[i] + 1]++] = v;
}

/* Must some block be passed both before and behind this one? */
static bool is_passed_twice(const uint32_t *before, const uint32_t *behind, uint32_t vertex,
                            uint32_t *seen)
{
    for (uint32_t v = vertex; before[v] != v && before[v] != FP_NONE;)
        seen[v = before[v]] = vertex + 1;
    for (uint32_t v = vertex; behind[v] != v && behind[v] != FP_NONE;)
        if (seen[v = behind[v]] == vertex + 1) return true;
    return false;
}

static void keep_simple(struct unseen *u, const struct fp_surveyed *f, struct trace_end from,
                        uint32_t to)
{
    struct between s = {0};
    size_t kept = 0;
    for (uint32_t i = 0; i < u->found.len; i++) u->index[u->found.at[i]] = i;
    make_between(u, f, from, to, &s);
    const uint32_t *before =
        fp_dominators(&s.arena, &(struct fp_digraph){s.n, s.first, s.to}, s.n - 2);
    const uint32_t *behind =
        fp_dominators(&s.arena, &(struct fp_digraph){s.n, s.first_back, s.back}, s.n - 1);
    uint32_t *seen = FP_NEW_ARRAY(&s.arena, uint32_t, s.n);
    for (uint32_t v = 0; v < s.n - 2; v++)
        if (!is_passed_twice(before, behind, v, seen)) u->found.at[kept++] = u->found.at[v];
    u->found.len = kept;
    fp_arena_free(&s.arena);
}

static bool leads_straight(const struct fp_surveyed *f, struct trace_end from, uint32_t to)
{
    if (from.block == OUTSIDE) return to == 0 || to == OUTSIDE;
    if (from.next != FP_NONE) return from.next == to;
    const struct fp_surveyed_block *b = &f->blocks[from.block];
    for (uint32_t w = 0; w < b->nways; w++)
        if (f->ways[b->first_way + w].block != to) return false;
    return b->nways || to == OUTSIDE;
}

static void make_room(struct unseen *u, uint32_t nblocks)
{
    if (nblocks <= u->size) return;
    u->size = nblocks;
    u->forward = FP_NEW_ARRAY(&u->scratch, uint32_t, nblocks);
    u->backward = FP_NEW_ARRAY(&u->scratch, uint32_t, nblocks);
    u->index = FP_NEW_ARRAY(&u->scratch, uint32_t, nblocks);
}

/* ---- noting ---- */

static void note_line(struct unseen *u, uint32_t place, const void *subprogram, uint32_t line)
{
    bool is_own = !fp_survey_find(u->survey, subprogram)->shared;
    if (is_own && !fp_survey_keeps(u->survey, line)) return;
    uint64_t key = fp_hash64((uint64_t)place << 32 | line) ^ fp_hash64((uintptr_t)subprogram);
    uint64_t *known = fp_table_add(&u->known, key);
    if (*known) return;
    *known = 1;
    u->work += WORK_OF_LINE;
    uint32_t scope = fp_ir_lines_file_scope(u->lines, subprogram);
    if (is_own) u->own_file = scope;
    fp_vec_push(&u->scratch, &u->all, (struct fp_unseen){place, scope, line, 1});
}

static void note_block(struct unseen *u, uint32_t place, const void *subprogram, uint32_t block,
                       int depth);

/* A whole function that was called there, with what it called. */
static void note_callee(struct unseen *u, uint32_t place, const void *subprogram, int depth)
{
    const struct fp_surveyed *f = fp_survey_find(u->survey, subprogram);
    if (!f || depth > DEEPEST_CALLS || f->nblocks > MOST_TO_VANISH) return;
    uint64_t *known =
        fp_table_add(&u->vanished, fp_hash64((uintptr_t)subprogram) ^ fp_hash64(place));
    if (*known) return;
    *known = 1;
    for (uint32_t b = 0; b < f->nblocks; b++) note_block(u, place, subprogram, b, depth);
}

/* Does the line belong to an end of the stretch? Then it ran there. */
static bool is_of_end(const struct unseen *u, const struct fp_surveyed *f, uint32_t line)
{
    for (int i = 0; i < 2; i++) {
        const struct fp_surveyed_block *b = u->ends[i] < OUTSIDE ? &f->blocks[u->ends[i]] : NULL;
        for (uint32_t k = 0; b && k < b->nlines; k++)
            if (f->lines[b->first_line + k] == line) return true;
    }
    return false;
}

static void note_block(struct unseen *u, uint32_t place, const void *subprogram, uint32_t block,
                       int depth)
{
    const struct fp_surveyed *f = fp_survey_find(u->survey, subprogram);
    const struct fp_surveyed_block *b = &f->blocks[block];
    for (uint32_t i = b->first_line; i < b->first_line + b->nlines; i++)
        if (depth || !is_of_end(u, f, f->lines[i])) note_line(u, place, subprogram, f->lines[i]);
    for (uint32_t i = 0; i < b->ncallees; i++)
        note_callee(u, place, f->callees[b->first_callee + i], depth + 1);
}

/* What a block of the survey called, and what is neither called nor inlined any more. */
static void note_vanished(struct unseen *u, uint32_t place, uint32_t body, uint32_t block)
{
    const struct fp_surveyed *f = u->bodies.at[body].survey;
    const struct fp_surveyed_block *b = &f->blocks[block];
    for (uint32_t i = 0; i < b->ncallees; i++) {
        const void *callee = f->callees[b->first_callee + i];
        if (!fp_table_find(&u->calls, key_of_call(body, block, callee)))
            note_callee(u, place, callee, 1);
    }
}

static void note_between(struct unseen *u, uint32_t place, uint32_t body, struct trace_end from,
                         uint32_t to)
{
    if (u->work > MOST_WORK) return;
    const struct inlined_body *at = &u->bodies.at[body];
    const void *subprogram = at->subprogram;
    if (from.block == OUTSIDE && to == OUTSIDE) return;
    if (leads_straight(at->survey, from, to)) return;
    /* round a loop, past the first end again, only where no other way leads to the other one */
    uint32_t stop = from.block;
    search_forward(u, at->survey, from, to, stop);
    if (!u->reached) search_forward(u, at->survey, from, to, stop = FP_NONE);
    search_backward(u, at->survey, to, stop);
    if (stop != FP_NONE && u->found.len) keep_simple(u, at->survey, from, to);
    u->ends[0] = from.block, u->ends[1] = to;
    for (size_t i = 0; i < u->found.len; i++) note_block(u, place, subprogram, u->found.at[i], 0);
}

/* ---- one body ---- */

/* The first or last trace of a block of the cfg that says something of a body; else FP_NONE. */
static uint32_t first_in(const struct unseen *u, uint32_t body, uint32_t block)
{
    for (uint32_t i = u->first_trace[block]; i < u->first_trace[block + 1]; i++) {
        uint32_t found = trace_in(u, body, u->traces.at[i]);
        if (found != FP_NONE) return found;
    }
    return FP_NONE;
}

static uint32_t last_in(const struct unseen *u, uint32_t body, uint32_t block)
{
    for (uint32_t i = u->first_trace[block + 1]; i-- > u->first_trace[block];) {
        uint32_t found = trace_in(u, body, u->traces.at[i]);
        if (found != FP_NONE) return found;
    }
    return FP_NONE;
}

static bool add_end(struct trace_ends *ends, struct trace_end end)
{
    for (uint32_t i = 0; i < ends->n; i++)
        if (ends->at[i].block == end.block && ends->at[i].next == end.next) return false;
    if (ends->n == MOST_ENDS) return false;
    ends->at[ends->n++] = end;
    return true;
}

/* The ends that lead over an edge of the cfg. */
static struct trace_ends ends_of(const struct unseen *u, uint32_t body, uint32_t edge)
{
    struct trace_ends found = {.n = 1, .at = {{OUTSIDE, FP_NONE}}};
    const struct inlined_body *at = &u->bodies.at[body];
    const struct fp_ir_way *way = &u->ways[edge];
    uint32_t src = u->ir->f->paths.cfg->edges[edge].src;
    uint32_t last = last_in(u, body, src);
    /* a trace of another block behind its condition is nearer than the branch */
    if (way->branch.f && way->branch.subprogram == at->subprogram &&
        way->branch.inlined_at == at->inlined_at &&
        (last == FP_NONE || last == way->branch.block || last == way->branch.condition)) {
        uint32_t block = way->to == FP_NONE ? way->branch.block : way->branch.condition;
        found.at[0] = (struct trace_end){block, way->to};
    } else if (last != FP_NONE) {
        found.at[0].block = last;
    } else if (u->arriving[src].body == body + 1) {
        return u->arriving[src];
    }
    return found;
}

/* Ends go on through blocks of the cfg that say nothing. */
static void spread(struct unseen *u, uint32_t body)
{
    const struct fp_cfg *cfg = u->ir->f->paths.cfg;
    FP_VEC(uint32_t) work = {0};
    u->passed.len = 0;
    for (size_t i = 0; i < u->bodies.at[body].blocks.len; i++)
        fp_vec_push(&u->scratch, &work, u->bodies.at[body].blocks.at[i]);
    while (work.len) {
        uint32_t b = fp_vec_pop(&work);
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++) {
            uint32_t dst = cfg->edges[e].dst;
            if (first_in(u, body, dst) != FP_NONE) continue;
            struct trace_ends over = ends_of(u, body, e);
            bool fresh = u->arriving[dst].body != body + 1, more = fresh;
            if (fresh) u->arriving[dst] = (struct trace_ends){.body = body + 1};
            if (fresh) fp_vec_push(&u->scratch, &u->passed, dst);
            for (uint32_t k = 0; k < over.n; k++) more |= add_end(&u->arriving[dst], over.at[k]);
            if (more) fp_vec_push(&u->scratch, &work, dst);
        }
    }
}

/* Inside one block of the cfg: traces that come back to a block of the survey were moved. */
static void note_inside(struct unseen *u, uint32_t body, uint32_t block)
{
    struct fp_table seen;
    struct trace_end last = {FP_NONE, FP_NONE};
    fp_table_init(&seen, &u->scratch);
    for (uint32_t i = u->first_trace[block]; i < u->first_trace[block + 1]; i++) {
        uint32_t at = trace_in(u, body, u->traces.at[i]);
        if (at == FP_NONE || at == last.block) continue;
        uint64_t *before = at == OUTSIDE ? NULL : fp_table_add(&seen, at);
        if (last.block != FP_NONE && !(before && *before)) note_between(u, block, body, last, at);
        if (before) *before = 1;
        if (before && u->bodies.at[body].survey->blocks[at].ncallees)
            note_vanished(u, block, body, at);
        last.block = at;
    }
}

/* Over the edges into a block, and where the function is left. */
static void note_arrivals(struct unseen *u, uint32_t body, uint32_t block)
{
    const struct fp_cfg *cfg = u->ir->f->paths.cfg;
    uint32_t first = first_in(u, body, block), nblocks = cfg->nblocks;
    for (uint32_t k = cfg->first_in[block]; first != FP_NONE && k < cfg->first_in[block + 1]; k++) {
        uint32_t e = cfg->in_edges[k];
        struct trace_ends over = ends_of(u, body, e);
        for (uint32_t i = 0; i < over.n; i++) note_between(u, nblocks + e, body, over.at[i], first);
    }
    if (!block && first != FP_NONE)
        note_between(u, block, body, (struct trace_end){OUTSIDE, FP_NONE}, first);
    if (cfg->first_out[block + 1] != cfg->first_out[block]) return;
    struct trace_ends leaving = {.n = 1, .at = {{last_in(u, body, block), FP_NONE}}};
    if (leaving.at[0].block == FP_NONE) {
        leaving.n = 0;
        if (u->arriving[block].body == body + 1) leaving = u->arriving[block];
    }
    for (uint32_t i = 0; i < leaving.n; i++) note_between(u, block, body, leaving.at[i], OUTSIDE);
}

/* A block of the survey runs as a whole: where some of its code is, all its lines ran. */
static void note_lost(struct unseen *u, uint32_t body, uint32_t block)
{
    const struct inlined_body *at = &u->bodies.at[body];
    uint32_t last = FP_NONE;
    for (uint32_t i = u->first_trace[block]; i < u->first_trace[block + 1]; i++) {
        uint32_t surveyed = trace_in(u, body, u->traces.at[i]);
        if (surveyed >= OUTSIDE || surveyed == last) continue;
        const struct fp_surveyed_block *b = &at->survey->blocks[surveyed];
        last = surveyed;
        for (uint32_t k = 0; k < b->nlines; k++)
            note_line(u, block, at->subprogram, at->survey->lines[b->first_line + k]);
    }
}

static void add_with_next(const struct fp_cfg *cfg, uint32_t block, struct fp_table *blocks)
{
    *fp_table_add(blocks, block) = 1;
    for (uint32_t e = cfg->first_out[block]; e < cfg->first_out[block + 1]; e++)
        *fp_table_add(blocks, cfg->edges[e].dst) = 1;
}

static void follow_body(struct unseen *u, uint32_t body)
{
    const struct fp_cfg *cfg = u->ir->f->paths.cfg;
    struct fp_table near; /* blocks of the cfg where the body is, and the next ones */
    fp_table_init(&near, &u->scratch);
    u->body = body;
    make_room(u, u->bodies.at[body].survey->nblocks);
    spread(u, body);
    for (size_t i = 0; i < u->passed.len; i++) add_with_next(cfg, u->passed.at[i], &near);
    for (size_t i = 0; i < u->bodies.at[body].blocks.len; i++) {
        add_with_next(cfg, u->bodies.at[body].blocks.at[i], &near);
        note_inside(u, body, u->bodies.at[body].blocks.at[i]);
        note_lost(u, body, u->bodies.at[body].blocks.at[i]);
    }
    uint64_t block, value;
    for (size_t i = 0; fp_table_next(&near, &i, &block, &value);)
        note_arrivals(u, body, (uint32_t)block);
}

/* Where searching would take too long: all lines may have run wherever the function did. */
static void note_everything(struct unseen *u)
{
    u->all.len = 0;
    fp_table_init(&u->known, &u->scratch);
    fp_table_init(&u->vanished, &u->scratch);
    for (uint32_t i = 0; i < u->bodies.len; i++) {
        const struct fp_surveyed *f = u->bodies.at[i].survey;
        for (uint32_t b = 0; f && b < f->nblocks; b++)
            for (uint32_t k = 0; k < f->blocks[b].nlines; k++)
                note_line(u, 0, u->bodies.at[i].subprogram, f->lines[f->blocks[b].first_line + k]);
    }
}

void fp_ir_list_unseen(struct fp_ir *ir, struct fp_ir_lines *lines, struct fp_survey *survey,
                       const struct fp_ir_way *ways)
{
    struct unseen u = {
        .ir = ir, .lines = lines, .survey = survey, .ways = ways, .own_file = FP_NONE};
    uint32_t nblocks = ir->f->paths.cfg->nblocks;
    fp_table_init(&u.by_place, &u.scratch);
    fp_table_init(&u.calls, &u.scratch);
    fp_table_init(&u.callers, &u.scratch);
    fp_table_init(&u.known, &u.scratch);
    fp_table_init(&u.vanished, &u.scratch);
    u.first_trace = FP_NEW_ARRAY(&u.scratch, uint32_t, (size_t)nblocks + 1);
    u.arriving = FP_NEW_ARRAY(&u.scratch, struct trace_ends, nblocks);
    for (uint32_t b = 0; b < nblocks; b++) {
        u.first_trace[b] = (uint32_t)u.traces.len;
        read_traces(&u, b);
    }
    u.first_trace[nblocks] = (uint32_t)u.traces.len;
    for (uint32_t i = 0; i < u.bodies.len; i++)
        if (u.bodies.at[i].survey) follow_body(&u, i);
    if (u.work > MOST_WORK) note_everything(&u);
    fp_ir_keep_needed(ir, lines,
                      &(struct fp_unseen_lines){u.all.at, u.all.len, survey, u.own_file});
    fp_arena_free(&u.scratch);
}
