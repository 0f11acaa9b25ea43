/* Recovered functions to cfgs: see machinecfg.h. */
#include "binary/machinecfg.h"

#include <stdlib.h>
#include <string.h>

/* ---- single instructions ---- */

static const struct fp_insn *insn_at(const struct fp_exact_input *in, uint32_t i)
{
    return &in->f->insns.at[i];
}

static bool adjacent(const struct fp_exact_input *in, uint32_t i)
{
    return i + 1 < in->f->insns.len &&
           insn_at(in, i + 1)->address == insn_at(in, i)->address + insn_at(in, i)->length;
}

static size_t range_of(const struct fp_machine_function *f, uint32_t i)
{
    size_t r = 0;
    while (r + 1 < f->ranges.len && i >= f->ranges.at[r + 1].first_insn) r++;
    return r;
}

/* Whether the code behind a call is in the function: a compiler puts nothing behind a call at its
 * end, but padding, if the call does not return. */
static bool returns(const struct fp_exact_input *in, uint32_t call)
{
    if (fp_machine_never_returns(in->object, insn_at(in, call))) return false;
    uint32_t i = call;
    while (adjacent(in, i) && insn_at(in, i + 1)->kind == FP_INSN_NOP) i++;
    return adjacent(in, i) && range_of(in->f, i) == range_of(in->f, i + 1);
}

/* As the instruction itself says. */
static bool goes_on(const struct fp_exact_input *in, uint32_t i)
{
    switch ((enum fp_insn_kind)insn_at(in, i)->kind) {
    case FP_INSN_PLAIN:
    case FP_INSN_NOP:
    case FP_INSN_SKIP:
    case FP_INSN_BRANCH: return true;
    case FP_INSN_CALL: return returns(in, i);
    case FP_INSN_JUMP:
    case FP_INSN_JUMP_INDIRECT:
    case FP_INSN_RETURN:
    case FP_INSN_STOP: break;
    }
    return false;
}

/* Control goes on to the next instruction. */
static bool falls(const struct fp_exact_input *in, uint32_t i)
{
    return goes_on(in, i) && adjacent(in, i) && range_of(in->f, i) == range_of(in->f, i + 1);
}

static const struct fp_call_site *site_of(const struct fp_exact_input *in, uint32_t call)
{
    const struct fp_insn *insn = insn_at(in, call);
    if (insn->kind != FP_INSN_CALL || insn->flags & FP_INSN_TWICE) return NULL;
    const struct fp_lsda *lsda = in->lsdas[range_of(in->f, call)];
    return lsda ? fp_lsda_site(lsda, insn->address + insn->length - 1) : NULL;
}

uint32_t fp_exact_pad(const struct fp_exact_input *in, uint32_t call)
{
    const struct fp_call_site *site = site_of(in, call);
    return site && site->pad ? fp_machine_insn(in->f, site->pad, true) : FP_NONE;
}

static bool broken(const struct fp_exact_input *in, uint32_t i)
{
    const struct fp_insn *insn = insn_at(in, i);
    size_t len;
    const unsigned char *bytes = fp_object_bytes(in->object, insn->address, &len);
    if (insn->kind != FP_INSN_STOP || insn->length != 1) return false;
    return !bytes || (*bytes != 0xf4 && *bytes != 0xcc); /* hlt, int3 */
}

static bool in_function(const struct fp_machine_function *f, uint64_t address)
{
    for (size_t i = 0; i < f->ranges.len; i++)
        if (address - f->ranges.at[i].address < f->ranges.at[i].size) return true;
    return false;
}

