/* The bytes of a combined profile: docs/formats/combined.md.
 *
 * Functions and events are in one order whatever the order they came in, so equal
 * profiles have equal bytes. Decoding trusts nothing: every number is checked before
 * it sizes or places anything. */
#include "combined/combined.h"

#include "base/checked.h"

#include <inttypes.h>
#include <math.h>

/* Flags of an event. */
enum { WEIGHTS_ARE_WHOLE = 1 };

/* ---- writing ---- */

static bool all_whole(const struct fp_histogram *h)
{
    for (uint32_t i = 0; i < h->nbins; i++)
        if (h->bins[i] != floor(h->bins[i]) || h->bins[i] > 0x1p53) return false;
    return true;
}

static void encode_histogram(struct fp_writer *w, const struct fp_histogram *h, bool whole)
{
    fp_write_uint(w, h->scale);
    fp_write_uint(w, h->first);
    fp_write_uint(w, h->nbins);
    for (uint32_t i = 0; i < h->nbins; i++) {
        if (whole)
            fp_write_uint(w, (uint64_t)h->bins[i]);
        else
            fp_write_f64(w, h->bins[i]);
    }
}

static void encode_distribution(struct fp_writer *w, const struct fp_distribution *d)
{
    const double amounts[] = {d->sum, d->rest, d->squares, d->min, d->max};
    bool whole = all_whole(&d->histogram);
    fp_write_uint(w, whole ? WEIGHTS_ARE_WHOLE : 0);
    fp_write_uint(w, d->nonzero);
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) fp_write_f64(w, amounts[i]);
    fp_write_uint(w, d->count);
    fp_write_uint(w, d->least);
    fp_write_uint(w, d->most);
    encode_histogram(w, &d->histogram, whole);
}

static void encode_function(struct fp_writer *w, struct fp_arena *scratch,
                            const struct fp_combined_function *f)
{
    fp_write_string(w, f->name);
    fp_write_string(w, f->file);
    fp_write_uint(w, f->line);
    fp_write_uint(w, f->nth);
    fp_write_u64(w, f->shape);
    fp_write_uint(w, f->num_ids);
    fp_write_u64(w, f->numbering);
    for (int i = 0; i < 2; i++) fp_write_uint(w, f->trials[i]);
    fp_write_uint(w, f->events.len);
    struct fp_event **events = fp_combined_sorted_events(scratch, f);
    for (size_t i = 0; i < f->events.len; i++) {
        fp_write_uint(w, events[i]->kind);
        if (events[i]->kind == FP_EVENT_PARTIAL) fp_write_uint(w, events[i]->block);
        fp_write_uint(w, events[i]->id);
        encode_distribution(w, &events[i]->distribution);
    }
}

/* Length + 1, so that none and empty differ. */
static void encode_bytes(struct fp_writer *w, const struct fp_combined_bytes *b)
{
    fp_write_uint(w, b->bytes ? b->len + 1 : 0);
    if (b->bytes) fp_write_bytes(w, b->bytes, b->len);
}

void fp_combined_encode(struct fp_writer *w, struct fp_combined *c)
{
    struct fp_arena scratch = {0};
    fp_combined_settle(c);
    fp_write_uint(w, c->bins);
    fp_write_uint(w, c->runs);
    fp_write_uint(w, c->left_out);
    fp_write_string(w, c->left_out_why ? c->left_out_why : "");
    fp_write_uint(w, c->modules.len);
    for (size_t i = 0; i < c->modules.len; i++) {
        const struct fp_combined_module *m = &c->modules.at[i];
        fp_write_string(w, m->path);
        fp_write_uint(w, m->build_id_len);
        fp_write_bytes(w, m->build_id, m->build_id_len);
        fp_write_uint(w, m->runs);
        encode_bytes(w, &m->map);
        encode_bytes(w, &m->live);
    }
    fp_write_uint(w, c->functions.len);
    struct fp_combined_function **sorted = fp_combined_sorted(&scratch, c);
    for (size_t i = 0; i < c->functions.len; i++) encode_function(w, &scratch, sorted[i]);
    fp_arena_free(&scratch);
}

