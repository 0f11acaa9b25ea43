/* Weights of gcc's blocks by machine code: see codeweights.h. */
#include "gcov/codeweights.h"

#include "graph/loops.h"
#include "graph/order.h"

#include <float.h>
#include <stdlib.h>

/* How far a weight is trusted: the size of perf/infer.h. */
static const double alone = 1, in_order = 0.5, alike = 0.25;
static const double contradicting = 3, contradicted = 0.3; /* places of a block: this ratio */
static const double most_alike = 1.3;                      /* largest over smallest */

/* A block of gcc's that has a place. */
struct noted_block {
    uint32_t function, block;
};

struct noted_place {
    const struct fp_code_place *place;
    FP_VEC(struct noted_block) blocks; /* by function */
    uint32_t *owners;                  /* per use: the function of the notes, or FP_NONE */
};

struct fp_code_weights {
    struct fp_arena *arena;
    const struct fp_gcc_notes *notes;
    const struct fp_code_counts *counts;
    struct fp_strtable functions; /* name -> 1 + index in the notes */
    struct fp_table by_place;     /* address of the place -> 1 + index */
    FP_VEC(struct noted_place) all;
    struct numbers {
        FP_VEC(uint32_t) at;
    } *of_function; /* per function: the places it has */
};

/* ---- which function of the notes a use belongs to ---- */

static bool has(const struct noted_place *noted, uint32_t function)
{
    for (size_t i = 0; i < noted->blocks.len; i++)
        if (noted->blocks.at[i].function == function) return true;
    return false;
}

static uint32_t function_named(const struct fp_code_weights *all, const char *name)
{
    const uint64_t *index = fp_strtable_find(&all->functions, name);
    return index ? (uint32_t)*index - 1 : FP_NONE;
}

/* Code whose outermost function is of another source file is a copy of a header's function. */
static uint32_t owner_of(const struct fp_code_weights *all, const struct noted_place *noted,
                         uint32_t context)
{
    uint32_t owner = FP_NONE, root = FP_NONE;
    bool open = true;
    for (uint32_t c = context; c != FP_NONE; c = all->counts->contexts.at[c].parent) {
        root = function_named(all, all->counts->contexts.at[c].function);
        bool here = root != FP_NONE && has(noted, root);
        if (here && open) owner = root;
        if (!here && owner != FP_NONE) open = false;
    }
    return root == FP_NONE ? FP_NONE : owner;
}

static void find_owners(struct fp_code_weights *all)
{
    for (size_t i = 0; i < all->all.len; i++) {
        struct noted_place *noted = &all->all.at[i];
        noted->owners = FP_NEW_ARRAY(all->arena, uint32_t, noted->place->uses.len);
        for (size_t u = 0; u < noted->place->uses.len; u++)
            noted->owners[u] = owner_of(all, noted, noted->place->uses.at[u].context);
    }
}

/* ---- the places of the notes ---- */

static const struct fp_code_file *file_of(const struct fp_code_weights *all, const char *name)
{
    const char *folder = all->notes->folder;
    const struct fp_code_file *file = NULL;
    struct fp_arena scratch = {0};
    if (*name != '/' && *folder)
        file = fp_code_file_find(all->counts, fp_arena_printf(&scratch, "%s/%s", folder, name));
    if (!file) file = fp_code_file_find(all->counts, name);
    fp_arena_free(&scratch);
    return file;
}

static void note_place(struct fp_code_weights *all, const struct fp_code_place *place,
                       uint32_t function, uint32_t block)
{
    uint64_t *index = fp_table_add(&all->by_place, (uint64_t)(uintptr_t)place);
    if (!*index) {
        fp_vec_push(all->arena, &all->all, (struct noted_place){.place = place});
        *index = all->all.len;
    }
    struct noted_place *noted = &all->all.at[*index - 1];
    if (!has(noted, function))
        fp_vec_push(all->arena, &all->of_function[function].at, (uint32_t)*index - 1);
    for (size_t i = 0; i < noted->blocks.len; i++)
        if (noted->blocks.at[i].function == function && noted->blocks.at[i].block == block) return;
    fp_vec_push(all->arena, &noted->blocks, (struct noted_block){function, block});
}

static void note_function(struct fp_code_weights *all, uint32_t function)
{
    const struct fp_gcc_function *f = &all->notes->functions.at[function];
    const struct fp_code_file *file = NULL;
    const char *name = NULL;
    for (size_t i = 0; i < f->places.len; i++) {
        const struct fp_gcc_place *at = &f->places.at[i];
        if (at->file != name) file = file_of(all, name = at->file);
        const struct fp_code_place *place = fp_code_place_find(file, at->line, at->column);
        if (place) note_place(all, place, function, at->block);
    }
}