static const struct fp_exact_jump *jump_at(const struct fp_exact_input *in, uint32_t i)
{
    size_t low = 0, high = in->njumps;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (in->jumps[middle].insn < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low < in->njumps && in->jumps[low].insn == i ? &in->jumps[low] : NULL;
}

/* ---- reach ---- */

struct following {
    const struct fp_exact_input *in;
    struct fp_exact_reach *reach;
    FP_VEC(uint32_t) work;
};

static void lead_to(struct following *w, uint32_t i)
{
    fp_bitset_add(&w->reach->leader, i);
    if (!fp_bitset_has(&w->reach->reached, i)) fp_vec_push(w->in->arena, &w->work, i);
}

static void problem(struct following *w, const char *what)
{
    if (!w->reach->problem) w->reach->problem = what;
}

static void follow_call(struct following *w, uint32_t i)
{
    const struct fp_insn *insn = insn_at(w->in, i);
    const struct fp_call_site *site = site_of(w->in, i);
    uint32_t pad = fp_exact_pad(w->in, i);
    if (insn->target != insn_at(w->in, 0)->address && in_function(w->in->f, insn->target))
        problem(w, "it calls its own middle");
    if (site && site->pad && pad == FP_NONE) problem(w, "exceptions land outside of it");
    if (pad != FP_NONE) lead_to(w, pad);
    if ((pad != FP_NONE || insn->flags & FP_INSN_TWICE) && falls(w->in, i)) lead_to(w, i + 1);
    if (insn->flags & FP_INSN_TWICE && !falls(w->in, i))
        problem(w, "nothing follows a call that returns twice");
}

static void follow_jump(struct following *w, uint32_t i)
{
    const struct fp_insn *insn = insn_at(w->in, i);
    uint32_t to = fp_machine_insn(w->in->f, insn->target, true);
    if (to != FP_NONE)
        lead_to(w, to);
    else if (in_function(w->in->f, insn->target))
        problem(w, "it jumps into an instruction");
    if (insn->kind == FP_INSN_BRANCH && adjacent(w->in, i)) lead_to(w, i + 1);
}

/* Gives whether control goes on behind the instruction. */
static bool follow_insn(struct following *w, uint32_t i)
{
    const struct fp_exact_jump *jump;
    switch ((enum fp_insn_kind)insn_at(w->in, i)->kind) {
    case FP_INSN_PLAIN:
    case FP_INSN_NOP:
    case FP_INSN_SKIP:
    case FP_INSN_RETURN: break;
    case FP_INSN_CALL: follow_call(w, i); break;
    case FP_INSN_JUMP:
    case FP_INSN_BRANCH: follow_jump(w, i); break;
    case FP_INSN_JUMP_INDIRECT:
        jump = jump_at(w->in, i);
        for (size_t k = 0; jump && k < jump->ntargets; k++) lead_to(w, jump->targets[k]);
        break;
    case FP_INSN_STOP:
        if (broken(w->in, i)) problem(w, "it has bytes that are no instruction");
        break;
    }
    if (falls(w->in, i)) return true;
    /* compilers end a part like that where they know that control never comes there */
    if (goes_on(w->in, i) && range_of(w->in->f, i) == 0) problem(w, "it runs off its end");
    return false;
}

void fp_exact_follow(const struct fp_exact_input *in, struct fp_exact_reach *reach)
{
    struct following w = {.in = in, .reach = reach};
    *reach = (struct fp_exact_reach){.reached = fp_bitset_new(in->arena, in->f->insns.len),
                                     .leader = fp_bitset_new(in->arena, in->f->insns.len)};
    lead_to(&w, 0);
    while (w.work.len) {
        uint32_t i = fp_vec_pop(&w.work);
        while (!fp_bitset_has(&reach->reached, i)) {
            fp_bitset_add(&reach->reached, i);
            if (!follow_insn(&w, i)) break;
            i++;
        }
    }
    for (uint32_t i = 0; i + 1 < in->f->insns.len; i++)
        if (insn_at(in, i)->kind == FP_INSN_SKIP && fp_bitset_has(&reach->leader, i + 1))
            problem(&w, "it jumps into an instruction, and to it");
}

/* ---- blocks ---- */

struct exact_building {
    const struct fp_exact_input *in;
    const struct fp_exact_reach *reach;
    struct fp_machine_function *f;
    struct fp_arena *arena; /* of the result */
    FP_VEC(struct fp_machine_block) blocks;
    FP_VEC(uint8_t) flags;
    FP_VEC(struct fp_edge) edges;
    FP_VEC(struct fp_edge_info) infos;
    uint32_t *pad_of; /* per instruction: the pad in front of it, or FP_NONE */
    uint32_t ncode;
};

static uint32_t add_block(struct exact_building *b, uint32_t first, uint8_t flags)
{
    struct fp_machine_block block = {first, 0};
    fp_vec_push(b->in->arena, &b->blocks, block);
    fp_vec_push(b->in->arena, &b->flags, flags);
    return (uint32_t)b->blocks.len - 1;
}

static uint8_t flags_of(const struct exact_building *b, const struct fp_insn *insn)
{
    unsigned flags = insn->flags & FP_INSN_STORES ? FP_BLOCK_STORES : 0;
    flags |= FP_BLOCK_LEAVES; /* a signal may strike at any instruction */
    if (insn->kind == FP_INSN_CALL) flags |= FP_BLOCK_CALLS;
    if (insn->kind == FP_INSN_CALL && fp_machine_never_returns(b->in->object, insn))
        flags |= FP_BLOCK_COLD;
    return (uint8_t)flags;
}

static void make_blocks(struct exact_building *b)
{
    bool open = false;
    for (uint32_t i = 0; i < b->f->insns.len; i++) {
        struct fp_insn *insn = &b->f->insns.at[i];
        insn->block = FP_NONE;
        if (!fp_bitset_has(&b->reach->reached, i)) {
            open = false;
            continue;
        }
        if (!open || fp_bitset_has(&b->reach->leader, i)) add_block(b, i, 0);
        insn->block = (uint32_t)b->blocks.len - 1;
        b->blocks.at[insn->block].ninsns++;
        b->flags.at[insn->block] |= flags_of(b, insn);
        open = falls(b->in, i);
    }
    b->ncode = (uint32_t)b->blocks.len;
}

/* ---- edges ---- */

static void add_edge(struct exact_building *b, uint32_t src, uint32_t dst, enum fp_edge_kind kind,
                     enum fp_edge_label label, int64_t value)
{
    for (size_t i = b->edges.len; i > 0 && b->edges.at[i - 1].src == src; i--)
        if (b->edges.at[i - 1].dst == dst) return;
    struct fp_edge edge = {src, dst, kind};
    struct fp_edge_info info = {label, value};
    fp_vec_push(b->in->arena, &b->edges, edge);
    fp_vec_push(b->in->arena, &b->infos, info);
}

static uint32_t block_of(const struct exact_building *b, uint32_t insn)
{
    return b->f->insns.at[insn].block;
}

static uint32_t pad_block(struct exact_building *b, uint32_t insn)
{
    if (b->pad_of[insn] == FP_NONE) {
        b->pad_of[insn] = add_block(b, 0, FP_BLOCK_PAD);
        struct fp_machine_pad pad = {b->pad_of[insn], insn};
        fp_vec_push(b->arena, &b->f->pads, pad);
    }
    return b->pad_of[insn];
}

static uint32_t tail_block(struct exact_building *b)
{
    if (b->f->tail == FP_NONE) b->f->tail = add_block(b, 0, 0);
    return b->f->tail;
}

static void edges_of_jump(struct exact_building *b, uint32_t block, const struct fp_insn *insn)
{
    bool branch = insn->kind == FP_INSN_BRANCH;
    uint32_t to = fp_machine_insn(b->f, insn->target, true);
    if (to != FP_NONE)
        add_edge(b, block, block_of(b, to), FP_EDGE_NORMAL, branch ? FP_LABEL_TAKEN : FP_LABEL_NONE,
                 0);
    else if (branch)
        add_edge(b, block, tail_block(b), FP_EDGE_NORMAL, FP_LABEL_TAKEN, 0);
}

/* All but the edges of indirect jumps and of calls that return twice. */
static void edges_of_block(struct exact_building *b, uint32_t block)
{
    uint32_t last = b->blocks.at[block].first_insn + b->blocks.at[block].ninsns - 1;
    const struct fp_insn *insn = &b->f->insns.at[last];
    bool branch = insn->kind == FP_INSN_BRANCH;
    uint32_t pad = insn->kind == FP_INSN_CALL ? fp_exact_pad(b->in, last) : FP_NONE;
    if (insn->kind == FP_INSN_JUMP || branch) edges_of_jump(b, block, insn);
    if (insn->kind == FP_INSN_CALL && insn->flags & FP_INSN_TWICE) return;
    if (falls(b->in, last))
        add_edge(b, block, block_of(b, last + 1), FP_EDGE_NORMAL,
                 branch ? FP_LABEL_NOT_TAKEN : FP_LABEL_NONE, 0);
    if (pad != FP_NONE) add_edge(b, block, pad_block(b, pad), FP_EDGE_UNWIND, FP_LABEL_NONE, 0);
}

/* ---- indirect jumps ---- */

static uint32_t root_of(uint32_t *set, uint32_t i)
{
    while (set[i] != i) i = set[i] = set[set[i]];
    return i;
}

/* Jumps that share a target are one set: its targets cannot tell which jump led to them. */
static void share_targets(const struct exact_building *b, uint32_t *set)
{
    const struct fp_exact_input *in = b->in;
    uint32_t *first = FP_NEW_ARRAY(in->arena, uint32_t, b->f->insns.len); /* jump + 1 */
    for (uint32_t j = 0; j < in->njumps; j++) {
        set[j] = j;
        if (!fp_bitset_has(&b->reach->reached, in->jumps[j].insn)) continue;
        for (size_t k = 0; k < in->jumps[j].ntargets; k++) {
            uint32_t to = in->jumps[j].targets[k];
            if (first[to])
                set[root_of(set, j)] = root_of(set, first[to] - 1);
            else
                first[to] = j + 1;
        }
    }
}

static void edges_of_indirect(struct exact_building *b)
{
    const struct fp_exact_input *in = b->in;
    uint32_t *set = FP_NEW_ARRAY(in->arena, uint32_t, in->njumps);
    uint32_t *members = FP_NEW_ARRAY(in->arena, uint32_t, in->njumps);
    uint32_t *hub = FP_NEW_ARRAY(in->arena, uint32_t, in->njumps);
    share_targets(b, set);
    for (uint32_t j = 0; j < in->njumps; j++) {
        hub[j] = FP_NONE;
        if (fp_bitset_has(&b->reach->reached, in->jumps[j].insn)) members[root_of(set, j)]++;
    }
    for (uint32_t j = 0; j < in->njumps; j++) {
        const struct fp_exact_jump *jump = &in->jumps[j];
        if (!fp_bitset_has(&b->reach->reached, jump->insn) || !jump->ntargets) continue;
        uint32_t root = root_of(set, j), src = block_of(b, jump->insn);
        bool shared = members[root] > 1;
        if (shared && hub[root] == FP_NONE) hub[root] = add_block(b, 0, FP_BLOCK_HUB);
        if (shared) {
            add_edge(b, src, hub[root], FP_EDGE_INDIRECT, FP_LABEL_NONE, 0);
            continue;
        }
        for (size_t k = 0; k < jump->ntargets; k++)
            add_edge(b, src, block_of(b, jump->targets[k]), FP_EDGE_SWITCH, FP_LABEL_ENTRY,
                     (int64_t)jump->entries[k]);
    }
    /* edges of one block are added together: add_edge looks for doubles among the last ones */
    for (uint32_t h = 0; h < in->njumps; h++)
        for (uint32_t j = 0; hub[h] != FP_NONE && j < in->njumps; j++)
            for (size_t k = 0; root_of(set, j) == h && k < in->jumps[j].ntargets; k++)
                if (fp_bitset_has(&b->reach->reached, in->jumps[j].insn))
                    add_edge(b, hub[h], block_of(b, in->jumps[j].targets[k]), FP_EDGE_NORMAL,
                             FP_LABEL_NONE, 0);
}

/* ---- the rest ---- */

/* A twice edge stands alone at its end: where others lead there too, a block without code comes
 * in between. */
static void edges_of_twice(struct exact_building *b)
{
    uint32_t *in_degree = FP_NEW_ARRAY(b->in->arena, uint32_t, b->blocks.len);
    for (size_t e = 0; e < b->edges.len; e++) in_degree[b->edges.at[e].dst]++;
    for (uint32_t k = 0; k < b->ncode; k++) {
        uint32_t last = b->blocks.at[k].first_insn + b->blocks.at[k].ninsns - 1;
        const struct fp_insn *insn = &b->f->insns.at[last];
        if (insn->kind != FP_INSN_CALL || !(insn->flags & FP_INSN_TWICE)) continue;
        uint32_t to = block_of(b, last + 1), middle;
        if (!in_degree[to] && to) {
            add_edge(b, k, to, FP_EDGE_TWICE, FP_LABEL_NONE, 0);
            continue;
        }
        middle = add_block(b, 0, 0);
        add_edge(b, k, middle, FP_EDGE_TWICE, FP_LABEL_NONE, 0);
        add_edge(b, middle, to, FP_EDGE_NORMAL, FP_LABEL_NONE, 0);
    }
}

static void edges_of_pads(struct exact_building *b)
{
    for (size_t i = 0; i < b->f->pads.len; i++)
        add_edge(b, b->f->pads.at[i].block, block_of(b, b->f->pads.at[i].insn), FP_EDGE_NORMAL,
                 FP_LABEL_NONE, 0);
}

static void finish(struct exact_building *b)
{
    uint32_t nedges = (uint32_t)b->edges.len;
    /* fp_cfg_new sorts edges by source, stably; the infos follow the same order */
    uint32_t *place = FP_NEW_ARRAY(b->in->arena, uint32_t, b->blocks.len + 1);
    b->f->edges = FP_NEW_ARRAY(b->arena, struct fp_edge_info, nedges);
    for (uint32_t e = 0; e < nedges; e++) place[b->edges.at[e].src + 1]++;
    for (size_t k = 0; k < b->blocks.len; k++) place[k + 1] += place[k];
    for (uint32_t e = 0; e < nedges; e++) b->f->edges[place[b->edges.at[e].src]++] = b->infos.at[e];
    b->f->cfg = fp_cfg_new(b->arena, (uint32_t)b->blocks.len, b->edges.at, nedges, b->flags.at);
    b->f->blocks = FP_NEW_ARRAY(b->arena, struct fp_machine_block, b->blocks.len);
    memcpy(b->f->blocks, b->blocks.at, b->blocks.len * sizeof *b->f->blocks);
}

static int by_insn(const void *a, const void *b)
{
    const struct fp_machine_pad *x = a, *y = b;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
}

void fp_exact_build(const struct fp_exact_input *in, const struct fp_exact_reach *reach,
                    struct fp_arena *arena)
{
    struct exact_building b = {.in = in, .reach = reach, .f = in->f, .arena = arena};
    b.f->hub = b.f->tail = FP_NONE;
    b.pad_of = FP_NEW_ARRAY(in->arena, uint32_t, b.f->insns.len);
    for (size_t i = 0; i < b.f->insns.len; i++) b.pad_of[i] = FP_NONE;
    make_blocks(&b);
    for (uint32_t k = 0; k < b.ncode; k++) edges_of_block(&b, k);
    edges_of_indirect(&b);
    edges_of_pads(&b);
    edges_of_twice(&b);
    if (b.f->pads.len) qsort(b.f->pads.at, b.f->pads.len, sizeof *b.f->pads.at, by_insn);
    finish(&b);
}
