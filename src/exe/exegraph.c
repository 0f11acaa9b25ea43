/* The graphs of counted functions as text, for tests and for people who compare counts with those
 * of other tools: see exework.h.
 *
 *     F 401136 main 500010        old address, name, new address
 *     B 0 401136 5 0 401149       block, its first address (0: no code), instructions, flags, end
 *     E 0 1 taken 40113f          edge: from, to, what takes it, address of the jump
 */
#include "exe/exework.h"

#include <stdio.h>

static const char *way_of(const struct fp_machine_function *m, uint32_t e)
{
    const struct fp_edge *edge = &m->cfg->edges[e];
    switch (edge->kind) {
    case FP_EDGE_SWITCH: return "table";
    case FP_EDGE_UNWIND: return "unwind";
    case FP_EDGE_INDIRECT: return "indirect";
    case FP_EDGE_TWICE: return "twice";
    case FP_EDGE_NORMAL: break;
    }
    if (m->edges[e].label == FP_LABEL_TAKEN) return "taken";
    return m->edges[e].label == FP_LABEL_NOT_TAKEN ? "not-taken" : "next";
}

static void say_function(FILE *out, const struct fp_exe_function *x)
{
    const struct fp_machine_function *m = x->m;
    fprintf(out, "F %llx %s %llx\n", (unsigned long long)m->symbol->address, m->symbol->name,
            (unsigned long long)x->start);
    for (uint32_t b = 0; b < m->cfg->nblocks; b++) {
        const struct fp_machine_block *block = &m->blocks[b];
        unsigned long long at = 0, end = 0;
        if (block->ninsns) {
            const struct fp_insn *first = &m->insns.at[block->first_insn];
            const struct fp_insn *last = first + block->ninsns - 1;
            at = first->address;
            end = last->address + last->length;
        }
        fprintf(out, "B %u %llx %u %u %llx\n", b, at, block->ninsns, m->cfg->flags[b], end);
    }
    for (uint32_t e = 0; e < m->cfg->nedges; e++) {
        const struct fp_edge *edge = &m->cfg->edges[e];
        const struct fp_machine_block *block = &m->blocks[edge->src];
        unsigned long long at =
            block->ninsns ? m->insns.at[block->first_insn + block->ninsns - 1].address : 0;
        fprintf(out, "E %u %u %s %llx\n", edge->src, edge->dst, way_of(m, e), at);
    }
}

bool fp_exe_write_graph(struct fp_exe_work *w)
{
    if (!w->options->graph) return true;
    FILE *out = fopen(w->options->graph, "w");
    if (!out) return fp_fail(w->error, w->options->graph, "cannot be written");
    for (size_t i = 0; i < w->nfunctions; i++)
        if (!w->functions[i].left_alone) say_function(out, &w->functions[i]);
    bool ok = !ferror(out);
    ok &= fclose(out) == 0;
    return ok || fp_fail(w->error, w->options->graph, "cannot be written");
}
