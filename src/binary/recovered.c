/* Recovery of all functions of an object: see recovered.h.
 *
 *   references -> functions and parts -> jump tables (which show further parts)
 *              -> per function: labels, targets of indirect jumps, reach, cfg
 *              -> functions that do not return, and once more those that call them
 */
#include "binary/recovered.h"

#include "binary/jumpsof.h"
#include "binary/returns.h"
#include "binary/twice.h"

#include <stdlib.h>
#include <string.h>

struct recovering {
    struct fp_machine *m;
    const struct fp_frames *frames;
    struct fp_arena scratch; /* what the whole recovery needs */
    struct fp_references references;
    struct fp_parts parts;
    uint32_t *next;  /* per FDE: the next one of the same function, or FP_NONE */
    uint32_t *first; /* per root: the first one of the function */
    bool *twice;     /* per FDE (twice.h) */
    bool *done;      /* per root: its jump tables show no further parts */
};

/* ---- functions ---- */

static const struct fp_fde *fde_of(const struct recovering *r, uint32_t i)
{
    return &r->frames->fdes.at[i];
}

/* Lists of the FDEs of each set, by address. */
static void list_parts(struct recovering *r)
{
    uint32_t n = (uint32_t)r->frames->fdes.len;
    for (uint32_t i = 0; i < n; i++) r->first[i] = r->next[i] = FP_NONE;
    for (uint32_t i = n; i-- > 0;) {
        if (r->parts.kind[i] == FP_PART_IGNORED) continue;
        uint32_t root = fp_parts_root(&r->parts, i);
        if (i == root) continue;
        r->next[i] = r->first[root];
        r->first[root] = i;
    }
}

static void add_range(struct recovering *r, struct fp_machine_function *f, uint32_t fde,
                      struct fp_arena *arena)
{
    const struct fp_reference_code *code = &r->references.code[fde];
    struct fp_code_range range = {.address = fde_of(r, fde)->start,
                                  .size = fde_of(r, fde)->size,
                                  .first_insn = (uint32_t)f->insns.len,
                                  .ninsns = code->ninsns,
                                  .fde = fde};
    fp_vec_reserve(arena, &f->insns, f->insns.len + code->ninsns);
    memcpy(f->insns.at + f->insns.len, code->insns, code->ninsns * sizeof *code->insns);
    f->insns.len += code->ninsns;
    fp_vec_push(arena, &f->ranges, range);
}

/* A function from its FDEs: the root first, which has the entry. */
static void gather(struct recovering *r, struct fp_machine_function *f, uint32_t root,
                   struct fp_arena *arena)
{
    *f = (struct fp_machine_function){.hub = FP_NONE, .tail = FP_NONE};
    add_range(r, f, root, arena);
    for (uint32_t i = r->first[root]; i != FP_NONE; i = r->next[i]) add_range(r, f, i, arena);
}

static bool is_root(const struct recovering *r, uint32_t i)
{
    return r->parts.kind[i] != FP_PART_IGNORED && fp_parts_root(&r->parts, i) == i;
}

/* ---- parts that tables and landing pads show ---- */

static bool has_indirect(const struct fp_machine_function *f)
{
    for (size_t i = 0; i < f->insns.len; i++)
        if (f->insns.at[i].kind == FP_INSN_JUMP_INDIRECT) return true;
    return false;
}

static bool join_pads(struct recovering *r, const struct fp_machine_function *f, uint32_t root,
                      struct fp_arena *scratch)
{
    bool joined = false;
    for (size_t k = 0; k < f->ranges.len; k++) {
        const struct fp_fde *own = fde_of(r, f->ranges.at[k].fde);
        struct fp_lsda lsda;
        struct fp_error ignored = {0};
        if (!own->lsda ||
            !fp_lsda_read(scratch, r->m->object, own->lsda, own->start, &lsda, &ignored))
            continue;
        for (size_t i = 0; i < lsda.nsites; i++) {
            const struct fp_fde *fde =
                lsda.sites[i].pad ? fp_frames_find(r->frames, lsda.sites[i].pad) : NULL;
            uint32_t at = fde ? (uint32_t)(fde - r->frames->fdes.at) : FP_NONE;
            if (!fde || r->parts.kind[at] == FP_PART_IGNORED ||
                fp_parts_root(&r->parts, at) == root || !fp_parts_joinable(&r->parts, at, root))
                continue;
            joined |= fp_parts_join(&r->parts, at, root);
        }
    }
    return joined;
}

