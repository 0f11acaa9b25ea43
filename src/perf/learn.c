/* Learning the weights of events: see learn.h. */
#include "perf/learn.h"

#ifdef FOOTPATH_LINEAR
#include <linear.h>
#endif

void fp_training_add(struct fp_training *t, struct fp_arena *arena, const double *events,
                     double exact)
{
    fp_vec_push(arena, &t->exact, exact);
    for (uint32_t e = 0; e < t->nevents; e++) fp_vec_push(arena, &t->events, events[e]);
}

static void divide_by_mean(double *values, size_t count, size_t stride)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += values[i * stride];
    for (size_t i = 0; i < count && sum > 0; i++) values[i * stride] *= (double)count / sum;
}

void fp_training_scale(struct fp_training *t)
{
    size_t first = t->scaled, count = t->exact.len - first;
    if (!count) return;
    divide_by_mean(t->exact.at + first, count, 1);
    for (uint32_t e = 0; e < t->nevents; e++)
        divide_by_mean(t->events.at + first * t->nevents + e, count, t->nevents);
    t->scaled = t->exact.len;
}

#ifdef FOOTPATH_LINEAR

static void silent(const char *text)
{
    (void)text;
}

/* liblinear's form: per block a list of (index from 1, value), ended by -1. */
static struct feature_node **make_rows(struct fp_arena *arena, const struct fp_training *t,
                                       double bias)
{
    size_t n = t->exact.len;
    struct feature_node **rows = FP_NEW_ARRAY(arena, struct feature_node *, n);
    for (size_t i = 0; i < n; i++) {
        rows[i] = FP_NEW_ARRAY(arena, struct feature_node, (size_t)t->nevents + 2);
        for (uint32_t e = 0; e < t->nevents; e++)
            rows[i][e] = (struct feature_node){(int)e + 1, t->events.at[i * t->nevents + e]};
        rows[i][t->nevents] = (struct feature_node){(int)t->nevents + 1, bias};
        rows[i][t->nevents + 1].index = -1;
    }
    return rows;
}

bool fp_learn(struct fp_arena *arena, struct fp_training *t, struct fp_model *model,
              struct fp_error *error)
{
    size_t n = t->exact.len;
    fp_training_scale(t);
    if (n < (size_t)t->nevents + 1)
        return fp_fail(error, NULL, "%zu blocks were sampled, too few to learn from", n);
    struct problem problem = {.l = (int)n,
                              .n = (int)t->nevents + 1,
                              .y = t->exact.at,
                              .x = make_rows(arena, t, 1),
                              .bias = 1};
    struct parameter parameter = {
        .solver_type = L2R_L1LOSS_SVR_DUAL, .eps = 0.0001, .C = 1, .p = 0.01};
    const char *problem_with = check_parameter(&problem, &parameter);
    if (problem_with) return fp_fail(error, NULL, "liblinear: %s", problem_with);
    set_print_string_function(silent);
    struct model *trained = train(&problem, &parameter);
    model->weights = FP_NEW_ARRAY(arena, double, t->nevents);
    for (uint32_t e = 0; e < t->nevents; e++) model->weights[e] = trained->w[e];
    model->constant = trained->w[t->nevents];
    free_and_destroy_model(&trained);
    return true;
}

#else

bool fp_learn(struct fp_arena *arena, struct fp_training *t, struct fp_model *model,
              struct fp_error *error)
{
    (void)arena, (void)t, (void)model;
    return fp_fail(error, NULL,
                   "this footpath was built without liblinear; install liblinear-dev and "
                   "build again");
}

#endif
