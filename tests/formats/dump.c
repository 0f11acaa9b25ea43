/* Guides and divisions as text: the golden files of formats that no command prints.
 *
 *     dump-formats guide FILE PROGRAM
 *     dump-formats division FILE
 */
#include "guide/guide.h"
#include "p3/division.h"
#include "profile/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void print_path(const struct fp_guide_path *path)
{
    printf("    path %" PRIu64 " times, from %s %u:", path->count,
           path->from_entry ? "the entry" : "block", path->first_block);
    for (uint32_t i = 0; i < path->nedges; i++) printf(" %u", path->edges[i]);
    if (path->end_edge != FP_NONE) printf(", ended by %u", path->end_edge);
    putchar('\n');
}

static void print_guided(const struct fp_guide_function *f)
{
    printf("  entries %" PRIu64 ", edges", f->entries);
    for (uint32_t i = 0; i < f->nedges; i++) printf(" %" PRIu64, f->edges[i]);
    putchar('\n');
    for (uint32_t i = 0; i < f->npaths; i++) print_path(&f->paths[i]);
    for (uint32_t i = 0; i < f->nvalues; i++) {
        const struct fp_guide_value *v = &f->values[i];
        printf("    value of kind %d, site %u: %" PRIu64 " times %s %" PRIu64 "\n", (int)v->kind,
               v->site, v->count, v->target ? v->target : "", v->target ? 0 : v->size);
    }
}

static void print_summary(const struct fp_guide_summary *s)
{
    printf("total %" PRIu64 ", largest %" PRIu64 ", inner %" PRIu64 ", entries %" PRIu64
           ", blocks %" PRIu64 ", functions %" PRIu64 "\n",
           s->total, s->max_count, s->max_inner, s->max_entries, s->num_counts, s->num_functions);
    for (uint32_t i = 0; i < s->ncutoffs; i++)
        printf("  cutoff %u: %" PRIu64 " or more, %" PRIu64 " blocks\n", s->cutoffs[i].cutoff,
               s->cutoffs[i].min_count, s->cutoffs[i].num_counts);
}

static void print_version(struct fp_arena *arena, const struct fp_guide *guide, size_t index)
{
    struct fp_guide_function f;
    enum fp_guide_kept kept = fp_guide_read(arena, guide, index, &f);
    const struct fp_cfg *cfg = f.version.cfg;
    if (kept == FP_GUIDE_NEVER_RAN) printf("%016" PRIx64 ": never ran\n", f.key);
    if (kept != FP_GUIDE_VERSION) return;
    printf("%016" PRIx64 ": content %016" PRIx64 "\n", f.key, f.content);
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        const struct fp_block_mark *mark = &f.version.marks[b];
        printf("  block %u: content %08x, kind %08x, calls %08x, line %u, edges to", b,
               mark->content, mark->kind, mark->calls, mark->line);
        for (uint32_t e = cfg->first_out[b]; e < cfg->first_out[b + 1]; e++)
            printf(" %u", cfg->edges[e].dst);
        putchar('\n');
    }
    for (int kind = 0; kind < 2; kind++)
        for (uint32_t i = 0; i < f.version.sites[kind].n; i++)
            printf("  %s %u in block %u\n", kind == FP_VALUE_SIZE ? "size" : "target", i,
                   f.version.sites[kind].blocks[i]);
}

static bool dump_guide(struct fp_arena *arena, const char *path, const char *program_path,
                       struct fp_error *error)
{
    struct fp_guide guide;
    struct fp_program program;
    if (!fp_guide_open(arena, path, &guide, error) ||
        !fp_program_read(arena, program_path, &program, error))
        return false;
    printf("version %u, of %zu functions; made from %" PRIu64 " bytes\n", guide.format,
           guide.nfunctions, guide.source.size);
    print_summary(&guide.summary);
    for (size_t i = 0; i < program.nfunctions; i++) {
        const struct fp_function *f = &program.functions[i];
        struct fp_guide_function counts;
        enum fp_guide_match match = fp_guide_find(arena, &guide, f, f->id, &counts);
        printf("%s: %s\n", f->name, match == FP_GUIDE_FOUND ? "found" : "NOT FOUND");
        if (match == FP_GUIDE_FOUND) print_guided(&counts);
    }
    for (size_t i = 0; i < guide.nfunctions; i++) print_version(arena, &guide, i);
    fp_guide_close(&guide);
    return true;
}

static void print_set(const char *what, const struct fp_bitset *set, size_t bits)
{
    printf(", %s", what);
    for (size_t i = 0; i < bits && i < set->bits; i++)
        if (fp_bitset_has(set, i)) printf(" %zu", i);
}

static void print_part(const struct fp_division *division, const struct fp_part *part)
{
    printf("%s %016" PRIx64 ": kind %d, copy %u, weights", part->name, part->function,
           (int)part->kind, part->copy);
    for (uint32_t i = 0; i < part->nweights; i++) printf(" %" PRIu64, part->weights[i]);
    putchar('\n');
    for (uint32_t copy = 0; copy < division->ncopies; copy++) {
        printf("  copy %u: counts %s", copy, fp_part_concerns(part, copy) ? "here" : "nothing");
        if (part->kind == FP_PART_PATHS) {
            print_set("edges", &part->edges[copy], part->nedges);
            print_set("laps", &part->laps[copy], part->nlaps);
        }
        putchar('\n');
    }
}

static bool dump_division(struct fp_arena *arena, const char *path, struct fp_error *error)
{
    struct fp_division division;
    if (!fp_division_read(arena, path, &division, error)) return false;
    printf("%u copies by %s, %s labels, %u functions profitable, of %s ", division.ncopies,
           fp_strategy_name(division.strategy), division.plain_labels ? "plain" : "weighted",
           division.profitable, division.program);
    for (size_t i = 0; i < division.build_id_len; i++) printf("%02x", division.build_id[i]);
    putchar('\n');
    for (size_t i = 0; i < division.parts.len; i++) print_part(&division, &division.parts.at[i]);
    return true;
}

int main(int argc, char **argv)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    bool ok = argc == 4   ? dump_guide(&arena, argv[2], argv[3], &error)
              : argc == 3 ? dump_division(&arena, argv[2], &error)
                          : false;
    if (!ok) fprintf(stderr, "%s\n", error.set ? error.what : "what is to be read?");
    fp_arena_free(&arena);
    return !ok;
}
