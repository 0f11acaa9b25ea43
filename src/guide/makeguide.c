/* Making guides from sums: see makeguide.h.
 *
 * Of each function the most frequent paths are kept until they make up 99.9% of its counts,
 * at most FP_GUIDE_MOST_PATHS of them. Rarer paths decide nothing in a compilation. */
#include "guide/makeguide.h"

#include "paths/edges.h"
#include "guide/guidemaker.h"
#include "base/checked.h"
#include "profile/aside.h"
#include "graph/sampleflow.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- paths ---- */

static int by_count(const void *a, const void *b)
{
    const struct fp_path_count *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

/* A copy: the edges of a lap are owned by the map, which is freed before the guide. */
uint32_t *fp_guide_path_edges(struct fp_arena *arena, const struct fp_path *path)
{
    uint32_t *edges = FP_NEW_ARRAY(arena, uint32_t, path->nedges);
    for (uint32_t i = 0; i < path->nedges; i++) edges[i] = path->edges[i];
    return edges;
}

static void keep_path(struct fp_arena *arena, const struct fp_function *f,
                      const struct fp_path_count *count, struct fp_guide_function *out)
{
    struct fp_path path;
    if (!fp_path_decode(arena, f->paths.numbering, count->id, &path)) return;
    out->paths[out->npaths++] = (struct fp_guide_path){
        .count = count->count,
        .from_entry = path.start == FP_STARTS_AT_ENTRY,
        .first_block = path.first_block,
        .end_edge = path.end_edge,
        .nedges = path.nedges,
        .edges = fp_guide_path_edges(arena, &path),
    };
}

static void keep_paths(struct fp_arena *arena, struct fp_counts *counts,
                       struct fp_guide_function *out)
{
    double total = 0, kept = 0;
    if (!counts->npaths) return;
    qsort(counts->paths, counts->npaths, sizeof *counts->paths, by_count);
    for (size_t i = 0; i < counts->npaths; i++) total += (double)counts->paths[i].count;
    size_t most = counts->npaths < FP_GUIDE_MOST_PATHS ? counts->npaths : FP_GUIDE_MOST_PATHS;
    out->paths = FP_NEW_ARRAY(arena, struct fp_guide_path, most);
    for (size_t i = 0; i < most && kept < total * 0.999; i++) {
        kept += (double)counts->paths[i].count;
        keep_path(arena, counts->function, &counts->paths[i], out);
    }
}

/* ---- the summary ---- */

static void note_block(struct fp_guide_maker *m, uint32_t block, uint64_t count)
{
    struct fp_guide_summary *summary = &m->made->summary;
    fp_vec_push(m->arena, &m->blocks, count);
    summary->total = fp_add_saturated(summary->total, count);
    if (count > summary->max_count) summary->max_count = count;
    if (block && count > summary->max_inner) summary->max_inner = count;
}

static int larger_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* The cutoffs of LLVM's own profile summaries; its passes look some of them up. */
static void make_cutoffs(struct fp_guide_maker *m)
{
    static const uint32_t cutoffs[] = {10000,  100000, 200000, 300000, 400000, 500000,
                                       600000, 700000, 800000, 900000, 950000, 990000,
                                       999000, 999900, 999990, 999999};
    struct fp_guide_summary *summary = &m->made->summary;
    const uint64_t *counts = m->blocks.at;
    size_t n = m->blocks.len, at = 0;
    uint64_t sum = 0, last = 0;
    if (n) qsort(m->blocks.at, n, sizeof *m->blocks.at, larger_first);
    summary->ncutoffs = sizeof cutoffs / sizeof *cutoffs;
    summary->cutoffs = FP_NEW_ARRAY(m->arena, struct fp_guide_cutoff, summary->ncutoffs);
    for (uint32_t i = 0; i < summary->ncutoffs; i++) {
        double wanted = (double)summary->total * cutoffs[i] / 1e6;
        while (at < n && ((double)sum < wanted || (at && counts[at] == last))) {
            last = counts[at++];
            sum = fp_add_saturated(sum, last);
        }
        summary->cutoffs[i] = (struct fp_guide_cutoff){cutoffs[i], last, at};
    }
}

/* ---- functions ---- */

/* A copy: the map is freed before the guide. */
static void note_version(struct fp_arena *arena, const struct fp_function *f,
                         struct fp_block_mark *marks, struct fp_guide_version *out)
{
    const struct fp_cfg *cfg = f->paths.cfg;
    out->cfg = fp_cfg_new(arena, cfg->nblocks, cfg->edges, cfg->nedges, cfg->flags);
    out->marks = marks;
    for (int kind = 0; kind < 2 && f->sites; kind++) {
        const struct fp_value_sites *sites = &f->sites[kind];
        out->sites[kind] =
            (struct fp_value_sites){FP_NEW_ARRAY(arena, uint32_t, sites->n), sites->n};
        for (uint32_t i = 0; i < sites->n; i++) out->sites[kind].blocks[i] = sites->blocks[i];
    }
}

struct fp_guide_function fp_guide_identify(const struct fp_function *f)
{
    return (struct fp_guide_function){
        .key = fp_name_key(f->name, f->file),
        .shape = fp_cfg_hash(f->paths.cfg),
        .id = f->id,
        .flags = f->flags,
        .path_slots = f->layout.path_slots,
        .edge_slots = f->layout.edge_slots,
        .nedges = f->paths.cfg->nedges,
    };
}

static bool has_run(const struct fp_function *f, const struct fp_guide_function *counts)
{
    uint64_t sum = counts->entries;
    for (uint32_t e = 0; e < f->paths.cfg->nedges; e++) sum |= counts->edges[e];
    return sum;
}

void fp_guide_maker_add(struct fp_guide_maker *m, const struct fp_function *f,
                        struct fp_guide_function counts)
{
    const struct fp_cfg *cfg = f->paths.cfg;
    struct fp_guide_summary *summary = &m->made->summary;
    bool ran = has_run(f, &counts);
    /* where paths are sampled, nothing seen does not tell that the function never ran: the
     * compiler must not take it for cold */
    if (f->flags & FP_FUNCTION_SAMPLED && !ran) return;
    if (f->flags & FP_FUNCTION_CALLS) {
        struct fp_block_mark *marks = fp_function_marks(m->arena, f);
        counts.content = fp_function_content(f, marks);
        if (ran) note_version(m->arena, f, marks, &counts.version);
    }
    if (f->flags & FP_FUNCTION_SAMPLED && !fp_sample_flow(cfg, &counts.entries, counts.edges) &&
        !counts.entries)
        counts.entries = 1; /* it was entered */
    summary->num_functions++;
    summary->num_counts += cfg->nblocks;
    if (counts.entries > summary->max_entries) summary->max_entries = counts.entries;
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        uint64_t count = b ? 0 : counts.entries;
        for (uint32_t k = cfg->first_in[b]; k < cfg->first_in[b + 1]; k++)
            count = fp_add_saturated(count, counts.edges[cfg->in_edges[k]]);
        note_block(m, b, count);
    }
    fp_vec_push(m->arena, &m->functions, counts);
}

