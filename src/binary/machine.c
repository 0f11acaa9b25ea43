/* Machine code to cfg: see machine.h. */
#include "binary/machine.h"

#include "base/bitset.h"
#include "binary/frames.h"
#include "binary/jumptable.h"
#include "binary/lsda.h"

#include <stdlib.h>
#include <string.h>

/* ---- functions and their parts ---- */

/* The length of the name of the function that "foo.cold", "foo.cold.3" or
 * "foo.part.0.cold" is a part of; 0 for a function of its own. */
static size_t part_of(const char *name)
{
    const char *cold = strstr(name, ".cold");
    return cold && (!cold[5] || cold[5] == '.') ? (size_t)(cold - name) : 0;
}

static void join_parts(struct fp_machine *m, struct fp_strtable *by_name)
{
    const struct fp_object *o = m->object;
    for (size_t i = 0; i < o->functions.len; i++) {
        const struct fp_object_symbol *symbol = &o->functions.at[i];
        size_t len = part_of(symbol->name);
        if (!len) continue;
        const uint64_t *whole =
            fp_strtable_find(by_name, fp_arena_strndup(m->arena, symbol->name, len));
        if (!whole) continue;
        struct fp_machine_function *f = &m->functions[*whole - 1];
        struct fp_code_range range = {
            .address = symbol->address, .size = symbol->size, .fde = FP_NONE};
        fp_vec_push(m->arena, &f->ranges, range);
        m->spans.at[i].function = (uint32_t)*whole - 1;
    }
}

void fp_machine_init(struct fp_machine *m, struct fp_arena *arena, struct fp_object *object)
{
    struct fp_strtable by_name;
    *m = (struct fp_machine){.arena = arena, .object = object};
    fp_strtable_init(&by_name, arena);
    m->functions = FP_NEW_ARRAY(arena, struct fp_machine_function, object->functions.len);
    for (size_t i = 0; i < object->functions.len; i++) {
        const struct fp_object_symbol *symbol = &object->functions.at[i];
        struct fp_machine_span span = {symbol->address, symbol->size, FP_NONE};
        fp_vec_push(arena, &m->spans, span);
        if (part_of(symbol->name)) continue;
        struct fp_machine_function *f = &m->functions[m->nfunctions];
        struct fp_code_range range = {
            .address = symbol->address, .size = symbol->size, .fde = FP_NONE};
        f->symbol = symbol;
        fp_vec_push(arena, &f->ranges, range);
        m->spans.at[i].function = (uint32_t)m->nfunctions++;
        uint64_t *known = fp_strtable_add(&by_name, symbol->name);
        if (!*known) *known = m->nfunctions;
    }
    join_parts(m, &by_name);
}