/* In the order of the encoded functions: the place of its kin; then of each
 * module 1 + the place of one of its functions, or 0. */
void fp_combined_encode_kin(struct fp_writer *w, const struct fp_combined *c)
{
    struct fp_arena scratch = {0};
    struct fp_combined_function **sorted = fp_combined_sorted(&scratch, c);
    uint32_t *place = FP_NEW_ARRAY(&scratch, uint32_t, c->functions.len);
    for (size_t i = 0; i < c->functions.len; i++) place[sorted[i]->index] = (uint32_t)i;
    for (size_t i = 0; i < c->functions.len; i++) fp_write_uint(w, place[sorted[i]->kin]);
    for (size_t i = 0; i < c->modules.len; i++)
        fp_write_uint(w,
                      c->modules.at[i].any ? (uint64_t)place[c->modules.at[i].any->index] + 1 : 0);
    fp_arena_free(&scratch);
}

/* ---- reading ---- */

/* The largest count, per call. */
#define MOST_FREQUENT 0x1p64

static double read_amount(struct fp_reader *r, const char *what)
{
    double value = fp_read_f64(r);
    if (!isfinite(value) || value < 0) {
        fp_reader_fail(r, "expected a %s of 0 or more, got %g", what, value);
        return 0;
    }
    return value;
}

static void decode_histogram(struct fp_arena *arena, struct fp_reader *r, struct fp_histogram *h,
                             bool whole)
{
    h->scale = fp_read_index(r, 128, "scale");
    h->first = fp_read_uint(r);
    h->nbins = h->cap = fp_read_index(r, FP_MOST_BINS + 1, "number of bins");
    h->bins = FP_NEW_ARRAY(arena, double, h->nbins);
    for (uint32_t i = 0; i < h->nbins && !r->failed; i++)
        h->bins[i] = whole ? (double)fp_read_uint(r) : read_amount(r, "weight");
}

static void decode_distribution(struct fp_arena *arena, struct fp_reader *r, uint64_t trials,
                                struct fp_distribution *d)
{
    uint64_t flags = fp_read_uint(r);
    *d = (struct fp_distribution){.trials = trials, .nonzero = fp_read_uint(r)};
    d->sum = read_amount(r, "sum");
    d->rest = fp_read_f64(r);
    if (!isfinite(d->rest)) fp_reader_fail(r, "expected what a sum lacks, got %g", d->rest);
    d->squares = read_amount(r, "sum of squares");
    d->min = read_amount(r, "frequency");
    d->max = read_amount(r, "frequency");
    if (d->min > MOST_FREQUENT || d->max > MOST_FREQUENT)
        fp_reader_fail(r, "expected frequencies of counts, got %g and %g", d->min, d->max);
    d->count = fp_read_uint(r);
    d->least = fp_read_uint(r);
    d->most = fp_read_uint(r);
    decode_histogram(arena, r, &d->histogram, flags & WEIGHTS_ARE_WHOLE);
    if (!r->failed) fp_distribution_mend(d);
    if (!r->failed && !fp_distribution_is_sound(d))
        fp_reader_fail(r,
                       "expected a histogram of %" PRIu64 " trials from %g to %g, got another one",
                       trials, d->min, d->max);
}

static void decode_event(struct fp_combined *c, struct fp_reader *r, struct fp_combined_function *f)
{
    struct fp_event event = {0};
    event.kind = (enum fp_event_kind)fp_read_index(r, FP_EVENT_KINDS, "kind of event");
    if (event.kind == FP_EVENT_PARTIAL) event.block = fp_read_index(r, UINT32_MAX, "block");
    event.id = fp_read_uint(r);
    decode_distribution(&c->arena, r, f->trials[fp_event_trials(event.kind)], &event.distribution);
    if (r->failed) return;
    if (fp_combined_find(f, event.kind, event.block, event.id)) {
        fp_reader_fail(r, "expected an event once, got %" PRIu64 " of kind %d again", event.id,
                       event.kind);
        return;
    }
    uint64_t *first = fp_table_add(&f->by_id, event.id);
    event.next = (uint32_t)*first;
    fp_vec_push(&c->arena, &f->events, event);
    *first = f->events.len;
}

