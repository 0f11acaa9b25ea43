/* Counts of gcc's arcs: see arcs.h. */
#include "gcov/arcs.h"

#include "base/checked.h"
#include "gcov/callflow.h"
#include "gcov/codeflow.h"
#include "gcov/codeweights.h"
#include "gcov/sourceorder.h"
#include "perf/infer.h"

#include <stdlib.h>

enum { DEPTH = 6 }; /* of inlined calls */

/* How far a block's weight is trusted: the size of perf/infer.h. */
static const double certain = 4, in_order = 2, by_shape = 0.5;
static const double of_inlined = 0.25; /* of that */

/* Which part of a function's counts its copies in the function at hand have, and by how many
 * places that ran they got in. */
struct inlined_part {
    double part;
    uint64_t places; /* 0: no calls lead there */
};

/* A block of gcc at a line that the profile has. */
struct line_block {
    const struct fp_counted_line *line;
    uint32_t block, position;
    bool branches;
};

struct arc_work {
    const struct fp_gcc_notes *notes;
    const struct fp_source_counts *source;
    const struct fp_gcc_function *function;
    const struct fp_counted_function *counted;
    const struct fp_cfg *cfg;
    struct fp_arena *scratch;
    const struct fp_code_weights *code; /* of optimised machine code; or NULL */
    const char *name;                   /* of the source */
    double own_share;                   /* of the function's executions: those not inlined */
    struct fp_strtable callees;         /* what calls lead to within DEPTH more calls */
    struct fp_strtable by_owner;        /* 1 + index in parts */
    FP_VEC(struct inlined_part) parts;
    uint32_t *pairs;          /* per block: that of the profile's function, or FP_NONE; or NULL */
    struct fp_table by_first; /* address of a line -> that of a copy of inlined code (no owner) */
    double *weights, *sizes;  /* per block; size 0: not known */
};

static const struct fp_counted_file *file_of(const struct arc_work *w, const char *name)
{
    const char *at = name;
    if (*name != '/' && *w->notes->folder)
        at = fp_arena_printf(w->scratch, "%s/%s", w->notes->folder, name);
    const struct fp_counted_file *file = fp_counted_file_find(w->source, at);
    return file ? file : fp_counted_file_find(w->source, name);
}

/* gcc's "f.part.0" is code of f that f calls. */
static bool is_part(const struct fp_gcc_function *f)
{
    return strchr(f->name, '.') != NULL;
}

static const char *source_name(struct fp_arena *arena, const struct fp_gcc_function *f)
{
    return is_part(f) ? fp_arena_strndup(arena, f->name, strcspn(f->name, ".")) : f->name;
}

/* Fake arcs are no branches of the source. */
static uint32_t ways_out(const struct arc_work *w, uint32_t block)
{
    uint32_t ways = 0;
    for (uint32_t e = w->cfg->first_out[block]; e < w->cfg->first_out[block + 1]; e++)
        ways += !(w->function->arcs.at[e].flags & FP_GCC_ARC_FAKE);
    return ways;
}

/* ---- shares of inlined functions ---- */

/* What is known of a caller and a depth, each once: ways through the calls may be many, since they
 * multiply with each step. */
struct below_work {
    const struct arc_work *arcs;
    const char *callee;
    struct fp_arena scratch;
    struct fp_table known; /* caller and depth -> 1 + index in found */
    FP_VEC(struct inlined_part) found;
};

/* Executions of the callee below `caller`, if all calls between were inlined, and by how many
 * places that ran. */