static bool join_tables(struct recovering *r, struct fp_machine_function *f, uint32_t root,
                        struct fp_arena *scratch)
{
    struct fp_jumps jumps = {.arena = scratch, .parts = &r->parts, .f = f, .root = root};
    if (!has_indirect(f)) return false;
    fp_jumps_find(&jumps);
    for (size_t i = 0; i < jumps.joins.len; i++) fp_parts_join(&r->parts, jumps.joins.at[i], root);
    return jumps.joins.len > 0;
}

/* Looks at each function until nothing is new: a part that joins brings its own tables. */
static void join_all(struct recovering *r)
{
    bool again = true;
    while (again) {
        again = false;
        list_parts(r);
        for (uint32_t i = 0; i < r->frames->fdes.len; i++) {
            struct fp_arena scratch = {0};
            struct fp_machine_function f;
            if (r->done[i] || !is_root(r, i) || r->parts.kind[i] == FP_PART_PART) continue;
            gather(r, &f, i, &scratch);
            bool joined = join_pads(r, &f, i, &scratch) | join_tables(r, &f, i, &scratch);
            r->done[fp_parts_root(&r->parts, i)] = !joined;
            again |= joined;
            fp_arena_free(&scratch);
        }
    }
}

/* ---- one function ---- */

static void mark_twice(struct recovering *r, struct fp_machine_function *f)
{
    for (size_t i = 0; i < f->insns.len; i++)
        if (f->insns.at[i].kind == FP_INSN_CALL &&
            fp_twice_call(&r->references, r->twice, &f->insns.at[i]))
            f->insns.at[i].flags |= FP_INSN_TWICE;
}

/* je 1f; lock; 1: cmpxchg ... */
static void mark_skips(struct recovering *r, struct fp_machine_function *f)
{
    enum { LOCK = 0xf0, SHORT = 2 };
    for (size_t i = 0; i + 1 < f->insns.len; i++) {
        struct fp_insn *insn = &f->insns.at[i];
        const struct fp_insn *next = insn + 1;
        size_t len;
        if (insn->kind != FP_INSN_BRANCH || insn->length != SHORT ||
            next->address != insn->address + SHORT || insn->target != next->address + 1)
            continue;
        const unsigned char *bytes = fp_object_bytes(r->references.object, next->address, &len);
        if (bytes && *bytes == LOCK) insn->kind = FP_INSN_SKIP;
    }
}

/* Entries into the middle of a function: calls, jumps and symbols of others; and uses of its code
 * that are none. */
static const char *entered(const struct recovering *r, const struct fp_machine_function *f)
{
    const struct fp_references *all = &r->references;
    for (size_t k = 0; k < f->ranges.len; k++) {
        const struct fp_code_range *range = &f->ranges.at[k];
        for (size_t i = fp_references_from(all, range->address); i < all->all.len; i++) {
            const struct fp_reference *one = &all->all.at[i];
            if (one->target - range->address >= range->size) break;
            if (one->kind == FP_REFERENCE_READ) return "its code is read as data";
            if (one->target == f->ranges.at[0].address) continue;
            bool part = one->target == range->address;
            const struct fp_fde *from = fp_frames_find(r->frames, one->from);
            uint32_t at = from ? (uint32_t)(from - r->frames->fdes.at) : FP_NONE;
            bool own = at != FP_NONE && fp_parts_root(&r->parts, at) ==
                                            fp_parts_root(&r->parts, f->ranges.at[0].fde);
            if (one->kind == FP_REFERENCE_CALL) return "its middle is called";
            if (one->kind == FP_REFERENCE_JUMP && !own && fp_parts_agree(&r->parts, one))
                return "others jump into its middle";
            if (one->kind == FP_REFERENCE_SYMBOL && !part) return "a symbol names its middle";
        }
    }
    return NULL;
}

