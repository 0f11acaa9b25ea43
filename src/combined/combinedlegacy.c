/* Types 8 and 9 of legacy files: see combinedlegacy.h.
 *
 * What such a packet has no place for is lost on the way out: raw counts, least and
 * greatest, calls of functions (an entry edge has the frequency 1 there), and paths
 * that never ended. On the way in the ends of the histogram stand for least and
 * greatest. */
#include "combined/combinedlegacy.h"

#include "base/checked.h"
#include "base/checksum.h"
#include "base/io.h"
#include "combined/combinedfile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static void write_histogram(struct fp_writer *out, uint32_t id, const struct fp_distribution *d)
{
    const struct fp_histogram *h = &d->histogram;
    uint32_t used = 0;
    for (uint32_t i = 0; i < h->nbins; i++) used += h->bins[i] > 0;
    fp_write_f64(out, d->sum);
    fp_write_f64(out, d->squares);
    fp_write_f64(out, fp_histogram_width(h));
    fp_write_f64(out, fp_histogram_lower(h));
    fp_write_f64(out, fp_histogram_lower(h) + h->nbins * fp_histogram_width(h));
    fp_write_u32(out, id);
    fp_write_u32(out, d->nonzero > UINT32_MAX ? UINT32_MAX : (uint32_t)d->nonzero);
    fp_write_u8(out, (uint8_t)used);
    for (uint32_t i = 0; i < h->nbins; i++) {
        if (!(h->bins[i] > 0)) continue;
        fp_write_u8(out, (uint8_t)i);
        fp_write_f64(out, h->bins[i]);
    }
}

/* An entry is 1 in every run, relative to itself. */
static void write_entry(struct fp_writer *out, uint32_t id, uint64_t trials, uint32_t bins)
{
    struct fp_arena arena = {0};
    struct fp_distribution d = {0};
    for (uint64_t i = 0; i < trials; i++) fp_distribution_add(&arena, &d, 1, 1, bins);
    write_histogram(out, id, &d);
    fp_arena_free(&arena);
}

struct exporting {
    struct fp_arena arena;
    const struct fp_combined *combined;
    const struct fp_combined_function **functions; /* in the order of the module */
    const struct fp_function **order;
    size_t nfunctions;
    uint64_t trials;
};

static bool find_functions(struct exporting *x, const struct fp_program *program,
                           enum fp_trial_kind kind, struct fp_error *error)
{
    struct fp_combined_function *keys = fp_combine_keys(&x->arena, program);
    x->order = fp_legacy_order(&x->arena, program, &x->nfunctions);
    x->functions = FP_NEW_ARRAY(&x->arena, const struct fp_combined_function *, x->nfunctions);
    bool any = false;
    for (size_t i = 0; i < x->nfunctions; i++) {
        const struct fp_combined_function *key = &keys[x->order[i] - program->functions];
        const struct fp_combined_function *f =
            key->name ? fp_combined_lookup(x->combined, key) : NULL;
        if (!f || (kind == FP_TRIALS_PATHS && f->numbering && f->numbering != key->numbering))
            return fp_fail(error, x->order[i]->name, "is not in the combined profile as in %s",
                           program->path);
        if (any && f->trials[kind] != x->trials)
            return fp_fail(error, f->name,
                           "has %" PRIu64 " trials where others have %" PRIu64
                           "; the legacy format has one number for all",
                           f->trials[kind], x->trials);
        x->trials = f->trials[kind];
        x->functions[i] = f;
        any = true;
    }
    return true;
}

static void write_edges(struct fp_writer *out, struct exporting *x)
{
    struct fp_writer body = {0};
    uint32_t id = 0, written = 0;
    for (size_t i = 0; i < x->nfunctions; i++) {
        size_t n;
        uint32_t *edges = fp_legacy_edges(&x->arena, x->order[i], &n);
        for (size_t k = 0; k < n; k++, id++) {
            bool entry = edges[k] == FP_NONE;
            const struct fp_event *event = fp_combined_find(
                x->functions[i], entry ? FP_EVENT_ENTRY : FP_EVENT_EDGE, 0, entry ? 0 : edges[k]);
            if (!event) continue;
            written++;
            if (entry)
                write_entry(&body, id, x->trials, x->combined->bins);
            else
                write_histogram(&body, id, &event->distribution);
        }
    }
    fp_write_u32(out, written);
    fp_write_u32(out, x->combined->bins);
    fp_write_bytes(out, body.bytes, body.len);
    fp_writer_free(&body);
}

