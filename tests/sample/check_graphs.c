/* Does all that ran lie in the graphs?
 *
 *     check-graphs PROGRAM CALLGRIND.OUT
 *
 * Compares the graphs that samples and imported counts use with what callgrind saw: executed
 * instructions of the program's code that are in no block, taken jumps within a function that are
 * no edge, blocks that do not give what they get, and runs through hubs, which the code does not
 * show. Prints each, and a line of totals; fails where there are any but the last. */
#include "binary/callgrindcounts.h"
#include "binary/edgeprofile.h"
#include "binary/frames.h"

#include <stdio.h>
#include <string.h>

struct checking {
    struct fp_arena arena;
    struct fp_object object;
    struct fp_callgrind counts;
    struct fp_edge_profile profile;
    unsigned functions, insns, jumps; /* that ran */
    unsigned hubs;                    /* functions that ran and have one */
    unsigned outside, unknown, no_edge, unbalanced, through_hubs;
};

static const char *name_of(const struct fp_machine_function *f)
{
    return f->symbol->name;
}

static bool is_code(const struct fp_object *object, uint64_t address)
{
    for (size_t i = 0; i < object->sections.len; i++) {
        const struct fp_section *s = &object->sections.at[i];
        if (address - s->address < s->size) return !strcmp(s->name, ".text");
    }
    return false;
}

static void check_insn(struct checking *c, uint64_t address)
{
    struct fp_machine_function *f = fp_machine_find(&c->profile.machine, address);
    if (!is_code(&c->object, address)) return; /* the PLT, and what runs before main */
    /* in a stripped program: the few functions of crtbegin.o, which nothing names */
    if (!f && !fp_frames_find(c->profile.machine.frames, address)) return;
    c->insns++;
    if (!f) {
        c->unknown++;
        printf("%llx ran and is in no function\n", (unsigned long long)address);
        return;
    }
    fp_machine_build(&c->profile.machine, f);
    uint32_t insn = fp_machine_insn(f, address, true);
    if (insn != FP_NONE && f->insns.at[insn].block != FP_NONE) return;
    c->outside++;
    printf("%s: %llx ran and is in no block\n", name_of(f), (unsigned long long)address);
}

static bool has_edge(const struct fp_machine_function *f, uint32_t from, uint32_t to)
{
    for (uint32_t e = f->cfg->first_out[from]; e < f->cfg->first_out[from + 1]; e++)
        if (f->cfg->edges[e].dst == to) return true;
    return false;
}

/* Callgrind calls each round of a `rep` a jump. */
static void check_jump(struct checking *c, const struct fp_taken_jump *jump)
{
    struct fp_machine_function *f = fp_machine_find(&c->profile.machine, jump->from);
    if (!f || f != fp_machine_find(&c->profile.machine, jump->to) || !jump->count) return;
    if (jump->from == jump->to) return;
    c->jumps++;
    uint32_t from = fp_machine_insn(f, jump->from, true), to = fp_machine_insn(f, jump->to, true);
    uint32_t src = from == FP_NONE ? FP_NONE : f->insns.at[from].block;
    uint32_t dst = to == FP_NONE ? FP_NONE : f->insns.at[to].block;
    bool known = src != FP_NONE && dst != FP_NONE && f->blocks[dst].first_insn == to;
    if (known && has_edge(f, src, dst)) return;
    if (known && f->hub != FP_NONE && has_edge(f, src, f->hub) && has_edge(f, f->hub, dst)) {
        c->through_hubs++;
        return;
    }
    c->no_edge++;
    printf("%s: the jump from %llx to %llx is no edge\n", name_of(f), (unsigned long long)jump->from,
           (unsigned long long)jump->to);
}

/* Frames that exit() or longjmp() end are in a block that ends with a call. */
static bool may_leave(const struct fp_machine_function *f, uint32_t block)
{
    return f->cfg->flags[block] & FP_BLOCK_CALLS;
}

static void check_flow(struct checking *c, struct fp_machine_function *f)
{
    uint64_t entries, *edges = FP_NEW_ARRAY(&c->arena, uint64_t, f->cfg->nedges);
    if (!fp_callgrind_edges(&c->counts, f, &entries, edges)) return;
    c->functions++;
    c->hubs += f->hub != FP_NONE;
    for (uint32_t b = 0; b < f->cfg->nblocks; b++) {
        uint64_t in = b ? 0 : entries, out = 0;
        if (!f->blocks[b].ninsns || !fp_cfg_out_degree(f->cfg, b) || may_leave(f, b)) continue;
        for (uint32_t i = f->cfg->first_in[b]; i < f->cfg->first_in[b + 1]; i++)
            in += edges[f->cfg->in_edges[i]];
        for (uint32_t e = f->cfg->first_out[b]; e < f->cfg->first_out[b + 1]; e++) out += edges[e];
        if (in == out) continue;
        c->unbalanced++;
        printf("%s: block %u gets %llu and gives %llu\n", name_of(f), b, (unsigned long long)in,
               (unsigned long long)out);
    }
}

static int failed(const struct fp_error *error)
{
    fprintf(stderr, "check-graphs: %s: %s\n", error->file, error->what);
    return 2;
}

int main(int argc, char **argv)
{
    struct checking c = {0};
    struct fp_error error = {0};
    if (argc != 3) return 2;
    if (!fp_object_open(&c.arena, argv[1], &c.object, &error) ||
        !fp_callgrind_read(&c.arena, argv[2], c.object.path, &c.counts, &error))
        return failed(&error);
    fp_edge_profile_init(&c.profile, &c.arena, &c.object);
    for (uint64_t i = 0; i < c.object.sections.len; i++) {
        const struct fp_section *s = &c.object.sections.at[i];
        for (uint64_t a = s->address; s->code && a < s->address + s->size; a++)
            if (fp_table_find(&c.counts.executed, a)) check_insn(&c, a);
    }
    for (size_t i = 0; i < c.profile.machine.nfunctions; i++) {
        struct fp_machine_function *f = &c.profile.machine.functions[i];
        fp_machine_build(&c.profile.machine, f);
        if (f->cfg) check_flow(&c, f);
    }
    for (size_t i = 0; i < c.counts.jumps.len; i++) check_jump(&c, &c.counts.jumps.at[i]);
    printf("functions %u, instructions %u, jumps %u; in no function %u, in no block %u, no edge %u, "
           "unbalanced %u, through hubs %u, functions with hubs %u\n",
           c.functions, c.insns, c.jumps, c.unknown, c.outside, c.no_edge, c.unbalanced,
           c.through_hubs, c.hubs);
    fp_edge_profile_free(&c.profile);
    return c.unknown || c.outside || c.no_edge || c.unbalanced;
}