/* What can be said before anything is followed. */
static const char *refuse_early(const struct recovering *r, const struct fp_machine_function *f)
{
    uint32_t root = f->ranges.at[0].fde;
    if (r->parts.kind[root] == FP_PART_PART) return "it is a part of no known function";
    for (size_t i = 0; i < f->ranges.len; i++) {
        uint32_t fde = f->ranges.at[i].fde;
        if (r->parts.overlaps[fde]) return "its frame information overlaps that of others";
        if (r->references.code[fde].transaction) return "it has transactions (xbegin)";
        if (r->frames->cies.at[fde_of(r, fde)->cie].signal) return "it is a signal's frame";
    }
    return entered(r, f);
}

static bool read_lsdas(const struct recovering *r, const struct fp_machine_function *f,
                       struct fp_exact_input *in)
{
    in->lsdas = FP_NEW_ARRAY(in->arena, const struct fp_lsda *, f->ranges.len);
    for (size_t i = 0; i < f->ranges.len; i++) {
        const struct fp_fde *fde = fde_of(r, f->ranges.at[i].fde);
        struct fp_error ignored = {0};
        if (!fde->lsda) continue;
        struct fp_lsda *lsda = FP_NEW(in->arena, struct fp_lsda);
        if (!fp_lsda_read(in->arena, r->m->object, fde->lsda, fde->start, lsda, &ignored))
            return false;
        in->lsdas[i] = lsda;
    }
    return true;
}

/* Code, other than padding, that nothing leads to. It may be dead; or a jump leads there whose
 * targets are not known. */
static bool has_unreached(const struct fp_machine_function *f, const struct fp_exact_reach *reach)
{
    for (size_t i = 0; i < f->insns.len; i++) {
        const struct fp_insn *insn = &f->insns.at[i];
        if (!fp_bitset_has(&reach->reached, i) && insn->kind != FP_INSN_NOP &&
            insn->kind != FP_INSN_STOP)
            return true;
    }
    return false;
}

/* Exceptions of other instructions than calls (-fnon-call-exceptions) are not followed. Where all
 * that lands somewhere is of that kind, it shows. */
static bool lands_without_call(const struct fp_exact_input *in, const struct fp_exact_reach *reach)
{
    for (size_t r = 0; r < in->f->ranges.len; r++)
        for (size_t k = 0; in->lsdas[r] && k < in->lsdas[r]->nsites; k++) {
            const struct fp_call_site *site = &in->lsdas[r]->sites[k];
            uint32_t pad = site->pad ? fp_machine_insn(in->f, site->pad, true) : FP_NONE;
            uint32_t first = fp_machine_insn(in->f, site->start, true);
            if (pad == FP_NONE || fp_bitset_has(&reach->reached, pad) || first == FP_NONE) continue;
            for (uint32_t i = first;
                 i < in->f->insns.len && in->f->insns.at[i].address - site->start < site->size; i++)
                if (fp_bitset_has(&reach->reached, i)) return true;
        }
    return false;
}

static bool leaves_by_pointer(const struct fp_exact_input *in, const struct fp_exact_reach *reach)
{
    for (size_t i = 0; i < in->njumps; i++)
        if (!in->jumps[i].ntargets && fp_bitset_has(&reach->reached, in->jumps[i].insn))
            return true;
    return false;
}

