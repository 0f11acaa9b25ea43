/* Profiles of many hosts and days, made from real ones: for tests and measurements of stores.
 *
 *     make-records OUT RECORDS PER-FILE HOSTS DAYS END-SECONDS SEED TEMPLATE.prof...
 *
 * Each record is a run of one of the templates, with an id, a host, a time and counts of its own,
 * drawn by chance. Files are OUT/NNNNNN.prof with PER-FILE records of one template each; times rise
 * from file to file, as they do where hosts report in turn. A template's map goes into its first
 * file. Prints the sum of all counts per template, and in all.
 */
#include "base/arena.h"
#include "base/table.h"
#include "base/io.h"
#include "base/vec.h"
#include "footpath/profile_abi.h"
#include "profile/runs.h"
#include "profile/unfinished.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct template
{
    const char *path;
    struct fp_unfinished run; /* its first run */
    struct fp_writer map;
    bool has_map, put;
    uint64_t total;
};

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state += 0x9e3779b97f4a7c15u;
    return fp_hash64(state) % below;
}

static bool take_run(struct fp_arena *arena, const struct fp_run *run, void *context)
{
    struct template *t = context;
    (void)arena;
    if (!t->run.runs.len) fp_unfinished_keep(&t->run, run);
    return true;
}

static bool take_map(const struct fp_embedded_map *map, void *context)
{
    struct template *t = context;
    if (!t->has_map) fp_map_record_encode(&t->map, map);
    t->has_map = true;
    return true;
}

static void read_template(struct template *t, const char *path)
{
    struct fp_file file;
    struct fp_error error = {0};
    bool cut;
    t->path = path;
    const struct fp_profile_visitor visitor = {.run = take_run, .map = take_map, .context = t};
    if (!fp_file_open(&file, path, &error) ||
        !fp_profile_visit(file.bytes, file.len, path, &visitor, &cut, &error) || !t->run.runs.len) {
        char text[1024];
        fp_error_text(&error, text, sizeof text);
        fprintf(stderr, "make-records: %s: %s\n", path, text);
        exit(1);
    }
    fp_file_close(&file);
}

/* A run of the template at that time. All of its counts are a multiple of the template's: so they
 * are counts that a program can have. */
static void put_run(struct fp_writer *w, struct template *t, unsigned hosts, uint64_t when)
{
    struct fp_run run = t->run.runs.at[0];
    struct fp_writer payload = {0};
    struct fp_counter *counters = malloc((run.ncounters + 1) * sizeof *counters);
    char host[32];
    uint64_t times = 1 + draw(1000);
    if (!counters) abort();
    snprintf(host, sizeof host, "host%02u", (unsigned)draw(hosts));
    for (size_t i = 0; i < run.ncounters; i++) {
        counters[i] = (struct fp_counter){run.counters[i].index, run.counters[i].count * times};
        t->total += counters[i].count;
    }
    run.counters = counters;
    struct fp_table_count *tables = malloc((run.ntables + 1) * sizeof *tables);
    if (!tables) abort();
    for (size_t i = 0; i < run.ntables; i++) {
        tables[i] = run.tables[i];
        t->total += tables[i].count *= times;
    }
    run.tables = tables;
    run.id = fp_hash64(state) | 1, run.pid = 1000 + draw(60000), run.host = host;
    run.start_ns = when - 1 - draw(600u * 1000000000u), run.end_ns = when;
    fp_run_encode(&payload, &run);
    fp_write_record(w, FP_RECORD_RUN, &payload);
    free(counters);
    free(tables);
}

static void write_file(const char *folder, uint64_t number, struct fp_writer *w)
{
    char path[4096];
    struct fp_error error = {0};
    snprintf(path, sizeof path, "%s/%07" PRIu64 ".prof", folder, number);
    fp_write_commit(w);
    if (!fp_file_write(path, w->bytes, w->len, &error)) {
        fprintf(stderr, "make-records: %s: %s\n", path, error.what);
        exit(1);
    }
    fp_writer_free(w);
    *w = (struct fp_writer){0};
}

int main(int argc, char **argv)
{
    enum { FIXED = 8 };
    if (argc <= FIXED) {
        fprintf(stderr,
                "usage: make-records OUT RECORDS PER-FILE HOSTS DAYS END SEED PROFILE...\n");
        return 2;
    }
    uint64_t records = strtoull(argv[2], NULL, 10), per_file = strtoull(argv[3], NULL, 10);
    unsigned hosts = (unsigned)atoi(argv[4]);
    uint64_t span = (uint64_t)(strtod(argv[5], NULL) * 86400e9);
    uint64_t end = strtoull(argv[6], NULL, 10) * 1000000000u, total = 0, file = 0;
    size_t n = (size_t)(argc - FIXED);
    state = strtoull(argv[7], NULL, 10) * 1000003u;
    struct template *all = calloc(n, sizeof *all);
    if (!all || !per_file || !hosts) abort();
    for (size_t i = 0; i < n; i++) read_template(&all[i], argv[FIXED + i]);
    for (uint64_t done = 0; done < records; file++) {
        struct template *t = &all[draw(n)];
        struct fp_writer w = {0};
        fp_write_profile_header(&w, 0, 0);
        if (t->has_map && !t->put) fp_write_record(&w, FP_RECORD_MAP, &t->map);
        t->put = true;
        for (uint64_t i = 0; i < per_file && done < records; i++, done++)
            put_run(&w, t, hosts,
                    end - span + (uint64_t)((double)span * (double)done / (double)records));
        write_file(argv[1], file, &w);
    }
    for (size_t i = 0; i < n; i++) {
        total += all[i].total;
        printf("%s %" PRIu64 "\n", all[i].path, all[i].total);
        fp_arena_free(&all[i].run.arena);
        if (!all[i].put) fp_writer_free(&all[i].map);
    }
    printf("all %" PRIu64 "\n", total);
    free(all);
    return 0;
}
