/* Times and hits of the copies: see cli_outcome.h. */
#include "cli_outcome.h"

#include "p3/collate.h"

static double seconds_of(const struct fp_profile *profile)
{
    uint64_t longest = 0;
    for (size_t i = 0; i < profile->runs.len; i++) {
        uint64_t took = profile->runs.at[i].end_ns - profile->runs.at[i].start_ns;
        if (took > longest) longest = took;
    }
    return (double)longest / 1e9;
}

bool cli_load_outcome(struct fp_copies *p, struct cli_outcome *o)
{
    uint32_t n = o->ncopies = p->ncopies;
    o->copies = FP_NEW_ARRAY(&p->arena, struct fp_profile *, n);
    o->seconds = FP_NEW_ARRAY(&p->arena, double, n);
    o->hits = FP_NEW_ARRAY(&p->arena, uint64_t, n);
    for (uint32_t i = 0; i < n; i++) {
        o->copies[i] = cli_load_one(fp_copy_file(p, (int)i, "profile"));
        if (!o->copies[i]) return false;
        o->seconds[i] = seconds_of(o->copies[i]);
        if (fp_copy_hits(o->copies[i], &o->hits[i])) o->have_hits = true;
    }
    if (!p->check) return true;
    o->sequential = cli_load_one(fp_copy_file(p, FP_REFERENCE, "profile"));
    if (!o->sequential) return false;
    o->sequential_seconds = seconds_of(o->sequential);
    fp_copy_hits(o->sequential, &o->sequential_hits);
    return true;
}

/* ---- what it took ---- */

void cli_print_outcome(const struct cli_outcome *o)
{
    for (uint32_t i = 0; i < o->ncopies; i++) {
        fprintf(stderr, "  copy %-3u %9.3f s", i, o->seconds[i]);
        if (o->have_hits) fprintf(stderr, " %18s hits", cli_count(o->hits[i]));
        fprintf(stderr, "\n");
    }
    if (!o->sequential) return;
    fprintf(stderr, "  ordinary %9.3f s", o->sequential_seconds);
    if (o->have_hits) fprintf(stderr, " %18s hits", cli_count(o->sequential_hits));
    fprintf(stderr, "\n");
}

void cli_print_outcome_json(const struct cli_outcome *o)
{
    struct fp_writer out = {0};
    struct fp_json j = {.out = &out};
    fp_json_begin(&j, '{');
    fp_json_key(&j, "format_version"), fp_json_uint(&j, 1);
    fp_json_key(&j, "copies"), fp_json_begin(&j, '[');
    for (uint32_t i = 0; i < o->ncopies; i++) {
        fp_json_begin(&j, '{');
        fp_json_key(&j, "milliseconds"), fp_json_uint(&j, (uint64_t)(o->seconds[i] * 1000));
        if (o->have_hits) fp_json_key(&j, "hits"), fp_json_uint(&j, o->hits[i]);
        fp_json_end(&j, '}');
    }
    fp_json_end(&j, ']');
    if (o->sequential) {
        fp_json_key(&j, "sequential"), fp_json_begin(&j, '{');
        fp_json_key(&j, "milliseconds"), fp_json_uint(&j, (uint64_t)(o->sequential_seconds * 1000));
        if (o->have_hits) fp_json_key(&j, "hits"), fp_json_uint(&j, o->sequential_hits);
        fp_json_end(&j, '}');
    }
    fp_json_end(&j, '}');
    fp_write_u8(&out, '\n');
    fwrite(out.bytes, 1, out.len, stderr);
    fp_writer_free(&out);
}

void cli_free_outcome(struct cli_outcome *o)
{
    for (uint32_t i = 0; o->copies && i < o->ncopies; i++) fp_profile_free(o->copies[i]);
    fp_profile_free(o->sequential);
}
