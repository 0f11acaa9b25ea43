/* Functions by frame information: see framefunctions.h. */
#include "binary/framefunctions.h"

#include <stdlib.h>
#include <string.h>

static bool in_code(const struct fp_object *o, const struct fp_fde *fde)
{
    for (size_t i = 0; i < o->sections.len; i++) {
        const struct fp_section *s = &o->sections.at[i];
        if (fde->start - s->address < s->size)
            return s->code && strncmp(s->name, ".plt", 4) != 0 &&
                   fde->size <= s->size - (fde->start - s->address);
    }
    return false;
}

/* The stack is as a call leaves it: a part of another function starts otherwise. */
static bool starts_function(const struct fp_frames *frames, const struct fp_fde *fde)
{
    struct fp_frame_row row;
    return fp_frames_row(frames, fde, fde->start, &row) && !row.cfa_is_expression &&
           row.cfa_register == FP_FRAME_RSP && row.cfa_offset == 8;
}

static struct fp_machine_function function_of(struct fp_machine *m, const struct fp_fde *fde)
{
    struct fp_object_symbol *symbol = FP_NEW(m->arena, struct fp_object_symbol);
    struct fp_machine_function f = {.symbol = symbol};
    struct fp_code_range range = {.address = fde->start, .size = fde->size, .fde = FP_NONE};
    symbol->address = fde->start;
    symbol->size = fde->size;
    symbol->name = fp_arena_printf(m->arena, "fun.%llx", (unsigned long long)fde->start);
    fp_vec_push(m->arena, &f.ranges, range);
    return f;
}

static int by_entry(const void *a, const void *b)
{
    const struct fp_machine_function *x = a, *y = b;
    uint64_t left = x->ranges.at[0].address, right = y->ranges.at[0].address;
    return left < right ? -1 : left > right;
}

static int by_address(const void *a, const void *b)
{
    const struct fp_machine_span *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static void list_spans(struct fp_machine *m)
{
    m->spans.len = 0;
    for (uint32_t i = 0; i < m->nfunctions; i++)
        for (size_t k = 0; k < m->functions[i].ranges.len; k++) {
            const struct fp_code_range *range = &m->functions[i].ranges.at[k];
            struct fp_machine_span span = {range->address, range->size, i};
            fp_vec_push(m->arena, &m->spans, span);
        }
    if (m->spans.len) qsort(m->spans.at, m->spans.len, sizeof *m->spans.at, by_address);
}

/* Both lists are by address: one walk over them finds what is free. */
void fp_machine_add_frames(struct fp_machine *m, const struct fp_frames *frames)
{
    FP_VEC(struct fp_machine_function) all = {0};
    uint64_t end = 0; /* of what was added last */
    size_t next = 0;  /* the first span that may reach behind the FDE's start */
    for (size_t i = 0; i < m->nfunctions; i++) fp_vec_push(m->arena, &all, m->functions[i]);
    for (size_t i = 0; i < frames->fdes.len; i++) {
        const struct fp_fde *fde = &frames->fdes.at[i];
        while (next < m->spans.len &&
               m->spans.at[next].address + m->spans.at[next].size <= fde->start)
            next++;
        bool known = next < m->spans.len && m->spans.at[next].address < fde->start + fde->size;
        if (known || fde->start < end || !in_code(m->object, fde) || !starts_function(frames, fde))
            continue;
        end = fde->start + fde->size;
        struct fp_machine_function f = function_of(m, fde);
        fp_vec_push(m->arena, &all, f);
    }
    if (all.len == m->nfunctions) return;
    qsort(all.at, all.len, sizeof *all.at, by_entry);
    m->functions = all.at;
    m->nfunctions = all.len;
    list_spans(m);
}