static struct inlined_part look_below(struct below_work *b,
                                      const struct fp_counted_function *caller, int depth)
{
    const struct fp_source_counts *source = b->arcs->source;
    uint64_t key = (uint64_t)(caller - source->functions.at) * (DEPTH + 1) + (uint64_t)depth;
    const uint64_t *known = fp_table_find(&b->known, key);
    if (known) return b->found.at[*known - 1];
    struct inlined_part sum = {0};
    for (size_t i = 0; i < caller->calls.len; i++) {
        const struct fp_counted_call *call = &caller->calls.at[i];
        if (!strcmp(call->callee, b->callee)) {
            sum.part += (double)call->count;
            sum.places = fp_add_saturated(sum.places, 1);
        } else if (depth) {
            const struct fp_counted_function *next =
                fp_counted_function_find(source, call->callee, NULL);
            if (!next || next == caller || !next->entries) continue;
            struct inlined_part below = look_below(b, next, depth - 1);
            sum.part += (double)call->count / (double)next->entries * below.part;
            sum.places = fp_add_saturated(sum.places, below.places);
        }
    }
    fp_vec_push(&b->scratch, &b->found, sum);
    *fp_table_add(&b->known, key) = b->found.len;
    return sum;
}

static struct inlined_part executions_below(const struct arc_work *w,
                                            const struct fp_counted_function *caller,
                                            const char *callee)
{
    struct below_work b = {.arcs = w, .callee = callee};
    fp_table_init(&b.known, &b.scratch);
    struct inlined_part sum = look_below(&b, caller, DEPTH);
    fp_arena_free(&b.scratch);
    return sum;
}

/* Breadth first: each callee is found by its shortest way. */
static void find_callees(struct arc_work *w)
{
    FP_VEC(const struct fp_counted_function *) queue = {0};
    size_t at = 0;
    fp_strtable_init(&w->callees, w->scratch);
    fp_vec_push(w->scratch, &queue, w->counted);
    for (int depth = DEPTH; depth >= 0; depth--)
        for (size_t end = queue.len; at < end; at++)
            for (size_t i = 0; i < queue.at[at]->calls.len; i++) {
                const char *callee = queue.at[at]->calls.at[i].callee;
                uint64_t *known = fp_strtable_add(&w->callees, callee);
                if ((*known)++) continue;
                const struct fp_counted_function *next =
                    fp_counted_function_find(w->source, callee, NULL);
                if (next && next->entries) fp_vec_push(w->scratch, &queue, next);
            }
}

static struct inlined_part part_of(struct arc_work *w, const char *callee)
{
    uint64_t *index = fp_strtable_add(&w->by_owner, callee);
    if (!*index) {
        const struct fp_counted_function *f = fp_counted_function_find(w->source, callee, NULL);
        struct inlined_part new = {0};
        bool below = fp_strtable_find(&w->callees, callee) != NULL;
        if (below && f && f->entries) {
            new = executions_below(w, w->counted, callee);
            new.part /= (double)f->entries;
        }
        fp_vec_push(w->scratch, &w->parts, new);
        *index = w->parts.len;
    }
    return w->parts.at[*index - 1];
}

static bool has_line_of(const struct arc_work *w, const struct fp_gcc_function *f,
                        const char *owner)
{
    for (size_t i = 0; i < f->lines.len; i++) {
        const struct fp_gcc_line *at = &f->lines.at[i];
        if (fp_counted_line_of(file_of(w, at->file), at->line, owner)) return true;
    }
    return false;
}

/* What is left of a function that gcc inlined into others of the same file as well. */
static double own_share(const struct arc_work *w)
{
    const struct fp_counted_function *f = w->counted;
    double inlined = 0;
    if (!f->entries) return 1;
    for (size_t i = 0; i < w->notes->functions.len; i++) {
        const struct fp_gcc_function *other = &w->notes->functions.at[i];
        const struct fp_counted_function *caller =
            fp_counted_function_find(w->source, other->name, file_of(w, other->file));
        if (other == w->function || !caller || is_part(other) || !has_line_of(w, other, f->name))
            continue;
        inlined += executions_below(w, caller, f->name).part;
    }
    double left = 1 - inlined / (double)f->entries;
    return left > 0 ? left : 0;
}

