/* Lists what recovery makes of objects: list-functions [-b | -l | -m] FILE...
 *
 * One line per refused function, with its reason, and one per file with totals. For tests, -b
 * instead prints all blocks and edges, -l what is live in front of and behind instructions, and -m
 * the jumps that a moved function leaves behind. */
#include "binary/liveness.h"
#include "binary/moving.h"
#include "binary/recovered.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t last_of(const struct fp_machine_function *f, uint32_t block)
{
    return f->insns.at[f->blocks[block].first_insn + f->blocks[block].ninsns - 1].address;
}

/* B FIRST LAST, per instruction I ADDRESS, per edge E LAST TO (0 for a block without code) */
static void print_function(const struct fp_machine_function *f)
{
    printf("F %s %" PRIx64 "%s%s\n", f->symbol->name, f->symbol->address,
           f->refused ? " refused " : "", f->refused ? f->refused : "");
    for (size_t i = 0; i < f->ranges.len; i++)
        printf("R %" PRIx64 " %" PRIx64 "\n", f->ranges.at[i].address, f->ranges.at[i].size);
    if (!f->cfg) return;
    for (size_t i = 0; i < f->insns.len; i++)
        if (f->insns.at[i].block != FP_NONE)
            printf("I %" PRIx64 " %u %u\n", f->insns.at[i].address, f->insns.at[i].length,
                   f->insns.at[i].block);
    for (uint32_t b = 0; b < f->cfg->nblocks; b++)
        if (f->blocks[b].ninsns)
            printf("B %u %" PRIx64 " %" PRIx64 "\n", b,
                   f->insns.at[f->blocks[b].first_insn].address, last_of(f, b));
        else
            printf("B %u 0 0 %s\n", b,
                   b == f->tail                         ? "tail"
                   : f->cfg->flags[b] & FP_BLOCK_PAD ? "pad"
                   : f->cfg->flags[b] & FP_BLOCK_HUB ? "hub"
                                                        : "middle");
    for (uint32_t e = 0; e < f->cfg->nedges; e++)
        printf("E %u %u %d\n", f->cfg->edges[e].src, f->cfg->edges[e].dst, f->cfg->edges[e].kind);
}

static void print_liveness(const struct fp_machine *m, const struct fp_machine_function *f)
{
    static const char *const kinds[] = {"plain",  "nop",      "call",   "jump",
                                        "branch", "indirect", "return", "stop"};
    struct fp_liveness live;
    printf("F %s %" PRIx64 "\n", f->symbol->name, f->symbol->address);
    if (!f->cfg) return;
    fp_liveness_make(&live, m, f);
    for (size_t i = 0; i < f->insns.len; i++)
        if (f->insns.at[i].block != FP_NONE)
            printf("L %" PRIx64 " %x %x %s\n", f->insns.at[i].address, live.before[i],
                   live.after[i], kinds[f->insns.at[i].kind]);
    fp_liveness_free(&live);
}

/* J TARGET AT SLOT */
static void print_moving(const struct fp_machine *m, const struct fp_machine_function *f)
{
    struct fp_arena scratch = {0};
    struct fp_moving moving;
    const char *why = fp_moving_check(&scratch, m, f, &moving);
    print_function(f);
    printf("M %s\n", why ? why : "");
    for (size_t i = 0; i < moving.njumps; i++)
        printf("J %" PRIx64 " %" PRIx64 " %" PRIx64 "\n", moving.jumps[i].target,
               moving.jumps[i].at, moving.jumps[i].slot);
    fp_arena_free(&scratch);
}

struct totals {
    size_t functions, parts, refused, unmovable, unresolved, bytes, refused_bytes, blocks, jumps;
};

static void look_at(const struct fp_machine *m, const struct fp_machine_function *f,
                    struct totals *t)
{
    struct fp_arena scratch = {0};
    struct fp_moving moving;
    size_t bytes = 0;
    for (size_t i = 0; i < f->ranges.len; i++) bytes += f->ranges.at[i].size;
    const char *why = f->refused ? NULL : fp_moving_check(&scratch, m, f, &moving);
    if (f->refused || why)
        printf("%s %s (%zu bytes): %s\n", why ? "cannot move" : "refused", f->symbol->name, bytes,
               why ? why : f->refused);
    for (size_t i = 0; f->refused && i < f->labels.len; i++)
        printf("  label %" PRIx64 "\n", f->labels.at[i]);
    t->functions++;
    t->parts += f->ranges.len - 1;
    t->refused += f->refused != NULL;
    t->unmovable += why != NULL;
    t->unresolved += f->unresolved;
    t->bytes += bytes;
    t->refused_bytes += f->refused || why ? bytes : 0;
    t->blocks += f->cfg ? f->cfg->nblocks : 0;
    for (size_t i = 0; i < f->insns.len; i++)
        t->jumps += f->insns.at[i].kind == FP_INSN_JUMP_INDIRECT;
    fp_arena_free(&scratch);
}

static bool list(const char *path, char what)
{
    struct fp_arena arena = {0};
    struct fp_object object;
    struct fp_machine machine;
    struct fp_frames frames;
    struct fp_error error = {0};
    struct totals t = {0};
    clock_t start = clock();
    bool ok = fp_object_open(&arena, path, &object, &error);
    if (ok) {
        fp_machine_init(&machine, &arena, &object);
        ok = fp_frames_read(&arena, &object, &frames, &error) &&
             fp_machine_recover(&machine, &frames, &error);
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        for (size_t i = 0; ok && i < machine.nfunctions; i++)
            if (what == 'b')
                print_function(&machine.functions[i]);
            else if (what == 'm')
                print_moving(&machine, &machine.functions[i]);
            else if (what == 'l')
                print_liveness(&machine, &machine.functions[i]);
            else
                look_at(&machine, &machine.functions[i], &t);
        if (ok && !what)
            printf("%s: %zu FDEs, %zu functions, %zu parts, %zu refused, %zu cannot move; %zu bytes, "
                   "%zu of them refused; %zu blocks; %zu indirect jumps, %zu unresolved; %.2f s\n",
                   path, frames.fdes.len, t.functions, t.parts, t.refused, t.unmovable, t.bytes,
                   t.refused_bytes, t.blocks, t.jumps, t.unresolved, seconds);
        fp_object_close(&object);
    }
    if (!ok) fprintf(stderr, "%s: %s\n", path, error.what);
    fp_arena_free(&arena);
    return ok;
}

int main(int argc, char **argv)
{
    bool ok = true;
    char what = argc > 1 && argv[1][0] == '-' ? argv[1][1] : 0;
    for (int i = what ? 2 : 1; i < argc; i++) ok &= list(argv[i], what);
    return !ok;
}