struct fp_machine_function *fp_machine_find(const struct fp_machine *m, uint64_t address)
{
    size_t low = 0, high = m->spans.len;
    while (low < high) { /* the first one behind the address */
        size_t middle = low + (high - low) / 2;
        if (m->spans.at[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return NULL;
    const struct fp_machine_span *span = &m->spans.at[low - 1];
    bool inside = address - span->address < span->size && span->function != FP_NONE;
    return inside ? &m->functions[span->function] : NULL;
}

/* ---- instructions ---- */

static void decode_range(struct fp_machine *m, struct fp_machine_function *f,
                         struct fp_code_range *range)
{
    size_t len, at = 0;
    const unsigned char *bytes = fp_object_bytes(m->object, range->address, &len);
    range->first_insn = (uint32_t)f->insns.len;
    if (!bytes) return;
    if (len > range->size) len = range->size;
    while (at < len) {
        struct fp_insn insn;
        at += fp_insn_decode(bytes + at, len - at, range->address + at, &insn);
        fp_vec_push(m->arena, &f->insns, insn);
    }
    range->ninsns = (uint32_t)f->insns.len - range->first_insn;
}

static uint32_t insn_in_range(const struct fp_machine_function *f,
                              const struct fp_code_range *range, uint64_t address)
{
    uint32_t low = range->first_insn, high = low + range->ninsns;
    while (low < high) { /* the first one behind the address */
        uint32_t middle = low + (high - low) / 2;
        if (f->insns.at[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low == range->first_insn ? FP_NONE : low - 1;
}

uint32_t fp_machine_insn(const struct fp_machine_function *f, uint64_t address, bool exact)
{
    for (size_t i = 0; i < f->ranges.len; i++) {
        const struct fp_code_range *range = &f->ranges.at[i];
        if (address - range->address >= range->size) continue;
        uint32_t found = insn_in_range(f, range, address);
        if (found == FP_NONE) return FP_NONE;
        uint64_t into = address - f->insns.at[found].address;
        return (exact ? into == 0 : into < f->insns.at[found].length) ? found : FP_NONE;
    }
    return FP_NONE;
}

/* ---- blocks ---- */

enum { MOST_ROUNDS = 6 }; /* of finding jump tables */

struct building {
    struct fp_machine *m;
    struct fp_machine_function *f;
    struct fp_arena scratch;
    struct fp_bitset leader; /* per instruction */
    uint32_t *target;        /* per instruction: of a jump within the function, or FP_NONE */
    uint64_t **table;        /* per instruction: of an indirect jump */
    size_t *table_len;
    bool landings_known;     /* exceptions land at pads and nowhere else */
    struct fp_bitset throws; /* per instruction: a call whose exceptions land in the function */
    struct fp_bitset pads;   /* per instruction: exceptions land there */
    FP_VEC(struct fp_machine_block) blocks;
    FP_VEC(struct fp_edge) edges;
    FP_VEC(struct fp_edge_info) infos;
    FP_VEC(uint8_t) flags;
};

bool fp_machine_never_returns(const struct fp_object *object, const struct fp_insn *call)
{
    static const char *const names[] = {"abort",
                                        "exit",
                                        "_exit",
                                        "_Exit",
                                        "quick_exit",
                                        "__assert_fail",
                                        "__stack_chk_fail",
                                        "__fortify_fail",
                                        "__chk_fail",
                                        "longjmp",
                                        "_longjmp",
                                        "siglongjmp",
                                        "__longjmp_chk",
                                        "_Unwind_Resume",
                                        "__cxa_throw",
                                        "__cxa_rethrow",
                                        "__cxa_throw_bad_array_new_length",
                                        "__cxa_bad_cast",
                                        "__cxa_pure_virtual",
                                        "__clang_call_terminate",
                                        "_ZSt9terminatev",
                                        "_ZSt17__throw_bad_allocv",
                                        "_ZSt19__throw_logic_errorPKc",
                                        "_ZSt20__throw_length_errorPKc",
                                        "_ZSt20__throw_out_of_rangePKc",
                                        "_ZSt24__throw_out_of_range_fmtPKcz",
                                        "_ZSt16__throw_bad_castv",
                                        "_ZSt25__throw_bad_function_callv",
                                        "_ZSt28__throw_bad_array_new_lengthv",
                                        "_ZSt24__throw_invalid_argumentPKc",
                                        "_ZSt20__throw_system_errori",
                                        "pthread_exit",
                                        "err",
                                        "errx",
                                        "verr",
                                        "verrx"};
    if (!call->target) return false;
    if (fp_table_find(&object->endless, call->target)) return true;
    const char *name = fp_object_import(object, call->target);
    const struct fp_object_symbol *symbol = name ? NULL : fp_object_function(object, call->target);
    bool own = name && fp_object_defines(object, name);
    if (symbol && symbol->address == call->target) name = symbol->name, own = true;
    /* a program may have an err() that returns; names with _ are not for programs */
    if (own && *name != '_') return false;
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return true;
    return false;
}

static bool ends_block(struct fp_machine *m, const struct fp_insn *insn)
{
    switch ((enum fp_insn_kind)insn->kind) {
    case FP_INSN_JUMP:
    case FP_INSN_BRANCH:
    case FP_INSN_JUMP_INDIRECT:
    case FP_INSN_RETURN:
    case FP_INSN_STOP: return true;
    case FP_INSN_CALL: return fp_machine_never_returns(m->object, insn);
    case FP_INSN_PLAIN:
    case FP_INSN_NOP:
    case FP_INSN_SKIP: break;
    }
    return false;
}

static bool same_range(const struct fp_machine_function *f, uint32_t i)
{
    const struct fp_insn *insn = &f->insns.at[i];
    return i + 1 < f->insns.len && f->insns.at[i + 1].address == insn->address + insn->length;
}

/* The entries of all tables of a jump, in order, with repetitions. Gives whether there are more
 * than before. */
static bool find_table(struct building *b, const struct fp_jump_search *search, uint32_t jump)
{
    struct fp_jump_found found;
    FP_VEC(uint64_t) targets = {0};
    fp_jump_find(search, jump, &found);
    for (size_t t = 0; t < found.tables.len; t++)
        for (size_t k = 0; k < found.tables.at[t].ntargets; k++)
            fp_vec_push(&b->scratch, &targets, found.tables.at[t].targets[k]);
    for (size_t k = 0; k < found.labels.len; k++)
        fp_vec_push(&b->scratch, &targets, found.labels.at[k]);
    bool more = targets.len > b->table_len[jump];
    if (!more || targets.len < 2) return false;
    b->table[jump] = targets.at;
    b->table_len[jump] = targets.len;
    for (size_t k = 0; k < targets.len; k++) {
        uint32_t to = targets.at[k] ? fp_machine_insn(b->f, targets.at[k], true) : FP_NONE;
        if (to != FP_NONE) {
            fp_slice_add_jump(search->slice, jump, to);
            fp_bitset_add(&b->leader, to);
        }
    }
    return true;
}

/* A table that is found may show another way to the next one: repeats until nothing is new. */
static void find_tables(struct building *b)
{
    struct fp_slice slice;
    struct fp_jump_search search = {
        .arena = &b->scratch, .object = b->m->object, .f = b->f, .slice = &slice};
    fp_slice_init(&slice, &b->scratch, b->m->object, b->f);
    bool more = true;
    for (int round = 0; more && round < MOST_ROUNDS; round++) {
        more = false;
        for (uint32_t i = 0; i < b->f->insns.len; i++)
            if (b->f->insns.at[i].kind == FP_INSN_JUMP_INDIRECT) more |= find_table(b, &search, i);
    }
}

static void find_targets(struct building *b)
{
    struct fp_machine_function *f = b->f;
    bool indirect = false;
    for (uint32_t i = 0; i < f->insns.len; i++) {
        const struct fp_insn *insn = &f->insns.at[i];
        b->target[i] = FP_NONE;
        if (insn->kind == FP_INSN_JUMP || insn->kind == FP_INSN_BRANCH)
            b->target[i] = fp_machine_insn(f, insn->target, true);
        if (b->target[i] != FP_NONE) fp_bitset_add(&b->leader, b->target[i]);
        indirect |= insn->kind == FP_INSN_JUMP_INDIRECT;
    }
    if (indirect) find_tables(b);
}

/* Calls of a range that are covered by call sites with landing pads. False where the frame
 * information is missing or not understood. */
static bool find_pads_of(struct building *b, const struct fp_code_range *range)
{
    const struct fp_fde *fde = fp_frames_find(b->m->frames, range->address);
    struct fp_lsda lsda;
    struct fp_error ignored = {0};
    if (!fde) return false;
    if (!fde->lsda) return true;
    if (!fp_lsda_read(&b->scratch, b->m->object, fde->lsda, fde->start, &lsda, &ignored))
        return false;
    for (uint32_t i = range->first_insn; i < range->first_insn + range->ninsns; i++) {
        const struct fp_insn *insn = &b->f->insns.at[i];
        if (insn->kind != FP_INSN_CALL) continue;
        const struct fp_call_site *site = fp_lsda_site(&lsda, insn->address + insn->length - 1);
        uint32_t pad = site && site->pad ? fp_machine_insn(b->f, site->pad, true) : FP_NONE;
        if (pad == FP_NONE) continue;
        fp_bitset_add(&b->throws, i);
        fp_bitset_add(&b->pads, pad);
        fp_bitset_add(&b->leader, pad);
    }
    return true;
}

static void find_pads(struct building *b)
{
    b->throws = fp_bitset_new(&b->scratch, b->f->insns.len);
    b->pads = fp_bitset_new(&b->scratch, b->f->insns.len);
    b->landings_known = b->m->frames != NULL;
    for (size_t i = 0; b->landings_known && i < b->f->ranges.len; i++)
        b->landings_known = find_pads_of(b, &b->f->ranges.at[i]);
}

static bool goes_on(struct fp_machine *m, const struct fp_insn *insn)
{
    return !ends_block(m, insn) || insn->kind == FP_INSN_BRANCH;
}

/* Padding behind a jump is in no block, unless something jumps to it. */
static void make_blocks(struct building *b)
{
    struct fp_machine_function *f = b->f;
    bool open = false,
         comes_on = false; /* falls through from the instruction before: the block continues */
    for (uint32_t i = 0; i < f->insns.len; i++) {
        struct fp_insn *insn = &f->insns.at[i];
        bool start = i == 0 || fp_bitset_has(&b->leader, i) || !same_range(f, i - 1);
        if (!comes_on && !start && (insn->kind == FP_INSN_NOP || insn->kind == FP_INSN_STOP))
            continue;
        if (start || !open) {
            struct fp_machine_block block = {i, 0};
            fp_vec_push(&b->scratch, &b->blocks, block);
            fp_vec_push(&b->scratch, &b->flags, 0);
        }
        insn->block = (uint32_t)b->blocks.len - 1;
        b->blocks.at[insn->block].ninsns++;
        uint8_t *flags = &b->flags.at[insn->block];
        if (insn->kind == FP_INSN_CALL) *flags |= FP_BLOCK_CALLS;
        if (insn->flags & FP_INSN_STORES) *flags |= FP_BLOCK_STORES;
        if (insn->kind == FP_INSN_CALL && fp_machine_never_returns(b->m->object, insn))
            *flags |= FP_BLOCK_COLD;
        open = !ends_block(b->m, insn);
        comes_on = goes_on(b->m, insn);
    }
}

/* ---- edges ---- */

static void add_edge(struct building *b, uint32_t src, uint32_t dst, enum fp_edge_kind kind,
                     struct fp_edge_info info)
{
    for (size_t i = b->edges.len; i > 0 && b->edges.at[i - 1].src == src; i--)
        if (b->edges.at[i - 1].dst == dst) return;
    struct fp_edge edge = {src, dst, kind};
    fp_vec_push(&b->scratch, &b->edges, edge);
    fp_vec_push(&b->scratch, &b->infos, info);
}

static uint32_t codeless_block(struct building *b, uint32_t *which, uint8_t flags)
{
    if (*which == FP_NONE) {
        struct fp_machine_block block = {0, 0};
        *which = (uint32_t)b->blocks.len;
        fp_vec_push(&b->scratch, &b->blocks, block);
        fp_vec_push(&b->scratch, &b->flags, flags);
    }
    return *which;
}

static void edges_of_block(struct building *b, uint32_t block)
{
    struct fp_machine_function *f = b->f;
    uint32_t last = b->blocks.at[block].first_insn + b->blocks.at[block].ninsns - 1;
    const struct fp_insn *insn = &f->insns.at[last];
    bool branch = insn->kind == FP_INSN_BRANCH;
    if (b->target[last] != FP_NONE)
        add_edge(b, block, f->insns.at[b->target[last]].block, FP_EDGE_NORMAL,
                 (struct fp_edge_info){branch ? FP_LABEL_TAKEN : FP_LABEL_NONE, 0});
    else if (branch)
        add_edge(b, block, codeless_block(b, &f->tail, 0), FP_EDGE_NORMAL,
                 (struct fp_edge_info){FP_LABEL_TAKEN, 0});
    for (size_t k = 0; k < b->table_len[last]; k++) {
        uint64_t entry = b->table[last][k];
        uint32_t target = entry ? fp_machine_insn(f, entry, true) : FP_NONE;
        if (target == FP_NONE) continue; /* a hole */
        add_edge(b, block, f->insns.at[target].block, FP_EDGE_SWITCH,
                 (struct fp_edge_info){FP_LABEL_ENTRY, (int64_t)k});
    }
    if (goes_on(b->m, insn) && same_range(f, last) && f->insns.at[last + 1].block != FP_NONE)
        add_edge(b, block, f->insns.at[last + 1].block, FP_EDGE_NORMAL,
                 (struct fp_edge_info){branch ? FP_LABEL_NOT_TAKEN : FP_LABEL_NONE, 0});
    if (insn->kind == FP_INSN_JUMP_INDIRECT && !b->table_len[last]) f->unresolved++;
}

/* Where the hub leads: to landing pads, and to code that nothing else leads to. */
static bool hub_leads_to(const struct building *b, uint32_t block, bool reached)
{
    uint32_t first = b->blocks.at[block].first_insn;
    if (b->landings_known && fp_bitset_has(&b->pads, first)) return true;
    return !reached && (!b->landings_known || b->f->unresolved);
}

static bool leads_to_hub(const struct building *b, uint32_t block)
{
    uint32_t first = b->blocks.at[block].first_insn, end = first + b->blocks.at[block].ninsns;
    const struct fp_insn *last = &b->f->insns.at[end - 1];
    if (last->kind == FP_INSN_JUMP_INDIRECT && !b->table_len[end - 1]) return true;
    if (!b->landings_known) return !b->f->unresolved && b->flags.at[block] & FP_BLOCK_CALLS;
    for (uint32_t i = first; i < end; i++)
        if (fp_bitset_has(&b->throws, i)) return true;
    return false;
}

/* The hub stands for ways that the code does not show. */
static void connect_rest(struct building *b, uint32_t ncode)
{
    struct fp_machine_function *f = b->f;
    bool *reached = FP_NEW_ARRAY(&b->scratch, bool, b->blocks.len);
    FP_VEC(uint32_t) roots = {0};
    for (size_t i = 0; i < b->edges.len; i++) reached[b->edges.at[i].dst] = true;
    for (uint32_t k = 1; k < ncode; k++)
        if (hub_leads_to(b, k, reached[k])) fp_vec_push(&b->scratch, &roots, k);
    if (!roots.len) return;
    size_t before = b->edges.len;
    for (uint32_t k = 0; k < ncode; k++)
        if (leads_to_hub(b, k))
            add_edge(b, k, codeless_block(b, &f->hub, FP_BLOCK_HUB), FP_EDGE_INDIRECT,
                     (struct fp_edge_info){0});
    if (b->edges.len == before) return; /* dead code */
    for (size_t i = 0; i < roots.len; i++)
        add_edge(b, f->hub, roots.at[i], FP_EDGE_NORMAL, (struct fp_edge_info){0});
    if (f->unresolved) /* an unresolved jump may also be a tail call */
        add_edge(b, f->hub, codeless_block(b, &f->tail, 0), FP_EDGE_NORMAL,
                 (struct fp_edge_info){0});
}

static void finish(struct building *b)
{
    struct fp_machine_function *f = b->f;
    struct fp_arena *arena = b->m->arena;
    uint32_t nedges = (uint32_t)b->edges.len;
    /* fp_cfg_new sorts edges by source, stably; the infos follow the same order */
    uint32_t *place = FP_NEW_ARRAY(&b->scratch, uint32_t, b->blocks.len + 1);
    f->edges = FP_NEW_ARRAY(arena, struct fp_edge_info, nedges);
    for (uint32_t e = 0; e < nedges; e++) place[b->edges.at[e].src + 1]++;
    for (size_t k = 0; k < b->blocks.len; k++) place[k + 1] += place[k];
    for (uint32_t e = 0; e < nedges; e++) f->edges[place[b->edges.at[e].src]++] = b->infos.at[e];
    f->cfg = fp_cfg_new(arena, (uint32_t)b->blocks.len, b->edges.at, nedges, b->flags.at);
    f->blocks = FP_NEW_ARRAY(arena, struct fp_machine_block, b->blocks.len);
    memcpy(f->blocks, b->blocks.at, b->blocks.len * sizeof *f->blocks);
}

void fp_machine_build(struct fp_machine *m, struct fp_machine_function *f)
{
    if (f->cfg) return;
    struct building b = {.m = m, .f = f};
    f->hub = f->tail = FP_NONE;
    for (size_t i = 0; i < f->ranges.len; i++) decode_range(m, f, &f->ranges.at[i]);
    if (!f->insns.len) return;
    b.leader = fp_bitset_new(&b.scratch, f->insns.len);
    b.target = FP_NEW_ARRAY(&b.scratch, uint32_t, f->insns.len);
    b.table = FP_NEW_ARRAY(&b.scratch, uint64_t *, f->insns.len);
    b.table_len = FP_NEW_ARRAY(&b.scratch, size_t, f->insns.len);
    find_targets(&b);
    find_pads(&b);
    make_blocks(&b);
    uint32_t ncode = (uint32_t)b.blocks.len;
    for (uint32_t k = 0; k < ncode; k++) edges_of_block(&b, k);
    connect_rest(&b, ncode);
    finish(&b);
    fp_arena_free(&b.scratch);
}