void fp_guide_maker_finish(struct fp_guide_maker *m)
{
    make_cutoffs(m);
    m->made->functions = m->functions.at;
    m->made->nfunctions = m->functions.len;
}

/* ---- one profile ---- */

static void add_function(struct fp_guide_maker *m, const struct fp_module *module,
                         const struct fp_function *f, const struct fp_symbols *symbols)
{
    struct fp_counts counts;
    struct fp_edge_counts edges;
    struct fp_error error = {0};
    fp_profile_counts(m->arena, module, f, &counts);
    if (!fp_edges_of(m->arena, &counts, &edges, &error)) {
        m->made->unusable++;
        return;
    }
    struct fp_guide_function out = fp_guide_identify(f);
    out.entries = edges.entries;
    out.edges = edges.edges;
    if (f->flags & FP_FUNCTION_PATHS) keep_paths(m->arena, &counts, &out);
    if (f->flags & FP_FUNCTION_VALUES)
        fp_guide_maker_values(m, module, f, edges.blocks, symbols, &out);
    fp_guide_maker_add(m, f, out);
}

/* Of the program of a module. */
static struct fp_symbols symbols_of(struct fp_arena *arena, const struct fp_program *program)
{
    struct fp_symbols symbols;
    struct fp_strtable known;
    fp_symbols_read(arena, program->path, &symbols);
    fp_strtable_init(&known, arena);
    for (size_t i = 0; i < program->nfunctions; i++)
        fp_strtable_add(&known, program->functions[i].name);
    fp_symbols_prefer(&symbols, &known);
    return symbols;
}

void fp_guide_make(struct fp_arena *arena, const struct fp_profile *profile,
                   struct fp_new_guide *made)
{
    *made = (struct fp_new_guide){0};
    struct fp_guide_maker m = {.arena = arena, .made = made};
    for (size_t i = 0; i < profile->modules.len; i++) {
        const struct fp_module *module = profile->modules.at[i];
        struct fp_symbols symbols = symbols_of(arena, &module->program);
        for (size_t k = 0; k < module->program.nfunctions; k++)
            if (!(module->program.functions[k].flags & FP_FUNCTION_SKIPPED))
                add_function(&m, module, &module->program.functions[k], &symbols);
    }
    fp_guide_maker_finish(&m);
}

