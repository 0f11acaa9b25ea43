/* Functions that do not return: see returns.h. */
#include "binary/returns.h"

#include "base/bitset.h"

static bool is_endless_call(const struct fp_machine *m, const struct fp_insn *insn)
{
    return insn->kind == FP_INSN_CALL && fp_machine_never_returns(m->object, insn);
}

/* Does control come to the end of the block's instructions? */
static bool comes_through(const struct fp_machine *m, const struct fp_machine_function *f,
                          uint32_t b)
{
    for (uint32_t i = 0; i < f->blocks[b].ninsns; i++)
        if (is_endless_call(m, &f->insns.at[f->blocks[b].first_insn + i])) return false;
    return true;
}

/* Does the last instruction of a block, which is reached, leave for the caller? A jump to another
 * function returns if that function does. */
static bool returns_here(const struct fp_machine *m, const struct fp_machine_function *f,
                         uint32_t b)
{
    if (!f->blocks[b].ninsns) return b == f->tail;
    const struct fp_insn *last = &f->insns.at[f->blocks[b].first_insn + f->blocks[b].ninsns - 1];
    bool leaves = fp_cfg_out_degree(f->cfg, b) == 0;
    if (last->kind == FP_INSN_RETURN) return true;
    if (last->kind == FP_INSN_JUMP && leaves) return !fp_machine_never_returns(m->object, last);
    return leaves && last->kind != FP_INSN_STOP && last->kind != FP_INSN_CALL;
}

static bool may_return(const struct fp_machine *m, const struct fp_machine_function *f)
{
    struct fp_arena arena = {0};
    struct fp_bitset seen = fp_bitset_new(&arena, f->cfg->nblocks);
    uint32_t *work = FP_NEW_ARRAY(&arena, uint32_t, f->cfg->nblocks), n = 0;
    bool returns = false;
    work[n++] = 0;
    fp_bitset_add(&seen, 0);
    while (n && !returns) {
        uint32_t b = work[--n];
        bool through = comes_through(m, f, b);
        returns = through && returns_here(m, f, b);
        for (uint32_t e = f->cfg->first_out[b]; e < f->cfg->first_out[b + 1]; e++) {
            const struct fp_edge *edge = &f->cfg->edges[e];
            bool goes = through || edge->kind == FP_EDGE_UNWIND;
            if (!goes || fp_bitset_has(&seen, edge->dst)) continue;
            fp_bitset_add(&seen, edge->dst);
            work[n++] = edge->dst;
        }
    }
    fp_arena_free(&arena);
    return returns;
}

bool fp_returns_find(struct fp_machine *m)
{
    bool any = false;
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < m->nfunctions; i++) {
            const struct fp_machine_function *f = &m->functions[i];
            uint64_t entry = f->ranges.at[0].address;
            if (f->refused || !f->cfg || fp_table_find(&m->object->endless, entry)) continue;
            if (may_return(m, f)) continue;
            *fp_table_add(&m->object->endless, entry) = 1;
            again = any = true;
        }
    }
    return any;
}