static void keep_tables(struct fp_machine_function *f, const struct fp_jumps *jumps,
                        struct fp_arena *arena)
{
    for (size_t i = 0; i < jumps->founds.len; i++)
        for (size_t t = 0; t < jumps->founds.at[i].tables.len; t++) {
            struct fp_machine_table table = jumps->founds.at[i].tables.at[t];
            uint64_t *targets = FP_NEW_ARRAY(arena, uint64_t, table.ntargets);
            memcpy(targets, table.targets, table.ntargets * sizeof *targets);
            table.targets = targets;
            fp_vec_push(arena, &f->tables, table);
        }
}

static const char *make_cfg(struct recovering *r, struct fp_machine_function *f,
                            struct fp_exact_input *in)
{
    struct fp_jumps jumps = {
        .arena = in->arena, .parts = &r->parts, .f = f, .root = f->ranges.at[0].fde};
    struct fp_exact_reach reach;
    struct fp_error broken = {0};
    if (!read_lsdas(r, f, in)) return "its exception table is not understood";
    fp_jumps_find(&jumps);
    fp_jumps_labels(&jumps, r->m->arena);
    fp_jumps_decide(&jumps, in);
    keep_tables(f, &jumps, r->m->arena);
    if (jumps.problem) return jumps.problem;
    fp_exact_follow(in, &reach);
    if (reach.problem) return reach.problem;
    if ((f->unresolved || leaves_by_pointer(in, &reach)) && has_unreached(f, &reach))
        return "it has code that nothing leads to";
    if (lands_without_call(in, &reach)) return "exceptions land in it that no call throws";
    fp_exact_build(in, &reach, r->m->arena);
    if (!fp_cfg_check(f->cfg, &broken)) return fp_arena_strdup(r->m->arena, broken.what);
    return NULL;
}

static void name_function(struct recovering *r, struct fp_machine_function *f)
{
    uint64_t start = f->ranges.at[0].address, size = f->ranges.at[0].size;
    const struct fp_object_symbol *known = fp_object_function(r->m->object, start);
    if (known && known->address == start) {
        f->symbol = known;
        return;
    }
    struct fp_object_symbol *symbol = FP_NEW(r->m->arena, struct fp_object_symbol);
    *symbol = (struct fp_object_symbol){
        .address = start,
        .size = size,
        .name = fp_arena_printf(r->m->arena, "fun.%llx", (unsigned long long)start)};
    f->symbol = symbol;
}

/* Makes a function that is at its place among the functions, the first time or anew. */
static void make_function(struct recovering *r, struct fp_machine_function *f, uint32_t root)
{
    struct fp_arena scratch = {0};
    struct fp_exact_input in = {.arena = &scratch, .object = r->m->object, .f = f};
    gather(r, f, root, r->m->arena);
    name_function(r, f);
    mark_twice(r, f);
    mark_skips(r, f);
    f->refused = refuse_early(r, f);
    if (!f->refused) f->refused = make_cfg(r, f, &in);
    fp_arena_free(&scratch);
}

static void recover_function(struct recovering *r, uint32_t root)
{
    struct fp_machine_function *f = &r->m->functions[r->m->nfunctions];
    make_function(r, f, root);
    for (size_t i = 0; i < f->ranges.len; i++) {
        struct fp_machine_span span = {f->ranges.at[i].address, f->ranges.at[i].size,
                                       (uint32_t)r->m->nfunctions};
        fp_vec_push(r->m->arena, &r->m->spans, span);
    }
    r->m->nfunctions++;
}

/* Functions that call some that were found not to return: nothing is behind those calls. */
static void cut_behind_calls(struct recovering *r)
{
    struct fp_table *endless = &r->m->object->endless;
    if (!fp_returns_find(r->m)) return;
    for (size_t i = 0; i < r->m->nfunctions; i++) {
        struct fp_machine_function *f = &r->m->functions[i];
        bool calls = false;
        for (size_t k = 0; f->cfg && k < f->insns.len && !calls; k++)
            calls = f->insns.at[k].kind == FP_INSN_CALL && f->insns.at[k].target &&
                    fp_table_find(endless, f->insns.at[k].target);
        if (calls) make_function(r, f, f->ranges.at[0].fde);
    }
}