/* ---- what the blocks weigh ---- */

static int by_line(const void *a, const void *b)
{
    const struct line_block *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return (x->position > y->position) - (x->position < y->position);
}

/* A weight for a block. What belongs to the function itself says more than inlined code in the
 * same block; of several lines the one that ran least often limits it. */
static void weigh(struct arc_work *w, uint32_t block, const struct fp_counted_line *line,
                  uint64_t count, double trust)
{
    double weight = (line->owner ? w->own_share : 1) * (double)count;
    double size = line->owner ? trust : trust * of_inlined;
    if (w->sizes[block] > size) return;
    if (w->sizes[block] == size && w->weights[block] <= weight) return;
    w->weights[block] = weight;
    w->sizes[block] = size;
}

/* The blocks of gcc at a line are those of the profile, in the same order; or several copies. */
static void weigh_in_order(struct arc_work *w, const struct line_block *blocks, size_t n)
{
    const struct fp_counted_line *line = blocks->line;
    size_t m = line->blocks.len;
    double trust = n == 1 ? certain : in_order;
    for (size_t i = 0; i < n; i++)
        weigh(w, blocks[i].block, line, line->blocks.at[i % m].count, trust);
}

/* gcc has more blocks or fewer at the line. The longest sequence of blocks that both have, told
 * apart by whether they branch; the others get no weight. best[i * wide + j] is its length from
 * gcc's block i and the profile's block j on. */
static void weigh_common(struct arc_work *w, const struct line_block *blocks, size_t n)
{
    const struct fp_counted_line *line = blocks->line;
    size_t m = line->blocks.len, wide = m + 1;
    uint32_t *best = FP_NEW_ARRAY(w->scratch, uint32_t, (n + 1) * wide);
    for (size_t i = n; i-- > 0;)
        for (size_t j = m; j-- > 0;) {
            bool alike = blocks[i].branches == line->blocks.at[j].branches;
            uint32_t skip_mine = best[(i + 1) * wide + j], skip_other = best[i * wide + j + 1];
            uint32_t both = alike ? best[(i + 1) * wide + j + 1] + 1 : 0;
            best[i * wide + j] = skip_mine > skip_other ? skip_mine : skip_other;
            if (both > best[i * wide + j]) best[i * wide + j] = both;
        }
    for (size_t i = 0, j = 0; i < n && j < m;) {
        bool alike = blocks[i].branches == line->blocks.at[j].branches;
        if (alike && best[i * wide + j] == best[(i + 1) * wide + j + 1] + 1) {
            weigh(w, blocks[i].block, line, line->blocks.at[j].count, by_shape);
            i++, j++;
        } else if (best[i * wide + j] == best[(i + 1) * wide + j]) {
            i++;
        } else {
            j++;
        }
    }
}

/* gcc's block is that of the profile at this place in the order of the source. */
static void weigh_pairs(struct arc_work *w, const struct line_block *blocks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t pair = w->pairs[blocks[i].block];
        if (pair != FP_NONE)
            weigh(w, blocks[i].block, blocks[i].line, w->counted->block_counts[pair], by_shape);
    }
}

static void weigh_line(struct arc_work *w, const struct line_block *blocks, size_t n)
{
    enum { MOST = 256 }; /* blocks at a line that are compared: a table may have thousands */
    size_t m = blocks->line->blocks.len;
    if (n % m == 0 && (n == m || !blocks->line->owner))
        weigh_in_order(w, blocks, n);
    else if (w->pairs && blocks->line->owner)
        weigh_pairs(w, blocks, n);
    else if (n <= MOST && m <= MOST)
        weigh_common(w, blocks, n);
}

/* gcc has the way of a condition that holds in front. */
static uint32_t way_of(const void *cfg, uint32_t block, uint32_t i)
{
    return ((const struct fp_cfg *)cfg)->first_out[block] + i;
}

