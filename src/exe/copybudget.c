/* Bytes for copies of blocks: see exework.h.
 *
 * Without a guide each function gets its part, since nothing says which of them are hot. With a
 * guide the bytes go where most is executed, whichever function that is in. All functions that ran
 * are planned once more for that, and their copies sorted by what they bring for each byte. */
#include "exe/exework.h"

#include "graph/blockcopies.h"

#include <stdlib.h>

enum { LEAST_BYTES = 4096 }; /* with a guide, in a small file */

static uint64_t bytes_of(const struct fp_machine_function *m)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < m->ranges.len; i++) bytes += m->ranges.at[i].size;
    return bytes;
}

/* Of a function alone: more than this is rarely of use. */
static uint64_t most_of(const struct fp_machine_function *m)
{
    return bytes_of(m) * (FP_EXE_MOST_COPIES / 100);
}

/* Estimates are not worth room and time in a large file, which needs much of both anyway. */
static uint64_t share_of(const struct fp_exe_work *w, uint64_t bytes)
{
    enum { LARGE = 16 << 20 };
    unsigned percent = fp_image_text(w->image) > LARGE && !w->guide ? 0 : FP_EXE_COPIES;
    if (w->options->copies_given) percent = w->options->copies;
    return bytes * percent / 100;
}

const char *fp_exe_plan(struct fp_exe_work *w, struct fp_counting *c, uint64_t *calls)
{
    const char *why = fp_counting_plan(c, w->options->cuts, fp_image_text(w->image));
    *calls = 0;
    if (why || !w->guide) return why;
    struct fp_arena scratch = {0};
    const uint64_t *edges = fp_exe_guide_edges(&scratch, w->guide, c->m, calls);
    if (edges) {
        if (!*calls) *calls = 1;
        fp_counting_replan(c, edges, *calls);
    }
    fp_arena_free(&scratch);
    return NULL;
}

struct fp_copy_budget fp_exe_budget(const struct fp_exe_work *w,
                                    const struct fp_machine_function *m, uint64_t calls)
{
    uint64_t own = share_of(w, bytes_of(m));
    if (!w->guide) return (struct fp_copy_budget){.bytes = own};
    if (!calls || !own) return (struct fp_copy_budget){0};
    return (struct fp_copy_budget){
        .bytes = most_of(m), .measured = true, .least_gain = w->least_gain / (double)calls};
}

/* ---- with a guide ---- */

struct wish {
    double gain;
    uint32_t bytes;
};

struct wishes {
    struct fp_arena *arena;
    FP_VEC(struct wish) all;
    double calls;
};

static void add_wish(void *context, uint32_t bytes, double gain)
{
    struct wishes *wishes = context;
    fp_vec_push(wishes->arena, &wishes->all, (struct wish){gain * wishes->calls, bytes});
}

static int most_first(const void *a, const void *b)
{
    const struct wish *x = a, *y = b;
    return (x->gain < y->gain) - (x->gain > y->gain);
}

/* What is executed so rarely is not worth its bytes, however many there are. */
static double least_of_all(const struct wishes *wishes)
{
    static const double RARELY = 1e-7;
    double sum = 0;
    for (size_t i = 0; i < wishes->all.len; i++)
        sum += wishes->all.at[i].gain * wishes->all.at[i].bytes;
    return sum * RARELY;
}

static void add_wishes(struct fp_exe_work *w, struct fp_machine_function *m, struct wishes *wishes)
{
    struct fp_arena scratch = {0};
    struct fp_function f = {.flags = FP_FUNCTION_PATHS | FP_FUNCTION_MACHINE};
    struct fp_counting c = {
        .arena = &scratch, .machine = &w->machine, .m = m, .f = &f, .exits = !w->options->no_exits};
    struct fp_error error = {0};
    uint64_t calls;
    bool ran = !m->refused && m->cfg && fp_cfg_check(m->cfg, &error) &&
               !fp_exe_plan(w, &c, &calls) && calls;
    if (ran) {
        struct fp_copy_budget budget = {
            .bytes = most_of(m), .measured = true, .tell = add_wish, .context = wishes};
        wishes->calls = (double)calls;
        fp_counting_copy(&c, &budget);
    }
    fp_arena_free(&scratch);
}

void fp_exe_find_budget(struct fp_exe_work *w)
{
    struct fp_arena scratch = {0};
    struct wishes wishes = {.arena = &scratch};
    uint64_t bytes = 0, left;
    if (!w->guide) return;
    for (size_t i = 0; i < w->machine.nfunctions; i++) {
        bytes += bytes_of(&w->machine.functions[i]);
        add_wishes(w, &w->machine.functions[i], &wishes);
    }
    left = share_of(w, bytes);
    if (left && left < LEAST_BYTES) left = LEAST_BYTES;
    w->least_gain = least_of_all(&wishes);
    if (wishes.all.len) qsort(wishes.all.at, wishes.all.len, sizeof *wishes.all.at, most_first);
    for (size_t i = 0; i < wishes.all.len; i++) {
        if (wishes.all.at[i].gain < w->least_gain) break;
        if (wishes.all.at[i].bytes > left) {
            w->least_gain = wishes.all.at[i].gain * (1 + 1e-9);
            break;
        }
        left -= wishes.all.at[i].bytes;
    }
    fp_arena_free(&scratch);
}