static bool write_paths(struct fp_writer *out, struct exporting *x, struct fp_error *error)
{
    struct fp_writer body = {0};
    uint32_t written = 0;
    bool ok = true;
    for (size_t i = 0; i < x->nfunctions && ok; i++) {
        struct fp_event **events = fp_combined_sorted_events(&x->arena, x->functions[i]);
        struct fp_writer of_function = {0};
        uint32_t paths = 0;
        for (size_t k = 0; k < x->functions[i]->events.len && ok; k++) {
            if (events[k]->kind != FP_EVENT_PATH) continue;
            if (events[k]->id > UINT32_MAX)
                ok = fp_fail(error, x->functions[i]->name,
                             "path %" PRIu64 " does not fit the 32 bits of the format",
                             events[k]->id);
            write_histogram(&of_function, (uint32_t)events[k]->id, &events[k]->distribution);
            paths++;
        }
        if (paths) {
            fp_write_u32(&body, (uint32_t)i + 1);
            fp_write_u32(&body, paths);
            fp_write_bytes(&body, of_function.bytes, of_function.len);
            written++;
        }
        fp_writer_free(&of_function);
    }
    fp_write_u32(out, written);
    fp_write_u32(out, x->combined->bins);
    fp_write_bytes(out, body.bytes, body.len);
    fp_writer_free(&body);
    return ok;
}

bool fp_combined_to_legacy(struct fp_writer *out, const struct fp_combined *combined,
                           const struct fp_program *program, enum fp_legacy_packet type,
                           struct fp_error *error)
{
    struct exporting x = {.combined = combined};
    bool paths = type == FP_LEGACY_COMBINED_PATHS;
    bool ok = find_functions(&x, program, paths ? FP_TRIALS_PATHS : FP_TRIALS_EDGES, error);
    if (ok) {
        fp_write_u32(out, type);
        fp_write_f64(out, (double)x.trials);
        if (paths)
            ok = write_paths(out, &x, error);
        else
            write_edges(out, &x);
    }
    fp_arena_free(&x.arena);
    return ok;
}

/* ---- reading ---- */

struct packet {
    struct fp_reader *r;
    struct fp_combined *into;
    uint64_t trials;
    uint32_t count, bins; /* histograms or functions; bins of each */
};

static double read_amount(struct fp_reader *r)
{
    double value = fp_read_f64(r);
    if (!isfinite(value) || value < 0 || value > 0x1p64) {
        fp_reader_fail(r, "expected a number of 0 or more, got %g", value);
        return 0;
    }
    return value;
}

/* The paper's Figure 5 has an integer for the sum, where the files have a double. An
 * integer of any likely size would be a denormal double. */
static double read_sum(struct fp_reader *r)
{
    uint64_t bits = fp_read_u64(r);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (bits < UINT64_C(1) << 52) return (double)bits;
    if (isfinite(value) && value >= 0) return value;
    fp_reader_fail(r, "expected a sum of 0 or more, got %g", value);
    return 0;
}

enum { NUDGE = 1000000000 }; /* bounds of bins stay off the borders by a part of this */

static void read_bins(struct packet *p, struct fp_distribution *d, double lower, double width)
{
    uint8_t used = fp_read_u8(p->r), index[UINT8_MAX];
    double weight[UINT8_MAX], inset = width / NUDGE;
    for (uint8_t i = 0; i < used && !p->r->failed; i++) {
        index[i] = fp_read_u8(p->r);
        weight[i] = read_amount(p->r);
        if (i && index[i] <= index[i - 1])
            fp_reader_fail(p->r, "expected bins in order, got %u behind %u", index[i],
                           index[i - 1]);
    }
    if (p->r->failed) return;
    if (!used) {
        fp_reader_fail(p->r, "expected a histogram with weight, got none");
        return;
    }
    d->min = d->nonzero < d->trials ? 0 : lower + index[0] * width + inset;
    d->max = lower + (index[used - 1] + 1) * width - inset;
    if (d->min > d->max) d->min = d->max;
    for (uint8_t i = 0; i < used; i++)
        fp_distribution_spread(&p->into->arena, d, lower + index[i] * width + inset,
                               lower + (index[i] + 1) * width - inset, weight[i], p->into->bins);
    if (!fp_distribution_is_sound(d))
        fp_reader_fail(p->r, "expected a histogram of %" PRIu64 " trials, got the weight %g",
                       d->trials, fp_histogram_weight(&d->histogram));
}