/* Adds one of the functions that may be inlined here; one with other blocks only if it ran more. */
static void add_part(struct arc_work *w, struct fp_counted_line *sum,
                     const struct fp_counted_line *line, double part)
{
    struct fp_counted_line one = {0};
    double before = 0, now = 0;
    for (size_t i = 0; i < line->blocks.len; i++) {
        struct fp_counted_block block = line->blocks.at[i];
        block.count = (uint64_t)(part * (double)block.count + 0.5);
        now += (double)block.count;
        fp_vec_push(w->scratch, &one.blocks, block);
    }
    for (size_t i = 0; i < sum->blocks.len; i++) before += (double)sum->blocks.at[i].count;
    bool alike = sum->blocks.len == one.blocks.len;
    for (size_t i = 0; alike && i < one.blocks.len; i++)
        sum->blocks.at[i].count = fp_add_saturated(sum->blocks.at[i].count, one.blocks.at[i].count);
    if (!alike && (!sum->blocks.len || now > before)) sum->blocks = one.blocks;
}

/* What was inlined here of a line, a copy of it on the average: of all functions that have the line
 * (the instances of a template) those that calls lead to. NULL: none. */
static const struct fp_counted_line *inlined_line(struct arc_work *w,
                                                  const struct fp_counted_file *file,
                                                  const struct fp_counted_line *first)
{
    uint64_t *known = fp_table_add(&w->by_first, (uint64_t)(uintptr_t)first);
    if (!*known) {
        struct fp_counted_line *new = FP_NEW(w->scratch, struct fp_counted_line);
        uint64_t places = 0;
        *known = (uint64_t)(uintptr_t)new;
        for (const struct fp_counted_line *l = first; l; l = fp_counted_line_next(file, l))
            places = fp_add_saturated(places, part_of(w, l->owner).places);
        for (const struct fp_counted_line *l = first; l; l = fp_counted_line_next(file, l))
            if (part_of(w, l->owner).places)
                add_part(w, new, l, part_of(w, l->owner).part / (double)places);
    }
    const struct fp_counted_line *found = (const struct fp_counted_line *)(uintptr_t)*known;
    return found->blocks.len ? found : NULL;
}

/* The function's own code, or else what was inlined; NULL: the profile does not know it. */
static const struct fp_counted_line *line_at(struct arc_work *w, const struct fp_gcc_line *at)
{
    const struct fp_counted_file *file = file_of(w, at->file);
    const struct fp_counted_line *own = fp_counted_line_of(file, at->line, w->name);
    const struct fp_counted_line *first = own ? own : fp_counted_line_find(file, at->line);
    return own || !first ? own : inlined_line(w, file, first);
}

/* Blocks of the function at the lines that the profile has, by line and order. */
static size_t find_lines(struct arc_work *w, struct line_block *found)
{
    size_t n = 0;
    const uint32_t *order = fp_source_order(w->scratch, w->cfg, way_of, w->cfg);
    for (size_t i = 0; i < w->function->lines.len; i++) {
        const struct fp_gcc_line *at = &w->function->lines.at[i];
        const struct fp_counted_line *line = line_at(w, at);
        if (!line || order[at->block] == FP_NONE) continue;
        found[n++] =
            (struct line_block){line, at->block, order[at->block], ways_out(w, at->block) > 1};
    }
    if (n) qsort(found, n, sizeof *found, by_line);
    return n;
}

static int by_position(const void *a, const void *b)
{
    const struct line_block *x = *(const struct line_block *const *)a,
                            *y = *(const struct line_block *const *)b;
    return (x->position > y->position) - (x->position < y->position);
}