static void decode_function(struct fp_combined *c, struct fp_reader *r)
{
    struct fp_combined_function like = {0};
    like.name = fp_read_string(r, &c->arena);
    like.file = fp_read_string(r, &c->arena);
    like.line = fp_read_index(r, UINT32_MAX, "line");
    like.nth = fp_read_index(r, UINT32_MAX, "number");
    like.shape = fp_read_u64(r);
    like.num_ids = fp_read_uint(r);
    like.numbering = fp_read_u64(r);
    if (r->failed) return;
    size_t before = c->functions.len;
    struct fp_combined_function *f = fp_combined_function(c, &like);
    if (c->functions.len == before) {
        fp_reader_fail(r, "expected a function once, got %s again", f->name);
        return;
    }
    for (int i = 0; i < 2; i++) f->trials[i] = fp_read_uint(r);
    size_t nevents = fp_read_count(r, 48);
    for (size_t i = 0; i < nevents && !r->failed; i++) decode_event(c, r, f);
}

static struct fp_combined_bytes decode_bytes(struct fp_arena *arena, struct fp_reader *r)
{
    struct fp_combined_bytes b = {0};
    size_t len = fp_read_count(r, 1);
    if (!len) return b;
    b.len = len - 1;
    const char *bytes = fp_read_bytes(r, b.len);
    if (bytes) b.bytes = (unsigned char *)fp_arena_strndup(arena, bytes, b.len);
    return b;
}

static void decode_modules(struct fp_combined *c, struct fp_reader *r)
{
    size_t count = fp_read_count(r, 5);
    for (size_t i = 0; i < count && !r->failed; i++) {
        char *path = fp_read_string(r, &c->arena);
        size_t len = fp_read_count(r, 1);
        const unsigned char *build_id = fp_read_bytes(r, len);
        uint64_t runs = fp_read_uint(r);
        if (r->failed) return;
        struct fp_combined_module *m = fp_combined_module(c, path, build_id, len);
        m->runs = fp_add_saturated(m->runs, runs);
        m->map = decode_bytes(&c->arena, r);
        m->live = decode_bytes(&c->arena, r);
    }
}

struct fp_combined *fp_combined_decode(struct fp_reader *r)
{
    uint32_t bins = fp_read_index(r, FP_MOST_BINS + 1, "number of bins");
    if (!r->failed && !bins) fp_reader_fail(r, "expected at least one bin, got 0");
    struct fp_combined *c = fp_combined_new(bins);
    c->runs = fp_read_uint(r);
    c->left_out = fp_read_uint(r);
    const char *why = fp_read_string(r, &c->arena);
    if (*why) c->left_out_why = why;
    decode_modules(c, r);
    size_t nfunctions = fp_read_count(r, 26);
    for (size_t i = 0; i < nfunctions && !r->failed; i++) decode_function(c, r);
    if (r->failed) {
        fp_combined_free(c);
        return NULL;
    }
    for (size_t i = 1; i < c->functions.len; i++)
        fp_combined_join(c, c->functions.at[i], c->functions.at[0]);
    for (size_t i = 0; c->functions.len && i < c->modules.len; i++)
        c->modules.at[i].any = c->functions.at[0];
    return c;
}

void fp_combined_decode_kin(struct fp_reader *r, struct fp_combined *c)
{
    for (uint32_t i = 0; i < c->functions.len; i++) c->functions.at[i]->kin = i;
    for (size_t i = 0; i < c->functions.len && !r->failed; i++) {
        uint32_t kin = fp_read_index(r, c->functions.len, "function");
        if (!r->failed) fp_combined_join(c, c->functions.at[i], c->functions.at[kin]);
    }
    for (size_t i = 0; i < c->modules.len && !r->failed; i++) {
        uint32_t any = fp_read_index(r, c->functions.len + 1, "function");
        c->modules.at[i].any = any ? c->functions.at[any - 1] : NULL;
    }
}