struct fp_code_weights *fp_code_weights_new(struct fp_arena *arena,
                                            const struct fp_gcc_notes *notes,
                                            const struct fp_code_counts *counts)
{
    struct fp_code_weights *all = FP_NEW(arena, struct fp_code_weights);
    all->arena = arena;
    all->notes = notes;
    all->counts = counts;
    all->of_function = FP_NEW_ARRAY(arena, struct numbers, notes->functions.len);
    fp_strtable_init(&all->functions, arena);
    fp_table_init(&all->by_place, arena);
    for (size_t i = 0; i < notes->functions.len; i++) {
        *fp_strtable_add(&all->functions, notes->functions.at[i].name) = i + 1;
        note_function(all, (uint32_t)i);
    }
    find_owners(all);
    return all;
}

/* ---- weights ---- */

struct weighing {
    const struct fp_code_weights *all;
    const struct fp_gcc_function *f;
    const struct fp_cfg *cfg;
    uint32_t function;
    struct fp_arena scratch;
    double *weights, *sizes;
    double *least;            /* per block: of its places that all copies have */
    size_t *copies;           /* per block: the most uses of a place that it alone has */
    struct fp_table **guards; /* per block, or NULL: the machine's blocks of the condition for it */
    FP_VEC(const struct fp_code_use *) uses; /* of the place at hand, by call */
    FP_VEC(uint32_t) blocks;                 /* that have it, ascending */
};

/* ---- code in front of its branch ---- */

/* The machine's blocks that have the condition of a block of gcc's. */
static struct fp_table *blocks_of_condition(struct weighing *w, uint32_t block)
{
    struct fp_table *found = NULL;
    for (size_t i = 0; i < w->f->places.len; i++) {
        const struct fp_gcc_place *at = &w->f->places.at[i];
        if (at->block != block || !at->decides) continue;
        const struct fp_code_place *place =
            fp_code_place_find(file_of(w->all, at->file), at->line, at->column);
        if (!found) fp_table_init(found = FP_NEW(&w->scratch, struct fp_table), &w->scratch);
        for (size_t u = 0; place && u < place->uses.len; u++)
            for (size_t k = 0; k < place->uses.at[u].blocks.len; k++)
                fp_table_add(found, place->uses.at[u].blocks.at[k]);
    }
    return found;
}

/* Arms of branches. The body of a loop is one, too, but may well be in one block with the loop's
 * condition. */
static void find_guards(struct weighing *w)
{
    struct fp_order order;
    struct fp_loops loops;
    fp_order_make(&w->scratch, w->cfg, &order);
    fp_loops_find(&w->scratch, w->cfg, &loops);
    w->guards = FP_NEW_ARRAY(&w->scratch, struct fp_table *, w->cfg->nblocks);
    for (uint32_t b = 0; b < w->cfg->nblocks; b++) {
        if (fp_cfg_in_degree(w->cfg, b) != 1) continue;
        uint32_t from = w->cfg->edges[w->cfg->in_edges[w->cfg->first_in[b]]].src;
        if (fp_cfg_out_degree(w->cfg, from) < 2 || fp_loops_contain(&loops, from, b)) continue;
        if (loops.depth[b] < loops.depth[from]) continue; /* behind a loop */
        w->guards[b] = blocks_of_condition(w, from);
    }
}

/* Is all of the code in blocks of the condition? Then it was moved there, or the branch became a
 * conditional move: it runs whether the arm does or not. */
static bool is_in_front(const struct weighing *w, uint32_t block, const struct fp_code_use *use)
{
    for (size_t k = 0; w->guards[block] && k < use->blocks.len; k++)
        if (!fp_table_find(w->guards[block], use->blocks.at[k])) return false;
    return w->guards[block] != NULL;
}

/* ---- places ---- */

/* Of several places of a block the one that ran most often counts: others were moved out of
 * loops, or are not in all copies. */
static void weigh(struct weighing *w, uint32_t block, double weight, double trust)
{
    if (w->sizes[block] > trust) return;
    if (w->sizes[block] < trust) w->weights[block] = weight, w->least[block] = DBL_MAX;
    if (w->weights[block] < weight) w->weights[block] = weight;
    bool whole = w->blocks.len > 1 || w->uses.len >= w->copies[block];
    if (w->least[block] > weight && whole) w->least[block] = weight;
    w->sizes[block] = trust;
}

