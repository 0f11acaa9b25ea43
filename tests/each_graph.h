/* The frame of a property test over random graphs:
 *
 *     property-NAME [--count N] [--seed S] [--only INDEX]
 *
 * A graph follows from seed and index. --only repeats one that failed. */
#ifndef FP_TESTS_EACH_GRAPH_H
#define FP_TESTS_EACH_GRAPH_H

#include "check.h"
#include "graph/cfgtext.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct fp_cfg *current; /* for the report of a failure */
static uint64_t current_index, current_seed;

static void show_failure(const char *what, const char *file, int line)
{
    struct fp_writer text = {0};
    fp_cfg_print(&text, current, NULL, NULL);
    fprintf(stderr, "%s:%d: graph %" PRIu64 " of seed %" PRIu64 ": %s\n%.*s", file, line,
            current_index, current_seed, what, (int)text.len, (char *)text.bytes);
    fp_writer_free(&text);
    checks_failed++;
    if (checks_failed > 20) exit(check_summary());
}

#define MUST(condition) \
    ((condition) ? (void)checks_passed++ : show_failure(#condition, __FILE__, __LINE__))

static inline void each_graph(int argc, char **argv, void (*check)(uint64_t index, uint64_t seed))
{
    uint64_t count = 1000, seed = (uint64_t)time(NULL), first = 0;
    for (int i = 1; i + 1 < argc; i += 2) {
        uint64_t value = strtoull(argv[i + 1], NULL, 10);
        if (!strcmp(argv[i], "--count")) count = value;
        if (!strcmp(argv[i], "--seed")) seed = value;
        if (!strcmp(argv[i], "--only")) first = value, count = value + 1;
    }
    printf("%" PRIu64 " graphs, seed %" PRIu64 "\n", count - first, seed);
    fflush(stdout);
    for (uint64_t i = first; i < count; i++) check(i, seed);
}

#endif