/* The function's own blocks with the profile's, unless either has copies of its code. */
static void pair_blocks(struct arc_work *w, const struct line_block *found, size_t n)
{
    const struct line_block **own = FP_NEW_ARRAY(w->scratch, const struct line_block *, n);
    struct fp_lined_block *blocks = FP_NEW_ARRAY(w->scratch, struct fp_lined_block, n);
    uint32_t *lines = FP_NEW_ARRAY(w->scratch, uint32_t, n), *pairs, *numbers;
    size_t nown = 0, len = 0;
    for (size_t i = 0; i < n; i++)
        if (found[i].line->owner) own[nown++] = &found[i];
    if (!nown || !w->counted->blocks.len) return;
    qsort(own, nown, sizeof *own, by_position);
    numbers = FP_NEW_ARRAY(w->scratch, uint32_t, nown);
    for (size_t i = 0; i < nown; i++) {
        struct fp_lined_block *last = len ? &blocks[len - 1] : NULL;
        lines[i] = own[i]->line->line;
        if (last && numbers[len - 1] == own[i]->block) {
            last->nlines += last->nlines < FP_MOST_LINES;
            continue;
        }
        numbers[len] = own[i]->block;
        blocks[len++] = (struct fp_lined_block){&lines[i], 1, own[i]->branches};
    }
    pairs = FP_NEW_ARRAY(w->scratch, uint32_t, len);
    if (!fp_pair_blocks(w->scratch, blocks, len, w->counted->blocks.at, w->counted->blocks.len,
                        pairs))
        return;
    w->pairs = FP_NEW_ARRAY(w->scratch, uint32_t, w->function->nblocks);
    memset(w->pairs, 0xff, w->function->nblocks * sizeof *w->pairs);
    for (size_t i = 0; i < len; i++) w->pairs[numbers[i]] = pairs[i];
}

static void weigh_all(struct arc_work *w)
{
    struct line_block *found = FP_NEW_ARRAY(w->scratch, struct line_block, w->function->lines.len);
    w->own_share = own_share(w);
    find_callees(w);
    fp_strtable_init(&w->by_owner, w->scratch);
    fp_table_init(&w->by_first, w->scratch);
    size_t nfound = find_lines(w, found);
    pair_blocks(w, found, nfound);
    for (size_t i = 0, same; i < nfound; i += same) {
        for (same = 1; i + same < nfound && found[i + same].line == found[i].line;) same++;
        weigh_line(w, &found[i], same);
    }
}

/* ---- the flow ---- */

static const struct fp_cfg *graph_of(struct fp_arena *arena, const struct fp_gcc_function *f)
{
    struct fp_edge *edges = FP_NEW_ARRAY(arena, struct fp_edge, f->arcs.len);
    for (size_t i = 0; i < f->arcs.len; i++)
        edges[i] = (struct fp_edge){f->arcs.at[i].src, f->arcs.at[i].dst, FP_EDGE_NORMAL};
    return fp_cfg_new(arena, f->nblocks, edges, (uint32_t)f->arcs.len, NULL);
}

/* The arcs are ordered by their block, so those of the graph are in the same order. */
static bool is_ordered(const struct fp_gcc_function *f)
{
    for (size_t i = 1; i < f->arcs.len; i++)
        if (f->arcs.at[i].src < f->arcs.at[i - 1].src) return false;
    return true;
}

/* ---- what follows from the blocks that have weights ---- */

/* Which arcs have a count that follows: of a block that is known all arcs on a side but one. */
struct arc_following {
    const struct fp_cfg *cfg;
    bool *arcs, *blocks;
    uint32_t *queue; /* blocks to look at */
    size_t len;
    bool *queued;
};

static void look_at(struct arc_following *f, uint32_t block)
{
    if (f->queued[block]) return;
    f->queued[block] = true;
    f->queue[f->len++] = block;
}