/* Where one place never ran and another one did, that one has the code of other blocks, too, which
 * was merged with it: nothing is known. */
static void doubt_merged(struct weighing *w)
{
    for (uint32_t b = 0; b < w->cfg->nblocks; b++) {
        if (w->sizes[b] <= 0 || w->weights[b] <= contradicting * w->least[b]) continue;
        w->sizes[b] = w->least[b] > 0 ? w->sizes[b] * contradicted : 0;
    }
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int by_call(const void *a, const void *b)
{
    const struct fp_code_use *x = *(const struct fp_code_use *const *)a,
                             *y = *(const struct fp_code_use *const *)b;
    if (x->call_line != y->call_line) return x->call_line < y->call_line ? -1 : 1;
    return (x->scope > y->scope) - (x->scope < y->scope);
}

/* Several blocks share the place: they weigh something if the machine's blocks all ran alike. */
static void weigh_shared(struct weighing *w)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < w->uses.len; i++)
        for (size_t k = 0; k < w->uses.at[i]->blocks.len; k++) {
            uint64_t count = w->all->counts->blocks.at[w->uses.at[i]->blocks.at[k]];
            if (count < least) least = count;
            if (count > most) most = count;
        }
    if ((double)most > most_alike * (double)least) return;
    for (size_t i = 0; i < w->blocks.len; i++)
        weigh(w, w->blocks.at[i], ((double)least + (double)most) / 2, alike);
}

/* The blocks and uses of a place in this function. Gives how often it ran. */
static double collect(struct weighing *w, const struct noted_place *noted)
{
    double sum = 0;
    w->uses.len = w->blocks.len = 0;
    for (size_t i = 0; i < noted->blocks.len; i++)
        if (noted->blocks.at[i].function == w->function)
            fp_vec_push(&w->scratch, &w->blocks, noted->blocks.at[i].block);
    for (size_t u = 0; u < noted->place->uses.len; u++) {
        if (noted->owners[u] != w->function) continue;
        fp_vec_push(&w->scratch, &w->uses, &noted->place->uses.at[u]);
        sum += (double)noted->place->uses.at[u].count;
    }
    return sum;
}

static void count_copies(struct weighing *w, const struct noted_place *noted)
{
    collect(w, noted);
    if (w->blocks.len == 1 && w->copies[w->blocks.at[0]] < w->uses.len)
        w->copies[w->blocks.at[0]] = w->uses.len;
}

static void weigh_place(struct weighing *w, const struct noted_place *noted)
{
    double sum = collect(w, noted);
    if (!w->uses.len) return;
    if (w->blocks.len == 1) {
        for (size_t u = 0; u < w->uses.len; u++)
            if (is_in_front(w, w->blocks.at[0], w->uses.at[u])) return;
        weigh(w, w->blocks.at[0], sum, alone);
    } else if (w->blocks.len == w->uses.len) {
        qsort(w->blocks.at, w->blocks.len, sizeof *w->blocks.at, by_number);
        qsort(w->uses.at, w->uses.len, sizeof *w->uses.at, by_call);
        for (size_t i = 0; i < w->blocks.len; i++)
            if (!is_in_front(w, w->blocks.at[i], w->uses.at[i]))
                weigh(w, w->blocks.at[i], (double)w->uses.at[i]->count, in_order);
    } else {
        weigh_shared(w);
    }
}

bool fp_code_weigh(const struct fp_code_weights *all, uint32_t function, const struct fp_cfg *cfg,
                   double *weights, double *sizes)
{
    struct weighing w = {.all = all,
                         .f = &all->notes->functions.at[function],
                         .cfg = cfg,
                         .function = function,
                         .weights = weights,
                         .sizes = sizes};
    bool known = false;
    const struct numbers *places = &all->of_function[function];
    w.least = FP_NEW_ARRAY(&w.scratch, double, cfg->nblocks);
    w.copies = FP_NEW_ARRAY(&w.scratch, size_t, cfg->nblocks);
    find_guards(&w);
    for (size_t i = 0; i < places->at.len; i++) count_copies(&w, &all->all.at[places->at.at[i]]);
    for (size_t i = 0; i < places->at.len; i++) weigh_place(&w, &all->all.at[places->at.at[i]]);
    doubt_merged(&w);
    for (uint32_t b = 0; b < cfg->nblocks; b++) known |= sizes[b] > 0;
    fp_arena_free(&w.scratch);
    return known;
}