/* ---- files ---- */

static bool load(struct fp_profile *profile, const char *const *files, size_t nfiles,
                 const char *binary, struct fp_error *error)
{
    for (size_t i = 0; i < nfiles; i++)
        if (!fp_profile_add(profile, files[i], error)) return false;
    fp_profile_load_maps(profile, binary);
    for (size_t i = 0; i < profile->modules.len; i++) {
        if (profile->modules.at[i]->have_program) continue;
        *error = profile->modules.at[i]->problem;
        return false;
    }
    if (!profile->modules.len) return fp_fail(error, files[0], "holds no run");
    return true;
}

static struct fp_guide_source source_of(const char *path)
{
    struct stat info;
    if (stat(path, &info) < 0) return (struct fp_guide_source){0};
    return (struct fp_guide_source){(uint64_t)info.st_size,
                                    (uint64_t)info.st_mtim.tv_sec * 1000000000u +
                                        (uint64_t)info.st_mtim.tv_nsec};
}

static bool make_by_sum(struct fp_arena *arena, const char *const *files, size_t nfiles,
                        const char *binary, struct fp_new_guide *made, struct fp_error *error)
{
    struct fp_profile *profile = fp_profile_new();
    profile->all_builds = true; /* functions find their counts by name and shape */
    bool ok = load(profile, files, nfiles, binary, error);
    if (ok) fp_guide_make(arena, profile, made);
    fp_profile_free(profile);
    return ok;
}

bool fp_guide_write(const char *const *files, size_t nfiles, const char *binary,
                    enum fp_guide_by by, const char *out, struct fp_error *error)
{
    struct fp_arena arena = {0};
    struct fp_writer writer = {0};
    struct fp_new_guide made;
    struct fp_error no_counts = {0};
    bool ok =
        by == FP_GUIDE_BY_SUM && make_by_sum(&arena, files, nfiles, binary, &made, &no_counts);
    /* a combined profile has no sums: use the mean */
    if (!ok) ok = fp_guide_make_by_runs(&arena, files, nfiles, binary, by, &made, error);
    if (!ok && no_counts.set) *error = no_counts;
    if (ok) {
        struct fp_guide_source source = source_of(files[0]);
        fp_guide_encode(&writer, &source, &made.summary, made.functions, made.nfunctions);
        ok = fp_file_write(out, writer.bytes, writer.len, error);
    }
    fp_writer_free(&writer);
    fp_arena_free(&arena);
    return ok;
}

/* ---- the cache ---- */

static bool is_current(const char *guide_path, const struct fp_guide_source *source)
{
    struct fp_arena arena = {0};
    struct fp_guide guide;
    struct fp_error error = {0};
    bool ok = access(guide_path, R_OK) == 0 && fp_guide_open(&arena, guide_path, &guide, &error);
    ok = ok && guide.source.size == source->size && guide.source.time_ns == source->time_ns;
    if (ok) fp_guide_close(&guide);
    fp_arena_free(&arena);
    return ok;
}

/* A name of our own in the folder for temporary files. */
static char *name_elsewhere(struct fp_arena *arena, const char *path)
{
    const char *folder = getenv("TMPDIR");
    return fp_arena_printf(arena, "%s/footpath-%u-%016llx.guide",
                           folder && *folder ? folder : "/tmp", (unsigned)getuid(),
                           (unsigned long long)fp_hash_string(path));
}

static const char *suffix_of(enum fp_guide_by by)
{
    switch (by) {
    case FP_GUIDE_BY_SUM: break;
    case FP_GUIDE_BY_MEAN: return ".mean";
    case FP_GUIDE_BY_WORST: return ".worst";
    }
    return "";
}

const char *fp_guide_cached(struct fp_arena *arena, const char *path, enum fp_guide_by by,
                            struct fp_error *error)
{
    struct fp_beside beside_it;
    struct fp_error ignored = {0};
    if (fp_guide_is(path)) return path;
    /* The guide is known by the profile's size and time, which say nothing of runs beside it. Where
     * they cannot be put into the profile, they are read with it when the guide is made. */
    fp_profile_fold(path, &beside_it, &ignored);
    struct fp_guide_source source = source_of(path);
    char *beside = fp_arena_printf(arena, "%s%s.guide", path, suffix_of(by));
    char *elsewhere = name_elsewhere(arena, beside);
    if (is_current(beside, &source)) return beside;
    if (is_current(elsewhere, &source)) return elsewhere;
    struct fp_error first = {0};
    if (fp_guide_write(&path, 1, NULL, by, beside, &first)) return beside;
    if (fp_guide_write(&path, 1, NULL, by, elsewhere, error)) return elsewhere;
    return NULL;
}