/* The only arc of a side that is not known; FP_NONE: none or several. `left`: how many. */
static uint32_t last_unknown(const struct arc_following *f, uint32_t block, bool in, uint32_t *left)
{
    const uint32_t *first = in ? f->cfg->first_in : f->cfg->first_out;
    uint32_t found = FP_NONE;
    *left = 0;
    for (uint32_t i = first[block]; i < first[block + 1]; i++) {
        uint32_t e = in ? f->cfg->in_edges[i] : i;
        if (f->arcs[e]) continue;
        ++*left;
        found = e;
    }
    return *left == 1 ? found : FP_NONE;
}

static void follow(struct arc_following *f, uint32_t block)
{
    for (int in = 0; in < 2; in++) {
        uint32_t left, arc = last_unknown(f, block, in, &left);
        bool has_arcs = in ? fp_cfg_in_degree(f->cfg, block) : fp_cfg_out_degree(f->cfg, block);
        if (!left && has_arcs && !f->blocks[block]) {
            f->blocks[block] = true;
            look_at(f, block);
        }
        if (arc == FP_NONE || !f->blocks[block]) continue;
        f->arcs[arc] = true;
        look_at(f, block);
        look_at(f, f->cfg->edges[arc].src);
        look_at(f, f->cfg->edges[arc].dst);
    }
}

static bool *find_following(struct arc_work *w, const double *known)
{
    struct arc_following f = {.cfg = w->cfg};
    uint32_t nblocks = w->cfg->nblocks;
    f.arcs = FP_NEW_ARRAY(w->scratch, bool, w->cfg->nedges);
    f.blocks = FP_NEW_ARRAY(w->scratch, bool, nblocks);
    f.queue = FP_NEW_ARRAY(w->scratch, uint32_t, nblocks);
    f.queued = FP_NEW_ARRAY(w->scratch, bool, nblocks);
    for (uint32_t e = 0; e < w->cfg->nedges; e++) f.arcs[e] = known[e] >= 0;
    for (uint32_t b = 0; b < nblocks; b++) f.blocks[b] = w->sizes[b] > 0;
    for (uint32_t b = nblocks; b-- > 0;) look_at(&f, b);
    while (f.len) {
        uint32_t block = f.queue[--f.len];
        f.queued[block] = false;
        follow(&f, block);
    }
    return f.arcs;
}

/* Does the count of no way follow, so that nothing says how the branch divides? Counts of optimised
 * code are too rough to subtract them from each other: there only an arm's own weight says it. */
static bool is_open(const struct arc_work *w, uint32_t block, const bool *follows)
{
    uint32_t ways = 0, open = 0;
    for (uint32_t e = w->cfg->first_out[block]; e < w->cfg->first_out[block + 1]; e++) {
        uint32_t to = w->cfg->edges[e].dst;
        bool arm = fp_cfg_in_degree(w->cfg, to) == 1;
        if (w->function->arcs.at[e].flags & FP_GCC_ARC_FAKE) continue;
        if (w->code ? arm && w->sizes[to] > 0 : follows[e]) return false;
        ways++;
        open += arm || !w->code;
    }
    return ways > 1 && open;
}

/* As likely as gcc takes it to be; else the ways are alike. */
static double share_of_arc(const struct arc_work *w, size_t arc, uint32_t ways)
{
    double share = w->code && w->function->shares ? w->function->shares[arc] : -1;
    return share >= 0 ? share : 1.0 / ways;
}

/* What is known of arcs. A call that did not return is rare; one that never does has no other way
 * out. The target of a computed goto is a fake arc from the entry, the goto one to the exit. Where
 * nothing says how a branch divides, its ways are alike: `flow` has what it divides. */
