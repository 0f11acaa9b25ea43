/* Combined profiles in memory and as bytes: grouping, the way to bytes and back,
 * bytes that nobody wrote, and the golden file.
 *
 *     combined [--count N] [--seed S] [--golden FILE] [--update]
 */
#include "check.h"
#include "combined/combined.h"
#include "random.h"

#include "base/io.h"
#include "footpath/profile_abi.h"

#include <math.h>
#include <string.h>

enum { FUNCTIONS = 4, EVENTS = 12, MOST_RUNS = 40 };

static struct fp_combined_function key(uint32_t i)
{
    static const char *const names[FUNCTIONS] = {"main", "parse", "parse", "f"};
    static const char *const files[FUNCTIONS] = {"src/a.c", "src/b.c", "lib/b.c", "/x/c.c"};
    return (struct fp_combined_function){.name = names[i], .file = files[i], .line = i + 1, .nth = i == 2,
                                         .shape = 7 * i, .num_ids = 100, .numbering = 11 + i};
}

/* What happened in one run: counts per function and event. Function 3 is of a build
 * that some runs are not of. */
struct run {
    bool has_last, has_paths;
    uint64_t counts[FUNCTIONS][EVENTS];
};

static void draw_run(struct run *run, uint64_t *state)
{
    memset(run, 0, sizeof *run);
    run->has_last = random_chance(state, 70);
    run->has_paths = random_chance(state, 80);
    for (int f = 0; f < FUNCTIONS; f++)
        for (int e = 0; e < EVENTS; e++)
            if (random_chance(state, 40)) run->counts[f][e] = 1 + random_below(state, 1000);
}

static enum fp_event_kind kind_of(int event)
{
    return (enum fp_event_kind)(event % FP_EVENT_KINDS);
}

static bool tells(const struct run *run, int function, int event)
{
    return (function != 3 || run->has_last) &&
           (fp_event_trials(kind_of(event)) == FP_TRIALS_EDGES || run->has_paths);
}

static void add_run(struct fp_combined *c, const struct run *run)
{
    c->runs++;
    fp_combined_module(c, "prog", (const unsigned char *)"id", 2)->runs++;
    for (int i = 0; i < FUNCTIONS; i++) {
        if (i == 3 && !run->has_last) continue;
        struct fp_combined_function like = key((uint32_t)i), *f = fp_combined_function(c, &like);
        f->trials[FP_TRIALS_EDGES]++;
        f->trials[FP_TRIALS_PATHS] += run->has_paths;
        for (int e = 0; e < EVENTS; e++)
            if (run->counts[i][e] && tells(run, i, e))
                fp_combined_add(c, f, kind_of(e), kind_of(e) == FP_EVENT_PARTIAL ? (uint32_t)e : 0, (uint64_t)(e / 4),
                                (double)run->counts[i][e] / 8, run->counts[i][e]);
    }
}

static struct fp_combined *through_bytes(struct fp_combined *c)
{
    struct fp_writer bytes = {0}, again = {0};
    struct fp_error error = {0};
    fp_combined_encode(&bytes, c);
    struct fp_reader reader = {.bytes = bytes.bytes, .len = bytes.len, .error = &error};
    struct fp_combined *copy = fp_combined_decode(&reader);
    CHECK(copy && reader.at == reader.len);
    if (copy) {
        fp_combined_encode(&again, copy);
        CHECK(again.len == bytes.len && !memcmp(again.bytes, bytes.bytes, bytes.len));
    }
    fp_writer_free(&again);
    fp_writer_free(&bytes);
    return copy;
}

/* Runs from .. to, by merging random groups, some of them by way of their bytes. */
static struct fp_combined *combine(const struct run *runs, size_t from, size_t to, uint64_t *state)
{
    struct fp_error error = {0};
    struct fp_combined *c = fp_combined_new(15);
    if (to - from < 3 || random_chance(state, 20)) {
        for (size_t i = from; i < to; i++) add_run(c, &runs[i]);
        return c;
    }
    size_t middle = from + 1 + random_below(state, (uint32_t)(to - from - 1));
    struct fp_combined *parts[2] = {combine(runs, from, middle, state), combine(runs, middle, to, state)};
    for (int i = 0; i < 2; i++) {
        struct fp_combined *part = parts[i];
        if (random_chance(state, 30)) {
            parts[i] = through_bytes(part);
            fp_combined_free(part);
        }
        CHECK(fp_combined_merge(c, parts[i], &error));
        fp_combined_free(parts[i]);
    }
    return c;
}

static void check_event(const struct fp_combined *c, const struct run *runs, size_t n, int function, int e)
{
    struct fp_combined_function like = key((uint32_t)function);
    const struct fp_combined_function *f = fp_combined_lookup(c, &like);
    uint64_t trials = 0, seen = 0, count = 0, most = 0, least = UINT64_MAX;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t one = runs[i].counts[function][e];
        if (!tells(&runs[i], function, e)) continue;
        trials++;
        seen += one != 0;
        count += one;
        sum += (double)one / 8;
        if (one > most) most = one;
        if (one < least) least = one;
    }
    for (size_t i = 0; i < n; i++) {
        double off = (double)runs[i].counts[function][e] / 8 - sum / (double)trials;
        if (tells(&runs[i], function, e)) squares += off * off;
    }
    const struct fp_event *event =
        f ? fp_combined_find(f, kind_of(e), kind_of(e) == FP_EVENT_PARTIAL ? (uint32_t)e : 0, (uint64_t)(e / 4)) : NULL;
    CHECK((event != NULL) == (seen != 0));
    if (!event) return;
    const struct fp_distribution *d = &event->distribution;
    CHECK(d->trials == trials && d->nonzero == seen && d->count == count && d->most == most && d->least == least);
    CHECK(fabs(d->sum - sum) <= 1e-9 * sum && fabs(d->squares - squares) <= 1e-9 * (squares + sum * 1e-6));
    CHECK(fp_histogram_weight(&d->histogram) == (double)trials);
    CHECK(fp_distribution_is_sound(d));
}