static uint32_t read_histogram(struct packet *p, struct fp_distribution *d)
{
    *d = (struct fp_distribution){
        .trials = p->trials, .sum = read_sum(p->r), .squares = read_amount(p->r)};
    double width = read_amount(p->r), lower = read_amount(p->r);
    read_amount(p->r); /* the upper bound follows from the bins */
    uint32_t id = fp_read_u32(p->r);
    d->nonzero = fp_read_u32(p->r);
    if (!p->r->failed && (d->nonzero > d->trials || !(width > 0)))
        fp_reader_fail(p->r,
                       "expected at most %" PRIu64 " trials and a width, got %" PRIu64 " and %g",
                       d->trials, d->nonzero, width);
    if (!p->r->failed) read_bins(p, d, lower, width);
    return id;
}

/* The function of an edge by its place among all edges. */
static void read_edges(struct packet *p, struct fp_arena *arena, const struct fp_program *program,
                       struct fp_combined_function **targets, size_t nfunctions)
{
    const struct fp_function **order = fp_legacy_order(arena, program, &nfunctions);
    uint64_t first = 0;
    size_t at = 0, n = 0;
    uint32_t *edges = nfunctions ? fp_legacy_edges(arena, order[0], &n) : NULL;
    for (uint32_t i = 0; i < p->count && !p->r->failed; i++) {
        struct fp_distribution d;
        uint32_t id = read_histogram(p, &d);
        while (at < nfunctions && id >= first + n) {
            first += n;
            n = 0;
            if (++at < nfunctions) edges = fp_legacy_edges(arena, order[at], &n);
        }
        if (p->r->failed) return;
        if (at == nfunctions || id < first) {
            fp_reader_fail(p->r, "expected edges of this program in order, got number %u", id);
            return;
        }
        if (edges[id - first] != FP_NONE)
            fp_combined_add_many(p->into, targets[at], FP_EVENT_EDGE, edges[id - first], &d);
    }
}

static void read_paths(struct packet *p, struct fp_combined_function **targets, size_t nfunctions)
{
    for (uint32_t i = 0; i < p->count && !p->r->failed; i++) {
        uint32_t number = fp_read_u32(p->r), entries = fp_read_u32(p->r);
        if (!p->r->failed && (number == 0 || number > nfunctions)) {
            fp_reader_fail(p->r, "expected a function from 1 to %zu, got %u", nfunctions, number);
            return;
        }
        for (uint32_t k = 0; k < entries && !p->r->failed; k++) {
            struct fp_distribution d;
            struct fp_combined_function *f = targets[number - 1];
            uint32_t id = read_histogram(p, &d);
            if (p->r->failed) return;
            if (id >= f->num_ids) {
                fp_reader_fail(p->r, "%s: expected a path below %" PRIu64 ", got %u", f->name,
                               f->num_ids, id);
                return;
            }
            fp_combined_add_many(p->into, f, FP_EVENT_PATH, id, &d);
        }
    }
}

static void read_head(struct packet *p)
{
    double trials = read_amount(p->r);
    p->count = fp_read_u32(p->r);
    p->bins = fp_read_u32(p->r);
    p->trials = fp_count_from(trials);
    if (!p->r->failed && (!(trials >= 1) || trials != floor(trials) || trials > 0x1p32))
        fp_reader_fail(p->r, "expected a whole number of trials, got %g", trials);
    if (!p->r->failed && (p->bins < 1 || p->bins > FP_MOST_BINS + 1))
        fp_reader_fail(p->r, "expected 1 to 256 bins, got %u", p->bins);
}