static double *edge_weights(struct arc_work *w, const struct fp_edge_counts *flow)
{
    double *known = FP_NEW_ARRAY(w->scratch, double, w->function->arcs.len);
    for (size_t i = 0; i < w->function->arcs.len; i++) {
        const struct fp_gcc_arc *arc = &w->function->arcs.at[i];
        known[i] = -1;
        if (arc->flags & FP_GCC_ARC_FAKE)
            known[i] = arc->src && fp_cfg_out_degree(w->cfg, arc->src) > 1 ? 0 : -1;
        else if (!w->code && !arc->src && !is_part(w->function))
            known[i] = w->own_share * (double)w->counted->entries;
    }
    const bool *follows = flow && !w->code ? find_following(w, known) : NULL;
    for (size_t i = 0; flow && i < w->function->arcs.len; i++) {
        uint32_t src = w->function->arcs.at[i].src;
        if (known[i] < 0 && is_open(w, src, follows))
            known[i] = (double)flow->blocks[src] * share_of_arc(w, i, ways_out(w, src));
    }
    return known;
}

static void tell_alike(const struct arc_work *w, const struct fp_edge_counts *flow,
                       struct fp_gcc_counts *out)
{
    for (uint32_t b = 0; b < w->function->nblocks; b++) {
        if (w->sizes[b] <= 0) continue;
        uint64_t weight = (uint64_t)(w->weights[b] + 0.5);
        out->weighed = fp_add_saturated(out->weighed, weight);
        out->weighed_alike = fp_add_saturated(out->weighed_alike,
                                              flow->blocks[b] < weight ? flow->blocks[b] : weight);
    }
}

static void infer(struct arc_work *w, struct fp_arena *arena, struct fp_gcc_counts *out)
{
    struct fp_edge_counts flow = {0};
    struct fp_inference job = {.cfg = w->cfg,
                               .weights = w->weights,
                               .sizes = w->sizes,
                               .edge_weights = edge_weights(w, NULL),
                               .entries = -1,
                               .model = FP_COSTS_FOOTPATH};
    void (*solve)(struct fp_arena *, const struct fp_inference *, struct fp_edge_counts *) =
        w->code ? fp_code_flow : fp_infer;
    solve(w->scratch, &job, &flow);
    job.edge_weights = edge_weights(w, &flow);
    solve(w->scratch, &job, &flow);
    tell_alike(w, &flow, out);
    out->arcs = FP_NEW_ARRAY(arena, uint64_t, w->function->arcs.len);
    memcpy(out->arcs, flow.edges, w->function->arcs.len * sizeof *out->arcs);
}

/* Does the profile know the function? Then its blocks have weights. */
static bool weigh_function(struct arc_work *w)
{
    if (!w->function->nblocks || !is_ordered(w->function)) return false;
    w->cfg = graph_of(w->scratch, w->function);
    w->weights = FP_NEW_ARRAY(w->scratch, double, w->function->nblocks);
    w->sizes = FP_NEW_ARRAY(w->scratch, double, w->function->nblocks);
    if (w->code) {
        uint32_t number = (uint32_t)(w->function - w->notes->functions.at);
        return fp_code_weigh(w->code, number, w->cfg, w->weights, w->sizes);
    }
    w->name = source_name(w->scratch, w->function);
    w->counted = fp_counted_function_find(w->source, w->name, file_of(w, w->function->file));
    if (w->counted) weigh_all(w);
    return w->counted != NULL;
}

struct fp_gcc_counts *fp_gcc_counts_make(struct fp_arena *arena, const struct fp_gcc_notes *notes,
                                         const struct fp_source_counts *source,
                                         const struct fp_code_counts *code)
{
    struct fp_gcc_counts *all = FP_NEW_ARRAY(arena, struct fp_gcc_counts, notes->functions.len);
    const struct fp_code_weights *weights = code ? fp_code_weights_new(arena, notes, code) : NULL;
    for (size_t i = 0; i < notes->functions.len; i++) {
        struct fp_arena scratch = {0};
        struct arc_work w = {.notes = notes,
                             .source = source,
                             .function = &notes->functions.at[i],
                             .code = weights,
                             .scratch = &scratch};
        if (weigh_function(&w)) infer(&w, arena, &all[i]);
        fp_arena_free(&scratch);
    }
    if (code) fp_settle_calls(notes, code, all);
    return all;
}