static void one_case(uint64_t *state)
{
    static struct run runs[MOST_RUNS];
    size_t n = 1 + random_below(state, MOST_RUNS);
    for (size_t i = 0; i < n; i++) draw_run(&runs[i], state);
    struct fp_combined *c = combine(runs, 0, n, state);
    fp_combined_settle(c);
    CHECK_EQUAL(c->runs, n);
    for (int f = 0; f < FUNCTIONS; f++)
        for (int e = 0; e < EVENTS; e++) check_event(c, runs, n, f, e);
    fp_combined_free(c);
}

/* Paths that are numbered in two ways must not be taken for the same. */
static void check_numbering(void)
{
    struct fp_error error = {0};
    struct fp_combined *a = fp_combined_new(15), *b = fp_combined_new(15);
    struct fp_combined_function one = key(0), other = key(0);
    other.numbering++;
    fp_combined_function(a, &one);
    fp_combined_function(b, &other);
    CHECK(!fp_combined_merge(a, b, &error) && error.set);
    fp_combined_free(a);
    fp_combined_free(b);
}

/* ---- bytes that nobody wrote ---- */

static void spoil(struct fp_writer *bytes, uint64_t *state)
{
    for (uint32_t n = 1 + random_below(state, 3); n; n--) {
        size_t at = random_below(state, (uint32_t)bytes->len);
        switch (random_below(state, 3)) {
        case 0: bytes->bytes[at] ^= (unsigned char)(1u << random_below(state, 8)); break;
        case 1: bytes->bytes[at] = (unsigned char)random_below(state, 256); break;
        case 2: bytes->len = at + 1; break;
        }
    }
}

static unsigned long hostile_case(struct fp_combined *c, uint64_t *state)
{
    struct fp_writer bytes = {0};
    struct fp_error error = {0}, other = {0};
    fp_combined_encode(&bytes, c);
    spoil(&bytes, state);
    struct fp_reader reader = {.bytes = bytes.bytes, .len = bytes.len, .error = &error};
    struct fp_combined *read = fp_combined_decode(&reader);
    CHECK((read == NULL) == error.set);
    if (read) { /* what passes can be worked with */
        struct fp_combined *sum = fp_combined_new(15);
        fp_combined_merge(sum, read, &other);
        fp_combined_settle(sum);
        for (size_t i = 0; i < sum->functions.len; i++)
            for (size_t k = 0; k < sum->functions.at[i]->events.len; k++) {
                const struct fp_distribution *d = &sum->functions.at[i]->events.at[k].distribution;
                double median = fp_distribution_quantile(d, 0.5);
                CHECK(median >= d->min && median <= d->max);
                CHECK(d->histogram.nbins <= 15);
            }
        fp_combined_free(sum);
    }
    fp_combined_free(read);
    fp_writer_free(&bytes);
    return read != NULL;
}

/* ---- the golden file ---- */

static void golden_bytes(struct fp_writer *out)
{
    uint64_t state = 42;
    struct fp_combined *c = fp_combined_new(15);
    struct fp_writer payload = {0};
    for (int i = 0; i < 7; i++) {
        struct run run;
        draw_run(&run, &state);
        add_run(c, &run);
    }
    fp_write_profile_header(out, 0x1234, 0);
    fp_combined_encode(&payload, c);
    fp_write_record(out, FP_RECORD_COMBINED, &payload);
    fp_write_commit(out);
    fp_combined_free(c);
}

static void check_golden(const char *path, bool update)
{
    struct fp_writer bytes = {0};
    struct fp_error error = {0};
    struct fp_file file = {0};
    golden_bytes(&bytes);
    if (update) CHECK(fp_file_write(path, bytes.bytes, bytes.len, &error));
    CHECK(fp_file_open(&file, path, &error));
    CHECK(file.len == bytes.len && !memcmp(file.bytes, bytes.bytes, bytes.len));
    fp_file_close(&file);
    fp_writer_free(&bytes);
}

int main(int argc, char **argv)
{
    unsigned long count = 500, passed = 0;
    uint64_t seed = 1;
    const char *golden = NULL;
    bool update = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--update")) update = true;
        if (i + 1 == argc) break;
        if (!strcmp(argv[i], "--count")) count = strtoul(argv[i + 1], NULL, 10);
        if (!strcmp(argv[i], "--seed")) seed = strtoull(argv[i + 1], NULL, 10);
        if (!strcmp(argv[i], "--golden")) golden = argv[i + 1];
    }
    check_numbering();
    for (unsigned long i = 0; i < count && !checks_failed; i++) {
        uint64_t state = seed + i;
        one_case(&state);
        if (checks_failed) fprintf(stderr, "seed %llu\n", (unsigned long long)(seed + i));
    }
    struct fp_combined *c = fp_combined_new(15);
    uint64_t state = seed;
    for (int i = 0; i < 9; i++) {
        struct run run;
        draw_run(&run, &state);
        add_run(c, &run);
    }
    for (unsigned long i = 0; i < 20 * count && !checks_failed; i++) passed += hostile_case(c, &state);
    fp_combined_free(c);
    printf("%lu of %lu spoiled profiles were refused\n", 20 * count - passed, 20 * count);
    if (golden) check_golden(golden, update);
    return check_summary();
}