bool fp_combined_from_legacy(struct fp_combined *into, const struct fp_program *program,
                             struct fp_legacy_reader *reader)
{
    struct fp_arena arena = {0};
    struct packet p = {.r = &reader->r, .into = into};
    bool paths = reader->type == FP_LEGACY_COMBINED_PATHS;
    enum fp_trial_kind kind = paths ? FP_TRIALS_PATHS : FP_TRIALS_EDGES;
    size_t nfunctions;
    read_head(&p);
    uint32_t bins = p.bins < FP_MOST_BINS ? p.bins : FP_MOST_BINS;
    if (bins > into->bins) into->bins = bins;
    struct fp_combined_function *keys = fp_combine_keys(&arena, program);
    const struct fp_function **order = fp_legacy_order(&arena, program, &nfunctions);
    struct fp_combined_function **targets =
        FP_NEW_ARRAY(&arena, struct fp_combined_function *, nfunctions);
    for (size_t i = 0; i < nfunctions && !p.r->failed; i++) {
        targets[i] = fp_combined_function(into, &keys[order[i] - program->functions]);
        targets[i]->trials[kind] = fp_add_saturated(targets[i]->trials[kind], p.trials);
    }
    if (!p.r->failed && paths) read_paths(&p, targets, nfunctions);
    if (!p.r->failed && !paths) read_edges(&p, &arena, program, targets, nfunctions);
    if (p.trials > into->runs) into->runs = p.trials;
    fp_arena_free(&arena);
    return !p.r->failed;
}

bool fp_legacy_is_combined(const unsigned char *bytes, size_t len)
{
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_legacy_reader reader = {.r = {.bytes = bytes, .len = len, .error = &error}};
    bool more = fp_legacy_next(&arena, &reader);
    while (more && reader.type == FP_LEGACY_ARGUMENTS) more = fp_legacy_next(&arena, &reader);
    fp_arena_free(&arena);
    return more &&
           (reader.type == FP_LEGACY_COMBINED_EDGES || reader.type == FP_LEGACY_COMBINED_PATHS);
}

/* ---- whole files ---- */

/* The one program of a combined profile: of several builds, one that knows paths. */
static const struct fp_program *only_program(struct fp_combiner *combiner,
                                             const struct fp_combined *c, bool paths,
                                             struct fp_error *error)
{
    const struct fp_program *found = NULL;
    for (size_t i = 0; i < c->modules.len; i++) {
        const struct fp_program *program = fp_combiner_program(combiner, &c->modules.at[i], error);
        bool has_paths = false;
        if (!program) return NULL;
        for (size_t k = 0; k < program->nfunctions; k++)
            has_paths |= program->functions[k].paths.numbering != NULL;
        if (!found || (paths && has_paths)) found = program;
    }
    if (!found) fp_fail(error, NULL, "the combined profile is of no program");
    return found;
}

bool fp_combined_export_legacy(struct fp_combiner *combiner, const struct fp_combined *combined,
                               bool paths, struct fp_writer *out, struct fp_error *error)
{
    const struct fp_program *program = only_program(combiner, combined, paths, error);
    enum fp_legacy_packet type = paths ? FP_LEGACY_COMBINED_PATHS : FP_LEGACY_COMBINED_EDGES;
    return program && fp_combined_to_legacy(out, combined, program, type, error);
}

static bool import_packets(struct fp_combined *c, const struct fp_program *program,
                           const struct fp_file *file, const char *name, struct fp_error *error)
{
    struct fp_arena arena = {0};
    struct fp_legacy_reader reader = {
        .r = {.bytes = file->bytes, .len = file->len, .file = name, .error = error}};
    bool ok = true;
    while (ok && fp_legacy_next(&arena, &reader)) {
        if (reader.type == FP_LEGACY_ARGUMENTS) continue;
        if (reader.type == FP_LEGACY_COMBINED_EDGES || reader.type == FP_LEGACY_COMBINED_PATHS)
            ok = fp_combined_from_legacy(c, program, &reader);
        else
            ok = fp_fail(error, name,
                         "holds combined profiles and a packet of type %d; import them apart",
                         (int)reader.type);
    }
    fp_arena_free(&arena);
    return ok && !reader.r.failed;
}

bool fp_combined_import_legacy(const char *input, const char *binary, const char *output,
                               struct fp_error *error)
{
    struct fp_arena arena = {0};
    struct fp_program program;
    struct fp_file file = {0};
    char full[4096];
    struct fp_combined *c = fp_combined_new(1);
    bool ok = fp_program_read(&arena, realpath(binary, full) ? full : binary, &program, error) &&
              fp_file_open(&file, input, error);
    if (ok) {
        fp_combined_module(c, program.path, program.build_id, program.build_id_len);
        ok = import_packets(c, &program, &file, input, error);
        fp_file_close(&file);
    }
    if (ok) c->modules.at[0].runs = c->runs;
    ok = ok && fp_combined_write(output, fp_checksum(program.build_id, program.build_id_len, 0), 0,
                                 c, NULL, error);
    fp_combined_free(c);
    fp_arena_free(&arena);
    return ok;
}