/* ---- all functions ---- */

/* Assembler without frame information: known by its symbol alone. */
static void add_without_frame(struct recovering *r, const struct fp_object_symbol *symbol)
{
    struct fp_machine_function *f = &r->m->functions[r->m->nfunctions];
    struct fp_code_range range = {.address = symbol->address, .size = symbol->size, .fde = FP_NONE};
    struct fp_machine_span span = {symbol->address, symbol->size, (uint32_t)r->m->nfunctions++};
    *f = (struct fp_machine_function){.symbol = symbol,
                                      .hub = FP_NONE,
                                      .tail = FP_NONE,
                                      .refused = "it has no frame information"};
    fp_vec_push(r->m->arena, &f->ranges, range);
    fp_vec_push(r->m->arena, &r->m->spans, span);
}

static bool in_plt(const struct fp_object *o, uint64_t address)
{
    for (size_t i = 0; i < o->sections.len; i++)
        if (address - o->sections.at[i].address < o->sections.at[i].size)
            return !strncmp(o->sections.at[i].name, ".plt", 4);
    return false;
}

static int by_span(const void *a, const void *b)
{
    const struct fp_machine_span *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* Functions by address, as in machine.h; spans by address, with the functions' new numbers. */
static int by_entry(const void *a, const void *b)
{
    const struct fp_machine_function *x = a, *y = b;
    uint64_t left = x->ranges.at[0].address, right = y->ranges.at[0].address;
    return left < right ? -1 : left > right;
}

static void sort_all(struct fp_machine *m)
{
    m->spans.len = 0;
    if (m->nfunctions) qsort(m->functions, m->nfunctions, sizeof *m->functions, by_entry);
    for (uint32_t i = 0; i < m->nfunctions; i++)
        for (size_t k = 0; k < m->functions[i].ranges.len; k++) {
            const struct fp_code_range *range = &m->functions[i].ranges.at[k];
            struct fp_machine_span span = {range->address, range->size, i};
            fp_vec_push(m->arena, &m->spans, span);
        }
    if (m->spans.len) qsort(m->spans.at, m->spans.len, sizeof *m->spans.at, by_span);
}

static void recover_all(struct recovering *r)
{
    struct fp_machine *m = r->m;
    const struct fp_object *o = m->object;
    uint32_t n = (uint32_t)r->frames->fdes.len;
    m->functions = FP_NEW_ARRAY(m->arena, struct fp_machine_function, n + o->functions.len);
    m->nfunctions = 0;
    m->spans.len = 0;
    for (uint32_t i = 0; i < n; i++)
        if (is_root(r, i)) recover_function(r, i);
    for (size_t i = 0; i < o->functions.len; i++) {
        const struct fp_object_symbol *symbol = &o->functions.at[i];
        if (!fp_frames_find(r->frames, symbol->address) && !in_plt(o, symbol->address))
            add_without_frame(r, symbol);
    }
    sort_all(m);
}

bool fp_machine_recover(struct fp_machine *m, const struct fp_frames *frames,
                        struct fp_error *error)
{
    struct recovering r = {.m = m, .frames = frames};
    size_t n = frames->fdes.len;
    if (n >= FP_NONE) return fp_fail(error, m->object->path, "too many FDEs");
    fp_references_find(&r.references, &r.scratch, m->object, frames);
    fp_parts_find(&r.parts, &r.scratch, &r.references);
    r.next = FP_NEW_ARRAY(&r.scratch, uint32_t, n);
    r.first = FP_NEW_ARRAY(&r.scratch, uint32_t, n);
    r.done = FP_NEW_ARRAY(&r.scratch, bool, n);
    r.twice = fp_twice_find(&r.scratch, &r.references);
    join_all(&r);
    list_parts(&r);
    recover_all(&r);
    cut_behind_calls(&r);
    fp_arena_free(&r.scratch);
    return true;
}
