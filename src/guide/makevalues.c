/* Values for guides: what the calls of a function were given (count/values.h).
 *
 * Of every site the most frequent values are kept; targets of indirect calls become symbol
 * names. All other values of the site are added up into one entry without a name, so that
 * the shares of the kept ones stay right. */
#include "guide/guidemaker.h"

#include "base/checked.h"
#include "paths/valuecounts.h"

#include <stdlib.h>

enum { MOST_PER_SITE = 8 };

static struct fp_guide_value value_of(const struct fp_symbols *symbols, const struct fp_function *f,
                                      const struct fp_value_count *count)
{
    struct fp_guide_value value = {.kind = fp_value_kind(count->key),
                                   .site = fp_value_site(count->key),
                                   .count = count->count,
                                   .size = count->key & FP_VALUE_MASK,
                                   .target = ""};
    if (value.kind == FP_VALUE_TARGET) {
        uint64_t address = fp_value_target(count->key, f->layout.path_address);
        const struct fp_symbol *symbol = fp_symbols_find(symbols, address);
        if (symbol) value.target = symbol->name;
    }
    return value;
}

static bool is_of_site(const struct fp_guide_value *a, const struct fp_guide_value *b)
{
    return a->kind == b->kind && a->site == b->site;
}

/* By site, then the most frequent first; a target without a symbol goes last. */
static int by_site(const void *a, const void *b)
{
    const struct fp_guide_value *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->site != y->site) return x->site < y->site ? -1 : 1;
    bool named = x->kind == FP_VALUE_SIZE || *x->target,
         other = y->kind == FP_VALUE_SIZE || *y->target;
    if (named != other) return named ? -1 : 1;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->size > y->size) - (x->size < y->size);
}

void fp_guide_maker_values(struct fp_guide_maker *m, const struct fp_module *module,
                           const struct fp_function *f, const uint64_t *blocks,
                           const struct fp_symbols *symbols, struct fp_guide_function *out)
{
    struct fp_value_count *counts;
    size_t n = fp_values_of(m->arena, module, f, blocks, &counts), first = 0;
    struct fp_guide_value *all = FP_NEW_ARRAY(m->arena, struct fp_guide_value, n);
    for (size_t i = 0; i < n; i++) all[i] = value_of(symbols, f, &counts[i]);
    if (n) qsort(all, n, sizeof *all, by_site);
    out->values = all;
    for (size_t i = 0; i < n; i++) {
        struct fp_guide_value *last = out->nvalues ? &all[out->nvalues - 1] : NULL;
        if (!last || !is_of_site(last, &all[i])) first = out->nvalues;
        if (out->nvalues - first < MOST_PER_SITE) {
            all[out->nvalues++] = all[i];
            continue;
        }
        last->count = fp_add_saturated(last->count, all[i].count);
        last->size = FP_VALUE_MASK;
        last->target = "";
    }
}
