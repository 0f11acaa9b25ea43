/* Functions by frame information: see framefunctions.h. */
#include "binary/framefunctions.h"

#include "binary/parts.h"

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

/* FDEs that no function overlaps, one flag each. Both lists are by address: one walk over them
 * finds what is free. */
static bool find_free(const struct fp_machine *m, const struct fp_frames *frames, bool *is_free)
{
    uint64_t end = 0; /* of the FDE that was free last */
    size_t next = 0;  /* the first span that may reach behind the FDE's start */
    bool any = false;
    for (size_t i = 0; i < frames->fdes.len; i++) {
        const struct fp_fde *fde = &frames->fdes.at[i];
        while (next < m->spans.len &&
               m->spans.at[next].address + m->spans.at[next].size <= fde->start)
            next++;
        bool known = next < m->spans.len && m->spans.at[next].address < fde->start + fde->size;
        is_free[i] = !known && fde->start >= end && in_code(m->object, fde);
        if (is_free[i]) end = fde->start + fde->size;
        any |= is_free[i];
    }
    return any;
}

/* FDEs of functions. The part of another function becomes a further range of that one, as
 * foo.cold does. */
static void add_all(struct fp_machine *m, const struct fp_frames *frames,
                    const struct fp_parts *parts, const bool *is_free)
{
    FP_VEC(struct fp_machine_function) all = {0};
    struct fp_table by_start; /* 1 + index */
    fp_table_init(&by_start, m->arena);
    for (size_t i = 0; i < m->nfunctions; i++) fp_vec_push(m->arena, &all, m->functions[i]);
    for (uint32_t i = 0; i < frames->fdes.len; i++) {
        const struct fp_fde *fde = &frames->fdes.at[i];
        bool part = parts->kind[i] != FP_PART_IGNORED && fp_parts_root(parts, i) != i;
        if (!is_free[i] || part || !starts_function(frames, fde)) continue;
        struct fp_machine_function f = function_of(m, fde);
        fp_vec_push(m->arena, &all, f);
    }
    for (size_t i = 0; i < all.len; i++)
        *fp_table_add(&by_start, all.at[i].ranges.at[0].address) = i + 1;
    for (uint32_t i = 0; i < frames->fdes.len; i++) {
        if (!is_free[i] || parts->kind[i] == FP_PART_IGNORED) continue;
        const struct fp_fde *root = &frames->fdes.at[fp_parts_root(parts, i)];
        const uint64_t *whole = fp_table_find(&by_start, root->start);
        if (!whole || root == &frames->fdes.at[i]) continue;
        struct fp_code_range range = {
            .address = frames->fdes.at[i].start, .size = frames->fdes.at[i].size, .fde = FP_NONE};
        fp_vec_push(m->arena, &all.at[*whole - 1].ranges, range);
    }
    m->functions = all.at;
    m->nfunctions = all.len;
}

void fp_machine_add_frames(struct fp_machine *m, const struct fp_frames *frames)
{
    struct fp_arena scratch = {0};
    bool *is_free = FP_NEW_ARRAY(&scratch, bool, frames->fdes.len + 1);
    m->frames = frames;
    if (find_free(m, frames, is_free)) {
        struct fp_references references;
        struct fp_parts parts;
        fp_references_find(&references, &scratch, m->object, frames);
        fp_parts_find(&parts, &scratch, &references);
        add_all(m, frames, &parts, is_free);
        if (m->nfunctions) qsort(m->functions, m->nfunctions, sizeof *m->functions, by_entry);
        list_spans(m);
    }
    fp_arena_free(&scratch);
}
