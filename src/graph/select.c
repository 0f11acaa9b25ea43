/* Plans for some of the paths: see select.h. */
#include "graph/select.h"

static struct fp_numbering *sums_of(struct fp_arena *arena, const struct fp_numbering *numbering,
                                    const struct fp_pspp *labels)
{
    struct fp_numbering *sums = FP_NEW(arena, struct fp_numbering);
    *sums = *numbering;
    sums->value = labels->value;
    sums->by_value = NULL; /* decoding goes by the labels as they were before pushing */
    sums->num_paths = labels->num_ids;
    sums->num_ids = labels->num_ids + numbering->dag->truncation->laps.len;
    return sums;
}

struct fp_selection *fp_select(struct fp_arena *arena, const struct fp_numbering *numbering,
                               const struct fp_bitset *wanted, const struct fp_bitset *laps,
                               const double *weights, bool exits)
{
    const struct fp_dag *dag = numbering->dag;
    struct fp_selection *s = FP_NEW(arena, struct fp_selection);
    double *dag_weights = weights ? fp_dag_weights(arena, dag, weights) : NULL;
    s->labels = fp_pspp_number(arena, dag, wanted, dag_weights);
    s->sums = sums_of(arena, numbering, s->labels);
    struct fp_plan_options how = {
        .exits = exits, .no_chords = !weights, .wanted = &s->labels->interesting, .laps = laps};
    s->plan = fp_plan_make(arena, s->sums, weights, &how);
    return s;
}

uint64_t fp_select_decode(const struct fp_pspp *labels, const struct fp_numbering *numbering,
                          uint64_t sum)
{
    struct fp_arena scratch = {0};
    uint32_t *edges, nedges;
    uint64_t id = FP_NO_ID;
    if (fp_pspp_decode(&scratch, labels, sum, &edges, &nedges)) {
        id = 0;
        for (uint32_t i = 0; i < nedges; i++) id += numbering->value[edges[i]];
    }
    fp_arena_free(&scratch);
    return id;
}

bool fp_select_covers(const struct fp_dag *dag, const struct fp_bitset *edges,
                      const struct fp_path *path)
{
    uint32_t start =
        path->start == FP_STARTS_AT_ENTRY ? dag->entry_edge : dag->start_of[path->first_block];
    uint32_t end = path->end == FP_ENDS_AT_EXIT ? dag->exit_of[path->last_block]
                                                : dag->of_edge[path->end_edge];
    for (uint32_t i = 0; i < path->nedges; i++)
        if (!fp_bitset_has(edges, dag->of_edge[path->edges[i]])) return false;
    return fp_bitset_has(edges, start) && fp_bitset_has(edges, end);
}
